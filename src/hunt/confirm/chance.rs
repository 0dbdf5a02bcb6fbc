//! The probability that a claim is due to chance: runs or builds sometimes show the other side's
//! value. A claim is made only if that probability is low enough.

use std::collections::{BTreeMap, BTreeSet};

use crate::config::{Config, ConfirmBuild};
use crate::evaluation::{CommitId, Judgement, Loaded, Phase, Target, Value, Verdict};
use crate::git::Range;
use crate::hunt::HuntError;
use crate::hunt::claim::Claim;
use crate::hunt::driver::Driver;
use crate::oracle::{Observation, Request, Sample, measures_of};
use crate::search::{FlakyCounts, ObservationCounts, chance_of_no_majority};
use crate::store::journal::Event;

use super::flaky_commits::FlakyCommits;
use super::verdict_counts::{Seen, VerdictCounts};

/// Weight of the prior on q, for numbers that repeat. q is the probability that an observation
/// shows the other side's value. The prior mean of q is 1 in 3.
const FIGURES: f64 = 2.0;
/// The weight for values such as pass or fail, which flake far more often.
const ONE_BIT: f64 = 1.0;
/// The weight for a build that fails with a specific message: compilers seldom err by chance.
const COMPLAINTS: f64 = 20.0;
/// Factor on the odds that builds differ by chance, if two builds of one commit gave the same
/// files.
const EQUAL_BUILDS: f64 = 0.02;
/// The highest confidence to report: no measurement is certain.
const MOST_CERTAIN: f64 = 0.9999;
/// How much smaller the probability of chance must be once runs of one commit, or the files of its
/// builds, were seen to differ. The search then picks commits by values that are partly chance, and
/// may claim several of them.
const UNSTEADY: f64 = 10.0;

/// The odds that a claim is wrong by chance.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChanceOdds {
    /// Odds that runs of one build differ by chance.
    runs: f64,
    /// Odds that builds of one commit differ by chance.
    builds: f64,
    /// Odds that a commit of the claim flakes as others do. They are in the odds above.
    flaky: f64,
    /// Runs of one commit, or the files of its builds, were seen to differ.
    pub(crate) is_unsteady: bool,
}

impl ChanceOdds {
    /// The probability that the claim is wrong.
    pub(crate) fn chance(self) -> f64 {
        let odds = self.runs + self.builds;
        odds / (1.0 + odds)
    }

    /// Whether another build would lower the odds more than another run.
    pub(crate) fn is_about_builds(self) -> bool {
        self.builds > self.runs
    }

    /// Whether most of the odds come from how other commits flake. Then runs of these commits lower
    /// the odds more than runs of the claim's commits.
    pub(crate) fn is_about_flaky_commits(self) -> bool {
        2.0 * self.flaky > self.runs + self.builds
    }
}

/// The counts of all observed commits, by side.
#[derive(Clone, Debug, Default)]
pub(super) struct CountsBySide {
    pub(super) older: BTreeMap<CommitId, Seen>,
    pub(super) newer: BTreeMap<CommitId, Seen>,
    /// Strays of commits whose runs have no majority.
    undecided: usize,
    /// `Some(true)`: builds of a commit gave the same files, and no commit's builds are known to
    /// differ. `Some(false)`: builds of a commit differ. `None`: unknown.
    builds_repeat: Option<bool>,
}

