//! What a search in noise would ask for next, after either answer.

use std::collections::BTreeSet;

use super::Noisy;
use crate::search::advice::{Advice, MeasuredCommit, Scale};

/// Maximum number of runs in a row that a forecast follows at one commit.
const MOST_IN_A_ROW: usize = 8;

/// A commit that the search may ask for next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Forecast {
    /// The commit.
    pub(crate) commit: usize,
    /// How many runs in a row the search asks for at least, whichever side the commit is on.
    pub(crate) runs: usize,
}

impl Noisy<'_> {
    /// At most `most` commits that the search may ask for after the one that it asks for now. Both
    /// answers are followed, as if each run gave its side's level, and the likeliest one first.
    /// `is_done`: nothing is left to do at this commit, so it is followed and not listed.
    pub(crate) fn forecast(&self, most: usize, is_done: impl Fn(usize) -> bool) -> Vec<Forecast> {
        let mut found = Vec::new();
        let mut seen = BTreeSet::new();
        let mut open = vec![(1.0, self.clone())];
        // Some answers end the search, and some lead to a commit that was seen.
        for _ in 0..2 * most + 2 {
            let by_chance = |a: &usize, b: &usize| f64::total_cmp(&open[*a].0, &open[*b].0);
            let likeliest = (0..open.len()).max_by(by_chance);
            let Some(likeliest) = likeliest.filter(|_| found.len() < most) else { break };
            let (chance, mut search) = open.swap_remove(likeliest);
            let Some(commit) = search.asks_for() else { continue };
            let bad = search.belief.as_ref().map_or(0.5, |belief| belief.bad[commit]);
            let mut runs = MOST_IN_A_ROW;
            for (is_bad, share) in [(false, 1.0 - bad), (true, bad)] {
                let mut after = search.clone();
                runs = runs.min(after.suppose(commit, is_bad));
                open.push((chance * share, after));
            }
            let is_asked_now = seen.is_empty();
            if seen.insert(commit) && !is_asked_now && !is_done(commit) {
                found.push(Forecast { commit, runs });
            }
        }
        found
    }

    /// The commit that the search asks for; `None` if it claims a commit, ends, or calibrates. A
    /// check for drift counts as made.
    fn asks_for(&mut self) -> Option<usize> {
        if self.recalibration.is_some() {
            return None;
        }
        if self.advise() == Advice::Measure(vec![MeasuredCommit::Good]) {
            self.add_samples(&[self.level(false)]);
        }
        let Advice::Measure(places) = self.advise() else { return None };
        places.into_iter().find_map(|place| match place {
            MeasuredCommit::Commit(one) => Some(one),
            MeasuredCommit::Good => None,
        })
    }

    /// Takes samples of this side's level as long as the search asks for the commit; returns how
    /// many it asked for.
    fn suppose(&mut self, commit: usize, is_bad: bool) -> usize {
        let mut runs = 0;
        while runs < MOST_IN_A_ROW && self.asks_for() == Some(commit) {
            let Advice::Measure(places) = self.advise() else { break };
            // In a paired search a level is a difference to the good end.
            let level = self.level(is_bad);
            let sample =
                |place: &MeasuredCommit| if *place == MeasuredCommit::Good { 0.0 } else { level };
            self.add_samples(&places.iter().map(sample).collect::<Vec<_>>());
            runs += 1;
        }
        runs
    }

    /// The level of one side. Of a test that passes or fails: a pass or a failure.
    fn level(&self, is_bad: bool) -> f64 {
        match self.scale {
            Scale::Levels(found) if is_bad => found.levels.bad,
            Scale::Levels(found) => found.levels.good,
            Scale::Rates(_) => f64::from(u8::from(is_bad)),
        }
    }
}
