//! Settings of oracle.toml, checked by what runs.

use std::fs;

use crate::kit::{Hunt, Oracle, TestEnvironment, line};

#[test]
fn an_ignored_folder_of_the_checkout_is_linked_in() {
    let env = TestEnvironment::new();
    let history = line("g g b b")
        .with_all("needs = .venv/marker")
        .file(0, ".gitignore", ".venv\noracle.toml\n")
        .build(&env);
    fs::create_dir(env.repo().join(".venv")).unwrap();
    fs::write(env.repo().join(".venv/marker"), "mine").unwrap();
    Oracle::new(&env).section("[worktree]\nlink = [\".venv\"]").write(&env);
    env.hunt().names(&history, 2);
    assert_eq!(fs::read_to_string(env.repo().join(".venv/marker")).unwrap(), "mine");
}

#[test]
fn what_is_linked_in_must_be_there_and_is_another_build_when_it_changes() {
    let env = TestEnvironment::new();
    let ignored = ".venv\noracle.toml\n";
    let history =
        line("g g b b").with_all("needs = .venv/marker").file(0, ".gitignore", ignored).build(&env);
    let marker = env.repo().join(".venv/marker");
    Oracle::new(&env).section("[worktree]\nlink = [\".venv\"]").write(&env);
    env.run(&["start", "--good", "v1"]).expect(2).says(&["`.venv` cannot be linked"]);
    fs::create_dir(env.repo().join(".venv")).unwrap();
    fs::write(&marker, "mine").unwrap();
    let hunt = env.hunt().names(&history, 2);
    let starts = env.starts().len();
    env.hunt().names(&history, 2);
    assert_eq!(env.starts().len(), starts, "nothing changed");
    fs::write(&marker, "another").unwrap();
    // A resumed hunt uses only runs with its own linked files.
    let journal = hunt.folder.join("journal.jsonl");
    let text = fs::read_to_string(&journal).unwrap();
    let (kept, _) = text.trim_end().rsplit_once('\n').unwrap();
    fs::write(&journal, format!("{kept}\n")).unwrap();
    env.run(&["resume", &hunt.id()]).expect(0).says(&[history.commit(2)]);
    assert_eq!(env.starts().len(), starts, "stored results still count for it");
    fs::write(&journal, format!("{kept}\n")).unwrap();
    env.run(&["store", "forget", history.commit(2)]).expect(0);
    let words = ["error: [worktree] link: .venv changed since the hunt began", "start a new hunt"];
    env.run(&["resume", &hunt.id()]).expect(5).says(&words);
    env.hunt().names(&history, 2);
    assert_eq!(env.starts().len(), 2 * starts);
}

