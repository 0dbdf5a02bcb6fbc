//! Tensors in files, and the differences of two of them.
//!
//! The readers (`npy`, `safetensors`, `kl_base`) find out what a file holds; `dump` reads its rows.
//! `kernel`, `single`, `exact`, `row`, `figures`, `comparison` and `quantile` do arithmetic on
//! slices of floats and no IO; `compare` compares two files with logits (docs/logits.md has the
//! formulas).
//!
//! `set` opens a dump of many tensors (with `stored_set` or `printed_set`), `matching` finds the
//! tensors that belong together, and `compare_sets` compares each `pair`. `conclusion` and
//! `patterns` say what the differences mean (docs/tensors.md).

mod cache_check;
mod compare;
mod compare_sets;
mod comparison;
mod conclusion;
mod difference;
mod dtype;
mod dump;
mod early_end;
mod entry;
mod error;
mod exact;
mod figures;
mod head;
mod kernel;
mod kl_base;
mod layout;
mod matching;
mod moved_shape;
mod name;
mod npy;
mod pair;
mod parallel;
mod patterns;
mod printed;
mod printed_block;
mod printed_set;
mod quantile;
mod row;
mod safetensors;
mod set;
mod single;
mod stored;
mod stored_set;
mod sum_check;

pub use compare::{Settings, compare};
pub(crate) use compare_sets::TensorNoise;
pub(crate) use compare_sets::compare_sets;
pub(crate) use comparison::{Breach, Comparison};
pub(crate) use dtype::Encoding;
pub use dump::Dump;
pub(crate) use error::DumpError;
pub(crate) use figures::Extreme;
pub use figures::Figures;
pub(crate) use printed::printed_sum;
pub(crate) use printed::{PrintedHead, PrintedTensor};
pub(crate) use row::Figure;
pub(crate) use set::TensorSet;
