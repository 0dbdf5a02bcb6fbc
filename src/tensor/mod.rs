//! Tensors in files, and how two of them differ.
//!
//! The readers (`npy`, `safetensors`, `kl_base`) find out what a file holds; `dump` reads its rows.
//! `kernel`, `single`, `exact`, `row`, `figures`, `comparison` and `quantile` do arithmetic
//! on slices of floats and no IO; `compare` brings both sides together. docs/logits.md has the
//! formulas.

mod compare;
mod comparison;
mod dtype;
mod dump;
mod error;
mod exact;
mod figures;
mod kernel;
mod kl_base;
mod layout;
mod npy;
mod quantile;
mod row;
mod safetensors;
mod single;

pub use compare::{Settings, compare};
pub use comparison::{Breach, Comparison};
pub use dtype::Encoding;
pub use dump::Dump;
pub use error::DumpError;
pub use figures::{Extreme, Figures, LargestDelta, NonFinite};
pub use row::Figure;
