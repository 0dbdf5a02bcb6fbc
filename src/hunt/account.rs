//! The account: good → bad = the own steps found + the rest. Where the rest still exceeds the
//! limit, in either direction, the hunt goes on. Pure.

use super::aside::Aside;
use super::effect::weight;
use super::search::{Searched, candidates_sentence};
use super::standing::{Around, Found, Mend, Standing, beyond_good, mends_before, settle};
use crate::evaluation::{
    Account, Aim, Basis, CommitId, Contribution, Culprit, Effect, Finding, GuardTarget, Metric,
    Outcome, Target,
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
    /// Side branches that are set aside.
    pub(super) aside: Vec<Aside>,
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
    found: Vec<Found>,
    mends: Vec<Mend>,
    hidden: Vec<(CommitId, Vec<CommitId>)>,
    crossings: Vec<Culprit>,
    candidates: Vec<(Vec<CommitId>, String)>,
    /// How much the metric rises where only candidates were found; infinite for what has no
    /// steps.
    largest_open: f64,
    notes: Vec<String>,
}

impl Ledger {
    pub(super) fn new(targets: &[Target], aim: Aim) -> Self {
        Self {
            aim,
            targets: targets.to_vec(),
            found: Vec::new(),
            mends: Vec::new(),
            hidden: Vec::new(),
            crossings: Vec::new(),
            candidates: Vec::new(),
            largest_open: 0.0,
            notes: Vec::new(),
        }
    }

    pub(super) fn note(&mut self, text: impl Into<String>) {
        self.notes.push(text.into());
    }

    /// Whether nothing was found yet.
    pub(super) fn is_empty(&self) -> bool {
        self.found.is_empty() && self.crossings.is_empty() && self.candidates.is_empty()
    }

    /// Whether all that was found is a limit crossed by small steps.
    pub(super) fn is_gradual(&self) -> bool {
        self.found.is_empty() && self.candidates.is_empty() && !self.crossings.is_empty()
    }

    /// A merge that was found only brings in what this commit did on its branch: it is named in
    /// its place.
    pub(super) fn brought_by(&mut self, merge: &CommitId, inside: &Culprit) {
        let inner = &inside.info.commit;
        self.notes.push(format!("{} is merged by {}", inner.short(), merge.short()));
        if self.found.iter().any(|found| found.culprit.info.commit == *inner) {
            self.found.retain(|found| found.culprit.info.commit != *merge);
        }
        let mut found = self.found.iter_mut();
        if let Some(found) = found.find(|found| found.culprit.info.commit == *merge) {
            found.culprit = inside.clone();
        }
    }

    /// The budget ended before it was known whether the last commit's change lasts; `is_worse`:
    /// the bad end is better than it, so that it was made good at least in part.
    pub(super) fn doubt_last(&mut self, is_worse: bool, runs: u32) {
        self.notes.push(format!(
            "whether it lasts was not looked at: the budget of {runs} runs is spent"
        ));
        if let Some(found) = self.found.last_mut().filter(|_| is_worse) {
            found.standing = Standing::Unclear;
        }
    }

    /// A found commit's change is gone from the newer end, which shows the same all the same: it
    /// or one of these did that.
    pub(super) fn hides(&mut self, commit: &CommitId, after: &[CommitId]) {
        self.hidden.push((commit.clone(), after.to_vec()));
    }

    /// The first bad commits found so far, in the order they were found.
    pub(super) fn found(&mut self) -> &mut [Found] {
        &mut self.found
    }

    /// A place where the metric got better again, to be settled at the end.
    pub(super) fn mended(&mut self, mend: Mend) {
        // Two ways may lead over one mend.
        if self.mends.iter().all(|one| one.by != mend.by || one.metric != mend.metric) {
            self.mends.push(mend);
        }
    }

    /// How much worse a level is than the good end's.
    pub(super) fn beyond_good(&self, metric: &Metric, level: f64) -> Option<f64> {
        beyond_good(&self.targets, metric, level)
    }

