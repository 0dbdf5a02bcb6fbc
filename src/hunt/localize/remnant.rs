//! In noise, what the bad end still shows without the changes of all named commits. If that end
//! is worse than the good end by more than the tolerance, another commit makes the difference: for
//! example, one that makes a part of a named commit's step again, after an edit of another file
//! took that part back.

use crate::evaluation::{
    Account, CommitId, Finding, GuardTarget, Metric, Revert, Target, Unexplained,
};
use crate::git::{Conflicts, History};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::open_doubt;
use crate::hunt::outcome::mean_level::{Rest, has_noisy_levels};
use crate::ui::reached_limit;

use super::change::Change;
use super::patched::Patched;
use super::reversal::Reversal;

/// What the bad end without the changes shows.
enum Remnants {
    Compared {
        /// How each metric compares with the good end; `None` if it cannot be measured.
        metrics: Vec<(Metric, Option<Rest>)>,
        /// Removes the changes from a plain checkout of the end.
        patch: Vec<u8>,
        /// What became of lines of the changes that later commits edited.
        conflicts: Conflicts,
    },
    /// There is no such end, for this reason.
    Untested(String),
}

impl Driver<'_> {
    /// The finding, or candidates if the bad end stays bad in noise without the changes of all
    /// named commits. If the runs do not tell, or if none can be made (the changes do not come out,
    /// a limit, a fault of the machine), lowers the confidence in the commits and notes that.
    pub(crate) fn unless_remnant(&mut self, mut finding: Finding) -> Result<Finding, HuntError> {
        let is_enough = self.begun.options.first_only;
        if is_enough || self.main_to_explain(&finding).is_none() {
            return Ok(finding);
        }
        let [_, end] = self.begun.ends().map(CommitId::clone);
        let is_end = finding.culprits.iter().all(|one| one.info.commit == end);
        if is_end || !self.terms().explains_levels() || self.has_drifted {
            return Ok(finding);
        }
        let own = self.noisy_targets_of(&finding)?;
        if own.is_empty() {
            return Ok(finding);
        }
        let all: Vec<Metric> = own.iter().map(|target| target.guard.metric.clone()).collect();
        if is_void(&finding) {
            doubt_untested(&mut finding, &all, "another part of the program may run then");
            return Ok(finding);
        }
        let told = match self.limit.clone() {
            Some(limit) => Err(HuntError::Limit(limit)),
            None => self.remnants(&finding, &own, &end),
        };
        let (metrics, patch, conflicts) = match told {
            Err(HuntError::Limit(limit)) => {
                let why = reached_limit(&limit);
                self.limit = Some(limit);
                doubt_untested(&mut finding, &all, &why);
                return Ok(finding);
            }
            // The commits are found: a machine fault must not lose the answer, nor make it certain.
            Err(error) if !self.must_end(&error) => {
                doubt_untested(&mut finding, &all, &error.to_string());
                return Ok(finding);
            }
            Err(error) => return Err(error),
            Ok(Remnants::Untested(why)) => {
                doubt_untested(&mut finding, &all, &why);
                return Ok(finding);
            }
            Ok(Remnants::Compared { metrics, patch, conflicts }) => (metrics, patch, conflicts),
        };
        let are = |wanted: Option<Rest>| -> Vec<Metric> {
            let own = metrics.iter().filter(|(_, rest)| *rest == wanted);
            own.map(|(metric, _)| metric.clone()).collect()
        };
        let beyond = are(Some(Rest::Beyond));
        if !beyond.is_empty() {
            self.keep_removal(&finding, &patch)?;
            let unexplained = beyond.into_iter().map(Unexplained::Metric).collect();
            return self.incomplete(finding, unexplained);
        }
        let unmeasured = are(None);
        if !unmeasured.is_empty() {
            let names: Vec<String> = unmeasured.iter().map(Metric::to_string).collect();
            let why = format!("runs without their changes give no {}", names.join(" and no "));
            doubt_untested(&mut finding, &unmeasured, &why);
        }
        for metric in are(Some(Rest::Within)) {
            finding.notes.push(nothing_left(&metric, conflicts));
        }
        for metric in are(Some(Rest::Open)) {
            lower_confidence(&mut finding, &metric);
            finding.notes.push(format!(
                "{metric} varies too much to tell whether the bad end is good again without the \
                 named commits"
            ));
        }
        Ok(finding)
    }

    /// The targets in noise that the named commits move.
    fn noisy_targets_of(&self, finding: &Finding) -> Result<Vec<GuardTarget>, HuntError> {
        let is_moved =
            |metric: &Metric| finding.culprits.iter().any(|one| one.effect_on(metric).is_some());
        let (targets, _) = self.sought()?;
        let own = targets.iter().filter_map(Target::guard);
        let own = own.filter(|target| has_noisy_levels(target) && is_moved(&target.guard.metric));
        Ok(own.cloned().collect())
    }

    /// What is left of the metrics of these targets.
    fn remnants(
        &mut self,
        finding: &Finding,
        own: &[GuardTarget],
        end: &CommitId,
    ) -> Result<Remnants, HuntError> {
        for culprit in &finding.culprits {
            if self.common_recipe(culprit)?.is_none() {
                let commit = culprit.info.commit.short();
                let why = format!("oracle.toml has different recipes for {commit} and its parent");
                return Ok(Remnants::Untested(why));
            }
        }
        let (patched, conflicts) = self.end_without_all(finding, end)?;
        let (recipe, patch) = match patched {
            Patched::Done { recipe, patch } => (recipe, patch),
            Patched::Conflict(said) => {
                let said = said.lines().next().unwrap_or_default();
                let why = format!("their changes do not come out of it ({said})");
                return Ok(Remnants::Untested(why));
            }
            Patched::Same => {
                return Ok(Remnants::Untested(
                    "it does not have their changes any more".to_owned(),
                ));
            }
        };
        self.announce_end_without(&finding.culprits)?;
        let mut metrics = Vec::new();
        for target in own {
            let metric = &target.guard.metric;
            let account = finding.accounts.iter().find(|account| account.metric == *metric);
            let [gain, error] = self.gain_of_named(finding, target)?;
            let expected = [expected(account) + gain, error];
            let rest = self.rest_without(target, end, &recipe, expected)?;
            let is_left = account.is_some_and(|it| it.left() > it.limit.max(0.0));
            // Two figures from different runs say that more than the tolerance is left.
            let rest = rest.map(|(rest, is_beyond)| match rest {
                Rest::Open if is_beyond && is_left => Rest::Beyond,
                rest => rest,
            });
            metrics.push((metric.clone(), rest));
        }
        Ok(Remnants::Compared { metrics, patch, conflicts })
    }

    /// Stores the patch that removes the changes of all named commits, unless another test of the
    /// end has stored one.
    fn keep_removal(&self, finding: &Finding, patch: &[u8]) -> Result<(), HuntError> {
        let is_one = finding.culprits.len() == 1;
        let is_kept = if is_one {
            finding.cause.as_ref().is_some_and(|cause| cause.revert.is_some())
        } else {
            finding.joint_revert.is_some()
        };
        if is_kept {
            return Ok(());
        }
        if is_one {
            self.hunt.keep_revert(patch)?;
        } else {
            self.hunt.keep_joint_revert(patch)?;
        }
        Ok(())
    }

    /// The end without the changes of all named commits, the last one removed first. If the removal
    /// conflicts, the end has the lines of these changes as they were before the commits. Also
    /// returns which of the two it is.
    fn end_without_all(
        &mut self,
        finding: &Finding,
        end: &CommitId,
    ) -> Result<(Patched, Conflicts), HuntError> {
        let history = History::open(self.oracle.history.repository())?;
        let mut reverts = Vec::new();
        for culprit in finding.culprits.iter().rev() {
            let change = Change::of(&history, &culprit.parent, culprit)?;
            match self.reversal(end, culprit, &change, &[])? {
                Reversal::Trees(trees) => reverts.push(trees),
                Reversal::Conflict(why) => return Ok((Patched::Conflict(why), Conflicts::Stay)),
            }
        }
        Ok(match self.patched_with(end, &reverts, Conflicts::Stay)? {
            Patched::Conflict(_) => {
                let replaced = Conflicts::Replaced;
                (self.patched_with(end, &reverts, replaced)?, replaced)
            }
            patched => (patched, Conflicts::Stay),
        })
    }
}

