//! Whether HEAD alone changes what a test with a modified tree shows. HEAD of such a tree is a
//! commit of our own, which is on no branch and has no tag. A build that asks git for these may
//! choose other code for this reason alone; then each such test seems to heal the bad end, and says
//! nothing.
//!
//! The control is the same endpoint with one more file, which no build looks for. It is made only
//! if builds or runs ask for references, and if a test shows something else than the endpoint does.

use std::collections::BTreeMap;

use crate::evaluation::{
    CommitId, EntryContent, EntryFile, Finding, GuardTarget, Judgement, Outcome, Target, TreeEntry,
    Value, Verdict,
};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::open_doubt::lower_confidence;
use crate::oracle::{Observation, measures_of};

use super::revert::Patched;

/// The file that the control adds.
const FILE: &[u8] = b".bisect-ppl-control";

/// Why a test does not tell.
const REASON: &str = "the build or run asks git about branches or tags, and a changed tree has \
                      none; no control shows that this makes no difference";

impl Driver<'_> {
    /// The judgement of a commit with a modified tree, or that it is unknown if HEAD alone may have
    /// made the difference. A commit that is no endpoint is compared with the newer end.
    pub(super) fn unless_head_matters(
        &mut self,
        commit: &CommitId,
        targets: &[Target],
        (judgement, seen): (Judgement, Observation),
    ) -> Result<(Judgement, Observation), HuntError> {
        let [older, newer] = self.begun.ends().map(CommitId::clone);
        let end = if *commit == older { older } else { newer };
        let own = self.verdict_of_end(&end);
        if is_untold(judgement.verdict) || shows_end(own, judgement.verdict, &seen, targets) {
            return Ok((judgement, seen));
        }
        if !self.asks_references(&end, targets)? || self.shows_itself_with_own_head(&end)? {
            return Ok((judgement, seen));
        }
        let (verdict, reason) = (Verdict::Unknown, REASON.to_owned());
        let unknown = Judgement { verdict, skip: None, reason, broken: Vec::new() };
        Ok((unknown, Observation { samples: BTreeMap::new(), ..seen }))
    }

    /// The finding, with less confidence in its commits if tests with a modified tree say nothing
    /// because of HEAD, or if this cannot be tested: a few runs do not judge an endpoint in noise.
    pub(crate) fn lower_if_references_matter(
        &mut self,
        mut finding: Finding,
    ) -> Result<Finding, HuntError> {
        if finding.outcome != Outcome::Culprit || !self.begun.options.localize {
            return Ok(finding);
        }
        let [_, newer] = self.begun.ends().map(CommitId::clone);
        let is_contradicted = self.own_head_shows.values().any(|shows_itself| !shows_itself);
        let (whole, _) = self.sought()?;
        let is_untestable = self.judged_alone(&whole).len() < whole.len();
        let is_asking = if is_untestable && !is_contradicted {
            // The commits are found: a fault of the machine must not lose the answer.
            let asks = self.asks_references(&newer, &whole);
            self.unless_faulty(asks)?
        } else {
            false
        };
        if is_contradicted || is_asking {
            let removed = finding.culprits.iter_mut().filter(|one| one.info.commit != newer);
            for culprit in removed {
                lower_confidence(culprit);
                culprit.doubts.reference_doubt = true;
            }
        }
        Ok(finding)
    }

    /// Whether a build or a run of the commit asked git which branches or tags lead to HEAD.
    fn asks_references(
        &mut self,
        commit: &CommitId,
        targets: &[Target],
    ) -> Result<bool, HuntError> {
        let recipes = &self.oracle.recipes;
        let key = recipes.build_key_of(commit, &recipes.at(commit)?)?;
        let builds = self.oracle.store.builds(&key)?;
        if builds.iter().any(|build| build.asks_references) {
            return Ok(true);
        }
        let seen = self.known_runs(commit, &measures_of(targets))?;
        let mut loaded = seen.samples.values().flatten().filter_map(|run| run.loaded.as_ref());
        Ok(loaded.any(|loaded| loaded.asks_references))
    }

    /// Whether an endpoint with a commit of our own as HEAD shows what it shows as a commit. False
    /// if this cannot be tested now. True if no target can be tested so.
    fn shows_itself_with_own_head(&mut self, end: &CommitId) -> Result<bool, HuntError> {
        if let Some(known) = self.own_head_shows.get(end) {
            return Ok(*known);
        }
        let (whole, _) = self.sought()?;
        let targets = self.judged_alone(&whole);
        if targets.is_empty() {
            return Ok(true);
        }
        let content = EntryContent::Bytes(b"A test of bisect-ppl.\n".to_vec());
        let file = Some(EntryFile { mode: "100644".to_owned(), content });
        let added = TreeEntry { path: FILE.to_vec(), file };
        let plain = self.oracle.recipes.tree_with(end, Vec::new())?;
        let with_file = self.oracle.recipes.tree_with(end, vec![added])?;
        let shows_itself = match self.patched(end, &[[plain, with_file]])? {
            Patched::Done { recipe, .. } => {
                let judged = self.judge_modified(end, &recipe, &targets)?;
                // After a limit of the hunt.
                let Some((judgement, seen)) = judged else { return Ok(false) };
                shows_end(self.verdict_of_end(end), judgement.verdict, &seen, &targets)
            }
            Patched::Same | Patched::Conflict(_) => false,
        };
        self.own_head_shows.insert(end.clone(), shows_itself);
        Ok(shows_itself)
    }

    /// The verdict on an endpoint.
    fn verdict_of_end(&self, end: &CommitId) -> Verdict {
        if *end == self.begun.good.commit { Verdict::Good } else { Verdict::Bad }
    }
}

fn is_untold(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Skip | Verdict::Unknown)
}

/// Whether a test has the verdict of an endpoint, and its levels where values repeat. `own`: the
/// endpoint's verdict.
fn shows_end(own: Verdict, verdict: Verdict, seen: &Observation, targets: &[Target]) -> bool {
    let is_same = |target: &GuardTarget| {
        let level = if own == Verdict::Good { &target.baseline } else { &target.bad };
        let shown = seen.level(&target.guard.metric);
        target.noise.is_some() || shown.is_none_or(|shown| is_near(&shown, level, target.limit))
    };
    verdict == own && targets.iter().filter_map(Target::guard).all(is_same)
}

/// Whether two levels differ by no more than the tolerance.
fn is_near(one: &Value, other: &Value, limit: f64) -> bool {
    match [one, other].map(Value::number) {
        [Some(a), Some(b)] => a.to_bits() == b.to_bits() || (a - b).abs() <= limit.max(0.0),
        _ => one == other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::GuardForm;
    use crate::oracle::fixture::{at, target, unbuildable};

    #[test]
    fn a_test_shows_the_end_if_verdict_and_level_are_the_ends() {
        let targets = [Target::Guard(target(GuardForm::MaxIncrease(0.1), 7.0, 8.0))];
        let shows = |own, verdict, seen: &Observation| shows_end(own, verdict, seen, &targets);
        let (good, bad) = (Verdict::Good, Verdict::Bad);
        assert!(shows(bad, bad, &at('1', &[8.0])));
        assert!(shows(bad, bad, &at('1', &[8.05])));
        assert!(!shows(bad, bad, &at('1', &[7.5])), "a part of the step is gone");
        assert!(!shows(bad, good, &at('1', &[7.0])));
        assert!(shows(good, good, &at('1', &[7.0])));
        assert!(!shows(good, bad, &at('1', &[8.0])));
        // A failure has no level.
        assert!(shows(bad, bad, &unbuildable('1', "x")));
    }
}
