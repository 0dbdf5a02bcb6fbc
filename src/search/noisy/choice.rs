//! Which commit a search in noise measures next.

use super::Noisy;
use crate::search::advice::Scale;
use crate::search::belief::Belief;
use crate::search::most_runs;

/// Minimum entropy of a commit with stored runs or with a build, as a share of the most uncertain
/// commit's. A stored run costs nothing, and a run of such a build costs no build, so it may tell
/// up to 3 % less. If the most uncertain commit has P(bad) = 0.5, this is reached at P(bad) = 0.40.
const NEARLY: f64 = 0.97;

impl Noisy<'_> {
    /// The testable commit with P(bad) closest to 0.5; of two, the older one.
    pub(super) fn most_open(&self, belief: &Belief, may: impl Fn(usize) -> bool) -> Option<usize> {
        let distance = |commit: usize| (belief.bad[commit] - 0.5).abs();
        (0..self.tip())
            .filter(|&commit| !self.untestable[commit] && distance(commit) < 0.4999 && may(commit))
            .min_by(|&a, &b| distance(a).total_cmp(&distance(b)))
    }

    /// The commit to measure: one with stored runs, or else with a build, if it tells nearly as
    /// much as the most uncertain one; the current one, which is already built, while its
    /// information is worth its price; else the most uncertain one. Leaves out commits at their
    /// maximum of runs.
    pub(super) fn choose(&self, central: Option<usize>) -> Option<usize> {
        let belief = self.belief.as_ref()?;
        let most = self.most_runs();
        let central = central?;
        let tells_nearly_as_much = |commit: &usize| {
            belief.binary_entropy(*commit) >= NEARLY * belief.binary_entropy(central)
        };
        let stored = self.most_open(belief, |commit| self.has_unused_runs(commit, most));
        let built = || self.most_open(belief, |commit| self.needs_no_build(commit, most));
        let cheap = stored.filter(tells_nearly_as_much);
        if let Some(cheap) = cheap.or_else(|| built().filter(tells_nearly_as_much)) {
            return Some(cheap);
        }
        let stays = |current: usize| {
            !self.untestable[current]
                && self.samples_of(current) < most
                && belief.binary_entropy(current)
                    >= belief.binary_entropy(central) * self.patience()
        };
        if let Some(current) = self.current
            && stays(current)
        {
            return Some(current);
        }
        if self.samples_of(central) < most {
            return Some(central);
        }
        self.most_open(belief, |commit| self.samples_of(commit) < most)
    }

    /// Whether a stored run of the commit was not taken yet, so that its next run costs nothing. In
    /// a paired search every sample needs new runs.
    fn has_unused_runs(&self, commit: usize, most: usize) -> bool {
        let stored = self.stored.get(commit).copied().unwrap_or(0).min(most);
        stored > 0 && !self.is_paired() && self.samples_of(commit) < stored
    }

    /// Whether an earlier hunt left a build of the commit, so that its next run costs no build.
    fn needs_no_build(&self, commit: usize, most: usize) -> bool {
        self.built.get(commit) == Some(&true) && self.samples_of(commit) < most
    }

    /// The current commit's minimum entropy, as a share of the most uncertain one's: 1/(1 + 1.13
    /// b), where b is the time of a build divided by that of a run, and 1.13 b is kept within 0.25
    /// … 9. At b = 1 this is 0.47. If the most uncertain commit has P(bad) = 0.5, P(bad) = 0.1
    /// reaches it.
    fn patience(&self) -> f64 {
        let price = (self.price_of_build * 1.13).clamp(0.25, 9.0);
        1.0 / (1.0 + price)
    }

    fn most_runs(&self) -> usize {
        match self.scale {
            Scale::Levels(found) => most_runs(&found.levels),
            Scale::Rates(rates) => rates.most_runs(),
        }
    }
}
