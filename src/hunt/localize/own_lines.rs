//! If later commits edited the lines of a named commit's change, or lines beside them, tests
//! whether the change itself still has an effect at the newer end. With the lines as they were
//! before, that end also loses the lines of the later commits. Such a commit may have switched the
//! change off in another file and added lines that make the same step.

use crate::config::Config;
use crate::evaluation::{
    Cause, CommitId, Culprit, Finding, GuardTarget, Revert, Target, Value, Verdict,
};
use crate::git::{Conflicts, History};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::terms::SearchTerms;
use crate::hunt::undone_effects::with_lasting_effects;
use crate::oracle::Observation;
use crate::search::{Side, Step};

use super::change::{Change, Part};
use super::left::{SAME, step_or_whole};
use super::open_change::OpenChange;
use super::pairs::EndNeed;
use super::revert::Patched;
use super::step::SHARE;
use super::undone::cause_of_effects;

/// What an endpoint with a patch shows: the verdict, and the values of its runs.
type Seen = (Verdict, Observation);

impl Driver<'_> {
    /// The newer end with the lines of a commit's change as that commit made them, without what
    /// later commits made of them. It differs from the end with the lines as they were before
    /// ([`Self::patched_without`] with [`Conflicts::Replaced`]) by the commit's change alone.
    pub(super) fn end_with_own_lines(
        &mut self,
        end: &CommitId,
        culprit: &Culprit,
        change: &Change<'_>,
        kept: &[Part],
    ) -> Result<Patched, HuntError> {
        let [without, whole] = self.step_trees(culprit, change, kept)?;
        let differences = [[whole.clone(), without.clone()], [without, whole]];
        self.patched_with(end, &differences, Conflicts::Replaced)
    }

    /// In noise, if the end loses the step with the lines as they were before the commit: whether
    /// the commit's own lines make the step there, without what later commits made of them.
    /// `old_lines`: the recipe of that test, and how many of its runs it used.
    pub(super) fn own_lines_in_noise(
        &mut self,
        end: &CommitId,
        culprit: &Culprit,
        change: &Change<'_>,
        tested: (&GuardTarget, Step),
        old_lines: (&Config, usize),
    ) -> Result<EndNeed, HuntError> {
        let recipe = match self.end_with_own_lines(end, culprit, change, &[])? {
            Patched::Done { recipe, .. } => recipe,
            // Later commits have no lines there, so the lost step is not theirs.
            Patched::Same => return Ok(EndNeed::LinesNeeded),
            Patched::Conflict(_) => return Ok(EndNeed::Open),
        };
        let recipes = [old_lines, (&*recipe, 0)];
        Ok(match self.pairs_of_recipes(end, recipes, tested, &mut 0)? {
            Some(Side::Good) => EndNeed::LaterLines,
            Some(Side::Bad) => EndNeed::LinesNeeded,
            None => EndNeed::Open,
        })
    }

    /// Where values repeat and the only named commit does not come out of the newer end: the
    /// commit, if its change has no effect there. If no test tells, lowers the confidence in the
    /// commit and notes that. Tests nothing if that end shows exactly what the commit shows: that
    /// does not make the commit certain, but no test is worth its builds then.
    pub(crate) fn idle_own_lines(
        &mut self,
        finding: &mut Finding,
    ) -> Result<Option<OpenChange>, HuntError> {
        let Some(culprit) = self.main_to_explain(finding).cloned() else { return Ok(None) };
        let cause = finding.cause.clone();
        let does_conflict = |cause: &Cause| matches!(cause.revert, Some(Revert::Conflict(_)));
        let Some(cause) = cause.filter(does_conflict) else { return Ok(None) };
        let (targets, _) = self.sought()?;
        let is_asked = finding.culprits.len() == 1
            && self.terms().explains_levels()
            && self.values_repeat(&targets);
        let Some(lasting) = with_lasting_effects(&culprit, &self.undone).filter(|_| is_asked)
        else {
            return Ok(None);
        };
        let told = match self.effect_of_own_lines(&lasting, &cause) {
            Err(HuntError::Limit(limit)) => {
                self.limit = Some(limit);
                EndNeed::Open
            }
            // The commit is found: a machine fault must not lose the answer, nor make it certain.
            Err(error) if !self.must_end(&error) => EndNeed::Open,
            told => told?,
        };
        Ok(self.open_unless_needed(finding, &culprit, told))
    }

    /// The same without the lower confidence: compares the newer end with the lines as they were
    /// before the commit, and as the commit made them.
    fn effect_of_own_lines(
        &mut self,
        culprit: &Culprit,
        cause: &Cause,
    ) -> Result<EndNeed, HuntError> {
        let targets = self.targets_of(culprit)?;
        if targets.is_empty() || self.is_one_result(culprit)? {
            return Ok(EndNeed::Needed);
        }
        if self.limit.is_some() || self.common_recipe(culprit)?.is_none() {
            return Ok(EndNeed::Open);
        }
        let history = History::open(self.oracle.history.repository())?;
        let change = Change::of(&history, &culprit.parent, culprit)?;
        let whole = change.whole();
        let taken = cause_of_effects(culprit, Some(cause)).map(|cause| change.taken(cause));
        let rest = change.without(&whole, taken.as_ref().unwrap_or(&whole))?;
        let [_, end] = self.begun.ends().map(CommitId::clone);
        let conflicts = Conflicts::Replaced;
        let without = match self.patched_without(&end, culprit, &change, &rest, conflicts)? {
            Patched::Done { recipe, .. } => recipe,
            Patched::Same => return Ok(EndNeed::Idle),
            Patched::Conflict(_) => return Ok(EndNeed::Open),
        };
        let with = match self.end_with_own_lines(&end, culprit, &change, &rest)? {
            Patched::Done { recipe, .. } => recipe,
            Patched::Same => Box::new(self.oracle.recipes.at(&end)?),
            Patched::Conflict(_) => return Ok(EndNeed::Open),
        };
        let Some(without) = self.seen_at_end(&end, &without, &targets)? else {
            return Ok(EndNeed::Open);
        };
        let Some(with) = self.seen_at_end(&end, &with, &targets)? else {
            return Ok(EndNeed::Open);
        };
        let terms = self.terms();
        let told = targets.iter().map(|target| match target {
            Target::Guard(target) => of_levels(culprit, target, terms, [&without.1, &with.1]),
            Target::Failure { .. } => of_verdicts(terms, [without.0, with.0]),
        });
        let told = of_all(&told.collect::<Vec<_>>());
        if told == EndNeed::Needed {
            // Both builds lack what later commits made of the lines, so the step may be theirs.
            if !self.end_holds_lines(culprit, cause_of_effects(culprit, Some(cause)))? {
                return Ok(EndNeed::Open);
            }
            self.needed_at_end.insert(culprit.info.commit.clone());
        }
        Ok(told)
    }

    /// What an endpoint with this recipe shows; `None` if a limit of the hunt is reached.
    fn seen_at_end(
        &mut self,
        end: &CommitId,
        recipe: &Config,
        targets: &[Target],
    ) -> Result<Option<Seen>, HuntError> {
        let judged = self.judge_end(end, recipe, targets)?;
        Ok(judged.map(|(judgement, seen)| (judgement.verdict, seen)))
    }
}

