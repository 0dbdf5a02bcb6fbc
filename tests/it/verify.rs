//! `verify`: a report is checked in another clone, without the store of the hunt.

mod claims;
mod fix;

use std::fs;
use std::path::PathBuf;

use rustix::process::Signal;
use serde_json::Value;

use crate::kit::{
    History, Hunt, Oracle, Output, PATIENCE, Plan, TestEnvironment, graph, kill, line, wait_until,
};

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
    // Only commits are left in the hunt's own repository.
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

/// How often the engine ran.
fn runs(env: &TestEnvironment) -> usize {
    env.runs().len()
}

#[test]
#[ignore = "long: scripts/test --long"]
fn an_interrupted_verification_goes_on() {
    let sent = sent(line("7.0 7.0 7.5 7.5").with_all("chunk_ms = 20"), |oracle| oracle);
    let hunted = runs(&sent.env);
    let whole = sent.found(0, &[]);
    let needed = runs(&sent.env) - hunted;
    let before = runs(&sent.env);
    let report = sent.report.to_str().unwrap().to_owned();
    let mut command = sent.env.command(TestEnvironment::product(), &sent.clone);
    command.args(["verify", &report, "--yes", "--json"]);
    let running = sent.env.spawn(command);
    assert!(wait_until(PATIENCE, || runs(&sent.env) >= before + 3));
    kill(running.pid(), Signal::INT);
    running.wait().expect(130).says(&["`bisect-ppl verify` with the same arguments goes on"]);
    let found = sent.found(0, &[]);
    let made = runs(&sent.env) - before;
    // The run that was interrupted is made again.
    assert!((needed..=needed + 1).contains(&made), "{made} runs, {needed} needed");
    assert_ne!(found["folder"], whole["folder"], "the first one has its result");
    let checks = |found: &Value| {
        let check = &found["claims"][0]["checks"][0];
        ["verdict", "here", "confidence", "runs"].map(|key| check[key].clone())
    };
    assert_eq!(checks(&found), checks(&whole));
    // One that has its result begins afresh.
    let before = runs(&sent.env);
    sent.found(0, &[]);
    assert_eq!(runs(&sent.env) - before, needed);
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

#[test]
fn a_commit_that_does_not_build_here_leaves_it_undecided() {
    let sent = sent(line("7.0 7.0 7.5 7.5"), |oracle| oracle);
    let found = sent.found(3, &["--set", "build.commands=[\"false\"]"]);
    assert_eq!(found["verdict"], "undecided", "{found:#}");
}

#[test]
#[ignore = "long: scripts/test --long"]
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
fn a_claim_without_targets_cannot_be_verified() {
    let sent = sent(line("7.0 7.0 7.5 7.5"), |oracle| oracle);
    sent.edit(|report| report["recheck"]["claims"][0]["targets"] = Value::Array(Vec::new()));
    let output = sent.verify(&["--yes"]).expect(2);
    output.says(&["does not carry the targets", &sent.history.commit(2)[..10]]);
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
    sent.edit(|report| report["recheck"]["patches"].as_object_mut().unwrap().clear());
    sent.verify(&["--yes"]).expect(2).says(&["does not carry the patch", "extra.patch"]);
}
