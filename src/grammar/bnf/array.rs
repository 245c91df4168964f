//! Arrays: items of one schema, or first some of their own.

use serde_json::{Map, Value};

use super::rules::count;
use super::schema::SchemaWriter;
use crate::error::{Reason, Result};
use crate::grammar::invalid;
use crate::path::Path;

impl SchemaWriter<'_> {
    /// What stands for an array of a schema.
    pub(super) fn array(&mut self, members: &Map<String, Value>, path: &Path) -> Result<String> {
        let least = count(members, "minItems", path)?.unwrap_or(0);
        let most = count(members, "maxItems", path)?;
        if most.is_some_and(|most| most < least) {
            return Err(invalid(path.clone().then("maxItems"), Reason::is("less than minItems")));
        }
        self.rules.bounded(least, "minItems", path)?;
        self.rules.bounded(most.unwrap_or(0), "maxItems", path)?;
        self.rules.json("blanks");
        if let Some(first) = members.get("prefixItems").and_then(Value::as_array)
            && !first.is_empty()
        {
            return self.tuple(first, members, (least, most), path);
        }
        let none = || Ok(r#""[" blanks "]""#.to_owned());
        if most == Some(0) {
            return none();
        }
        let item = match members.get("items") {
            Some(Value::Bool(false)) if least == 0 => return none(),
            Some(items) => self.value(items, &path.clone().then("items"))?,
            None => self.rules.json("value").to_owned(),
        };
        let (more, most) = (least.saturating_sub(1), most.map(|most| most.saturating_sub(1)));
        let most_text = most.map_or(String::new(), |most| most.to_string());
        let items = format!("{item} blanks (\",\" blanks {item} blanks){{{more},{most_text}}}");
        let items = if least == 0 { format!("({items})?") } else { items };
        Ok(format!("\"[\" blanks {items} \"]\""))
    }

    /// An array whose first items have schemas of their own.
    fn tuple(
        &mut self,
        first: &[Value],
        members: &Map<String, Value>,
        (least, most): (usize, Option<usize>),
        path: &Path,
    ) -> Result<String> {
        if least > first.len() || most.is_some_and(|most| most != first.len()) {
            let reason = "goes with prefixItems only if it ends with them";
            let key = if least > first.len() { "minItems" } else { "maxItems" };
            return Err(invalid(path.clone().then(key), reason));
        }
        let mut rest = match members.get("items") {
            _ if most.is_some() => String::new(),
            Some(Value::Bool(false)) => String::new(),
            items => {
                let any = Value::Bool(true);
                let item = self.value(items.unwrap_or(&any), &path.clone().then("items"))?;
                format!(" (\",\" blanks {item} blanks)*")
            }
        };
        for (index, schema) in first.iter().enumerate().rev() {
            let item = self.value(schema, &path.clone().then("prefixItems").then(index))?;
            let comma = if index == 0 { "" } else { "\",\" blanks " };
            rest = format!("{comma}{item} blanks{rest}");
            rest = if index >= least { format!(" ({rest})?") } else { format!(" {rest}") };
        }
        Ok(format!("\"[\" blanks{rest} \"]\""))
    }
}
