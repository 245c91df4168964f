//! Loss masks for Python.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyByteArray;

use super::attributes::Attributes;
use super::encoding::{MANY_TOKENS, Span};
use super::errors::{InvalidArgument, OrRaiseAt, Read};
use super::gil::released_if;
use super::options::{ReadChoice, set_from, set_from_attributes};
use super::read::role;
use super::read::values::{each, optional, optional_string};
use super::tokens;
use openai_harmony::machinery::{Speaker, rendered, speakers as speakers_of};
use openai_harmony::training::{LossMask, Turns};
use openai_harmony::{MessageSpan, Rendered};

/// The loss mask of a rendering: its tokens, spans, and the role and channel of each span, as
/// `_render_with_spans` gave them.
#[pyfunction]
pub(super) fn loss_mask<'py>(
    tokens: &Bound<'py, PyAny>,
    spans: Vec<Span>,
    speakers: &Bound<'py, PyAny>,
    mask: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyByteArray>> {
    let py = tokens.py();
    let mask = read_mask(mask).or_raise_at(py, "mask")?;
    let speakers = each(speakers, speaker).or_raise_at(py, "speakers")?;
    let tokens = tokens::read(tokens)?;
    let rendered = rendered(tokens, spans, speakers);
    check(&rendered)?;
    let bytes = released_if(py, rendered.tokens.len() >= MANY_TOKENS, || rendered.loss_mask(&mask));
    Ok(PyByteArray::new(py, &bytes))
}

/// Python's `LossMask`, or the default if left out.
fn read_mask(object: Option<&Bound<'_, PyAny>>) -> Read<LossMask> {
    let Some(object) = object else { return Ok(LossMask::new()) };
    set_from_attributes(LossMask::new(), &Attributes::any(object, "a LossMask"), None)
}

set_from! {
    LossMask: |mask| Ok(optional(mask, |mask| read_mask(Some(mask)))?.unwrap_or_default()),
    Turns: Turns::read,
}

fn speaker(object: &Bound<'_, PyAny>) -> Read<Speaker> {
    let (word, channel): (Bound<'_, PyAny>, Bound<'_, PyAny>) =
        object.extract().map_err(|_| InvalidArgument::type_of(object, "a role and a channel"))?;
    Ok(Speaker { role: role(&word)?, channel: optional_string(&channel)?.map(Into::into) })
}

/// Refuses tokens and spans that were changed after rendering: the mask would belong to other
/// tokens.
fn check(rendered: &Rendered) -> PyResult<()> {
    let Rendered { tokens, spans, .. } = rendered;
    let speakers = speakers_of(rendered).len();
    let mut covered = 0;
    for (index, span) in spans.iter().enumerate() {
        let &MessageSpan { start, content, stop, end, .. } = span;
        let is_whole = start == covered && start <= content && content <= stop && stop <= end;
        if !is_whole || index >= speakers {
            return Err(changed(&format!("spans[{index}]")));
        }
        covered = end;
    }
    if covered != tokens.len() || spans.len() != speakers {
        return Err(changed("spans"));
    }
    Ok(())
}

fn changed(place: &str) -> PyErr {
    PyValueError::new_err(format!(
        "{place}: a loss mask needs the tokens and spans as `render_with_spans` returned them"
    ))
}
