//! Lets ccache see the same files in every slot, and counts the hits and misses of ccache or sccache
//! during a build, from their own counters. The counters cover the whole cache, so parallel builds
//! of others are counted too.
//!
//! Sccache's counters belong to its server. Older versions start a server when asked, so sccache
//! is asked only if a server already runs. A server that the build starts ends with the build, and
//! its counters are lost.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;

use crate::process::{Invocation, tool};
use crate::store::{CacheProgram, CompilerCache};

/// Time limit for reading the counters. Usually milliseconds; a cache on a dead network disk must
/// not block a build.
const LIMIT: Duration = Duration::from_secs(10);

/// Default port of sccache's server; `SCCACHE_SERVER_PORT` sets another.
const SCCACHE_PORT: u16 = 4226;

/// Variables for a build, so that ccache takes equal files in two slots for equal: it makes paths
/// below the slot relative, and leaves the working folder out of its digest. Empty if ccache is not
/// installed. What the user set, in the environment or in ccache's configuration, stays.
pub(super) fn same_in_every_slot(
    slot: &Path,
    env: &BTreeMap<String, String>,
) -> Vec<(&'static str, OsString)> {
    let setting =
        |name: &str| Some(said(&["ccache", "--get-config", name], env)?.trim().to_owned());
    let mut variables = Vec::new();
    let Some(folder) = setting("base_dir") else { return variables };
    if folder.is_empty() {
        variables.push(("CCACHE_BASEDIR", slot.as_os_str().to_owned()));
    }
    let is_own = ["CCACHE_HASHDIR", "CCACHE_NOHASHDIR"];
    let is_own = is_own.iter().any(|name| variable(name, env).is_some());
    if !is_own && folder.is_empty() && setting("hash_dir").as_deref() == Some("true") {
        variables.push(("CCACHE_NOHASHDIR", "1".into()));
    }
    variables
}

/// The current counters of each cache program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Counters(Vec<(CacheProgram, Counted)>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Counted {
    hits: u64,
    misses: u64,
}

impl Counters {
    /// Reads the counters of the installed programs, in the build's environment.
    pub(super) fn read(env: &BTreeMap<String, String>) -> Self {
        let ccache = || Counted::of_ccache(&said(&["ccache", "--print-stats"], env)?);
        let sccache = || {
            let asked = ["sccache", "--show-stats", "--stats-format=json"];
            Counted::of_sccache(&is_served(env).then(|| said(&asked, env))??)
        };
        let counted = [(CacheProgram::Ccache, ccache()), (CacheProgram::Sccache, sccache())];
        Self(counted.into_iter().filter_map(|(program, it)| Some((program, it?))).collect())
    }

    /// Hits and misses since `before`; `None` if no cache was used or its counters were reset. If
    /// both programs counted, a parallel build used one of them: the busier one is returned.
    pub(super) fn since(&self, before: &Self) -> Option<CompilerCache> {
        let rises = self.0.iter().filter_map(|(program, now)| {
            let (_, before) = before.0.iter().find(|(other, _)| other == program)?;
            now.since(*before, *program)
        });
        rises.max_by_key(|cache| cache.hits + cache.misses)
    }
}

impl Counted {
    /// Parses one counter per line: `direct_cache_hit TAB 102`. Before 3.7 ccache has no such
    /// output.
    fn of_ccache(text: &str) -> Option<Self> {
        let counter = |wanted: &str| {
            let mut counters = text.lines().filter_map(|line| line.split_once('\t'));
            let (_, value) = counters.find(|(name, _)| *name == wanted)?;
            value.trim().parse::<u64>().ok()
        };
        let hits = counter("direct_cache_hit")? + counter("preprocessed_cache_hit")?;
        Some(Self { hits, misses: counter("cache_miss")? })
    }

    /// Parses counters by language: `{"stats": {"cache_hits": {"counts": {"C/C++": 1}}, …}, …}`.
    fn of_sccache(text: &str) -> Option<Self> {
        let said: Value = serde_json::from_str(text).ok()?;
        let sum = |name: &str| {
            let counts = said["stats"][name]["counts"].as_object()?;
            counts.values().map(Value::as_u64).sum::<Option<u64>>()
        };
        Some(Self { hits: sum("cache_hits")?, misses: sum("cache_misses")? })
    }

