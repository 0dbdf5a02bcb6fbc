//! Hunts in the jobs of a real Slurm, whose daemons and nodes fail. Each test has a cluster of its
//! own, and passes with a line on stdout if Slurm is not installed.

mod builds;
mod cluster;
mod containers;
mod speed;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use rustix::process::Signal;
use serde_json::Value;

use crate::kit::{History, Hunt, Oracle, PATIENCE, Plan, TestEnvironment, kill, line, wait_until};
use cluster::Cluster;

/// The longest that a hunt may take whose cluster fails.
const LONG: Duration = Duration::from_mins(5);

const START: [&str; 3] = ["start", "--good", "v1"];

/// The command that measures.
const RUN: &str = "{build}/engine run ppl src={src} cache={cache} out={out}";

fn plan(chunk_ms: u32) -> Plan {
    line("g g g g g g g g b b b b b b b b").with_all(&format!("chunk_ms = {chunk_ms}"))
}

/// Writes an oracle.toml whose runs write the name of their job down.
fn write_oracle(env: &TestEnvironment, executor: &str) {
    Oracle::new(env)
        .ppl_command(&format!("{} {RUN}", noting(env, "job-names", "SLURM_JOB_NAME")))
        .section(executor)
        .section("[failures]\npauses = [\"1s\", \"1s\", \"2s\", \"2s\", \"5s\", \"5s\"]")
        .write(env);
}

fn slurm(keys: &str) -> String {
    format!("[executor]\nkind = \"slurm\"\n{keys}\n")
}

/// The beginning of a command that writes a variable's value into a file, and then runs the words
/// behind it.
fn noting(env: &TestEnvironment, file: &str, variable: &str) -> String {
    let (script, file) = (env.path(&format!("{file}.sh")), env.path(file));
    let text = format!("echo \"${{{variable}-none}}\" >>{}\nexec \"$@\"\n", file.display());
    std::fs::write(&script, text).unwrap();
    format!("sh {}", script.display())
}

