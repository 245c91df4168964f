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
        let mut answers = Batch::default();
        let options = self.options.clone().of_preferences();
        let maker = ExampleMaker::new(self.tokenizer, &options);
        for (side, is_preferred) in sides {
            maker.add_chat(&mut answers, index, side)?;
            answers.preferred.resize(answers.len(), is_preferred);
        }
        let prompts = answers.iter().map(|answer| prompt_of(&answer));
        let prompts: Vec<&[TokenId]> = prompts.collect::<Result<_>>()?;
        if let [chosen, rejected] = prompts[..]
            && chosen != rejected
        {
            let reason = "not behind the prompt of `chosen`: the two differ before the last answer";
            return Err(invalid(Path::of("rejected"), Reason::is(reason)));
        }
        if !answers.dropped.is_empty() {
            let unused = std::mem::take(&mut answers.unused);
            answers = Batch { dropped: vec![index], unused, ..Batch::default() };
        }
        batch.append(&mut answers);
        Ok(())
    }
}

/// The prompt of an example. All that follows must be the model's: these trainers have no mask.
fn prompt_of<'b>(example: &Example<'b>) -> Result<&'b [TokenId]> {
    let prompt = example.loss_mask.iter().take_while(|&&trained| trained == 0).count();
    if example.loss_mask.iter().skip(prompt).any(|&trained| trained == 0) {
        let reason = "the answer has more than the model writes, such as results of tools; \
                      put all but the last of it into the prompt";
        return Err(invalid(Path::default(), reason));
    }
    Ok(&example.tokens[..prompt])
}
