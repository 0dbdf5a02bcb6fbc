//! State that leaks out of a commit's build, and measures that run nothing of the build.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::kit::{History, Hunt, Oracle, Plan, TestEnvironment, line};

/// A repository in which this script makes each build; its arguments are FAKE SRC BUILD.
fn built_by(plan: Plan, script: &str) -> (TestEnvironment, History, Oracle) {
    let env = TestEnvironment::new();
    let history = plan.file(0, "b.sh", script).build(&env);
    let command = format!("sh {{src}}/b.sh {} {{src}} {{build}}", TestEnvironment::fake());
    let oracle = Oracle::new(&env).build_command(&command);
    (env, history, oracle)
}

fn linked(script: &str) -> (TestEnvironment, History, Oracle) {
    let (env, history, oracle) = built_by(line("g g b b"), script);
    fs::create_dir(env.repo().join(".venv")).unwrap();
    fs::write(env.repo().join(".venv/lib.so"), "mine").unwrap();
    (env, history, oracle.section("[worktree]\nlink = [\".venv\"]"))
}

#[test]
fn a_build_that_installs_into_a_linked_folder_is_refused() {
    let (env, history, oracle) =
        linked("\"$1\" build \"$2\" \"$3\" && cp \"$3/engine.conf\" \"$2/.venv/lib.so\"\n");
    oracle.write(&env);
    let good = &history.commit(0)[..10];
    let words = [&format!("the build of {good} wrote"), ".venv/lib.so", "below {build}", "`link`"];
    env.run(&["start", "--good", "v1"]).expect(5).says(&words);
    assert!(env.runs().is_empty());
    let report = env.run(&["report"]).expect(0);
    report.says(&["wrote", ".venv/lib.so"]);
}

#[test]
fn a_run_that_writes_into_a_linked_folder_is_refused() {
    let (env, _, oracle) = linked("exec \"$1\" build \"$2\" \"$3\"\n");
    oracle.ppl("before = [\"touch {src}/.venv/seen\"]").write(&env);
    let words = ["a run of ppl", ".venv/seen", "Restore them"];
    env.run(&["start", "--good", "v1"]).expect(5).says(&words);
}

#[test]
fn what_is_only_read_or_compiled_there_is_no_leak() {
    let script = "\"$1\" build \"$2\" \"$3\" && cat \"$2/.venv/lib.so\"\n\
                  mkdir -p \"$2/.venv/__pycache__\" && date > \"$2/.venv/__pycache__/a.pyc\"\n";
    let (env, history, oracle) = linked(script);
    oracle.write(&env);
    env.hunt().names(&history, 2);
}

/// The folder outside the build folder that builds install into.
fn prefix(env: &TestEnvironment) -> PathBuf {
    env.path("world/opt")
}

#[test]
fn a_build_that_installs_into_a_fixed_prefix_is_refused() {
    let script = "\"$1\" build \"$2\" \"$3\" && mkdir -p \"$FAKE_WORLD/opt\" && \
                  cat \"$1\" \"$3/engine.conf\" > \"$FAKE_WORLD/opt/engine\" && \
                  cp \"$3/engine.conf\" \"$FAKE_WORLD/opt/\" && chmod +x \"$FAKE_WORLD/opt/engine\"\n";
    let (env, history, oracle) = built_by(line("g g b b"), script);
    let program = prefix(&env).join("engine").display().to_string();
    oracle.ppl_command(&format!("{program} run ppl src={{src}}")).write(&env);
    let [good, bad] = [0, 3].map(|label| history.commit(label)[..10].to_owned());
    let words = [
        format!("a run of ppl at {bad} loaded {program}"),
        format!("since a run at {good} loaded it"),
        "-DCMAKE_INSTALL_PREFIX={build}/prefix".to_owned(),
        "updated meanwhile".to_owned(),
    ];
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    env.run(&["start", "--good", "v1"]).expect(5).says(&words);
    env.run(&["resume"]).expect(5).says(&words[..1]);
}

