//! Many texts to flat arrays of tokens and back.

use std::ffi::CString;
use std::ops::Range;

use pyo3::exceptions::{PyUnicodeDecodeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyIterator, PyList, PyString};

use super::arguments::{Argument, with_special};
use super::arrays::{self, array, as_i64, empty_array};
use super::encoding::PyHarmonyEncoding;
use super::errors::{InvalidArgument, OrRaiseAt, type_name, unless_raised, wrong_type};
use super::read::values::{count, count_from_one, each};
use super::text::{BorrowedText, decoded};
use super::tokens;
use super::types::Types;
use openai_harmony::Error;
use openai_harmony::machinery::Workers;
use openai_harmony::tokenizer::{TokenBatch, Tokenizer};

/// The most texts, bytes or tokens that workers get at once. Between such parts signal handlers run.
const TEXTS: usize = 4096;
const SIZE: usize = 1 << 23;

impl AsRef<str> for BorrowedText {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

/// Encodes texts: an `array` of uint32 and one of the int64 offsets.
#[pyfunction]
pub(super) fn encode_batch<'py>(
    encoding: &Bound<'py, PyHarmonyEncoding>,
    texts: &Bound<'py, PyAny>,
    allowed_special: Argument<'py>,
    disallowed_special: Argument<'py>,
    threads: Option<&Bound<'py, PyAny>>,
) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    let (py, tokenizer) = (encoding.py(), encoding.get().inner.tokenizer());
    with_special(allowed_special, disallowed_special, |allowed, disallowed| {
        let workers = workers(threads)?;
        let mut texts = items(texts, "texts: expected an iterable of strings")?;
        let mut whole = Arrays { tokens: empty_array(py, "I")?, len: 0, offsets: vec![0] };
        loop {
            let first = whole.texts();
            let next = read_texts(&mut texts, first)?;
            if next.is_empty() {
                return Ok((whole.tokens, array(py, "q", &whole.offsets)?));
            }
            let batches =
                py.detach(|| tokenizer.encode_batch_on(&workers, &next, allowed, disallowed));
            let batches = batches
                .map_err(|error| raised_of(py, "texts", first + error.index, &error.error))?;
            drop(next);
            batches.iter().try_for_each(|batch| whole.append(batch))?;
            py.check_signals()?;
        }
    })
}

/// The arrays of a batch as they grow. Tokens are copied into them once, from where they were encoded.
struct Arrays<'py> {
    tokens: Bound<'py, PyAny>,
    /// How many tokens there are.
    len: usize,
    offsets: Vec<i64>,
}

impl Arrays<'_> {
    /// How many texts are whole.
    fn texts(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Appends a batch as [`TokenBatch::append`] does.
    fn append(&mut self, batch: &TokenBatch) -> PyResult<()> {
        let before = self.len;
        self.offsets.extend(batch.offsets()[1..].iter().map(|offset| as_i64(before + offset)));
        self.len += batch.tokens().len();
        arrays::append(&self.tokens, batch.tokens())
    }
}

/// The texts that are encoded next, the first of which has this index; none at the end.
fn read_texts(texts: &mut Bound<'_, PyIterator>, first: usize) -> PyResult<Vec<BorrowedText>> {
    let mut together = Vec::new();
    let mut size = 0;
    while together.len() < TEXTS && size < SIZE {
        let Some(item) = texts.next() else { break };
        let item = item?;
        let Ok(text) = item.cast::<PyString>() else {
            let place = format!("texts[{}]", first + together.len());
            return Err(InvalidArgument::type_of(&item, "a string")
                .inside(place)
                .raised(item.py()));
        };
        let text = BorrowedText::of(text)?;
        size += text.as_str().len();
        together.push(text);
    }
    Ok(together)
}

/// Decodes a batch: two flat arrays, tokens and offsets, or the tokens of each text.
#[pyfunction]
pub(super) fn decode_batch<'py>(
    encoding: &Bound<'py, PyHarmonyEncoding>,
    batch: &Bound<'py, PyAny>,
    offsets: Option<&Bound<'py, PyAny>>,
    errors: Argument<'py>,
    threads: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyList>> {
    let decoder = Decoder {
        tokenizer: encoding.get().inner.tokenizer(),
        workers: workers(threads)?,
        errors: errors.errors()?,
        texts: PyList::empty(encoding.py()),
    };
    if let Some(offsets) = offsets {
        decoder.add_flat(&flat(batch, offsets)?)?;
    } else {
        decoder
            .add_items(&mut items(batch, "batch: expected a TokenBatch or lists of token ids")?)?;
    }
    Ok(decoder.texts)
}

struct Decoder<'py> {
    tokenizer: Tokenizer,
    workers: Workers,
    /// What to do with bytes that are not UTF-8.
    errors: CString,
    /// Those that are decoded.
    texts: Bound<'py, PyList>,
}

