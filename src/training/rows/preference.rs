//! Rows of preferences -> an example for each answer.

use super::chat_rows::ChatRow;
use super::invalid;
use crate::error::{Reason, Result};
use crate::path::Path;
use crate::tokenizer::TokenId;
use crate::training::batch::{Batch, Example};
use crate::training::examples::ExampleMaker;

impl ExampleMaker<'_> {
    /// Puts the answers of a row into the batch, all or none.
    pub(super) fn add_preference(
        &self,
        batch: &mut Batch,
        index: usize,
        sides: Vec<(ChatRow, bool)>,
    ) -> Result<()> {
        let before = batch.lengths();
        let options = self.options.clone().of_preferences();
        let maker = ExampleMaker::new(self.tokenizer, &options);
        let added = sides.into_iter().try_fold(true, |is_whole, (side, is_preferred)| {
            let count = batch.len();
            maker.add_chat(batch, index, side)?;
            batch.preferred.resize(batch.len(), is_preferred);
            Ok(is_whole && batch.len() > count)
        });
        let checked = added.and_then(|is_whole| {
            let answers = batch.iter().skip(before.examples).map(|example| split(&example));
            let prompts = answers.collect::<Result<Vec<_>>>()?;
            match &prompts[..] {
                [chosen, rejected] if chosen != rejected => {
                    let reason =
                        "not behind the prompt of `chosen`: the two differ before the last answer";
                    Err(invalid(Path::of("rejected"), Reason::is(reason)))
                }
                _ => Ok(is_whole),
            }
        });
        match checked {
            Ok(true) => Ok(()),
            Ok(false) => {
                batch.cut_back(before);
                batch.dropped.push(index);
                Ok(())
            }
            Err(error) => {
                batch.cut_back(before);
                Err(error)
            }
        }
    }
}

/// The prompt of an example. All that follows must be the model's: these trainers have no mask.
fn split(example: &Example<'_>) -> Result<Vec<TokenId>> {
    let prompt = example.loss_mask.iter().take_while(|&&trained| trained == 0).count();
    if example.loss_mask.iter().skip(prompt).any(|&trained| trained == 0) {
        let reason = "the answer has more than the model writes, such as results of tools; \
                      put all but the last of it into the prompt";
        return Err(invalid(Path::default(), reason));
    }
    Ok(example.tokens.iter().take(prompt).copied().collect())
}
