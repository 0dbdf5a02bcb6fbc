//! Finds the lines in a failed program's output that say why it failed.
//!
//! [`FailureLogParser`] reads the output of builds and of runs, live and again from stored logs.
//! These lines ([`FailureMessage`]) distinguish a failure from others of its kind.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::ended::ABORT;
use super::{Ended, FailureKind, Stream};

mod normal;
mod sign;

pub(crate) use normal::normalised;

use normal::shown;
use sign::{Next, Sign, Weight};

/// How much of one line is examined, in bytes.
const LOOKED_AT: usize = 4 << 10;
/// At most this many lines of a stream are reported as lines that must stay in the log.
const KEPT: usize = 300;
/// How many events of each weight are kept from the start. The last one is kept too.
const FIRST: usize = 3;
/// Maximum length of a traceback, in lines.
const LONGEST_TRACEBACK: usize = 2000;
/// If more lines follow the last `error:` line, it does not explain the exit code.
const AT_THE_END: usize = 10;
/// How many lines after `Fatal Python error` are searched for its frame.
const HANDLER: usize = 10;

/// What the output of a failed command says about the failure. Lines are [`normalised`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum FailureMessage {
    /// Errors of compilers and linkers. Parallel jobs print these in any order, and sometimes leave
    /// some out.
    Diagnostics(Vec<String>),
    /// The reason, in at most three lines.
    Reason {
        /// The first lines, and the last one.
        lines: Vec<String>,
        /// Whether the lines are so specific that unrelated failures hardly share them.
        telling: bool,
    },
    /// No reason found: the first consequence, or the last line, or an empty text.
    Reached(String),
}

impl FailureMessage {
    /// Whether both texts can come from the same failure.
    pub(crate) fn is_same_failure(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Diagnostics(a), Self::Diagnostics(b)) => a.iter().any(|line| b.contains(line)),
            (Self::Reason { lines: a, .. }, Self::Reason { lines: b, .. }) => a == b,
            (Self::Reached(a), Self::Reached(b)) => a == b,
            _ => false,
        }
    }

    /// Whether the text is so specific that unrelated failures hardly share it.
    pub(crate) fn is_telling(&self) -> bool {
        match self {
            Self::Diagnostics(_) => true,
            Self::Reason { telling, .. } => *telling,
            Self::Reached(_) => false,
        }
    }
}

/// The reason of a failure, to compare and to show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FailureReason {
    /// The form that is compared with other failures.
    pub said: FailureMessage,
    /// The decisive line as printed, to show; may be empty.
    pub shown: String,
}

/// Reads the output of a command line by line, in bounded memory.
#[derive(Debug, Default)]
pub(crate) struct FailureLogParser {
    err: StreamState,
    out: StreamState,
}

/// The state of one stream. Streams are read separately, since their interleaving is random.
#[derive(Debug, Default)]
struct StreamState {
    doing: PendingMessage,
    events: BTreeMap<Weight, Events>,
    /// The innermost frame of the first stack.
    frame: Option<String>,
    wants_frame: bool,
    /// The last line that is not empty.
    last: String,
    /// Lines since the last `error:` line.
    since: usize,
    /// The next bytes continue a line whose beginning was already examined.
    goes_on: bool,
    kept: usize,
}

/// The multi-line message that is being read.
#[derive(Debug, Default)]
enum PendingMessage {
    #[default]
    Nothing,
    Traceback {
        prefix: String,
        frame: Option<String>,
        lines: usize,
    },
    Message {
        event: Event,
        next: Next,
        lines: usize,
    },
}

#[derive(Clone, Debug)]
struct Event {
    weight: Weight,
    text: String,
    shown: String,
    /// A Python exception: of several, the last one ended the program.
    is_python: bool,
}

#[derive(Debug, Default)]
struct Events {
    first: Vec<Event>,
    last: Option<Event>,
}

impl FailureLogParser {
    /// Takes the next bytes of a stream, without the line break. `whole`: the line ends there. Each
    /// part between `\r` (progress that overwrites itself) counts as a line.
    ///
    /// Returns true if the bytes must stay in the log, so that a second reading of the log gives
    /// the same result. The last line of each stream is always in the log.
    pub(crate) fn feed(&mut self, stream: Stream, bytes: &[u8], whole: bool) -> bool {
        let state = match stream {
            Stream::Err => &mut self.err,
            Stream::Out => &mut self.out,
            // A report file does not say why a program failed.
            Stream::File => return false,
        };
        let mut keep = false;
        if !std::mem::replace(&mut state.goes_on, !whole) {
            for part in bytes.split(|byte| *byte == b'\r') {
                let part = &part[..part.len().min(LOOKED_AT)];
                keep |= state.line(&String::from_utf8_lossy(part));
            }
        }
        keep && {
            state.kept += 1;
            state.kept <= KEPT
        }
    }

