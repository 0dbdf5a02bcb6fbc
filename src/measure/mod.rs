//! Parses an engine's output: lines in, a [`Reading`](crate::evaluation::Reading) or a
//! [`Failure`](crate::evaluation::Failure) out. One parser per file. No IO, so the same code reads
//! a stored log and a live run.

mod address_in_use;
mod bench;
mod divergence;
mod eval_callback;
mod exit_code;
mod form;
mod json;
mod junit;
mod lines;
mod lm_eval;
mod parity;
mod pattern;
mod perplexity;
mod reader;
mod repeats;
mod text;
mod unit;
mod value;
mod whole;
mod word;

pub(crate) use address_in_use::{FIRST_USER_PORT, named_ports, says_address_in_use};
pub(crate) use json::named_numbers;
pub(crate) use reader::Reader;
