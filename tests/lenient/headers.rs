//! Malformed headers after the assistant's role.

use super::rows::{Row, known, row};

pub(crate) const HEADERS: &[Row] = &[
    // Well-formed.
    row("<|channel|>final<|message|>a<|return|>", &["final: a"], &[]),
    row("<|message|>a<|end|>", &[": a"], &[]),
    row(
        "<|channel|>commentary to=functions.bash <|constrain|>json<|message|>{}<|call|>",
        &["commentary to=functions.bash type=<|constrain|>json: {}"],
        &[],
    ),
    row(
        " to=functions.bash<|channel|>commentary json<|message|>{}<|call|>",
        &["commentary to=functions.bash type=json: {}"],
        &[],
    ),
    row(
        "<|channel|>analysis to=python code<|message|>x<|call|>",
        &["analysis to=python type=code: x"],
        &[],
    ),
    // White space beyond ASCII at the ends of a header is removed, as in 0.0.8.
    row(" to=functions.f\n\u{b}\n<|message|>a<|end|>", &["to=functions.f: a"], &[]),
    row(" to=functions.f\u{b}<|message|>a<|end|>", &["to=functions.f: a"], &[]),
    row(" to=functions.f \u{a0}<|message|>a<|end|>", &["to=functions.f: a"], &[]),
    // The channel is taken out before.
    row(
        " to=functions.f\u{b}<|channel|>final<|message|>a<|end|>",
        &["final to=functions.f: a"],
        &[],
    ),
    row(
        "<|channel|>analysis to=functions.f json\u{2003}<|message|>a<|end|>",
        &["analysis to=functions.f type=json: a"],
        &[],
    ),
    // A word glued to a channel.
    row("<|channel|>final__X<|message|>a<|return|>", &["final: a"], &["glued_channel"]),
    row(
        "<|channel|>commentary?commentary?<|end|>",
        &["commentary: ?commentary?"],
        &["glued_channel", "missing_message"],
    ),
    row("<|channel|>––commentary<|message|>a<|end|>", &["commentary: a"], &["glued_channel"]),
    row(
        "<|channel|>commentaryjson<|message|>{}<|end|>",
        &["commentary type=json: {}"],
        &["glued_channel"],
    ),
    row(
        "<|channel|>commentaryto=functions.bash<|message|>{}<|call|>",
        &["commentary to=functions.bash: {}"],
        &["glued_channel"],
    ),
    row("<|channel|>finalists<|message|>a<|end|>", &["finalists: a"], &[]),
    row("<|channel|>finalX<|message|>a<|end|>", &["finalX: a"], &[]),
    row("<|channel|>semifinal<|message|>a<|end|>", &["semifinal: a"], &[]),
    row("<|channel|>??finalX<|message|>a<|end|>", &["??finalX: a"], &[]),
    row(
        "<|channel|>x\u{b}y to=f json<|message|>a<|end|>",
        &["x to=f type=json: a"],
        &["glued_channel"],
    ),
    // More than one field of a kind.
    row(
        "<|channel|>commentary<|channel|>analysis<|message|>a<|end|>",
        &["analysis: a"],
        &["duplicate_channel"],
    ),
    row(
        "<|channel|>analysis<|channel|>other<|message|>a<|end|>",
        &["analysis: a"],
        &["duplicate_channel"],
    ),
    row(
        " to=functions.bash<|channel|>commentary<|channel|>commentary <|constrain|>json<|message|>{}<|call|>",
        &["commentary to=functions.bash type=<|constrain|>json: {}"],
        &["duplicate_channel"],
    ),
    row(
        " to=functions.bash<|channel|>commentary to=functions.bash<|message|>{}<|call|>",
        &["commentary to=functions.bash: {}"],
        &["duplicate_recipient"],
    ),
    row(
        " to=assistant<|channel|>commentary to=functions.bash<|message|>{}<|call|>",
        &["commentary to=functions.bash: {}"],
        &["duplicate_recipient"],
    ),
    row(
        "<|channel|>commentary to=assistant<|channel|>final<|message|>a<|return|>",
        &["final: a"],
        &["duplicate_channel"],
    ),
    // Fields in another order, or at a distance.
    row(
        "<|channel|>commentary <|constrain|>json to=functions.bash<|message|>{}<|call|>",
        &["commentary to=functions.bash type=<|constrain|>json: {}"],
        &["header_order"],
    ),
    row(
        "<|channel|>commentary json to=functions.bash<|message|>{}<|call|>",
        &["commentary to=functions.bash type=json: {}"],
        &["header_order"],
    ),
    row(
        "<|channel|>commentary to= functions.bash<|message|>{}<|call|>",
        &["commentary to=functions.bash: {}"],
        &["header_order"],
    ),
    row(
        "<|channel|>commentary to = functions.bash<|message|>{}<|call|>",
        &["commentary to=functions.bash: {}"],
        &["header_order"],
    ),
    row(
        "<|channel|>commentary to =functions.bash<|message|>{}<|call|>",
        &["commentary to=functions.bash: {}"],
        &["header_order"],
    ),
    row(
        "<|channel|>to=functions.bash<|message|>{}<|call|>",
        &["to=functions.bash: {}"],
        &["header_order"],
    ),
    row("<|channel|> analysis<|message|>a<|end|>", &["analysis: a"], &["header_order"]),
    // Words that nothing announces.
    row("<|channel|>final json<|message|>{}<|return|>", &["final type=json: {}"], &["bare_word"]),
    row(
        "<|channel|>commentary json<|message|>{}<|end|>",
        &["commentary type=json: {}"],
        &["bare_word"],
    ),
    row("<|channel|>analysis code<|message|>x<|end|>", &["analysis type=code: x"], &["bare_word"]),
    // Without a channel it may be a call.
    row(" json<|message|>{}<|call|>", &["type=json: {}"], &["bare_word"]),
    known(
        " code<|message|>x<|call|>",
        &["type=code: x"],
        &["bare_word"],
        &["to=functions.code: x"],
        &["bare_word"],
    ),
    known(
        " code json<|message|>{}<|call|>",
        &["type=code: {}"],
        &["bare_word", "header_noise"],
        &["to=functions.code type=json: {}"],
        &["bare_word"],
    ),
    row("<|channel|>final answer<|message|>a<|return|>", &["final: a"], &["header_noise"]),
    row(
        "<|channel|> final answer<|message|>a<|return|>",
        &["final: a"],
        &["header_order", "header_noise"],
    ),
    row(
        "<|channel|>commentary container.exec<|message|>{}<|call|>",
        &["commentary to=container.exec: {}"],
        &["bare_word"],
    ),
    row(
        "<|channel|>commentary functions.bash json<|message|>{}<|call|>",
        &["commentary to=functions.bash type=json: {}"],
        &["bare_word"],
    ),
    row(
        "<|channel|>analysis python<|message|>x<|call|>",
        &["analysis to=python: x"],
        &["bare_word"],
    ),
    row(
        "<|channel|>commentary my-server.get_file<|message|>{}<|call|>",
        &["commentary to=my-server.get_file: {}"],
        &["bare_word"],
    ),
    known(
        "<|channel|>commentary to=tool:bash <|constrain|>json<|message|>{}<|call|>",
        &["commentary to=tool:bash type=<|constrain|>json: {}"],
        &[],
        &["commentary to=functions.bash type=<|constrain|>json: {}"],
        &["glued_recipient"],
    ),
    known(
        "<|channel|>commentary to=tools.bash<|message|>{}<|call|>",
        &["commentary to=tools.bash: {}"],
        &[],
        &["commentary to=functions.bash: {}"],
        &["glued_recipient"],
    ),
    known(
        " to=functions.bashcommentaryjson<|message|>{}<|call|>",
        &["to=functions.bashcommentaryjson: {}"],
        &[],
        &["commentary to=functions.bash type=json: {}"],
        &["glued_recipient"],
    ),
    known(
        "<|channel|>commentary bash<|message|>{}<|call|>",
        &["commentary: {}"],
        &["header_noise"],
        &["commentary to=functions.bash: {}"],
        &["bare_word"],
    ),
    row(
        "<|channel|>analysis I must refuse.<|message|>a<|end|>",
        &["analysis: a"],
        &["header_noise"],
    ),
    row(
        "<|channel|>final foo json bar<|message|>a<|end|>",
        &["final type=json: a"],
        &["header_noise", "bare_word", "header_noise"],
    ),
    row("<|channel|>final to the point<|message|>a<|end|>", &["final: a"], &["header_noise"]),
    row("<|channel|>final assistant<|message|>a<|end|>", &["final: a"], &["header_noise"]),
    row(" extra garbage that breaks parsing<|message|>a<|end|>", &[": a"], &["header_noise"]),
    known(
        "<|channel|>commentary to=functions.bash bash <|constrain|>json<|message|>{}<|call|>",
        &["commentary to=functions.bash type=<|constrain|>json: {}"],
        &["header_noise"],
        &["commentary to=functions.bash type=<|constrain|>json: {}"],
        &["duplicate_recipient"],
    ),
    // A channel's name without its marker.
    row(" final<|message|>a<|return|>", &["final: a"], &["missing_channel"]),
    row(" analysis<|message|>a<|end|>", &["analysis: a"], &["missing_channel"]),
    row(
        " commentary to=functions.bash <|constrain|>json<|message|>{}<|call|>",
        &["commentary to=functions.bash type=<|constrain|>json: {}"],
        &["missing_channel"],
    ),
    row(
        " analysis I must refuse<|end|>",
        &["analysis: I must refuse"],
        &["missing_channel", "missing_message"],
    ),
    row(" finalfinal<|message|>a<|return|>", &["final: a"], &["missing_channel"]),
    // Known tools where another field is expected.
    known(
        "<|channel|>bash<|message|>{}<|call|>",
        &["bash: {}"],
        &[],
        &["to=functions.bash: {}"],
        &["misplaced_recipient"],
    ),
    known(
        "<|channel|>bash<|channel|>commentary <|constrain|>json<|message|>{}<|call|>",
        &["commentary type=<|constrain|>json: {}"],
        &["duplicate_channel"],
        &["commentary to=functions.bash type=<|constrain|>json: {}"],
        &["misplaced_recipient"],
    ),
    known(
        " commentary<|channel|>bash<|channel|>commentary <|constrain|>json<|message|>{}<|call|>",
        &["commentary type=<|constrain|>json: {}"],
        &["duplicate_channel", "duplicate_channel"],
        &["commentary to=functions.bash type=<|constrain|>json: {}"],
        &["duplicate_channel", "misplaced_recipient"],
    ),
    known(
        "<|channel|>commentary <|constrain|>bash<|message|>{}<|call|>",
        &["commentary type=<|constrain|>bash: {}"],
        &[],
        &["commentary to=functions.bash: {}"],
        &["misplaced_recipient"],
    ),
    known(
        "<|channel|>commentary <|constrain|>bash to=functions.bash<|message|>{}<|call|>",
        &["commentary to=functions.bash type=<|constrain|>bash: {}"],
        &["header_order"],
        &["commentary to=functions.bash type=<|constrain|>bash: {}"],
        &["header_order"],
    ),
    row(
        "<|channel|>commentary <|constrain|>functions.bash: <|constrain|>json<|message|>{}<|call|>",
        &["commentary to=functions.bash type=<|constrain|>json: {}"],
        &["misplaced_recipient"],
    ),
    // Known recipients in another spelling.
    known(
        "<|channel|>commentary to=bash<|message|>{}<|call|>",
        &["commentary to=bash: {}"],
        &[],
        &["commentary to=functions.bash: {}"],
        &["glued_recipient"],
    ),
    known(
        "<|channel|>commentary to=functions.Bash<|message|>{}<|call|>",
        &["commentary to=functions.Bash: {}"],
        &[],
        &["commentary to=functions.bash: {}"],
        &["glued_recipient"],
    ),
    known(
        "<|channel|>commentary to=functions.bashjson<|message|>{}<|call|>",
        &["commentary to=functions.bashjson: {}"],
        &[],
        &["commentary to=functions.bash type=json: {}"],
        &["glued_recipient"],
    ),
    known(
        "<|channel|>commentary to=functions.bash>{}</x<|message|>{}<|call|>",
        &["commentary: {}"],
        &["header_noise"],
        &["commentary to=functions.bash: {}"],
        &["glued_recipient"],
    ),
    known(
        "<|channel|>commentary to=functions.bash<|extra|<|message|>{}<|call|>",
        &["commentary: {}"],
        &["header_noise"],
        &["commentary to=functions.bash: {}"],
        &["glued_recipient"],
    ),
    row(
        "<|channel|>commentary to=functions.bash2<|message|>{}<|call|>",
        &["commentary to=functions.bash2: {}"],
        &[],
    ),
    row(
        "<|channel|>commentary to=functions.bash.x<|message|>{}<|call|>",
        &["commentary to=functions.bash.x: {}"],
        &[],
    ),
    known(
        "<|channel|>commentary to=functions.bashjson{\"a\":1}<|call|>",
        &["commentary to=functions.bashjson: {\"a\":1}"],
        &["missing_message"],
        &["commentary to=functions.bash type=json: {\"a\":1}"],
        &["glued_recipient", "missing_message"],
    ),
    known(
        "<|channel|>commentary to=bash:{\"a\":1}<|call|>",
        &["commentary to=bash:: {\"a\":1}"],
        &["missing_message"],
        &["commentary to=functions.bash: {\"a\":1}"],
        &["glued_recipient", "missing_message"],
    ),
    known(
        "<|channel|>commentary to=functions.bash>x</y<|call|>",
        &["commentary: to=functions.bash>x</y"],
        &["missing_message"],
        &["commentary to=functions.bash: >x</y"],
        &["glued_recipient", "missing_message"],
    ),
    // Nobody can be called so.
    row(" to=user<|message|>a<|end|>", &[": a"], &["header_noise"]),
    row(" to=<name><|message|>a<|end|>", &[": a"], &["header_noise"]),
    row(" to=user_2<|message|>a<|call|>", &["to=user_2: a"], &[]),
    row("<|channel|>final to=User<|message|>a<|end|>", &["final: a"], &["header_noise"]),
    row(
        "<|channel|>commentary to={name}<|message|>{}<|call|>",
        &["commentary: {}"],
        &["header_noise"],
    ),
    row(
        "<|channel|>commentary to=finalanalysis<|message|>a<|end|>",
        &["commentary: a"],
        &["header_noise"],
    ),
    // A word that is not a known channel.
    row("<|channel|><|message|>a<|end|>", &[": a"], &["empty_channel"]),
    row(
        "<|channel|>NOTE: the text.<|end|>",
        &[": NOTE: the text."],
        &["empty_channel", "missing_message"],
    ),
    row(
        "<|channel|>{\"a\":1}<|return|>",
        &["final: {\"a\":1}"],
        &["empty_channel", "missing_message"],
    ),
    row("<|channel|>??<|end|>", &[": ??"], &["empty_channel", "missing_message"]),
    row(
        "<|channel|>finalThe answer.<|return|>",
        &["final: The answer."],
        &["glued_channel", "missing_message"],
    ),
    row(
        "<|channel|>finalThe answer.<|end|>",
        &["final: The answer."],
        &["glued_channel", "missing_message"],
    ),
    row(
        "<|channel|>The capital of France is Paris, and that of Italy is Rome, and that of Spain is Madrid, and that of Portugal is Lisbon, and that of Norway is Oslo.<|end|>",
        &[
            ": The capital of France is Paris, and that of Italy is Rome, and that of Spain is Madrid, and that of Portugal is Lisbon, and that of Norway is Oslo.",
        ],
        &["empty_channel", "missing_message"],
    ),
    // Content that something else ends.
    row("<|channel|>final<|message|>a<|endoftext|>", &["final: a"], &["end_of_text"]),
    row(
        "<|channel|>final<|message|>The <|channel|> token.<|return|>",
        &["final: The <|channel|> token."],
        &[],
    ),
    row(
        "<|channel|>final<|message|>The <|message|> token.<|return|>",
        &["final: The <|message|> token."],
        &[],
    ),
    row(
        "<|channel|>final<|message|>a<|channel|>analysis<|message|>b<|end|>",
        &["final: a", "analysis: b"],
        &["missing_end"],
    ),
    row(
        "<|channel|>final<|message|>a <|channel|> b<|start|>assistant<|channel|>analysis<|message|>c<|end|>",
        &["final: a <|channel|> b", "analysis: c"],
        &["missing_end"],
    ),
    row(
        "<|channel|>final<|message|>a<|channel|>notes <|constrain|>json<|message|>b<|end|>",
        &["final: a", "notes type=<|constrain|>json: b"],
        &["missing_end"],
    ),
    row(
        "<|channel|>final<|message|>a<|channel|>analysis I must<|end|>",
        &["final: a", "analysis: I must"],
        &["missing_end", "missing_message"],
    ),
    row(
        "<|channel|>final<|message|>a<|start|>assistant<|channel|>analysis<|message|>b<|end|>",
        &["final: a", "analysis: b"],
        &["missing_end"],
    ),
];