impl Driver<'_> {
    /// The odds that the claim is wrong by chance, from all runs of this hunt and these fresh runs.
    pub(crate) fn chance_odds(
        &mut self,
        claim: Claim<'_>,
        fresh: &BTreeMap<&CommitId, Observation>,
    ) -> Result<ChanceOdds, HuntError> {
        let counts = self.counts_by_side(claim, fresh)?;
        let flaky = self.flaky_if_unsteady(claim, &counts)?;
        let parents = fresh.keys().copied().filter(|commit| *commit != claim.commit);
        let rivals = self.rivals_of_commit(claim, &counts)?;
        let mut doubt = counts.chance_odds(claim.commit, &flaky.newer, true, rivals, self, claim);
        // A broken tree never builds by chance, so a parent that builds needs no test.
        if !measures_of(&claim.strategy.targets).is_empty() {
            for parent in parents {
                let rivals = self.rivals_of_parent(claim, parent, &counts)?;
                let more = counts.chance_odds(parent, &flaky.older, false, rivals, self, claim);
                doubt.runs += more.runs;
                doubt.builds += more.builds;
                doubt.flaky += more.flaky;
            }
        }
        Ok(doubt)
    }

    /// The odds that the claim's commit has the newer end's verdict by chance. That has the same
    /// prior probability as that the verdict is right: there is one rival.
    pub(super) fn odds_of_newer(
        &mut self,
        claim: Claim<'_>,
        seen: &Observation,
    ) -> Result<ChanceOdds, HuntError> {
        let fresh = BTreeMap::from([(claim.commit, seen.clone())]);
        let mut counts = self.counts_by_side(claim, &fresh)?;
        if counts.builds_repeat == Some(true) {
            // Equal builds of another commit do not show that those of this one repeat.
            let targets = &claim.strategy.targets;
            counts.builds_repeat = self.known_to_repeat(targets, [claim.commit.clone()])?;
        }
        let flaky = self.flaky_if_unsteady(claim, &counts)?;
        Ok(counts.chance_odds(claim.commit, &flaky.newer, true, 1, self, claim))
    }

    /// The commits that flake; none if no runs of one commit, and no builds, were seen to differ.
    fn flaky_if_unsteady(
        &mut self,
        claim: Claim<'_>,
        counts: &CountsBySide,
    ) -> Result<FlakyCommits, HuntError> {
        if !self.is_unsteady(counts) {
            return Ok(FlakyCommits::default());
        }
        self.flaky_commits(&claim.strategy.targets, claim.terms)
    }

    /// The confidence that a claim needs: more than the configured one if runs of one commit, or
    /// the files of its builds, were seen to differ, and still more after each rejected claim.
    pub(crate) fn wanted_confidence(&self, is_unsteady: bool) -> Result<f64, HuntError> {
        let configured = self.oracle.recipes.config.statistics.confidence;
        if !is_unsteady {
            return Ok(configured);
        }
        let entries = self.hunt.entries_in_force()?;
        let is_rejected = |event: &Event| matches!(event, Event::Contradicted { .. });
        let rejected = entries.iter().filter(|entry| is_rejected(&entry.event)).count();
        let chance = (1.0 - configured) / UNSTEADY / (1 + rejected) as f64;
        Ok((1.0 - chance).min(MOST_CERTAIN).max(configured))
    }

    /// The counts of the search range's commits, judged by the claim's targets.
    fn counts_by_side(
        &mut self,
        claim: Claim<'_>,
        fresh: &BTreeMap<&CommitId, Observation>,
    ) -> Result<CountsBySide, HuntError> {
        let measures = measures_of(&claim.strategy.targets);
        let [older, newer] = claim.ends;
        let range = self.oracle.history.commits(&Range::between(older, newer))?;
        let inside: BTreeSet<CommitId> = range.into_iter().chain([older.clone()]).collect();
        let mut counts = CountsBySide::default();
        let judged = self.judged()?.into_iter().filter(|commit| inside.contains(commit));
        let fresh = fresh.keys().map(|commit| (*commit).clone());
        for commit in judged.chain(fresh).collect::<BTreeSet<_>>() {
            if self.is_among_aside(&commit, claim)? {
                continue;
            }
            let (verdict, seen) = if measures.is_empty() {
                self.built(&commit)?
            } else {
                let look = Request::look(&commit, &measures, Phase::Search);
                let known = self.oracle.evaluate(look)?;
                let chunks = self.short.as_ref().map(|short| short.chunks);
                let short = match chunks {
                    Some(_) => Some(self.oracle.evaluate(Request { chunks, ..look })?),
                    None => None,
                };
                counts.note_builds(&known, short.as_ref());
                let recipe = self.oracle.recipes.at(&commit)?;
                let whole = VerdictCounts::of(&known, &claim.strategy.targets, &recipe);
                let part = self.short.as_ref().zip(short.as_ref());
                let part =
                    part.map(|(short, seen)| VerdictCounts::of(seen, &short.targets, &recipe));
                part.into_iter().fold(whole, VerdictCounts::with).count()
            };
            match verdict {
                verdict if claim.terms.is_newer(verdict) => counts.newer.insert(commit, seen),
                verdict if claim.terms.is_older(verdict) => counts.older.insert(commit, seen),
                _ => {
                    counts.undecided += seen.strays;
                    None
                }
            };
        }
        Ok(counts)
    }

    /// The last verdict of this hunt on each judged commit.
    pub(crate) fn last_verdicts(&self) -> Result<BTreeMap<CommitId, Verdict>, HuntError> {
        let mut verdicts = BTreeMap::new();
        for entry in &self.hunt.entries_in_force()? {
            if let Event::Judged(judged) = &entry.event {
                let Judgement { verdict, .. } = judged.judgement;
                verdicts.insert(judged.commit.clone(), verdict);
            }
        }
        Ok(verdicts)
    }

    /// Whether builds of these commits give the same files; `None` if unknown. `Some(true)` also if
    /// the confirmation makes no builds.
    pub(crate) fn known_to_repeat(
        &mut self,
        targets: &[Target],
        commits: impl IntoIterator<Item = CommitId>,
    ) -> Result<Option<bool>, HuntError> {
        if self.oracle.recipes.config.build.commands.is_empty()
            || self.oracle.recipes.config.build.confirm == ConfirmBuild::Reuse
        {
            return Ok(Some(true));
        }
        let measures = measures_of(targets);
        let mut counts = CountsBySide::default();
        for commit in commits {
            let known = self.known_runs(&commit, &measures)?;
            counts.note_builds(&known, None);
        }
        Ok(counts.builds_repeat)
    }

    /// Whether a commit builds, and how often that was seen.
    fn built(&self, commit: &CommitId) -> Result<(Verdict, Seen), HuntError> {
        let recipe = self.oracle.recipes.at(commit)?;
        let builds =
            self.oracle.store.builds(&self.oracle.recipes.build_key_of(commit, &recipe)?)?;
        let failed = builds.iter().filter(|build| build.failure.is_some()).count();
        let worked = builds.len() - failed;
        let is_bad = failed > worked;
        let (builds, strays) = (failed.max(worked), failed.min(worked));
        let verdict = if is_bad { Verdict::Bad } else { Verdict::Good };
        Ok((verdict, Seen { runs: builds, builds, strays }))
    }

    /// Whether runs of one commit, or the files of its builds, were seen to differ. If the files
    /// differ, the runs may differ too.
    pub(super) fn is_unsteady(&self, counts: &CountsBySide) -> bool {
        self.is_flaky || counts.has_strays() || counts.builds_repeat == Some(false)
    }
}

