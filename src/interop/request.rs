//! Reading a request: what the readers of all dialects collect, and the turn that it makes.

use super::choice::{self, Choice};
use super::field::{BodyField, BodyObject};
use super::history::History;
use super::names::{ToolId, ToolNames};
use super::nearest::nearest;
use super::options::{NamedToolChoice, ReadOptions};
use super::texts::Texts;
use super::tools::{Declared, Functions, takes_nothing};
use super::{
    AnswerOptions, Dialect, Json, Sampling, ToolChoice, Turn, Unsupported, Unused, UnusedReason,
};
use crate::chat::{
    DeveloperContent, Message, ReasoningEffort, ResponseFormat, Role, SystemContent,
    ToolNamespaceConfig,
};
use crate::error::{Reason, Result};
use crate::json::At;
use crate::path::Path;
use crate::tokenizer::special;
use crate::{Prefill, RenderConfig, ThoughtPolicy};

/// The content of a body, in no dialect's terms.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a property of some request")]
pub(crate) struct Request<'o> {
    pub(super) dialect: Dialect,
    pub(super) options: &'o ReadOptions,
    pub(super) history: History,
    pub(super) tools: Declared,
    /// The tools that are added or removed later, each with the entry to list if there is no such tool.
    pub(super) changed: Vec<(ToolId, Unused)>,
    pub(super) choice: Choice,
    pub(super) response_format: Option<ResponseFormat>,
    /// Whether the answer's schema must be enforced.
    pub(super) strict_format: bool,
    pub(super) model: Option<String>,
    pub(super) store: Option<bool>,
    pub(super) previous_response_id: Option<String>,
    /// How many messages the history has.
    pub(super) history_len: usize,
    /// The identity that the body asks for.
    pub(super) identity: Option<String>,
    /// `None` writes no line about reasoning.
    pub(super) effort: Option<ReasoningEffort>,
    /// The effort set by the latest message that sets one; it takes precedence over the body's.
    pub(super) latest_effort: Option<ReasoningEffort>,
    pub(super) sampling: Sampling,
    pub(super) stop_strings: Vec<String>,
    /// Whether the model continues the end of the last message: a text or thought of the assistant, or a call that was
    /// cut off.
    pub(crate) continue_last: bool,
    pub(super) thinking_budget: Option<usize>,
    pub(super) may_truncate: bool,
    /// Whether the thoughts of completed turns stay.
    pub(super) keep_thoughts: bool,
    pub(super) answer: AnswerOptions,
    pub(super) unused: Vec<Unused>,
    pub(super) unmet: Vec<Unused>,
    /// What happens to images in the message that is being read.
    pub(super) unsupported: Unsupported,
}

impl Dialect {
    /// Reads a request's body; [`Request::into_turn`] makes the turn from it.
    pub(crate) fn request<'o>(self, body: &Json, options: &'o ReadOptions) -> Result<Request<'o>> {
        let path = Path::default();
        let body = BodyField::root(&path, body)?;
        let object = || format!("an object with {:?}", self.messages());
        let body = body.object().map_err(|_| body.expected(&object()))?;
        self.check(&body)?;
        let mut request = Request::new(self, options);
        request.model = body.text("model")?.map(str::to_owned);
        let definition = self.definition();
        (definition.collect)(&body, &mut request)?;
        self.check_messages(&body, &request)?;
        request.list_others(&body, &[definition.fields, definition.repeated].concat());
        Ok(request)
    }

    /// Refuses the body of another API: its messages are in a field that this one does not have, or, of two APIs that
    /// have `messages`, its system prompt is.
    fn check(self, body: &BodyObject<'_, '_>) -> Result<()> {
        let has = |key: &str| body.get_or_null(key).is_some();
        let others = || Self::ALL.iter().filter(|other| **other != self);
        let found = if has(self.messages()) {
            // The system prompt is the only other field that must not be lost: the rest is listed as unused.
            let lost = has(SYSTEM) && !self.definition().fields.contains(&SYSTEM);
            lost.then_some((self.messages(), SYSTEM))
        } else {
            let found = others().map(|other| other.messages()).find(|messages| has(messages));
            found.map(|messages| (messages, messages))
        };
        let Some((messages, at)) = found else { return Ok(()) };
        let is_known = |other: &&Self| other.definition().known_by.iter().any(|key| has(key));
        let same = || others().filter(|other| other.messages() == messages);
        let right = same().find(is_known).or_else(|| same().next());
        let (Some(right), Some(field)) = (right, body.get(at)) else { return Ok(()) };
        Err(field.invalid(format!("this is a body of another API: read it with {right}.read")))
    }

    /// Refuses a body without messages, unless the history has some or another field names them.
    fn check_messages(self, body: &BodyObject<'_, '_>, request: &Request<'_>) -> Result<()> {
        let are_elsewhere = |key: &&str| body.get(key).is_some();
        if request.history_len > 0 || self.definition().instead.iter().any(are_elsewhere) {
            return Ok(());
        }
        let messages = body.required(self.messages())?;
        if messages.at().as_str().is_none() && messages.items()?.next().is_none() {
            return Err(messages.invalid(Reason::is("empty")));
        }
        Ok(())
    }
}

