//! Tools by namespace.

use std::collections::BTreeMap;

use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::values::{each, model, optional, optional_text, string, text};
use crate::attributes::{Attributes, fields};
use crate::borrowed::{BorrowedNamespace, BorrowedTool, BorrowedTools};
use crate::errors::{InvalidArgument, Read};
use crate::json;
use crate::types::Models;
use openai_harmony::machinery::{PathStep, Tape};

/// The namespaces of a dict. It is copied first: reading a namespace may run Python code that adds
/// another one, and so may other threads.
pub(super) fn namespaces(object: &Bound<'_, PyAny>) -> Read<BorrowedTools> {
    let Ok(dict) = object.cast::<PyDict>() else {
        return Err(InvalidArgument::type_of(object, "a dict or None"));
    };
    let mut schemas = Tape::default();
    let mut namespaces = BTreeMap::new();
    for (name, config) in dict.copy()? {
        let key = string(&name)?;
        let config = namespace(&config, &mut schemas)
            .map_err(|invalid| invalid.inside(PathStep::Key(key.clone().into())))?;
        namespaces.insert(key, config);
    }
    Ok(BorrowedTools { namespaces, schemas })
}

fn namespace(object: &Bound<'_, PyAny>, schemas: &mut Tape) -> Read<BorrowedNamespace> {
    let class = &Models::get(object.py())?.namespace;
    let object = &model(object, class)?;
    Ok(fields!(
        Attributes::new(object, class, "a ToolNamespaceConfig"),
        BorrowedNamespace {
            name: text,
            description: optional_text,
            tools: |tools| each(tools, |object| tool(object, schemas)),
        }
    ))
}

fn tool(object: &Bound<'_, PyAny>, schemas: &mut Tape) -> Read<BorrowedTool> {
    let class = &Models::get(object.py())?.tool;
    let object = &model(object, class)?;
    Ok(fields!(
        Attributes::new(object, class, "a ToolDescription"),
        BorrowedTool {
            name: text,
            description: optional_text,
            parameters: |object| optional(object, |schema| json::schema(schema, schemas)),
        }
    ))
}