impl CountsBySide {
    /// The odds that chance alone put a commit of the claim on its side: at least the odds that the
    /// commit flakes as others of that side do (`flaky`). If its own runs differ, it does flake,
    /// and its runs tell its side only by a clear majority.
    fn chance_odds(
        &self,
        commit: &CommitId,
        flaky: &FlakyCounts,
        is_newer: bool,
        rivals: usize,
        driver: &Driver<'_>,
        claim: Claim<'_>,
    ) -> ChanceOdds {
        let (same, others) =
            if is_newer { (&self.newer, &self.older) } else { (&self.older, &self.newer) };
        let own = same.get(commit).copied().unwrap_or_default();
        let sum = |side: &BTreeMap<CommitId, Seen>, of: fn(&Seen) -> usize| -> usize {
            side.iter().filter(|(one, _)| *one != commit).map(|(_, seen)| of(seen)).sum()
        };
        let of_others = sum(same, |seen| seen.strays) + sum(others, |seen| seen.strays);
        let strays = self.undecided + own.strays + of_others;
        let counted = |of: fn(&Seen) -> usize| ObservationCounts {
            own: of(&own),
            others: sum(others, of),
            same: sum(same, of),
            strays,
            rivals,
        };
        let is_unsteady = driver.is_unsteady(self);
        let weight = weight(claim, &driver.oracle.recipes.config);
        let if_flaky = |observations: usize| {
            let as_others = if own.strays > 0 && flaky.are_uneven() {
                rivals as f64
            } else {
                flaky.odds_of_chance(observations, rivals)
            };
            as_others.min(rivals as f64 * chance_of_no_majority(observations, own.strays))
        };
        let runs = counted(|seen| seen.runs).odds_of_chance(weight);
        let flaky_runs = if_flaky(own.runs);
        let of_runs = runs.max(flaky_runs);
        let build = &driver.oracle.recipes.config.build;
        if build.commands.is_empty() || build.confirm == ConfirmBuild::Reuse {
            return ChanceOdds { runs: of_runs, builds: 0.0, flaky: flaky_runs, is_unsteady };
        }
        let builds = counted(|seen| seen.builds).odds_of_chance(weight);
        if self.builds_repeat == Some(true) {
            let builds = EQUAL_BUILDS * builds;
            return ChanceOdds { runs: of_runs, builds, flaky: flaky_runs, is_unsteady };
        }
        // Runs of one build are not independent of each other. So the odds are those of builds, and
        // never below those of runs.
        let flaky_builds = if_flaky(own.builds);
        let builds = runs.max(builds).max(flaky_builds);
        ChanceOdds { runs: 0.0, builds, flaky: flaky_builds, is_unsteady }
    }

