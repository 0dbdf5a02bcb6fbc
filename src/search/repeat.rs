//! Where values repeat bit for bit, the value that repeats is the commit's.

/// Runs of a commit at most, where the first ones differ.
const MOST_RUNS: usize = 5;

/// What the runs of one commit came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeat {
    /// The run at this place says what the commit measures.
    Settled(usize),
    /// So many runs in all are needed.
    More(usize),
    /// Five runs, and none like another.
    Never,
}

/// Which of a commit's runs counts, in the order they were made: the first whose bits were seen
/// before in this hunt (`is_known`; a disturbed run would not repeat them), else the first that
/// another run of the commit repeats.
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
