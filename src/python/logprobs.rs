//! Log-probabilities of sampled tokens.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use super::errors::{InvalidArgument, Read, unless_raised};
use super::tokens;
use crate::interop::TokenLogprob;

/// Those of any iterable, for a reply: `None`, a number, or a number and a dict of the likely tokens with theirs.
pub(super) fn read(logprobs: &Bound<'_, PyAny>) -> PyResult<Vec<Option<TokenLogprob>>> {
    each(logprobs, with_alternatives).map_err(|invalid| invalid.raised(logprobs.py()))
}

/// Numbers of any iterable, for a rollout.
pub(super) fn numbers(logprobs: &Bound<'_, PyAny>) -> PyResult<Vec<f32>> {
    let number = |item: &Bound<'_, PyAny>| {
        item.extract().map_err(|_| InvalidArgument::type_of(item, "a number"))
    };
    each(logprobs, number).map_err(|invalid| invalid.raised(logprobs.py()))
}

fn each<T>(
    logprobs: &Bound<'_, PyAny>,
    read: impl Fn(&Bound<'_, PyAny>) -> Read<T>,
) -> Read<Vec<T>> {
    let items = logprobs.try_iter().map_err(|error| {
        let expected = || {
            let wrong = InvalidArgument::type_of(logprobs, "numbers");
            wrong.inside("logprobs").raised(logprobs.py())
        };
        unless_raised(error, logprobs, expected)
    })?;
    let of_item = |(index, item): (usize, PyResult<Bound<'_, PyAny>>)| {
        read(&item?).map_err(|invalid| invalid.inside(index).inside("logprobs"))
    };
    items.enumerate().map(of_item).collect()
}

fn with_alternatives(item: &Bound<'_, PyAny>) -> Read<Option<TokenLogprob>> {
    if item.is_none() {
        return Ok(None);
    }
    if let Ok(pair) = item.cast::<PyTuple>()
        && pair.len() == 2
    {
        let (logprob, top) = (number(&pair.get_item(0)?)?, pair.get_item(1)?);
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
    Ok(Some(number(item)?.into()))
}

fn number(item: &Bound<'_, PyAny>) -> Read<f64> {
    item.extract()
        .map_err(|_| InvalidArgument::type_of(item, "a number, a number with a dict, or None"))
}