/// The note that the bad end without the named commits has no step of this metric. If lines were
/// replaced, this says nothing of what later commits made of these lines.
fn nothing_left(metric: &Metric, conflicts: Conflicts) -> String {
    if conflicts == Conflicts::Stay {
        return format!(
            "the bad end was built and run without the changes of all named commits: no other \
             step of {metric} is left there"
        );
    }
    format!(
        "the bad end was built and run with the lines of all named commits as they were before \
         them, so also without what later commits made of these lines: no step of {metric} is left \
         in the other lines"
    )
}

/// Lowers the confidence in the commits that move a metric.
fn lower_confidence(finding: &mut Finding, metric: &Metric) {
    let own = finding.culprits.iter_mut();
    own.filter(|one| one.effect_on(metric).is_some()).for_each(open_doubt::lower_confidence);
}

/// Lowers the confidence in the commits that move these metrics, and notes why the bad end without
/// these commits was not compared with the good end.
fn doubt_untested(finding: &mut Finding, metrics: &[Metric], why: &str) {
    for metric in metrics {
        lower_confidence(finding, metric);
    }
    finding.notes.push(format!(
        "no test tells whether the bad end is good again without the named commits: {why}"
    ));
}

/// Whether a test of the bad end without a named commit, or without all of them, shows that another
/// part of the program may run then. What is left there is no step of another commit.
fn is_void(finding: &Finding) -> bool {
    let single = finding.cause.as_ref().and_then(|cause| cause.revert.as_ref());
    let joint = finding.joint_revert.as_ref().map(|joint| &joint.revert);
    let is_other = |revert: &Revert| matches!(revert, Revert::Unlike | Revert::BreaksOther(_));
    single.into_iter().chain(joint).any(is_other)
}

