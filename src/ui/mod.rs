//! Output on the screen: styles, hints, progress. Data goes to stdout, everything else to stderr.
//! Colours and progress bars appear only on a terminal.

mod document;
mod local_time;
mod progress;
mod question;
mod sanitize;
mod style;
pub mod text;
mod wrap;

pub(crate) use document::cite;
pub use document::{document, url};
pub(crate) use local_time::{
    kept_build_dated, local_time, reached_limit, stored_result, stored_result_dated,
};
pub(crate) use progress::{Activity, Progress};
pub(crate) use question::yes_or_no;
pub use sanitize::printable;
pub(crate) use sanitize::{plain_json, printable_line};
pub(crate) use style::toned;
pub(crate) use style::{Tone, Ui, Verbosity};
