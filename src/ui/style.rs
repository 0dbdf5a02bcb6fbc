//! The only place that prints, and the styles of the output.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};

use crate::evaluation::Verdict;

use super::text;

const ERROR: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();
const HINT: Style = AnsiColor::Cyan.on_default().bold();
const HEADLINE: Style = Style::new().bold();
const GOOD: Style = AnsiColor::Green.on_default();
const BAD: Style = AnsiColor::Red.on_default().bold();
const SKIP: Style = AnsiColor::Yellow.on_default();

/// Prints data to stdout and the rest to stderr. Strips styles if there is no terminal or
/// `NO_COLOR` is set.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ui {}

impl Ui {
    /// The program's own stdout and stderr.
    pub fn new() -> Self {
        Self {}
    }

    /// Prints data to stdout. A closed pipe (`| head`) is not an error.
    pub fn out(&self, data: &str) -> io::Result<()> {
        let mut stdout = anstream::stdout().lock();
        match stdout.write_all(data.as_bytes()).and_then(|()| stdout.flush()) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            result => result,
        }
    }

    /// Prints data to stdout, with the first line in bold.
    pub fn answer(&self, text: &str) -> io::Result<()> {
        let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
        self.out(&format!("{HEADLINE}{first}{HEADLINE:#}\n{rest}"))
    }

    /// Prints a line to stderr.
    pub fn line(&self, line: &str) {
        to_stderr(&format!("{line}\n"));
    }

    /// Prints `warning: …` to stderr.
    pub fn warn(&self, warning: &str) {
        to_stderr(&labelled(WARNING, "warning", warning));
    }

    /// Prints `hint: …` to stderr.
    pub fn hint(&self, hint: &str) {
        to_stderr(&labelled(HINT, "hint", hint));
    }

    /// Prints an error with its causes and a hint to stderr.
    pub fn error(&self, error: &anyhow::Error, hint: Option<&str>) {
        to_stderr(&error_text(error, hint));
    }

    /// Whether stderr is a terminal that can show a moving line.
    pub fn is_terminal(&self) -> bool {
        use std::io::IsTerminal;
        io::stderr().is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
    }
}

/// Colours the verdict at the beginning of a line. The word stays, so that nobody has to tell
/// colours apart.
pub(super) fn verdict(verdict: Verdict, line: &str) -> String {
    let style = match verdict {
        Verdict::Good => GOOD,
        Verdict::Bad => BAD,
        Verdict::Skip => SKIP,
        Verdict::Unknown => Style::new(),
    };
    let word = verdict.to_string();
    match line.strip_prefix(&word) {
        Some(rest) => format!("{style}{word}{style:#}{rest}"),
        None => line.to_owned(),
    }
}

/// Writes to stderr. Ignores errors: without stderr there is no place to report them.
fn to_stderr(text: &str) {
    let _ = anstream::stderr().lock().write_all(text.as_bytes());
}

/// `error:`, then `caused by:` for each cause, then `hint:`. Leaves out a cause whose text is
/// part of the message before it.
pub(super) fn error_text(error: &anyhow::Error, hint: Option<&str>) -> String {
    let mut said = error.to_string();
    let mut shown = labelled(ERROR, "error", &said);
    for cause in error.chain().skip(1) {
        let cause = cause.to_string();
        if !said.contains(&cause) {
            shown.push_str(&labelled(ERROR, "caused by", &cause));
        }
        said = cause;
    }
    if let Some(hint) = hint {
        shown.push_str(&labelled(HINT, "hint", hint));
    }
    shown
}

/// A cleaned message after its label. Messages quote engines, files and git, which must not
/// control the terminal.
fn labelled(style: Style, label: &str, message: &str) -> String {
    format!("{style}{label}:{style:#} {}\n", text::lines(message).trim_end())
}

#[cfg(test)]
mod tests {
    use anyhow::anyhow;

    use super::*;

    fn plain(error: &anyhow::Error, hint: Option<&str>) -> String {
        anstream::adapter::strip_str(&error_text(error, hint)).to_string()
    }

    #[test]
    fn an_error_shows_its_causes_and_the_cure() {
        let error = anyhow!("No such file").context("cannot read oracle.toml").context("no hunt");
        insta::assert_snapshot!(plain(&error, Some("`bisect-ppl init` writes one")), @r"
        error: no hunt
        caused by: cannot read oracle.toml
        caused by: No such file
        hint: `bisect-ppl init` writes one
        ");
    }

    #[test]
    fn a_cause_already_told_is_not_told_again() {
        let error = anyhow!("disk full").context("/tmp/x: disk full");
        assert_eq!(plain(&error, None), "error: /tmp/x: disk full\n");
    }

    #[test]
    fn a_verdict_is_coloured_and_reads_the_same_without() {
        let line = "bad      0d18d84999  ppl 5.9";
        let shown = verdict(Verdict::Bad, line);
        assert!(shown.starts_with("\u{1b}["), "{shown:?}");
        assert_eq!(anstream::adapter::strip_str(&shown).to_string(), line);
    }

    #[test]
    fn a_message_cannot_steer_the_terminal() {
        let shown = error_text(&anyhow!("engine said \u{1b}[2J\u{7}hello\r!"), None);
        assert!(!shown.contains("\u{1b}[2J") && !shown.contains('\u{7}') && !shown.contains('\r'));
    }
}
