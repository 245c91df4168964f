//! Rows -> batches, on many threads.

use super::Batch;
use crate::error::Result;
use crate::workers::Workers;

/// Renders rows of any kind, the first of which has the index `first_row`, in batches that follow each
/// other.
pub(crate) fn render_on<T: Send>(
    workers: &Workers,
    rows: Vec<T>,
    first_row: usize,
    add: impl Fn(&mut Batch, usize, T) -> Result<()> + Sync,
) -> Vec<Batch> {
    workers.gather(rows, |batch: &mut Batch, index, row| {
        let index = first_row + index;
        if let Err(error) = add(batch, index, row) {
            batch.errors.push((index, error));
        }
    })
}
