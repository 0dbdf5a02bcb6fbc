//! What ccache answered while a build went on, as its own counters have it.
//!
//! Nothing is set up on anybody's behalf: where a build uses ccache, the fixed paths of slots
//! let it hit, and its counters rise. They are the whole cache's, so builds that go on beside
//! are counted too.

use std::time::Duration;

use crate::process::{Invocation, tool};
use crate::store::CompilerCache;

/// Counters are read in milliseconds; a cache on a dead network disk must not hold a build up.
const LIMIT: Duration = Duration::from_secs(10);

/// The counters now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Counters {
    hits: u64,
    misses: u64,
}

impl Counters {
    /// Asks ccache, in the environment that the build has; `None` where there is none, or one
    /// from before 3.7, which tells them to people only.
    pub(super) fn read(env: &[(String, String)]) -> Option<Self> {
        let mut asked = Invocation::new("ccache").args(["--print-stats"]).timeout(Some(LIMIT));
        for (name, value) in env {
            asked = asked.env(name, value);
        }
        let said = tool(&asked).ok().filter(|said| said.ended.is_success())?;
        Self::of(&String::from_utf8_lossy(&said.stdout))
    }

    /// A counter a line: `direct_cache_hit TAB 102`.
    fn of(text: &str) -> Option<Self> {
        let counter = |wanted: &str| {
            let mut counters = text.lines().filter_map(|line| line.split_once('\t'));
            let (_, value) = counters.find(|(name, _)| *name == wanted)?;
            value.trim().parse::<u64>().ok()
        };
        let hits = counter("direct_cache_hit")? + counter("preprocessed_cache_hit")?;
        Some(Self { hits, misses: counter("cache_miss")? })
    }

    /// What it answered since; `None` where it was not asked, or where somebody set the
    /// counters back.
    pub(super) fn since(self, before: Self) -> Option<CompilerCache> {
        let hits = self.hits.checked_sub(before.hits)?;
        let misses = self.misses.checked_sub(before.misses)?;
        (hits + misses > 0).then_some(CompilerCache { hits, misses })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_read_and_what_they_rose_by_is_told() {
        let before =
            "cache_miss\t151\ndirect_cache_hit\t102\npreprocessed_cache_hit\t3\nrecache\t0\n";
        let after = "cache_miss\t152\ndirect_cache_hit\t110\npreprocessed_cache_hit\t4\n";
        let [before, after] = [before, after].map(|text| Counters::of(text).unwrap());
        assert_eq!(before, Counters { hits: 105, misses: 151 });
        assert_eq!(after.since(before), Some(CompilerCache { hits: 9, misses: 1 }));
        assert_eq!(after.since(after), None, "nobody asked it");
        assert_eq!(before.since(after), None, "the counters were set back");
        assert_eq!(Counters::of("cache hit (direct) 3\n"), None);
    }
}
