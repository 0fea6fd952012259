//! Connecting accounts: which method, which fields, what an attempt is and what became of it.

pub mod rules;
