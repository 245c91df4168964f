//! Rows -> a batch.

use super::batch::render_on;
use super::examples::ExampleMaker;
use super::rows::Row;
use super::{Batch, RowOptions};
use crate::HarmonyEncoding;
use crate::workers::Workers;

/// Renders rows to tokens and loss masks on all cores.
///
/// A row that cannot be read or rendered, or that is fully masked, is an entry in [`Batch::errors`]; the others are
/// rendered. Examples are in the order of the rows, whatever the number of threads.
///
/// ```
/// use openai_harmony::training::{RowOptions, RowFormat, render};
/// use openai_harmony::{HarmonyEncodingName, load_harmony_encoding};
///
/// let encoding = load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss)?;
/// let rows = [
///     r#"{"messages": [{"role": "user", "content": "2 + 2?"},
///                      {"role": "assistant", "thinking": "Easy.", "content": "Four."}]}"#,
///     r#"{"messages": [{"role": "user", "content": "Anybody?"}]}"#,
/// ];
/// let options = RowOptions::new().with_format(RowFormat::Chat);
/// let batch = render(&encoding, rows, &options);
/// let example = batch.get(0).unwrap();
/// let trained = example.tokens.iter().zip(example.loss_mask).filter(|(_, mask)| **mask == 1);
/// let trained: Vec<u32> = trained.map(|(token, _)| *token).collect();
/// assert_eq!(
///     encoding.tokenizer().decode_utf8(&trained)?,
///     "<|channel|>analysis<|message|>Easy.<|end|>\
///      <|start|>assistant<|channel|>final<|message|>Four.<|return|>",
/// );
/// assert_eq!(batch.errors[0].0, 1);
/// # Ok::<(), openai_harmony::Error>(())
/// ```
pub fn render<'r, R: Into<Row<'r>>>(
    encoding: &HarmonyEncoding,
    rows: impl IntoIterator<Item = R>,
    options: &RowOptions,
) -> Batch {
    let rows: Vec<Row<'r>> = rows.into_iter().map(Into::into).collect();
    let workers = Workers::new(options.threads);
    let maker = ExampleMaker::new(*encoding, options);
    let add = |batch: &mut Batch, index, row| maker.add_row(batch, index, row);
    Batch::joined(render_on(&workers, rows, options.first_row, add))
}
