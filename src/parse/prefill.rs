//! A stream with a first message that began in the prompt.

use super::state::State;
use super::stream::StreamableParser;

use crate::chat::Role;

impl StreamableParser {
    /// Begins inside the content of a prefilled message, as if the tokens of its header and text had
    /// been fed. They do not count as tokens of this stream.
    ///
    /// The first events report the header and the text, with empty spans.
    pub(super) fn begin_prefilled(&mut self, role: Role) {
        let Some(prefill) = &self.setup.prefill else { return };
        let header = prefill.header(role);
        let text = prefill.text.clone().unwrap_or_default();
        self.given_role = None;
        self.reports.recording = true;
        self.report_start(0..0, &header);
        self.open_content(header, 0);
        if let State::Content(open) = &mut self.state {
            open.text = text;
        }
        self.report_content(0);
        self.reports.recording = false;
    }
}
