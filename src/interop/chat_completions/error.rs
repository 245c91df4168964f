//! Errors as chat completions and Responses write them.

use serde_json::{Value, json};

use crate::interop::dialect::ApiError;

pub(in crate::interop) fn error_body(error: &ApiError<'_>) -> Value {
    let ApiError { status, message, path, code } = error;
    let kind = match status {
        429 => "rate_limit_error",
        500.. => "server_error",
        _ => "invalid_request_error",
    };
    json!({"error": {"message": message, "type": kind, "param": path, "code": code}})
}