/// Hunts with a program in PATH that prints the same at every commit.
fn in_path(env: &TestEnvironment, oracle: &Oracle) -> Hunt {
    oracle.write(env);
    let folder = env.path("world/bin");
    fs::create_dir_all(&folder).unwrap();
    let program = folder.join("engine");
    fs::write(&program, "#!/bin/sh\necho '[1]7.0,'\necho 'Final estimate: PPL = 7.0 +/- 0.01'\n")
        .unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    Hunt::of(env, env.run_with(&env.repo(), &["start", "--good", "v1"], &[("PATH", path(&folder))]))
}

fn path(first: &Path) -> String {
    format!("{}:{}", first.display(), std::env::var("PATH").unwrap())
}

#[test]
fn a_program_in_path_is_not_the_commits() {
    for command in ["engine run ppl", "engine run ppl src={src}"] {
        let env = TestEnvironment::new();
        line("g g b b").build(&env);
        let oracle = Oracle::new(&env).ppl_command(command);
        for _ in 0..2 {
            let hunt = in_path(&env, &oracle).expect(4, "endpoint-unmeasurable");
            let summary = hunt.report["summary"].as_str().unwrap();
            let found = env.path("world/bin/engine").display().to_string();
            for words in ["`engine`", &found, "found in PATH", "use {build}/engine"] {
                assert!(summary.contains(words), "{summary}");
            }
        }
    }
}

#[test]
fn a_command_that_may_run_the_commit_where_nobody_looks_is_only_noted() {
    let env = TestEnvironment::new();
    line("g g b b").with_all("program = other").build(&env);
    let oracle = Oracle::new(&env).ppl_command("engine run {build}/other");
    let hunt = in_path(&env, &oracle).expect(4, "no-regression");
    let notes = hunt.report["notes"].to_string();
    assert!(notes.contains("were not seen to load anything of the commit"), "{notes}");
    hunt.output.says(&["were not seen to load anything of the commit"]);
}

/// An engine that keeps tuned kernels below `$FOLDER`, by its version: commit 3 makes them worse,
/// and commit 6 changes only the version.
fn tuned_in(folder: &str) -> (TestEnvironment, History, Oracle) {
    tuned_and_printed(folder, "cat \"$K/$V\"")
}

/// The same with a command that prints the value in `$K/$V`.
fn tuned_and_printed(folder: &str, print: &str) -> (TestEnvironment, History, Oracle) {
    let script =
        "mkdir -p \"$2\" && cat \"$1\"/tuned.txt \"$1\"/release.txt > \"$2/engine.conf\"\n";
    let run = format!(
        "K=\"${folder}/.engine\"; V=$(tail -1 \"$1/engine.conf\"); mkdir -p \"$K\"\n\
         [ -f \"$K/$V\" ] || head -1 \"$1/engine.conf\" > \"$K/$V\"\n\
         echo \"Final estimate: PPL = $({print}) +/- 0.04\"\n"
    );
    let env = TestEnvironment::new();
    let plan = line("g g g g g g g g").file(0, "b.sh", script).file(0, "r.sh", &run);
    let plan = plan
        .file(0, "tuned.txt", "7.0612\n")
        .file(0, "release.txt", "1.0\n")
        .file(3, "tuned.txt", "7.5187\n")
        .file(6, "release.txt", "1.1\n");
    let history = plan.build(&env);
    let oracle = Oracle::new(&env).build_command("sh {src}/b.sh {src} {build}");
    (env, history, oracle.ppl_command("sh {src}/r.sh {build}"))
}

#[test]
fn kernels_kept_in_the_home_folder_blame_nobody_who_did_not_do_it() {
    let (env, history, oracle) = tuned_in("HOME");
    oracle.write(&env);
    let hunt = env.hunt().names(&history, 3);
    hunt.output.says(&[
        "with an empty home folder, ",
        " is not confirmed: its parent",
        "keep files in the home folder (~/.engine/1.",
        "[environment] home",
        "with yours the ends showed ppl 7.0612 → 7.5187",
    ]);
    assert_eq!(hunt.report["recheck"]["empty_home"], true);
    let culprit = &hunt.report["culprit"];
    assert_eq!(culprit["home_doubt"]["empty-home"], "ppl 7.0612 → 7.5187");
    assert!(culprit["confidence"].as_f64().unwrap() <= 0.98);
}

