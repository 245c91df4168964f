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
use pyo3::types::{PyBytes, PyString};

use openai_harmony::chat::ToolNamespaceConfig;
use openai_harmony::machinery::{BROWSER, PYTHON};
use openai_harmony::{HarmonyEncodingName, load_harmony_encoding};

/// The compiled part of `openai_harmony`.
#[pymodule(gil_used = true)]
fn _lowlevel(module: &Bound<'_, PyModule>) -> PyResult<()> {
    // Another package's `__init__` in this folder would use this module without `use_classes`.
    module.py().import("openai_harmony._foreign")?.call_method0("check")?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<encoding::PyHarmonyEncoding>()?;
    module.add_class::<stream::PyStreamableParser>()?;
    module.add_class::<events::MessageStart>()?;
    module.add_class::<events::ContentDelta>()?;
    module.add_class::<events::MessageEnd>()?;
    module.add_class::<events::Repair>()?;
    module.add_class::<body::PyBody>()?;
    module.add_class::<engines::PyEngineReader>()?;
    module.add_class::<interop::PyTurn>()?;
    module.add_function(wrap_pyfunction!(interop::error_body, module)?)?;
    module.add_function(wrap_pyfunction!(interop::unsupported_message, module)?)?;
    module.add_function(wrap_pyfunction!(interop::too_long_message, module)?)?;
    module.add_function(wrap_pyfunction!(derender::derender, module)?)?;
    module.add_class::<interop_reply::PyReply>()?;
    module.add_class::<grammar::PyTurnGrammar>()?;
    module.add_class::<grammar::PyGrammarState>()?;
    module.add_class::<rollout::PyRollout>()?;
    module.add_function(wrap_pyfunction!(rollout::extend_prompt, module)?)?;
    module.add_function(wrap_pyfunction!(rollout::read_step, module)?)?;
    module.add_function(wrap_pyfunction!(training::loss_mask, module)?)?;
    module.add_function(wrap_pyfunction!(batch::render_rows, module)?)?;
    #[cfg(feature = "arrow")]
    module.add_function(wrap_pyfunction!(arrow::render_arrow, module)?)?;
    module.add_function(wrap_pyfunction!(texts::encode_batch, module)?)?;
    module.add_function(wrap_pyfunction!(texts::decode_batch, module)?)?;
    module.add_function(wrap_pyfunction!(use_classes, module)?)?;
    module.add_function(wrap_pyfunction!(text_message, module)?)?;
    module.add_function(wrap_pyfunction!(plain_message, module)?)?;
    module.add_function(wrap_pyfunction!(get_tool_namespace_config, module)?)?;
    module.add_function(wrap_pyfunction!(cache::cache_usage, module)?)?;
    module.add_function(wrap_pyfunction!(cache::clear_cache, module)?)?;
    module.add_function(wrap_pyfunction!(vocabulary, module)?)
}

/// Takes the functions that return what this module reads and makes: one the module of errors, `Role` and
/// `StreamState`, one the module of models. Each is called when it is first needed.
#[pyfunction]
fn use_classes(classes: Bound<'_, PyAny>, models: Bound<'_, PyAny>) {
    types::find_by(classes, models);
}

/// A message of one text, by an `Author` or by a member of `Role`; neither is validated.
#[pyfunction]
fn text_message<'py>(
    author: &Bound<'py, PyAny>,
    text: &Bound<'py, PyString>,
) -> PyResult<Bound<'py, PyAny>> {
    write::text_message(author, text)
}

/// The message of a plain canonical JSON form, or `None` if it needs validation or has unknown fields.
#[pyfunction]
fn plain_message<'py>(data: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    dict_form::message(data)
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
        .map_err(|error| errors::raised(py, &error))?
        .tokenizer()
        .write_vocabulary(&mut text)?;
    Ok(PyBytes::new(py, &text))
}
