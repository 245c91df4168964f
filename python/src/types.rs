//! The Python classes and enumerations that this module reads and makes; the package hands them over.

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

use super::model::{Model, class};
use openai_harmony::StreamState;
use openai_harmony::chat::Role;

/// Those that are not models: encoding, and a parser that is only fed, need no others.
pub(super) struct Types {
    pub(super) errors: Py<PyModule>,
    pub(super) harmony_error: Py<PyType>,
    pub(super) wrong_type: Py<PyType>,
    /// The members of `Role`, in the order of [`Role::ALL`].
    roles: [Py<PyAny>; Role::ALL.len()],
    expect_start: Py<PyAny>,
    header: Py<PyAny>,
    content: Py<PyAny>,
}

/// The models of `openai_harmony.chat`. They need pydantic, which takes a tenth of a second to import.
pub(super) struct Models {
    pub(super) author: Model<2>,
    pub(super) text: Model<1>,
    pub(super) message: Model<5>,
    pub(super) tool: Py<PyType>,
    pub(super) namespace: Py<PyType>,
    pub(super) conversation: Py<PyType>,
    pub(super) channel_config: Py<PyType>,
    pub(super) system: Py<PyType>,
    pub(super) developer: Py<PyType>,
}

static TYPES: PyOnceLock<Types> = PyOnceLock::new();
static MODELS: PyOnceLock<Models> = PyOnceLock::new();
static FIND: PyOnceLock<[Py<PyAny>; 2]> = PyOnceLock::new();

/// Takes the functions that find both. If the package is imported again, the first classes stay.
pub(super) fn find_by(types: Bound<'_, PyAny>, models: Bound<'_, PyAny>) {
    let py = types.py();
    FIND.get_or_init(py, || [types.unbind(), models.unbind()]);
}

/// What one of these functions returns. It imports modules, so nothing is locked while it runs.
fn found(py: Python<'_>, which: usize) -> PyResult<Bound<'_, PyAny>> {
    let find = FIND.get(py);
    let find = find.ok_or_else(|| PyRuntimeError::new_err("openai_harmony is not imported"))?;
    find[which].bind(py).call0()
}

impl Types {
    /// Those that the package hands over.
    pub(super) fn get(py: Python<'_>) -> PyResult<&Self> {
        if let Some(types) = TYPES.get(py) {
            return Ok(types);
        }
        let (errors, role, state) = found(py, 0)?.extract()?;
        TYPES.get_or_try_init(py, || Self::find(&errors, &role, &state))
    }

    fn find(
        errors: &Bound<'_, PyModule>,
        role: &Bound<'_, PyAny>,
        state: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        let role = |one: Role| role.call1((one.as_str(),)).map(Bound::unbind);
        let [user, assistant, system, developer, tool] = Role::ALL;
        Ok(Self {
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

impl Models {
    /// Those that the package hands over.
    pub(super) fn get(py: Python<'_>) -> PyResult<&Self> {
        if let Some(models) = MODELS.get(py) {
            return Ok(models);
        }
        let chat = found(py, 1)?.extract()?;
        MODELS.get_or_try_init(py, || Self::find(&chat))
    }

    fn find(chat: &Bound<'_, PyModule>) -> PyResult<Self> {
        Ok(Self {
            author: Model::find(chat, "Author", ["role", "name"], 1)?,
            text: Model::find(chat, "TextContent", ["text"], 1)?,
            message: Model::find(
                chat,
                "Message",
                ["author", "content", "channel", "recipient", "content_type"],
                2,
            )?,
            tool: class(chat, "ToolDescription")?,
            namespace: class(chat, "ToolNamespaceConfig")?,
            conversation: class(chat, "Conversation")?,
            channel_config: class(chat, "ChannelConfig")?,
            system: class(chat, "SystemContent")?,
            developer: class(chat, "DeveloperContent")?,
        })
    }
}
