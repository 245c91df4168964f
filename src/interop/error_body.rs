//! Errors as each API writes them.

use serde_json::{Value, json};

use super::Dialect;
use crate::error::{Error, ErrorKind};
use crate::path::Path;

impl Dialect {
    /// The status and the body with which a server answers a request on which this library gave an error.
    ///
    /// ```
    /// use openai_harmony::interop::{Dialect, ReadOptions, anthropic};
    /// use serde_json::json;
    ///
    /// let body = json!({"max_tokens": 9, "messages": "Hello"});
    /// let error = anthropic::read(&body, &ReadOptions::default()).unwrap_err();
    /// let (status, body) = Dialect::Anthropic.error_answer(&error);
    /// let message = "Invalid request: messages: expected a list, got a string";
    /// let expected = json!({"type": "invalid_request_error", "message": message});
    /// assert_eq!((status, &body["error"]), (400, &expected));
    /// ```
    pub fn error_answer(self, error: &Error) -> (u16, Value) {
        let kind = error.kind();
        let path = kind.path().filter(|path| !path.is_empty()).map(Path::to_string);
        (400, self.error_body(400, &error.to_string(), path.as_deref(), kind.code()))
    }

    /// The body of an answer with an error's status: 400, 401, 403, 404, 413, 429, or one from 500 on.
    ///
    /// `path` is that of what is wrong in the request's body, and `code` what the API calls the error.
    pub fn error_body(
        self,
        status: u16,
        message: &str,
        path: Option<&str>,
        code: Option<&str>,
    ) -> Value {
        let is_too_long = code == Some(ErrorKind::CONTEXT_LENGTH);
        match self {
            Self::Ollama => json!({"error": message}),
            Self::Anthropic => {
                let mut error = json!({"type": anthropic_type(status), "message": message});
                // Anthropic's API has no name for it.
                if let Some(code) = code.filter(|_| !is_too_long) {
                    error["details"] = json!({"error_code": code});
                }
                json!({"type": "error", "error": error})
            }
            Self::ChatCompletions | Self::Responses => {
                let kind = openai_type(status);
                json!({"error": {"message": message, "type": kind, "param": path, "code": code}})
            }
        }
    }
}

fn anthropic_type(status: u16) -> &'static str {
    match status {
        401 => "authentication_error",
        403 => "permission_error",
        404 => "not_found_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        503 | 529 => "overloaded_error",
        504 => "timeout_error",
        500.. => "api_error",
        _ => "invalid_request_error",
    }
}

fn openai_type(status: u16) -> &'static str {
    match status {
        429 => "rate_limit_error",
        500.. => "server_error",
        _ => "invalid_request_error",
    }
}
