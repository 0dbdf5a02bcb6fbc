//! `verify`: a report is checked in another clone, without the store of the hunt.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::kit::{History, Hunt, Oracle, Output, Plan, TestEnvironment, graph, line};

/// A report that was sent to somebody with a clone, and with nothing else of the hunt.
struct Sent {
    env: TestEnvironment,
    history: History,
    hunt: Hunt,
    report: PathBuf,
    clone: PathBuf,
}

/// The ordinary hunt, and its report elsewhere.
fn sent(plan: Plan, oracle: impl FnOnce(Oracle) -> Oracle) -> Sent {
    sent_after(TestEnvironment::new(), plan, oracle, &["--good", "v1", "--bad", "HEAD"])
}

fn sent_after(
    env: TestEnvironment,
    plan: Plan,
    oracle: impl FnOnce(Oracle) -> Oracle,
    start: &[&str],
) -> Sent {
    let history = plan.build(&env);
    oracle(Oracle::new(&env)).write(&env);
    let hunt = env.start(start);
    let (report, clone) = (env.path("report.json"), env.path("clone"));
    if !hunt.report.is_null() {
        fs::write(&report, hunt.file("report.json")).unwrap();
    }
    env.git_in(&env.path(""), &["clone", "--quiet", "repo", "clone"]);
    // What is left of the hunt's own repository answers no request.
    fs::remove_dir_all(env.git_folder().join("bisect-ppl")).unwrap();
    fs::remove_file(env.repo().join("oracle.toml")).unwrap();
    Sent { env, history, hunt, report, clone }
}

impl Sent {
    fn verify(&self, args: &[&str]) -> Output {
        let report = self.report.to_str().unwrap();
        let mut words = vec!["verify", report];
        words.extend(args);
        self.env.run_in(&self.clone, &words)
    }

    /// `verify --yes --json`, which must end with this code.
    #[track_caller]
    fn found(&self, code: i32, args: &[&str]) -> Value {
        let mut words = vec!["--yes", "--json"];
        words.extend(args);
        let output = self.verify(&words).expect(code);
        serde_json::from_str(&output.stdout).unwrap()
    }

    fn edit(&self, change: impl FnOnce(&mut Value)) {
        let mut report = self.hunt.report.clone();
        change(&mut report);
        fs::write(&self.report, report.to_string()).unwrap();
    }

    /// A commit of the clone's repository on top of another one, with this file.
    fn fix(&self, on: usize, file: &str, content: &str) -> String {
        let git = |args: &[&str]| self.env.git_in(&self.clone, args);
        git(&["checkout", "--quiet", "--detach", self.history.commit(on)]);
        fs::write(self.clone.join(file), content).unwrap();
        git(&["commit", "--quiet", "--all", "-m", "the fix"]);
        let commit = git(&["rev-parse", "HEAD"]).trim().to_owned();
        git(&["checkout", "--quiet", "main"]);
        commit
    }
}

#[test]
fn a_claim_holds_in_a_clone_without_the_store() {
    let sent = sent(line("7.0 7.0 7.5 7.5"), |oracle| oracle);
    let before = [1, 2].map(|label| sent.env.builds_of(label));
    let found = sent.found(0, &[]);
    assert_eq!((&found["verdict"], &found["machine"]["is_alike"]), (&"holds".into(), &true.into()));
    let claim = &found["claims"][0];
    assert_eq!(claim["commit"], sent.history.commit("2"));
    assert_eq!(claim["parents"][0], sent.history.commit("1"));
    let check = &claim["checks"][0];
    assert_eq!((&check["metric"], &check["verdict"]), (&"ppl".into(), &"holds".into()));
    assert_eq!(check["reported"], check["here"]);
    assert_eq!(check["here"]["own_step"], 0.5);
    // Everything was built anew, and nothing else was built.
    let after = [1, 2].map(|label| sent.env.builds_of(label));
    assert!(before[0] < after[0] && before[1] < after[1], "{before:?} {after:?}");
    let folder = PathBuf::from(found["folder"].as_str().unwrap());
    for log in check["logs"].as_array().unwrap() {
        assert!(folder.join(log.as_str().unwrap()).exists(), "{log}");
    }
    assert!(!sent.clone.join(".git/bisect-ppl/hunts").exists());
    assert_eq!(sent.env.git_in(&sent.clone, &["status", "--porcelain"]), "");
    let said = sent.verify(&["--yes"]).expect(0);
    said.says(&[
        "The claim holds here",
        "report  parent 7, commit 7.5 (0.5 worse)",
        "here    parent 7,",
    ]);
}

