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
use super::end_need::EndNeed;
use super::left::{EndWithoutChange, SAME, step_or_whole};
use super::open_change::OpenChange;
use super::patched::Patched;
use super::reversal::{AddedFiles, Reversal};
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
        let [whole, without] = match self.reversal(end, culprit, change, kept)? {
            Reversal::Trees(trees) => trees,
            Reversal::Conflict(why) => return Ok(Patched::Conflict(why)),
        };
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
        if finding.culprits.len() != 1 || !self.terms().explains_levels() {
            return Ok(None);
        }
        let lasting = with_lasting_effects(&culprit, &self.undone);
        let of_effects = cause_of_effects(&culprit, Some(&cause));
        let tested = lasting.as_ref().unwrap_or(&culprit);
        let mut told = self.end_without_added_files(tested, of_effects);
        let (targets, _) = self.sought()?;
        if matches!(told, Ok(None)) {
            let Some(lasting) = lasting.filter(|_| self.values_repeat(&targets)) else {
                return Ok(None);
            };
            told = self.own_lines_alone(&lasting, of_effects).map(Some);
        }
        let told = self.open_after_fault(told.map(|told| told.unwrap_or(EndNeed::Open)))?;
        Ok(self.open_unless_needed(finding, &culprit, told))
    }

    /// If later commits edited or moved a file that the only named commit added: what the newer end
    /// tells without that file. `None` if it has no such file, or does not tell. If it loses the
    /// step, that may be the step of what later commits added to the file.
    fn end_without_added_files(
        &mut self,
        culprit: &Culprit,
        of_effects: Option<&Cause>,
    ) -> Result<Option<EndNeed>, HuntError> {
        let added = self.added_files(culprit, of_effects)?;
        match added {
            AddedFiles::AsAdded => return Ok(None),
            AddedFiles::InOtherFile => return Ok(Some(EndNeed::InOtherFile)),
            AddedFiles::Edited | AddedFiles::RenamedAndEdited => {}
        }
        // In noise, pairs of runs tell.
        if self.targets_of(culprit)?.is_empty() {
            return Ok(None);
        }
        Ok(match self.newer_end_with_old_lines(culprit, of_effects, true)? {
            EndWithoutChange::ShowsTheSame => Some(EndNeed::Idle),
            EndWithoutChange::KeepsAPart if added.are_elsewhere() => Some(EndNeed::KeepsAPart),
            EndWithoutChange::Unknown if added.are_elsewhere() => Some(EndNeed::InOtherFile),
            // It may lose the step of what later commits added to the file, or small steps of other
            // commits may be left.
            EndWithoutChange::LosesTheStep
            | EndWithoutChange::KeepsAPart
            | EndWithoutChange::Unknown => None,
        })
    }

    /// Whether the newer end needs the only named commit, without the lower confidence.
    /// `of_effects`: see [`cause_of_effects`].
    fn own_lines_alone(
        &mut self,
        culprit: &Culprit,
        of_effects: Option<&Cause>,
    ) -> Result<EndNeed, HuntError> {
        if self.is_one_result(culprit)? {
            return Ok(EndNeed::Needed);
        }
        let told = self.effect_of_own_lines(culprit, of_effects)?;
        // Both builds lack what later commits made of the lines, so the step may be theirs.
        if told == EndNeed::LinesNeeded && self.end_holds_lines(culprit, of_effects)? {
            self.needed_at_end.insert(culprit.info.commit.clone());
            return Ok(EndNeed::Needed);
        }
        Ok(told)
    }

    /// Whether the newer end needs one of several commits (`named`). The changes of the others stay
    /// there. `edits`: the later commits that edit its lines, if that end still has these lines and
    /// each of those commits has the step. The step must also be there right before each of them.
    /// Without them, tests nothing if that end shows exactly what the commit shows: a later commit
    /// may have renamed what the lines set.
    pub(super) fn own_lines_beside(
        &mut self,
        culprit: &Culprit,
        of_effects: Option<&Cause>,
        named: &[Culprit],
        edits: Option<&[CommitId]>,
        targets: &[Target],
    ) -> Result<EndNeed, HuntError> {
        if edits.is_none() && self.is_one_result(culprit)? {
            return Ok(EndNeed::Needed);
        }
        let told = self.effect_of_own_lines(culprit, of_effects)?;
        if told == EndNeed::LinesNeeded
            && let Some(edits) = edits
            && self.lasts_before_edits(culprit, named, edits, targets)?
        {
            self.needed_at_end.insert(culprit.info.commit.clone());
            return Ok(EndNeed::Needed);
        }
        Ok(told)
    }

    /// `Open` after a limit or a fault of the machine: the commit is found, and a fault must
    /// neither lose the answer nor make it certain.
    pub(super) fn open_after_fault(
        &mut self,
        told: Result<EndNeed, HuntError>,
    ) -> Result<EndNeed, HuntError> {
        match told {
            Err(HuntError::Limit(limit)) => {
                self.limit = Some(limit);
                Ok(EndNeed::Open)
            }
            Err(error) if !self.must_end(&error) => Ok(EndNeed::Open),
            told => told,
        }
    }

    /// Compares the newer end with the lines as they were before the commit, and as the commit made
    /// them. `of_effects`: see [`cause_of_effects`]. `LinesNeeded` if the step comes with the
    /// commit's lines.
    fn effect_of_own_lines(
        &mut self,
        culprit: &Culprit,
        of_effects: Option<&Cause>,
    ) -> Result<EndNeed, HuntError> {
        let targets = self.targets_of(culprit)?;
        if targets.is_empty() {
            return Ok(EndNeed::Needed);
        }
        if self.limit.is_some() || self.common_recipe(culprit)?.is_none() {
            return Ok(EndNeed::Open);
        }
        let history = History::open(self.oracle.history.repository())?;
        let change = Change::of(&history, &culprit.parent, culprit)?;
        let whole = change.whole();
        let taken = of_effects.map(|cause| change.taken(cause));
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
        Ok(of_all(&told.collect::<Vec<_>>()))
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
            _ => EndNeed::LinesNeeded,
        };
    };
    let effect = terms.step(&target.guard, older, newer);
    if terms.step(&target.guard, older, end) < SHARE * step {
        EndNeed::Open
    } else if effect.abs() <= SAME * target.limit.max(0.0) {
        EndNeed::LaterLines
    } else if effect >= SHARE * step {
        EndNeed::LinesNeeded
    } else {
        EndNeed::Open
    }
}

