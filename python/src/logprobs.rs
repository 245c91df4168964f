//! Log-probabilities of sampled tokens.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use super::errors::{InvalidArgument, OrRaiseAt, Read};
use super::read::values::{each, number};
use super::tokens;
use openai_harmony::interop::TokenLogprob;

/// Those of any iterable, for a reply: `None`, a number, or a number and a dict of the likely tokens with theirs.
pub(super) fn read(logprobs: &Bound<'_, PyAny>) -> PyResult<Vec<Option<TokenLogprob>>> {
    read_each(logprobs, with_alternatives)
}

/// Numbers of any iterable, for a rollout.
pub(super) fn numbers(logprobs: &Bound<'_, PyAny>) -> PyResult<Vec<f32>> {
    read_each(logprobs, number)
}

fn read_each<T>(
    logprobs: &Bound<'_, PyAny>,
    read: impl FnMut(&Bound<'_, PyAny>) -> Read<T>,
) -> PyResult<Vec<T>> {
    each(logprobs, read).or_raise_at(logprobs.py(), "logprobs")
}

fn with_alternatives(item: &Bound<'_, PyAny>) -> Read<Option<TokenLogprob>> {
    if item.is_none() {
        return Ok(None);
    }
    if let Ok(pair) = item.cast::<PyTuple>()
        && pair.len() == 2
    {
        let (logprob, top): (f64, _) = (number(&pair.get_item(0)?)?, pair.get_item(1)?);
        if top.is_none() {
            return Ok(Some(logprob.into()));
        }
        let top = top.cast::<PyDict>().map_err(|_| {
            InvalidArgument::type_of(&top, "a dict of token ids and numbers").inside("top")
        })?;
        let alternative = |(token, logprob): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
            let id = tokens::read_one(&token)?;
            Ok((
                id,
                number(&logprob).map_err(|invalid| invalid.inside(id.to_string()).inside("top"))?,
            ))
        };
        let top = top.iter().map(alternative).collect::<Read<_>>()?;
        return Ok(Some(TokenLogprob { logprob, top }));
    }
    Ok(Some(number::<f64>(item)?.into()))
}
