//! Whether HEAD alone changes what a test with a modified tree shows. HEAD of such a tree is a
//! commit of our own, which is on no branch and has no tag. A build that asks git for these may
//! choose other code for this reason alone; then each such test seems to heal the bad end, and says
//! nothing.
//!
//! The control is the same endpoint with one more file, which no build looks for. It is made only
//! if builds or runs ask what our commit may answer in another way, and if a test shows something
//! else than the endpoint does. A tag may also make the step itself, without any test: if it is
//! exactly at an endpoint, and the first bad commit is this endpoint or follows it.

use std::collections::{BTreeMap, BTreeSet};

use crate::evaluation::{
    CommitId, EntryContent, EntryFile, Finding, GitQuestion, GuardTarget, Judgement, Outcome,
    Target, TreeEntry, Value, Verdict,
};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::open_doubt::lower_confidence;
use crate::oracle::{Observation, OracleError};

use super::patched::Patched;

/// The file that the control adds.
const FILE: &[u8] = b".bisect-ppl-control";

/// Why a test does not tell.
const REASON: &str = "the build or run asks git about branches or tags, or reads .git itself, and \
                      a changed tree has no branch and no tag; no control shows that this makes no \
                      difference";

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
        if !self.may_see_head(&end, targets)? || self.shows_itself_with_own_head(&end)? {
            return Ok((judgement, seen));
        }
        let (verdict, reason) = (Verdict::Unknown, REASON.to_owned());
        let unknown = Judgement { verdict, skip: None, reason, broken: Vec::new() };
        Ok((unknown, Observation { samples: BTreeMap::new(), ..seen }))
    }

    /// The finding, with less confidence in commits whose step a tag alone may make, and in all
    /// commits if tests with a modified tree say nothing because of HEAD, or if this cannot be
    /// tested: a few runs do not judge an endpoint in noise.
    pub(crate) fn lower_if_references_matter(
        &mut self,
        mut finding: Finding,
    ) -> Result<Finding, HuntError> {
        if finding.outcome != Outcome::Culprit {
            return Ok(finding);
        }
        let of_tags = self.made_by_tags(&finding)?;
        let are_tests_void = self.begun.options.localize && self.are_tests_void()?;
        let [_, newer] = self.begun.ends().map(CommitId::clone);
        for culprit in &mut finding.culprits {
            let commit = &culprit.info.commit;
            // That the newer end itself makes the step rests on no test with a modified tree.
            if of_tags.contains(commit) || (are_tests_void && *commit != newer) {
                lower_confidence(culprit);
                culprit.doubts.reference_doubt = true;
            }
        }
        Ok(finding)
    }

    /// Whether tests with a modified tree may say nothing because of HEAD.
    fn are_tests_void(&mut self) -> Result<bool, HuntError> {
        if self.own_head_shows.values().any(|shows_itself| !shows_itself) {
            return Ok(true);
        }
        let (whole, _) = self.sought()?;
        if self.judged_alone(&whole).len() == whole.len() {
            return Ok(false);
        }
        // No control can tell. A program that only opens `.git`, as Cargo does, may ask nothing.
        let [_, newer] = self.begun.ends().map(CommitId::clone);
        // The commits are found: a fault of the machine must not lose the answer.
        let asked = self.oracle.asked_git(&newer, &whole).map_err(HuntError::from);
        let asked = self.unless_faulty(asked)?;
        let is_asking = self.asks_references(&asked, &newer).map_err(HuntError::from);
        self.unless_faulty(is_asking)
    }

    /// The named commits whose step a tag at an endpoint alone may make.
    fn made_by_tags(&mut self, finding: &Finding) -> Result<BTreeSet<CommitId>, HuntError> {
        let [older, newer] = self.begun.ends().map(CommitId::clone);
        let mut found = BTreeSet::new();
        for culprit in &finding.culprits {
            for (side, end) in [(&culprit.info.commit, &newer), (&culprit.parent, &older)] {
                if side == end {
                    let matters = self.tag_matters(end);
                    if self.unless_faulty(matters)? {
                        found.insert(culprit.info.commit.clone());
                    }
                }
            }
        }
        Ok(found)
    }

    /// Whether a tag is exactly at an endpoint, builds or runs ask git for it, and no control shows
    /// that the endpoint is the same without it.
    fn tag_matters(&mut self, end: &CommitId) -> Result<bool, HuntError> {
        let (whole, _) = self.sought()?;
        let asked = self.oracle.asked_git(end, &whole)?;
        let asks = [GitQuestion::References, GitQuestion::Describe];
        if !asks.iter().any(|question| asked.contains(question)) || !self.is_tagged(end)? {
            return Ok(false);
        }
        let is_testable =
            self.begun.options.localize && self.judged_alone(&whole).len() == whole.len();
        Ok(!is_testable || !self.shows_itself_with_own_head(end)?)
    }

    /// Whether a build or a run of the commit may see that HEAD of a modified tree is our commit.
    fn may_see_head(&mut self, commit: &CommitId, targets: &[Target]) -> Result<bool, HuntError> {
        let asked = self.oracle.asked_git(commit, targets)?;
        Ok(asked.contains(&GitQuestion::Unseen) || self.asks_references(&asked, commit)?)
    }

    /// Whether these questions about a commit are about references, which our commit does not have.
    fn asks_references(
        &self,
        asked: &BTreeSet<GitQuestion>,
        commit: &CommitId,
    ) -> Result<bool, OracleError> {
        let asks_for_tag = asked.contains(&GitQuestion::Describe);
        let is_asking = asked.contains(&GitQuestion::References);
        Ok(is_asking || (asks_for_tag && self.is_tagged(commit)?))
    }

    /// Whether a tag is exactly at a commit.
    fn is_tagged(&self, commit: &CommitId) -> Result<bool, OracleError> {
        let engine = &self.oracle.recipes.engine;
        Ok(engine.history.repository().has_tag(engine.commit(commit))?)
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
    pub(super) fn verdict_of_end(&self, end: &CommitId) -> Verdict {
        if *end == self.begun.good.commit { Verdict::Good } else { Verdict::Bad }
    }
}

fn is_untold(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Skip | Verdict::Unknown)
}

/// Whether a test has the verdict of an endpoint and, if values repeat, the endpoint's levels.
/// `own`: the endpoint's verdict.
pub(super) fn shows_end(
    own: Verdict,
    verdict: Verdict,
    seen: &Observation,
    targets: &[Target],
) -> bool {
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