/// The field that has the system prompt, where that is not a message.
const SYSTEM: &str = "system";
/// How many unknown fields are compared with the known ones to suggest a spelling: a body can have thousands.
const MOST_COMPARED: usize = 64;

/// What follows from a message's place among the others.
#[derive(Debug, Clone, Copy)]
pub(super) struct MessagePlace {
    /// Whether a later message is the user's.
    pub(super) user_follows: bool,
    /// What happens to images in it.
    pub(super) unsupported: Unsupported,
}

impl ReadOptions {
    /// Gives `read` each message of the history, then each that the body has under a key.
    pub(super) fn each_message(
        &self,
        body: &BodyObject<'_, '_>,
        key: &str,
        mut read: impl FnMut(&BodyField<'_, '_>, MessagePlace) -> Result<()>,
    ) -> Result<()> {
        let is_user = |message: At<'_>| message.get("role").and_then(At::as_str) == Some("user");
        let mut users = self.history.iter().filter(|message| is_user(message.at())).count();
        body.each(key, |message| {
            users += usize::from(is_user(message.at()));
            Ok(())
        })?;
        let mut read = |message: &BodyField<'_, '_>, is_in_body: bool| {
            let is_of_user = is_user(message.at());
            users -= usize::from(is_of_user);
            let user_follows = users > 0;
            let is_newest = is_of_user && is_in_body && !user_follows;
            let unsupported = self.unsupported_in(is_newest);
            read(message, MessagePlace { user_follows, unsupported })
        };
        for (index, message) in self.history.iter().enumerate() {
            read(&BodyField::root(&Path::of("history").then(index), message)?, false)?;
        }
        body.each(key, |message| read(message, true))
    }

    /// What happens to images in a message. `is_newest`: it is the user's newest message in the body. Content that a
    /// client cannot take back is not an error: older messages, results of tools, and a history that the server has
    /// accepted.
    pub(super) fn unsupported_in(&self, is_newest: bool) -> Unsupported {
        if is_newest || self.strict { self.unsupported } else { Unsupported::Placeholder }
    }
}

impl<'o> Request<'o> {
    pub(crate) fn new(dialect: Dialect, options: &'o ReadOptions) -> Self {
        Self {
            dialect,
            options,
            history: History::new(options.strict),
            tools: Declared::default(),
            changed: Vec::new(),
            choice: Choice::default(),
            response_format: None,
            strict_format: false,
            model: None,
            store: None,
            previous_response_id: None,
            history_len: options.history.len(),
            effort: Some(options.effort.unwrap_or(ReasoningEffort::Medium)),
            latest_effort: None,
            identity: None,
            sampling: Sampling::default(),
            stop_strings: Vec::new(),
            continue_last: false,
            thinking_budget: None,
            may_truncate: false,
            keep_thoughts: false,
            answer: AnswerOptions::default(),
            unused: Vec::new(),
            unmet: Vec::new(),
            unsupported: options.unsupported,
        }
    }

