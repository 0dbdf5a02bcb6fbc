//! Whether a later commit is better than an earlier one if its own runs differ. A single stray run
//! neither makes a mend nor hides one: the share of better runs decides.

use crate::evaluation::{CommitId, GuardTarget, Phase, Target, Verdict};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::run_verdicts::is_surely_untestable;
use crate::oracle::{Request, measures_of};

use super::account::Ledger;
use super::hidden_cause::WhyHidden;
use super::level::Level;
use super::suspects::{MOST_RUNS_TO_BE_SURE, independent};

/// If runs differ, this many times as many are needed as if all agree.
const MORE_IF_MIXED: usize = 2;

/// Whether a commit is better than an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IsBetter {
    Yes,
    No,
    /// Its runs do not tell.
    Open,
}

impl IsBetter {
    /// A commit is on the side that at least three in four of its runs show.
    fn of(better: usize, runs: usize) -> Self {
        if 4 * better >= 3 * runs {
            Self::Yes
        } else if 4 * (runs - better) >= 3 * runs {
            Self::No
        } else {
            Self::Open
        }
    }
}

impl Driver<'_> {
    /// Whether a commit is better than `level` by more than the tolerance in most of its runs, some
    /// of which differ. Makes runs until that is clear, but no more than [`MOST_RUNS_TO_BE_SURE`].
    /// `verdict`: the one that a better commit has.
    pub(super) fn is_mostly_better(
        &mut self,
        commit: &CommitId,
        target: &GuardTarget,
        level: f64,
        verdict: Verdict,
    ) -> Result<IsBetter, HuntError> {
        let (metric, limit) = (&target.guard.metric, target.limit.max(0.0));
        let targets = [Target::Guard(target.clone())];
        let Some(enough) = self.runs_to_be_sure(verdict, &targets)? else {
            return Ok(IsBetter::No);
        };
        let least = (MORE_IF_MIXED * enough).min(MOST_RUNS_TO_BE_SURE);
        let measures = measures_of(&targets);
        let look = Request::look(commit, &measures, Phase::Search);
        let recipe = self.oracle.recipes.at(commit)?;
        let by_builds = self.is_flaky && self.builds_differ(&targets)?;
        let rebuild = by_builds || self.known_to_repeat(&targets, [commit.clone()])? != Some(true);
        let mut seen = self.oracle.evaluate(look)?;
        loop {
            let numbers = seen.numbers(metric);
            let is_better = |x: &&f64| target.guard.is_worse_by(**x, level, limit);
            let better = numbers.iter().filter(is_better).count();
            if better == 0 || is_surely_untestable(&seen, &targets, &recipe) {
                return Ok(IsBetter::No);
            }
            let told = IsBetter::of(better, seen.values(metric).len());
            let votes = independent(seen.of(&metric.measure), by_builds);
            if votes >= MOST_RUNS_TO_BE_SURE || (votes >= least && told != IsBetter::Open) {
                return Ok(told);
            }
            let runs = seen.fewest_runs() + 1;
            seen = self.oracle.evaluate(Request { runs, rebuild, ..look })?;
        }
    }

    /// Records that each found commit up to the last worse one may have been undone where the runs
    /// do not tell whether the level falls. `worse`: the last worse commit; `open`: the one whose
    /// runs do not tell.
    pub(super) fn note_perhaps_mended(
        &self,
        ledger: &mut Ledger,
        target: &GuardTarget,
        [worse, open]: [&Level; 2],
    ) -> Result<(), HuntError> {
        let [_, newer] = self.begun.ends();
        let metric = &target.guard.metric;
        let found = ledger.found.iter().map(|found| &found.culprit);
        let moved = found.filter(|culprit| culprit.effect_on(metric).is_some());
        let commits: Vec<CommitId> = moved.map(|culprit| culprit.info.commit.clone()).collect();
        for commit in commits {
            if self.oracle.history.is_ancestor(&commit, &worse.commit)? {
                let why = WhyHidden::PerhapsGoneAt(open.commit.clone());
                ledger.hides(&commit, &self.chain(&commit, newer)?, why);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_in_four_runs_tell_whether_a_commit_is_better() {
        assert_eq!(IsBetter::of(7, 8), IsBetter::Yes);
        assert_eq!(IsBetter::of(6, 8), IsBetter::Yes);
        assert_eq!(IsBetter::of(5, 8), IsBetter::Open);
        assert_eq!(IsBetter::of(3, 8), IsBetter::Open);
        assert_eq!(IsBetter::of(2, 8), IsBetter::No);
        assert_eq!(IsBetter::of(12, 24), IsBetter::Open);
    }
}
