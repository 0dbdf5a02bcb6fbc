//! `[worktree] descend`: if the first bad commit moves a submodule, the hunt goes on among the
//! submodule's commits.

mod copies;
mod moved_again;
mod parts;

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use super::{PassedHunt, Row};
use crate::kit::{Oracle, Plan, TestEnvironment, line};

/// The submodule's repository: a line of commits, each with its own text in `mul.conf`, and
/// sometimes a side branch.
struct Kernels {
    folder: PathBuf,
    commits: Vec<String>,
}

impl Kernels {
    fn new(env: &TestEnvironment, texts: &[&str]) -> Self {
        let folder = env.path("kernels");
        fs::create_dir(&folder).unwrap();
        env.git_in(&folder, &["init", "--quiet", "--initial-branch=main"]);
        let mut kernels = Self { folder, commits: Vec::new() };
        for (number, text) in texts.iter().enumerate() {
            let file = ("mul.conf", format!("{text}\n# {number}\n"));
            kernels.commit(env, &format!("kernel {number}"), file);
        }
        kernels
    }

    fn commit(&mut self, env: &TestEnvironment, subject: &str, (name, text): (&str, String)) {
        fs::write(self.folder.join(name), text).unwrap();
        env.git_in(&self.folder, &["add", name]);
        env.git_in(&self.folder, &["commit", "--quiet", "-m", subject]);
        self.note(env);
    }

    fn note(&mut self, env: &TestEnvironment) {
        self.commits.push(env.git_in(&self.folder, &["rev-parse", "HEAD"]).trim().to_owned());
    }

    /// A history of four commits in which commit 2 moves the pin.
    fn pinned(&self, from: usize, to: usize) -> Plan {
        let url = self.folder.display();
        let declared = format!("[submodule \"kernels\"]\n\tpath = kernels\n\turl = {url}\n");
        line("g g g g")
            .file(0, ".gitmodules", &declared)
            .pin(0, "kernels", &self.commits[from])
            .pin(2, "kernels", &self.commits[to])
    }

    fn name(&self, commit: &Value) -> usize {
        let commit = commit.as_str().unwrap();
        self.commits.iter().position(|one| one == commit).expect("a commit of the kernels")
    }
}

const G: &str = "";
const B: &str = "ppl = 7.5";

fn descending(oracle: Oracle) -> Oracle {
    oracle.section("[worktree]\ndescend = \"kernels\"")
}

fn initialise(env: &TestEnvironment) {
    let allow = ["-c", "protocol.file.allow=always"];
    env.git(&[&allow[..], &["submodule", "update", "--quiet", "--init"]].concat());
}

fn row(env: TestEnvironment, plan: Plan) -> Row {
    Row::of(env, plan).oracle(descending).given(|env, _| initialise(env))
}

impl Row {
    /// Hunts, and expects the machine to stop the inner hunt.
    fn stops_inside(self) -> Self {
        self.write_oracle();
        let hunt = self.run();
        assert_eq!(hunt.output.code(), Some(5), "{}", hunt.output.stderr);
        assert!(hunt.output.stderr.contains(", inside kernels of "));
        assert_eq!(hunt.report["outcome"], "culprit");
        self
    }
}

/// The report of the inner hunt with this number, from 0.
fn inner(told: &PassedHunt, number: usize) -> Value {
    let line = &told.hunt.report["culprit"]["inside"][number];
    let id = line["hunt"].as_str().unwrap_or_else(|| panic!("{:#}", told.hunt.report["culprit"]));
    let folder = told.hunt.folder.with_file_name(id);
    serde_json::from_slice(&fs::read(folder.join("report.json")).unwrap()).unwrap()
}

#[test]
#[ignore = "long: scripts/test --long"]
fn levels_are_compared_inside_the_submodule() {
    let env = TestEnvironment::localizing();
    let (good, bad) = ("checks = q:pass:1e-7", "ppl = 7.5\nchecks = q:fail:0.5");
    let kernels = Kernels::new(&env, &[good, good, good, good, bad, bad, bad]);
    let level = "[[level]]\nname = \"kernel\"\nmeasures = [\"suite\"]";
    let row = Row::of(env, kernels.pinned(0, 6))
        .oracle(|oracle| {
            descending(oracle).measure("suite", "suite", "parser = \"parity\"").section(level)
        })
        .given(|env, _| initialise(env));
    row.write_oracle();
    let hunt = row.run();
    let inside = inner(&PassedHunt { row, hunt }, 0);
    assert_eq!(kernels.name(&inside["culprit"]["commit"]), 4);
    assert_eq!(inside["levels"][0]["shows"], "fails", "{:#}", inside["levels"]);
}

