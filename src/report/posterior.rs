//! Posteriors of the searches whose values vary from run to run, with levels and noise.

use crate::evaluation::{CommitId, GuardTarget, Noise, NoiseKind, Target, Value};
use crate::store::journal::{CommitPosterior, PosteriorSnapshot, SearchEnd, SearchMethod};

use super::model::{
    FirstBad, LikelyCommit, MeasuredCommit, NoiseLine, PosteriorLine, Report, SearchLine,
};

/// The searches in the journal.
#[derive(Default)]
pub(super) struct Searches<'a> {
    all: Vec<Search<'a>>,
}

struct Search<'a> {
    line: SearchLine,
    targets: &'a [Target],
    weighed: Option<&'a PosteriorSnapshot>,
}

impl<'a> Searches<'a> {
    /// Adds a search. The journal announces a resumed or restarted search again; the last
    /// announcement counts.
    pub(super) fn began(&mut self, line: SearchLine, targets: &'a [Target]) {
        self.all.retain(|search| search.line.search_number != line.search_number);
        self.all.push(Search { line, targets, weighed: None });
    }

    pub(super) fn weighed(&mut self, weighed: &'a PosteriorSnapshot) {
        if let Some(search) = self.numbered(weighed.search_number) {
            search.weighed = Some(weighed);
        }
    }

    pub(super) fn ended(&mut self, search_number: usize, end: &SearchEnd) {
        if let Some(search) = self.numbered(search_number) {
            search.line.named = match end {
                SearchEnd::FirstBad(commit) => Some(commit.clone()),
                SearchEnd::Candidates(_) => None,
            };
        }
    }

    fn numbered(&mut self, search_number: usize) -> Option<&mut Search<'a>> {
        self.all.iter_mut().find(|search| search.line.search_number == search_number)
    }

    pub(super) fn lines(&self) -> Vec<SearchLine> {
        self.all.iter().map(|search| search.line.clone()).collect()
    }

    pub(super) fn posterior(&self) -> Vec<PosteriorLine> {
        self.all.iter().filter_map(Search::posterior).collect()
    }
}

impl Search<'_> {
    fn posterior(&self) -> Option<PosteriorLine> {
        let weighed = self.weighed?;
        let target = Target::on(self.targets, &weighed.metric)?.guard()?;
        let now = GuardTarget { noise: Some(weighed.noise), ..target.clone() };
        let first = |commit: &CommitId| {
            let known = weighed.commits.iter().find(|known| known.commit == *commit);
            LikelyCommit { commit: commit.clone(), first: known.map_or(0.0, |known| known.first) }
        };
        Some(PosteriorLine {
            search_number: weighed.search_number,
            metric: weighed.metric.clone(),
            calibrated: NoiseLine::of(target),
            noise: NoiseLine::of(&now)?,
            runs: weighed.runs,
            smallest_set: weighed.smallest_set.iter().map(first).collect(),
            commits: weighed.commits.clone(),
        })
    }
}

impl NoiseLine {
    /// The noise of a target, in the metric's unit; `None` if its values repeat.
    pub(super) fn of(target: &GuardTarget) -> Option<Self> {
        let noise = target.noise?;
        let Noise { kind, good, bad, sd, runs, paired, .. } = noise;
        let level = |x: f64| if kind.is_rate() { Value::Number(x) } else { target.level(x) };
        Some(Self {
            kind,
            good: level(good),
            bad: level(bad),
            // The standard deviation s of logarithms becomes a share of the value: e^s − 1.
            sd: Value::Number(if kind == NoiseKind::Log { sd.exp_m1() } else { sd }),
            distance: Value::Number(noise.distance()),
            runs,
            paired,
        })
    }
}

impl PosteriorLine {
    /// The probability that the commit is the first bad one.
    pub(super) fn first(&self, commit: &CommitId) -> Option<f64> {
        self.of(commit).map(|known| known.first)
    }

