//! The result of a hunt as a small JSON object, for the command that notifies people.

use serde::Serialize;

use crate::evaluation::{CommitId, Outcome, ReachedLimit};
use crate::ui::{plain_json, text};

use super::model::Report;
use super::words;

/// The format of the JSON.
const SCHEMA: &str = "bisect-ppl/notify/1";

/// Maximum length of the summary, in characters.
const LONGEST: usize = 400;

/// How a driver ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum NoticeEvent {
    /// A first bad commit is confirmed.
    Found,
    /// The hunt ended without one: candidates (also at a limit), gradual, or too noisy.
    Inconclusive,
    /// The endpoints show no regression, or one of them cannot be measured.
    NoHunt,
    /// An external fault stopped the hunt; it can be resumed.
    Paused,
    /// A person stopped the hunt; it can be resumed.
    Stopped,
}

impl NoticeEvent {
    /// `found`, `inconclusive`, `no-hunt`, `paused`, `stopped`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Found => "found",
            Self::Inconclusive => "inconclusive",
            Self::NoHunt => "no-hunt",
            Self::Paused => "paused",
            Self::Stopped => "stopped",
        }
    }
}

/// The result of a hunt, for people who are elsewhere.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Notice {
    schema: &'static str,
    /// How the driver ended.
    pub event: NoticeEvent,
    /// The hunt's name.
    pub hunt: String,
    /// The outcome, as in `report.json`.
    pub outcome: Outcome,
    /// The exit code of the driver.
    pub exit_code: u8,
    /// One line of plain text without control characters.
    pub summary: String,
    /// Why the hunt is paused.
    pub error: Option<String>,
    /// The first bad commit with the largest step.
    pub culprit: Option<NoticeCommit>,
    /// Commits that may be the first bad one, the most likely first.
    pub candidates: Vec<CommitId>,
    /// The limit that ended the hunt.
    pub limit: Option<ReachedLimit>,
    /// What to do next, one sentence each, perhaps with lines for `oracle.toml` below it.
    pub next: Vec<String>,
    /// The files of the report.
    pub report: NoticeFiles,
}

/// A first bad commit.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct NoticeCommit {
    /// The commit.
    pub commit: CommitId,
    /// First line of its message.
    pub subject: String,
    /// `Name <email>`.
    pub author: String,
    /// The author's date (RFC 3339).
    pub date: String,
    /// Its page in a browser, if known.
    pub url: Option<String>,
    /// The confidence, below 1.
    pub confidence: f64,
}

/// Absolute paths of the report's files.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct NoticeFiles {
    /// `report.html`.
    pub html: String,
    /// `report.md`.
    pub markdown: String,
    /// `report.json`.
    pub json: String,
}

impl Notice {
    /// The notice of a driver that ended with this exit code. `error`: why it stopped, if it has no
    /// answer. `is_person`: whether a person stopped it.
    pub(crate) fn of(report: &Report, exit_code: u8, error: Option<&str>, is_person: bool) -> Self {
        // A fault or a person may end a hunt inside a dependency after this hunt has its answer.
        let event = match report.outcome {
            _ if error.is_some() && is_person => NoticeEvent::Stopped,
            _ if error.is_some() => NoticeEvent::Paused,
            Outcome::Culprit => NoticeEvent::Found,
            Outcome::Candidates | Outcome::Gradual | Outcome::NoiseTooLarge => {
                NoticeEvent::Inconclusive
            }
            Outcome::NoRegression | Outcome::EndpointUnmeasurable => NoticeEvent::NoHunt,
            Outcome::Interrupted if is_person => NoticeEvent::Stopped,
            Outcome::Interrupted => NoticeEvent::Paused,
        };
        let summary = match event {
            NoticeEvent::Found => words::headline(report),
            NoticeEvent::Inconclusive | NoticeEvent::NoHunt => {
                format!("{}: {}", words::headline(report), report.summary)
            }
            NoticeEvent::Paused => format!("Paused: {}", error.unwrap_or("a fault")),
            NoticeEvent::Stopped => {
                format!("Stopped; `bisect-ppl resume {}` goes on", report.hunt)
            }
        };
        let file = |name: &str| report.folder.join(name).display().to_string();
        Self {
            schema: SCHEMA,
            event,
            hunt: report.hunt.clone(),
            outcome: report.outcome,
            exit_code,
            summary: text::shorten(&text::line(&summary), LONGEST),
            error: error.map(text::line),
            culprit: report.culprit.as_ref().map(|first| NoticeCommit {
                commit: first.commit.clone(),
                subject: first.subject.clone(),
                author: first.author.clone(),
                date: first.date.clone(),
                url: first.url.clone(),
                confidence: first.confidence,
            }),
            candidates: report.candidates.clone(),
            limit: report.limit.clone(),
            next: report.next.clone(),
            report: NoticeFiles {
                html: file("report.html"),
                markdown: file("report.md"),
                json: file("report.json"),
            },
        }
    }

    /// The variables of the command: name and value. A variable without a value is empty.
    pub(crate) fn variables(&self) -> [(&'static str, String); 6] {
        let commit = self.culprit.as_ref().map(|it| it.commit.to_string()).unwrap_or_default();
        [
            ("BISECT_PPL_EVENT", self.event.name().to_owned()),
            ("BISECT_PPL_HUNT", self.hunt.clone()),
            ("BISECT_PPL_OUTCOME", self.outcome.to_string()),
            ("BISECT_PPL_COMMIT", commit),
            ("BISECT_PPL_SUMMARY", self.summary.clone()),
            ("BISECT_PPL_REPORT", self.report.html.clone()),
        ]
    }

    /// The notice as one line of JSON.
    pub(crate) fn json(&self) -> String {
        let text = serde_json::to_string(self).expect("a notice is plain data");
        plain_json(&text) + "\n"
    }
}
