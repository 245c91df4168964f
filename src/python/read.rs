//! Python's models to what the renderer takes.
//!
//! Any object with the models' attributes will do: models, their subclasses, and the like; so
//! will one with a `to_json` or `to_dict` of its own, which is then what counts. What is wrong is
//! told with its path, `messages[3].content[0].text`.

use std::collections::BTreeMap;

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyType};

use super::ahead;
use super::errors::{Misfit, Read, brief, unless_raised};
use super::held::{
    HeldAuthor, HeldDeveloper, HeldMessage, HeldNamespace, HeldPart, HeldSystem, HeldTool,
    HeldTools, Parts,
};
use super::schema;
use super::source::{Source, fields};
use super::text::{Chars, HeldText, utf8};
use super::types::Types;
use super::usual;
use crate::chat::{ChannelConfig, ReasoningEffort, ResponseFormat, Role};
use crate::json::Tape;

/// The messages of a conversation.
pub(super) fn conversation(object: &Bound<'_, PyAny>) -> Read<Vec<HeldMessage>> {
    let types = Types::get(object.py())?;
    if let Some(told) = told(object, types.conversation.bind(object.py()), &FORMS)? {
        return conversation(&told);
    }
    let source = Source::new(object, &types.conversation, "a Conversation");
    source.field(intern!(object.py(), "messages"), |messages| {
        // A conversation's own form is made of what its messages' `to_dict` gives.
        let read = |object: &Bound<'_, PyAny>| message(object, &FORMS[1..]);
        let Ok(list) = messages.cast::<PyList>() else { return each(messages, read) };
        let items = list.iter().enumerate().map(|(index, item)| {
            ahead::messages(types, list, index);
            Ok(item)
        });
        each_of(items, list.len(), read)
    })
}

/// A message by itself.
pub(super) fn single_message(object: &Bound<'_, PyAny>) -> Read<HeldMessage> {
    message(object, &FORMS)
}

fn message(object: &Bound<'_, PyAny>, forms: &[Form]) -> Read<HeldMessage> {
    let types = Types::get(object.py())?;
    if let Some(message) = usual::message(object, types) {
        return Ok(message);
    }
    if let Some(told) = told(object, types.message.class.bind(object.py()), forms)? {
        return message(&told, forms);
    }
    Ok(fields!(
        Source::model(object, &types.message, "a Message"),
        HeldMessage {
            author: author,
            recipient: optional_text,
            content: contents,
            channel: optional_text,
            content_type: optional_text,
        }
    ))
}

fn author(object: &Bound<'_, PyAny>) -> Read<HeldAuthor> {
    Ok(fields!(
        Source::model(object, &Types::get(object.py())?.author, "an Author"),
        HeldAuthor { role: role, name: optional_text }
    ))
}

/// A role: a member of `Role`, or its word.
pub(super) fn role(object: &Bound<'_, PyAny>) -> Read<Role> {
    if let Some(role) = Types::get(object.py())?.role_of(object) {
        return Ok(role);
    }
    let Ok(word) = object.cast::<PyString>() else {
        return Err(Misfit::type_of(object, "a Role"));
    };
    utf8(word)?.parse::<Role>().map_err(Misfit::value)
}

/// The parts of a message. A string stands for a single text, as in validation.
fn contents(object: &Bound<'_, PyAny>) -> Read<Parts> {
    if let Ok(text) = object.cast::<PyString>() {
        return Ok(Parts::One(HeldPart::Text(HeldText::of(text)?)));
    }
    if let Ok(list) = object.cast::<PyList>()
        && list.len() == 1
    {
        let only = list.get_item(0)?;
        return part(&only).map(Parts::One).map_err(|misfit| misfit.inside("[0]"));
    }
    each(object, part).map(Parts::Many)
}

fn part(object: &Bound<'_, PyAny>) -> Read<HeldPart> {
    let types = Types::get(object.py())?;
    let py = object.py();
    let class = object.get_type();
    if class.is(&types.text.class) {
        return text_content(object);
    }
    if class.is(&types.system) {
        return system(object);
    }
    if class.is(&types.developer) {
        return developer(object);
    }
    if let Some(told) = told_content(object, types)? {
        return part(&told);
    }
    // Subclasses, and objects of other classes that have the attributes of one of the three.
    if object.is_instance(types.system.bind(py))?
        || object.hasattr(intern!(py, "model_identity"))?
    {
        return system(object);
    }
    if object.is_instance(types.developer.bind(py))?
        || object.hasattr(intern!(py, "instructions"))?
    {
        return developer(object);
    }
    text_content(object)
}

/// A method that gives a JSON form, and the one that reads it.
type Form = (&'static str, &'static str);

/// The JSON forms, the one first that 0.0.8 asked for.
const FORMS: [Form; 2] = [("to_json", "from_json"), ("to_dict", "from_dict")];

