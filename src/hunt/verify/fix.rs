//! Whether a revision heals what the first bad commit broke: in every guard, at every level and in
//! every cell of a sweep, also where the report does not show the regression.

use std::collections::BTreeSet;

use crate::config::Config;
use crate::evaluation::{
    CommitId, Culprit, GuardTarget, LevelCheck, LevelShows, Shows, SweptCell, Target, Value,
};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::inquiry::{OTHER_RECIPE, Pair as InquiryPair};
use crate::oracle::ControlSlot;
use crate::report::Report;

use super::claims::Claimed;
use super::compare::{Compared, Pair};
use super::result::{CellKind, Conclusion, FixCell, FixVerified, all};

impl Driver<'_> {
    /// Measures a fix beside the parent of the oldest first bad commit.
    pub(super) fn verify_fix(
        &mut self,
        (asked, fix): (&str, &CommitId),
        claims: &[Claimed],
        report: &Report,
    ) -> Result<FixVerified, HuntError> {
        let against = claims[0].parents[0].clone();
        self.oracle.control = Some(ControlSlot::unbuilt(against.clone()));
        let mut cells = self.guard_cells(fix, &against, claims)?;
        cells.extend(self.failure_cells(fix, &against, claims)?);
        cells.extend(self.level_cells(fix, &against, report)?);
        cells.extend(self.sweep_cells(fix, &against, claims, report)?);
        self.oracle.pool.free_all();
        Ok(FixVerified {
            asked: asked.to_owned(),
            commit: fix.clone(),
            subject: self.oracle.history.info(fix)?.subject,
            against,
            verdict: all(cells.iter().map(|cell| cell.verdict)),
            cells,
        })
    }

    /// Judges every guard of the configuration. A guard on a matrix counts once for each cell.
    fn guard_cells(
        &mut self,
        fix: &CommitId,
        against: &CommitId,
        claims: &[Claimed],
    ) -> Result<Vec<FixCell>, HuntError> {
        let config = self.oracle.recipes.at(fix)?;
        let mut cells = Vec::new();
        for guard in &config.guards {
            let known = claims.iter().flat_map(|claim| &claim.targets).find_map(|target| {
                let Target::Guard(target) = target else { return None };
                (target.guard == *guard).then(|| target.clone())
            });
            let showed = claims.iter().any(|claim| claim.first.effect_on(&guard.metric).is_some());
            // The level of the good side is measured before it counts.
            let unknown = || {
                let none = Value::Number(f64::NAN);
                GuardTarget::between(guard, none.clone(), none, None)
            };
            let target = Target::Guard(known.unwrap_or_else(unknown));
            let effect = claims.iter().find_map(|claim| claim.first.effect_on(&guard.metric));
            let reported = effect.map(|effect| [&effect.parent, &effect.commit]);
            let compared = self.compare_fix(fix, against, &target, reported)?;
            let name = guard.metric.to_string();
            cells.push(cell(CellKind::Guard, name, showed, compared));
        }
        Ok(cells)
    }

    /// The failures that the report blames on its commits.
    fn failure_cells(
        &mut self,
        fix: &CommitId,
        against: &CommitId,
        claims: &[Claimed],
    ) -> Result<Vec<FixCell>, HuntError> {
        let mut cells = Vec::new();
        let mut seen = BTreeSet::new();
        for target in claims.iter().flat_map(|claim| &claim.targets) {
            let Target::Failure { measure, failure, .. } = target else { continue };
            let name = measure.clone().unwrap_or_else(|| "build".to_owned());
            if seen.insert(name.clone()) {
                let compared = self.compare_fix(fix, against, target, None)?;
                let name = format!("{name}: {}", failure.detail);
                cells.push(cell(CellKind::Failure, name, true, compared));
            }
        }
        Ok(cells)
    }

    fn compare_fix(
        &mut self,
        fix: &CommitId,
        against: &CommitId,
        target: &Target,
        reported: Option<[&Value; 2]>,
    ) -> Result<Result<Compared, String>, HuntError> {
        let parents = [against.clone()];
        let pair = Pair { commit: fix, parents: &parents, terms: self.terms() };
        match self.compare_afresh(pair, target, reported) {
            Err(HuntError::Limit(limit)) => Ok(Err(crate::ui::reached_limit(&limit))),
            other => other.map(Ok),
        }
    }

    /// Every `[[level]]`.
    fn level_cells(
        &mut self,
        fix: &CommitId,
        against: &CommitId,
        report: &Report,
    ) -> Result<Vec<FixCell>, HuntError> {
        let recipe = self.oracle.recipes.at(fix)?;
        let is_same = self.is_same_recipe(&recipe, against)?;
        let levels = recipe.levels.clone();
        let asked = InquiryPair { parent: against.clone(), commit: fix.clone(), recipe };
        let mut cells = Vec::new();
        for level in &levels {
            let known = report.inquiry.levels.iter().find(|known| known.name == level.name);
            let showed = known.is_some_and(|known| known.shows == LevelShows::Fails);
            let bare = |verdict, reason: String, worst: Option<&LevelCheck>| FixCell {
                kind: CellKind::Level,
                name: level.name.clone(),
                showed,
                verdict,
                reason,
                against: worst.and_then(|check| check.parent.clone()),
                fix: worst.and_then(|check| check.commit.clone()),
            };
            if !is_same {
                cells.push(bare(Conclusion::Undecided, OTHER_RECIPE.to_owned(), None));
                continue;
            }
            let result = self.level(level, &asked)?;
            let worst = result.checks.iter().max_by_key(|check| check.shows);
            let verdict = match result.shows {
                LevelShows::Passes => Conclusion::Holds,
                LevelShows::Unknown => Conclusion::Undecided,
                LevelShows::Fails => Conclusion::DoesNotHold,
            };
            let reason = worst.and_then(|check| check.reason.clone()).unwrap_or_default();
            cells.push(bare(verdict, reason, worst));
        }
        Ok(cells)
    }

    /// Every cell of `[sweep]`.
    fn sweep_cells(
        &mut self,
        fix: &CommitId,
        against: &CommitId,
        claims: &[Claimed],
        report: &Report,
    ) -> Result<Vec<FixCell>, HuntError> {
        if self.oracle.recipes.config.sweep.is_none() {
            return Ok(Vec::new());
        }
        let shapes = report.shapes.as_ref().map(|line| &line.shapes);
        let known = shapes.map_or(&[][..], |shapes| shapes.sweeps.as_slice());
        let undecided = |reason: String| FixCell {
            kind: CellKind::Sweep,
            name: "[sweep]".to_owned(),
            showed: false,
            verdict: Conclusion::Undecided,
            reason,
            against: None,
            fix: None,
        };
        let pair = self.as_pair(fix, against)?;
        let targets: Vec<Target> =
            claims.iter().flat_map(|claim| &claim.targets).cloned().collect();
        let judged = match self.sweep_again(&pair, &targets, known)? {
            Ok(judged) => judged,
            Err(why) => return Ok(vec![undecided(why)]),
        };
        let cell = |swept: SweptCell| {
            let before = known.iter().flat_map(|one| &one.cells);
            let before = before.filter(|cell| cell.measure == swept.measure);
            let showed = before.into_iter().any(|cell| cell.shows == Shows::Difference);
            FixCell {
                kind: CellKind::Sweep,
                name: swept.measure,
                showed,
                verdict: match swept.shows {
                    Shows::Nothing => Conclusion::Holds,
                    Shows::Unresolved => Conclusion::Undecided,
                    Shows::Difference => Conclusion::DoesNotHold,
                },
                reason: swept.reason,
                against: swept.parent.level,
                fix: swept.commit.level,
            }
        };
        Ok(judged.into_iter().map(cell).collect())
    }

    fn is_same_recipe(&self, recipe: &Config, other: &CommitId) -> Result<bool, HuntError> {
        Ok(self.oracle.recipes.at(other)?.text() == recipe.text())
    }

    /// A culprit with the fix as the commit and the healthy commit as its parent: the code that
    /// compares two commits takes a culprit.
    fn as_pair(&self, fix: &CommitId, against: &CommitId) -> Result<Culprit, HuntError> {
        Ok(Culprit::bare(self.oracle.history.named(fix)?, against.clone()))
    }
}

/// A cell is healed if the fix shows no step from the healthy commit.
fn cell(kind: CellKind, name: String, showed: bool, compared: Result<Compared, String>) -> FixCell {
    let bare = FixCell {
        kind,
        name,
        showed,
        verdict: Conclusion::Undecided,
        reason: String::new(),
        against: None,
        fix: None,
    };
    let compared = match compared {
        Ok(compared) => compared,
        Err(reason) => return FixCell { reason, ..bare },
    };
    let (verdict, reason) = match (compared.verdict, compared.fails) {
        (_, Some(failure)) => (Conclusion::DoesNotHold, failure),
        (Conclusion::Holds, None) => (Conclusion::DoesNotHold, String::new()),
        (Conclusion::DoesNotHold, None) => (Conclusion::Holds, String::new()),
        (Conclusion::Undecided, None) => (Conclusion::Undecided, compared.reason),
    };
    let (against, fix) = (compared.here.parent, compared.here.commit);
    FixCell { verdict, reason, against, fix, ..bare }
}