    /// Lists something as unused.
    pub(super) fn list(&mut self, field: &BodyField<'_, '_>, reason: UnusedReason) {
        self.unused.push(field.unused(reason));
    }

    /// The word of a member. One that is not `known` is listed, and read as if it were missing.
    pub(super) fn word<'v>(
        &mut self,
        object: &BodyObject<'v, '_>,
        key: &str,
        known: &[&str],
    ) -> Result<Option<&'v str>> {
        let Some(field) = object.get(key) else { return Ok(None) };
        let word = field.text()?;
        if !known.contains(&word) {
            self.list(&field, UnusedReason::NotUsed);
            return Ok(None);
        }
        Ok(Some(word))
    }

    /// Lists the members that this library has no use for: those that are neither among `known` nor null.
    pub(super) fn list_others(&mut self, object: &BodyObject<'_, '_>, known: &[&str]) {
        self.list_others_as(object, known, &UnusedReason::NotUsed);
    }

    /// The same, with another reason for members with names that are not close to known ones.
    pub(super) fn list_others_as(
        &mut self,
        object: &BodyObject<'_, '_>,
        known: &[&str],
        reason: &UnusedReason,
    ) {
        let compared = MOST_COMPARED.saturating_sub(self.unused.len());
        self.unused.extend(object.others(known).enumerate().map(|(at, field)| {
            let key = field.key().filter(|_| at < compared);
            let meant = key.and_then(|key| nearest(key, known));
            let misspelt = meant.map(|meant| UnusedReason::Misspelt(meant.to_owned()));
            field.unused(misspelt.unwrap_or_else(|| reason.clone()))
        }));
    }

    /// The turn, with this library's prompt.
    pub(crate) fn into_turn(mut self) -> Result<Turn> {
        for schema in self.tools.schemas_mut() {
            schema.take_if(|schema| takes_nothing(schema));
        }
        let declares = !self.choice.is_none();
        let mut tools = self.name_tools(declares)?;
        self.history.check_all_answered()?;
        let mut prefill = None;
        if self.continue_last {
            prefill = self.history.take_prefill(&tools.names);
        }
        if matches!(self.options.named, NamedToolChoice::Prefill) {
            // A message that the body continues is not also the beginning of a call.
            prefill = prefill.or_else(|| choice::prefill(&tools.choice, &tools.names));
        }
        let instructions = self.history.take_lead(|_| true).into_iter().map(Texts::joined);
        let functions = tools.functions.first.take();
        let developer = developer(instructions, functions, self.response_format.as_ref());
        let contents = |texts: Texts| vec![texts.joined()];
        let history = std::mem::take(&mut self.history);
        let messages = history.into_messages(&tools.names, &mut tools.functions, contents);
        let mut config = self.options.config.unwrap_or_else(Turn::default_config);
        if self.keep_thoughts {
            config.thoughts = ThoughtPolicy::Keep;
        }
        Ok(self.turn(tools, Prompt { developer, messages, prefill, config }))
    }

    /// Names the tools, and lists what is unused of them. `declares`: whether the prompt declares them.
    pub(super) fn name_tools(&mut self, declares: bool) -> Result<NamedTools> {
        let added = self.history.all_added();
        let chosen = self.choice.named().map(|id| self.tools.declared_id(id.clone()));
        if let Some(id) = chosen.filter(|id| !added.contains(id)) {
            // The model begins with its arguments, so it has to see their schema.
            self.tools.load(&id);
        }
        let removed = self.history.all_removed();
        let names = self.tools.names(self.history.called(), &added, &removed, declares);
        let choice = std::mem::take(&mut self.choice);
        let (demands, before) = (choice.demands_call(), self.unused.len());
        let choice = choice.resolve(&names, &mut self.unused)?;
        let is_missed = demands && choice == ToolChoice::Auto;
        let is_bare = declares && !names.any_offered();
        let unmet = self.unused.iter().enumerate().filter(|&(at, unused)| {
            (is_missed && at >= before) || (is_bare && unused.is_tool_of_body())
        });
        self.unmet = unmet.map(|(_, unused)| unused.clone()).collect();
        let unknown = self.changed.drain(..).filter(|(id, _)| !self.tools.has(id));
        self.unused.extend(unknown.map(|(_, unused)| unused));
        self.unused.extend(self.history.take_stray());
        self.history.drop_cut_calls(self.continue_last, &mut self.unused);
        let effort = self.latest_effort.or(self.effort);
        let identity = self.identity.as_deref().or(self.options.identity.as_deref());
        let system = system(&self.tools, declares, effort, identity, self.options);
        let mut functions = Functions::default();
        if declares {
            functions = std::mem::take(&mut self.tools).functions(&names);
        }
        Ok(NamedTools { names, choice, functions, system })
    }

    /// The turn with this prompt.
    pub(super) fn turn(self, tools: NamedTools, prompt: Prompt) -> Turn {
        let (sources, messages) = prompt.messages;
        let first = [Some(tools.system), prompt.developer].into_iter().flatten();
        let sources = first.clone().map(|_| None).chain(sources).collect();
        Turn {
            dialect: self.dialect,
            model: self.model,
            store: self.store,
            previous_response_id: self.previous_response_id,
            conversation: first.chain(messages).collect(),
            sources,
            history_len: self.history_len,
            config: prompt.config,
            tools: tools.names,
            tool_choice: tools.choice,
            response_format: self.response_format,
            strict_format: self.strict_format,
            prefill: prompt.prefill,
            stop_token_ids: vec![special::RETURN, special::CALL],
            stop_token_names: vec!["<|return|>".to_owned(), "<|call|>".to_owned()],
            stop_strings: self.stop_strings,
            thinking_budget: self.thinking_budget,
            may_truncate: self.may_truncate,
            sampling: self.sampling,
            unused: self.unused,
            unmet: self.unmet,
            answer: self.answer,
        }
    }
}