const CELL: &str = "{build}/engine run ppl src={src} cache={cache} out={out} cell=";

/// A world in which the engine is healthy again: `--set` for the cell `calm`.
fn calm() -> String {
    format!("measure.ppl.command={CELL}calm")
}

#[test]
fn a_claim_does_not_hold_where_the_commit_changes_nothing() {
    let plan = line("7.0 7.0 7.5 7.5").with(2, "ppl@calm = 7.0").with(3, "ppl@calm = 7.0");
    let sent = sent(plan, |oracle| oracle);
    let found = sent.found(1, &["--set", &calm()]);
    assert_eq!(found["verdict"], "does-not-hold");
    let check = &found["claims"][0]["checks"][0];
    assert_eq!(
        (&check["reported"]["commit"], &check["here"]["commit"]),
        (&7.5.into(), &7.0.into())
    );
    assert!(found["changes"][0]["option"].as_str().unwrap().contains("cell=calm"), "{found:#}");
    assert_eq!(found["changes"].as_array().unwrap().len(), 1);
    sent.verify(&["--yes", "--set", &calm()]).expect(1).says(&[
        "The claim does not hold here",
        "the step here is 0; it must be larger than 0.1, half the tolerance",
        "Changed here: --set",
    ]);
}

#[test]
fn a_smaller_step_that_is_blamed_all_the_same_holds() {
    // Against the good end commit 3 breaks the guard; its own step is 0.15 of 0.2.
    let sent = sent(line("7.0 7.1 7.1 7.25 7.25"), |oracle| oracle);
    assert_eq!(sent.hunt.culprit(), sent.history.commit(3));
    let found = sent.found(0, &[]);
    assert!(
        (found["claims"][0]["checks"][0]["here"]["own_step"].as_f64().unwrap() - 0.15).abs() < 1e-9
    );
}

#[test]
fn another_class_of_machine_is_told() {
    let sent = sent(line("7.0 7.0 7.5 7.5"), |oracle| oracle);
    sent.edit(|report| {
        report["machine"]["cpu"] = "Example CPU 9000".into();
        report["machine"]["cores"] = 999.into();
        report["environment"]["cc --version"] = "cc 0.1".into();
    });
    let found = sent.found(0, &[]);
    assert_eq!(found["machine"]["is_alike"], false);
    let said = found["machine"]["differences"].to_string();
    for words in ["Example CPU 9000 in the report", "999 in the report", "cc 0.1 in the report"] {
        assert!(said.contains(words), "{said}");
    }
    sent.verify(&["--yes"]).expect(0).says(&["The claim holds here, on another class of machine"]);
}

#[test]
fn inputs_must_be_those_of_the_report_wherever_they_are() {
    let sent = sent(line("7.0 7.0 7.5 7.5"), |oracle| oracle);
    let (model, other) = (sent.env.path("inputs/model.bin"), sent.env.path("there.bin"));
    fs::copy(&model, &other).unwrap();
    fs::write(&model, "other weights\n").unwrap();
    let runs = sent.env.log().len();
    sent.verify(&["--yes"]).expect(2).says(&[
        "the input `model` is not the one of the report",
        "the report says",
        "--input model=PATH",
    ]);
    fs::remove_file(&model).unwrap();
    sent.verify(&["--yes"])
        .expect(2)
        .says(&["the input `model` is not here", "--input model=PATH"]);
    let elsewhere = format!("modle={}", other.display());
    sent.verify(&["--yes", "--input", &elsewhere]).expect(2).says(&["it has model"]);
    assert_eq!(sent.env.log().len(), runs, "nothing was run");
    let found = sent.found(0, &["--input", &format!("model={}", other.display())]);
    assert_eq!(found["verdict"], "holds");
}

