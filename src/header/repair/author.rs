//! The author: the first word of a malformed header.

use super::super::TO;
use super::super::read::{author_of, names_a_tool};
use super::super::tools::is_tool_name;
use super::super::words::{Kind, Word};
use super::rules::AuthorRule;
use super::spelling::{NameRun, glued_role, names_no_tool};
use super::{Draft, FoundField, HeaderEnd};
use crate::chat::{Author, Role};
use crate::repair::RepairKind;

impl Draft<'_> {
    pub(super) fn read_author(&mut self) {
        let first = self.peek_plain().map(|word| self.text(word)).unwrap_or_default();
        let (role, rules): (_, &[AuthorRule<'_>]) = match self.setting.given {
            Some(role) if !self.setting.named => (role, &Self::AFTER_GIVEN_ROLE),
            Some(role) => (role, &Self::WITHOUT_START),
            None => (Role::Assistant, &Self::AFTER_START),
        };
        self.author = role.into();
        rules.iter().any(|rule| rule(self, role, &first));
    }

    pub(super) fn take_same_role(&mut self, role: Role, first: &str) -> bool {
        let is_same = first == role.as_str();
        self.at += usize::from(is_same);
        is_same
    }

    /// Text between messages may begin with the role that followed a lost `<|start|>`. A sentence that
    /// begins with the same word is not changed.
    pub(super) fn skip_stray_role(&mut self, role: Role, first: &str) -> bool {
        if !self.setting.stray || self.has_recipient_word() {
            return false;
        }
        if first != role.as_str() {
            self.take_glued_role(role, first);
        } else if let [word, next, ..] = self.words.list()
            && self.words.bytes(word.text.end..next.text.start).contains(&b'\n')
        {
            self.at += 1;
        }
        true
    }

    pub(super) fn take_known_author(&mut self, _: Role, first: &str) -> bool {
        author_of(first).is_some_and(|author| self.take_author(author))
    }

    pub(super) fn take_tool(&mut self, _: Role, first: &str) -> bool {
        names_a_tool(first)
            && !first.starts_with(TO)
            && self.is_for_assistant()
            && self.take_author(Author::new(Role::Tool, first))
    }

    fn take_author(&mut self, author: Author) -> bool {
        self.author = author;
        self.at += 1;
        true
    }

    pub(super) fn take_run_of_same_role(&mut self, role: Role, first: &str) -> bool {
        NameRun::read(first).is_some_and(|run| run.role == Some(role) && self.take_run(run, role))
    }

    pub(super) fn take_run_with_role(&mut self, role: Role, first: &str) -> bool {
        NameRun::read(first).is_some_and(|run| run.role.is_some() && self.take_run(run, role))
    }

    pub(super) fn take_any_run(&mut self, role: Role, first: &str) -> bool {
        NameRun::read(first).is_some_and(|run| self.take_run(run, role))
    }

    /// Several roles and channels in one word. A channel in it counts if no marker names a channel.
    fn take_run(&mut self, run: NameRun, role: Role) -> bool {
        let Some(word) = self.next() else { return false };
        let tokens = word.tokens;
        self.author = run.role.unwrap_or(role).into();
        let has_marker = self.words.list().iter().any(|word| word.kind == Kind::Channel);
        let Some(channel) = run.channel.filter(|_| !has_marker) else {
            self.report(RepairKind::UnknownRole, tokens);
            return true;
        };
        let kind = match run.role {
            Some(_) => RepairKind::GluedChannel,
            None => RepairKind::MissingChannel,
        };
        if run.role.is_none() {
            self.report(RepairKind::MissingRole, tokens.clone());
        }
        self.report(kind, tokens.clone());
        self.channel = Some(FoundField { value: channel.to_owned(), tokens });
        true
    }

    /// A known tool instead of a role is called, unless it answers the assistant.
    pub(super) fn take_misplaced_recipient(&mut self, _: Role, first: &str) -> bool {
        if self.is_for_assistant() {
            return false;
        }
        let Some((name, _)) = self.setting.tools.misplaced(first) else { return false };
        let Some(word) = self.next() else { return false };
        self.report(RepairKind::MisplacedRecipient, word.tokens.clone());
        self.settle_recipient(FoundField { value: name, tokens: word.tokens });
        true
    }

    /// A role with text or a recipient glued to it.
    pub(super) fn take_glued_role(&mut self, _: Role, first: &str) -> bool {
        if self.setting.named && self.setting.given.is_some() && !self.ending.is_cut() {
            return false;
        }
        let Some(found) = glued_role(first, self.ending) else { return false };
        let Some(word) = self.next() else { return false };
        self.author = found.into();
        let length = found.as_str().len();
        let rest = first.get(length..).unwrap_or_default();
        if let Some(name) = rest.strip_prefix(TO) {
            self.report(RepairKind::GluedRecipient, word.tokens.clone());
            self.read_recipient(&word, name, length + TO.len());
        } else if self.ending.is_cut() {
            self.keep_rest(&word, length);
        } else {
            self.report(RepairKind::HeaderNoise, word.tokens);
        }
        true
    }

    /// A first word that is not a role: a tool's name, or content.
    pub(super) fn guess_author(&mut self, _: Role, first: &str) -> bool {
        let list = self.words.list();
        let tokens = list.first().map_or(0..0, |word| word.tokens.clone());
        let rest = list.get(1..).unwrap_or_default();
        let is_field = |next: &Word| {
            matches!(next.kind, Kind::Channel | Kind::Constrain) || self.text(next).starts_with(TO)
        };
        let has_field = rest.iter().any(is_field);
        // A sentence may end with the first word, where the header does.
        let is_name = if self.ending.is_cut() { is_tool_name(first) } else { names_a_tool(first) };
        let is_tool = is_name || has_field;
        let is_content = match self.ending {
            HeaderEnd::Message => false,
            HeaderEnd::Stop(_) => !is_tool,
            HeaderEnd::Start | HeaderEnd::Tokens => !is_tool && !rest.is_empty(),
            // The last word may be the first half of a recipient.
            HeaderEnd::Open => !is_tool && rest.len() > 1,
        };
        // A header for the assistant is a tool's, whatever its name.
        let is_no_tool = || !self.is_for_assistant() && names_no_tool(first);
        if first.is_empty() || first.starts_with(TO) || is_content || is_no_tool() {
            self.report(RepairKind::MissingRole, tokens);
            return true;
        }
        if self.ending == HeaderEnd::Message && !is_tool && rest.is_empty() {
            self.report(RepairKind::UnknownRole, tokens);
        }
        self.take_author(Author::new(Role::Tool, first))
    }

    /// Whether the header says `to=assistant`, as a tool's result does.
    fn is_for_assistant(&self) -> bool {
        let assistant = Role::Assistant.as_str();
        self.words.list().iter().any(|word| {
            word.kind == Kind::Plain
                && self.text(word).strip_prefix(TO).is_some_and(|name| name == assistant)
        })
    }
}
