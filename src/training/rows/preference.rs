//! Preference rows -> an example for each answer.

use super::invalid;
use super::read_turn::ChatRow;
use crate::MessageSpan;
use crate::error::Result;
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
        let maker = ExampleMaker::new(self.encoding, &options);
        for (side, is_preferred) in sides {
            maker.add_chat(&mut answers, index, side)?;
            answers.preferred.resize(answers.len(), is_preferred);
        }
        let prompts = answers.iter().map(|answer| prompt_of(&answer));
        let prompts: Vec<&[TokenId]> = prompts.collect::<Result<_>>()?;
        if let [chosen, rejected] = prompts[..]
            && chosen != rejected
        {
            let reason = "the two answers have different prompts; they may differ after the last message of the user \
                          and the last result of a tool only";
            return Err(invalid(Path::default(), reason));
        }
        if !answers.dropped.is_empty() {
            let unused = std::mem::take(&mut answers.unused);
            answers = Batch { dropped: vec![index], unused, ..Batch::default() };
        }
        batch.append(&mut answers);
        Ok(())
    }
}

/// The prompt of an example. The model must have written all that follows: preference trainers have no mask.
fn prompt_of<'b>(example: &Example<'b>) -> Result<&'b [TokenId]> {
    let prompt = example.loss_mask.iter().take_while(|&&trained| trained == 0).count();
    if example.loss_mask.iter().skip(prompt).any(|&trained| trained == 0) {
        let is_untrained =
            |span: &MessageSpan| !example.loss_mask[span.start..span.end].contains(&1);
        let mut answer = example.spans.iter().filter(|span| span.start >= prompt);
        let reason = if answer.any(is_untrained) {
            "the answer has tool results, which preference trainers would train; end the prompt after the last \
             of them"
        } else {
            "the answer has several calls, but the model waits for the result of each; end the prompt before the last \
             of them, after the result of the others"
        };
        return Err(invalid(Path::default(), reason));
    }
    Ok(&example.tokens[..prompt])
}
