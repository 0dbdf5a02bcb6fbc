//! Hostile input: what other people put into a commit's message. Nothing of it is sent to a
//! terminal.

mod terminal;
