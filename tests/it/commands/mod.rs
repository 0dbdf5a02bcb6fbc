//! The commands around a hunt.

mod after;
mod check;
mod driver;
mod measure;
mod oracle;
mod plan;
