//! Sampled tokens -> the answer.
