//! A request's body -> a turn.
