//! The account: good → bad = the own steps found + the rest. Where the rest still exceeds the
//! limit, the hunt goes on. Pure.

use super::effect::weight;
use super::search::{Searched, candidates_sentence};
use crate::evaluation::{
    Account, Aim, CommitId, Contribution, Culprit, Effect, Finding, GuardTarget, Metric, Outcome,
    Target,
};
use crate::oracle::Observation;
use crate::ui::text;

/// A stretch of history with the targets it is searched for.
#[derive(Clone, Debug)]
pub(super) struct Stretch {
    pub(super) good: CommitId,
    pub(super) bad: CommitId,
    /// Which of the two is older.
    pub(super) aim: Aim,
    pub(super) targets: Vec<Target>,
    pub(super) paths: Vec<String>,
}

impl Stretch {
    /// The older and the newer end.
    pub(super) fn ends(&self) -> [&CommitId; 2] {
        self.aim.turned([&self.good, &self.bad])
    }

    /// The same stretch up to this newer end.
    pub(super) fn up_to(self, newer: CommitId) -> Self {
        match self.aim {
            Aim::Regression => Self { bad: newer, ..self },
            Aim::Fix => Self { good: newer, ..self },
        }
    }
}

/// The good and the bad side of a found commit's step.
fn sides(found: &Culprit, aim: Aim) -> [&CommitId; 2] {
    aim.turned([&found.parent, &found.info.commit])
}

/// What was found so far.
#[derive(Debug)]
pub(super) struct Ledger {
    aim: Aim,
    targets: Vec<Target>,
    culprits: Vec<Culprit>,
    crossings: Vec<Culprit>,
    candidates: Vec<(Vec<CommitId>, String)>,
    notes: Vec<String>,
}

impl Ledger {
    pub(super) fn new(targets: &[Target], aim: Aim) -> Self {
        Self {
            aim,
            targets: targets.to_vec(),
            culprits: Vec::new(),
            crossings: Vec::new(),
            candidates: Vec::new(),
            notes: Vec::new(),
        }
    }

    pub(super) fn note(&mut self, text: impl Into<String>) {
        self.notes.push(text.into());
    }

    /// Whether nothing was found yet.
    pub(super) fn is_empty(&self) -> bool {
        self.culprits.is_empty() && self.crossings.is_empty() && self.candidates.is_empty()
    }

    /// Whether all that was found is a limit crossed by small steps.
    pub(super) fn is_gradual(&self) -> bool {
        self.culprits.is_empty() && self.candidates.is_empty() && !self.crossings.is_empty()
    }

    /// The metric a ramp is told of.
    pub(super) fn first_metric(&self) -> Option<GuardTarget> {
        self.targets.iter().find_map(|target| match target {
            Target::Guard(target) => Some(target.clone()),
            Target::Failure { .. } => None,
        })
    }

    /// Enters what a stretch came to; returns the stretches that must be searched besides.
    pub(super) fn enter(
        &mut self,
        stretch: &Stretch,
        searched: Searched,
        bad: &Observation,
    ) -> Vec<Stretch> {
        let (found, seen) = match searched {
            Searched::Candidates(commits, why) => {
                self.candidates.push((commits, why));
                return Vec::new();
            }
            Searched::Nothing(why) => {
                self.notes.push(why);
                return Vec::new();
            }
            Searched::Culprit(culprit, seen) => {
                self.culprits.push((*culprit).clone());
                (culprit, seen)
            }
            Searched::Gradual(culprit, seen) => {
                self.crossings.push((*culprit).clone());
                (culprit, seen)
            }
        };
        let mut next = Vec::new();
        next.extend(Self::towards_good(stretch, &found));
        next.extend(self.towards_bad(stretch, &found, &seen, bad));
        next
    }