/// The tools of a request, as harmony names and declares them.
pub(super) struct NamedTools {
    pub(super) names: ToolNames,
    choice: ToolChoice,
    pub(super) functions: Functions,
    /// The system message, which declares the built-in ones.
    system: Message,
}

/// How a request becomes a conversation, after its system message.
pub(super) struct Prompt {
    pub(super) developer: Option<Message>,
    /// Each with the number of the body's message that it comes from.
    pub(super) messages: (Vec<Option<usize>>, Vec<Message>),
    pub(super) prefill: Option<Prefill>,
    pub(super) config: RenderConfig,
}

/// The system message: identity, date, reasoning, built-in tools.
fn system(
    tools: &Declared,
    declares: bool,
    effort: Option<ReasoningEffort>,
    identity: Option<&str>,
    options: &ReadOptions,
) -> Message {
    let mut system = SystemContent::new();
    if let Some(identity) = identity {
        system = system.with_model_identity(identity);
    }
    system.reasoning_effort = effort;
    system.conversation_start_date = options.date.text();
    if declares {
        system = tools.write_builtin(system);
    }
    Message::from_role_and_content(Role::System, system)
}

/// The first developer message, if it has any content: instructions, tools, response format.
pub(super) fn developer(
    instructions: impl Iterator<Item = String>,
    functions: Option<ToolNamespaceConfig>,
    format: Option<&ResponseFormat>,
) -> Option<Message> {
    let mut developer = DeveloperContent::new();
    let instructions: Vec<_> = instructions.collect();
    if !instructions.is_empty() {
        developer = developer.with_instructions(instructions.join("\n\n"));
    }
    if let Some(functions) = functions {
        developer = developer.with_tools(functions);
    }
    developer.response_formats.extend(format.cloned());
    (developer != DeveloperContent::new())
        .then(|| Message::from_role_and_content(Role::Developer, developer))
}