    /// The result, after the command ended.
    pub(crate) fn finish(mut self, kind: FailureKind, ended: &Ended) -> FailureReason {
        for state in [&mut self.err, &mut self.out] {
            state.end();
        }
        let diagnostics = self.all(Weight::Diagnostic);
        if let Some(first) = diagnostics.first() {
            let said =
                FailureMessage::Diagnostics(diagnostics.iter().map(|e| e.text.clone()).collect());
            return FailureReason { said, shown: first.shown.clone() };
        }
        let reasons = self.all(Weight::Reason);
        if !reasons.is_empty() {
            return self.reason(&reasons, true);
        }
        let (errors, common) = (self.all(Weight::Error), self.all(Weight::Common));
        if !common.is_empty() {
            return self.reason(&[common, errors].concat(), false);
        }
        // Errors printed before a signal do not explain the signal: the program survived them.
        let is_own = matches!(ended, Ended::Exited(_) | Ended::Signaled(ABORT));
        let is_at_the_end = kind == FailureKind::Build || self.ends_with_error();
        if !errors.is_empty() && is_own && is_at_the_end {
            return self.reason(&errors, true);
        }
        if self.frame().is_some() {
            return self.reason(&[], false);
        }
        let consequences = self.all(Weight::Consequence);
        let last = [&self.err.last, &self.out.last].into_iter().find(|line| !line.is_empty());
        let shown = match (consequences.first(), last) {
            (Some(event), _) => event.shown.clone(),
            (None, Some(line)) => shown(line),
            (None, None) => String::new(),
        };
        FailureReason { said: FailureMessage::Reached(normalised(&shown)), shown }
    }

    fn reason(&self, events: &[Event], telling: bool) -> FailureReason {
        let decisive = events.last().filter(|event| event.is_python).or(events.first());
        let mut lines: Vec<String> = events.iter().map(|event| event.text.clone()).collect();
        if lines.len() > 3 {
            lines.drain(2..lines.len() - 1);
        }
        let wants_frame = events.is_empty()
            || !telling
            || (self.err.wants_frame || self.out.wants_frame) && lines.len() < 3;
        if let Some(frame) = self.frame().filter(|_| wants_frame) {
            lines.truncate(2);
            lines.push(format!("in {frame}"));
        }
        let shown = decisive.map_or_else(
            || lines.first().cloned().unwrap_or_default(),
            |event| event.shown.clone(),
        );
        FailureReason { said: FailureMessage::Reason { lines, telling }, shown }
    }

    fn frame(&self) -> Option<&str> {
        self.err.frame.as_deref().or(self.out.frame.as_deref())
    }

    fn ends_with_error(&self) -> bool {
        [&self.err, &self.out]
            .into_iter()
            .any(|state| state.events.contains_key(&Weight::Error) && state.since <= AT_THE_END)
    }

    /// All kept events of a weight, each text once.
    fn all(&self, weight: Weight) -> Vec<Event> {
        let mut all: Vec<Event> = Vec::new();
        for events in [&self.err, &self.out].into_iter().filter_map(|v| v.events.get(&weight)) {
            for event in events.first.iter().chain(&events.last) {
                if all.iter().all(|other| other.text != event.text) {
                    all.push(event.clone());
                }
            }
        }
        all
    }
}

impl StreamState {
    /// Reads a line; true if the line must stay in the log.
    fn line(&mut self, line: &str) -> bool {
        if line.trim().is_empty() {
            return false;
        }
        self.since = self.since.saturating_add(1);
        let (is_done, was_busy) = self.go_on(line);
        if is_done {
            self.remember_last(line);
            return true;
        }
        let sign = sign::sign(line);
        if sign != Some(Sign::Death) {
            self.remember_last(line);
        }
        sign.is_some_and(|sign| self.take(sign, line)) | was_busy
    }

