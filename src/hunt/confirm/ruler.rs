//! Finds out whether the ruler or the engine made the step, if the first bad commit changes the
//! ruler (`[ruler] paths`). Each engine is also measured with the other's ruler, and engines are
//! compared only with the same ruler.

use crate::config::Config;
use crate::evaluation::{CommitId, Phase, Target};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::terms::SearchTerms;
use crate::hunt::why::CandidatesReason;
use crate::oracle::{Observation, Request, measures_of};
use crate::store::journal::Event;
use crate::ui::text;

use super::boundary::{judge_separately, runs_for};
use super::confirmation_runs::ConfirmationRuns;
use super::effect::{effects, is_large};

/// What the step depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StepDependsOn {
    Engine,
    Ruler,
    Both,
    /// One of the two engines cannot be judged with the other's ruler.
    Unknown,
}

/// The runs of a commit and one of its parents, each with the other's ruler.
struct SwappedRulers {
    /// The parent's engine with the commit's ruler.
    old_engine: Observation,
    /// The commit's engine with the parent's ruler.
    new_engine: Observation,
}

impl Driver<'_> {
    /// Why the commit cannot be blamed, if it changed the ruler and the step does not depend on the
    /// engine alone. If the new ruler makes no difference, writes a note to the journal.
    pub(crate) fn ruler_objection(
        &mut self,
        commit: &CommitId,
        targets: &[Target],
        fresh: &ConfirmationRuns,
    ) -> Result<Option<CandidatesReason>, HuntError> {
        if self.oracle.recipes.config.ruler.is_empty() {
            return Ok(None);
        }
        let own = self.oracle.recipes.at(commit)?;
        for parent in &fresh.parents {
            let theirs = self.oracle.recipes.at(&parent.commit)?;
            let with_new = theirs.with_ruler_of(commit);
            let before = self.oracle.recipes.tree_of(&parent.commit, &theirs)?;
            if before == self.oracle.recipes.tree_of(&parent.commit, &with_new)? {
                // The ruler equals this parent's, or an overlay replaces the ruler of both.
                continue;
            }
            let with_old = own.with_ruler_of(&parent.commit);
            let swapped = SwappedRulers {
                old_engine: self.measure_with_ruler_of(&parent.commit, &with_new, targets)?,
                new_engine: self.measure_with_ruler_of(commit, &with_old, targets)?,
            };
            let depends_on =
                depends_on(&swapped, [parent, &fresh.commit], targets, &own, self.terms());
            let text = told(depends_on, &swapped, targets);
            if depends_on != StepDependsOn::Engine {
                return Ok(Some(CandidatesReason::RulerChanged(text)));
            }
            self.oracle.recorder.event(Event::Note { text })?;
        }
        Ok(None)
    }

    fn measure_with_ruler_of(
        &mut self,
        engine: &CommitId,
        recipe: &Config,
        targets: &[Target],
    ) -> Result<Observation, HuntError> {
        let (runs, _) = runs_for(targets);
        Ok(self.oracle.evaluate(Request {
            runs,
            recipe: Some(recipe),
            keep: false,
            ..Request::look(engine, &measures_of(targets), Phase::Ruler)
        })?)
    }
}

/// The step depends on the engine if, with both rulers, the older engine is good, the newer one is
/// bad and the step between them is large. For a fix, good and bad are swapped.
fn depends_on(
    swapped: &SwappedRulers,
    [parent, commit]: [&Observation; 2],
    targets: &[Target],
    recipe: &Config,
    terms: SearchTerms,
) -> StepDependsOn {
    let (_, is_exact) = runs_for(targets);
    let SwappedRulers { old_engine, new_engine } = swapped;
    let verdict = |seen: &Observation| judge_separately(seen, targets, recipe, is_exact);
    let steps = |newer: &Observation, older: &Observation| {
        let step = effects(newer, std::slice::from_ref(older), targets, recipe, terms).0;
        step.is_empty() || step.iter().any(is_large)
    };
    let sides = [terms.older(), terms.newer()];
    let [old, new] = [verdict(old_engine), verdict(new_engine)];
    if !sides.contains(&old) || !sides.contains(&new) {
        StepDependsOn::Unknown
    } else if [&old, &new] == [&sides[0], &sides[1]]
        && steps(commit, old_engine)
        && steps(new_engine, parent)
    {
        StepDependsOn::Engine
    } else if [&old, &new] == [&sides[1], &sides[0]] {
        StepDependsOn::Ruler
    } else {
        StepDependsOn::Both
    }
}

fn told(depends_on: StepDependsOn, swapped: &SwappedRulers, targets: &[Target]) -> String {
    let SwappedRulers { old_engine, new_engine } = swapped;
    let [parent, commit] = [old_engine, new_engine].map(|seen| seen.commit.short());
    let figures = format!(
        "{parent} with the ruler of {commit} yields {}, and {commit} with that of {parent} yields {}",
        in_words(old_engine, targets),
        in_words(new_engine, targets)
    );
    let changed = format!("the ruler changed at {commit}");
    match depends_on {
        StepDependsOn::Engine => {
            format!("{changed} too, but the step depends on the engine alone ({figures})")
        }
        StepDependsOn::Ruler => {
            format!("{changed}, and the step depends on the ruler: {figures}")
        }
        StepDependsOn::Both => format!(
            "{changed}, and the step depends neither on the ruler alone nor on the engine \
             alone: {figures}"
        ),
        StepDependsOn::Unknown => {
            format!("{changed}, and whether the ruler made the step cannot be checked: {figures}")
        }
    }
}

/// The measured levels or the failure, for people.
fn in_words(seen: &Observation, targets: &[Target]) -> String {
    if let Some(failure) = seen.first_failure() {
        return format!("nothing, since it {}", failure.kind);
    }
    let level = |target: &Target| match target {
        Target::Guard(target) => {
            let metric = &target.guard.metric;
            Some(format!("{metric} {}", text::value(&seen.level(metric)?)))
        }
        Target::Failure { .. } => Some("no failure".to_owned()),
    };
    let levels: Vec<String> = targets.iter().filter_map(level).collect();
    if levels.is_empty() { "nothing".to_owned() } else { levels.join(", ") }
}