    /// Whether the commit is in the smallest set that holds most of the probability.
    fn leaves(&self, commit: &CommitId) -> bool {
        self.smallest_set.iter().any(|likely| likely.commit == *commit)
    }

    fn of(&self, commit: &CommitId) -> Option<&CommitPosterior> {
        self.commits.iter().find(|known| known.commit == *commit)
    }
}

/// Sets `p_bad` of each commit, from the first search that computed it. A later search has another
/// baseline.
pub(super) fn say_how_likely(commits: &mut [MeasuredCommit], posterior: &[PosteriorLine]) {
    let mut posterior: Vec<_> = posterior.iter().collect();
    posterior.sort_by_key(|one| one.search_number);
    for commit in commits {
        let mut known = posterior.iter().filter_map(|one| one.of(&commit.commit));
        commit.p_bad = known.next().map(|known| known.bad);
    }
}

/// Sorts candidates by probability, the most likely first, if all are in the smallest set of one
/// search. Equal candidates keep their order.
pub(super) fn likeliest_first(
    mut candidates: Vec<CommitId>,
    posterior: &[PosteriorLine],
) -> Vec<CommitId> {
    let leaves_all = |one: &&PosteriorLine| candidates.iter().all(|commit| one.leaves(commit));
    if let Some(one) = last(posterior.iter().filter(leaves_all)) {
        let likely = |commit: &CommitId| one.first(commit).unwrap_or(0.0);
        candidates.sort_by(|a, b| likely(b).total_cmp(&likely(a)));
    }
    candidates
}

/// The last of these searches. Earlier ones of the same commits were given up.
fn last<'a>(searches: impl Iterator<Item = &'a PosteriorLine>) -> Option<&'a PosteriorLine> {
    searches.max_by_key(|one| one.search_number)
}

impl Report {
    /// The probability that the commit is the first bad one, from the search that named it, or from
    /// the one that left it as a candidate. `None` if the candidates do not come from the searches'
    /// probabilities.
    pub(super) fn first(&self, commit: &CommitId) -> Option<f64> {
        let is_named = self.culprits.iter().any(|first| first.commit == *commit);
        let named_by = |one: &&PosteriorLine| {
            let number = one.search_number;
            let mut searches = self.searches.iter().filter(|line| line.search_number == number);
            searches.any(|line| line.named.as_ref() == Some(commit))
        };
        let leaves_it = |one: &&PosteriorLine| one.leaves(commit);
        let search = if is_named {
            last(self.posterior.iter().filter(named_by))
        } else if self.are_candidates_weighed() {
            last(self.posterior.iter().filter(leaves_it))
        } else {
            None
        };
        search.and_then(|one| one.first(commit))
    }

    /// Whether each candidate is in the smallest set of a search. If not, something contradicted
    /// that one commit made the whole change, which the probabilities of each search assume, or
    /// some candidates come from elsewhere: their probabilities do not count.
    pub(super) fn are_candidates_weighed(&self) -> bool {
        let is_weighed = |commit: &&CommitId| self.posterior.iter().any(|one| one.leaves(commit));
        self.unconfirmed().iter().all(is_weighed)
    }

    /// Whether the search that found the commit used values that vary from run to run.
    pub(super) fn was_found_in_noise(&self, first: &FirstBad) -> bool {
        let search = self.searches.iter().rev().find(|s| s.named.as_ref() == Some(&first.commit));
        let method = search.and_then(|search| search.method).or(self.steadiness);
        matches!(method, Some(SearchMethod::Sequential | SearchMethod::Posterior))
    }

    /// Whether that search compared failure rates.
    pub(super) fn was_found_by_rates(&self, first: &FirstBad) -> bool {
        let metric = first.effect.as_ref().map(|effect| &effect.metric);
        let mut guards = self.guards.iter().filter(|guard| Some(&guard.metric) == metric);
        let is_rate = guards.any(|guard| guard.noise.as_ref().is_some_and(|it| it.kind.is_rate()));
        is_rate && self.was_found_in_noise(first)
    }
}
