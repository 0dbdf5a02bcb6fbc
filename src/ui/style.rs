//! The only place that prints, and the styles of the output.

use std::io::{self, IsTerminal, Write};

use anstyle::{AnsiColor, Style};

use crate::evaluation::Verdict;

use super::sanitize::for_terminal;
use super::text;
use super::wrap::wrap;

/// Columns of the longest horizontal line above an answer.
const LONGEST_LINE: usize = 80;

const ERROR: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();
pub(super) const HINT: Style = AnsiColor::Cyan.on_default().bold();
pub(super) const HEADLINE: Style = Style::new().bold();
const GOOD: Style = AnsiColor::Green.on_default();
const BAD: Style = AnsiColor::Red.on_default().bold();
const SKIP: Style = AnsiColor::Yellow.on_default();

/// How much is printed to stderr.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Verbosity {
    /// Warnings and errors.
    Quiet,
    /// Progress and hints too.
    #[default]
    Normal,
    /// Each build and run too.
    Verbose,
}

/// Prints data to stdout and the rest to stderr. Strips styles if there is no terminal or
/// `NO_COLOR` is set.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ui {
    verbosity: Verbosity,
}

#[expect(clippy::unused_self, reason = "whoever prints has a `Ui`")]
impl Ui {
    /// The program's own stdout and stderr.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// The same, with another verbosity.
    pub(crate) fn with(verbosity: Verbosity) -> Self {
        Self { verbosity }
    }

    /// How much is printed to stderr.
    pub(crate) fn verbosity(self) -> Verbosity {
        self.verbosity
    }

    /// Prints data to stdout. A terminal gets no control character but those of our styles; a file
    /// or a pipe gets the data as they are. A closed pipe (`| head`) is not an error.
    pub(crate) fn out(self, data: &str) -> io::Result<()> {
        let data = if io::stdout().is_terminal() { for_terminal(data) } else { data.into() };
        let mut stdout = anstream::stdout().lock();
        match stdout.write_all(data.as_bytes()).and_then(|()| stdout.flush()) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            result => result,
        }
    }

    /// Prints data to stdout, with the first line in bold. On a terminal, a horizontal
    /// line separates it from the progress above, and lines are broken at words.
    pub(crate) fn answer(self, text: &str) -> io::Result<()> {
        self.out(&framed(text, self.columns()))
    }

    /// Prints a line to stderr, unless only warnings and errors are wanted.
    pub(crate) fn line(self, line: &str) {
        if self.verbosity != Verbosity::Quiet {
            self.always(line);
        }
    }

    /// Prints a line to stderr, whatever the verbosity.
    pub(crate) fn always(self, line: &str) {
        to_stderr(&format!("{line}\n"));
    }

    /// Prints `warning: …` to stderr.
    pub(crate) fn warn(self, warning: &str) {
        to_stderr(&labelled(WARNING, "warning", warning));
    }

    /// Prints `hint: …` to stderr, unless only warnings and errors are wanted.
    pub(crate) fn hint(self, hint: &str) {
        if self.verbosity != Verbosity::Quiet {
            to_stderr(&labelled(HINT, "hint", hint));
        }
    }

    /// Prints an error with its causes and a hint to stderr.
    pub(crate) fn error(self, error: &anyhow::Error, hint: Option<&str>) {
        to_stderr(&error_text(error, hint));
    }

    /// The columns of stdout if it is a terminal.
    pub(crate) fn columns(self) -> Option<usize> {
        columns(io::stdout())
    }

    /// Whether stderr is a terminal that can show a moving line.
    pub(crate) fn is_terminal() -> bool {
        io::stderr().is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
    }
}

/// The colour of a word that says how something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    /// All is well.
    Good,
    /// Something may be wrong.
    Caution,
    /// Something is wrong.
    Bad,
    /// No colour.
    Plain,
}

/// Colours a word.
pub(crate) fn toned(tone: Tone, word: &str) -> String {
    let style = match tone {
        Tone::Good => GOOD,
        Tone::Caution => SKIP,
        Tone::Bad => BAD,
        Tone::Plain => Style::new(),
    };
    format!("{style}{word}{style:#}")
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

/// An answer, for a terminal with this many columns or for a file or a pipe.
fn framed(text: &str, columns: Option<usize>) -> String {
    let wrapped = columns.map_or_else(|| text.to_owned(), |columns| wrap(text, columns));
    let (first, rest) = wrapped.split_once('\n').unwrap_or((&wrapped, ""));
    let answer = format!("{HEADLINE}{first}{HEADLINE:#}\n{rest}");
    match columns {
        Some(columns) => format!("\n{}\n{answer}", "─".repeat(columns.min(LONGEST_LINE))),
        None => answer,
    }
}

/// The columns of a terminal; `None` for anything else.
pub(super) fn columns(stream: impl std::os::fd::AsFd) -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(stream).ok()?;
    // A serial console reports 0.
    (size.ws_col > 0).then(|| usize::from(size.ws_col))
}

/// Writes to stderr. Ignores errors: without stderr there is no place to report them.
fn to_stderr(text: &str) {
    let _ = anstream::stderr().lock().write_all(for_terminal(text).as_bytes());
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
    let plain = format!("{label}: {}\n", text::lines(message).trim_end());
    let broken = match columns(io::stderr()) {
        Some(columns) => wrap(&plain, columns),
        None => plain,
    };
    // Styled last: styles have no width.
    let rest = broken.strip_prefix(label).and_then(|rest| rest.strip_prefix(':'));
    format!("{style}{label}:{style:#}{}", rest.unwrap_or(&broken))
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
    fn an_answer_on_a_terminal_is_below_a_line_and_breaks_at_words() {
        let text =
            "First bad commit: 1a2b3c4d5e6f\nppl: 7.21 at the parent, 7.52 here, 0.31 worse\n";
        let strip = |text: String| anstream::adapter::strip_str(&text).to_string();
        assert_eq!(strip(framed(text, None)), text);
        assert_eq!(
            strip(framed(text, Some(40))),
            format!(
                "\n{}\nFirst bad commit: 1a2b3c4d5e6f\nppl: 7.21 at the parent, 7.52 here, 0.31\n  \
                 worse\n",
                "─".repeat(40)
            )
        );
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
