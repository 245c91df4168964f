//! The rows of both tables, and what is like them.

/// One malformed output and what it means.
pub(crate) struct Row {
    pub(crate) text: &'static str,
    pub(crate) messages: &'static [&'static str],
    /// The kinds of its repairs, where nothing stands before or after it.
    pub(crate) kinds: &'static [&'static str],
    /// Both, where the tools are known, if that makes a difference.
    pub(crate) known: Option<(&'static [&'static str], &'static [&'static str])>,
    /// Whether it says something else where another message follows.
    pub(crate) is_last: bool,
}

const fn row(
    text: &'static str,
    messages: &'static [&'static str],
    kinds: &'static [&'static str],
) -> Row {
    Row { text, messages, kinds, known: None, is_last: false }
}

/// A row that means something else where the tools are known.
const fn known(
    text: &'static str,
    messages: &'static [&'static str],
    kinds: &'static [&'static str],
    known_messages: &'static [&'static str],
    known_kinds: &'static [&'static str],
) -> Row {
    Row { known: Some((known_messages, known_kinds)), ..row(text, messages, kinds) }
}

/// A row that the end of the tokens breaks off.
const fn last(
    text: &'static str,
    messages: &'static [&'static str],
    kinds: &'static [&'static str],
) -> Row {
    Row { is_last: true, ..row(text, messages, kinds) }
}