/// The model that an object tells itself to be, where its class has a JSON form of its own and is
/// not `known`: that form is what version 0.0.8 rendered.
fn told<'py>(
    object: &Bound<'py, PyAny>,
    known: &Bound<'py, PyType>,
    forms: &[Form],
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let class = object.get_type();
    // Nor does a model of another kind tell itself to be this one.
    if class.is(known) || is_model(&class)? && !class.is_subclass(known)? {
        return Ok(None);
    }
    for (write, read) in forms {
        if has_own(&class, write, known)? {
            return known.call_method1(read, (object.call_method0(write)?,)).map(Some);
        }
    }
    Ok(None)
}

/// Whether a class is one of the models that are read here, or made from one.
fn is_model(class: &Bound<'_, PyType>) -> PyResult<bool> {
    let types = Types::get(class.py())?;
    Ok(class.is_subclass(types.conversation.bind(class.py()))?
        || class.is_subclass(types.message.class.bind(class.py()))?)
}

/// As `told`, for a part of a message.
fn told_content<'py>(
    object: &Bound<'py, PyAny>,
    types: &Types,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let (py, class) = (object.py(), object.get_type());
    for known in [&types.text.class, &types.system, &types.developer] {
        if !has_own(&class, "to_dict", known.bind(py))? {
            return Ok(None);
        }
    }
    let part = object.call_method0(intern!(py, "to_dict"))?;
    let message = PyDict::new(py);
    message.set_item("role", "user")?;
    message.set_item("content", PyList::new(py, [part])?)?;
    let message = types.message.class.bind(py).call_method1("from_dict", (message,))?;
    message.getattr("content")?.get_item(0).map(Some)
}

/// Whether a class has the method, and it is not that of `known`.
fn has_own(class: &Bound<'_, PyType>, method: &str, known: &Bound<'_, PyType>) -> PyResult<bool> {
    let Some(own) = class.getattr_opt(method)? else { return Ok(false) };
    Ok(!own.is(&known.getattr(method)?))
}

/// The object itself, or the model that a dict in its place describes.
fn model<'py>(object: &Bound<'py, PyAny>, class: &Py<PyType>) -> PyResult<Bound<'py, PyAny>> {
    if object.cast::<PyDict>().is_err() {
        return Ok(object.clone());
    }
    class.bind(object.py()).call_method1(intern!(object.py(), "model_validate"), (object,))
}

fn text_content(object: &Bound<'_, PyAny>) -> Read<HeldPart> {
    let source = Source::model(object, &Types::get(object.py())?.text, "a Content");
    source.field(intern!(object.py(), "text"), text).map(HeldPart::Text)
}

fn system(object: &Bound<'_, PyAny>) -> Read<HeldPart> {
    let content = fields!(
        Source::new(object, &Types::get(object.py())?.system, "a SystemContent"),
        HeldSystem {
            model_identity: optional_text,
            reasoning_effort: |effort| optional(effort, reasoning_effort),
            tools: |tools| optional(tools, namespaces),
            conversation_start_date: optional_text,
            knowledge_cutoff: optional_text,
            channel_config: |config| optional(config, channel_config),
        }
    );
    Ok(HeldPart::System(Box::new(content)))
}

fn developer(object: &Bound<'_, PyAny>) -> Read<HeldPart> {
    let content = fields!(
        Source::new(object, &Types::get(object.py())?.developer, "a DeveloperContent"),
        HeldDeveloper {
            instructions: optional_text,
            tools: |tools| optional(tools, namespaces),
            response_formats: |formats| each(formats, response_format),
        }
    );
    Ok(HeldPart::Developer(Box::new(content)))
}

fn reasoning_effort(object: &Bound<'_, PyAny>) -> Read<ReasoningEffort> {
    match string(object)?.as_str() {
        "Low" => Ok(ReasoningEffort::Low),
        "Medium" => Ok(ReasoningEffort::Medium),
        "High" => Ok(ReasoningEffort::High),
        other => {
            let shown = brief(other.to_owned());
            Err(Misfit::value(format!("Unknown reasoning effort: {shown}")))
        }
    }
}

fn channel_config(object: &Bound<'_, PyAny>) -> Read<ChannelConfig> {
    let class = &Types::get(object.py())?.channel_config;
    let object = &model(object, class)?;
    Ok(fields!(
        Source::new(object, class, "a ChannelConfig"),
        ChannelConfig {
            valid_channels: |channels| each(channels, string),
            channel_required: boolean,
        }
    ))
}

