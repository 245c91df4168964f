//! What may stand instead of `<|start|>`, or after it.

use super::rows::{Row, known, last, row};

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
    row(
        "<|start|>assistantto=functions.bash{\"a\":1}<|call|>",
        &["to=functions.bash: {\"a\":1}"],
        &["glued_recipient", "missing_message"],
    ),
    row("<|start|>Paris.<|return|>", &["final: Paris."], &["missing_role", "missing_header"]),
    // No role.
    row(
        "<|start|><|channel|>commentary to=functions.bash<|message|>{}<|call|>",
        &["commentary to=functions.bash: {}"],
        &["missing_role"],
    ),
    row("<|start|><|message|>a<|end|>", &[": a"], &["missing_role"]),
    row("<|start|>Hello there<|end|>", &[": Hello there"], &["missing_role", "missing_header"]),
    // No tool has such a name.
    row(
        "<|start|>analysisX<|message|>a<|end|>",
        &["analysis: a"],
        &["missing_role", "glued_channel", "missing_channel"],
    ),
    row(
        "<|start|>analysisX<|channel|>final<|message|>a<|end|>",
        &["final: a"],
        &["missing_role", "header_noise"],
    ),
    row(
        "<|start|>noop>{}</assistant<|channel|>commentary<|message|>{}<|call|>",
        &["commentary: {}"],
        &["missing_role", "header_noise"],
    ),
    row(
        "<|start|>finalX to=assistant<|channel|>commentary<|message|>a<|end|>",
        &["tool:finalX commentary to=assistant: a"],
        &[],
    ),
    row("<|start|>analysts<|channel|>final<|message|>a<|end|>", &["tool:analysts final: a"], &[]),
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
        &[": The capital is Paris."],
        &["missing_header"],
    ),
    row(
        "<|start|><|start|>assistant<|channel|>final<|message|>a<|return|>",
        &["final: a"],
        &["duplicate_start"],
    ),
    last("<|start|>Hello there", &["final: Hello there"], &["missing_role", "missing_header"]),
    last("<|start|>functions.read to=assistant", &[], &["truncated_header"]),
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
    row("assistants can help.<|end|>", &["final: assistants can help."], &["missing_header"]),
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
