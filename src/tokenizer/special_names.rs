//! Names and ids of the special tokens; shared with build.rs, so it depends on nothing.

/// The first special token; the ids below it are ordinary.
pub(crate) const FIRST: u32 = 199_998;
/// The last special token, and the last id of all.
pub(crate) const LAST: u32 = 201_088;

/// `<|startoftext|>`
pub const STARTOFTEXT: u32 = 199_998;
/// `<|endoftext|>`
pub const ENDOFTEXT: u32 = 199_999;
/// `<|return|>`: the model's answer is complete.
pub const RETURN: u32 = 200_002;
/// `<|constrain|>`: the content type of a tool call follows.
pub const CONSTRAIN: u32 = 200_003;
/// `<|channel|>`: the channel follows.
pub const CHANNEL: u32 = 200_005;
/// `<|start|>`: a message begins, its header follows.
pub const START: u32 = 200_006;
/// `<|end|>`: a message ends.
pub const END: u32 = 200_007;
/// `<|message|>`: the header ends, the content follows.
pub const MESSAGE: u32 = 200_008;
/// `<|call|>`: a message ends that calls a tool.
pub const CALL: u32 = 200_012;

/// Those that the harmony format gives a meaning. All others are `<|reserved_ID|>`.
pub(crate) const NAMED: [(&str, u32); 9] = [
    ("<|startoftext|>", STARTOFTEXT),
    ("<|endoftext|>", ENDOFTEXT),
    ("<|return|>", RETURN),
    ("<|constrain|>", CONSTRAIN),
    ("<|channel|>", CHANNEL),
    ("<|start|>", START),
    ("<|end|>", END),
    ("<|message|>", MESSAGE),
    ("<|call|>", CALL),
];

/// What precedes the id in a reserved token's name.
pub(crate) const RESERVED_PREFIX: &str = "<|reserved_";
/// What ends every name.
pub(crate) const SUFFIX: &str = "|>";