const CALM: &str = "7.00 7.01 7.02 6.99 7.03 7.01 6.98";
const WORSE: &str = "7.50 7.52 7.49 7.51 7.53 7.48 7.50";

fn wavering() -> Plan {
    let mut plan = line("g g g b b");
    for label in 0..5 {
        let own = if label < 3 { CALM } else { WORSE };
        plan = plan.with(label, &format!("ppl = {own}")).with(label, &format!("ppl@calm = {CALM}"));
    }
    plan
}

#[test]
fn in_noise_fresh_pairs_decide() {
    let sent = sent(wavering(), |oracle| oracle);
    assert_eq!(sent.hunt.culprit(), sent.history.commit(3));
    let found = sent.found(0, &[]);
    let check = &found["claims"][0]["checks"][0];
    assert!(check["confidence"].as_f64().unwrap() > 0.99, "{check:#}");
    assert!(check["runs"].as_u64().unwrap() >= 4, "{check:#}");
    let found = sent.found(1, &["--set", &calm()]);
    assert_eq!(found["claims"][0]["checks"][0]["verdict"], "does-not-hold");
}

#[test]
fn too_much_noise_is_undecided() {
    let wild = "7.0 9.0 5.0 8.0 6.0 7.5 6.5";
    let mut plan = wavering();
    for label in 0..5 {
        let own = if label == 3 { "8.1 6.6 9.6 7.1 5.6 8.1 8.6" } else { wild };
        plan = plan.with(label, &format!("ppl@wild = {own}"));
    }
    let sent = sent(plan, |oracle| oracle);
    let wild = format!("measure.ppl.command={CELL}wild");
    let found = sent.found(3, &["--set", &wild, "--set", "statistics.max_runs=30"]);
    assert_eq!(found["verdict"], "undecided", "{found:#}");
}

#[test]
fn failures_are_claims_too() {
    for (words, said) in [("g g s s", "SIGSEGV"), ("g g x x", "build")] {
        let start = ["--good", "v1", "--bad", "HEAD", "--allow-failure-hunt"];
        let sent = sent_after(TestEnvironment::new(), line(words), |oracle| oracle, &start);
        assert_eq!(sent.hunt.culprit(), sent.history.commit(2));
        let found = sent.found(0, &[]);
        let check = &found["claims"][0]["checks"][0];
        assert!(check["failure"].as_str().unwrap().to_lowercase().contains(&said.to_lowercase()));
        assert!(!check["logs"].as_array().unwrap().is_empty(), "{check:#}");
    }
    let sent = sent(line("g g n n"), |oracle| oracle);
    assert_eq!(sent.found(0, &[])["claims"][0]["commit"], sent.history.commit(2));
}

#[test]
fn a_commit_that_does_not_build_here_leaves_it_undecided() {
    let sent = sent(line("7.0 7.0 7.5 7.5"), |oracle| oracle);
    let found = sent.found(3, &["--set", "build.commands=[\"false\"]"]);
    assert_eq!(found["verdict"], "undecided", "{found:#}");
}

