//! Headers without their `<|message|>`, after the assistant's role.

use super::rows::{Row, known, last, row};

pub(crate) const CUT_HEADERS: &[Row] = &[
    // `<|constrain|>` where `<|message|>` belongs.
    row("<|channel|>final<|constrain|>Paris.<|return|>", &["final: Paris."], &["missing_message"]),
    row("<|channel|>final<|constrain|>Paris<|return|>", &["final: Paris"], &["missing_message"]),
    row(
        "<|channel|>final<|constrain|>The answer is 4.<|return|>",
        &["final: The answer is 4."],
        &["missing_message"],
    ),
    row(
        "<|channel|>final <|constrain|> The answer is 4.<|return|>",
        &["final: The answer is 4."],
        &["missing_message"],
    ),
    row(
        "<|channel|>final<|constrain|>text is what you asked for.<|return|>",
        &["final: text is what you asked for."],
        &["missing_message"],
    ),
    row(
        "<|channel|>final<|constrain|>**4**, as 2 + 2 = 4, and so it is in every base above four, whatever its digits are called: I have checked this twice, with stones and with beans.<|return|>",
        &[
            "final: **4**, as 2 + 2 = 4, and so it is in every base above four, whatever its digits are called: I have checked this twice, with stones and with beans.",
        ],
        &["missing_message"],
    ),
    row(
        "<|channel|>analysis<|constrain|>We need to=do this.<|end|>",
        &["analysis: We need to=do this."],
        &["missing_message"],
    ),
    row(
        "<|channel|>commentary to=functions.bash<|constrain|>{\"a\":1}<|call|>",
        &["commentary to=functions.bash: {\"a\":1}"],
        &["missing_message"],
    ),
    row(
        "<|channel|>commentary to=functions.bash <|constrain|>json<|constrain|>{\"a\":1}<|call|>",
        &["commentary to=functions.bash type=<|constrain|>json: {\"a\":1}"],
        &["missing_message"],
    ),
    row(
        "<|channel|>analysis to=python<|constrain|>print(\"x\")<|call|>",
        &["analysis to=python: print(\"x\")"],
        &["missing_message"],
    ),
    row(
        "<|channel|>analysis to=python code<|constrain|>import os<|call|>",
        &["analysis to=python type=code: import os"],
        &["missing_message"],
    ),
    row(
        "<|channel|>analysis to=python<|constrain|>import os<|call|>",
        &["analysis to=python: import os"],
        &["missing_message"],
    ),
    row(
        "<|channel|>final<|constrain|>bash is a shell.<|return|>",
        &["final: bash is a shell."],
        &["missing_message"],
    ),
    row(
        "<|channel|>final<|constrain|>json{\"a\":1}<|return|>",
        &["final type=<|constrain|>json: {\"a\":1}"],
        &["missing_message"],
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
        "<|channel|>commentary to=functions.bash code={\"a\":1}<|call|>",
        &["commentary to=functions.bash type=code: {\"a\":1}"],
        &["bare_word", "missing_message"],
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
        &["commentary to=functions.bash: {\"a\":1}"],
        &["missing_message"],
    ),
    row(
        "<|channel|>analysis<|reserved_200013|> I must<|end|>",
        &["analysis: I must"],
        &["header_noise", "missing_message"],
    ),
    row(
        "<|channel|>analysis final answer: 4<|end|>",
        &["analysis: final answer: 4"],
        &["missing_message"],
    ),
    row(
        "<|channel|>finalists to=functions.bash{\"a\":1}<|call|>",
        &["finalists to=functions.bash: {\"a\":1}"],
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
    known(
        " code{\"a\":1}<|call|>",
        &["final type=code: {\"a\":1}"],
        &["bare_word", "missing_message"],
        &["to=functions.code: {\"a\":1}"],
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
    last("<|channel|>final <", &["final: <"], &["truncated_header"]),
    last("<|channel|>final <|mess", &["final: "], &["header_noise", "truncated_header"]),
    last("<|channel|>Yes.", &[": Yes."], &["empty_channel", "truncated_header"]),
    last("<|channel|>I must", &[": I must"], &["empty_channel", "truncated_header"]),
    row(
        "<|channel|>final<|message|>a<|channel|>analysis<|end|>",
        &["final: a", "analysis: "],
        &["missing_end", "missing_message"],
    ),
    // Text with no header at all.
    row(
        "{\"country\":\"France\"}<|return|>",
        &["final: {\"country\":\"France\"}"],
        &["missing_header"],
    ),
    row("The capital is Paris.<|return|>", &["final: The capital is Paris."], &["missing_header"]),
    row("The capital is Paris.<|end|>", &[": The capital is Paris."], &["missing_header"]),
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
];