/// The engine keeps its kernels in this folder.
fn kept_in(folder: &str) {
    let (env, history, oracle) = tuned_in(folder);
    let share = env.path("home/.local/share").display().to_string();
    let env = env.with_variable("XDG_DATA_HOME", &share);
    oracle.write(&env);
    let hunt = env.hunt().names(&history, 3);
    assert_eq!(hunt.report["recheck"]["empty_home"], true, "{folder}");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn kernels_kept_among_settings_or_where_a_variable_says_blame_nobody_else() {
    kept_in("HOME/.config");
    kept_in("XDG_DATA_HOME");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn kernels_kept_among_programs_or_in_a_cache_blame_nobody_else() {
    kept_in("HOME/.local/lib/engine");
    kept_in("HOME/.cache/torch");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn kernels_kept_in_the_home_folder_blame_nobody_else_in_noise() {
    let print =
        "awk -v n=\"$(od -An -N2 -tu2 /dev/urandom)\" '{ print $1 + n / 1000000 }' \"$K/$V\"";
    let (env, history, oracle) = tuned_and_printed("HOME", print);
    oracle.write(&env);
    let hunt = env.hunt().names(&history, 3);
    assert_eq!(hunt.report["recheck"]["empty_home"], true);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn kernels_kept_among_installed_packages_leave_a_doubt() {
    let (env, _, oracle) = tuned_in("HOME/.local/lib/python3.12");
    oracle.write(&env);
    let hunt = env.hunt().expect(0, "culprit");
    let culprit = &hunt.report["culprit"];
    assert!(culprit["confidence"].as_f64().unwrap() <= 0.98, "{culprit}");
    let path = culprit["home_doubt"]["changed"].as_str().unwrap();
    assert!(path.starts_with("~/.local/lib/python3.12/.engine/"), "{path}");
    hunt.output.says(&["changed during the hunt, and an empty home folder has it too"]);
}

/// A build that installs tables below the home folder, which the engine reads. Commit 3 makes them
/// worse, and commit 2 changes the program.
fn installed_at_home() -> (TestEnvironment, History, Oracle) {
    let script = "mkdir -p \"$HOME/.engine\" \"$2\" && cp \"$1\"/tuned.txt \"$HOME/.engine/tables\"\n\
                  cp \"$1/release.txt\" \"$2/engine.conf\"\n";
    let run = "[ -f \"$1/engine.conf\" ] || exit 1\n\
               echo \"Final estimate: PPL = $(cat \"$HOME/.engine/tables\") +/- 0.04\"\n";
    let env = TestEnvironment::new();
    let plan = line("g g g g g g").file(0, "b.sh", script).file(0, "r.sh", run);
    let plan = plan
        .file(0, "tuned.txt", "7.0612\n")
        .file(0, "release.txt", "1.0\n")
        .file(2, "release.txt", "1.1\n")
        .file(3, "tuned.txt", "7.5187\n");
    let history = plan.build(&env);
    let oracle = Oracle::new(&env).build_command("sh {src}/b.sh {src} {build}");
    (env, history, oracle.ppl_command("sh {src}/r.sh {build}"))
}

#[test]
fn a_build_that_installs_into_the_home_folder_is_no_denial() {
    let (env, _, oracle) = installed_at_home();
    oracle.write(&env);
    let hunt = env.hunt().expect(4, "endpoint-unmeasurable");
    hunt.output.says(&["a build writes outside its folder", "7.0612", "7.5187"]);
}

#[test]
fn a_shared_home_folder_is_the_users_own_word() {
    let (env, history, oracle) = tuned_in("HOME");
    oracle.section("[environment]\nhome = \"shared\"").write(&env);
    let hunt = env.hunt().names(&history, 6);
    assert_eq!(hunt.report["culprit"]["home_doubt"], serde_json::Value::Null);
}

#[test]
fn kernels_kept_in_the_folder_for_temporary_files_reach_no_other_run() {
    let (env, history, oracle) = tuned_in("TMPDIR");
    oracle.write(&env);
    let hunt = env.hunt().names(&history, 3);
    assert_eq!(hunt.report["recheck"]["empty_home"], serde_json::Value::Null);
}

#[test]
fn an_engine_that_needs_a_file_of_the_home_folder_is_confirmed_with_it() {
    let (env, history, oracle) =
        built_by(line("g g b b"), "[ -f \"$HOME/licence\" ] && exec \"$1\" build \"$2\" \"$3\"\n");
    fs::create_dir_all(env.path("home")).unwrap();
    fs::write(env.path("home/licence"), "mine").unwrap();
    oracle.write(&env);
    let hunt = env.hunt().names(&history, 2);
    hunt.output.says(&[
        "used your home folder",
        "is not checked",
        "if they also change files there",
    ]);
    assert_eq!(hunt.report["culprit"]["home_doubt"], "user-home");
    assert!(hunt.report["culprit"]["confidence"].as_f64().unwrap() <= 0.98);
}

/// The check with an empty home folder fails, which explains nothing about the values.
#[test]
fn the_output_of_a_run_without_the_users_files_is_not_shown_as_that_of_the_commit() {
    let script = "mkdir -p \"$2\" && cp \"$1/tuned.txt\" \"$2/engine.conf\"\n";
    let run = "[ -f \"$HOME/licence\" ] || { echo \"no licence\" >&2; exit 1; }\n\
               echo \"Final estimate: PPL = $(cat \"$1/engine.conf\") +/- 0.04\"\n";
    let env = TestEnvironment::new();
    let plan = line("g g g g").file(0, "b.sh", script).file(0, "r.sh", run);
    let plan = plan.file(0, "tuned.txt", "7.0612\n").file(2, "tuned.txt", "7.5187\n");
    let history = plan.build(&env);
    fs::create_dir_all(env.path("home")).unwrap();
    fs::write(env.path("home/licence"), "mine").unwrap();
    let oracle = Oracle::new(&env).build_command("sh {src}/b.sh {src} {build}");
    oracle.ppl_command("sh {src}/r.sh {build}").write(&env);
    let hunt = env.hunt().names(&history, 2);
    assert_eq!(hunt.report["culprit"]["home_doubt"], "user-home");
    assert!(!hunt.output.stdout.contains("What ppl printed"), "{}", hunt.output.stdout);
}

#[test]
fn an_input_that_commits_change_is_told() {
    let env = TestEnvironment::new();
    let plan = line("g g b b").file(0, "models/a.bin", "one\n").file(3, "models/a.bin", "two\n");
    let history = plan.build(&env);
    let text = Oracle::new(&env).text().replace("../inputs/model.bin", "models/a.bin");
    fs::write(env.repo().join("oracle.toml"), text).unwrap();
    let hunt = env.hunt().names(&history, 2);
    let words =
        ["the input model is tracked by git and differs", "`{src}/models/a.bin` in place of"];
    hunt.output.says(&words);
}

#[test]
fn settings_in_the_home_folder_that_change_all_values_blame_nobody_else() {
    let run = "echo \"Final estimate: PPL = $(cat \"$1/engine.conf\")$(cat \"$HOME/digits\") +/- 0.04\"\n";
    let script = "mkdir -p \"$2\" && cat \"$1/tuned.txt\" > \"$2/engine.conf\"\n";
    let env = TestEnvironment::new();
    let plan = line("g g g g g g").file(0, "b.sh", script).file(0, "r.sh", run);
    let plan = plan.file(0, "tuned.txt", "7.06\n").file(3, "tuned.txt", "7.51\n");
    let history = plan.build(&env);
    fs::create_dir_all(env.path("home")).unwrap();
    fs::write(env.path("home/digits"), "29").unwrap();
    let oracle = Oracle::new(&env).build_command("sh {src}/b.sh {src} {build}");
    oracle.ppl_command("sh {src}/r.sh {build}").write(&env);
    let hunt = env.hunt().names(&history, 3);
    assert_eq!(hunt.report["culprit"]["effect"]["commit"], 7.5129);
    hunt.output.says(&["used your home folder", "has other values"]);
}

/// An engine that reads a file in the home folder and takes its value of `fast.txt`, or else that of
/// `slow.txt`. `fast` and `slow`: the values at the beginning, and from a later commit on: 3 for
/// `fast`, 6 for `slow`. `run`: what each run does before, and `noise`: what it adds to its value.
fn picking_a_kernel(
    fast: [&str; 2],
    slow: [&str; 2],
    run: &str,
    noise: &str,
) -> (TestEnvironment, History, Oracle) {
    let script = "mkdir -p \"$2\" && cat \"$1/fast.txt\" \"$1/slow.txt\" > \"$2/engine.conf\"\n";
    let run = format!(
        "{run}\nN=2; [ -f \"$HOME/.enginerc\" ] && N=1\n\
         V=$(awk -v n=$N -v noise=\"$({noise})\" 'NR == n {{ print $1 + noise }}' \"$1/engine.conf\")\n\
         echo \"Final estimate: PPL = $V +/- 0.04\"\n"
    );
    let env = TestEnvironment::new();
    let plan = line("g g g g g g g g g").file(0, "b.sh", script).file(0, "r.sh", &run);
    let plan = plan
        .file(0, "fast.txt", &format!("{}\n", fast[0]))
        .file(0, "slow.txt", &format!("{}\n", slow[0]))
        .file(3, "fast.txt", &format!("{}\n", fast[1]))
        .file(6, "slow.txt", &format!("{}\n", slow[1]));
    let history = plan.build(&env);
    fs::create_dir_all(env.path("home")).unwrap();
    fs::write(env.path("home/.enginerc"), "kernel = fast\n").unwrap();
    let oracle = Oracle::new(&env).build_command("sh {src}/b.sh {src} {build}");
    (env, history, oracle.ppl_command("sh {src}/r.sh {build}"))
}

/// The hunt names the commit that made the kernel of the settings worse.
fn names_by_the_settings((env, history, oracle): (TestEnvironment, History, Oracle)) {
    oracle.write(&env);
    let hunt = env.hunt().names(&history, 3);
    hunt.output.says(&["only read what is in your home folder, such as settings"]);
    let culprit = &hunt.report["culprit"];
    assert_eq!(culprit["home_doubt"], "user-home");
    assert!(culprit["confidence"].as_f64().unwrap() <= 0.98, "{culprit}");
    assert_eq!(hunt.report["recheck"]["empty_home"], serde_json::Value::Null);
}

#[test]
fn a_kernel_that_settings_in_the_home_folder_pick_is_the_one_that_is_hunted() {
    names_by_the_settings(picking_a_kernel(["7.1", "7.6"], ["7.1", "7.6"], "", "echo 0"));
    // Without the settings there is no regression.
    names_by_the_settings(picking_a_kernel(["7.1", "7.6"], ["6.5", "6.5"], "", "echo 0"));
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_kernel_that_settings_pick_is_hunted_in_noise_too() {
    let noise = "od -An -N2 -tu2 /dev/urandom | awk '{ print $1 / 65536 * 0.1 }'";
    names_by_the_settings(picking_a_kernel(["7.1", "8.1"], ["7.1", "8.1"], "", noise));
}

#[test]
fn settings_that_hide_a_regression_are_the_users_own() {
    let (env, _, oracle) = picking_a_kernel(["7.1", "7.1"], ["6.5", "7.5"], "", "echo 0");
    oracle.write(&env);
    let hunt = env.hunt().expect(4, "no-regression");
    hunt.output.says(&["they do with an empty home folder", "for your settings there"]);
}

#[test]
fn a_regression_that_is_gone_with_an_empty_home_folder_is_no_denial() {
    // The engine also keeps a file there, so settings and results cannot be told apart.
    let log = "echo run >> \"$HOME/.engine.log\"";
    let (env, history, oracle) = picking_a_kernel(["7.1", "7.6"], ["6.5", "6.5"], log, "echo 0");
    oracle.write(&env);
    let hunt = env.hunt().expect(3, "candidates");
    assert!(hunt.candidates(&history).contains(&"3".to_owned()), "{}", hunt.output.stdout);
    hunt.output.says(&["with your home folder the endpoints showed ppl 7.1 → 7.6", "shared"]);
}