fn namespaces(object: &Bound<'_, PyAny>) -> Read<HeldTools> {
    let Ok(dict) = object.cast::<PyDict>() else {
        return Err(Misfit::type_of(object, "a dict or None"));
    };
    let mut schemas = Tape::default();
    let mut namespaces = BTreeMap::new();
    for (name, config) in dict {
        let key = string(&name)?;
        let config = namespace(&config, &mut schemas)
            .map_err(|misfit| misfit.inside(format!("[{key:?}]")))?;
        namespaces.insert(key, config);
    }
    Ok(HeldTools { namespaces, schemas })
}

fn namespace(object: &Bound<'_, PyAny>, schemas: &mut Tape) -> Read<HeldNamespace> {
    let class = &Types::get(object.py())?.namespace;
    let object = &model(object, &class.class)?;
    Ok(fields!(
        Source::model(object, class, "a ToolNamespaceConfig"),
        HeldNamespace {
            name: text,
            description: optional_text,
            tools: |tools| each(tools, |object| tool(object, schemas)),
        }
    ))
}

fn tool(object: &Bound<'_, PyAny>, schemas: &mut Tape) -> Read<HeldTool> {
    let class = &Types::get(object.py())?.tool;
    let object = &model(object, &class.class)?;
    Ok(fields!(
        Source::model(object, class, "a ToolDescription"),
        HeldTool {
            name: text,
            description: optional_text,
            parameters: |object| optional(object, |schema| schema::write(schema, schemas)),
        }
    ))
}

fn response_format(object: &Bound<'_, PyAny>) -> Read<ResponseFormat> {
    Ok(fields!(
        Source::any(object, "a ResponseFormat"),
        ResponseFormat { name: string, description: optional_string, schema: schema::value }
    ))
}

/// Reads each item of a list, or of anything else to iterate over.
fn each<T>(
    items: &Bound<'_, PyAny>,
    read: impl FnMut(&Bound<'_, PyAny>) -> Read<T>,
) -> Read<Vec<T>> {
    if let Ok(list) = items.cast::<PyList>() {
        return each_of(list.iter().map(Ok), list.len(), read);
    }
    if items.cast::<PyString>().is_ok() || items.cast::<PyDict>().is_ok() {
        return Err(Misfit::type_of(items, "a list"));
    }
    let no_list = || Misfit::type_of(items, "a list");
    each_of(items.try_iter().map_err(|error| unless_raised(error, items, no_list))?, 0, read)
}

/// Reads items, of which there are so many, or 0 where that is not known.
fn each_of<'py, T>(
    items: impl Iterator<Item = PyResult<Bound<'py, PyAny>>>,
    count: usize,
    mut read: impl FnMut(&Bound<'py, PyAny>) -> Read<T>,
) -> Read<Vec<T>> {
    // Made at its size, which collecting results does not do.
    let mut all = Vec::with_capacity(count);
    for (index, item) in items.enumerate() {
        all.push(read(&item?).map_err(|misfit| misfit.inside(format_args!("[{index}]")))?);
    }
    Ok(all)
}

fn optional<'py, T>(
    object: &Bound<'py, PyAny>,
    read: impl FnOnce(&Bound<'py, PyAny>) -> Read<T>,
) -> Read<Option<T>> {
    if object.is_none() { Ok(None) } else { read(object).map(Some) }
}

fn string(object: &Bound<'_, PyAny>) -> Read<String> {
    Ok(copied(python_string(object)?)?)
}

pub(super) fn text(object: &Bound<'_, PyAny>) -> Read<HeldText> {
    Ok(HeldText::of(python_string(object)?)?)
}

fn optional_string(object: &Bound<'_, PyAny>) -> Read<Option<String>> {
    Ok(optional_python_string(object)?.map(copied).transpose()?)
}

pub(super) fn optional_text(object: &Bound<'_, PyAny>) -> Read<Option<HeldText>> {
    Ok(optional_python_string(object)?.map(HeldText::of).transpose()?)
}

fn copied(string: &Bound<'_, PyString>) -> PyResult<String> {
    Ok(Chars::of(string)?.utf8().into_owned())
}

fn python_string<'a, 'py>(object: &'a Bound<'py, PyAny>) -> Read<&'a Bound<'py, PyString>> {
    object.cast().map_err(|_| Misfit::type_of(object, "a string"))
}

fn optional_python_string<'a, 'py>(
    object: &'a Bound<'py, PyAny>,
) -> Read<Option<&'a Bound<'py, PyString>>> {
    match object.cast() {
        Ok(string) => Ok(Some(string)),
        Err(_) if object.is_none() => Ok(None),
        Err(_) => Err(Misfit::type_of(object, "a string or None")),
    }
}

/// A boolean.
pub(super) fn boolean(object: &Bound<'_, PyAny>) -> Read<bool> {
    let no_bool = || Misfit::type_of(object, "a bool");
    object.extract().map_err(|error| unless_raised(error, object, no_bool))
}