#[test]
fn the_commit_of_the_submodule_did_it() {
    let env = TestEnvironment::new();
    let kernels = Kernels::new(&env, &[G, G, G, G, B, B, B]);
    // The outer hunt: one build and two runs of each endpoint, two commits of the search, and fresh
    // runs. The inner hunt knows its bad end: two runs of the good end, three commits of the
    // search, and fresh runs.
    let told = row(env, kernels.pinned(0, 6)).finds("2").counting(14, 6).costs(27, 12);
    let inside = inner(&told, 0);
    assert_eq!(inside["outcome"], "culprit");
    assert_eq!(kernels.name(&inside["culprit"]["commit"]), 4);
    assert_eq!(kernels.name(&inside["culprit"]["parent"]), 3);
    assert_eq!(inside["culprit"]["subject"], "kernel 4");
    assert_eq!(inside["culprit"]["files"][0]["path"], "mul.conf");
    let around = &inside["within"];
    assert_eq!(around["path"], "kernels");
    assert_eq!(around["hunt"], told.hunt.id());
    assert_eq!(told.label(&around["commit"]["commit"]), "2");
    let line = &told.hunt.report["culprit"]["inside"][0];
    assert_eq!(kernels.name(&line["culprit"]["commit"]), 4);
    let said = &told.hunt.output;
    let short = &kernels.commits[4][..10];
    let last = said.stdout.lines().last().unwrap();
    assert!(last.starts_with(&format!("Inside kernels: {short} kernel 4, by ")), "{last}");
    assert!(said.stderr.contains(", inside kernels of "), "{}", said.stderr);
    assert_eq!(inside["plan"]["builds"], 5, "{}", inside["plan"]);
    assert!(said.stdout.contains("These are commits of the submodule kernels"), "{}", said.stdout);

    // The inner hunt's log and reports refer to the submodule's history.
    let env = told.env();
    let id = inside["hunt"].as_str().unwrap();
    let log = env.run(&["log", id]).expect(0).stdout;
    fs::write(env.path("log"), &log).unwrap();
    let replayed = env.path("log").display().to_string();
    let ended = env.git_in(&kernels.folder, &["bisect", "replay", &replayed]);
    assert!(ended.contains(&format!("{} is the first bad commit", kernels.commits[4])), "{ended}");
    for format in ["md", "html", "issue"] {
        let inside = env.run(&["report", id, "--format", format]).expect(0).stdout;
        assert!(inside.contains("each built into"), "{format}: {inside}");
        if format == "issue" {
            let words = format!("git -C kernels checkout {}", kernels.commits[4]);
            assert!(inside.contains(&words), "{inside}");
        }
        let outside = env.run(&["report", &told.hunt.id(), "--format", format]).expect(0).stdout;
        assert!(outside.contains("kernel 4"), "{format}: {outside}");
    }
}