/// What the newer end without a commit's lines and with them shows of one effect of the commit.
fn of_levels(
    culprit: &Culprit,
    target: &GuardTarget,
    terms: SearchTerms,
    seen: [&Observation; 2],
) -> EndNeed {
    let metric = &target.guard.metric;
    let [Some(without), Some(with)] = seen.map(|seen| seen.level(metric)) else {
        return EndNeed::Open;
    };
    of_values(target, step_or_whole(culprit, target), terms, [&without, &with])
}

/// The same from two values. `step`: see [`step_or_whole`]. If that end keeps the step without the
/// lines, they may have moved, and the two values do not tell.
fn of_values(
    target: &GuardTarget,
    step: f64,
    terms: SearchTerms,
    [without, with]: [&Value; 2],
) -> EndNeed {
    let numbers = [without, with, &target.bad].map(Value::number);
    let [Some(older), Some(newer), Some(end)] = numbers else {
        return match without {
            _ if *without == target.bad => EndNeed::Open,
            _ if without == with => EndNeed::LaterLines,
            _ => EndNeed::Needed,
        };
    };
    let effect = terms.step(&target.guard, older, newer);
    if terms.step(&target.guard, older, end) < SHARE * step {
        EndNeed::Open
    } else if effect.abs() <= SAME * target.limit.max(0.0) {
        EndNeed::LaterLines
    } else if effect >= SHARE * step {
        EndNeed::Needed
    } else {
        EndNeed::Open
    }
}