#[test]
fn each_commit_of_several_and_a_fix_are_verified() {
    let sent = sent(line("7.0 7.0 7.5 7.5 8.5 8.5"), |oracle| oracle);
    let found = sent.found(0, &[]);
    let commits: Vec<&Value> =
        found["claims"].as_array().unwrap().iter().map(|claim| &claim["commit"]).collect();
    assert_eq!(commits, [sent.history.commit(2), sent.history.commit(4)]);

    let start = ["--find-fix", "--bad", "v1", "--good", "HEAD"];
    let sent = sent_after(TestEnvironment::new(), line("b b g g"), |oracle| oracle, &start);
    let found = sent.found(0, &[]);
    assert_eq!(found["claims"][0]["commit"], sent.history.commit(2));
    assert_eq!(found["claims"][0]["checks"][0]["here"]["commit"], 7.0);
    sent.verify(&["--yes", "--fix", "HEAD"]).expect(2).says(&["nothing to heal"]);
}

#[test]
fn both_parents_of_a_merge_are_measured() {
    let plan = graph(&["a: g", "b < a: g", "c < a: g", "m < b c: b", "e < m: b"]);
    let sent = sent(plan, |oracle| oracle);
    assert_eq!(sent.hunt.culprit(), sent.history.commit("m"));
    assert_eq!(sent.found(0, &[])["claims"][0]["parents"].as_array().unwrap().len(), 2);
}

#[test]
fn a_report_without_a_commit_has_nothing_to_verify() {
    let sent = sent(line("7.0 7.0 7.0"), |oracle| oracle);
    sent.verify(&["--yes"]).expect(2).says(&["names no first bad commit", "no-regression"]);
    fs::write(&sent.report, "{}").unwrap();
    sent.verify(&["--yes"]).expect(2).says(&["it is not a report of this program"]);
    fs::write(&sent.report, "not json").unwrap();
    sent.verify(&["--yes"]).expect(2).says(&["it is not JSON"]);
}

#[test]
fn nothing_runs_before_somebody_agreed() {
    let sent = sent(line("7.0 7.0 7.5 7.5"), |oracle| {
        oracle.section("[environment]\nprobe = [\"touch probed\"]")
    });
    fs::remove_file(sent.env.repo().join("probed")).unwrap();
    let runs = sent.env.log().len();
    // Somebody else's commands are shown, control sequences of a terminal as text.
    sent.edit(|report| {
        let config = report["recheck"]["config"].as_str().unwrap();
        let config = config.replace("touch probed", "touch probed '\\u001b[2J'");
        report["recheck"]["config"] = config.into();
    });
    let output = sent.verify(&[]).expect(2);
    assert!(!output.stderr.contains('\u{1b}'), "{}", output.stderr);
    output.says(&[
        "nobody agreed",
        "--yes",
        "probe: touch probed",
        "ppl: {build}/engine run ppl",
        &format!("the code of {}", sent.history.commit(2)),
    ]);
    assert_eq!(sent.env.log().len(), runs);
    assert!(!sent.clone.join("probed").exists());
}

#[test]
fn a_clone_without_the_commits_is_refused() {
    let sent = sent(line("7.0 7.0 7.5 7.5"), |oracle| oracle);
    let other = sent.env.path("other");
    sent.env.git_in(&sent.env.path(""), &["init", "--quiet", "other"]);
    let report = sent.report.to_str().unwrap();
    let output = sent.env.run_in(&other, &["verify", report, "--yes"]).expect(2);
    output.says(&["this clone does not have", sent.history.commit(2), "git fetch"]);
}

#[test]
fn secrets_are_not_carried_and_must_be_given() {
    let secret = "[[override]]\nwhen = { exists = \"engine.conf\" }\n\
                  build.env.MY_TOKEN = \"hunter2\"";
    let sent = sent(line("7.0 7.0 7.5 7.5"), |oracle| oracle.section(secret));
    assert!(!fs::read_to_string(&sent.report).unwrap().contains("hunter2"));
    sent.verify(&["--yes"]).expect(2).says(&["--set build.env.MY_TOKEN="]);
    sent.found(0, &["--set", "build.env.MY_TOKEN=mine"]);
}

