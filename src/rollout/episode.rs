//! A whole episode: prompts, sampled tokens, and the log-probability of each.

use std::ops::Range;
use std::sync::Arc;

use super::breaks::{self, Break};
use super::options::{ExtendOptions, declared_tools};
use super::sampled::{self, Sampled, invalid};
use super::step::Step;
use crate::chat::{Message, Role};
use crate::error::Result;
use crate::interop::Turn;
use crate::path::Path;
use crate::render;
use crate::tokenizer::TokenId;
use crate::{HarmonyEncoding, MessageSpan, Prefill, RenderConfig, RenderEnd, Rendered};

/// An episode that continues from its own tokens.
///
/// It alternates between a prompt, which waits for tokens to be [`sampled`](Self::sampled), and a step, which waits for
/// [`extend`](Self::extend). Where the format does not allow it to continue, the prompt is rendered again and a new
/// [`Segment`] begins. A clone is another branch. It shares the common part, so a thousand samples of one prompt store
/// the prompt once.
///
/// ```
/// use openai_harmony::chat::{Message, Role};
/// use openai_harmony::rollout::{ExtendOptions, Rollout};
/// use openai_harmony::{HarmonyEncodingName, load_harmony_encoding};
///
/// let encoding = load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss)?;
/// let question = [Message::from_role_and_content(Role::User, "2 + 2?")];
/// let mut rollout = Rollout::new(encoding, question, ExtendOptions::new())?;
/// let sampled = encoding.tokenizer().encode_with_special_tokens("<|channel|>final<|message|>4<|return|>");
/// let step = rollout.sampled(&sampled, None)?;
/// assert!(step.is_complete());
/// let segments = rollout.segments();
/// assert_eq!(segments.len(), 1);
/// assert_eq!(segments[0].loss_mask(), [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1]);
/// # Ok::<(), openai_harmony::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Rollout {
    encoding: HarmonyEncoding,
    options: ExtendOptions,
    conversation: Vec<Arc<Message>>,
    /// Per message: whether the last segment contains it; the policy may have dropped it.
    held: Vec<bool>,
    segments: Vec<Segment>,
    /// Where the last piece's open message begins, counted from the piece's end.
    open: usize,
    /// The last sample, if nothing was added since.
    waiting: Option<Arc<Sampled>>,
}

/// Tokens without a break between them.
#[derive(Debug, Clone, Default)]
pub struct Segment {
    pieces: Vec<Piece>,
    /// The tokens of all pieces.
    len: usize,
    broken: Option<Break>,
}

/// Tokens that were rendered, or sampled in one go.
#[derive(Debug, Clone)]
struct Piece {
    tokens: Arc<[TokenId]>,
    is_sampled: bool,
    logprobs: Option<Arc<[f32]>>,
    /// Spans of the segment's tokens, and indices of the rollout's messages.
    spans: Arc<[MessageSpan]>,
}

impl Segment {
    /// All tokens.
    pub fn tokens(&self) -> Vec<TokenId> {
        self.pieces.iter().map(|piece| &*piece.tokens).collect::<Vec<_>>().concat()
    }

    /// Per token: 1 if it was sampled in this segment, else 0.
    pub fn loss_mask(&self) -> Vec<u8> {
        let of_piece =
            |piece: &Piece| std::iter::repeat_n(u8::from(piece.is_sampled), piece.tokens.len());
        self.pieces.iter().flat_map(of_piece).collect()
    }

    /// Per token: its log-probability, NaN where none was given.
    pub fn logprobs(&self) -> Vec<f32> {
        let of_piece = |piece: &Piece| match &piece.logprobs {
            Some(logprobs) => logprobs.to_vec(),
            None => vec![f32::NAN; piece.tokens.len()],
        };
        self.pieces.iter().flat_map(of_piece).collect()
    }

    /// Where the tokens of each sample are, in their order.
    pub fn samples(&self) -> Vec<Range<usize>> {
        let mut at = 0;
        let mut place = |piece: &Piece| {
            let start = at;
            at += piece.tokens.len();
            piece.is_sampled.then_some(start..at)
        };
        self.pieces.iter().filter_map(&mut place).collect()
    }

