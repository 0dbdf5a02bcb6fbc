//! Hunts in noise whose ends show no regression, with an engine whose builds may differ.

use crate::kit::planted::put;
use crate::kit::shell_engine::{NUMBER, begin, commit_notes, step};
use crate::kit::{Hunt, TestEnvironment};

/// A hunt in which `x` changes the engine. The first build with `x` adds nothing to the value 7,
/// which varies by up to 0.04 from run to run, and the others add so many hundredths.
fn hunt_with_later_builds(env: &TestEnvironment, added: u32) -> Hunt {
    let [builds, runs] = ["builds", "runs"].map(|name| env.path(name).display().to_string());
    let build = format!(
        "o=700\n\
         if [ -f \"$(dirname \"$0\")/x\" ]; then\n\
         echo >>'{builds}'; [ \"$(wc -l <'{builds}')\" = 1 ] || o=$((o + {added}))\n\
         fi\n\
         echo $o >\"$1/offset\"\n"
    );
    let engine = format!(
        "echo >>'{runs}'; v=$(($(cat \"$1/offset\") + $(wc -l <'{runs}') * 7 % 5))\n\
         printf 'e = %d.%02d\\n' $((v / 100)) $((v % 100))\n"
    );
    put(&env.repo().join("build.sh"), build.as_bytes());
    begin(env, &engine);
    commit_notes(env, 3);
    step(env, "x", "x", "1");
    commit_notes(env, 3);
    let oracle = format!(
        "version = 1\n[build]\ncommands = [\"sh {{src}}/build.sh {{build}}\"]\n\
         [[measure]]\nname = \"e\"\ncommand = \"sh {{src}}/engine.sh {{build}}\"\n{NUMBER}\n\
         [[guard]]\nmetric = \"e\"\nmax_increase = 0.1\n"
    );
    put(&env.repo().join("oracle.toml"), oracle.as_bytes());
    env.hunt()
}

#[test]
fn a_lucky_build_of_the_bad_end_does_not_hide_a_regression() {
    let env = TestEnvironment::new();
    let hunt = hunt_with_later_builds(&env, 15).expect(3, "noise-too-large");
    hunt.output.says(&["new builds of both endpoints show a regression", "the same program"]);
}

#[test]
fn new_builds_that_are_alike_are_told() {
    let env = TestEnvironment::new();
    let hunt = hunt_with_later_builds(&env, 0).expect(4, "no-regression");
    hunt.output.says(&["nor do new builds of them"]);
}

/// Three of ten builds show the value of the bad end, whatever they build.
#[test]
#[ignore = "long: scripts/test --long"]
fn builds_that_differ_by_chance_do_not_depend_on_the_home_folder() {
    let env = TestEnvironment::new();
    let builds = env.path("builds").display().to_string();
    let build = format!(
        "echo >>'{builds}'; n=$(wc -l <'{builds}'); o=7.0\n\
         [ -f \"$(dirname \"$0\")/x\" ] && o=7.3\n\
         [ $((n * 7 % 10)) -lt 3 ] && o=7.3\n\
         echo $o >\"$1/value\"\n"
    );
    put(&env.repo().join("build.sh"), build.as_bytes());
    begin(&env, "echo \"e = $(cat \"$1/value\")\"\n");
    commit_notes(&env, 12);
    step(&env, "x", "x", "1");
    commit_notes(&env, 12);
    let oracle = format!(
        "version = 1\n[build]\ncommands = [\"sh {{src}}/build.sh {{build}}\"]\n\
         [[measure]]\nname = \"e\"\ncommand = \"sh {{src}}/engine.sh {{build}}\"\n{NUMBER}\n\
         [[guard]]\nmetric = \"e\"\nmax_increase = 0.1\n"
    );
    put(&env.repo().join("oracle.toml"), oracle.as_bytes());
    let hunt = env.hunt();
    let told = &hunt.output.stdout;
    assert!(!told.contains("depend on files in your home folder"), "{told}");
}
