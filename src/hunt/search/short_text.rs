//! A search whose runs read only the beginning of the text, if the endpoints' runs show that this
//! is enough. The endpoints and the confirmation read the full text. If a confirmation fails, the
//! range is searched with the full text: a short text can cost time, but never changes the answer.

use crate::config::{Config, Measure};
use crate::evaluation::{
    CommitId, Direction, GuardTarget, Phase, Reading, Target, TextLength, Value, Verdict,
};
use crate::hunt::HuntError;
use crate::hunt::claim::{Claim, ConfirmationOutcome};
use crate::hunt::driver::Driver;
use crate::hunt::endpoints::Endpoints;
use crate::hunt::range::SearchRange;
use crate::hunt::searched::Searched;
use crate::hunt::short::TextPrefix;
use crate::hunt::strategy::SearchStrategy;
use crate::oracle::{Observation, Request, measures_of};
use crate::stats::{PrefixProfile, shortest};
use crate::store::journal::{Event, SearchEnd, SearchMethod};

use super::git_bisect::{BisectEnd, bisect};

/// The smallest number of chunks that is enough for a search, if it saves a third of the text and
/// all recipes of the hunt use `{chunks}` alike.
pub(crate) fn choose(
    endpoints: &Endpoints,
    strategy: &SearchStrategy,
    config: &Config,
) -> Option<TextPrefix> {
    let Endpoints { good, bad, .. } = endpoints;
    let is_wanted = config.statistics.short_text && strategy.method == SearchMethod::BitIdentical;
    if !is_wanted || !can_be_asked(config, &measures_of(&strategy.targets)) {
        return None;
    }
    // Other targets do not depend on the number of chunks.
    let is_text = |target: &&Target| match target {
        Target::Guard(target) => takes_chunks(config, target),
        Target::Failure { .. } => true,
    };
    let texts = strategy.targets.iter().filter(is_text);
    let profiles = texts.map(|target| profile(target, good, bad)).collect::<Option<Vec<_>>>()?;
    let chunks = shortest(&profiles)?;
    let mut of = profiles.iter();
    let at = |target: &Target| match target {
        Target::Guard(guarded) if is_text(&target) => scaled(guarded, &of.next()?.0, chunks),
        other => Some(other.clone()),
    };
    let targets = strategy.targets.iter().map(at).collect::<Option<Vec<_>>>()?;
    Some(TextPrefix { chunks: u32::try_from(chunks).ok()?, targets })
}

/// Whether all recipes of the hunt use `{chunks}` alike. Each key of a recipe comes from the file
/// or from one override, so checking one override at a time is enough.
fn can_be_asked(config: &Config, measures: &[String]) -> bool {
    let takes = |config: &Config| -> Vec<bool> {
        let takes = |name: &String| config.measure(name).is_some_and(Measure::takes_chunks);
        measures.iter().map(takes).collect()
    };
    let alone = |wanted: usize| {
        let mut place = 0..;
        config.resolve(&mut |_| Ok::<_, std::convert::Infallible>(place.next() == Some(wanted)))
    };
    let is_alike = |other: &Config| {
        takes(other) == takes(config)
            && other.run.chunks == config.run.chunks
            && !other.build.takes_chunks()
    };
    is_alike(config)
        && (0..config.overrides.len()).all(|at| alone(at).is_ok_and(|it| is_alike(&it)))
}

fn takes_chunks(config: &Config, target: &GuardTarget) -> bool {
    let measure = config.measure(&target.guard.metric.measure);
    measure.is_some_and(Measure::takes_chunks)
}

/// The difference of the endpoints' runs by chunk, and the tolerance. `None` if the target is not
/// a perplexity over chunks.
fn profile(target: &Target, good: &Observation, bad: &Observation) -> Option<(PrefixProfile, f64)> {
    let Target::Guard(target) = target else { return None };
    let metric = &target.guard.metric;
    if metric.name.is_some() || target.guard.direction() == Direction::Any {
        return None;
    }
    let profile = PrefixProfile::of(&runs(good, &metric.measure), &runs(bad, &metric.measure))?;
    Some((profile, target.limit.max(0.0)))
}

/// The values that each run printed after each chunk.
fn runs<'s>(seen: &'s Observation, measure: &'s str) -> Vec<&'s [f64]> {
    seen.readings(measure).map(|reading| reading.chunks.as_slice()).collect()
}

/// The target after this number of chunks. The levels come from the endpoints' full runs at that
/// chunk. The tolerance is scaled by the same share as the difference.
fn scaled(target: &GuardTarget, profile: &PrefixProfile, chunks: usize) -> Option<Target> {
    let prefix = profile.prefix(chunks)?;
    Some(Target::Guard(GuardTarget {
        baseline: Value::Number(prefix.good),
        bad: Value::Number(prefix.bad),
        limit: target.limit * prefix.share,
        text: target.text.map(|text| TextLength { chunks, ..text }),
        ..target.clone()
    }))
}