/// How much worse the bad end may be without the named commits, beside the tolerance: what many
/// small steps make, or what the named commits took back themselves. In the metric's unit.
fn expected(account: Option<&Account>) -> f64 {
    account.map_or(0.0, |account| (account.rest - account.left()).max(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::{Culprit, Outcome};
    use crate::hunt::open_doubt::MOST_CERTAIN;
    use crate::oracle::fixture::{culprit, effect};

    #[test]
    fn replaced_lines_say_nothing_of_what_later_commits_made_of_them() {
        let ppl = Metric::of("ppl");
        let told = [Conflicts::Stay, Conflicts::Replaced].map(|one| nothing_left(&ppl, one));
        assert!(told[0].ends_with("no other step of ppl is left there"), "{}", told[0]);
        assert!(told[1].ends_with("no step of ppl is left in the other lines"), "{}", told[1]);
    }

    #[test]
    fn without_the_test_the_confidence_in_commits_that_move_its_metrics_falls() {
        let of_ppl = Culprit { effects: vec![effect(100.0, 110.0, 1.0)], ..culprit('3', '2') };
        let mut finding = Finding {
            culprits: vec![of_ppl, culprit('5', '4')],
            ..Finding::plain(Outcome::Culprit, "3 is the first bad commit")
        };
        for one in &mut finding.culprits {
            one.confidence = 0.9996;
        }
        doubt_untested(&mut finding, &[Metric::of("ppl")], "the budget of 25 runs is spent");
        let [moves, other] = [0, 1].map(|place: usize| finding.culprits[place].confidence);
        assert_eq!((moves, other), (MOST_CERTAIN, 0.9996));
        assert!(finding.notes[0].ends_with("the budget of 25 runs is spent"));
    }

    #[test]
    fn what_the_account_explains_besides_may_be_left() {
        let account = |in_small_steps, taken_back| Account {
            metric: Metric::of("ppl"),
            total: 15.0,
            explained: 10.0,
            rest: 5.0,
            in_small_steps,
            taken_back,
            overlap: None,
            error: None,
            limit: 3.0,
        };
        let allowed = [(false, None), (true, None), (false, Some(4.0))]
            .map(|(small, back)| expected(Some(&account(small, back))));
        assert!(allowed[0] < 1e-12 && expected(None) < 1e-12);
        assert!((allowed[1] - 5.0).abs() < 1e-12 && (allowed[2] - 4.0).abs() < 1e-12);
    }
}
