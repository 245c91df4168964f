//! Names and ids of the special tokens; shared with build.rs, so it depends on nothing.

/// The first special token; the ids below it are ordinary.
pub(crate) const FIRST: u32 = 199_998;
/// The last special token, and the last id of all.
pub(crate) const LAST: u32 = 201_088;

/// Those that the harmony format gives a meaning. All others are `<|reserved_ID|>`.
pub(crate) const NAMED: [(&str, u32); 9] = [
    ("<|startoftext|>", 199_998),
    ("<|endoftext|>", 199_999),
    ("<|return|>", 200_002),
    ("<|constrain|>", 200_003),
    ("<|channel|>", 200_005),
    ("<|start|>", 200_006),
    ("<|end|>", 200_007),
    ("<|message|>", 200_008),
    ("<|call|>", 200_012),
];

/// What stands before the id in a reserved token's name.
pub(crate) const RESERVED_PREFIX: &str = "<|reserved_";
/// What ends every name.
pub(crate) const SUFFIX: &str = "|>";