    fn since(self, before: Self, program: CacheProgram) -> Option<CompilerCache> {
        let hits = self.hits.checked_sub(before.hits)?;
        let misses = self.misses.checked_sub(before.misses)?;
        (hits + misses > 0).then_some(CompilerCache { program, hits, misses })
    }
}

/// The stdout of a program; `None` if it is missing or fails.
fn said(words: &[&str], env: &BTreeMap<String, String>) -> Option<String> {
    let mut asked = Invocation::new(words[0]).args(&words[1..]).timeout(Some(LIMIT));
    for (name, value) in env {
        asked = asked.env(name, value);
    }
    let said = tool(&asked).ok().filter(|said| said.ended.is_success())?;
    Some(String::from_utf8_lossy(&said.stdout).into_owned())
}

/// Whether a server of sccache listens where the build looks for one.
fn is_served(env: &BTreeMap<String, String>) -> bool {
    if let Some(socket) = variable("SCCACHE_SERVER_UDS", env) {
        return UnixStream::connect(socket).is_ok();
    }
    let port = variable("SCCACHE_SERVER_PORT", env);
    let port = port.and_then(|port| port.to_str()?.parse().ok()).unwrap_or(SCCACHE_PORT);
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    TcpStream::connect_timeout(&address, LIMIT).is_ok()
}

/// A variable of the build's environment.
fn variable(name: &str, env: &BTreeMap<String, String>) -> Option<OsString> {
    env.get(name).map(OsString::from).or_else(|| std::env::var_os(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_read_and_what_they_rose_by_is_told() {
        let before =
            "cache_miss\t151\ndirect_cache_hit\t102\npreprocessed_cache_hit\t3\nrecache\t0\n";
        let after = "cache_miss\t152\ndirect_cache_hit\t110\npreprocessed_cache_hit\t4\n";
        let [before, after] = [before, after].map(|text| Counted::of_ccache(text).unwrap());
        assert_eq!(before, Counted { hits: 105, misses: 151 });
        let program = CacheProgram::Ccache;
        let since = |now: Counted, then| now.since(then, program);
        assert_eq!(since(after, before), Some(CompilerCache { program, hits: 9, misses: 1 }));
        assert_eq!(since(after, after), None, "nobody asked it");
        assert_eq!(since(before, after), None, "the counters were set back");
        assert_eq!(Counted::of_ccache("cache hit (direct) 3\n"), None);
    }

    #[test]
    fn sccache_counts_by_language() {
        let told = "{\"stats\":{\"compile_requests\":5,\"cache_errors\":{\"counts\":{}},\
                    \"cache_hits\":{\"counts\":{\"C/C++\":1,\"Rust\":2},\"adv_counts\":{\"c [gcc]\":1}},\
                    \"cache_misses\":{\"counts\":{}}},\"cache_location\":\"Local disk\"}";
        assert_eq!(Counted::of_sccache(told), Some(Counted { hits: 3, misses: 0 }));
        assert_eq!(Counted::of_sccache("Compile requests 5\n"), None);
    }

    #[test]
    fn told_is_the_program_whose_counters_rose() {
        let of = |ccache, sccache| {
            let counted = |hits| Counted { hits, misses: 7 };
            let programs = [CacheProgram::Ccache, CacheProgram::Sccache];
            let both = programs.into_iter().zip([ccache, sccache].map(counted));
            Counters(both.collect())
        };
        let since = |now: Counters| now.since(&of(10, 20)).map(|it| (it.program, it.hits));
        assert_eq!(since(of(10, 20)), None);
        assert_eq!(since(of(13, 20)), Some((CacheProgram::Ccache, 3)));
        assert_eq!(since(of(10, 21)), Some((CacheProgram::Sccache, 1)));
        assert_eq!(since(of(11, 25)), Some((CacheProgram::Sccache, 5)));
        assert_eq!(of(1, 1).since(&Counters::default()), None, "a server that the build started");
    }
}
