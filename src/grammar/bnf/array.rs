//! Arrays: items of one schema, or first some of their own.

use serde_json::{Map, Value};

use super::fitting::LONG;
use super::literals::count;
use super::schema::SchemaWriter;
use crate::path::Path;

impl SchemaWriter<'_> {
    /// The expression of a schema's arrays; `None` if no array fits.
    pub(super) fn array(&mut self, members: &Map<String, Value>, path: &Path) -> Option<String> {
        let mut least = self.times(members, "minItems", path).unwrap_or(0);
        let mut most = self.times(members, "maxItems", path);
        let first = members.get("prefixItems").and_then(Value::as_array).map_or(&[][..], |all| all);
        let mut prefix = Vec::new();
        for (index, schema) in first.iter().enumerate() {
            match self.value(schema.clone(), &path.clone().then("prefixItems").then(index)) {
                Some(item) => prefix.push(item),
                // There is no such item, so the array ends in front of it.
                None => most = Some(most.map_or(index, |most| most.min(index))),
            }
            if prefix.len() == index {
                break;
            }
        }
        let item = match members.get("items") {
            Some(items) => self.value(items.clone(), &path.clone().then("items")),
            None => Some(self.rules.json("value").to_owned()),
        };
        if item.is_none() {
            most = Some(most.map_or(prefix.len(), |most| most.min(prefix.len())));
        }
        if most.is_some_and(|most| most < least) {
            return None;
        }
        self.rules.json("blanks");
        prefix.truncate(most.unwrap_or(usize::MAX));
        let own = prefix.len();
        least = least.saturating_sub(own);
        let most = most.map(|most| most - own);
        let mut rest = match item.filter(|_| most != Some(0)) {
            None => String::new(),
            Some(item) if own > 0 => repeated(&item, least, most),
            Some(item) => {
                let (more, most) = (least.saturating_sub(1), most.map(|most| most - 1));
                let items = format!("{item} blanks {}", repeated(&item, more, most));
                if least == 0 { format!("({items})?") } else { items }
            }
        };
        // How many of the first ones have to be there.
        let needed = self.times(members, "minItems", path).unwrap_or(0);
        for (index, item) in prefix.iter().enumerate().rev() {
            let comma = if index == 0 { "" } else { "\",\" blanks " };
            rest = format!("{comma}{item} blanks {rest}");
            rest = if index >= needed { format!("({rest})?") } else { rest };
            // Nothing is written again for each item, and no engine's reader is nested too deeply.
            rest = if rest.len() > LONG { self.rules.made(&rest) } else { rest };
        }
        Some(format!("\"[\" blanks {rest} \"]\""))
    }

    /// A keyword that says how often something is repeated, if an engine repeats it so often.
    pub(super) fn times(
        &mut self,
        members: &Map<String, Value>,
        keyword: &'static str,
        path: &Path,
    ) -> Option<usize> {
        let count = count(members, keyword)?;
        match self.rules.repeats(count) {
            Ok(_) => Some(count),
            Err(reason) => {
                self.rules.report.loosen(path, keyword, reason);
                None
            }
        }
    }
}

/// More items, each after a comma.
fn repeated(item: &str, least: usize, most: Option<usize>) -> String {
    let most = most.map_or(String::new(), |most| most.to_string());
    format!("(\",\" blanks {item} blanks){{{least},{most}}}")
}
