//! From an engine's output to what it says: lines in, a [`Reading`](crate::evaluation::Reading)
//! or a [`Failure`](crate::evaluation::Failure) out. One parser a file; nothing here does IO,
//! so that a stored log is read by the same code as a live run.

mod bench;
mod divergence;
mod exit_code;
mod json;
mod junit;
mod lines;
mod lm_eval;
mod parity;
mod pattern;
mod perplexity;
mod reader;
mod repeats;
mod value;
mod whole;
mod word;

pub use reader::Reader;
