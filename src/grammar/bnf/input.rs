//! The input of a custom tool that has a grammar, in the object of its arguments.

use super::fitting::{QUOTE, fitting_rules};
use super::rules::{BnfRules, Engine};
use crate::interop::INPUT;
use crate::path::Path;
use crate::text_grammar::InputGrammar;

/// Writes the object; `None` if the engine does not hold the grammar, which is reported.
pub(super) fn write(rules: &mut BnfRules, grammar: &InputGrammar, path: &Path) -> Option<String> {
    let written = grammar.rules().and_then(|of| {
        if rules.engine == Engine::LlamaCpp && of.is_left_recursive() {
            return Err("llama.cpp takes no rule that begins with itself".to_owned());
        }
        rules.attempt(|rules| fitting_rules(rules, &of))
    });
    match written {
        Ok(rest) => {
            rules.json("blanks");
            let key = format!("blanks \"{{\" blanks \"\\\"{INPUT}\\\"\" blanks \":\" blanks");
            Some(format!("{key} {QUOTE} {rest} blanks \"}}\" blanks"))
        }
        Err(reason) => {
            rules.report.loosen(path, "definition", reason);
            None
        }
    }
}
