//! Names of tools and namespaces as TypeScript identifiers.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use super::literal::{is_identifier, is_identifier_part};

/// Words that cannot name a type or a namespace. `as` and `satisfies` may by the language, but
/// `type as` reads like a cast, and not every parser finds its way back.
const RESERVED: &str = "any as async await bigint boolean break case catch class const continue \
    debugger default delete do else enum export extends false finally for function if implements \
    import in instanceof interface let never new null number object package private protected \
    public return satisfies static string super switch symbol this throw true try typeof undefined \
    unknown var void while with yield";

/// The identifiers for `names`, in their order and no two the same: a name that is an identifier
/// is its own, the others get one like it. `Err` is a name that comes twice.
pub(super) fn identifiers<'a>(names: &[&'a str]) -> Result<Vec<Cow<'a, str>>, &'a str> {
    let mut taken = HashSet::with_capacity(names.len());
    if let Some(twice) = names.iter().find(|name| !taken.insert(Cow::Borrowed(**name))) {
        return Err(twice);
    }
    let mut counts = HashMap::new();
    let give = |name: &&'a str| match identifier(name) {
        Cow::Owned(alike) => Cow::Owned(free(&alike, &mut taken, &mut counts)),
        own @ Cow::Borrowed(_) => own,
    };
    Ok(names.iter().map(give).collect())
}

/// Takes `wanted`, or `wanted_2` and so on, whichever is not yet taken. `counts` holds the last
/// number tried, so that many like names take no quadratic time.
fn free(
    wanted: &str,
    taken: &mut HashSet<Cow<'_, str>>,
    counts: &mut HashMap<String, usize>,
) -> String {
    let mut name = wanted.to_owned();
    let count = counts.entry(name.clone()).or_insert(1);
    while !taken.insert(Cow::Owned(name.clone())) {
        *count += 1;
        name = format!("{wanted}_{count}");
    }
    name
}

/// The identifier that is most like `name`.
pub(super) fn identifier(name: &str) -> Cow<'_, str> {
    if is_identifier(name) && !is_reserved(name) {
        return Cow::Borrowed(name);
    }
    let replaced = name.chars().map(|char| if is_identifier_part(char) { char } else { '_' });
    let mut identifier: String = replaced.collect();
    if identifier.is_empty() || identifier.starts_with(|first: char| first.is_ascii_digit()) {
        identifier.insert(0, '_');
    }
    if is_reserved(&identifier) {
        identifier.push('_');
    }
    Cow::Owned(identifier)
}

fn is_reserved(name: &str) -> bool {
    RESERVED.split_ascii_whitespace().any(|word| word == name)
}
