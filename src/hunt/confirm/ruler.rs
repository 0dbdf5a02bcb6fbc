//! Finds out whether the ruler or the engine made the step, if the ruler (`[ruler] paths`) changes
//! at the first bad commit or before it. Each engine is also measured with the other's ruler, and
//! engines are compared only with the same ruler.

use crate::config::Config;
use crate::evaluation::{CommitId, Target, Verdict};
use crate::git::{Range, pathspec};
use crate::hunt::HuntError;
use crate::hunt::claim::{Claim, ConfirmationOutcome};
use crate::hunt::driver::Driver;
use crate::hunt::exchanged_ruler::{self, in_words};
use crate::hunt::terms::SearchTerms;
use crate::hunt::why::CandidatesReason;
use crate::oracle::{Observation, measures_of};
use crate::store::journal::Event;
use crate::ui::text;

use super::boundary::{Hidden, judge_separately, runs_for};
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
    /// Why the commit cannot be blamed, with the candidates, if it changed the ruler and the step
    /// does not depend on the engine alone, or if the older end's ruler shows the reverse of its
    /// step. If the commit's new ruler makes no difference, writes a note to the journal.
    pub(crate) fn ruler_objection(
        &mut self,
        claim: Claim<'_>,
        fresh: &ConfirmationRuns,
    ) -> Result<Option<ConfirmationOutcome>, HuntError> {
        if self.oracle.recipes.config.ruler.is_empty() {
            return Ok(None);
        }
        let (commit, targets) = (claim.commit, &claim.strategy.targets);
        let (runs, is_exact) = runs_for(targets);
        let measures = measures_of(targets);
        let own = self.oracle.recipes.at(commit)?;
        for parent in &fresh.parents {
            let Some(with_new) = self.recipe_with_ruler_of(&parent.commit, commit)? else {
                continue;
            };
            let with_old = own.with_ruler_of(&parent.commit);
            let swapped = SwappedRulers {
                old_engine: self.evaluate_with_ruler(&parent.commit, &with_new, &measures, runs)?,
                new_engine: self.evaluate_with_ruler(commit, &with_old, &measures, runs)?,
            };
            let depends_on =
                depends_on(&swapped, [parent, &fresh.commit], targets, &own, claim.terms);
            let text = told(depends_on, &swapped, targets);
            if depends_on != StepDependsOn::Engine {
                let verdicts = [&swapped.old_engine, &swapped.new_engine]
                    .map(|seen| judge_separately(seen, targets, &own, is_exact));
                return self
                    .with_hidden_steps(claim, &parent.commit, depends_on, verdicts, &text)
                    .map(Some);
            }
            self.oracle.recorder.event(Event::Note { text })?;
        }
        self.reversed_by_older_ruler(claim, &fresh.parents)
    }

    /// The candidates if the step at the commit depends on the ruler too. Then the parent's ruler
    /// may hide the step of an earlier commit, and the new one that of a later commit, so each end
    /// is measured with the other ruler. `verdicts`: those on the parent's engine with the commit's
    /// ruler, and on the commit's engine with the parent's.
    fn with_hidden_steps(
        &mut self,
        claim: Claim<'_>,
        parent: &CommitId,
        depends_on: StepDependsOn,
        verdicts: [Verdict; 2],
        told: &str,
    ) -> Result<ConfirmationOutcome, HuntError> {
        let (commit, terms) = (claim.commit, claim.terms);
        let [older_end, newer_end] = claim.ends;
        let [old_engine, new_engine] = verdicts;
        let mut hidden = Hidden { before: false, after: false };
        let mut ends = Vec::new();
        // If the parent is on the older side with the new ruler, this ruler shows the step there.
        if !terms.is_older(old_engine) {
            let (verdict, figures) = self.judge_with_ruler_of(older_end, commit, claim)?;
            hidden.before = !terms.is_newer(verdict);
            ends.push(figures);
            if !terms.is_newer(new_engine) {
                let (verdict, figures) = self.judge_with_ruler_of(newer_end, parent, claim)?;
                hidden.after = !terms.is_older(verdict);
                ends.push(figures);
            }
        }
        let ends = ends.join(", and ");
        let mut next = None;
        let why = if let Some(hides) = hides(hidden) {
            let from = if hidden.before { commit } else { parent };
            next = self.next_with_ruler_of(from, claim.ends)?;
            format!("{hides}; {told}; at the ends, {ends}")
        } else if depends_on == StepDependsOn::Ruler {
            format!("{told}; the ends agree: {ends}")
        } else {
            let sought = terms.sought();
            format!("{told}; if the engine caused the step, the {sought} may be {}", commit.short())
        };
        let candidates = self.hidden_candidates(claim, hidden)?;
        let why = CandidatesReason::RulerChanged { why, next };
        Ok(ConfirmationOutcome::Undecidable(candidates, why))
    }

    /// Objects if the older end's ruler is another than the commit's, and with it the commit is on
    /// the older side and a parent on the newer one. So the commit takes back what an earlier
    /// engine did, for example before golden files were made again from that engine.
    ///
    /// A step that only the newer ruler shows is no reason to object: a new check may be what the
    /// commit breaks. Nor is a commit that is bad with both: its engine may have moved, with its
    /// golden files, before.
    fn reversed_by_older_ruler(
        &mut self,
        claim: Claim<'_>,
        parents: &[Observation],
    ) -> Result<Option<ConfirmationOutcome>, HuntError> {
        let (commit, terms) = (claim.commit, claim.terms);
        let [older_end, _] = claim.ends;
        if self.recipe_with_ruler_of(commit, older_end)?.is_none() {
            return Ok(None);
        }
        let (verdict, at_commit) = self.judge_with_ruler_of(commit, older_end, claim)?;
        if !terms.is_older(verdict) {
            return Ok(None);
        }
        for parent in parents {
            let parent = &parent.commit;
            let (verdict, at_parent) = self.judge_with_ruler_of(parent, older_end, claim)?;
            if !terms.is_newer(verdict) {
                continue;
            }
            let why = format!(
                "the ruler of {} {}, and with the older ruler the step there is the reverse; so an \
                 earlier commit may have made it, and the ruler may have been made from that \
                 engine: {at_parent}, and {at_commit}",
                commit.short(),
                self.changed_since(older_end, claim)?
            );
            let next = self.next_with_ruler_of(older_end, [older_end, parent])?;
            let candidates =
                self.hidden_candidates(claim, Hidden { before: true, after: false })?;
            let why = CandidatesReason::RulerChanged { why, next };
            return Ok(Some(ConfirmationOutcome::Undecidable(candidates, why)));
        }
        Ok(None)
    }

    /// Which commits changed the ruler between an older commit and the claimed one, in words.
    fn changed_since(&self, older: &CommitId, claim: Claim<'_>) -> Result<String, HuntError> {
        let patterns = &self.oracle.recipes.config.ruler;
        let paths = patterns.iter().map(|pattern| pathspec(pattern)).collect();
        let range = Range { paths, ..Range::between(older, claim.commit) };
        let changed = self.oracle.history.commits_touching(&range)?;
        let older = older.short();
        Ok(match changed.as_slice() {
            [] => format!("is not that of {older}"),
            [only] => format!("changed at {} since {older}", only.short()),
            [newest, rest @ ..] => format!(
                "changed at {} and {} since {older}",
                newest.short(),
                text::plural(rest.len(), "other commit")
            ),
        })
    }

    /// The verdict on a commit with the ruler of another one, and what it rests on in words. If
    /// both have one ruler, this is the verdict of the search: the claim's own commit and the newer
    /// end are on the newer side, its parents and the older end on the older one.
    fn judge_with_ruler_of(
        &mut self,
        engine: &CommitId,
        other: &CommitId,
        claim: Claim<'_>,
    ) -> Result<(Verdict, String), HuntError> {
        let targets = &claim.strategy.targets;
        let Some(recipe) = self.recipe_with_ruler_of(engine, other)? else {
            let is_newer = engine == claim.commit || engine == claim.ends[1];
            let verdict = if is_newer { claim.terms.newer() } else { claim.terms.older() };
            let [engine, other] = [engine, other].map(CommitId::short);
            return Ok((
                verdict,
                format!("{engine}, with the same ruler as {other}, is {verdict}"),
            ));
        };
        let (runs, is_exact) = runs_for(targets);
        let seen = self.evaluate_with_ruler(engine, &recipe, &measures_of(targets), runs)?;
        let verdict = judge_separately(&seen, targets, &recipe, is_exact);
        Ok((verdict, exchanged_ruler::told(&seen, other, targets)))
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

/// Which steps of other commits a ruler may hide, in words; `None` if no ruler does.
fn hides(hidden: Hidden) -> Option<&'static str> {
    match (hidden.before, hidden.after) {
        (false, false) => None,
        (true, false) => Some("the older ruler may hide the step of an earlier commit"),
        (false, true) => Some("the newer ruler may hide the step of a later commit"),
        (true, true) => Some(
            "the older ruler may hide the step of an earlier commit, and the newer one that of a \
             later commit",
        ),
    }
}
