//! A node that is slower than the others of its class, while a hunt measures speed.

use std::collections::BTreeSet;
use std::fs;

use crate::kit::{History, Hunt, Oracle, Plan, Running, TestEnvironment, line};

use super::cluster::Cluster;
use super::{START, end, slurm, wait_for_runs};

/// A line of commits with this speed each; the runs take 300 ms and vary a little.
fn plan(speeds: &[u32]) -> Plan {
    let words = vec!["g"; speeds.len()].join(" ");
    let mut plan = line(&words).with_all("speed_ms = 300\nnoise = 0.005\nseed = 11");
    for (commit, speed) in speeds.iter().enumerate() {
        plan = plan.with(commit, &format!("tg = {speed}"));
    }
    plan
}

/// Writes an oracle.toml that measures speed. On the node whose name is in the file `slow`, the
/// engine takes longer and prints 60 % of its speed.
fn write_oracle(env: &TestEnvironment, executor: &str) {
    let script = env.path("on-node.sh");
    let text = format!(
        "said=$(\"$@\") || exit $?\n\
         share=1\n\
         if test \"$SLURMD_NODENAME\" = \"$(cat {slow} 2>/dev/null)\"; then\n\
         sleep 0.3\nshare=0.6\nfi\n\
         echo \"$said\" | awk -v share=$share '/^decode:/ {{ $2 = $2 * share }} {{ print }}'\n",
        slow = env.path("slow").display()
    );
    fs::write(&script, text).unwrap();
    let oracle = Oracle::new(env)
        .only_speed()
        .section(executor)
        .section("[failures]\npauses = [\"1s\", \"1s\", \"2s\", \"2s\", \"5s\", \"5s\"]");
    let engine = "command = '{build}/engine run speed";
    let text = oracle.text();
    assert!(text.contains(engine), "{text}");
    let wrapped = format!("command = 'sh {} {{build}}/engine run speed", script.display());
    fs::write(env.repo().join("oracle.toml"), text.replace(engine, &wrapped)).unwrap();
}

/// A cluster, and a history whose commits have these speeds, to be measured in its jobs. `keys`:
/// more keys of `[executor]`. `None` if no cluster can be started here.
fn world(speeds: &[u32], keys: &str) -> Option<(Cluster, TestEnvironment, History)> {
    let cluster = Cluster::start()?;
    let env = cluster.environment();
    let history = plan(speeds).build(&env);
    write_oracle(&env, &slurm(keys));
    Some((cluster, env, history))
}

/// A hunt that loses its first node after so many runs, and goes on on a slow one.
struct Moved {
    cluster: Cluster,
    env: TestEnvironment,
    history: History,
    hunt: Hunt,
    /// The names of the slow node and of the one that stays.
    slow: String,
    third: String,
}

/// Lets the first job run on some node, the next one on a slow one, and another one on the third.
fn moved(speeds: &[u32], runs: usize) -> Option<Moved> {
    let (cluster, env, history) = world(speeds, "")?;
    let running: Running = env.spawn_product(&START);
    let [id, first] = cluster.running();
    let mut others = ["n1", "n2", "n3"].into_iter().filter(|node| *node != first);
    let [slow, third] = [others.next().unwrap(), others.next().unwrap()].map(str::to_owned);
    fs::write(env.path("slow"), &slow).unwrap();
    cluster.set_node(&third, "DRAIN");
    wait_for_runs(&env, runs);
    cluster.set_node(&first, "DRAIN");
    cluster.ask("scancel", &[&id]);
    cluster.wait_for_job_on(&slow);
    cluster.set_node(&third, "RESUME");
    let hunt = end(&env, running);
    Some(Moved { cluster, env, history, hunt, slow, third })
}

impl Moved {
    /// The slow node is named, its runs do not count, and the hunt went on on the third node.
    #[track_caller]
    fn assert_set_aside(&self) {
        let Self { hunt, slow, third, .. } = self;
        let said = &hunt.output.stderr;
        assert!(said.contains(&format!("node {slow} is slow: speed of the good end")), "{said}");
        let hosts = hunt.report["hosts"].as_array().unwrap();
        let host = |name: &str| hosts.iter().find(|host| host["name"] == name).unwrap();
        assert!(
            host(slow)["set_aside"].is_string() && host(third)["set_aside"].is_null(),
            "{said}"
        );
        let good = hunt.commit(&self.history, 0);
        let of = |list: &str, node: &str| {
            let lines = good[list].as_array().into_iter().flatten();
            lines.filter(|line| line["host"] == node).count()
        };
        assert!(of("apart", slow) >= 3 && of("samples", slow) == 0, "{good:#}");
        assert!(of("samples", third) > 0, "{good:#}");
        let page = hunt.file("report.html");
        assert!(page.contains(&format!("speed on {slow}")), "no run row names the node");
        self.cluster.assert_no_jobs();
        self.env.assert_no_survivors();
    }
}

#[test]
fn a_slow_node_in_the_middle_of_a_hunt_is_set_aside_and_the_answer_is_right() {
    let speeds: Vec<u32> = (0..16).map(|commit| if commit < 8 { 100 } else { 90 }).collect();
    let Some(moved) = moved(&speeds, 9) else { return };
    moved.assert_set_aside();
    moved.hunt.names(&moved.history, 8);
    // The next hunt knows the slow node and does not begin on it.
    let next = moved.env.start(&["--good", "v1"]).names(&moved.history, 8);
    let notes = next.report["notes"].to_string();
    let told = format!("no job runs on node {} if another node fits", moved.slow);
    assert!(notes.contains(&told), "{notes}");
    let hosts = next.report["hosts"].as_array().unwrap();
    // Stored results of the slow node may still count, where speed does not matter.
    let has_run = |host: &&serde_json::Value| host["runs"].as_u64() != Some(0);
    let mut used = hosts.iter().filter(has_run);
    assert!(used.all(|host| host["name"] == moved.third.as_str()), "{hosts:?}");
    moved.cluster.assert_no_jobs();
}