#[test]
fn patches_come_with_the_report_and_files_of_other_revisions_from_the_clone() {
    let env = TestEnvironment::new();
    let patch = "diff --git a/extra b/extra\nnew file mode 100644\n--- /dev/null\n+++ b/extra\n\
                 @@ -0,0 +1 @@\n+1\n";
    let file = env.path("extra.patch");
    fs::write(&file, patch).unwrap();
    let plan = line("7.0 7.0 7.5 7.5")
        .with_all("needs = bench/tool")
        .with_all("needs_text = extra 1")
        .file(3, "bench/tool", "1\n");
    let laid = "[[overlay]]\nfrom = \"HEAD\"\npaths = [\"bench/**\"]\n\n\
                [[patch]]\nfile = \"../extra.patch\"";
    let start = ["--good", "v1", "--bad", "HEAD"];
    let sent = sent_after(env, plan, |oracle| oracle.section(laid), &start);
    assert_eq!(sent.hunt.culprit(), sent.history.commit(2));
    fs::remove_file(&file).unwrap();
    sent.verify(&["--yes"]).expect(0).says(&["a patch that the report carries: file ../extra"]);
    sent.edit(|report| {
        let patches = report["recheck"]["patches"].as_object_mut().unwrap();
        patches["file ../extra.patch"]["content_b64"] = "b3RoZXI=".into();
    });
    sent.verify(&["--yes"]).expect(2).says(&["does not carry the patch", "extra.patch"]);
}

#[test]
fn a_fix_must_heal_each_cell() {
    let mut plan = line("g g g g");
    for label in 2..4 {
        plan = plan.with(label, "ppl@q4 = 7.5").with(label, "ppl@q8 = 7.3");
    }
    let sent = sent(plan, |oracle| {
        oracle
            .ppl_command(&format!("{CELL}{{matrix.kernel}}"))
            .section("[matrix]\nkernel = [\"f16\", \"q4\", \"q8\"]")
    });
    let cells = |found: &Value| -> Vec<(String, bool, String)> {
        let cells = found["fix"]["cells"].as_array().unwrap().iter();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        cells
            .map(|cell| {
                (text(&cell["name"]), cell["showed"].as_bool().unwrap(), text(&cell["verdict"]))
            })
            .collect()
    };
    let cell = |name: &str, showed: bool, verdict: &str| {
        (format!("ppl[kernel={name}]"), showed, verdict.to_owned())
    };
    let half = sent.fix(3, "engine.conf", "id = half\nppl = 7.0\nppl@q8 = 7.3\n");
    let found = sent.found(1, &["--fix", &half]);
    assert_eq!(found["claims"][0]["verdict"], "holds");
    let wanted =
        [cell("f16", false, "holds"), cell("q4", true, "holds"), cell("q8", true, "does-not-hold")];
    assert_eq!(cells(&found), wanted);
    sent.verify(&["--yes", "--fix", &half]).expect(1).says(&[
        "The fix does not heal all: 2 of 3 cells",
        "guard ppl[kernel=q4]: healed (parent 7, fix 7)",
        "guard ppl[kernel=q8]: not healed (parent 7, fix 7.3)",
        "guard ppl[kernel=f16]: as before",
    ]);
    let whole = sent.fix(3, "engine.conf", "id = whole\nppl = 7.0\n");
    assert_eq!(sent.found(0, &["--fix", &whole])["fix"]["verdict"], "holds");
    // What was healthy must stay so.
    let worse = sent.fix(3, "engine.conf", "id = worse\nppl = 7.0\nppl@f16 = 7.9\n");
    let found = sent.found(1, &["--fix", &worse]);
    assert_eq!(cells(&found)[0], cell("f16", false, "does-not-hold"));
    sent.verify(&["--yes", "--fix", sent.history.commit(2)]).expect(2);
}