/// Searches the range with the short text. `None` if there is no short text or the full text did
/// not confirm the result; then the search goes on with the full text.
pub(crate) fn search(
    driver: &mut Driver<'_>,
    search_range: &SearchRange,
    strategy: &SearchStrategy,
) -> Result<Option<Searched>, HuntError> {
    if driver.short.is_none() {
        return Ok(None);
    }
    let number = driver.searches;
    let end = match bisect(driver, search_range, strategy)? {
        BisectEnd::Answer(end) => end,
        BisectEnd::MachineChanged(change) => return Ok(Some(Searched::MachineChanged(change))),
    };
    driver.searches += 1;
    let commit = match end {
        SearchEnd::Candidates(commits) => {
            let holds = driver.bounds_hold(&commits, strategy, number)?;
            driver.short = None;
            return Ok(holds.then_some(Searched::Untestable(commits)));
        }
        SearchEnd::FirstBad(commit) => commit,
    };
    let confirmed = driver.confirm(Claim::of(search_range, &commit, strategy, number))?;
    driver.short = None;
    let why = match confirmed {
        ConfirmationOutcome::Culprit(culprit, seen) => {
            driver.name_what_was_hidden(&culprit, &search_range.paths)?;
            return Ok(Some(Searched::Culprit(culprit, seen)));
        }
        ConfirmationOutcome::HomeMatters(why) => return Ok(Some(Searched::HomeMatters(why))),
        // Gradual steps are added up from levels, and levels of the short text are different.
        ConfirmationOutcome::Small(..) => "its own step is small".to_owned(),
        ConfirmationOutcome::NotReproduced(why)
        | ConfirmationOutcome::ParentAlready(_, why)
        | ConfirmationOutcome::Undecided(why) => why,
        ConfirmationOutcome::Undecidable(_, why) => why.to_string(),
    };
    driver.contradicted(&commit, &format!("{why}; the search goes on with the full text"))?;
    Ok(None)
}

impl Driver<'_> {
    /// Whether the commits that bound untestable candidates get the same verdicts with the full
    /// text.
    fn bounds_hold(
        &mut self,
        candidates: &[CommitId],
        strategy: &SearchStrategy,
        number: usize,
    ) -> Result<bool, HuntError> {
        for (commit, short) in self.bounds(candidates, number)? {
            let judgement = self.judge(&commit, &strategy.targets)?;
            if judgement.verdict != short {
                let why = format!(
                    "the full text says {} ({}); the search goes on with the full text",
                    judgement.verdict, judgement.reason
                );
                self.contradicted(&commit, &why)?;
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The commits that bound the candidates, with this search's verdicts: the candidates with the
    /// newer end's verdict, and the newest commits with the older end's verdict.
    fn bounds(
        &self,
        candidates: &[CommitId],
        number: usize,
    ) -> Result<Vec<(CommitId, Verdict)>, HuntError> {
        let terms = self.terms();
        let (mut bounds, mut old) = (Vec::new(), Vec::new());
        for entry in &self.hunt.entries_in_force()? {
            let Event::Judged(judged) = &entry.event else { continue };
            if judged.search_number != number || judged.phase != Phase::Search {
                continue;
            }
            let known = (judged.commit.clone(), judged.judgement.verdict);
            match known.1 {
                verdict if terms.is_older(verdict) && !old.contains(&known) => old.push(known),
                verdict
                    if terms.is_newer(verdict)
                        && candidates.contains(&known.0)
                        && !bounds.contains(&known) =>
                {
                    bounds.push(known);
                }
                _ => {}
            }
        }
        for (commit, verdict) in &old {
            let mut is_newest = true;
            for (other, _) in old.iter().filter(|(other, _)| other != commit) {
                is_newest &= !self.oracle.history.is_ancestor(commit, other)?;
            }
            if is_newest {
                bounds.push((commit.clone(), *verdict));
            }
        }
        Ok(bounds)
    }

    /// Whether the commit's short runs are bit-identical to the beginning of its full runs.
    pub(crate) fn has_same_prefix(
        &mut self,
        commit: &CommitId,
        whole: &Observation,
    ) -> Result<bool, HuntError> {
        let Some(short) = self.short.clone() else { return Ok(true) };
        let measures = measures_of(&short.targets);
        let look = Request::look(commit, &measures, Phase::Search);
        let part = self.oracle.evaluate(Request { chunks: Some(short.chunks), ..look })?;
        let begins = |measure: &String| {
            let mut all = whole.readings(measure);
            all.all(|whole| part.readings(measure).all(|part| begins_with(whole, part)))
        };
        Ok(part.samples.keys().all(begins))
    }
}

fn begins_with(whole: &Reading, part: &Reading) -> bool {
    whole.chunks.len() >= part.chunks.len()
        && whole.chunks.iter().zip(&part.chunks).all(|(a, b)| a.to_bits() == b.to_bits())
}