    /// Where each message is among the tokens, by its index in [`Rollout::messages`]. The beginning of a sampled
    /// message may belong to the prompt. Malformed tokens without content are in no span.
    pub fn spans(&self) -> Vec<MessageSpan> {
        let mut spans: Vec<MessageSpan> = Vec::new();
        let mut at = 0;
        for piece in &self.pieces {
            if piece.is_sampled {
                // The message that the prompt begins is the first sampled one.
                spans.pop_if(|open| open.message.is_none());
            }
            if let (Some(last), Some(next)) = (spans.last_mut(), piece.spans.first())
                && last.end == at
            {
                // The stop token of a message that was cut off.
                last.end = next.start;
            }
            spans.extend_from_slice(&piece.spans);
            at += piece.tokens.len();
        }
        spans
    }

    /// Why the segment before it ended; `None` for the first.
    pub fn broken(&self) -> Option<Break> {
        self.broken
    }
}

impl Rollout {
    /// Begins with a conversation, which is rendered up to the beginning of the assistant's message.
    ///
    /// # Errors
    ///
    /// Whatever rendering the conversation refuses.
    pub fn new(
        encoding: HarmonyEncoding,
        conversation: impl IntoIterator<Item = Message>,
        options: ExtendOptions,
    ) -> Result<Self> {
        Self::with_prefill(encoding, conversation, &Prefill::new(), options)
    }

    /// The same, with a longer beginning of the assistant's message, which the model continues.
    ///
    /// # Errors
    ///
    /// Whatever rendering the conversation or the prefill refuses.
    pub fn with_prefill(
        encoding: HarmonyEncoding,
        conversation: impl IntoIterator<Item = Message>,
        prefill: &Prefill,
        mut options: ExtendOptions,
    ) -> Result<Self> {
        let conversation: Vec<_> = conversation.into_iter().map(Arc::new).collect();
        options.tools.extend(conversation.iter().flat_map(|message| declared_tools(message)));
        let mut rollout = Self {
            encoding,
            options,
            conversation,
            held: Vec::new(),
            segments: Vec::new(),
            open: 0,
            waiting: None,
        };
        let ending = RenderEnd::Prefill(Role::Assistant, prefill);
        let render = rollout.options.config;
        rollout.begin(ending, &[], None, render)?;
        Ok(rollout)
    }

    /// Begins with a request's turn; use [`ExtendOptions::of_turn`] for the turn's own options.
    ///
    /// # Errors
    ///
    /// A schema that cannot be rendered.
    pub fn of_turn(encoding: HarmonyEncoding, turn: &Turn, options: ExtendOptions) -> Result<Self> {
        let conversation = turn.conversation.messages.iter().cloned();
        let prefill = turn.prefill.clone().unwrap_or_default();
        Self::with_prefill(encoding, conversation, &prefill, options)
    }

    /// The tokens to sample from. Costs a copy of them.
    pub fn prompt(&self) -> Vec<TokenId> {
        self.segments.last().map(Segment::tokens).unwrap_or_default()
    }

    /// How many tokens there are to sample from.
    pub fn prompt_len(&self) -> usize {
        self.segments.last().map_or(0, |segment| segment.len)
    }

    /// The messages, including the sampled ones.
    pub fn messages(&self) -> impl ExactSizeIterator<Item = &Message> {
        self.conversation.iter().map(Arc::as_ref)
    }

    /// The segments; the last one is still open. See [`Segment::loss_mask`] for what to train.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// Takes the tokens that were sampled after the prompt, and the log-probability of each, if given. The cost depends
    /// only on these tokens.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidRollout`](crate::ErrorKind::InvalidRollout), which leaves the rollout unchanged: there are
    /// no tokens, an id does not exist, tokens follow a stop token, the numbers of log-probabilities and tokens differ,
    /// or tokens were already sampled.
    pub fn sampled(&mut self, tokens: &[TokenId], logprobs: Option<&[f32]>) -> Result<Step> {
        if self.waiting.is_some() {
            return Err(invalid(
                Path::of("sampled"),
                "this prompt was sampled from; extend it first",
            ));
        }
        if let Some(logprobs) = logprobs
            && logprobs.len() != tokens.len()
        {
            let (got, expected) = (logprobs.len(), tokens.len());
            return Err(invalid(Path::of("logprobs"), format!("{got} for {expected} tokens")));
        }
        let Some(piece) = self.segments.last().and_then(|segment| segment.pieces.last()) else {
            return Err(invalid(Path::of("sampled"), "there is no prompt"));
        };
        let open = &piece.tokens[piece.tokens.len() - self.open..];
        sampled::check(tokens, self.encoding)?;
        let sampled = sampled::read(open, tokens, &self.options.tools, self.encoding)?;
        let step = Step::new(&sampled, self.open);
        let first = self.prompt_len() - self.open;
        let spans = placed(&sampled.spans, first, self.conversation.len());
        self.conversation.extend(sampled.messages.iter().cloned().map(Arc::new));
        self.held.resize(self.conversation.len(), true);
        self.push(Piece {
            tokens: tokens.into(),
            is_sampled: true,
            logprobs: logprobs.map(Into::into),
            spans,
        });
        self.waiting = Some(Arc::new(sampled));
        Ok(step)
    }