impl Decoder<'_> {
    fn add_flat(&self, batch: &TokenBatch) -> PyResult<()> {
        let offsets = batch.offsets();
        let mut start = 0;
        while start < batch.len() {
            let is_part =
                |&end: &usize| end - start < TEXTS && offsets[end] - offsets[start] < SIZE;
            let end = (start + 1..batch.len()).take_while(is_part).last().unwrap_or(start) + 1;
            self.add(batch, start..end)?;
            start = end;
        }
        Ok(())
    }

    fn add_items(&self, items: &mut Bound<'_, PyIterator>) -> PyResult<()> {
        loop {
            let (mut ids, mut offsets) = (Vec::new(), vec![0]);
            while offsets.len() <= TEXTS && ids.len() < SIZE {
                let Some(item) = items.next() else { break };
                let item = item?;
                let index = self.texts.len() + offsets.len() - 1;
                ids.extend(tokens::read_at(&item, &format_args!("batch[{index}]"))?);
                offsets.push(ids.len());
            }
            match TokenBatch::new(ids, offsets) {
                Some(batch) if !batch.is_empty() => self.add(&batch, 0..batch.len())?,
                _ => return Ok(()),
            }
        }
    }

    /// Decodes the next texts of a batch.
    fn add(&self, batch: &TokenBatch, range: Range<usize>) -> PyResult<()> {
        let (py, before) = (self.texts.py(), self.texts.len() - range.start);
        let (tokenizer, workers) = (self.tokenizer, &self.workers);
        let parts = py
            .detach(|| tokenizer.decode_batch_on(workers, batch, range))
            .map_err(|error| raised_of(py, "batch", before + error.index, &error.error))?;
        for bytes in parts.iter().flatten() {
            let text = decoded(py, bytes, &self.errors);
            self.texts.append(text.map_err(|error| not_utf8(py, error, self.texts.len()))?)?;
        }
        py.check_signals()
    }
}

/// Python's `UnicodeDecodeError`, which lacks the text's index.
fn not_utf8(py: Python<'_>, error: PyErr, index: usize) -> PyErr {
    if error.is_instance_of::<PyUnicodeDecodeError>(py) {
        let value = error.value(py);
        let set = value
            .getattr("reason")
            .and_then(|reason| value.setattr("reason", format!("{reason}, in batch[{index}]")));
        return set.err().unwrap_or(error);
    }
    error
}

fn workers(threads: Option<&Bound<'_, PyAny>>) -> PyResult<Workers> {
    let read =
        |threads: &Bound<'_, PyAny>| count_from_one(threads).or_raise_at(threads.py(), "threads");
    threads.map(read).transpose().map(Workers::new)
}

/// The items of an iterable that is not a single text.
fn items<'py>(object: &Bound<'py, PyAny>, expected: &str) -> PyResult<Bound<'py, PyIterator>> {
    let refused = || wrong_type(object.py(), format!("{expected}, got {}", type_name(object)));
    if object.is_instance_of::<PyString>() || object.is_instance_of::<PyBytes>() {
        return Err(refused());
    }
    object.try_iter().map_err(|error| unless_raised(error, object, refused))
}

/// Flat arrays; an error names the wrong offset.
fn flat(ids: &Bound<'_, PyAny>, offsets: &Bound<'_, PyAny>) -> PyResult<TokenBatch> {
    let ids = tokens::read(ids)?;
    let places = places(offsets)?;
    if places.is_empty() {
        return Err(PyValueError::new_err(
            "offsets: expected one more than there are texts, got none",
        ));
    }
    let mut before = 0;
    for (index, &place) in places.iter().enumerate() {
        let reason = if place < before {
            format!("{place} comes after {before}")
        } else if place > ids.len() {
            format!("{place} is more than the {} tokens", ids.len())
        } else {
            before = place;
            continue;
        };
        return Err(PyValueError::new_err(format!("offsets[{index}]: {reason}")));
    }
    TokenBatch::new(ids, places).ok_or_else(|| PyValueError::new_err("offsets: they do not ascend"))
}

fn places(offsets: &Bound<'_, PyAny>) -> PyResult<Vec<usize>> {
    each(offsets, count).or_raise_at(offsets.py(), "offsets")
}

/// The exception for an error in one of the texts; it names the text.
fn raised_of(py: Python<'_>, argument: &str, index: usize, error: &Error) -> PyErr {
    let place = format!("{argument}[{index}]");
    let (kind, token_index) = (error.kind(), error.token_index());
    let text = format!("{place}: {error}");
    Types::get(py)
        .and_then(|types| types.harmony_error.bind(py).call1((text, kind.name(), token_index)))
        .map_or_else(|failed| failed, PyErr::from_value)
}