#[test]
fn a_fix_must_heal_each_level_and_each_cell_of_the_sweep() {
    let env = TestEnvironment::localizing();
    let broken = "where.odd = d_in%4!=0\nppl@odd = 7.5\nchecks = q:fail:0.5\n";
    let plan = line("7.0 7.0 7.0 7.0")
        .with_all("checks = q:pass:1e-7")
        .file(0, "kernels/a.conf", "# a\n")
        .file(2, "kernels/a.conf", broken);
    let world = Oracle::new(&env).world();
    let run = "{build}/engine run ppl src={src} cache={cache} out={out}";
    let width = format!(
        "[[measure]]\nname = \"width\"\nparser = \"llama-perplexity\"\ntimeout = \"60s\"\n\
         command = '{run} d_in={{sweep.d_in}}'\nenv = {{ FAKE_WORLD = '{world}' }}"
    );
    let oracle = |oracle: Oracle| {
        oracle
            .ppl_command(&format!("{run} d_in=171"))
            .measure("suite", "suite", "parser = \"parity\"")
            .section(&width)
            .section("[[level]]\nname = \"kernel\"\nmeasures = [\"suite\"]")
            .section("[sweep]\ntolerance = 0.1\nparameters.d_in = { values = [96, 171, 256] }")
    };
    let sent = sent_after(env, plan, oracle, &["--good", "v1", "--bad", "HEAD"]);
    assert_eq!(sent.hunt.culprit(), sent.history.commit(2));
    let cells = |fix: &str, code| {
        let found = sent.found(code, &["--fix", fix]);
        let cells = found["fix"]["cells"].as_array().unwrap().clone();
        let of_text = |value: &Value| value.as_str().unwrap().to_owned();
        let of = |cell: &Value| format!("{} {}", of_text(&cell["name"]), of_text(&cell["verdict"]));
        cells.iter().map(of).collect::<Vec<_>>()
    };
    // The width that the hunt measured is healed; another one and the kernel's test are not.
    let half = "where.far = d_in>200\nppl@far = 7.5\nchecks = q:fail:0.5\n";
    let half = sent.fix(3, "kernels/a.conf", half);
    assert_eq!(
        cells(&half, 1),
        [
            "ppl holds",
            "kernel does-not-hold",
            "width[d_in=96] holds",
            "width[d_in=171] holds",
            "width[d_in=256] does-not-hold",
        ]
    );
    let whole = sent.fix(3, "kernels/a.conf", "checks = q:pass:1e-7\n");
    assert!(cells(&whole, 0).iter().all(|cell| cell.ends_with(" holds")));
}

#[test]
fn logits_are_compared_with_the_good_end_of_the_hunt() {
    let mut plan = line("g g g g");
    for label in 2..4 {
        plan = plan.with(label, "shift = 0.5");
    }
    let keys = "parser = \"logits\"\nfile = \"{out}/logits.npy\"";
    let guard = "metric = \"logits\"\npreset = \"lossless-f32\"";
    let sent = sent(plan, |oracle| oracle.only_guard(guard).measure("logits", "logits", keys));
    let found = sent.found(0, &[]);
    let claim = &found["claims"][0];
    assert_eq!(
        (&claim["commit"], &claim["verdict"]),
        (&sent.history.commit(2).into(), &"holds".into())
    );
    let fix = sent.fix(3, "engine.conf", "id = fix\nppl = 7.0\n");
    assert_eq!(sent.found(0, &["--fix", &fix])["fix"]["verdict"], "holds");
    sent.found(1, &["--fix", "HEAD"]);
}

#[test]
fn a_slower_commit_is_verified_where_the_machine_drifts() {
    let mut plan = line("g g g g g").with_all("seed = 4").with_all("noise = 0.01");
    plan = plan.with_all("drift = 0.1 40");
    for label in 0..5 {
        plan = plan.with(label, if label < 3 { "tg = 100" } else { "tg = 80" });
    }
    let pattern = "parser = \"regex\"\npattern = 'decode: ([0-9.]+) tokens'";
    let guard = "metric = \"speed\"\nmax_decrease_percent = 5.0";
    let sent = sent(plan, |oracle| oracle.only_guard(guard).measure("speed", "speed", pattern));
    assert_eq!(sent.hunt.culprit(), sent.history.commit(3));
    let found = sent.found(0, &[]);
    assert_eq!(found["claims"][0]["commit"], sent.history.commit(3));
    // Another commit as slow as the first bad one heals nothing; a fast one does.
    assert_eq!(sent.found(1, &["--fix", "HEAD"])["fix"]["verdict"], "does-not-hold");
    let fast = "id = fast\nppl = 7.0\ntg = 101\nseed = 4\nnoise = 0.01\ndrift = 0.1 40\n";
    let fast = sent.fix(4, "engine.conf", fast);
    assert_eq!(sent.found(0, &["--fix", &fast])["fix"]["verdict"], "holds");
}