/// Headers after the assistant's role.
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
    // No `<|message|>`.
    row(
        "<|channel|>analysis I must refuse<|end|>",
        &["analysis: I must refuse"],
        &["missing_message"],
    ),
    row(
        "<|channel|>final {\"answer\": 1}<|return|>",
        &["final: {\"answer\": 1}"],
        &["missing_message"],
    ),
    row(
        "<|channel|>commentary to=functions.bash <|constrain|>json{\"a\":1}<|call|>",
        &["commentary to=functions.bash type=<|constrain|>json: {\"a\":1}"],
        &["missing_message"],
    ),
    row(
        "<|channel|>commentary to=functions.bash{\"a\":1}<|end|>",
        &["commentary to=functions.bash: {\"a\":1}"],
        &["missing_message"],
    ),
    row(
        "<|channel|>commentary to=functions.bash[1]<|call|>",
        &["commentary to=functions.bash: [1]"],
        &["missing_message"],
    ),
    row(
        "<|channel|>commentary to=functions.bash json{\"a\":1}<|call|>",
        &["commentary to=functions.bash type=json: {\"a\":1}"],
        &["missing_message"],
    ),
    row(
        "<|channel|>commentary to=functions.bash json {\"a\":1}<|call|>",
        &["commentary to=functions.bash type=json: {\"a\":1}"],
        &["missing_message"],
    ),
    row(
        "<|channel|>commentary json{\"a\":1}<|end|>",
        &["commentary type=json: {\"a\":1}"],
        &["bare_word", "missing_message"],
    ),
    row(
        " to=functions.bash {\"a\":1}<|call|>",
        &["to=functions.bash: {\"a\":1}"],
        &["missing_message"],
    ),
    row(
        "<|channel|>commentary to=python code x = 1<|call|>",
        &["commentary to=python type=code: x = 1"],
        &["missing_message"],
    ),
    row(
        "<|channel|>commentary to=functions.bash<|call|>",
        &["commentary to=functions.bash: "],
        &["missing_message"],
    ),
    row(
        "<|channel|>foo to=functions.bash{\"a\":1}<|call|>",
        &["foo to=functions.bash: {\"a\":1}"],
        &["missing_message"],
    ),
    row("<|channel|>analysis I must \n<|end|>", &["analysis: I must"], &["missing_message"]),
    row(
        " <|constrain|>json{\"a\":1}<|return|>",
        &["final type=<|constrain|>json: {\"a\":1}"],
        &["missing_message"],
    ),
    row(" <|constrain|>json<|end|>", &["type=<|constrain|>json: "], &["missing_message"]),
    row(" to=functions.bash<|call|>", &["to=functions.bash: "], &["missing_message"]),
    row(
        "<|channel|>commentary to=functions.bash <|constrain|> {\"a\":1}<|call|>",
        &["commentary to=functions.bash type=<|constrain|>: {\"a\":1}"],
        &["missing_message"],
    ),
    row(
        "<|channel|>analysis I must <|reserved_200013|> refuse<|end|>",
        &["analysis: I must <|reserved_200013|> refuse"],
        &["missing_message"],
    ),
    row(
        "<|channel|>commentaryto=functions.bash{\"a\":1}<|call|>",
        &["commentary to=functions.bash: {\"a\":1}"],
        &["glued_channel", "missing_message"],
    ),
    row(
        "<|channel|>commentary container.exec{\"a\":1}<|call|>",
        &["commentary to=container.exec: {\"a\":1}"],
        &["bare_word", "missing_message"],
    ),
    known(
        "<|channel|>commentary bash {\"a\":1}<|call|>",
        &["commentary: bash {\"a\":1}"],
        &["missing_message"],
        &["commentary to=functions.bash: {\"a\":1}"],
        &["bare_word", "missing_message"],
    ),
    // No `<|message|>`, and content that begins to stream before its end.
    row(
        "<|channel|>commentary to=functions.bash{\"command\":\"ls -la /tmp /usr /var /etc /opt /home /root /srv /run /mnt /media /dev /proc /sys\"}<|call|>",
        &[
            "commentary to=functions.bash: {\"command\":\"ls -la /tmp /usr /var /etc /opt /home /root /srv /run /mnt /media /dev /proc /sys\"}",
        ],
        &["missing_message"],
    ),
    row(
        "<|channel|>commentary to=functions.bash json{\"command\":\"ls -la /tmp /usr /var /etc /opt /home /root /srv /run /mnt /media /dev /proc /sys\"}<|call|>",
        &[
            "commentary to=functions.bash type=json: {\"command\":\"ls -la /tmp /usr /var /etc /opt /home /root /srv /run /mnt /media /dev /proc /sys\"}",
        ],
        &["missing_message"],
    ),
    row(
        "<|channel|>commentary to=functions.bash <|constrain|>json{\"command\":\"ls -la /tmp /usr /var /etc /opt /home /root /srv /run /mnt /media /dev /proc /sys\"}<|call|>",
        &[
            "commentary to=functions.bash type=<|constrain|>json: {\"command\":\"ls -la /tmp /usr /var /etc /opt /home /root /srv /run /mnt /media /dev /proc /sys\"}",
        ],
        &["missing_message"],
    ),
    row(
        "<|channel|>commentary json{\"command\":\"ls -la /tmp /usr /var /etc /opt /home /root /srv /run /mnt /media /dev /proc /sys\"}<|end|>",
        &[
            "commentary type=json: {\"command\":\"ls -la /tmp /usr /var /etc /opt /home /root /srv /run /mnt /media /dev /proc /sys\"}",
        ],
        &["bare_word", "missing_message"],
    ),
    row(
        "<|channel|>commentary to=functions.bash [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]<|call|>",
        &["commentary to=functions.bash: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]"],
        &["missing_message"],
    ),
    row(
        "<|channel|>commentary to=functions.bash ls -la /tmp /usr /var /etc /opt /home /root /srv /run /mnt /media /dev /proc /sys<|call|>",
        &[
            "commentary to=functions.bash: ls -la /tmp /usr /var /etc /opt /home /root /srv /run /mnt /media /dev /proc /sys",
        ],
        &["missing_message"],
    ),
    row(
        "<|channel|>commentary to={\"command\":\"ls -la /tmp /usr /var /etc /opt /home /root /srv /run /mnt /media /dev /proc /sys\"}<|end|>",
        &[
            "commentary: {\"command\":\"ls -la /tmp /usr /var /etc /opt /home /root /srv /run /mnt /media /dev /proc /sys\"}",
        ],
        &["header_noise", "missing_message"],
    ),
    row(
        "<|channel|>analysis 1.\n2.\n3.\n4.\n5.\n6.\n7.\n8.\n9.\n10.\n11.\n12.\n13.\n14.\n15.\n16.\n17.\n18.<|end|>",
        &[
            "analysis: 1.\n2.\n3.\n4.\n5.\n6.\n7.\n8.\n9.\n10.\n11.\n12.\n13.\n14.\n15.\n16.\n17.\n18.",
        ],
        &["missing_message"],
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
    row("<|channel|>final answer<|message|>a<|return|>", &["final: a"], &["header_noise"]),
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
        &["commentary to=functions.bash>{}</x: {}"],
        &[],
        &["commentary to=functions.bash: {}"],
        &["glued_recipient"],
    ),
    known(
        "<|channel|>commentary to=functions.bash<|extra|<|message|>{}<|call|>",
        &["commentary to=functions.bash<|extra|: {}"],
        &[],
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
        &["commentary to=functions.bash>x</y: "],
        &["missing_message"],
        &["commentary to=functions.bash: >x</y"],
        &["glued_recipient", "missing_message"],
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
    // The header ends early.
    row(
        "<|channel|>commentary to=functions.bash <|constrain|>x<|end|>",
        &[],
        &["truncated_header"],
    ),
    row("<|channel|>commentary to=functions.bash<|return|>", &[], &["truncated_header"]),
    last("<|channel|>commentary to=functions.bash", &[], &["truncated_header"]),
    last("<|channel|>final", &["final: "], &["truncated_header"]),
    last("<|channel|>fin", &["fin: "], &["truncated_header"]),
    last("<|channel|>analysis I must", &["analysis: I must"], &["truncated_header"]),
    row("<|channel|>analysis<|end|>", &["analysis: "], &["missing_message"]),
    last("<|channel|>my-own_channel", &["my-own_channel: "], &["truncated_header"]),
    last("<|channel|>Yes.", &[": Yes."], &["empty_channel", "truncated_header"]),
    last("<|channel|>I must", &[": I must"], &["empty_channel", "truncated_header"]),
    // Text with no header at all.
    row(
        "{\"country\":\"France\"}<|return|>",
        &["final: {\"country\":\"France\"}"],
        &["missing_header"],
    ),
    row("The capital is Paris.<|return|>", &["final: The capital is Paris."], &["missing_header"]),
    row("The capital is Paris.<|end|>", &["final: The capital is Paris."], &["missing_header"]),
    row(" 4.<|return|>", &["final: 4."], &["missing_header"]),
    last("{\"country\":\"France\"}", &["final: {\"country\":\"France\"}"], &["missing_header"]),
    row(
        "The capital of France is Paris, and that of Italy is Rome, and that of Spain is Madrid, and that of Portugal is Lisbon, and that of Norway is Oslo.<|return|>",
        &[
            "final: The capital of France is Paris, and that of Italy is Rome, and that of Spain is Madrid, and that of Portugal is Lisbon, and that of Norway is Oslo.",
        ],
        &["missing_header"],
    ),
    row(
        "The capital of France is Paris, and that of Italy is Rome, and that of Spain is Madrid, and that of Portugal is Lisbon, and that of Norway is Oslo.<|message|>a<|return|>",
        &[
            "final: The capital of France is Paris, and that of Italy is Rome, and that of Spain is Madrid, and that of Portugal is Lisbon, and that of Norway is Oslo.",
            ": a",
        ],
        &["missing_header", "missing_end", "missing_start"],
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

/// What may stand instead of `<|start|>`, or after it.
pub(crate) const BETWEEN: &[Row] = &[
    // Junk authors.
    row("<|start|>final<|channel|>final<|message|>a<|return|>", &["final: a"], &["unknown_role"]),
    row(
        "<|start|>assistantassistant<|channel|>final<|message|>a<|return|>",
        &["final: a"],
        &["unknown_role"],
    ),
    row(
        "<|start|>Assistant<|channel|>final<|message|>a<|return|>",
        &["final: a"],
        &["unknown_role"],
    ),
    row("<|start|>assistantfinal<|message|>a<|return|>", &["final: a"], &["glued_channel"]),
    row(
        "<|start|>final<|message|>a<|return|>",
        &["final: a"],
        &["missing_role", "missing_channel"],
    ),
    row("<|start|>User<|message|>a<|end|>", &["user: a"], &["unknown_role"]),
    row("<|start|>weird<|message|>a<|end|>", &["tool:weird: a"], &["unknown_role"]),
    row(
        "<|start|>assistantto=functions.bash<|channel|>commentary<|message|>{}<|call|>",
        &["commentary to=functions.bash: {}"],
        &["glued_recipient"],
    ),
    row("<|start|>Paris.<|return|>", &["final: Paris."], &["missing_role", "missing_header"]),
    // No role.
    row(
        "<|start|><|channel|>commentary to=functions.bash<|message|>{}<|call|>",
        &["commentary to=functions.bash: {}"],
        &["missing_role"],
    ),
    row("<|start|><|message|>a<|end|>", &[": a"], &["missing_role"]),
    row(
        "<|start|>Hello there<|end|>",
        &["final: Hello there"],
        &["missing_role", "missing_header"],
    ),
    row(
        "<|start|>The capital of France is Paris, and that of Italy is Rome, and that of Spain is Madrid, and that of Portugal is Lisbon, and that of Norway is Oslo.<|return|>",
        &[
            "final: The capital of France is Paris, and that of Italy is Rome, and that of Spain is Madrid, and that of Portugal is Lisbon, and that of Norway is Oslo.",
        ],
        &["missing_role", "missing_header"],
    ),
    row("<|start|>user<|endoftext|>", &[], &["missing_message"]),
    // Tools in the role's place.
    known(
        "<|start|>bash<|channel|>commentary <|constrain|>json<|message|>{}<|call|>",
        &["tool:bash commentary type=<|constrain|>json: {}"],
        &[],
        &["commentary to=functions.bash type=<|constrain|>json: {}"],
        &["misplaced_recipient"],
    ),
    known(
        "<|start|>bash<|message|>{}<|call|>",
        &["tool:bash: {}"],
        &["unknown_role"],
        &["to=functions.bash: {}"],
        &["misplaced_recipient"],
    ),
    row(
        "<|start|>functions.bash to=assistant<|channel|>commentary<|message|>{}<|end|>",
        &["tool:functions.bash commentary to=assistant: {}"],
        &[],
    ),
    row(
        "<|start|>bash to=assistant<|channel|>commentary<|message|>{}<|end|>",
        &["tool:bash commentary to=assistant: {}"],
        &[],
    ),
    row(
        "<|start|>functions.read assistant<|channel|>commentary<|message|>{}<|end|>",
        &["tool:functions.read commentary to=assistant: {}"],
        &["bare_word"],
    ),
    row(
        "<|start|>functions.read result<|channel|>commentary<|message|>{}<|end|>",
        &["tool:functions.read commentary: {}"],
        &["header_noise"],
    ),
    row(
        "<|start|>read<|channel|>commentary<|end|>",
        &["tool:read commentary: "],
        &["missing_message"],
    ),
    row("<|start|>Python.<|return|>", &["final: Python."], &["missing_role", "missing_header"]),
    // Text after a role.
    row(
        "<|start|>assistant{\"country\":\"France\"}<|return|>",
        &["final: {\"country\":\"France\"}"],
        &["missing_header"],
    ),
    row(
        "<|start|>assistantThe capital is Paris.<|return|>",
        &["final: The capital is Paris."],
        &["missing_header"],
    ),
    row(
        "<|start|>assistant The capital is Paris.<|end|>",
        &["final: The capital is Paris."],
        &["missing_header"],
    ),
    row(
        "<|start|><|start|>assistant<|channel|>final<|message|>a<|return|>",
        &["final: a"],
        &["duplicate_start"],
    ),
    last("<|start|>assist", &[], &["truncated_header"]),
    last("<|start|>assistant<|chan", &[], &["truncated_header"]),
    // No `<|start|>`.
    row("<|channel|>final<|message|>a<|return|>", &["final: a"], &["missing_start"]),
    row("assistant<|channel|>final<|message|>a<|return|>", &["final: a"], &["missing_start"]),
    row("final<|message|>a<|return|>", &["final: a"], &["missing_start", "missing_channel"]),
    row(
        "commentary to=functions.bash <|constrain|>json<|message|>{}<|call|>",
        &["commentary to=functions.bash type=<|constrain|>json: {}"],
        &["missing_start", "missing_channel"],
    ),
    row(
        "commentary<|channel|>analysis<|message|>a<|end|>",
        &["analysis: a"],
        &["missing_start", "duplicate_channel"],
    ),
    row(
        " to=functions.bash{\"a\":1}<|call|>",
        &["to=functions.bash: {\"a\":1}"],
        &["missing_start", "missing_message"],
    ),
    row(
        "functions.bash to=assistant<|channel|>commentary<|message|>{}<|end|>",
        &["tool:functions.bash commentary to=assistant: {}"],
        &["missing_start"],
    ),
    known(
        "bash<|message|>{}<|call|>",
        &[": {}"],
        &["stray_text", "missing_start"],
        &["to=functions.bash: {}"],
        &["missing_start", "misplaced_recipient"],
    ),
    row(
        " to = functions.bash<|message|>{}<|call|>",
        &["to=functions.bash: {}"],
        &["missing_start", "header_order"],
    ),
    row(
        "container.exec<|channel|>commentary<|message|>{}<|call|>",
        &["commentary to=container.exec: {}"],
        &["missing_start", "bare_word"],
    ),
    row("to the point<|message|>a<|end|>", &[": a"], &["stray_text", "missing_start"]),
    row("<|message|>a<|end|>", &[": a"], &["missing_start"]),
    // No header.
    row(
        "{\"country\":\"France\"}<|return|>",
        &["final: {\"country\":\"France\"}"],
        &["missing_header"],
    ),
    row("The capital is Paris.<|end|>", &["final: The capital is Paris."], &["missing_header"]),
    row("\n\nThe capital.\n<|return|>", &["final: \n\nThe capital.\n"], &["missing_header"]),
    row(
        "The <|reserved_200013|> capital.<|end|>",
        &["final: The <|reserved_200013|> capital."],
        &["missing_header"],
    ),
    row(
        "container.exec {\"a\":1}<|return|>",
        &["final: container.exec {\"a\":1}"],
        &["missing_header"],
    ),
    last("The capital is Paris.", &["final: The capital is Paris."], &["missing_header"]),
    row(
        "assistantThe capital is Paris.<|return|>",
        &["final: The capital is Paris."],
        &["missing_header"],
    ),
    row(
        "assistant\nThe capital is Paris.<|return|>",
        &["final: The capital is Paris."],
        &["missing_header"],
    ),
    row("assistant is a word.<|return|>", &["final: assistant is a word."], &["missing_header"]),
    row("user wants a pony.<|return|>", &["final: user wants a pony."], &["missing_header"]),
    row("final answer: 4.<|return|>", &["final: final answer: 4."], &["missing_header"]),
    row(
        "The capital of France is Paris, and that of Italy is Rome, and that of Spain is Madrid, and that of Portugal is Lisbon, and that of Norway is Oslo.",
        &[
            "final: The capital of France is Paris, and that of Italy is Rome, and that of Spain is Madrid, and that of Portugal is Lisbon, and that of Norway is Oslo.",
        ],
        &["missing_header"],
    ),
    // Nothing that says anything.
    row("<|return|>", &[], &["stray_stop"]),
    row("<|endoftext|>", &[], &["end_of_text"]),
    row("\n", &[], &["stray_text"]),
    row("assistant", &[], &["stray_text"]),
    row("commentary<|end|>", &[], &["stray_text", "stray_stop"]),
];
