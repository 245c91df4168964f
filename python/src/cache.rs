//! The memory of the tokenizer's caches, for `openai_harmony.cache`.

use pyo3::prelude::*;

use openai_harmony::tokenizer::cache;

/// How many caches there are, and their bytes.
#[pyfunction]
pub(super) fn cache_usage() -> (usize, usize) {
    let usage = cache::usage();
    (usage.caches, usage.bytes)
}

/// Gives the memory of the caches back.
#[pyfunction]
pub(super) fn clear_cache(py: Python<'_>) {
    py.detach(cache::clear);
}