/// The same of a failure, which has no level.
fn of_verdicts(terms: SearchTerms, [without, with]: [Verdict; 2]) -> EndNeed {
    if terms.is_older(without) && terms.is_newer(with) {
        EndNeed::LinesNeeded
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
        EndNeed::LinesNeeded
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
        assert_eq!(told([100.0, 104.0]), EndNeed::LinesNeeded);
        assert_eq!(told([100.0, 101.0]), EndNeed::Open);
    }

    #[test]
    fn a_failure_must_come_with_the_lines() {
        let terms = SearchTerms::of(Aim::Regression);
        let told = |verdicts| of_verdicts(terms, verdicts);
        assert_eq!(told([Verdict::Good, Verdict::Bad]), EndNeed::LinesNeeded);
        assert_eq!(told([Verdict::Good, Verdict::Good]), EndNeed::LaterLines);
        assert_eq!(told([Verdict::Bad, Verdict::Bad]), EndNeed::Open);
        assert_eq!(told([Verdict::Skip, Verdict::Skip]), EndNeed::Open);
        assert_eq!(told([Verdict::Good, Verdict::Skip]), EndNeed::Open);
    }

    #[test]
    fn the_end_must_need_the_lines_for_each_effect() {
        let [needed, later, open] = [EndNeed::LinesNeeded, EndNeed::LaterLines, EndNeed::Open];
        assert_eq!(of_all(&[needed.clone(), needed.clone()]), needed);
        assert_eq!(of_all(&[needed.clone(), open.clone()]), open);
        assert_eq!(of_all(&[open, later.clone(), needed]), later);
    }
}
