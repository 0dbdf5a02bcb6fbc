//! Lets ccache see the same files in every slot, and counts the hits and misses of ccache or sccache
//! during a build.
//!
//! Ccache writes its hits and misses of this build to a file. Versions of ccache that cannot do so,
//! and sccache, are asked for their counters before and after the build. The counters cover the
//! whole cache, so parallel builds of others are counted too. Sccache's counters belong to its
//! server. Older versions start a server when asked, so sccache is asked only if a server already
//! runs. A server that the build starts ends with the build, and its counters are lost.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::files;
use crate::store::{CacheProgram, CompilerCache};

use super::cache_output::{LIMIT, stdout_of};
use super::ccache_settings::CcacheSettings;

/// The file in a slot to which ccache writes its hits and misses.
const LOG: &str = "ccache.log";

/// Default port of sccache's server; `SCCACHE_SERVER_PORT` sets another.
const SCCACHE_PORT: u16 = 4226;

/// Variables that make a cache preprocess each file, for builds that must not rest on its direct
/// mode. In that mode ccache compares only the files that an earlier compilation read, so it gives
/// an old object if a commit adds a header earlier in the include path, or one that
/// `__has_include` asks for (ccache's manual, "The direct mode"). Its depend mode needs the direct
/// mode, and without it never hits. Sccache calls the mode preprocessor cache.
const WITHOUT_DIRECT_MODE: [(&str, &str); 3] =
    [("CCACHE_NODIRECT", "1"), ("CCACHE_NODEPEND", "1"), ("SCCACHE_DIRECT", "false")];

/// The compiler caches during one build.
#[derive(Debug)]
pub(super) struct CompilerCaches<'e> {
    env: &'e BTreeMap<String, String>,
    variables: Vec<(&'static str, OsString)>,
    ccache: Option<Ccache>,
    sccache: Option<Counted>,
}

/// How ccache's hits and misses are counted.
#[derive(Debug)]
enum Ccache {
    /// By this file, to which ccache writes.
    Log(PathBuf),
    /// By its counters. These are the counters before the build.
    Counters(Counted),
}

impl<'e> CompilerCaches<'e> {
    /// Begins to count for a build in this slot, with this environment. `direct_mode`: whether the
    /// build may use a cache's direct mode.
    pub(super) fn begin(slot: &Path, env: &'e BTreeMap<String, String>, direct_mode: bool) -> Self {
        let mut variables = Vec::new();
        let ccache = CcacheSettings::ask(env).and_then(|settings| {
            variables = settings.same_in_every_slot(slot);
            if settings.get("stats_log") == Some("") {
                let log = slot.join(LOG);
                let _ = std::fs::remove_file(&log);
                variables.push(("CCACHE_STATSLOG", log.clone().into()));
                return Some(Ccache::Log(log));
            }
            Counted::of_ccache(&stdout_of(&["ccache", "--print-stats"], env)?).map(Ccache::Counters)
        });
        variables.extend(direct_mode_variables(direct_mode));
        Self { env, variables, ccache, sccache: Counted::of_server(env) }
    }

