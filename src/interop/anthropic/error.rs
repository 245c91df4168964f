//! Errors as Anthropic's API writes them.

use serde_json::{Value, json};

use crate::error::ErrorKind;
use crate::interop::dialect::ApiError;

pub(super) fn error_body(error: &ApiError<'_>) -> Value {
    let kind = match error.status {
        401 => "authentication_error",
        403 => "permission_error",
        404 => "not_found_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        503 | 529 => "overloaded_error",
        504 => "timeout_error",
        500.. => "api_error",
        _ => "invalid_request_error",
    };
    let mut body = json!({"type": "error", "error": {"type": kind, "message": error.message}});
    // Anthropic's API has no name for a too long context.
    if let Some(code) = error.code.filter(|code| *code != ErrorKind::CONTEXT_LENGTH) {
        body["error"]["details"] = json!({"error_code": code});
    }
    body
}
