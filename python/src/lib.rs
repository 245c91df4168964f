//! The Python extension module `openai_harmony._lowlevel`, and the only place that uses pyo3.
//!
//! The compiled classes do what would be too slow in Python; `python/openai_harmony/` wraps them thinly. Messages are
//! converted field by field, not as JSON text:
//!
//! ```text
//! classes  encoding    HarmonyEncoding      stream  StreamableParser      events  what it reports
//!          rollout     Rollout
//!          grammar     TurnGrammar
//!          body        Body, a request's JSON
//!          interop     Turn, and reading one from a request's body   interop_reply  Reply
//! in       read        pydantic models -> borrowed  messages whose strings stay Python's
//!          attributes  the attributes of an object
//!          dict_form   dicts           -> pydantic models
//!          json        schemas, bodies of requests, rows -> tapes, with the path of what is wrong
//!          logprobs    numbers of sampled tokens
//!          arguments, options          what calls are given besides
//! both     text        str                 <-> UTF-8
//!          tokens      any ints -> token ids -> list of ints, cached by ints
//! out      write       chat structs    -> pydantic models, which model makes without validation
//!          json_out    JSON -> dicts, lists, strings, numbers
//!          errors      Error           -> HarmonyError; InvalidArgument, with its path
//!          training    loss masks      -> bytearray
//!          batch       rows of data sets, which rows and arrow read -> flat arrays
//! shared   types       Python's classes, which the package passes
//!          gil         work with the GIL released
//! ```

#![expect(
    clippy::doc_markdown,
    clippy::doc_link_with_quotes,
    reason = "the documentation of classes is Python's, which marks code in another way"
)]

// `text!`: the docstring of a class or a member, from the stub.
include!(concat!(env!("OUT_DIR"), "/texts.rs"));

mod arguments;
mod arrays;
#[cfg(feature = "arrow")]
mod arrow;
mod attributes;
mod batch;
mod body;
mod borrowed;
mod cache;
mod derender;
mod dict_form;
mod encoded;
mod encoding;
mod engines;
mod errors;
mod events;
mod gil;
mod grammar;
mod interop;
mod interop_reply;
mod ints;
mod json;
mod json_out;
mod logprobs;
mod model;
mod options;
mod read;
mod rollout;
mod rows;
mod stream;
mod text;
mod texts;
mod tokens;
mod training;
mod types;
mod write;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use self::errors::OrRaise;
use openai_harmony::chat::ToolNamespaceConfig;
use openai_harmony::machinery::{BROWSER, PYTHON};
use openai_harmony::{ErrorKind, HarmonyEncodingName, load_harmony_encoding};

/// The compiled part of `openai_harmony`.
#[pymodule(gil_used = true)]
mod _lowlevel {
    #[cfg(feature = "arrow")]
    #[pymodule_export]
    use super::arrow::render_arrow;
    #[pymodule_export]
    use super::{
        batch::render_rows,
        body::PyBody,
        cache::{cache_usage, clear_cache},
        derender::derender,
        dict_form::plain_message,
        encoding::PyHarmonyEncoding,
        engines::PyEngineReader,
        events::{ContentDelta, MessageEnd, MessageStart, Repair},
        get_tool_namespace_config,
        grammar::{PyGrammarState, PyTurnGrammar},
        interop::{PyTurn, error_body},
        interop_reply::PyReply,
        rollout::{PyRollout, extend_prompt, read_step},
        stream::PyStreamableParser,
        texts::{decode_batch, encode_batch},
        training::loss_mask,
        use_classes, vocabulary,
        write::text_message,
    };
    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        // Another package's `__init__` in this folder would use this module without `use_classes`.
        module.py().import("openai_harmony._foreign")?.call_method0("check")?;
        module.add("OF_PROGRAM", super::ErrorKind::OF_PROGRAM)?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}

/// Takes the functions that return what this module reads and makes: one the module of errors, `Role` and
/// `StreamState`, one the module of models. Each is called when it is first needed.
#[pyfunction]
fn use_classes(classes: Bound<'_, PyAny>, models: Bound<'_, PyAny>) {
    types::find_by(classes, models);
}

/// The namespace of a built-in tool, `browser` or `python`.
#[pyfunction]
fn get_tool_namespace_config<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    let namespace = match name {
        BROWSER => ToolNamespaceConfig::browser(),
        PYTHON => ToolNamespaceConfig::python(),
        _ => {
            let shown = errors::brief(name);
            return Err(PyValueError::new_err(format!("Unknown tool namespace: {shown}")));
        }
    };
    write::namespace(py, &namespace)
}

/// The ordinary tokens as the text of `o200k_base.tiktoken`.
#[pyfunction]
fn vocabulary(py: Python<'_>) -> PyResult<Bound<'_, PyBytes>> {
    let mut text = Vec::new();
    load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss)
        .or_raise(py)?
        .tokenizer()
        .write_vocabulary(&mut text)?;
    Ok(PyBytes::new(py, &text))
}
