//! What a search in noise writes to the journal: verdicts, and the posterior.

use crate::evaluation::{CommitId, Judgement, Phase, SkipReason, Verdict};
use crate::hunt::HuntError;
use crate::hunt::verdict::{VerdictContext, write_down};
use crate::oracle::Request;
use crate::search::{Levels, MeasuredCommit, Noisy};
use crate::store::journal::{CommitPosterior, Event, PosteriorSnapshot};
use crate::ui::text;

use super::{SHARE, Search};

/// P(bad) above which a commit is bad, and P(good) above which it is good.
const SURE: f64 = 0.95;
/// Unmeasured commits below this probability of being the first bad one are not journaled.
const NEGLIGIBLE: f64 = 1e-6;

impl Search<'_, '_> {
    /// Writes that a commit, given by its index, cannot be tested. This is its last verdict, also
    /// if it has samples from before.
    pub(super) fn write_skip(
        &mut self,
        one: usize,
        skip: SkipReason,
        reason: String,
        number: usize,
    ) -> Result<(), HuntError> {
        let verdict = Verdict::Skip;
        self.verdicts.insert(one, verdict);
        let commit = self.commits[one].clone();
        let judgement = Judgement { verdict, skip: Some(skip), reason, broken: Vec::new() };
        self.write(&commit, &judgement, number)
    }

    /// Forgets the verdicts that this search wrote, because a confirmation wrote others after them:
    /// the search writes its own again. A skip is kept: it stays the last verdict on its commit.
    pub(super) fn forget_verdicts(&mut self) {
        self.verdicts.retain(|_, verdict| *verdict == Verdict::Skip);
    }

    fn write(
        &mut self,
        commit: &CommitId,
        judgement: &Judgement,
        search_number: usize,
    ) -> Result<(), HuntError> {
        let measures = [self.target.guard.metric.measure.clone()];
        let phase = Phase::Search;
        let seen = self.driver.oracle.evaluate(Request::look(commit, &measures, phase))?;
        write_down(
            &mut self.driver.oracle,
            &seen,
            judgement,
            VerdictContext { search_number, phase, left: None },
        )
    }

    /// Writes each changed verdict of a measured commit to the journal, even a change to unknown.
    pub(super) fn write_verdicts(
        &mut self,
        noisy: &Noisy<'_>,
        number: usize,
    ) -> Result<(), HuntError> {
        let Some(belief) = noisy.belief() else { return Ok(()) };
        let mut measured: Vec<usize> = noisy
            .samples()
            .iter()
            .filter_map(|(place, _)| match place {
                MeasuredCommit::Commit(one) => Some(*one),
                MeasuredCommit::Good => None,
            })
            .collect();
        measured.sort_unstable();
        measured.dedup();
        measured.retain(|&one| one + 1 < self.commits.len());
        for one in measured {
            let bad = self.orientation.p_bad(belief.bad[one]);
            let verdict = match bad {
                bad if bad > SURE => Verdict::Bad,
                bad if bad < 1.0 - SURE => Verdict::Good,
                _ => Verdict::Unknown,
            };
            let before = self.verdicts.get(&one).copied().unwrap_or(Verdict::Unknown);
            if verdict == before || before == Verdict::Skip {
                continue;
            }
            self.verdicts.insert(one, verdict);
            let metric = &self.target.guard.metric;
            let runs =
                noisy.samples().iter().filter(|(p, _)| *p == MeasuredCommit::Commit(one)).count();
            let reason = format!(
                "bad with a probability of {bad:.4}: {metric}, {}",
                text::plural(runs, "sample")
            );
            let broken = if verdict == Verdict::Bad { vec![metric.clone()] } else { Vec::new() };
            let commit = self.commits[one].clone();
            self.write(&commit, &Judgement { verdict, skip: None, reason, broken }, number)?;
        }
        Ok(())
    }

    /// Writes the current posterior to the journal; returns the smallest set.
    pub(super) fn write_posterior(
        &mut self,
        noisy: &Noisy<'_>,
        number: usize,
    ) -> Result<Vec<CommitId>, HuntError> {
        let Some(belief) = noisy.belief() else { return Ok(Vec::new()) };
        let count = |one: usize| {
            noisy.samples().iter().filter(|(p, _)| *p == MeasuredCommit::Commit(one)).count()
        };
        let commits = (0..self.commits.len())
            .filter(|&one| belief.first[one] > NEGLIGIBLE || count(one) > 0)
            .map(|one| CommitPosterior {
                commit: self.commits[one].clone(),
                first: belief.first[one],
                bad: self.orientation.p_bad(belief.bad[one]),
                samples: count(one),
            })
            .collect();
        let smallest_set: Vec<CommitId> =
            belief.smallest_set(SHARE).into_iter().map(|one| self.commits[one].clone()).collect();
        let mut known = self.target.noise.expect("a search in noise");
        if let Some(Levels { good, bad, sd }) = self.levels(noisy) {
            (known.good, known.bad, known.sd, known.paired) = (good, bad, sd, noisy.is_paired());
        }
        let event = PosteriorSnapshot {
            search_number: number,
            metric: self.target.guard.metric.clone(),
            noise: known,
            runs: noisy.runs(),
            commits,
            smallest_set: smallest_set.clone(),
        };
        self.driver.oracle.recorder.event(Event::Weighed(Box::new(event)))?;
        Ok(smallest_set)
    }
}
