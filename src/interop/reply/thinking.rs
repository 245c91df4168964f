//! The thinking budget: how many tokens thoughts may have, and how they are ended.

use super::Reply;
use crate::tokenizer::{TokenId, Tokenizer};

/// A budget of a reply that has one.
#[derive(Debug)]
pub(super) struct ThinkingBudget {
    tokens: usize,
    end: Vec<TokenId>,
}

impl ThinkingBudget {
    pub(super) fn new(tokenizer: Tokenizer, tokens: usize) -> Self {
        // After a bare `<|end|>` models begin another thought.
        let end = "<|end|><|start|>assistant<|channel|>final<|message|>";
        Self { tokens, end: tokenizer.encode_with_special_tokens(end) }
    }
}

impl Reply {
    /// The tokens that end a thought and begin the answer, once the thinking budget is spent
    /// ([`Turn::thinking_budget`](crate::interop::Turn::thinking_budget)); empty before, and wherever the model is not
    /// inside a thought.
    ///
    /// Ask after each [`Self::feed`]. If it returns any, stop the engine, feed them to the reply, and resume sampling
    /// after the prompt and [`Self::tokens`]. It returns none inside a character of several tokens: that ends one or
    /// two tokens later.
    ///
    /// ```
    /// use openai_harmony::interop::{ReadOptions, ReplyOptions, anthropic};
    /// use openai_harmony::{HarmonyEncodingName, load_harmony_encoding};
    /// use serde_json::json;
    ///
    /// let encoding = load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss)?;
    /// let encode = |text| encoding.tokenizer().encode_with_special_tokens(text);
    /// let body = json!({
    ///     "max_tokens": 100, "messages": [{"role": "user", "content": "2 + 2?"}],
    ///     "thinking": {"type": "enabled", "budget_tokens": 3},
    /// });
    /// let turn = anthropic::read(&body, &ReadOptions::default())?;
    /// let mut reply = turn.reply(&encoding, ReplyOptions::new("gpt-oss-20b"))?;
    /// reply.feed(&encode("<|channel|>analysis<|message|>Let me"), None)?;
    /// assert!(reply.force().is_empty());
    /// reply.feed(&encode(" think"), None)?;
    /// let forced = reply.force().to_vec();
    /// assert_eq!(forced, encode("<|end|><|start|>assistant<|channel|>final<|message|>"));
    /// reply.feed(&forced, None)?;
    /// reply.feed(&encode("4<|return|>"), None)?;
    /// assert_eq!(reply.response()["content"][1]["text"], "4");
    /// # Ok::<(), openai_harmony::Error>(())
    /// ```
    pub fn force(&self) -> &[TokenId] {
        match &self.budget {
            Some(budget)
                if self.outcome.is_none()
                    && self.sorter.is_thinking()
                    && self.budget_spent()
                    && self.parser.is_between_characters() =>
            {
                &budget.end
            }
            _ => &[],
        }
    }

    /// Whether the thoughts have taken as many tokens as their budget; `false` without one.
    pub fn budget_spent(&self) -> bool {
        let thoughts = self.usage().reasoning_tokens;
        self.budget.as_ref().is_some_and(|budget| thoughts >= budget.tokens)
    }
}