/// The same of a failure, which has no level.
fn of_verdicts(terms: SearchTerms, [without, with]: [Verdict; 2]) -> EndNeed {
    if terms.is_older(without) && terms.is_newer(with) {
        EndNeed::Needed
    } else if terms.is_older(without) && terms.is_older(with) {
        EndNeed::LaterLines
    } else {
        EndNeed::Open
    }
}

/// The same of all effects of the commit: it must still make each of them.
fn of_all(told: &[EndNeed]) -> EndNeed {
    let is_in = |one: EndNeed| told.contains(&one);
    if is_in(EndNeed::LaterLines) {
        EndNeed::LaterLines
    } else if is_in(EndNeed::Open) {
        EndNeed::Open
    } else {
        EndNeed::Needed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::{Aim, GuardForm};
    use crate::oracle::fixture::target;

    #[test]
    fn lines_without_an_effect_at_the_end_leave_the_step_to_later_lines() {
        let target = target(GuardForm::MaxIncrease(1.0), 100.0, 104.2);
        let terms = SearchTerms::of(Aim::Regression);
        let told = |levels: [f64; 2]| {
            let [without, with] = levels.map(Value::Number);
            of_values(&target, 4.0, terms, [&without, &with])
        };
        assert_eq!(told([100.0, 100.0]), EndNeed::LaterLines);
        // The lines may have moved: the end keeps the step without them.
        assert_eq!(told([104.2, 104.2]), EndNeed::Open);
        assert_eq!(told([103.0, 107.0]), EndNeed::Open);
        assert_eq!(told([100.0, 104.0]), EndNeed::Needed);
        assert_eq!(told([100.0, 101.0]), EndNeed::Open);
    }

    #[test]
    fn a_failure_must_come_with_the_lines() {
        let terms = SearchTerms::of(Aim::Regression);
        let told = |verdicts| of_verdicts(terms, verdicts);
        assert_eq!(told([Verdict::Good, Verdict::Bad]), EndNeed::Needed);
        assert_eq!(told([Verdict::Good, Verdict::Good]), EndNeed::LaterLines);
        assert_eq!(told([Verdict::Bad, Verdict::Bad]), EndNeed::Open);
        assert_eq!(told([Verdict::Skip, Verdict::Skip]), EndNeed::Open);
        assert_eq!(told([Verdict::Good, Verdict::Skip]), EndNeed::Open);
    }

    #[test]
    fn the_end_must_need_the_lines_for_each_effect() {
        let [needed, later, open] = [EndNeed::Needed, EndNeed::LaterLines, EndNeed::Open];
        assert_eq!(of_all(&[needed.clone(), needed.clone()]), needed);
        assert_eq!(of_all(&[needed.clone(), open.clone()]), open);
        assert_eq!(of_all(&[open, later.clone(), needed]), later);
    }
}
