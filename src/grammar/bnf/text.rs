//! Texts in JSON that fit a pattern, or bounds of length.

use serde_json::{Map, Value};

use super::fitting::{QUOTE, WIDE, fitting};
use super::literals::count;
use super::rules::{BnfRules, NO_TIME};
use super::schema::SchemaWriter;
use crate::grammar::schemas::{ecma, lengths};
use crate::path::Path;
use crate::text_grammar::Expr;

/// More characters are never counted in xgrammar: there would be no time for their rules.
const MOST_STEPS: usize = 100;

impl SchemaWriter<'_> {
    /// The expression of a schema's texts; `None` if no text fits.
    pub(super) fn text(&mut self, members: &Map<String, Value>, path: &Path) -> Option<String> {
        let least = count(members, "minLength").unwrap_or(0);
        let most = count(members, "maxLength");
        if most.is_some_and(|most| most < least) {
            return None;
        }
        let pattern = members.get("pattern").and_then(Value::as_str);
        let Some(hir) = pattern.and_then(|pattern| ecma::whole(pattern).ok()) else {
            return Some(self.counted(least, most, path));
        };
        let written = Expr::of_hir(&hir).map_err(str::to_owned).and_then(|expr| {
            let (expr, unheld) = lengths::within(expr, least, most);
            let reason = "no grammar can enforce it together with this pattern";
            for keyword in unheld {
                self.rules.report.loosen(path, keyword, reason);
            }
            self.rules.attempt(|rules| fitting(rules, &expr))
        });
        match written {
            Ok(rest) => Some(format!("{QUOTE} {rest}")),
            Err(reason) => {
                self.rules.report.loosen(path, "pattern", reason);
                Some(self.counted(least, most, path))
            }
        }
    }

    /// All texts within these bounds of length.
    fn counted(&mut self, least: usize, most: Option<usize>, path: &Path) -> String {
        match counted(self.rules, least, most) {
            Ok(written) => written,
            // Without the upper bound there may be room for the lower one.
            Err(reason) => {
                let (keyword, least) =
                    if most.is_some() { ("maxLength", least) } else { ("minLength", 0) };
                self.rules.report.loosen(path, keyword, reason);
                self.counted(least, None, path)
            }
        }
    }
}

fn counted(rules: &mut BnfRules, least: usize, most: Option<usize>) -> Result<String, String> {
    if least == 0 && most.is_none() {
        return Ok(rules.json("string").to_owned());
    }
    if rules.repeats(least.max(most.unwrap_or(0)))? {
        let char = rules.json("char");
        if let Some(most) = most {
            return Ok(format!("{QUOTE} {char}{{{least},{most}}} {QUOTE}"));
        }
        rules.json("string");
        return Ok(format!("{QUOTE} {char}{{{least},{least}}} chars"));
    }
    // Optional characters are nested from the last to the first; the required ones come before them.
    let steps = most.unwrap_or(least);
    if steps > MOST_STEPS {
        return Err(NO_TIME.to_owned());
    }
    let key = |step: usize| {
        let needed = least.saturating_sub(steps - step);
        (needed, most.map(|_| step))
    };
    let known = (1..=steps).rev().find(|step| rules.of_texts.contains_key(&key(*step)));
    let cost = |step: usize| if most.is_some() { WIDE.min(4 * step) } else { WIDE };
    let mut cost_of_all = 0;
    for step in known.unwrap_or(0) + 1..=steps {
        cost_of_all += cost(step);
        rules.can_spend(cost_of_all)?;
    }
    rules.spend(cost_of_all)?;
    rules.json("string");
    let mut rest = match known {
        Some(step) => rules.of_texts[&key(step)].clone(),
        None if most.is_some() => QUOTE.to_owned(),
        None => "chars".to_owned(),
    };
    for step in known.unwrap_or(0) + 1..=steps {
        let end = if key(step).0 == 0 { format!(" | {QUOTE}") } else { String::new() };
        rest = rules.made(&format!(r#"[^<"\\\u0000-\u001f] {rest} | "\\" escape {rest}{end}"#));
        rules.of_texts.insert(key(step), rest.clone());
    }
    Ok(format!("{QUOTE} {rest}"))
}
