//! Output on the screen: styles, hints, progress. Data goes to stdout, everything else to stderr.
//! Colours and progress bars appear only on a terminal.

mod estimate;
mod progress;
mod sanitize;
mod style;
pub mod text;

pub use estimate::Estimate;
pub use progress::{Activity, Progress};
pub use sanitize::{printable, printable_line};
pub use style::Ui;