    /// Whether a counted commit has runs on both sides.
    fn has_strays(&self) -> bool {
        let mut decided = self.older.values().chain(self.newer.values());
        self.undecided > 0 || decided.any(|seen| seen.strays > 0)
    }

    /// Notes whether builds of one commit gave the same files.
    fn note_builds(&mut self, known: &Observation, short: Option<&Observation>) {
        for (measure, samples) in &known.samples {
            let short = short.into_iter().flat_map(|short| short.of(measure));
            let Some(equal) = equal_builds(samples.iter().chain(short)) else { continue };
            self.builds_repeat = Some(equal && self.builds_repeat != Some(false));
        }
    }
}

/// The confidence to report: one minus the probability of error, below 1.
pub(crate) fn reported_confidence(chance_of_error: f64) -> f64 {
    (1.0 - chance_of_error).clamp(0.0, MOST_CERTAIN)
}

fn weight(claim: Claim<'_>, config: &Config) -> f64 {
    let of = |target: &Target| match target {
        Target::Failure { measure: None, failure, .. } if failure.is_telling() => COMPLAINTS,
        Target::Failure { failure, .. } if failure.is_telling() => FIGURES,
        Target::Failure { .. } => ONE_BIT,
        Target::Guard(target) if config.passes_or_fails(&target.guard.metric) => ONE_BIT,
        Target::Guard(target) if is_count(&target.baseline) && is_count(&target.bad) => ONE_BIT,
        Target::Guard(_) => FIGURES,
    };
    claim.strategy.targets.iter().map(of).fold(f64::INFINITY, f64::min)
}

/// Whether the value is a count (of failed tests, for example) or a fact: both have few values.
fn is_count(value: &Value) -> bool {
    value.number().is_none_or(|x| x.fract().abs() < f64::EPSILON)
}

/// Whether builds of one commit gave the same files, apart from the path of the slot; `None` if
/// that is unknown. Compares only files that runs of both builds loaded: a run that was cut short
/// loaded fewer.
fn equal_builds<'a>(samples: impl Iterator<Item = &'a Sample>) -> Option<bool> {
    let mut of_builds: BTreeMap<&str, &Loaded> = BTreeMap::new();
    for sample in samples {
        let Some(loaded) = &sample.loaded else { continue };
        let known = of_builds.entry(&sample.built).or_insert(loaded);
        if loaded.own.len() > known.own.len() {
            *known = loaded;
        }
    }
    let fullest = of_builds.iter().max_by_key(|(_, loaded)| loaded.own.len())?;
    let others = of_builds.iter().filter(|(built, _)| built != &fullest.0);
    let files = others.flat_map(|(_, &other)| other.own.keys().map(move |path| (other, path)));
    let shared = files.filter(|(_, path)| fullest.1.own.contains_key(*path));
    let equal = shared.map(|(other, path)| other.has_same(fullest.1, path));
    equal.reduce(|all, equal| all && equal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_larger_part_of_the_odds_says_what_to_measure() {
        let odds = |runs, builds, flaky| ChanceOdds { runs, builds, flaky, is_unsteady: true };
        let flaky = odds(0.03, 0.001, 0.03);
        assert!(flaky.is_about_flaky_commits() && !flaky.is_about_builds());
        let builds = odds(0.001, 0.03, 0.001);
        assert!(builds.is_about_builds() && !builds.is_about_flaky_commits());
    }
}
