//! Which names the format can carry: the words of a header, and of the calls that it announces.
//!
//! Words in a header end at white space and at markers, so a name with either would not be read as
//! it was written. A name with invisible characters could be mistaken for another.

/// The first and the last character of each range of invisible characters, in order.
const INVISIBLE: &[(char, char)] = &include!(concat!(env!("OUT_DIR"), "/invisible.rs"));

/// What a header writes before its recipient.
pub(crate) const WRITTEN_TO: &str = " to=";

/// The prefix that makes a word in a header the recipient.
pub(crate) const TO: &str = WRITTEN_TO.trim_ascii_start();

/// Why a header cannot carry `name` as one word, or `None` if it can. One pass over the name.
pub(crate) fn flaw(name: &str) -> Option<&'static str> {
    if name.is_empty() {
        Some("must not be empty")
    } else if name.contains(is_invisible) {
        Some("must not contain spaces, control characters or other invisible characters")
    } else if name.starts_with(TO) {
        Some("must not begin with to=")
    } else if name.contains("<|") || name.contains("|>") {
        Some("must not spell a marker")
    } else {
        None
    }
}

/// Whether `char` is invisible: spaces, control and format characters, and what fonts ignore.
pub(crate) fn is_invisible(char: char) -> bool {
    if char.is_ascii() {
        return !char.is_ascii_graphic();
    }
    let after = INVISIBLE.partition_point(|(first, _)| *first <= char);
    after.checked_sub(1).is_some_and(|index| char <= INVISIBLE[index].1)
}