/// The values in such a file, each once.
fn notes(env: &TestEnvironment, file: &str) -> BTreeSet<String> {
    let text = std::fs::read_to_string(env.path(file)).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// A cluster, and a hunt in it whose runs take this long.
fn prepared(chunk_ms: u32, keys: &str) -> Option<(Cluster, TestEnvironment, History)> {
    let cluster = Cluster::start()?;
    let env = cluster.environment();
    let history = plan(chunk_ms).build(&env);
    write_oracle(&env, &slurm(keys));
    Some((cluster, env, history))
}

/// For each commit its verdict and its samples, without resources, and without those of the
/// confirmation: their number depends on when a hunt was interrupted.
fn used(hunt: &Hunt, history: &History) -> BTreeMap<String, (String, Vec<String>)> {
    let commits = hunt.report["commits"].as_array().unwrap().iter();
    let of = |commit: &Value| {
        let samples = commit["samples"].as_array().unwrap().iter();
        let samples =
            samples.filter(|sample| sample["metric"] == "ppl" && sample["phase"] != "confirm");
        let said = samples.map(|s| format!("{} {} {}", s["phase"], s["metric"], s["value"]));
        let label = history.label(commit["commit"].as_str().unwrap()).to_owned();
        (label, (commit["verdict"].to_string(), said.collect()))
    };
    commits.map(of).collect()
}

/// The answer of a hunt on this machine with the same history.
fn local() -> (History, Hunt) {
    let env = TestEnvironment::new();
    let history = plan(5).build(&env);
    write_oracle(&env, "");
    let hunt = env.start(&["--good", "v1"]);
    (history, hunt)
}

/// The hunt ended with the answer of a hunt on this machine, and no job and no process is left.
#[track_caller]
fn ended_as_here(cluster: &Cluster, env: &TestEnvironment, history: &History, hunt: &Hunt) {
    let said = &hunt.output.stderr;
    let (its, here) = local();
    assert_eq!(hunt.output.code(), here.output.code(), "{said}");
    assert_eq!(used(hunt, history), used(&here, &its), "{said}");
    assert_eq!(history.label(hunt.culprit()), its.label(here.culprit()), "{said}");
    for field in ["outcome", "account"] {
        assert_eq!(hunt.report[field], here.report[field], "{field}\n{said}");
    }
    let names = notes(env, "job-names");
    assert!(names.iter().all(|name| name.starts_with("bisect-ppl-")), "{names:?}");
    cluster.assert_no_jobs();
    env.assert_no_survivors();
}

/// Waits until the engine ran this often.
#[track_caller]
fn wait_for_runs(env: &TestEnvironment, number: usize) {
    assert!(wait_until(PATIENCE, || env.runs().len() >= number), "{:?}", env.runs());
}

/// The end of a hunt in the background.
fn end(env: &TestEnvironment, running: crate::kit::Running) -> Hunt {
    Hunt::of(env, running.wait_within(LONG))
}

#[test]
fn a_hunt_in_jobs_has_the_answer_of_a_hunt_on_this_machine() {
    for (keys, most) in [("", 1), ("max_jobs = 3\nsbatch_args = [\"--exclusive\"]", 3)] {
        let Some((cluster, env, history)) = prepared(20, keys) else { return };
        let hunt = env.start(&["--good", "v1"]);
        ended_as_here(&cluster, &env, &history, &hunt);
        let names = notes(&env, "job-names");
        assert_eq!(names.len() > 1, most > 1, "{names:?}\n{}", hunt.output.stderr);
        // No job asked for GPUs.
        let totals = &hunt.report["totals"];
        assert!(totals["node_s"].as_f64().unwrap() > 0.0 && totals["gpu_s"].is_null(), "{totals}");
        assert!(hunt.output.stdout.contains("node-hours"), "{}", hunt.output.stdout);
        let dry = env.run(&[&START[..], &["--dry-run"]].concat()).expect(0);
        dry.says(&["jobs     measure: ", &format!("up to {most} job")]);
    }
}

#[test]
fn a_killed_driver_leaves_no_job_and_the_hunt_goes_on() {
    let Some((cluster, env, history)) = prepared(150, "max_jobs = 2") else { return };
    let running = env.spawn_product(&START);
    wait_for_runs(&env, 3);
    kill(running.pid(), Signal::KILL);
    running.wait();
    cluster.assert_no_jobs();
    env.assert_no_survivors();
    // Nobody stopped the hunt.
    env.run(&["status"]).expect(0).says(&["not running: its process ended unexpectedly (killed"]);
    let hunt = env.resume();
    ended_as_here(&cluster, &env, &history, &hunt);
}

#[test]
fn a_stopped_hunt_ends_its_jobs() {
    let Some((cluster, env, history)) = prepared(150, "") else { return };
    let running = env.spawn_product(&START);
    wait_for_runs(&env, 2);
    env.run(&["stop"]).expect(0);
    running.wait().expect(130);
    cluster.assert_no_jobs();
    env.assert_no_survivors();
    // Also while its job waits for a node.
    for node in ["n1", "n2", "n3"] {
        cluster.set_node(node, "DRAIN");
    }
    let running = env.spawn_product(&["resume"]);
    assert!(wait_until(PATIENCE, || cluster.jobs().len() == 1));
    env.run(&["stop"]).expect(0);
    running.wait().expect(130);
    cluster.assert_no_jobs();
    for node in ["n1", "n2", "n3"] {
        cluster.set_node(node, "RESUME");
    }
    let hunt = env.resume();
    ended_as_here(&cluster, &env, &history, &hunt);
}

#[test]
fn a_node_that_is_set_down_loses_only_its_job() {
    let Some((cluster, env, history)) = prepared(150, "") else { return };
    let running = env.spawn_product(&START);
    let [_, node] = cluster.running();
    wait_for_runs(&env, 3);
    cluster.set_node(&node, "DOWN");
    let hunt = end(&env, running);
    assert!(hunt.output.stderr.contains("the hunt tries again"), "{}", hunt.output.stderr);
    ended_as_here(&cluster, &env, &history, &hunt);
}

#[test]
fn a_hunt_goes_on_after_the_time_limit_of_its_job() {
    let Some((cluster, env, history)) = prepared(1000, "time = \"10m\"") else { return };
    let running = env.spawn_product(&START);
    let [id, _] = cluster.running();
    wait_for_runs(&env, 3);
    cluster.end_at_time_limit(&id);
    let hunt = end(&env, running);
    assert!(hunt.output.stderr.contains("the hunt tries again"), "{}", hunt.output.stderr);
    ended_as_here(&cluster, &env, &history, &hunt);
}

#[test]
fn a_node_with_other_cores_is_set_aside_by_name() {
    let Some((cluster, env, history)) = prepared(150, "") else { return };
    if !cluster.drains_n1_with_one_core() {
        return;
    }
    let running = env.spawn_product(&START);
    let [_, node] = cluster.running();
    assert_ne!(node, "n1");
    wait_for_runs(&env, 3);
    cluster.set_node("n1", "RESUME");
    cluster.set_node(&node, "DOWN");
    let hunt = end(&env, running);
    assert!(hunt.output.stderr.contains("node n1 is set aside"), "{}", hunt.output.stderr);
    ended_as_here(&cluster, &env, &history, &hunt);
}

#[test]
fn a_killed_daemon_of_a_node_loses_only_its_job() {
    let Some((cluster, env, history)) = prepared(400, "") else { return };
    let running = env.spawn_product(&START);
    let [_, node] = cluster.running();
    wait_for_runs(&env, 2);
    cluster.kill(&node);
    // The job itself lives on. It ends when the controller gives it up and another one is
    // submitted.
    let hunt = end(&env, running);
    ended_as_here(&cluster, &env, &history, &hunt);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_hunt_survives_its_controller() {
    let Some((cluster, env, history)) = prepared(150, "max_jobs = 2") else { return };
    let running = env.spawn_product(&START);
    wait_for_runs(&env, 3);
    cluster.kill("slurmctld");
    wait_for_runs(&env, 6);
    cluster.start_controller();
    let hunt = end(&env, running);
    ended_as_here(&cluster, &env, &history, &hunt);
}

#[test]
fn a_result_counts_also_if_the_controller_never_comes_back() {
    let Some((cluster, env, history)) = prepared(150, "") else { return };
    let running = env.spawn_product(&START);
    wait_for_runs(&env, 3);
    cluster.kill("slurmctld");
    let hunt = end(&env, running);
    let (its, here) = local();
    assert_eq!(used(&hunt, &history), used(&here, &its), "{}", hunt.output.stderr);
    env.assert_no_survivors();
}

#[test]
fn what_slurm_refuses_is_told_and_a_controller_that_is_down_is_waited_for() {
    let Some((cluster, env, _)) = prepared(20, "partition = \"nowhere\"") else { return };
    let said = ["sbatch: Batch job submission failed: Invalid partition name"];
    let cure = "correct [executor] or [executor.measure], then start a new hunt";
    let refused = env.run(&START).expect(5).says(&[said[0], cure]);
    assert!(!refused.stderr.contains("bisect-ppl resume"), "{}", refused.stderr);
    let status = env.run(&["status"]).expect(0).says(&[said[0], cure]);
    assert!(!status.stdout.contains("bisect-ppl resume"), "{}", status.stdout);
    env.run(&["measure", "HEAD"]).expect(2).says(&["srun bisect-ppl measure"]);
    assert!(env.runs().is_empty());
    write_oracle(&env, &slurm(""));
    cluster.kill("slurmctld");
    let running = env.spawn_product(&START);
    std::thread::sleep(Duration::from_secs(3));
    cluster.start_controller();
    assert_eq!(end(&env, running).output.code(), Some(0));
    cluster.assert_no_jobs();
}
