//! The author: the first word of a malformed header.

use super::super::TO;
use super::super::name_run::NameRun;
use super::super::read::{author_of, names_a_tool};
use super::super::tools::is_tool_name;
use super::super::words::{Word, WordKind};
use super::rules::{CHANNEL, RECIPIENT};
use super::spelling::{glued_role, names_no_tool};
use super::{Draft, HeaderEnd};
use crate::chat::{Author, Role};
use crate::repair::RepairKind;

impl Draft<'_> {
    pub(super) fn read_author(&mut self) {
        let first = self.peek_plain().map(|word| self.text(word)).unwrap_or_default();
        self.author_rules().iter().any(|rule| rule(self, &first));
    }

    pub(super) fn take_same_role(&mut self, first: &str) -> bool {
        first == self.fields.author.role.as_str() && self.next().is_some()
    }

    /// Text between messages may begin with the role that followed a lost `<|start|>`. A sentence that
    /// begins with the same word is not changed.
    pub(super) fn skip_stray_role(&mut self, first: &str) -> bool {
        if !self.setting.stray || self.has_recipient_word() {
            return false;
        }
        if first != self.fields.author.role.as_str() {
            self.take_glued_role(first);
        } else if let [word, next, ..] = self.ahead
            && self.words.bytes(word.text.end..next.text.start).contains(&b'\n')
        {
            self.next();
        }
        true
    }

    pub(super) fn take_known_author(&mut self, first: &str) -> bool {
        author_of(first).is_some_and(|author| self.take_author(author))
    }

    pub(super) fn take_tool(&mut self, first: &str) -> bool {
        names_a_tool(first)
            && !first.starts_with(TO)
            && self.is_for_assistant()
            && self.take_author(Author::new(Role::Tool, first))
    }

    fn take_author(&mut self, author: Author) -> bool {
        self.fields.author = author;
        self.next();
        true
    }

    pub(super) fn take_run_of_same_role(&mut self, first: &str) -> bool {
        let role = Some(self.fields.author.role);
        NameRun::read(first).is_some_and(|run| run.role == role && self.take_run(run))
    }

    pub(super) fn take_run_with_role(&mut self, first: &str) -> bool {
        NameRun::read(first).is_some_and(|run| run.role.is_some() && self.take_run(run))
    }

    pub(super) fn take_any_run(&mut self, first: &str) -> bool {
        NameRun::read(first).is_some_and(|run| self.take_run(run))
    }

    /// Several roles and channels in one word. Its channel counts if no marker names one.
    fn take_run(&mut self, run: NameRun) -> bool {
        let Some(Word { tokens, .. }) = self.next() else { return false };
        if let Some(role) = run.role {
            self.fields.author = role.into();
        }
        let Some(channel) = run.channel.filter(|_| !self.has_channel_marker()) else {
            self.report(RepairKind::UnknownRole, tokens);
            return true;
        };
        if run.role.is_some() {
            self.report(RepairKind::GluedChannel, tokens);
        } else {
            self.report(RepairKind::MissingRole, tokens);
            self.report(RepairKind::MissingChannel, tokens);
        }
        self.settle(&CHANNEL, channel, tokens);
        true
    }

    /// A known tool in place of a role is called, unless its message is for the assistant.
    pub(super) fn take_misplaced_recipient(&mut self, first: &str) -> bool {
        let called = self.setting.tools.misplaced(first).filter(|_| !self.is_for_assistant());
        let Some((name, _)) = called else { return false };
        let Some(Word { tokens, .. }) = self.next() else { return false };
        self.report(RepairKind::MisplacedRecipient, tokens);
        self.settle(&RECIPIENT, name, tokens);
        true
    }

    /// A role with text or a recipient glued to it.
    pub(super) fn take_glued_role(&mut self, first: &str) -> bool {
        let is_cut = self.setting.end.is_cut();
        if self.setting.named && self.setting.given.is_some() && !is_cut {
            return false;
        }
        let Some(found) = glued_role(first, self.setting.end) else { return false };
        let Some(word) = self.next() else { return false };
        self.fields.author = found.into();
        let length = found.as_str().len();
        if let Some(name) = first[length..].strip_prefix(TO) {
            self.report(RepairKind::GluedRecipient, &word.tokens);
            self.read_recipient(word, name, length + TO.len());
        } else if is_cut {
            self.keep_rest(word, length);
        } else {
            self.report(RepairKind::HeaderNoise, &word.tokens);
        }
        true
    }

    /// A first word that is not a role: a tool's name, or content.
    pub(super) fn guess_author(&mut self, first: &str) -> bool {
        let end = self.setting.end;
        let (tokens, rest) = match self.ahead {
            [word, rest @ ..] => (word.tokens.clone(), rest),
            [] => (0..0, self.ahead),
        };
        let is_field = |next: &Word| {
            matches!(next.kind, WordKind::Channel | WordKind::Constrain)
                || self.text(next).starts_with(TO)
        };
        // A sentence may end with the first word, where the header does.
        let is_name = if end.is_cut() { is_tool_name(first) } else { names_a_tool(first) };
        let is_tool = is_name || rest.iter().any(is_field);
        let is_content = match end {
            HeaderEnd::Message => false,
            HeaderEnd::Stop(_) => !is_tool,
            HeaderEnd::Start | HeaderEnd::Tokens => !is_tool && !rest.is_empty(),
            // The last word may be the first half of a recipient.
            HeaderEnd::Open => !is_tool && rest.len() > 1,
        };
        // A header addressed to the assistant is a tool's, whatever its name.
        let is_no_tool = || !self.is_for_assistant() && names_no_tool(first);
        if first.is_empty() || first.starts_with(TO) || is_content || is_no_tool() {
            self.report(RepairKind::MissingRole, &tokens);
            return true;
        }
        if end == HeaderEnd::Message && !is_tool && rest.is_empty() {
            self.report(RepairKind::UnknownRole, &tokens);
        }
        self.take_author(Author::new(Role::Tool, first))
    }

    /// Whether the header has `to=assistant`, as a tool's result does.
    fn is_for_assistant(&self) -> bool {
        let assistant = Role::Assistant.as_str();
        self.words.list().iter().any(|word| {
            word.kind == WordKind::Plain && self.text(word).strip_prefix(TO) == Some(assistant)
        })
    }
}
