//! Detects commits that shift a metric by themselves, up and down, as another layout of the code
//! does. Such a shift repeats when the commit is built again, so fresh runs of a commit and its
//! parent cannot tell it from a regression. The levels of the commits around can.

use std::collections::BTreeSet;

use crate::evaluation::{CommitId, Culprit, GuardTarget, Phase, Verdict};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::outcome::account::Ledger;
use crate::hunt::range::SearchRange;
use crate::hunt::strategy::SearchStrategy;
use crate::oracle::Request;
use crate::search::{CommitLevel, CommitOffsets};
use crate::stats;
use crate::ui::text;

/// How many commits on each side of a claim are measured if levels go up and down.
const MOST_BESIDE: usize = 4;

/// The candidates, and why a found commit is only one of them.
type Objection = (Vec<CommitId>, String);

/// One path of history through a found commit.
struct Path {
    /// From the hunt's older end to its newer end.
    commits: Vec<CommitId>,
    /// The place of the found commit.
    claimed: usize,
}

impl Path {
    /// The places of the found commit, its parent, and the commits beside them.
    fn near(&self) -> std::ops::RangeInclusive<usize> {
        let last = self.commits.len() - 1;
        self.claimed.saturating_sub(1 + MOST_BESIDE)..=(self.claimed + MOST_BESIDE).min(last)
    }
}

/// The runs of one commit on the path.
struct RunsAt {
    place: usize,
    /// On the oriented scale; at least one.
    runs: Vec<f64>,
    level: f64,
}

