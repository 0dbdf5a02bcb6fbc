//! Claims of every kind: noise, drift, failures, facts, logits, commits of a submodule.

use std::fs;

use serde_json::Value;

use super::{CELL, calm, sent, sent_after};
use crate::kit::{Oracle, Plan, TestEnvironment, line};

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
#[ignore = "long: scripts/test --long"]
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
#[ignore = "long: scripts/test --long"]
fn a_slower_commit_is_verified_where_the_machine_drifts() {
    let mut plan = line("g g g g g").with_all("seed = 4").with_all("noise = 0.01");
    plan = plan.with_all("drift = 0.1 40");
    for label in 0..5 {
        plan = plan.with(label, if label < 3 { "tg = 100" } else { "tg = 80" });
    }
    let sent = sent(plan, Oracle::only_speed);
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
#[ignore = "long: scripts/test --long"]
fn facts_are_claims_too() {
    let mut plan = line("g g g g").with_all("launch = 256,1,1");
    for label in 2..4 {
        plan = plan.with(label, "launch = 512,1,1");
    }
    let keys = "parser = \"regex\"\npattern = 'block=\\(([0-9,]+)\\)'\nkind = \"fact\"";
    let guard = "metric = \"launch\"\nunchanged = true";
    let sent_fact = sent(plan, |oracle| oracle.only_guard(guard).measure("launch", "launch", keys));
    let found = sent_fact.found(0, &[]);
    assert_eq!(found["claims"][0]["checks"][0]["here"]["commit"], "512,1,1");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn runs_that_differ_are_claims_too() {
    let mut plan = line("g g g g g g");
    for label in 3..6 {
        plan = plan.with(label, "ppl = 7.0000 7.0001 7.0003 7.0000 7.0002");
    }
    let start = ["--good", "v1", "--bad", "HEAD", "--target-of", "ppl=spread"];
    let sent = sent_after(TestEnvironment::new(), plan, |oracle| oracle, &start);
    assert_eq!(sent.found(0, &[])["claims"][0]["commit"], sent.history.commit(3));
}

#[test]
#[ignore = "long: scripts/test --long"]
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

/// A hunt for a failure that says this.
fn a_failure_is_a_claim(words: &str, said: &str) {
    let start = ["--good", "v1", "--bad", "HEAD", "--allow-failure-hunt"];
    let sent = sent_after(TestEnvironment::new(), line(words), |oracle| oracle, &start);
    assert_eq!(sent.hunt.culprit(), sent.history.commit(2));
    let found = sent.found(0, &[]);
    let check = &found["claims"][0]["checks"][0];
    assert!(check["failure"].as_str().unwrap().to_lowercase().contains(&said.to_lowercase()));
    assert!(!check["logs"].as_array().unwrap().is_empty(), "{check:#}");
}

#[test]
fn failures_are_claims_too() {
    a_failure_is_a_claim("g g s s", "SIGSEGV");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn builds_that_fail_and_nan_are_claims_too() {
    a_failure_is_a_claim("g g x x", "build");
    let sent = sent(line("g g n n"), |oracle| oracle);
    assert_eq!(sent.found(0, &[])["claims"][0]["commit"], sent.history.commit(2));
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
#[ignore = "long: scripts/test --long"]
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
