//! The state that all parts of a hunt share: the oracle, the journal, and the hunt's knowledge.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use crate::evaluation::{CommitId, Judgement, Phase, ReachedLimit, Target};
use crate::git::Range;
use crate::oracle::{Observation, Oracle, Request};
use crate::process::Stop;
use crate::store::HuntDir;
use crate::store::journal::{Begun, Event};

use super::HuntError;
use super::asker::Asker;
use super::earlier_good::EarlierGood;
use super::short::TextPrefix;
use super::terms::SearchTerms;
use super::undone_effects::UndoneEffects;
use super::verdict::{VerdictContext, write_down};

/// The driver of one hunt.
pub(crate) struct Driver<'a> {
    pub(crate) oracle: Oracle,
    pub(crate) begun: Begun,
    pub(crate) hunt: &'a HuntDir,
    /// The path of this program. Git starts it as the oracle.
    pub(crate) program: PathBuf,
    pub(crate) stop: Stop,
    /// Asks the user a question.
    pub(crate) asker: Asker<'a>,
    /// How many searches were begun so far.
    pub(crate) searches: usize,
    /// Runs of rejected claims. They must not confirm another claim.
    pub(crate) excluded_runs: BTreeSet<String>,
    /// Set if the search reads only the beginning of the text.
    pub(crate) short: Option<TextPrefix>,
    /// Runs or builds of one commit were seen to differ.
    pub(crate) is_flaky: bool,
    /// A search compared runs in pairs: the machine drifts, and levels from different hours differ.
    pub(crate) has_drifted: bool,
    /// Every build is clean, whatever the configuration says.
    pub(crate) is_clean: bool,
    /// Effects of found commits that are gone at later commits.
    pub(crate) undone: Vec<UndoneEffects>,
    /// In a hunt for a fix: an earlier commit that is good already. The search ends there.
    pub(crate) earlier_good: Option<EarlierGood>,
    /// Commits that were measured to find a mend. Their verdicts are not in the journal.
    pub(crate) compared: BTreeSet<CommitId>,
    /// Named commits of which a test of the newer end says that this end needs them.
    pub(crate) needed_at_end: BTreeSet<CommitId>,
    /// Commits that were measured once more with a commit of our own as HEAD. The value says
    /// whether the result was the same.
    pub(crate) own_head_shows: BTreeMap<CommitId, bool>,
    /// Guards that were searched by themselves after the failure, and whose metric a named commit
    /// changes. Guards in noise are left out.
    pub(crate) added_targets: Vec<Target>,
    /// The limit that ended a part of the hunt, if one did.
    pub(crate) limit: Option<ReachedLimit>,
    /// How often the hunt may still wait for a fault to pass (`[failures] pauses`).
    pub(crate) pauses_left: usize,
    /// Paths that the endpoints' builds did not read: the search leaves out the commits that
    /// change nothing else.
    pub(crate) unread: Vec<String>,
}

impl Driver<'_> {
    /// Which of good and bad is older.
    pub(crate) fn terms(&self) -> SearchTerms {
        SearchTerms::of(self.begun.options.aim)
    }

    /// The range between the endpoints.
    pub(crate) fn whole(&self) -> Range {
        let [old, new] = self.begun.ends();
        Range::between(old, new)
    }

    /// The commits that were judged.
    pub(crate) fn judged(&self) -> Result<BTreeSet<CommitId>, HuntError> {
        let entries = self.hunt.entries_in_force()?;
        let judged = entries.iter().filter_map(|entry| match &entry.event {
            Event::Judged(judged) => Some(judged.commit.clone()),
            _ => None,
        });
        Ok(judged.collect())
    }

    /// The commits that were judged or compared.
    pub(crate) fn measured(&self) -> Result<BTreeSet<CommitId>, HuntError> {
        let mut measured = self.judged()?;
        measured.extend(self.compared.iter().cloned());
        Ok(measured)
    }

    /// Whether an error ends the driver although a first bad commit is found: the user stopped the
    /// hunt, or the fault may pass and the hunt waits for that. Any other fault must not lose the
    /// answer: it only ends the extra measurement of that commit.
    pub(crate) fn must_end(&self, error: &HuntError) -> bool {
        matches!(error, HuntError::Stopped) || (self.pauses_left > 0 && error.may_pass())
    }

    /// The judged commits in order of history, oldest first.
    pub(crate) fn order(&self) -> Result<Vec<CommitId>, HuntError> {
        let judged = self.judged()?;
        let range = self.whole();
        let between = self.oracle.history.commits(&range)?;
        let mut order: Vec<CommitId> =
            judged.iter().filter(|commit| !between.contains(commit)).cloned().collect();
        order.extend(between.into_iter().filter(|commit| judged.contains(commit)));
        Ok(order)
    }

    /// Whether these targets have values that repeat, as far as the hunt has seen.
    pub(crate) fn values_repeat(&self, targets: &[Target]) -> bool {
        !self.is_flaky && !targets.iter().any(Target::is_noisy)
    }

    /// Judges a commit and writes a new verdict to the journal, as one of the last search.
    pub(crate) fn judge(
        &mut self,
        commit: &CommitId,
        targets: &[Target],
    ) -> Result<Judgement, HuntError> {
        let phase = Phase::Search;
        let (judgement, observation) =
            self.oracle.judge_until_decided(commit, targets, phase, None)?;
        // Do not repeat a verdict that the journal already has.
        if self.last_verdicts()?.get(commit) != Some(&judgement.verdict) {
            let search_number = self.searches.saturating_sub(1);
            let place = VerdictContext { search_number, phase, left: None };
            write_down(&mut self.oracle, &observation, &judgement, place)?;
        }
        Ok(judgement)
    }

    /// The stored runs of a commit. Makes no runs.
    pub(crate) fn known_runs(
        &mut self,
        commit: &CommitId,
        measures: &[String],
    ) -> Result<Observation, HuntError> {
        Ok(self.oracle.evaluate(Request::look(commit, measures, Phase::Search))?)
    }
}
