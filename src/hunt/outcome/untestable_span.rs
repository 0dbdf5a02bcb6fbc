//! Handles a step that one of several untestable commits in a row made. The hunt checks whether the
//! step lasts to the newer end, as with a found commit: a step that was undone is no answer.

use crate::evaluation::{Basis, CommitId, Culprit, Target, Verdict};
use crate::hunt::HuntError;
use crate::hunt::confirm::effect::effects;
use crate::hunt::distinct::distinct;
use crate::hunt::driver::Driver;
use crate::hunt::range::SearchRange;
use crate::hunt::why::CandidatesReason;
use crate::oracle::{Observation, measures_of};
use crate::ui::text;

use super::account::Ledger;
use super::culprit_status::FoundCommit;
use super::found_step::FoundStep;
use super::lasting::drifts;
use super::range_after_mend::goes_on_from;

impl Driver<'_> {
    /// Adds the candidates to the ledger and checks whether the step that one of them made lasts to
    /// the newer end. The commits of a merged branch that may have made the step are candidates
    /// too, or one of them is named. Returns further ranges to search. `claims`: the named commits,
    /// each with the range in which it was found.
    pub(crate) fn look_behind_span(
        &mut self,
        ledger: &mut Ledger,
        search_range: &SearchRange,
        commits: Vec<CommitId>,
        claims: &mut Vec<(CommitId, SearchRange)>,
    ) -> Result<Vec<SearchRange>, HuntError> {
        let step = if search_range.explains_levels() {
            let step = self.step_over(search_range, &commits);
            self.unless_limit(ledger, step)?.flatten()
        } else {
            None
        };
        let Some((culprit, seen)) = step else {
            ledger.enter_open(search_range, commits, CandidatesReason::Untestable);
            return Ok(Vec::new());
        };
        let branches = self.branches_into_span(search_range, &commits, &culprit);
        let branches = self.unless_limit(ledger, branches)?.unwrap_or_default();
        let why = if branches.is_empty() {
            CandidatesReason::Untestable
        } else {
            CandidatesReason::UntestableOrMerged
        };
        let merged = branches.iter().flat_map(|branch| branch.commits.iter().cloned());
        let among = distinct(commits.into_iter().chain(merged));
        ledger.enter_span(culprit.clone(), among.clone(), why);
        let step = FoundStep { search_range, culprit: &culprit, seen: &seen };
        let mut next = Vec::new();
        let looked = self.follow_levels_or_measure(ledger, &step).and_then(|more| {
            next.extend(more);
            self.settle_account(ledger)?;
            next.extend(self.go_on_after_span(ledger, &step, &among)?);
            Ok(())
        });
        match looked {
            Err(HuntError::Limit(limit)) => {
                ledger.note_unchecked_last(false, &limit);
                self.limit = Some(limit);
            }
            looked => looked?,
        }
        self.settle_account(ledger)?;
        let maker = self.maker_on_branch(&culprit, &branches);
        if let Some((maker, rise)) = self.unless_limit(ledger, maker)?.flatten()
            && ledger.replace_span(&culprit.info.commit, &maker)
        {
            claims.push((maker.info.commit.clone(), rise));
            self.settle_account(ledger)?;
        }
        Ok(next)
    }

    /// A later commit may have taken only the step back, and kept the rest of what the candidates
    /// changed. Measures later commits whose trees lack the own change of one candidate. If one of
    /// them surely has the older end's verdict, adds a mend there to the ledger and returns the
    /// range that begins there: a later commit causes what the newer end shows.
    fn go_on_after_span(
        &mut self,
        ledger: &mut Ledger,
        step: &FoundStep<'_>,
        among: &[CommitId],
    ) -> Result<Option<SearchRange>, HuntError> {
        let (search_range, found) = (step.search_range, &step.culprit.info.commit);
        let stands = ledger.standing_culprits().any(|one| one.info.commit == *found);
        if !stands || search_range.targets.iter().any(drifts) {
            return Ok(None);
        }
        let places = self.without_a_change_of(search_range, among, found)?;
        let Some(seen) = self.first_older(search_range, &places)? else { return Ok(None) };
        Ok(Some(goes_on_from(ledger, search_range, &seen, step.seen)))
    }

    /// An untestable span hides whether one of its commits undid an earlier found step and made a
    /// larger one: then the earlier commit and the span are candidates. If values repeat, the
    /// earlier commit stays if the newer end loses its step without it.
    pub(crate) fn doubt_before_spans(
        &mut self,
        ledger: &mut Ledger,
        whole: &SearchRange,
    ) -> Result<(), HuntError> {
        if !whole.explains_levels() {
            return Ok(());
        }
        let repeats = self.values_repeat(&whole.targets);
        let named: Vec<Culprit> = ledger.named().cloned().collect();
        let spans: Vec<(CommitId, Vec<CommitId>)> =
            ledger.found.iter().filter_map(untestable_span).collect();
        for culprit in &named {
            let commit = &culprit.info.commit;
            let Some(among) = self.first_span_after(commit, &spans)? else { continue };
            let may_tell = repeats && culprit.basis == Basis::BitExact;
            if may_tell && self.rest_makes_the_step(culprit)? {
                continue;
            }
            let either = with_span(commit, among);
            let found = commit.short();
            let open = if may_tell {
                format!("no test shows that the bad end still needs {found}")
            } else {
                "runs of one commit differ".to_owned()
            };
            let why = format!(
                "{open}, and some of these commits cannot be judged: one of them may have undone \
                 the step of {found} and made another one",
            );
            ledger.withdraw(commit, &either, why);
        }
        Ok(())
    }

    /// Says how many commits after an untestable span have no verdict. No test of the newer end
    /// tells whether it needs the span's changes, so one of these commits may have undone the step,
    /// and another one made it again, which is no candidate then.
    pub(crate) fn tell_what_follows_spans(
        &self,
        ledger: &mut Ledger,
        whole: &SearchRange,
    ) -> Result<(), HuntError> {
        if !whole.explains_levels() || !ledger.found.iter().any(|found| found.among.is_some()) {
            return Ok(());
        }
        let verdicts = self.last_verdicts()?;
        let [_, newer] = whole.ends();
        let is_unknown = |one: &&CommitId| {
            *one != newer && !matches!(verdicts.get(*one), Some(Verdict::Good | Verdict::Bad))
        };
        for found in ledger.found.iter_mut().filter(|found| found.stands()) {
            let Some((_, why)) = &mut found.among else { continue };
            let newest = &found.culprit.info.commit;
            let later = self.oracle.history.descending(newest, newer)?;
            let later = self.read_by_builds(newest, &later)?;
            let unknown = later.iter().filter(is_unknown).count();
            if unknown > 0 {
                *why = followed_by(why, unknown);
            }
        }
        Ok(())
    }

    /// The first of these untestable spans that comes after a commit.
    fn first_span_after<'s>(
        &self,
        commit: &CommitId,
        spans: &'s [(CommitId, Vec<CommitId>)],
    ) -> Result<Option<&'s [CommitId]>, HuntError> {
        for (newest, among) in spans {
            if self.oracle.history.is_ancestor(commit, newest)? {
                return Ok(Some(among.as_slice()));
            }
        }
        Ok(None)
    }

    /// The step over the candidates, as if the newest one had made it, and the newest one's runs.
    /// `None` if the newest candidate or the parent before them lacks the expected verdict.
    ///
    /// If a merge among the candidates brings a branch in, there are several such parents. One that
    /// contains the older end of the range counts first: a branch that forked off earlier lacks
    /// changes that the older end has, and these are no part of the step. Among several such
    /// parents the nearest level counts, as for the own step of a merge.
    fn step_over(
        &mut self,
        search_range: &SearchRange,
        commits: &[CommitId],
    ) -> Result<Option<(Culprit, Observation)>, HuntError> {
        let before = self.parents_before(commits)?;
        if before.len() > 1 {
            // Git may have inferred a verdict from a later commit on another line.
            for parent in &before {
                self.judge(parent, &search_range.targets)?;
            }
        }
        let history = &self.oracle.history;
        let verdicts = self.last_verdicts()?;
        let [older, newer] = search_range.ends();
        let is = |one: &CommitId, end: &CommitId, verdict| {
            one == end || verdicts.get(one) == Some(&verdict)
        };
        let mut newest = None;
        for one in commits {
            let mut comes_after_all = is(one, newer, search_range.terms.newer());
            for other in commits {
                comes_after_all = comes_after_all && history.is_ancestor(other, one)?;
            }
            if comes_after_all {
                newest = Some(one.clone());
            }
        }
        let (mut on_line, mut beside) = (Vec::new(), Vec::new());
        for one in before.into_iter().filter(|one| is(one, older, search_range.terms.older())) {
            let place = if history.is_ancestor(older, &one)? { &mut on_line } else { &mut beside };
            place.push(one);
        }
        let parents = if on_line.is_empty() { beside } else { on_line };
        let Some(commit) = newest.filter(|_| !parents.is_empty()) else { return Ok(None) };
        let measures = measures_of(&search_range.targets);
        let mut from = Vec::new();
        for parent in &parents {
            from.push(self.known_runs(parent, &measures)?);
        }
        let seen = self.known_runs(&commit, &measures)?;
        let config = &self.oracle.recipes.config;
        let (targets, terms) = (&search_range.targets, search_range.terms);
        let (effects, nearest) = effects(&seen, &from, targets, config, terms);
        let failure = search_range.targets.iter().find_map(Target::failure).cloned();
        let culprit = Culprit {
            parents: self.oracle.history.parents(&commit)?,
            basis: Basis::Sequential,
            effects,
            failure,
            ..Culprit::bare(self.oracle.history.named(&commit)?, parents[nearest].clone())
        };
        Ok(Some((culprit, seen)))
    }
}

