//! Errors.

use std::any::Any;
use std::panic::{self, AssertUnwindSafe};
use std::ptr;

use openai_harmony::Error;
use openai_harmony::interop::Dialect;
use serde::Serialize;
use serde_json::Value;

use super::memory::{HarmonyBuffer, free, handle};
use super::text::write_json;

/// What went wrong: an object of JSON, see [`harmony_error_json`].
pub struct HarmonyError(Failure);

/// What went wrong; boxed, as it is rare.
#[derive(Serialize)]
#[serde(transparent)]
pub(crate) struct Failure(Box<Details>);

#[derive(Default, Serialize)]
struct Details {
    kind: String,
    message: String,
    path: Option<String>,
    token_index: Option<usize>,
    message_index: Option<usize>,
    status: Option<u16>,
    body: Option<Value>,
}

impl Failure {
    fn new(kind: &str, message: impl Into<String>) -> Self {
        let (kind, message) = (kind.to_owned(), message.into());
        Self(Box::new(Details { kind, message, ..Details::default() }))
    }

    /// A wrong argument of the caller's.
    pub(crate) fn argument(message: impl Into<String>) -> Self {
        Self::new("invalid_argument", message)
    }

    /// An error about a request, with the answer that its API gives.
    pub(crate) fn of_request(error: Error, dialect: Dialect) -> Self {
        let (status, body) = dialect.error_answer(&error);
        let mut failure = Self::from(error);
        (failure.0.status, failure.0.body) = (Some(status), Some(body));
        failure
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let kind = error.kind();
        Self(Box::new(Details {
            path: kind.path().map(ToString::to_string),
            token_index: error.token_index(),
            message_index: error.message_index(),
            ..*Self::new(kind.name(), error.to_string()).0
        }))
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        Self::new("invalid_json", error.to_string())
    }
}

/// The choice that has this number, the index of it.
pub(crate) fn choice<T: Copy>(
    number: u32, name: &str, choices: impl AsRef<[T]>,
) -> Result<T, Failure> {
    let (choices, most) = (choices.as_ref(), choices.as_ref().len() - 1);
    let found = choices.get(number as usize).copied();
    found.ok_or_else(|| Failure::argument(format!("{name}: expected 0 to {most}, got {number}")))
}

/// Runs a function; its error, or its panic, becomes the caller's error.
pub(crate) fn guarded(run: impl FnOnce() -> Result<(), Failure>) -> *mut HarmonyError {
    let done = panic::catch_unwind(AssertUnwindSafe(run));
    match done.unwrap_or_else(|panicked| Err(Failure::new("internal", reason(&*panicked)))) {
        Ok(()) => ptr::null_mut(),
        Err(failure) => Box::into_raw(Box::new(HarmonyError(failure))),
    }
}

fn reason(panicked: &(dyn Any + Send)) -> String {
    let text = panicked.downcast_ref::<String>().cloned();
    text.or_else(|| panicked.downcast_ref::<&str>().map(|text| (*text).to_owned()))
        .unwrap_or_else(|| "a panic".to_owned())
}

/// Appends an error as JSON: `kind`, `message`, `path`, `token_index`, `message_index`; for requests also `status` and
/// `body`, what the API answers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn harmony_error_json(
    error: *const HarmonyError, to: *mut HarmonyBuffer,
) -> *mut HarmonyError {
    guarded(|| unsafe { write_json(to, &handle(error)?.0) })
}

/// Frees an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn harmony_error_free(error: *mut HarmonyError) {
    unsafe { free(error) };
}
