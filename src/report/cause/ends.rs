//! What an endpoint shows without or with the causes inside one or several commits, in words.

use crate::evaluation::{Backport, Revert, Trial};
use crate::ui::text;

use super::trial::{first_line, values, why_unjudged};

/// A test of an endpoint without causes, or with them.
pub(super) struct TestedEnd<'r> {
    /// The test; `None` if there was nothing to build.
    pub(super) trial: Option<&'r Trial>,
    /// The patch that takes the causes out or brings them there, if it is kept.
    pub(super) patch: Option<&'r str>,
    /// The causes: `it`, `them alone`, `the causes of both first bad commits`, `both fixes`.
    pub(super) name: String,
    /// Whether they are those of several commits.
    pub(super) is_joint: bool,
}

impl TestedEnd<'_> {
    fn values(&self) -> String {
        self.trial.map(values).unwrap_or_default()
    }

    fn why_unjudged(&self) -> String {
        self.trial.map(why_unjudged).unwrap_or_default()
    }

    fn changes(&self) -> &'static str {
        if self.is_joint { "these changes" } else { "this change" }
    }

    /// What the newer endpoint shows without the causes. `newer`: `good` or `bad`.
    pub(super) fn reverted(&self, revert: &Revert, newer: &str) -> String {
        let (values, causes) = (self.values(), &self.name);
        let patch = self.patch.unwrap_or_default();
        match revert {
            Revert::Heals => {
                format!("reverting {causes} heals the bad end: {values}; the patch is {patch}")
            }
            Revert::HealsPart => format!(
                "reverting {causes} heals the targets that a few runs can judge: {values}; the \
                 patch is {patch}"
            ),
            Revert::StepGone => format!(
                "reverting {causes} takes this step out of the bad end, which is still worse than \
                 the good end by more than the tolerance: {values}; the patch is {patch}"
            ),
            Revert::BreaksOther(what) => format!(
                "the bad end without {causes} has no step any more, but {}: {values}; the patch is \
                 {patch}",
                text::line(what)
            ),
            Revert::Traded(what) => format!(
                "reverting {causes} heals the bad end: {values}; it also takes back the effect of \
                 {} on another guard ({}); the patch is {patch}",
                self.changes(),
                text::line(what)
            ),
            Revert::StillBad => format!(
                "reverting {causes} does not heal the bad end: {values}; the patch is {patch}"
            ),
            Revert::Unlike => format!(
                "the {newer} end without {causes} shows another level than the step explains \
                 ({values}), so this does not tell whether the {newer} end needs {}",
                self.changes()
            ),
            Revert::BreaksAgain => {
                format!("the good end without {causes} is bad again: {values}")
            }
            Revert::StillGood => format!("the good end without {causes} is still good: {values}"),
            Revert::Unknown => {
                let why = self.why_unjudged();
                format!("the {newer} end without {causes} cannot be judged: {why}")
            }
            Revert::Stopped(why) => {
                format!("the test of the {newer} end without {causes} stopped: {}", text::line(why))
            }
            Revert::Conflict(said) if self.is_joint => {
                format!(
                    "the reverts do not apply to the {newer} end together: {}",
                    first_line(said)
                )
            }
            Revert::Conflict(said) => {
                format!("the revert does not apply to the {newer} end: {}", first_line(said))
            }
            Revert::Absent => {
                format!("the {newer} end does not have {} any more", self.changes())
            }
        }
    }

    /// What the bad endpoint shows with the causes of a fix.
    pub(super) fn backported(&self, backport: &Backport) -> String {
        let (values, causes) = (self.values(), &self.name);
        let patch = self.patch.unwrap_or_default();
        match backport {
            Backport::Heals => {
                format!("the bad end with {causes} is good: {values}; the patch is {patch}")
            }
            Backport::StillBad => format!("the bad end with {causes} is still bad: {values}"),
            Backport::BreaksOther(what) => format!(
                "the bad end with {causes} has no step any more, but {}: {values}; the patch is \
                 {patch}",
                text::line(what)
            ),
            Backport::Unlike => format!(
                "the bad end with {causes} is like neither end ({values}), so this does not tell \
                 whether {} mends it",
                self.changes()
            ),
            Backport::Unknown => {
                let why = self.why_unjudged();
                format!("the bad end with {causes} cannot be judged: {why}")
            }
            Backport::Stopped(why) => {
                format!("the test of the bad end with {causes} stopped: {}", text::line(why))
            }
            Backport::Conflict(said) if self.is_joint => {
                format!("the fixes do not apply to the bad end together: {}", first_line(said))
            }
            Backport::Conflict(said) => {
                format!("the fix does not apply to the bad end: {}", first_line(said))
            }
            Backport::Present => format!("the bad end has {} already", self.changes()),
        }
    }
}