/// If a span of untestable commits was found in place of a single commit: the newest of them, and
/// all.
pub(super) fn untestable_span(found: &FoundCommit) -> Option<(CommitId, Vec<CommitId>)> {
    let (among, why) = found.among.as_ref()?;
    let is_span =
        matches!(why, CandidatesReason::Untestable | CandidatesReason::UntestableOrMerged);
    (is_span && among.len() > 1).then(|| (found.culprit.info.commit.clone(), among.clone()))
}

/// Why the commits of a span are candidates, if so many later commits have no verdict.
fn followed_by(why: &CandidatesReason, unknown: usize) -> CandidatesReason {
    let commits = text::plural(unknown, "later commit");
    let have = if unknown == 1 { "has" } else { "have" };
    format!(
        "{why}; {commits} {have} no verdict, so the step may also have been undone after them and \
         made again by a commit that is not in this list"
    )
    .into()
}

/// A named commit and the commits of a span, each once: the span of one metric may contain a commit
/// that is named for another one.
fn with_span(commit: &CommitId, among: &[CommitId]) -> Vec<CommitId> {
    distinct([commit].into_iter().chain(among).cloned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::fixture::commit;

    #[test]
    fn the_reason_says_how_many_later_commits_have_no_verdict() {
        let said = |unknown| followed_by(&CandidatesReason::Untestable, unknown).to_string();
        assert!(said(6).starts_with("only the newest of them can be tested; 6 later commits have"));
        assert!(said(1).contains("; 1 later commit has no verdict"), "{}", said(1));
    }

    #[test]
    fn a_named_commit_inside_a_span_is_one_candidate() {
        let span = ['8', '6', '5'].map(commit);
        assert_eq!(with_span(&commit('6'), &span), ['6', '8', '5'].map(commit));
        assert_eq!(with_span(&commit('3'), &span), ['3', '8', '6', '5'].map(commit));
    }
}