#[test]
fn before_and_after_surround_every_run() {
    let env = TestEnvironment::new();
    let history =
        line("g g b b").with_all("needs = marker").file(0, "tools/marker", "x\n").build(&env);
    let fake = TestEnvironment::fake();
    let keys = format!(
        "cwd = \"{{src}}/tools\"\nbefore = [\"{fake} note before\"]\nafter = [\"{fake} note after\"]"
    );
    Oracle::new(&env).ppl(&keys).write(&env);
    env.hunt().names(&history, 2);
    let notes = env.said("note");
    assert_eq!(notes.len(), 2 * env.runs().len(), "{notes:?}");
    assert!(notes.chunks(2).all(|pair| pair == ["before", "after"]), "{notes:?}");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn wall_clock_time_can_be_guarded() {
    let env = TestEnvironment::new();
    let history = line("g g g g").with(2, "chunk_ms = 250").with(3, "chunk_ms = 250").build(&env);
    Oracle::new(&env).only_guard("metric = \"ppl.wall_s\"\nmax_increase = 0.5").write(&env);
    let hunt = env.hunt().names(&history, 2);
    assert_eq!(hunt.report["culprit"]["effect"]["metric"], "ppl.wall_s");
}

/// Hunts where only commits 2 and 3 have the setting; the guard must find 2.
#[track_caller]
fn finds(setting: &str, measure: (&str, &str), guard: &str) -> Hunt {
    let env = TestEnvironment::new();
    let history = line("g g g g").with(2, setting).with(3, setting).build(&env);
    let (of, keys) = measure;
    Oracle::new(&env).measure(of, of, keys).only_guard(guard).write(&env);
    env.hunt().names(&history, 2)
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_pattern_reads_tokens_per_second() {
    let keys = "parser = \"regex\"\npattern = 'decode: (?<tg>[0-9.]+) tokens per second'";
    let guard = "metric = \"speed.tg\"\nmax_decrease_percent = 5.0";
    let hunt = finds("tg = 90", ("speed", keys), guard);
    let effect = &hunt.report["culprit"]["effect"];
    assert_eq!(effect["metric"], "speed.tg");
    assert!((effect["own_step"].as_f64().unwrap() - 10.0).abs() < 1e-9, "positive is worse");
}

#[test]
fn pointers_read_json() {
    let keys = "parser = \"json\"\npointers = { tg = \"/tg\", mib = \"/mem/mib\" }";
    finds("mem = 128", ("json", keys), "metric = \"json.mib\"\nmax_increase_percent = 10");
    finds("tg = 1.5", ("json", keys), "metric = \"json.tg\"\nmin = 50");
}

#[test]
fn an_exit_code_can_be_the_value() {
    finds("code = 3", ("code", "parser = \"exit-code\""), "metric = \"code\"\nmax = 0");
}

#[test]
fn a_fact_that_must_not_change() {
    let keys = "parser = \"regex\"\nkind = \"fact\"\npattern = 'block=\\(([0-9,]+)\\)'";
    let env = TestEnvironment::new();
    let history = line("g g g g")
        .with_all("launch = 128,1,1")
        .with(2, "launch = 64,2,1")
        .with(3, "launch = 64,2,1")
        .build(&env);
    Oracle::new(&env)
        .measure("launch", "launch", keys)
        .only_guard("metric = \"launch\"\nunchanged = true")
        .write(&env);
    let hunt = env.hunt().names(&history, 2);
    let effect = &hunt.report["culprit"]["effect"];
    assert_eq!(effect["parent"], "128,1,1");
    assert_eq!(effect["commit"], "64,2,1");
}

#[test]
fn inputs_may_be_patterns_and_folders() {
    let env = TestEnvironment::new();
    let history = line("g g b b").build(&env);
    fs::create_dir(env.path("inputs/parts")).unwrap();
    for part in ["a", "b"] {
        fs::write(env.path(&format!("inputs/parts/{part}.bin")), part).unwrap();
    }
    let text = Oracle::new(&env).text().replace(
        "[inputs]\n",
        "[inputs]\nparts = \"../inputs/parts\"\nmany = \"../inputs/parts/*.bin\"\n",
    );
    fs::write(env.repo().join("oracle.toml"), text).unwrap();
    let hunt = env.hunt().names(&history, 2);
    for name in ["parts", "many", "model"] {
        assert_eq!(hunt.report["inputs"][name]["sha256"].as_str().unwrap().len(), 64, "{name}");
    }
}

#[test]
fn the_frozen_configuration_is_what_counts() {
    let env = TestEnvironment::new();
    // Every commit has its own oracle.toml, which must not be read.
    let history = line("g g b b").file(0, "oracle.toml", "version = 99\n").build(&env);
    Oracle::new(&env).write(&env);
    env.hunt().names(&history, 2);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_branch_that_moves_under_way_changes_no_recipe() {
    let env = TestEnvironment::new();
    let history = line("g g g g b b b b").build(&env);
    env.git(&["branch", "era", "v1"]);
    let fine = "measure.ppl.command = '{build}/engine run ppl src={src} cache={cache} out={out}'";
    Oracle::new(&env)
        .ppl_command("false")
        // A colleague's fetch may move a ref during the hunt.
        .ppl("after = ['git update-ref refs/heads/era main']")
        .section(&format!("[[override]]\nwhen = {{ has_ancestor = \"era\" }}\n{fine}"))
        .write(&env);
    env.hunt().names(&history, 4);
    assert_eq!(env.git(&["rev-parse", "era"]), env.git(&["rev-parse", "main"]), "it did move");
}