#[test]
fn facts_and_runs_that_differ_are_claims_too() {
    let mut plan = line("g g g g").with_all("launch = 256,1,1");
    for label in 2..4 {
        plan = plan.with(label, "launch = 512,1,1");
    }
    let keys = "parser = \"regex\"\npattern = 'block=\\(([0-9,]+)\\)'\nkind = \"fact\"";
    let guard = "metric = \"launch\"\nunchanged = true";
    let sent_fact = sent(plan, |oracle| oracle.only_guard(guard).measure("launch", "launch", keys));
    let found = sent_fact.found(0, &[]);
    assert_eq!(found["claims"][0]["checks"][0]["here"]["commit"], "512,1,1");

    let mut plan = line("g g g g g g");
    for label in 3..6 {
        plan = plan.with(label, "ppl = 7.0000 7.0001 7.0003 7.0000 7.0002");
    }
    let start = ["--good", "v1", "--bad", "HEAD", "--target-of", "ppl=spread"];
    let sent = sent_after(TestEnvironment::new(), plan, |oracle| oracle, &start);
    assert_eq!(sent.found(0, &[])["claims"][0]["commit"], sent.history.commit(3));
}

#[test]
fn a_commit_of_a_submodule_is_verified_inside_the_engine() {
    let env = TestEnvironment::new();
    let kernels = env.path("kernels");
    fs::create_dir(&kernels).unwrap();
    env.git_in(&kernels, &["init", "--quiet", "--initial-branch=main"]);
    let mut commits = Vec::new();
    for (number, text) in ["", "", "ppl = 7.5\n", "ppl = 7.5\n"].iter().enumerate() {
        fs::write(kernels.join("mul.conf"), format!("{text}# {number}\n")).unwrap();
        env.git_in(&kernels, &["add", "mul.conf"]);
        env.git_in(&kernels, &["commit", "--quiet", "-m", "a kernel"]);
        commits.push(env.git_in(&kernels, &["rev-parse", "HEAD"]).trim().to_owned());
    }
    let url = format!("[submodule \"kernels\"]\n\tpath = kernels\n\turl = {}\n", kernels.display());
    line("g g g g")
        .file(0, ".gitmodules", &url)
        .pin(0, "kernels", &commits[0])
        .pin(2, "kernels", &commits[3])
        .build(&env);
    Oracle::new(&env).section("[worktree]\ndescend = \"kernels\"").write(&env);
    let update = ["-c", "protocol.file.allow=always", "submodule", "update", "--quiet", "--init"];
    env.git(&update);
    let outer = env.hunt().expect(0, "culprit");
    let inner = outer.report["culprit"]["inside"][0]["hunt"].as_str().unwrap();
    let report = outer.folder.with_file_name(inner).join("report.json");
    let (sent, clone) = (env.path("report.json"), env.path("clone"));
    fs::copy(report, &sent).unwrap();
    env.git_in(&env.path(""), &["clone", "--quiet", "repo", "clone"]);
    let args = ["verify", sent.to_str().unwrap(), "--yes", "--json"];
    env.run_in(&clone, &args).expect(2).says(&["submodule update --init kernels"]);
    env.git_in(&clone, &update);
    let output = env.run_in(&clone, &args).expect(0);
    let found: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(found["claims"][0]["commit"], commits[2].as_str());
}