#[test]
#[ignore = "long: scripts/test --long"]
fn without_the_key_the_answer_says_how_to_hunt_inside() {
    let env = TestEnvironment::localizing();
    let kernels = Kernels::new(&env, &[G, G, G, B, B]);
    let row = Row::of(env, kernels.pinned(0, 4)).given(|env, _| initialise(env));
    row.write_oracle();
    let hunt = row.run();
    for words in [
        "Cause: the submodule kernels",
        "Next: the same `start` with `--set worktree.descend=kernels` hunts among the 4 commits of \
         kernels",
    ] {
        assert!(hunt.output.stdout.contains(words), "{words}: {}", hunt.output.stdout);
    }
    let told = PassedHunt { row, hunt };
    let [good, bad] = ["v1", "main"];
    let set = "worktree.descend=kernels";
    let inside = told.env().run(&["start", "--good", good, "--bad", bad, "--set", set]);
    let short = &kernels.commits[3][..10];
    let inside = inside.says(&[&format!("Inside kernels: {short} kernel 3, by ")]);
    assert!(!inside.stdout.contains("hunts among"), "{}", inside.stdout);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn links_in_a_hunt_inside_lead_to_the_submodules_site() {
    let env = TestEnvironment::new();
    let kernels = Kernels::new(&env, &[G, G, B, B]);
    let section = "[report]\ncommit_url = \"https://git.example.org/engine/{commit}\"";
    let row = row(env, kernels.pinned(0, 3)).oracle(|oracle| oracle.section(section));
    let row = row.given(|env, _| {
        let folder = env.repo().join("kernels");
        let url = "https://codeberg.org/ada/kernels.git";
        env.git_in(&folder, &["remote", "set-url", "origin", url]);
        env.git(&["remote", "add", "origin", "https://github.com/ada/engine.git"]);
    });
    let told = row.finds("2").counting(14, 6).costs(24, 11);
    let outside = &told.hunt.report["culprit"];
    let commit = outside["commit"].as_str().unwrap();
    assert_eq!(outside["url"], format!("https://git.example.org/engine/{commit}"));
    let inside = inner(&told, 0);
    let page = format!("https://codeberg.org/ada/kernels/commit/{}", kernels.commits[2]);
    assert_eq!(inside["culprit"]["url"], page);
    let id = inside["hunt"].as_str().unwrap();
    let words = told.env().run(&["report", id, "--format", "html"]).expect(0).stdout;
    assert!(words.contains(&page), "{words}");
    for engine in ["git.example.org", "github.com/ada/engine"] {
        assert!(!words.contains(engine), "{engine} in {words}");
    }
}

#[test]
#[ignore = "long: scripts/test --long"]
fn the_script_of_a_hunt_inside_exchanges_the_submodule() {
    let env = TestEnvironment::new();
    let kernels = Kernels::new(&env, &[G, G, B, B]);
    let told = row(env, kernels.pinned(0, 3)).finds("2").counting(14, 6).costs(24, 11);
    let inside = inner(&told, 0);
    let folder = told.hunt.folder.with_file_name(inside["hunt"].as_str().unwrap());
    let script = folder.join("reproduce.sh").display().to_string();
    let env = told.env();
    // The script clones the submodule anew, as on another machine.
    let text = "[protocol \"file\"]\n\tallow = always\n";
    fs::write(env.path("home/.gitconfig"), text).unwrap();
    let home = format!("HOME={}", env.path("home").display());
    let shown = env.tool(&env.repo(), "env", &[&home, "sh", &script]).expect(0).stdout;
    let [good, bad] = [1, 2].map(|number| kernels.commits[number][..10].to_owned());
    let after = |name: &str| {
        let (_, rest) = shown.split_once(name).unwrap_or_else(|| panic!("{name}: {shown}"));
        rest.lines().nth(1).unwrap_or_default().to_owned()
    };
    assert!(after(&good).contains("PPL = 7.0"), "{shown}");
    assert!(after(&bad).contains("PPL = 7.5"), "{shown}");
}

#[test]
fn an_engine_that_wants_the_new_pin_is_searched_as_its_parent_was() {
    let env = TestEnvironment::new();
    let kernels = Kernels::new(&env, &[G, G, B, B, "ppl = 7.5\nnew = 1"]);
    // The first bad commit runs only with the newest kernels, its parent with any of them.
    let plan = kernels.pinned(0, 4).with(2, "needs_text = kernels/mul.conf new");
    let told = row(env, plan).finds("2").counting(14, 6).costs(28, 12);
    let first = inner(&told, 0);
    assert_eq!(first["outcome"], "endpoint-unmeasurable", "{first:#}");
    let second = inner(&told, 1);
    assert_eq!(kernels.name(&second["culprit"]["commit"]), 2);
    assert_eq!(told.label(&second["within"]["commit"]["commit"]), "1");
    assert_eq!(told.hunt.output.code(), Some(0));
}

#[test]
#[ignore = "long: scripts/test --long"]
fn another_trouble_with_the_new_pin_is_not_hunted() {
    let env = TestEnvironment::new();
    let kernels = Kernels::new(&env, &["old = 1", "old = 1", "ppl = 7.5\nnew = 1"]);
    // Neither commit runs with the other's kernels. The hunt does not look for this failure.
    let plan = kernels
        .pinned(0, 2)
        .with(1, "needs_text = kernels/mul.conf old")
        .with(2, "needs_text = kernels/mul.conf new");
    let told = row(env, plan).finds("2").counting(14, 6).costs(21, 9);
    for number in [0, 1] {
        assert_eq!(inner(&told, number)["outcome"], "endpoint-unmeasurable");
    }
    let summary = inner(&told, 1)["summary"].as_str().unwrap().to_owned();
    assert!(summary.contains("fails differently than in hunt"), "{summary}");
    let said = &told.hunt.output.stdout;
    assert!(said.contains("Inside kernels: no commit is named: "), "{said}");
}

#[test]
fn a_step_of_the_engine_itself_is_not_put_on_the_submodule() {
    let env = TestEnvironment::new();
    let kernels = Kernels::new(&env, &[G, G, G]);
    let plan = kernels.pinned(0, 2).with(2, "ppl = 7.5").with(3, "ppl = 7.5");
    let told = row(env, plan).finds("2").counting(14, 6).costs(18, 7);
    let inside = inner(&told, 0);
    assert_eq!(inside["outcome"], "no-regression", "{inside:#}");
    assert!(told.hunt.output.stdout.contains("no commit is named"), "{}", told.hunt.output.stdout);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_pin_that_goes_back_loses_what_mended_it() {
    let env = TestEnvironment::new();
    let kernels = Kernels::new(&env, &[B, B, B, G, G]);
    let told = row(env, kernels.pinned(4, 1)).finds("2").counting(14, 6).costs(24, 11);
    let inside = inner(&told, 0);
    assert_eq!(inside["options"]["aim"], "fix");
    assert_eq!(kernels.name(&inside["culprit"]["commit"]), 3);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn unbuildable_commits_of_the_submodule_leave_candidates() {
    let env = TestEnvironment::new();
    let kernels = Kernels::new(&env, &[G, G, "build_exit = 1", "build_exit = 1", B, B]);
    let told = row(env, kernels.pinned(0, 5)).finds("2").counting(14, 6).costs(18, 14);
    let inside = inner(&told, 0);
    assert_eq!(inside["outcome"], "candidates", "{inside:#}");
    let mut candidates: Vec<usize> =
        inside["candidates"].as_array().unwrap().iter().map(|one| kernels.name(one)).collect();
    candidates.sort_unstable();
    assert_eq!(candidates, [2, 3, 4]);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_clone_without_the_submodule_says_how_to_go_on() {
    let env = TestEnvironment::new();
    let kernels = Kernels::new(&env, &[G, G, B]);
    let told = Row::of(env, kernels.pinned(0, 2)).oracle(descending).given(|env, _| {
        let text = "[protocol \"file\"]\n\tallow = always\n";
        fs::write(env.path("home/gitconfig"), text).unwrap();
    });
    let settings = told.env.path("home/gitconfig");
    let told = told.variable("GIT_CONFIG_GLOBAL", settings).finds("2").costs(14, 6);
    let said = &told.hunt.output.stdout;
    let cure = "Inside kernels was not searched: this clone does not have the submodule";
    assert!(said.contains(cure), "{said}");
    initialise(told.env());
    let id = told.hunt.id();
    let said = told.env().run(&["resume", &id]).expect(0).stdout;
    assert!(said.contains("Inside kernels: "), "{said}");
    assert!(said.contains("kernel 2, by "), "{said}");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_branch_of_the_submodule_that_was_merged_is_searched_too() {
    let env = TestEnvironment::new();
    let mut kernels = Kernels::new(&env, &[G, G, G]);
    // The branch starts at the oldest commit and is merged last.
    env.git_in(&kernels.folder, &["checkout", "--quiet", "-b", "side", &kernels.commits[0]]);
    kernels.commit(&env, "harmless", ("add.conf", "# add\n".to_owned()));
    kernels.commit(&env, "faster", ("add.conf", "ppl = 7.5\n".to_owned()));
    kernels.commit(&env, "tidier", ("add.conf", "ppl = 7.5\n\n".to_owned()));
    env.git_in(&kernels.folder, &["checkout", "--quiet", "main"]);
    env.git_in(&kernels.folder, &["merge", "--quiet", "--no-ff", "-m", "merge", "side"]);
    kernels.note(&env);
    let told = row(env, kernels.pinned(1, 6)).finds("2").counting(14, 6).costs(28, 13);
    assert_eq!(inner(&told, 0)["culprit"]["subject"], "faster");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_hunt_inside_that_was_stopped_is_taken_up() {
    let env = TestEnvironment::new();
    let kernels = Kernels::new(&env, &[G, G, G, "break_world = broken", B, B, B, B]);
    let row = row(env, kernels.pinned(0, 7));
    // The machine breaks during the inner hunt, and is then repaired.
    let told = row.stops_inside();
    told.env.world("broken", false);
    let waited = told.env.run(&["status", "--wait"]).expect(5);
    waited.says(&["First bad commit: ", "the machine is at fault", "hint: "]);
    let resumed = told.env.run(&["resume"]).expect(0);
    assert!(resumed.stdout.contains("Inside kernels: "), "{}", resumed.stdout);
    let last = resumed.stdout.lines().last().unwrap();
    assert!(last.contains(" kernel 4, by "), "{last}");
    let waited = told.env.run(&["status", "--wait"]).expect(0).stdout;
    assert!(waited.starts_with("First bad commit: ") && waited.contains(last), "{waited}");
}