    /// The places where the metric got better again.
    pub(super) fn mends(&self) -> &[Mend] {
        &self.mends
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
                self.largest_open = self.largest_open.max(rise_of(stretch));
                self.candidates.push((commits, why));
                return Vec::new();
            }
            Searched::Nothing(why) | Searched::BuildsDisagree(why) => {
                self.notes.push(why);
                return Vec::new();
            }
            Searched::Culprit(culprit, seen) => {
                self.mends.extend(mends_before(stretch, &culprit, &self.targets));
                let is_known = |found: &Found| found.culprit.info.commit == culprit.info.commit;
                if !self.found.iter().any(is_known) {
                    self.found.push(Found::new((*culprit).clone()));
                }
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

    /// Says what the places where the metric got better again make of the commits found; `around`
    /// tells what is known of each found commit beside a mend.
    pub(super) fn settle(&mut self, mend: &Mend, around: &[Around]) {
        settle(&mut self.found, mend, around);
    }

    /// The answer. `history`: the commits between the endpoints, oldest first.
    pub(super) fn close(
        mut self,
        contributions: Vec<Contribution>,
        history: &[CommitId],
    ) -> Finding {
        // What lay before the first one found may have been entered after it.
        let place = |found: &Found| history.iter().position(|c| *c == found.culprit.info.commit);
        self.found.sort_by_cached_key(place);
        let accounts = self.accounts();
        self.doubt();
        self.note_what_was_undone();
        let culprits: Vec<Culprit> = self.named().cloned().collect();
        let main = main_of(&self.found);
        let mut notes = std::mem::take(&mut self.notes);
        let besides = |notes: &mut Vec<String>, candidates: &[(Vec<CommitId>, String)]| {
            for (commits, why) in candidates {
                notes.push(format!("besides, {}", candidates_sentence(commits, why, self.aim)));
            }
            for crossing in &self.crossings {
                notes.push(format!("besides, small steps add up: {}", small_sentence(crossing)));
            }
        };
        let (outcome, summary, candidates) = if let Some(main) = main {
            let culprit = &culprits[main];
            besides(&mut notes, &self.candidates);
            (
                Outcome::Culprit,
                culprit_sentence(culprit, self.aim),
                vec![culprit.info.commit.clone()],
            )
        } else if let Some((commits, why)) = self.candidates.first() {
            besides(&mut notes, &self.candidates[1..]);
            let mut all: Vec<CommitId> = Vec::new();
            for commit in self.candidates.iter().flat_map(|(commits, _)| commits) {
                if !all.contains(commit) {
                    all.push(commit.clone());
                }
            }
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
            let candidates = self.after_what_was_undone(history);
            return Finding { candidates, accounts, notes, ..super::search::nothing() };
        };
        Finding {
            outcome,
            summary,
            main: main.filter(|_| outcome == Outcome::Culprit),
            culprits,
            candidates,
            accounts,
            contributions,
            notes,
        }
    }

    /// The commits that are named, in order of history.
    fn named(&self) -> impl Iterator<Item = &Culprit> {
        self.found.iter().filter(|found| found.is_named()).map(|found| &found.culprit)
    }

    /// Whether a commit was found whose change is still there.
    pub(super) fn has_answer(&self) -> bool {
        self.found.iter().any(Found::stands)
    }

    /// The commits after the last place where something was undone: one of them must have done
    /// what the newer end shows.
    fn after_what_was_undone(&self, history: &[CommitId]) -> Vec<CommitId> {
        let place = |found: &Found| match &found.standing {
            Standing::Undone { by, .. } => history.iter().position(|commit| commit == by),
            _ => None,
        };
        let from = self.found.iter().filter_map(place).max().map_or(0, |place| place + 1);
        history[from..].to_vec()
    }

    fn note_what_was_undone(&mut self) {
        for Found { culprit, standing } in &self.found {
            let Standing::Undone { by, again } = standing else { continue };
            let then = if *again { ", and landed again later" } else { "" };
            let said = culprit_sentence(culprit, self.aim);
            self.notes.push(format!("{said}; undone by {} at the latest{then}", by.short()));
        }
    }

    /// Commits that may be the reason or not are candidates, never named.
    fn doubt(&mut self) {
        let mut unclear = Vec::new();
        let mut largest_unclear: f64 = 0.0;
        let mut doubts = Vec::new();
        let size = |culprit: &Culprit| match culprit.effects.first() {
            // A fact has no size, and outweighs every number; a rate has none either.
            Some(effect) if culprit.basis == Basis::BitExact => {
                effect.own_step.unwrap_or(f64::INFINITY)
            }
            Some(effect) => effect.own_step.unwrap_or(0.0),
            None => f64::INFINITY,
        };
        let clearest = self.named().map(size).fold(0.0, f64::max);
        for (commit, after) in std::mem::take(&mut self.hidden) {
            // One that was found behind it explains what is left.
            let is_behind =
                |found: &&Found| found.stands() && after.contains(&found.culprit.info.commit);
            let behind = self.found.iter().find(is_behind).map(|found| &found.culprit.info.commit);
            let standing = if let Some(by) = behind.cloned() {
                Standing::Undone { by, again: false }
            } else {
                let among = [commit.clone()].into_iter().chain(after).collect();
                Standing::Hides { among, left: f64::INFINITY }
            };
            let mut found = self.found.iter_mut().filter(|found| found.stands());
            if let Some(found) = found.find(|found| found.culprit.info.commit == commit) {
                found.standing = standing;
            }
        }
        for Found { culprit, standing } in &self.found {
            match standing {
                Standing::Unclear => {
                    let step = culprit.effects.first().and_then(|effect| effect.own_step);
                    largest_unclear = largest_unclear.max(step.unwrap_or(f64::INFINITY));
                    unclear.push(culprit.info.commit.clone());
                }
                Standing::Hides { among, left } => {
                    let commit = culprit.info.commit.short();
                    let why = if left.is_finite() {
                        format!(
                            "{commit} broke it far more than what is left, and was made good \
                             later; while it was broken, no other change could be seen"
                        )
                    } else {
                        format!(
                            "{commit} broke it first, and its change is gone at the end, which \
                             shows the same: one of these broke it again"
                        )
                    };
                    doubts.push((among.clone(), why, *left));
                }
                Standing::Stands | Standing::Undone { .. } => {}
            }
        }
        let is_open = largest_unclear > clearest
            || self.largest_open > clearest
            || doubts.iter().any(|(.., left)| *left > clearest);
        if !unclear.is_empty() {
            let why = "a later commit made one of them good, and the figures fit each".to_owned();
            self.candidates.insert(0, (unclear, why));
        }
        self.candidates.extend(doubts.into_iter().map(|(among, why, _)| (among, why)));
        if is_open {
            for found in &mut self.found {
                // Confirmed as a step, and not enough to explain the bad end.
                if found.stands() {
                    self.notes.push(culprit_sentence(&found.culprit, self.aim));
                    found.standing = Standing::Unclear;
                }
            }
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
            let found =
                self.found.iter().filter(|found| found.stands()).map(|found| &found.culprit);
            let explained = found.filter_map(step).fold(0.0, |sum, x| sum + x);
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

/// How much the metric rises over a stretch; infinite for what has no levels.
fn rise_of(stretch: &Stretch) -> f64 {
    let rise = |target: &Target| match target {
        Target::Guard(target) => {
            let ends = target.baseline.number().zip(target.bad.number());
            ends.map_or(f64::INFINITY, |(good, bad)| target.guard.worsening(good, bad))
        }
        Target::Failure { .. } => f64::INFINITY,
    };
    stretch.targets.iter().map(rise).fold(0.0, f64::max)
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

/// Which of the named commits has the largest own step, in units of its limit, of those whose
/// change is still there.
fn main_of(found: &[Found]) -> Option<usize> {
    let size = |culprit: &Culprit| match culprit.effects.first() {
        Some(effect) => weight(effect),
        None => f64::INFINITY,
    };
    let mut best: Option<(usize, f64)> = None;
    for (index, found) in found.iter().filter(|found| found.is_named()).enumerate() {
        let size = size(&found.culprit);
        if found.stands() && best.is_none_or(|(_, largest)| size > largest) {
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