    /// What lies between the bad side of the found step, whose level is the baseline there, and
    /// the bad end: after the commit, or before its parent where a fix was found.
    fn towards_bad(
        &mut self,
        stretch: &Stretch,
        found: &Culprit,
        seen: &Observation,
        bad: &Observation,
    ) -> Option<Stretch> {
        let [_, from] = sides(found, stretch.aim);
        if *from == stretch.bad {
            return None;
        }
        let mut targets = Vec::new();
        for target in &stretch.targets {
            let Target::Guard(target) = target else { continue };
            let metric = &target.guard.metric;
            // How often something fails has no account.
            if target.noise.is_some_and(|noise| noise.kind.is_rate()) {
                continue;
            }
            let Some(level) = seen.level(metric) else {
                self.notes.push(format!(
                    "{} has no {metric}, so what happened to it {} was not looked for",
                    from.short(),
                    beyond(stretch.aim)
                ));
                continue;
            };
            let rest = GuardTarget { baseline: level, ..target.clone() };
            if !exceeds(&rest) {
                continue;
            }
            let own = seen.numbers(metric);
            // The end of a stretch of the account's own is a parent that was seen before: only
            // its level is at hand.
            let runs = if stretch.bad == bad.commit { bad.numbers(metric).len() } else { 1 };
            if is_beyond_noise(&rest, own.len(), runs) {
                targets.push(Target::Guard(rest));
            } else {
                self.notes.push(format!(
                    "what {metric} still changes {} {} is lost in its noise",
                    beyond(stretch.aim),
                    from.short()
                ));
            }
        }
        (!targets.is_empty()).then(|| Stretch { good: from.clone(), targets, ..stretch.clone() })
    }

    /// What lies between the good end and the good side of the found step: only in noise, where
    /// a level between good and bad may pass for good, can more than the limit be left there.
    fn towards_good(stretch: &Stretch, found: &Culprit) -> Option<Stretch> {
        let [to, _] = sides(found, stretch.aim);
        if *to == stretch.good {
            return None;
        }
        let mut targets = Vec::new();
        for target in &stretch.targets {
            let Target::Guard(target) = target else { continue };
            // How often something fails is no level that could lie between the two.
            if target.noise.is_none_or(|noise| noise.kind.is_rate()) {
                continue;
            }
            let is_same = |effect: &&Effect| effect.metric == target.guard.metric;
            let Some(effect) = found.effects.iter().find(is_same) else { continue };
            let [level, _] = stretch.aim.turned([&effect.parent, &effect.commit]);
            let rest = GuardTarget { bad: level.clone(), ..target.clone() };
            let runs = target.noise.map_or(1, |noise| noise.runs);
            if exceeds(&rest) && is_beyond_noise(&rest, runs, 2) {
                targets.push(Target::Guard(rest));
            }
        }
        (!targets.is_empty()).then(|| Stretch { bad: to.clone(), targets, ..stretch.clone() })
    }

    /// The answer. `history`: the commits between the endpoints, oldest first.
    pub(super) fn close(
        mut self,
        contributions: Vec<Contribution>,
        history: &[CommitId],
    ) -> Finding {
        // What lay before the first one found may have been entered after it.
        let place = |culprit: &Culprit| history.iter().position(|c| *c == culprit.info.commit);
        self.culprits.sort_by_cached_key(place);
        let accounts = self.accounts();
        let main = main_of(&self.culprits);
        let mut notes = self.notes;
        let (outcome, summary, candidates) = if let Some(main) = main {
            let culprit = &self.culprits[main];
            for (commits, why) in &self.candidates {
                notes.push(format!("besides, {}", candidates_sentence(commits, why, self.aim)));
            }
            for crossing in &self.crossings {
                notes.push(format!("besides, small steps add up: {}", small_sentence(crossing)));
            }
            (
                Outcome::Culprit,
                culprit_sentence(culprit, self.aim),
                vec![culprit.info.commit.clone()],
            )
        } else if let Some((commits, why)) = self.candidates.first() {
            for (commits, why) in &self.candidates[1..] {
                notes.push(format!("besides, {}", candidates_sentence(commits, why, self.aim)));
            }
            for crossing in &self.crossings {
                notes.push(format!("besides, small steps add up: {}", small_sentence(crossing)));
            }
            let all = self.candidates.iter().flat_map(|(commits, _)| commits.clone()).collect();
            (Outcome::Candidates, candidates_sentence(commits, why, self.aim), all)
        } else if let Some(crossing) = self.crossings.first() {
            let mut all: Vec<CommitId> =
                self.crossings.iter().map(|c| c.info.commit.clone()).collect();
            let singles = contributions.iter().filter(|c| c.commits == 1);
            for single in singles {
                if !all.contains(&single.to) {
                    all.push(single.to.clone());
                }
            }
            let summary = format!("{}; nobody is blamed", small_sentence(crossing));
            (Outcome::Gradual, summary, all)
        } else {
            return super::search::nothing();
        };
        Finding {
            outcome,
            summary,
            culprits: self.culprits,
            main,
            candidates,
            accounts,
            contributions,
            notes,
        }
    }