    fn remember_last(&mut self, line: &str) {
        self.last.clear();
        self.last.push_str(line);
    }

    /// Whether the line belongs to the unfinished message, and whether there is such a message.
    fn go_on(&mut self, line: &str) -> (bool, bool) {
        match std::mem::take(&mut self.doing) {
            PendingMessage::Nothing => (false, false),
            PendingMessage::Traceback { prefix, frame, lines } => {
                (self.trace(line, prefix, frame, lines), true)
            }
            PendingMessage::Message { event, next, lines } => {
                (self.message(line, event, next, lines), true)
            }
        }
    }

    fn trace(&mut self, line: &str, prefix: String, frame: Option<String>, lines: usize) -> bool {
        let Some(rest) = line.strip_prefix(prefix.as_str()) else {
            // A line of another process in between.
            self.doing = PendingMessage::Traceback { prefix, frame, lines };
            return false;
        };
        if rest.starts_with([' ', '\t']) {
            let frame = sign::python_frame(rest).or(frame);
            if lines < LONGEST_TRACEBACK {
                self.doing = PendingMessage::Traceback { prefix, frame, lines: lines + 1 };
            }
            return true;
        }
        if !sign::is_raised(rest) {
            return false;
        }
        let place = frame.map_or_else(String::new, |frame| format!(" in {}", normalised(&frame)));
        let text = normalised(rest) + &place;
        self.push(Event { weight: Weight::Reason, text, shown: shown(rest), is_python: true });
        true
    }

    fn message(&mut self, line: &str, mut event: Event, next: Next, lines: usize) -> bool {
        let bare = line.trim();
        let (belongs, goes_on) = match next {
            Next::Message => (!bare.starts_with("note:"), false),
            Next::Begins(words) => (bare.starts_with(words), false),
            Next::Indented => (line.starts_with([' ', '\t']), lines == 0),
            Next::PythonFrame => {
                if let Some(frame) = sign::python_frame(line) {
                    event.text = format!("{} in {}", event.text, normalised(&frame));
                } else if lines < HANDLER {
                    self.doing = PendingMessage::Message { event, next, lines: lines + 1 };
                    return true;
                }
                self.push(event);
                return true;
            }
        };
        if belongs {
            event.text = format!("{} {}", event.text, normalised(bare));
            event.shown = shown(&format!("{} {bare}", event.shown));
            // The added line names a function.
            if event.weight == Weight::Common {
                event.weight = Weight::Reason;
            }
        }
        if belongs && goes_on {
            self.doing = PendingMessage::Message { event, next, lines: lines + 1 };
        } else {
            self.push(event);
        }
        belongs
    }

    /// Applies the kind of a single line; true if the line must stay in the log.
    fn take(&mut self, sign: Sign<'_>, line: &str) -> bool {
        let event = |weight, it: &str| Event {
            weight,
            text: normalised(it),
            shown: shown(it),
            is_python: false,
        };
        match sign {
            Sign::Says(weight, it) => self.push(event(weight, it)),
            Sign::Exception(it) => {
                self.push(Event { is_python: true, ..event(Weight::Reason, it) });
            }
            Sign::Begins(weight, it, next) => {
                self.doing = PendingMessage::Message { event: event(weight, it), next, lines: 0 };
            }
            Sign::Traceback(place) => {
                let prefix = line[..place].to_owned();
                self.doing = PendingMessage::Traceback { prefix, frame: None, lines: 0 };
            }
            Sign::Sanitizer(it) => {
                self.wants_frame = true;
                self.push(event(Weight::Reason, it));
            }
            Sign::Frame(name) => {
                let is_first = self.frame.is_none();
                self.frame.get_or_insert_with(|| normalised(name));
                return is_first;
            }
            Sign::Death => return false,
        }
        true
    }

    /// At the end of the stream, takes the unfinished message as complete.
    fn end(&mut self) {
        if let PendingMessage::Message { event, .. } = std::mem::take(&mut self.doing) {
            self.push(event);
        }
    }

    fn push(&mut self, event: Event) {
        if event.weight == Weight::Error {
            self.since = 0;
        }
        let events = self.events.entry(event.weight).or_default();
        if events.first.iter().any(|other| other.text == event.text) {
            return;
        }
        if events.first.len() < FIRST {
            events.first.push(event);
        } else {
            events.last = Some(event);
        }
    }
}

#[cfg(test)]
mod tests;
