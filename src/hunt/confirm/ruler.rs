//! Finds out whether the ruler or the engine made the step, if the first bad commit changes the
//! ruler (`[ruler] paths`). Each engine is also measured with the other's ruler, and engines are
//! compared only with the same ruler.

use crate::config::Config;
use crate::evaluation::{Aim, CommitId, Phase, Target};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::why::Why;
use crate::oracle::{Observation, Request, measures_of};
use crate::store::journal::Event;

use super::boundary::{judged_alone, runs_for};
use super::effect::{effects, is_large};
use super::fresh::Fresh;

/// What the step depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Goes {
    WithEngine,
    WithRuler,
    WithBoth,
    /// One of the two engines cannot be judged with the other's ruler.
    Unknown,
}

/// The runs of a commit and one of its parents, each with the other's ruler.
struct Exchanged {
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
        fresh: &Fresh,
    ) -> Result<Option<Why>, HuntError> {
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
            let exchanged = Exchanged {
                old_engine: self.exchanged(&parent.commit, &with_new, targets)?,
                new_engine: self.exchanged(commit, &with_old, targets)?,
            };
            let goes =
                goes(&exchanged, [parent, &fresh.commit], targets, &own, self.begun.options.aim);
            let text = told(goes, &exchanged, targets);
            if goes != Goes::WithEngine {
                return Ok(Some(Why::RulerChanged(text)));
            }
            self.oracle.recorder.event(Event::Note { text })?;
        }
        Ok(None)
    }

    fn exchanged(
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
fn goes(
    exchanged: &Exchanged,
    [parent, commit]: [&Observation; 2],
    targets: &[Target],
    recipe: &Config,
    aim: Aim,
) -> Goes {
    let (_, is_exact) = runs_for(targets);
    let Exchanged { old_engine, new_engine } = exchanged;
    let verdict = |seen: &Observation| judged_alone(seen, targets, recipe, is_exact);
    let steps = |newer: &Observation, older: &Observation| {
        let step = effects(newer, std::slice::from_ref(older), targets, recipe, aim).0;
        step.is_empty() || step.iter().any(is_large)
    };
    let sides = [aim.older(), aim.newer()];
    let [old, new] = [verdict(old_engine), verdict(new_engine)];
    if !sides.contains(&old) || !sides.contains(&new) {
        Goes::Unknown
    } else if [&old, &new] == [&sides[0], &sides[1]]
        && steps(commit, old_engine)
        && steps(new_engine, parent)
    {
        Goes::WithEngine
    } else if [&old, &new] == [&sides[1], &sides[0]] {
        Goes::WithRuler
    } else {
        Goes::WithBoth
    }
}

fn told(goes: Goes, exchanged: &Exchanged, targets: &[Target]) -> String {
    let Exchanged { old_engine, new_engine } = exchanged;
    let [parent, commit] = [old_engine, new_engine].map(|seen| seen.commit.short());
    let figures = format!(
        "{parent} with the ruler of {commit} yields {}, and {commit} with that of {parent} yields {}",
        in_words(old_engine, targets),
        in_words(new_engine, targets)
    );
    let changed = format!("the ruler changed at {commit}");
    match goes {
        Goes::WithEngine => format!(
            "the ruler changed at {commit} too, but the step depends on the engine alone \
             ({figures})"
        ),
        Goes::WithRuler => {
            format!("{changed}, and the step depends on the ruler: {figures}")
        }
        Goes::WithBoth => format!(
            "{changed}, and the step depends neither on the ruler alone nor on the engine \
             alone: {figures}"
        ),
        Goes::Unknown => {
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
            Some(format!("{metric} {}", seen.level(metric)?))
        }
        Target::Failure { .. } => Some("no failure".to_owned()),
    };
    let levels: Vec<String> = targets.iter().filter_map(level).collect();
    if levels.is_empty() { "nothing".to_owned() } else { levels.join(", ") }
}
