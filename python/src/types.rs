//! The Python classes and enumerations that this module reads and makes; the package hands them over.

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

use super::model::{Model, class};
use openai_harmony::StreamState;
use openai_harmony::chat::Role;

/// References to what `openai_harmony` defines in Python.
pub(super) struct Types {
    pub(super) author: Model<2>,
    pub(super) text: Model<1>,
    pub(super) message: Model<5>,
    pub(super) tool: Model<3>,
    pub(super) namespace: Model<3>,
    pub(super) conversation: Py<PyType>,
    pub(super) channel_config: Py<PyType>,
    pub(super) system: Py<PyType>,
    pub(super) developer: Py<PyType>,
    pub(super) errors: Py<PyModule>,
    pub(super) harmony_error: Py<PyType>,
    pub(super) wrong_type: Py<PyType>,
    /// The members of `Role`, in the order of [`Role::ALL`].
    roles: [Py<PyAny>; Role::ALL.len()],
    expect_start: Py<PyAny>,
    header: Py<PyAny>,
    content: Py<PyAny>,
}

static TYPES: PyOnceLock<Types> = PyOnceLock::new();
static FIND: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

impl Types {
    /// Those that the package hands over.
    pub(super) fn get(py: Python<'_>) -> PyResult<&Self> {
        if let Some(types) = TYPES.get(py) {
            return Ok(types);
        }
        let find = FIND.get(py);
        let find = find.ok_or_else(|| PyRuntimeError::new_err("openai_harmony is not imported"))?;
        // This imports modules, so nothing is locked while it runs.
        let (chat, errors, state) = find.bind(py).call0()?.extract()?;
        TYPES.get_or_try_init(py, || Self::find(&chat, &errors, &state))
    }

    /// Takes the function that finds them. If the package is imported again, the first classes stay.
    pub(super) fn find_by(find: Bound<'_, PyAny>) {
        let py = find.py();
        FIND.get_or_init(py, || find.unbind());
    }

    fn find(
        chat: &Bound<'_, PyModule>,
        errors: &Bound<'_, PyModule>,
        state: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        let role = chat.getattr("Role")?;
        let role = |one: Role| role.call1((one.as_str(),)).map(Bound::unbind);
        let [user, assistant, system, developer, tool] = Role::ALL;
        Ok(Self {
            author: Model::find(chat, "Author", ["role", "name"], 1)?,
            text: Model::find(chat, "TextContent", ["text"], 1)?,
            message: Model::find(
                chat,
                "Message",
                ["author", "content", "channel", "recipient", "content_type"],
                2,
            )?,
            tool: Model::find(chat, "ToolDescription", ["name", "description", "parameters"], 3)?,
            namespace: Model::find(
                chat,
                "ToolNamespaceConfig",
                ["name", "description", "tools"],
                3,
            )?,
            conversation: class(chat, "Conversation")?,
            channel_config: class(chat, "ChannelConfig")?,
            system: class(chat, "SystemContent")?,
            developer: class(chat, "DeveloperContent")?,
            errors: errors.clone().unbind(),
            harmony_error: class(errors, "HarmonyError")?,
            wrong_type: class(errors, "WrongTypeError")?,
            roles: [role(user)?, role(assistant)?, role(system)?, role(developer)?, role(tool)?],
            expect_start: state.getattr("EXPECT_START")?.unbind(),
            header: state.getattr("HEADER")?.unbind(),
            content: state.getattr("CONTENT")?.unbind(),
        })
    }

    /// The member of `Role`.
    pub(super) fn role(&self, role: Role) -> &Py<PyAny> {
        // `Role::ALL` is in the order of the enumeration.
        &self.roles[role as usize]
    }

    /// The role of an object that is a member of `Role`.
    pub(super) fn role_of(&self, object: &Bound<'_, PyAny>) -> Option<Role> {
        let position = self.roles.iter().position(|member| object.is(member))?;
        Some(Role::ALL[position])
    }

    /// The member of `StreamState`.
    pub(super) fn state(&self, state: StreamState) -> &Py<PyAny> {
        match state {
            StreamState::ExpectStart => &self.expect_start,
            StreamState::Header => &self.header,
            StreamState::Content => &self.content,
        }
    }
}
