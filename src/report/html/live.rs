//! `report.html` while its hunt runs: the page loads itself again, and shows what runs now. Only
//! that part changes between two steps of the hunt.

use askama::Template;
use jiff::Timestamp;

use crate::evaluation::{CommitId, Outcome, Phase};
use crate::report::course::course;
use crate::report::limits::{Clock, limits_left};
use crate::report::links::Logs;
use crate::report::model::Report;
use crate::report::pace::Pace;
use crate::store::journal::LimitsInForce;
use crate::ui::text;

use super::embedded::Embedded;
use super::{LIVE, Page};

/// What a hunt does at one moment.
pub(crate) struct Now {
    /// `build`, `run ppl`, or what it waits for.
    pub doing: String,
    /// The commit, the first line of its message, and the purpose; `None` if it is not known what
    /// comes after a wait.
    pub at: Option<(CommitId, String, Phase)>,
    /// When it began.
    pub since: Timestamp,
    /// Seconds that it usually takes, if known.
    pub usual: Option<f64>,
    /// What happens in other slots, one text each; `None` if the hunt has one slot.
    pub ahead: Option<Vec<String>>,
    /// The last lines of its output, oldest first.
    pub lines: Vec<String>,
}

/// The page of a running hunt, without the part about this moment.
pub(crate) struct LivePage {
    before: String,
    after: String,
}

impl LivePage {
    /// The page; `None` if the hunt does not run or has its answer. The page must be in the hunt's
    /// folder, because it links to the logs there. Only the finished page contains the logs.
    pub(crate) fn of(report: &Report) -> Option<Self> {
        if !report.is_running || report.outcome != Outcome::Interrupted {
            return None;
        }
        let mut page = Page::of(report, &Logs::beside(report), Embedded::none());
        page.is_live = true;
        let page = page.render().expect("a string takes everything");
        // Only the template contains `LIVE`: all other text on the page is escaped.
        let (before, after) = page.split_once(LIVE)?;
        Some(Self { before: before.to_owned(), after: after.to_owned() })
    }

    /// The whole page at this moment.
    pub(crate) fn at(&self, now: Option<&Now>, pace: &Pace, limits: &LimitsInForce) -> String {
        let at = Timestamp::now();
        let section =
            Section::of(now, pace, limits, at).render().expect("a string takes everything");
        [self.before.as_str(), &section, &self.after].concat()
    }
}

/// The part about this moment. During builds and runs its height stays the same, so that what a
/// reader looks at stays where it is.
#[derive(Template)]
#[template(path = "live.html", whitespace = "minimize")]
struct Section {
    facts: Vec<(&'static str, String)>,
    lines: Vec<String>,
    at: String,
}

impl Section {
    fn of(now: Option<&Now>, pace: &Pace, limits: &LimitsInForce, at: Timestamp) -> Self {
        let so_far = now.map_or(0.0, |now| at.duration_since(now.since).as_secs_f64().max(0.0));
        let [doing, commit, time] = match now {
            None => ["nothing at this moment".to_owned(), "none".to_owned(), clock(at)],
            Some(now) => {
                let usual = now.usual.map_or_else(String::new, |usual| {
                    format!("; usually about {}", text::seconds(usual))
                });
                let since = format!("since {}, for {}", clock(now.since), text::seconds(so_far));
                let doing = text::line(&now.doing);
                let (doing, commit) = match &now.at {
                    None => (doing, "none".to_owned()),
                    Some((commit, subject, phase)) => {
                        (format!("{doing} ({phase})"), text::commit(commit, subject))
                    }
                };
                [doing, commit, since + &usual]
            }
        };
        let course = course(pace, Some(at), so_far);
        let mut facts =
            vec![("doing", doing), ("commit", commit), ("time", time), ("hunt", course)];
        facts.extend(limits_left(limits, at, Clock::Utc).map(|left| ("limits", left)));
        // Also if no slot works, so that the height stays the same.
        if let Some(ahead) = now.and_then(|now| now.ahead.as_ref()) {
            let words = if ahead.is_empty() { "nothing".to_owned() } else { ahead.join("; ") };
            facts.push(("ahead", text::line(&words)));
        }
        Self {
            facts,
            lines: now.map_or_else(Vec::new, |now| {
                now.lines.iter().map(|line| text::line(line)).collect()
            }),
            at: clock(at),
        }
    }
}

/// `15:04:05 UTC`.
fn clock(at: Timestamp) -> String {
    at.strftime("%H:%M:%S UTC").to_string()
}
