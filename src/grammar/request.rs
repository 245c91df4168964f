//! The grammar of a request's turn.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::{GrammarOptions, GrammarTool, TurnGrammar};
use crate::error::Result;
use crate::interop::{Tool, ToolKind, Turn};

impl TurnGrammar {
    /// What the assistant may sample in the turn of a request: the tools that the prompt declares with their schemas,
    /// what `tool_choice` allows, and the schema of the response format are the request's, and so are the prefill and
    /// which schemas are strict, unless `options` have them. All else is as in `options`.
    ///
    /// # Errors
    ///
    /// As of [`TurnGrammar::new`].
    ///
    /// # Example
    ///
    /// ```
    /// use openai_harmony::grammar::{GrammarOptions, TurnGrammar};
    /// use openai_harmony::interop::{ReadOptions, chat_completions};
    /// use openai_harmony::tokenizer::Tokenizer;
    /// use serde_json::json;
    ///
    /// let body = json!({
    ///     "messages": [{"role": "user", "content": "Rain?"}],
    ///     "tools": [{"type": "function", "function": {"name": "rain"}}],
    ///     "tool_choice": "required",
    /// });
    /// let turn = chat_completions::read(body, &ReadOptions::default())?;
    /// let grammar = TurnGrammar::of_turn(&turn, GrammarOptions::new())?;
    /// let tokenizer = Tokenizer::o200k_harmony();
    /// let accepts = |text: &str| grammar.accepts(tokenizer.encode_with_special_tokens(text)).ok;
    /// assert!(accepts("<|channel|>commentary to=functions.rain<|message|>{}<|call|>"));
    /// assert!(!accepts("<|channel|>final<|message|>It rains.<|return|>"));
    /// # Ok::<(), openai_harmony::Error>(())
    /// ```
    pub fn of_turn(turn: &Turn, mut options: GrammarOptions) -> Result<Self> {
        let schemas = turn.schemas().collect();
        let declared = turn.tools.iter().filter(|tool| tool.declared);
        let tools = declared.map(|tool| grammar_tool(tool, &schemas));
        options.tool_choice = turn.tool_choice.clone();
        if let Some(format) = &turn.response_format {
            options.response_schema = Some(format.schema.clone());
        }
        options.prefill = options.prefill.or_else(|| turn.prefill.clone());
        options.strict = options.strict.or_else(|| Some(strict_recipients(turn)));
        Self::new(tools, options)
    }
}

/// The recipients of schemas that the request wants to be enforced, and `""` for the answer's.
fn strict_recipients(turn: &Turn) -> Vec<String> {
    let tools = turn.tools.iter().filter(|tool| tool.declared && tool.strict);
    let answer = turn.strict_format.then(String::new);
    tools.map(|tool| tool.recipient.clone()).chain(answer).collect()
}

fn grammar_tool(tool: &Tool, schemas: &HashMap<String, Option<&Value>>) -> GrammarTool {
    let parameters = match schemas.get(&tool.recipient) {
        // `python` takes text.
        None if tool.kind == ToolKind::Builtin => return GrammarTool::of_text(&tool.recipient),
        _ if tool.kind == ToolKind::Custom => {
            return GrammarTool::of_input(&tool.recipient, tool.input.clone());
        }
        None => json!({}),
        Some(Some(schema)) => (*schema).clone(),
        // The prompt declares a tool without parameters as one that takes nothing.
        Some(None) => json!({"type": "object", "additionalProperties": false}),
    };
    GrammarTool::new(&tool.recipient, parameters)
}