    fn accounts(&self) -> Vec<Account> {
        let mut accounts = Vec::new();
        for target in &self.targets {
            let Target::Guard(target) = target else { continue };
            let metric = &target.guard.metric;
            if target.noise.is_some_and(|noise| noise.kind.is_rate()) {
                // What fails now and then has no steps to add up, whatever its runs print.
                continue;
            }
            let (Some(good), Some(bad)) = (target.baseline.number(), target.bad.number()) else {
                continue;
            };
            let total = target.guard.worsening(good, bad);
            // One step a culprit, though two guards of one metric have an effect each.
            let step = |culprit: &Culprit| {
                let mut effects = culprit.effects.iter();
                effects.find(|effect| effect.metric == *metric).and_then(|effect| effect.own_step)
            };
            // Not `sum`: that of no numbers is -0, and people would read the sign.
            let explained = self.culprits.iter().filter_map(step).fold(0.0, |sum, x| sum + x);
            if accounts.iter().all(|account: &Account| account.metric != *metric) {
                accounts.push(Account {
                    metric: metric.clone(),
                    total,
                    explained,
                    rest: total - explained,
                    limit: target.limit,
                });
            }
        }
        accounts
    }
}

/// On which side of the bad side of a step the bad end lies.
fn beyond(aim: Aim) -> &'static str {
    aim.turned(["after", "before"])[0]
}

/// Whether the bad level still breaks the guard against the baseline.
fn exceeds(target: &GuardTarget) -> bool {
    match (target.baseline.number(), target.bad.number()) {
        (Some(a), Some(b)) => target.guard.worsening(a, b) > target.limit.max(0.0),
        _ => target.baseline != target.bad,
    }
}

/// Whether what is left exceeds its limit by more than two standard errors of two levels with
/// so many runs; what does not is not worth a night.
fn is_beyond_noise(rest: &GuardTarget, good: usize, bad: usize) -> bool {
    let (Some(noise), Some(from), Some(to)) =
        (rest.noise, rest.baseline.number(), rest.bad.number())
    else {
        return true;
    };
    if noise.kind.is_rate() {
        return rest.baseline != rest.bad;
    }
    let scale = rest.orientation();
    let error = noise.sd * (1.0 / good.max(1) as f64 + 1.0 / bad.max(1) as f64).sqrt();
    scale.oriented(to) - scale.oriented(from) > rest.oriented_limit() + 2.0 * error
}

/// The culprit with the largest own step, in units of its limit.
fn main_of(culprits: &[Culprit]) -> Option<usize> {
    let size = |culprit: &Culprit| match culprit.effects.first() {
        Some(effect) => weight(effect),
        None => f64::INFINITY,
    };
    let mut best: Option<(usize, f64)> = None;
    for (index, culprit) in culprits.iter().enumerate() {
        let size = size(culprit);
        if best.is_none_or(|(_, largest)| size > largest) {
            best = Some((index, size));
        }
    }
    best.map(|(index, _)| index)
}

fn culprit_sentence(culprit: &Culprit, aim: Aim) -> String {
    let commit = culprit.info.commit.short();
    let sought = aim.sought();
    match (culprit.effects.first(), &culprit.failure) {
        (Some(effect), _) => match effect.own_step {
            Some(step) => format!(
                "{commit} is the {sought}: {} {} → {} (own step {step:.6}, tolerance {:.6})",
                effect.metric,
                text::value(&effect.parent),
                text::value(&effect.commit),
                effect.limit
            ),
            None => format!(
                "{commit} is the {sought}: {} {} → {}",
                effect.metric,
                text::value(&effect.parent),
                text::value(&effect.commit)
            ),
        },
        (None, Some(failure)) => {
            let [whose, _] = aim.turned(["it", "its parent"]);
            format!("{commit} is the {sought}: {whose} {} ({})", failure.kind, failure.detail)
        }
        (None, None) => format!("{commit} is the {sought}"),
    }
}

fn small_sentence(crossing: &Culprit) -> String {
    let commit = crossing.info.commit.short();
    let step = |effect: &Metric, step: f64, limit: f64| {
        format!(
            "the limit of {effect} is crossed at {commit}, whose own step is only {step:.6} of a \
             tolerance of {limit:.6}"
        )
    };
    match crossing.effects.first() {
        Some(effect) => step(&effect.metric, effect.own_step.unwrap_or(0.0), effect.limit),
        None => format!("the limit is crossed at {commit}"),
    }
}

#[cfg(test)]
mod tests;
