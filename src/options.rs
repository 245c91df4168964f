//! Structs of options, each option declared once.

/// Declares a struct of options, its `Default`, its builders, and how Python sets an option by its name.
///
/// An option is its documentation, its type, its default (`= true`; without one, that of the type) and its builder: `=>
/// with_x` takes the value; `=> with_x(x: impl Into<String>) Some(x.into())` takes something else and converts it. The
/// builder gets the same documentation. An option without `=>` has no builder, or a handwritten one.
macro_rules! options {
    (
        $(#[$of_struct:meta])*
        pub struct $name:ident {
            $(
                $(#[$of_field:meta])*
                $vis:vis $field:ident: $type:ty
                $(= $default:expr)?
                $(=> $builder:ident $(($given:ident: $from:ty) $value:expr)?)?
            ),* $(,)?
        }
    ) => {
        $(#[$of_struct])*
        #[non_exhaustive]
        pub struct $name {
            $($(#[$of_field])* $vis $field: $type),*
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $($field: $crate::options::options!(@default $($default)?)),* }
            }
        }

        impl $name {
            $($crate::options::options! {
                @builder [$(#[$of_field])*] $field: $type [$($builder $(($given: $from) $value)?)?]
            })*
        }

        impl<V, E> $crate::options::SetByName<V, E> for $name
        where
            $($type: $crate::options::SetFrom<V, E>),*
        {
            const NAMES: &'static [&'static str] = &[$(stringify!($field)),*];

            fn set(&mut self, name: &str, value: V) -> Option<Result<(), E>> {
                match name {
                    $(stringify!($field) => Some($crate::options::SetFrom::set_from(&mut self.$field, value)),)*
                    _ => None,
                }
            }
        }
    };
    (@default) => { Default::default() };
    (@default $default:expr) => { $default };
    (@builder $documentation:tt $field:ident: $type:ty []) => {};
    (@builder $documentation:tt $field:ident: $type:ty [$builder:ident]) => {
        $crate::options::options! {
            @builder $documentation $field: $type [$builder(value: $type) value]
        }
    };
    (
        @builder [$(#[$of_field:meta])*] $field:ident: $type:ty
        [$builder:ident ($given:ident: $from:ty) $value:expr]
    ) => {
        #[doc = concat!("Sets [`", stringify!($field), "`](Self::", stringify!($field), "):")]
        $(#[$of_field])*
        #[must_use]
        pub fn $builder(mut self, $given: $from) -> Self {
            self.$field = $value;
            self
        }
    };
}

pub(crate) use options;

/// Declares the words by which other languages and JSON name choices.
macro_rules! choices {
    ($($type:ident, $expected:literal: $($word:literal $variant:ident),+ $(else $other:ident)?;)+) => {$(
        impl $crate::options::Choice for $type {
            const EXPECTED: &'static str = $expected;
            const ALL: &'static [(&'static str, Self)] = &[$(($word, Self::$variant)),+];
            const OTHER: Option<Self> = $crate::options::choices!(@other $($other)?);
        }

        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                $crate::options::Choice::word(*self).serialize(to)
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                $crate::options::choice_of(Option::<String>::deserialize(from)?.as_deref())
            }
        }

        /// A choice without a word does not compile, unless it is the one for `None`.
        const _: fn($type) = |choice| match choice {
            $($type::$variant)|+ $(| $type::$other)? => {}
        };
    )+};
    (@other) => { None };
    (@other $other:ident) => { Some(Self::$other) };
}

pub(crate) use choices;

/// The choice that a word of JSON names; `None` is its null.
///
/// # Errors
///
/// Another word than those of the choice.
pub(crate) fn choice_of<T: Choice, E: serde::de::Error>(word: Option<&str>) -> Result<T, E> {
    let found = match word {
        Some(word) => T::ALL.iter().find(|(name, _)| *name == word).map(|(_, choice)| *choice),
        None => T::OTHER,
    };
    let got = word.map_or("null".into(), |word| format!("{word:?}"));
    found.ok_or_else(|| E::custom(format_args!("expected {}, got {got}", T::EXPECTED)))
}

/// A choice that other languages name by a word.
pub trait Choice: Copy + PartialEq + 'static {
    /// The expected words, for errors.
    const EXPECTED: &'static str;
    /// Each word, and the choice that it names.
    const ALL: &'static [(&'static str, Self)];
    /// The choice without a word.
    const OTHER: Option<Self>;

    /// `None` for the choice that is Python's `None`.
    fn word(self) -> Option<&'static str> {
        Self::ALL.iter().find(|(_, choice)| *choice == self).map(|(name, _)| *name)
    }
}

/// Options that are set by their names, from values `V` of another language.
pub trait SetByName<V, E> {
    /// The names of all options.
    const NAMES: &'static [&'static str];

    /// `None` if no option has the name.
    fn set(&mut self, name: &str, value: V) -> Option<Result<(), E>>;
}

/// The type of an option that is set from a value `V` of another language, or the error `E`.
pub trait SetFrom<V, E> {
    /// Takes the value over.
    ///
    /// # Errors
    ///
    /// What the value lacks to be one of this type.
    fn set_from(&mut self, value: V) -> Result<(), E>;
}

/// An option that is a function, which JSON cannot give.
macro_rules! not_in_json {
    ($type:ty) => {
        impl std::fmt::Debug for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(stringify!($type))
            }
        }

        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
                Err(serde::ser::Error::custom("JSON cannot have this option"))
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
                Err(serde::de::Error::custom("JSON cannot give this option"))
            }
        }
    };
}

pub(crate) use not_in_json;

/// The list of the words in texts, such as the names of fields.
macro_rules! words {
    ($first:literal $($more:literal)*) => {{
        const TEXT: &str = concat!($first $(, " ", $more)*);
        const WORDS: [&str; $crate::options::count(TEXT)] = $crate::options::split(TEXT);
        &WORDS
    }};
}

pub(crate) use words;

/// How many words a text has, with a blank between two.
pub(crate) const fn count(text: &str) -> usize {
    let (mut count, mut at) = (1, 0);
    while at < text.len() {
        count += (text.as_bytes()[at] == b' ') as usize;
        at += 1;
    }
    count
}

/// These words.
pub(crate) const fn split<const N: usize>(mut text: &'static str) -> [&'static str; N] {
    let (mut words, mut at) = ([""; N], 0);
    while at < N {
        let mut end = 0;
        while end < text.len() && text.as_bytes()[end] != b' ' {
            end += 1;
        }
        let (word, rest) = text.split_at(end);
        words[at] = word;
        text = if rest.is_empty() { rest } else { rest.split_at(1).1 };
        at += 1;
    }
    words
}
