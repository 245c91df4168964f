//! Where values of a row stand.

use std::fmt;

/// A chain of places on the stack, written out only where something is wrong: reading costs nothing
/// for it.
#[derive(Clone, Copy)]
pub(super) enum Path<'p> {
    Row,
    Member(&'p Path<'p>, &'p str),
    Item(&'p Path<'p>, usize),
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Row => Ok(()),
            Self::Member(Self::Row, name) => f.write_str(name),
            Self::Member(parent, name) => write!(f, "{parent}.{name}"),
            Self::Item(parent, index) => write!(f, "{parent}[{index}]"),
        }
    }
}
