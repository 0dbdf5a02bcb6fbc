//! The lines of `check`: what was checked, with what result, and the cure.

use serde::Serialize;
use serde_json::json;

use crate::ui::{Tone, plain_json, printable_line, text, toned};

/// The result of one check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum State {
    /// Nothing is wrong.
    Ok,
    /// Nothing is wrong, but something could be better.
    Tip,
    /// Something may spoil the result of a hunt.
    Warn,
    /// A hunt would not start, or would fail, because of this.
    Fail,
}

/// One line.
#[derive(Debug, Serialize)]
struct Line {
    /// What was checked: `git`, `input`.
    check: &'static str,
    state: State,
    text: String,
    /// What the user can do.
    cure: Option<String>,
    /// Lines to copy, or the output of a failed command.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    lines: Vec<String>,
}

/// The lines so far.
#[derive(Debug, Default)]
pub(crate) struct Lines(Vec<Line>);

impl Lines {
    /// Something is well.
    pub(crate) fn ok(&mut self, check: &'static str, about: &str) {
        self.add(State::Ok, check, about, None);
    }

    /// Something could be better. `about` introduces `lines`, which the user can copy.
    pub(crate) fn tip(&mut self, check: &'static str, about: &str, lines: &[String]) {
        self.add(State::Tip, check, about, None);
        self.more(lines);
    }

    /// A problem that does not stop a hunt but matters.
    pub(crate) fn warn(&mut self, check: &'static str, about: &str, cure: &str) {
        self.add(State::Warn, check, about, Some(cure.to_owned()));
    }

    /// A problem that stops a hunt.
    pub(crate) fn fail(&mut self, check: &'static str, about: &str, cure: Option<String>) {
        self.add(State::Fail, check, about, cure);
    }

    /// Adds lines below the last one.
    pub(crate) fn more(&mut self, lines: &[String]) {
        if let Some(last) = self.0.last_mut() {
            last.lines = lines.iter().map(String::as_str).map(printable_line).collect();
        }
    }

    /// Whether a hunt can begin.
    pub(crate) fn is_well(&self) -> bool {
        self.count(State::Fail) == 0
    }

    fn add(&mut self, state: State, check: &'static str, about: &str, cure: Option<String>) {
        let (text, cure) = (printable_line(about), cure.map(|cure| printable_line(&cure)));
        self.0.push(Line { check, state, text, cure, lines: Vec::new() });
    }

    fn count(&self, state: State) -> usize {
        self.0.iter().filter(|line| line.state == state).count()
    }

    /// One line each, and a summary. `next`: the command that follows if all is well.
    pub(crate) fn text(&self, next: &str) -> String {
        let mut shown = String::new();
        for line in &self.0 {
            let (tone, mark) = match line.state {
                State::Ok => (Tone::Good, "ok"),
                State::Tip => (Tone::Plain, "tip"),
                State::Warn => (Tone::Caution, "warn"),
                State::Fail => (Tone::Bad, "FAIL"),
            };
            let cure = line.cure.as_ref().map_or_else(String::new, |cure| format!("; {cure}"));
            let about = format!("{}{cure}", line.text);
            let mark = toned(tone, mark) + &" ".repeat(5 - mark.len());
            shown.push_str(format!("{mark} {:<12} {about}", line.check).trim_end());
            shown.push('\n');
            for line in &line.lines {
                shown.extend([&" ".repeat(21), line.as_str(), "\n"]);
            }
        }
        shown + &self.summary(next) + "\n"
    }

    /// `2 problems, 1 warning: …`.
    fn summary(&self, next: &str) -> String {
        let (problems, warnings) = (self.count(State::Fail), self.count(State::Warn));
        let of_warnings = match warnings {
            0 => String::new(),
            some => format!(", {}", text::plural(some, "warning")),
        };
        match problems {
            0 => format!("No problems{of_warnings}. Next: {next}"),
            some => format!(
                "{}{of_warnings}. Correct each line with FAIL, then check again",
                text::plural(some, "problem")
            ),
        }
    }

    /// The same for programs.
    pub(crate) fn json(&self) -> String {
        let whole = json!({
            "schema": "bisect-ppl/check/1",
            "ok": self.is_well(),
            "problems": self.count(State::Fail),
            "warnings": self.count(State::Warn),
            "checks": self.0,
        });
        plain_json(&format!("{whole:#}\n"))
    }
}