    /// Adds messages after the sampled ones: tool results, questions. Returns `None` if the prompt continues, else why
    /// it was rendered again. Without a break the cost depends only on the new messages.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidRollout`](crate::ErrorKind::InvalidRollout), which leaves the rollout unchanged: nothing was
    /// sampled, or there is a message of the assistant or a result without a call. Also whatever rendering refuses.
    pub fn extend(&mut self, messages: &[Message]) -> Result<Option<Break>> {
        let Some(sampled) = self.waiting.clone() else {
            return Err(invalid(Path::of("messages"), "nothing was sampled from this prompt yet"));
        };
        breaks::check(messages, &sampled, &self.options)?;
        let before = self.conversation.len() - sampled.messages.len();
        let held = || {
            let held = self.conversation.iter().zip(&self.held).take(before);
            Ok(held.filter(|(_, held)| **held).map(|(message, _)| Arc::clone(message)).collect())
        };
        let reason = breaks::find::<Arc<Message>>(&sampled, messages, &self.options, held)?;
        if reason.is_some() {
            // The new messages were checked; the sampled ones are written as they were read.
            let render = self.options.config.with_validate(false);
            self.begin(RenderEnd::Completion(Role::Assistant), messages, reason, render)?;
        } else {
            let added = self.encoding.added(sampled.end, messages, &self.options)?;
            self.open = open_len(&added.tokens, self.encoding)?;
            let spans = placed(&added.spans, self.prompt_len(), self.conversation.len());
            self.conversation.extend(messages.iter().cloned().map(Arc::new));
            self.held.resize(self.conversation.len(), true);
            self.push(Piece {
                tokens: added.tokens.into(),
                is_sampled: false,
                logprobs: None,
                spans,
            });
        }
        self.waiting = None;
        Ok(reason)
    }

    /// Begins a segment: renders the conversation with these messages after it.
    fn begin(
        &mut self,
        ending: RenderEnd<'_>,
        new: &[Message],
        broken: Option<Break>,
        render: RenderConfig,
    ) -> Result<()> {
        let all = self.messages().chain(new);
        let Rendered { tokens, spans, .. } =
            self.encoding.render_with_spans(all, ending, &render)?;
        self.open = open_len(&tokens, self.encoding)?;
        self.conversation.extend(new.iter().cloned().map(Arc::new));
        let messages: Vec<&Message> = self.messages().collect();
        let mut held = vec![false; messages.len()];
        for (index, _) in render::kept(&messages, render.thoughts) {
            held[index] = true;
        }
        self.held = held;
        let (tokens, spans) = (tokens.into(), spans.into());
        self.segments.push(Segment { broken, ..Segment::default() });
        self.push(Piece { tokens, is_sampled: false, logprobs: None, spans });
        Ok(())
    }

    fn push(&mut self, piece: Piece) {
        if let Some(segment) = self.segments.last_mut() {
            segment.len += piece.tokens.len();
            segment.pieces.push(piece);
        }
    }
}

/// How many tokens the open message at the end of a prompt has.
fn open_len(prompt: &[TokenId], encoding: HarmonyEncoding) -> Result<usize> {
    Ok(prompt.len() - sampled::open_message(prompt, encoding)?)
}

/// The spans, shifted to start at this token and this message.
fn placed(spans: &[MessageSpan], token: usize, message: usize) -> Arc<[MessageSpan]> {
    let place = |span: &MessageSpan| MessageSpan {
        message: span.message.map(|index| index + message),
        ..span.behind(token)
    };
    spans.iter().map(place).collect()
}