impl Driver<'_> {
    /// In noise, withdraws found commits whose step may be an offset of one commit. Measures up to
    /// [`MOST_BESIDE`] commits on each side, but only if the known levels go up and down.
    pub(crate) fn withdraw_what_may_be_offsets(
        &mut self,
        ledger: &mut Ledger,
        claims: &[(CommitId, SearchRange)],
    ) -> Result<(), HuntError> {
        for (commit, search_range) in claims {
            let mut named = ledger.found().iter().filter(|found| found.is_named());
            let found = named.find(|found| found.culprit.info.commit == *commit);
            let Some(culprit) = found.map(|found| found.culprit.clone()) else { continue };
            match self.objection_by_offsets(search_range, &culprit) {
                // A limit must not discard a confirmed commit.
                Err(HuntError::Limit(limit)) => {
                    ledger.note_limit("the commits beside a found one were not measured", &limit);
                    self.limit = Some(limit);
                }
                objection => {
                    if let Some((among, why)) = objection? {
                        ledger.withdraw(commit, &among, why);
                    }
                }
            }
        }
        Ok(())
    }

    /// The objection to a found commit, by the levels of the commits around it. `None` without
    /// noise: the answer reports each change of such a metric. `None` also with drift: levels of
    /// different hours cannot be compared.
    fn objection_by_offsets(
        &mut self,
        search_range: &SearchRange,
        culprit: &Culprit,
    ) -> Result<Option<Objection>, HuntError> {
        let moved = search_range.moved_by(culprit);
        let strategy = SearchStrategy::of(&moved.targets, self.begun.options.search);
        let has_levels =
            |target: &&GuardTarget| target.noise.is_some_and(|noise| noise.has_levels());
        let Some(target) = strategy.noisy().filter(has_levels) else { return Ok(None) };
        if self.has_drifted {
            return Ok(None);
        }
        let Some(path) = self.path_through(culprit)? else { return Ok(None) };
        self.objection_by_levels(&path, target)
    }

    /// The path through a found commit and the parent that it is compared with; `None` if the
    /// hunt's ends are on no such path.
    fn path_through(&self, culprit: &Culprit) -> Result<Option<Path>, HuntError> {
        let commit = &culprit.info.commit;
        let [older, newer] = self.begun.ends();
        let before = self.chain(older, commit)?;
        let after = self.chain(commit, newer)?;
        let commits = [vec![older.clone()], before, after].concat();
        let claimed = commits.iter().position(|one| one == commit);
        let is_after_parent = |place: &usize| *place > 0 && commits[place - 1] == culprit.parent;
        let Some(claimed) = claimed.filter(is_after_parent) else { return Ok(None) };
        Ok(Some(Path { commits, claimed }))
    }

    /// The objection by the levels on this path. Measures the commits near the found one if the
    /// known levels make offsets likely.
    fn objection_by_levels(
        &mut self,
        path: &Path,
        target: &GuardTarget,
    ) -> Result<Option<Objection>, HuntError> {
        let wanted = self.oracle.recipes.config.statistics.confidence;
        let Some(known) = self.offsets(path, target)? else { return Ok(None) };
        if !known.are_likely() || known.confidence >= wanted {
            return Ok(None);
        }
        for place in path.near() {
            self.runs_at(path, place, target, 1)?;
        }
        let Some(known) = self.offsets(path, target)? else { return Ok(None) };
        if !known.are_sure() || known.confidence >= wanted {
            return Ok(None);
        }
        let mut places = known.candidates(wanted);
        if !places.contains(&path.claimed) {
            places.push(path.claimed);
        }
        let among = places.into_iter().map(|place| path.commits[place].clone()).collect();
        let why = self.offsets_in_words(path, target, &known)?;
        Ok(Some((among, why)))
    }

    /// What the known levels on the path say about offsets.
    fn offsets(
        &mut self,
        path: &Path,
        target: &GuardTarget,
    ) -> Result<Option<CommitOffsets>, HuntError> {
        let measured = self.measured()?;
        // A commit that could not be judged (other checks, for example) has no level to compare.
        let verdicts = self.last_verdicts()?;
        let mut looked_at: BTreeSet<usize> = path.near().collect();
        looked_at.extend([0, path.commits.len() - 1]);
        let mut known: Vec<RunsAt> = Vec::new();
        for (place, commit) in path.commits.iter().enumerate() {
            let is_measured = measured.contains(commit) || looked_at.contains(&place);
            if is_measured && verdicts.get(commit) != Some(&Verdict::Skip) {
                known.extend(self.runs_at(path, place, target, 0)?);
            }
        }
        let Some(index) = known.iter().position(|one| one.place == path.claimed) else {
            return Ok(None);
        };
        let Some(before) = index.checked_sub(1) else { return Ok(None) };
        let sign = (known[index].level - known[before].level).signum();
        let level = |one: &RunsAt| CommitLevel {
            value: sign * one.level,
            runs: one.runs.len(),
            place: one.place,
        };
        let levels: Vec<CommitLevel> = known.iter().map(level).collect();
        let noise = target.noise.map_or(0.0, |noise| {
            // The runs of these commits may vary more than those of the ends.
            let groups: Vec<&[f64]> = known.iter().map(|one| one.runs.as_slice()).collect();
            noise.sd.max(stats::winsorised_sd(&groups).unwrap_or(0.0))
        });
        Ok(CommitOffsets::of(&levels, index, noise))
    }

    /// The runs of a commit on the path after at least `runs` runs; `None` if none gave a number.
    fn runs_at(
        &mut self,
        path: &Path,
        place: usize,
        target: &GuardTarget,
        runs: usize,
    ) -> Result<Option<RunsAt>, HuntError> {
        let metric = &target.guard.metric;
        let measures = [metric.measure.clone()];
        let look = Request::look(&path.commits[place], &measures, Phase::Search);
        let seen = self.oracle.evaluate(Request { runs, ..look })?;
        let scale = target.orientation();
        let oriented = seen.numbers(metric).into_iter().map(|x| scale.oriented(x));
        let all: Vec<f64> = oriented.filter(|x| x.is_finite()).collect();
        Ok(stats::winsorised_mean(&all).map(|level| RunsAt { place, runs: all, level }))
    }

    /// Why the claim is open, with the size of the offsets in the metric's unit.
    fn offsets_in_words(
        &mut self,
        path: &Path,
        target: &GuardTarget,
        known: &CommitOffsets,
    ) -> Result<String, HuntError> {
        let level = self.runs_at(path, path.claimed, target, 0)?.map_or(0.0, |one| one.level);
        let scale = target.orientation();
        let size = (scale.metric(level + known.sd) - scale.metric(level)).abs();
        let layout = if target.guard.depends_on_speed() {
            ", perhaps because their code lies elsewhere in memory"
        } else {
            ""
        };
        Ok(format!(
            "commits shift {} by themselves, up and down, by about {}{layout}, so the step of {} \
             may be such a shift; a tolerance well above {} finds only steps that stand out",
            target.guard.metric,
            text::rounded(size),
            path.commits[path.claimed].short(),
            text::rounded(2.0 * size),
        ))
    }
}
