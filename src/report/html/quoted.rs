//! What a failed build or run printed.

use crate::report::links::Logs;
use crate::report::model::FailedLine;
use crate::report::printed;
use crate::ui::text;

/// Lines of a log, and the link to it.
pub(super) struct Quoted {
    pub(super) title: String,
    pub(super) text: String,
    pub(super) log: String,
    pub(super) href: Option<String>,
}

impl Quoted {
    pub(super) fn of(failed: &FailedLine, logs: &Logs) -> Self {
        Self {
            title: text::line(&printed::dated_title(failed)),
            text: text::lines(&failed.lines.join("\n")),
            log: text::line(&failed.log),
            href: logs.href(&failed.log),
        }
    }
}