#[test]
fn a_slow_node_is_the_answer_if_no_commit_did_it() {
    // The third run is the first one of the bad end.
    let Some(moved) = moved(&[100; 8], 3) else { return };
    moved.assert_set_aside();
    let summary = moved.hunt.expect(4, "no-regression").report["summary"].to_string();
    let wanted = format!("\"no commit did it: node {} is slow", moved.slow);
    assert!(summary.starts_with(&wanted), "{summary}");
}

#[test]
fn a_hunt_takes_no_speed_from_a_hunt_on_another_node() {
    // Work ahead on another node would measure another speed.
    let Some((cluster, env, history)) = world(&[100, 100, 90, 90], "max_jobs = 2") else { return };
    let nodes = |hunt: &Hunt| -> Vec<String> {
        let hosts = hunt.report["hosts"].as_array().unwrap();
        hosts.iter().map(|host| host["name"].as_str().unwrap().to_owned()).collect()
    };
    let first = env.start(&["--good", "v1"]).names(&history, 2);
    let used = nodes(&first);
    assert_eq!(used.len(), 1, "{}", first.output.stderr);
    cluster.set_node(&used[0], "DRAIN");
    let second = env.start(&["--good", "v1"]).names(&history, 2);
    // Perplexity does not depend on the node, so its stored runs count.
    let runs = |commit: usize, metric: &str| {
        let samples = second.commit(&history, commit)["samples"].as_array().unwrap().clone();
        let of = samples.into_iter().filter(|sample| sample["metric"] == metric);
        of.map(|sample| sample["host"] == used[0]).collect::<Vec<_>>()
    };
    assert!(runs(0, "ppl").iter().all(|is_stored| *is_stored), "{}", second.output.stderr);
    let speeds = runs(0, "speed");
    assert!(!speeds.is_empty() && !speeds.contains(&true), "{}", second.output.stderr);
    assert_eq!(nodes(&second).len(), 2);
    cluster.assert_no_jobs();
}

#[test]
fn a_slow_node_that_is_the_only_one_left_gives_the_answer_alone() {
    let Some((cluster, env, history)) = world(&[100, 100, 90, 90], "") else { return };
    let running = env.spawn_product(&START);
    let [id, first] = cluster.running();
    let slow = if first == "n2" { "n3" } else { "n2" };
    fs::write(env.path("slow"), slow).unwrap();
    wait_for_runs(&env, 5);
    let words = ["update", "PartitionName=main", &format!("Nodes={slow}")];
    cluster.ask("scontrol", &words);
    cluster.ask("scancel", &[&id]);
    let hunt = end(&env, running).names(&history, 2);
    let said = &hunt.output.stderr;
    assert!(said.contains(&format!("node {slow} is slow")), "{said}");
    let good = hunt.commit(&history, 0);
    let samples = good["samples"].as_array().unwrap();
    let mut speeds = samples.iter().filter(|sample| sample["metric"] == "speed");
    assert!(speeds.all(|sample| sample["host"] == slow), "{good:#}");
    cluster.assert_no_jobs();
}

#[test]
fn a_change_of_speed_is_confirmed_on_a_second_node_where_there_is_one() {
    let Some((cluster, env, history)) =
        world(&[100, 100, 100, 90, 90, 90], "confirm = \"other-node\"")
    else {
        return;
    };
    // The nodes of the good end, the search and the confirmation.
    let nodes = |hunt: &Hunt, commit: usize, phase: &str| -> BTreeSet<String> {
        let samples = hunt.commit(&history, commit)["samples"].as_array().unwrap().clone();
        let of = samples.into_iter().filter(|s| s["metric"] == "speed" && s["phase"] == phase);
        of.map(|sample| sample["host"].as_str().unwrap().to_owned()).collect()
    };
    let hunt = env.start(&["--good", "v1"]).names(&history, 3);
    let search = nodes(&hunt, 3, "search");
    for commit in [2, 3] {
        let confirmed = nodes(&hunt, commit, "confirm");
        assert_eq!(confirmed.len(), 1, "{}", hunt.output.stderr);
        assert!(search.is_disjoint(&confirmed), "{}", hunt.output.stderr);
        assert!(nodes(&hunt, 0, "endpoint").is_superset(&confirmed), "{}", hunt.output.stderr);
    }
    // Another hunt takes over this confirmation as a whole, whatever its node.
    let hunt = env.start(&["--good", "v1", "--set", "guard.speed.max_decrease_percent=4"]);
    assert!(!hunt.output.stderr.contains("afresh on another node"), "{}", hunt.output.stderr);
    assert!(!hunt.report["culprit"]["confirmed_before"].is_null(), "{:#}", hunt.report);
    cluster.assert_no_jobs();
}

#[test]
fn without_a_second_node_a_change_of_speed_is_confirmed_on_the_first_one() {
    let Some((cluster, env, history)) = world(&[100, 100, 90, 90], "confirm = \"other-node\"")
    else {
        return;
    };
    cluster.ask("scontrol", &["update", "PartitionName=main", "Nodes=n2"]);
    let hunt = env.start(&["--good", "v1"]).names(&history, 2);
    let notes = hunt.report["notes"].to_string();
    assert!(notes.contains("no other node takes the job"), "{notes}");
    assert_eq!(hunt.report["hosts"].as_array().unwrap().len(), 1, "{notes}");
    cluster.assert_no_jobs();
}
