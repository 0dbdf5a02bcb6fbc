//! Without noise, the value that repeats bit for bit is the commit's value.

/// Maximum runs of a commit if its first runs differ.
const MOST_RUNS: usize = 5;

/// The result of one commit's runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeat {
    /// The run with this index gives the commit's value.
    Settled(usize),
    /// This many runs are needed in total.
    More(usize),
    /// Five runs, all different.
    Never,
}

/// Decides which of a commit's runs counts; `runs` are in the order they were made. A single run
/// counts if its value is known from this hunt (`is_known`): a disturbed run hardly gives such a
/// value. Otherwise the first run that another run repeats counts, then the first known value.
pub fn repeat<T: PartialEq>(runs: &[T], is_known: impl Fn(&T) -> bool) -> Repeat {
    if let [only] = runs
        && is_known(only)
    {
        return Repeat::Settled(0);
    }
    let again = |i: &usize| runs.iter().filter(|run| **run == runs[*i]).count() > 1;
    if let Some(place) = (0..runs.len()).find(again) {
        return Repeat::Settled(place);
    }
    if let Some(place) = runs.iter().position(is_known) {
        return Repeat::Settled(place);
    }
    match runs.len() {
        n @ 0..MOST_RUNS => Repeat::More(n + 1),
        _ => Repeat::Never,
    }
}

#[cfg(test)]
mod tests;