    /// Variables for the build. For ccache, if it is installed: write hits and misses to a log, and
    /// ignore the slot's path. For both caches: switch the direct mode off, unless the build may use
    /// it.
    pub(super) fn variables(&self) -> &[(&'static str, OsString)] {
        &self.variables
    }

    /// Hits and misses since the beginning; `None` if no cache was used or its counters were reset.
    /// If both programs counted something, another build probably used one of them. Then the one
    /// that was asked more often is returned.
    pub(super) fn end(self) -> Option<CompilerCache> {
        let ccache = match &self.ccache {
            None => None,
            Some(Ccache::Log(log)) => {
                // The build may have put anything there.
                let text = files::read(log).ok();
                let _ = std::fs::remove_file(log);
                let text = text.and_then(|text| String::from_utf8(text).ok());
                text.and_then(|text| Counted::of_log(&text).of_program(CacheProgram::Ccache))
            }
            Some(Ccache::Counters(before)) => stdout_of(&["ccache", "--print-stats"], self.env)
                .and_then(|text| Counted::of_ccache(&text))
                .and_then(|now| now.since(*before)?.of_program(CacheProgram::Ccache)),
        };
        let sccache = self.sccache.and_then(|before| {
            Counted::of_server(self.env)?.since(before)?.of_program(CacheProgram::Sccache)
        });
        busier(ccache, sccache)
    }
}

/// The variables that switch the direct mode off; empty if a build may use it.
fn direct_mode_variables(direct_mode: bool) -> Vec<(&'static str, OsString)> {
    if direct_mode {
        return Vec::new();
    }
    WITHOUT_DIRECT_MODE.map(|(name, value)| (name, OsString::from(value))).to_vec()
}

/// The cache program that was asked more often.
fn busier(one: Option<CompilerCache>, other: Option<CompilerCache>) -> Option<CompilerCache> {
    one.into_iter().chain(other).max_by_key(|cache| cache.hits + cache.misses)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Counted {
    hits: u64,
    misses: u64,
}

impl Counted {
    /// Counts the lines of a log: for each file that was compiled, its name after `# `, then the name
    /// of each counter that rose.
    fn of_log(text: &str) -> Self {
        let count = |wanted: &str| text.lines().filter(|line| *line == wanted).count() as u64;
        let hits = count("direct_cache_hit") + count("preprocessed_cache_hit");
        Self { hits, misses: count("cache_miss") }
    }

    /// The counters of sccache's server, if one runs.
    fn of_server(env: &BTreeMap<String, String>) -> Option<Self> {
        let asked = ["sccache", "--show-stats", "--stats-format=json"];
        Self::of_sccache(&is_served(env).then(|| stdout_of(&asked, env))??)
    }

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

    fn since(self, before: Self) -> Option<Self> {
        let hits = self.hits.checked_sub(before.hits)?;
        Some(Self { hits, misses: self.misses.checked_sub(before.misses)? })
    }

    /// These hits and misses of this program; `None` if the build did not use the program.
    fn of_program(self, program: CacheProgram) -> Option<CompilerCache> {
        let Self { hits, misses } = self;
        (hits + misses > 0).then_some(CompilerCache { program, hits, misses })
    }
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
    fn counters_are_read_and_subtracted() {
        let before =
            "cache_miss\t151\ndirect_cache_hit\t102\npreprocessed_cache_hit\t3\nrecache\t0\n";
        let after = "cache_miss\t152\ndirect_cache_hit\t110\npreprocessed_cache_hit\t4\n";
        let [before, after] = [before, after].map(|text| Counted::of_ccache(text).unwrap());
        assert_eq!(before, Counted { hits: 105, misses: 151 });
        assert_eq!(after.since(before), Some(Counted { hits: 9, misses: 1 }));
        assert_eq!(before.since(after), None, "the counters were set back");
        let program = CacheProgram::Ccache;
        assert_eq!(after.since(after).unwrap().of_program(program), None, "nobody asked it");
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
    fn the_program_that_was_asked_more_often_is_reported() {
        let of = |hits, program| Counted { hits, misses: 0 }.of_program(program);
        let both = |ccache, sccache| {
            busier(of(ccache, CacheProgram::Ccache), of(sccache, CacheProgram::Sccache))
                .map(|told| (told.program, told.hits))
        };
        assert_eq!(both(0, 0), None);
        assert_eq!(both(3, 0), Some((CacheProgram::Ccache, 3)));
        assert_eq!(both(0, 1), Some((CacheProgram::Sccache, 1)));
        assert_eq!(both(1, 5), Some((CacheProgram::Sccache, 5)));
    }

    #[test]
    fn builds_that_must_not_rest_on_the_direct_mode_switch_it_off() {
        assert!(direct_mode_variables(true).is_empty());
        let names: Vec<&str> = direct_mode_variables(false).iter().map(|(name, _)| *name).collect();
        assert_eq!(names, ["CCACHE_NODIRECT", "CCACHE_NODEPEND", "SCCACHE_DIRECT"]);
    }

    #[test]
    fn the_log_of_ccache_has_a_line_for_each_counter_of_each_file() {
        let log = "# /s/a.c\ncache_miss\ndirect_cache_miss\npreprocessed_cache_miss\n\
                   # /s/direct_cache_hit\ndirect_cache_hit\nlocal_storage_hit\n\
                   # /s/b.c\ndirect_cache_miss\npreprocessed_cache_hit\n";
        assert_eq!(Counted::of_log(log), Counted { hits: 2, misses: 1 });
    }
}
