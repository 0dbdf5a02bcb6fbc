//! What ccache answers while commits are built, by a stand-in for it: its counters rise with
//! each compiler call.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::kit::{Hunt, Oracle, TestEnvironment, line};

/// As ccache calls its counters; a second build of the same source is a hit.
const STAND_IN: &str = r#"#!/bin/sh
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

#[test]
fn a_report_counts_what_the_compiler_cache_had() {
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
    said.says(&["tools/ccache, used: ccache version"]);
    let words = ["start", "--good", "v1", "--bad", "main"];
    let output = env.run_with(&env.repo(), &words, &[("PATH", &path)]);
    let hunt = Hunt::of(&env, output).expect(0, "culprit");
    let counts = |commit: &serde_json::Value| -> Vec<(u64, u64)> {
        let of = |build: &serde_json::Value| {
            let asked = &build["compiler_cache"];
            (asked["hits"].as_u64().unwrap(), asked["misses"].as_u64().unwrap())
        };
        commit["builds"].as_array().unwrap().iter().map(of).collect()
    };
    let commits = hunt.report["commits"].as_array().unwrap();
    let first_bad = commits.iter().find(|one| one["commit"] == hunt.culprit()).unwrap();
    assert_eq!(counts(first_bad), [(0, 1), (1, 0)], "searched, then built afresh to confirm");
    assert!(hunt.file("report.html").contains("1 of 1 from ccache"));
}
