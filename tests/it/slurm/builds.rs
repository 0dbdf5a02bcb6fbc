//! Hunts that build in jobs of one partition and run in jobs of another.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;

use crate::kit::{
    History, Hunt, Oracle, PATIENCE, TestEnvironment, in_path, most_at_once, wait_until,
};

use super::cluster::Cluster;
use super::{RUN, START, end, ended_as_here, notes, noting, plan, slurm, wait_for_runs};

/// The nodes of the partition `build`; the partition `measure` has the third.
const BUILD_NODES: [&str; 2] = ["n1", "n2"];

/// `[executor]` with both partitions. `build`: more keys of the jobs that build.
fn executor(measure: &str, build: &str) -> String {
    slurm(&format!(
        "[executor.measure]\npartition = \"measure\"\n{measure}\n\
         [executor.build]\npartition = \"build\"\n{build}"
    ))
}

/// A cluster, and a hunt in it whose builds and runs take so many milliseconds. Each build and each
/// run writes the name of its node down. Each build then waits as long as the world's switch `hold`
/// is on.
fn prepared(times: [u32; 2], executor: &str) -> Option<(Cluster, TestEnvironment, History)> {
    let cluster = Cluster::start()?;
    let env = cluster.environment();
    let [build_ms, chunk_ms] = times;
    let history = plan(chunk_ms).with_all(&format!("build_ms = {build_ms}")).build(&env);
    let build = format!("{} {}", noting(&env, "built-on", "SLURMD_NODENAME"), holding(&env));
    let run = noting(&env, "ran-on", "SLURMD_NODENAME");
    let run = format!("{run} {} {RUN}", noting(&env, "job-names", "SLURM_JOB_NAME"));
    Oracle::new(&env)
        .build_command(&format!("{build} {} build {{src}} {{build}}", TestEnvironment::fake()))
        .ppl_command(&run)
        .section(executor)
        .section("[failures]\npauses = [\"1s\", \"1s\", \"2s\", \"2s\", \"5s\", \"5s\"]")
        .write(&env);
    Some((cluster, env, history))
}

/// The beginning of a command that waits as long as the world's switch `hold` is on, and then runs
/// the words behind it.
fn holding(env: &TestEnvironment) -> String {
    let (script, switch) = (env.path("hold.sh"), env.path("world/hold"));
    let text = format!("while [ -e {} ]; do sleep 0.1; done\nexec \"$@\"\n", switch.display());
    fs::write(&script, text).unwrap();
    format!("sh {}", script.display())
}

/// A folder with an `sbatch` that empties the scripts of the first and the third job that builds:
/// these jobs end at once with exit code 0 and leave no result. It submits all other jobs as they
/// are.
fn forgetful_sbatch(env: &TestEnvironment) -> PathBuf {
    let real = in_path("sbatch").unwrap();
    let text = format!(
        "#!/bin/sh\n\
         case \" $* \" in *\" --partition=build \"*)\n\
         echo x >>{calls}\n\
         case $(wc -l <{calls}) in 1 | 3) for script; do :; done; echo '#!/bin/sh' >\"$script\" ;; \
         esac ;;\n\
         esac\n\
         exec {real} \"$@\"\n",
        calls = env.path("sbatch-calls").display(),
        real = real.display(),
    );
    let folder = env.path("programs");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("sbatch"), text).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(folder.join("sbatch"), mode).unwrap();
    folder
}

/// A folder with a `squeue` that writes down when it was called (seconds).
fn counting_squeue(env: &TestEnvironment) -> PathBuf {
    let real = in_path("squeue").unwrap();
    let calls = env.path("squeue-calls");
    let text =
        format!("#!/bin/sh\ndate +%s.%N >>{}\nexec {} \"$@\"\n", calls.display(), real.display());
    let folder = env.path("programs");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("squeue"), text).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(folder.join("squeue"), mode).unwrap();
    folder
}

/// The journal of the one hunt; empty until it has begun.
fn journal(env: &TestEnvironment) -> String {
    let hunts = fs::read_dir(env.repo().join(".git/bisect-ppl/hunts"));
    let journals = hunts
        .into_iter()
        .flatten()
        .map(|hunt| fs::read_to_string(hunt.unwrap().path().join("journal.jsonl")));
    journals.map(Result::unwrap_or_default).collect()
}

/// Everything was built on nodes that build, and ran on the one that runs; records and report say
/// so.
#[track_caller]
fn built_and_ran_apart(env: &TestEnvironment, hunt: &Hunt) {
    let said = &hunt.output.stderr;
    let builders = notes(env, "built-on");
    assert!(!builders.is_empty() && builders.iter().all(|node| BUILD_NODES.contains(&&**node)));
    assert_eq!(notes(env, "ran-on"), BTreeSet::from(["n3".to_owned()]), "{said}");
    let told = hunt.report["build_nodes"].as_array().unwrap_or_else(|| panic!("{said}")).iter();
    let told: BTreeSet<String> = told.map(|it| it["name"].as_str().unwrap().to_owned()).collect();
    assert!(!told.is_empty() && told.is_subset(&builders), "{told:?} {builders:?}");
    let hosts = hunt.report["hosts"].as_array().unwrap().iter();
    assert!(hosts.map(|host| host["name"].as_str().unwrap()).eq(["n3"]), "{said}");
}

/// The hunt ended as one on this machine, built and ran on separate nodes, and stored no build as
/// failed.
#[track_caller]
fn ended_without_a_failed_build(
    cluster: &Cluster,
    env: &TestEnvironment,
    history: &History,
    hunt: &Hunt,
) {
    ended_as_here(cluster, env, history, hunt);
    built_and_ran_apart(env, hunt);
    let builds = env.records("builds");
    assert!(!builds.is_empty() && builds.iter().all(|build| build["failure"].is_null()));
}

/// Waits until more than `after` builds began and a job runs on a node that builds: the number and
/// the node of the newest such job.
#[track_caller]
fn building(cluster: &Cluster, env: &TestEnvironment, after: usize) -> [String; 2] {
    let mut found = None;
    let began = wait_until(PATIENCE, || {
        std::thread::sleep(Duration::from_millis(100));
        let text = fs::read_to_string(env.path("built-on")).unwrap_or_default();
        let is_it = |[_, node, _]: &[String; 3]| BUILD_NODES.contains(&&**node);
        let number = |[id, ..]: &[String; 3]| id.parse::<u32>().ok();
        found = cluster.jobs().into_iter().filter(is_it).max_by_key(number);
        text.lines().count() > after && found.is_some()
    });
    assert!(began, "{:?}", cluster.jobs());
    let [id, node, _] = found.unwrap();
    [id, node]
}

#[test]
fn builds_and_runs_have_nodes_of_their_own_and_the_answer_is_the_same() {
    apart("max_jobs = 2");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn builds_and_runs_of_one_job_each_have_nodes_of_their_own() {
    apart("max_jobs = 1");
}

/// A hunt that builds and runs in so many jobs each.
fn apart(most: &str) {
    let executor = executor(most, most);
    let Some((cluster, env, history)) = prepared([20, 20], &executor) else { return };
    let said = ["build partition", "build is up; at most", "-DGGML_NATIVE=OFF"];
    env.run(&["check", "--good", "v1"]).expect(0).says(&said);
    let hunt = env.start(&["--good", "v1"]);
    ended_as_here(&cluster, &env, &history, &hunt);
    built_and_ran_apart(&env, &hunt);
    assert!(hunt.file("report.md").contains("Builds on"));
}

#[test]
fn commits_are_built_ahead_of_the_only_job_that_measures() {
    let executor = executor("", "max_jobs = 3");
    let Some((cluster, env, history)) = prepared([1000, 20], &executor) else { return };
    let hunt = env.start(&["--good", "v1"]);
    let said = &hunt.output.stderr;
    ended_without_a_failed_build(&cluster, &env, &history, &hunt);
    let at_once = ["builds", "runs"].map(|kind| most_at_once(&env.spans(kind)));
    assert!(at_once[0] > 1 && at_once[1] == 1, "{at_once:?}: {said}");
    let ahead = &hunt.report["ahead"];
    let runs = |part: &str| ahead[part]["runs"].as_u64().unwrap();
    // A commit that the search does not ask for does not run. Only the check of the slots may leave
    // a run that is not used.
    assert!(runs("used") > 0 && runs("unused") <= 1, "{ahead:#}\n{said}");
}

#[test]
fn many_jobs_that_build_do_not_all_stand_in_the_queue() {
    let executor = executor("", "max_jobs = 32\nsbatch_args = [\"--exclusive\"]");
    let Some((cluster, env, history)) = prepared([700, 20], &executor) else { return };
    // One build at a time.
    cluster.set_node("n1", "DRAIN");
    let running = env.spawn_product(&START);
    let mut waiting = Vec::new();
    let has_searched = || {
        let jobs = cluster.jobs();
        waiting.push(jobs.iter().filter(|[_, node, _]| node.is_empty()).count());
        std::thread::sleep(Duration::from_millis(50));
        journal(&env).contains("\"search-end\"")
    };
    assert!(wait_until(PATIENCE, has_searched), "{}", journal(&env));
    let hunt = end(&env, running);
    ended_without_a_failed_build(&cluster, &env, &history, &hunt);
    // Four ahead, one that the search needs, and those that are being cancelled.
    let most = waiting.iter().max().copied().unwrap_or_default();
    assert!((2..=9).contains(&most), "{waiting:?}");
}

#[test]
fn all_processes_of_a_hunt_share_one_look_at_the_jobs() {
    let executor = executor("max_jobs = 2", "max_jobs = 3");
    let Some((cluster, env, history)) = prepared([1000, 20], &executor) else { return };
    let programs = counting_squeue(&env);
    let env = env.with_programs_of(&programs);
    let hunt = env.start(&["--good", "v1"]);
    ended_as_here(&cluster, &env, &history, &hunt);
    let text = fs::read_to_string(env.path("squeue-calls")).unwrap();
    let calls: Vec<f64> = text.lines().map(|line| line.parse().unwrap()).collect();
    let pauses: Vec<f64> = calls.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(calls.len() > 3, "{calls:?}\n{}", hunt.output.stderr);
    // A busy machine may start a shell late.
    assert!(pauses.iter().all(|pause| *pause > 1.0), "{pauses:?}");
}

/// What was done for the search in slot 2, which is that of the second job. Cancelled workers do not
/// count.
fn done_in_second_slot(env: &TestEnvironment) -> Vec<Value> {
    let journal = journal(env);
    let events = journal.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let is_it = |event: &Value| {
        event["event"] == "ahead"
            && event["phase"] == "search"
            && event["slot"] == 2
            && event["cancelled"] != true
    };
    events.filter(is_it).collect()
}

/// How many builds or runs such a worker made.
fn made(event: &Value, kind: &str) -> usize {
    event[kind].as_array().map_or(0, Vec::len)
}

#[test]
fn a_commit_is_built_while_the_job_that_will_measure_it_waits_for_a_node() {
    // The job that drives the hunt has the only node that measures.
    let alone = "max_jobs = 2\nsbatch_args = [\"--exclusive\"]";
    let executor = executor(alone, "max_jobs = 3");
    let Some((cluster, env, history)) = prepared([1000, 20], &executor) else { return };
    let running = env.spawn_product(&START);
    let hunt = end(&env, running);
    let said = &hunt.output.stderr;
    ended_without_a_failed_build(&cluster, &env, &history, &hunt);
    assert_eq!(notes(&env, "job-names").len(), 1, "only one job ran commits: {said}");
    let done = done_in_second_slot(&env);
    // The search asked for it, and it ran in the job that drives the hunt.
    let is_used = |event: &Value| made(event, "builds") == 1 && made(event, "runs") > 0;
    assert!(done.iter().any(is_used), "{done:?}\n{said}");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_job_that_has_a_node_runs_what_was_built_before() {
    let executor = executor("max_jobs = 2", "max_jobs = 3");
    let Some((cluster, env, history)) = prepared([1000, 1500], &executor) else { return };
    let running = env.spawn_product(&START);
    let hunt = end(&env, running);
    let said = &hunt.output.stderr;
    ended_without_a_failed_build(&cluster, &env, &history, &hunt);
    assert!(notes(&env, "job-names").len() > 1, "{said}");
    let done = done_in_second_slot(&env);
    assert!(done.iter().any(|event| made(event, "runs") > 0), "{done:?}\n{said}");
    assert!(done.iter().all(|event| made(event, "builds") <= 1), "{done:?}\n{said}");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn jobs_that_measure_give_nodes_back_that_their_builds_need() {
    // Two nodes take jobs of both kinds. The job that drives the hunt has one of them; a second job
    // that measures takes the other one, which its build needs.
    let jobs = "partition = \"main\"\nmax_jobs = 2\nsbatch_args = [\"--exclusive\"]";
    let executor = slurm(&format!("[executor.measure]\n{jobs}\n[executor.build]\n{jobs}"));
    let Some((cluster, env, history)) = prepared([20, 20], &executor) else { return };
    cluster.set_node("n3", "DRAIN");
    let warns = ["shared nodes", "share n1, n2: a job that measures may hold the node"];
    env.run(&["check", "--good", "v1"]).expect(0).says(&warns);
    let running = env.spawn_product(&START);
    let hunt = end(&env, running);
    let said = &hunt.output.stderr;
    ended_as_here(&cluster, &env, &history, &hunt);
    let journal = journal(&env);
    assert!(journal.contains("gave its node back, because its build did not begin"), "{said}");
}

/// A job that builds is lost by itself or with its node.
fn is_lost(by: &str) {
    let executor = executor("", "");
    let Some((cluster, env, history)) = prepared([1500, 20], &executor) else { return };
    let running = env.spawn_product(&START);
    let [id, node] = building(&cluster, &env, 2);
    match by {
        "job" => drop(cluster.ask("scancel", &[&id])),
        // No other job begins there either.
        _ => ["DRAIN", "DOWN"].iter().for_each(|state| cluster.set_node(&node, state)),
    }
    let hunt = end(&env, running);
    assert!(hunt.output.stderr.contains("the hunt tries again"), "{}", hunt.output.stderr);
    ended_as_here(&cluster, &env, &history, &hunt);
    built_and_ran_apart(&env, &hunt);
    if by == "node" {
        assert_eq!(notes(&env, "built-on").len(), 2, "{}", hunt.output.stderr);
    }
}

#[test]
fn a_build_whose_node_is_lost_is_made_by_another_job() {
    is_lost("node");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_build_whose_job_is_cancelled_is_made_by_another_job() {
    is_lost("job");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_build_whose_job_is_requeued_or_reaches_its_time_limit_is_made_by_another_job() {
    let executor = executor("", "");
    let Some((cluster, env, history)) = prepared([20, 20], &executor) else { return };
    env.world("hold", true);
    let running = env.spawn_product(&START);
    // The requeued job reports that it was interrupted, and Slurm holds it in the queue.
    let [requeued, _] = building(&cluster, &env, 0);
    cluster.requeue_held(&requeued);
    let [late, _] = building(&cluster, &env, 1);
    cluster.end_at_time_limit(&late);
    building(&cluster, &env, 2);
    env.world("hold", false);
    let hunt = end(&env, running);
    let said = &hunt.output.stderr;
    for id in [requeued, late] {
        let lost = format!("job {id}, which built, ");
        let is_retried = |line: &str| line.contains(&lost) && line.contains("the hunt tries again");
        assert!(said.lines().any(is_retried), "{lost}: {said}");
    }
    ended_without_a_failed_build(&cluster, &env, &history, &hunt);
}

#[test]
fn a_build_whose_job_leaves_no_result_is_made_by_another_job() {
    let executor = executor("", "");
    let Some((cluster, env, history)) = prepared([20, 20], &executor) else { return };
    let programs = forgetful_sbatch(&env);
    let env = env.with_programs_of(&programs);
    // The first job should report what builds depend on, and the third one should build a commit.
    let hunt = env.start(&["--good", "v1"]);
    let said = &hunt.output.stderr;
    let lost = ", which built, ended without a result (Slurm says COMPLETED)";
    assert_eq!(said.lines().filter(|line| line.contains(lost)).count(), 2, "{said}");
    ended_without_a_failed_build(&cluster, &env, &history, &hunt);
}

#[test]
fn a_stopped_or_killed_hunt_ends_its_builds() {
    let executor = executor("", "");
    let Some((cluster, env, history)) = prepared([1500, 20], &executor) else { return };
    let running = env.spawn_product(&START);
    building(&cluster, &env, 1);
    env.run(&["stop"]).expect(0);
    running.wait().expect(130);
    cluster.assert_no_jobs();
    env.assert_no_survivors();
    // Also while the job waits for a node.
    for node in BUILD_NODES {
        cluster.set_node(node, "DRAIN");
    }
    let running = env.spawn_product(&["resume"]);
    let says = || env.run(&["status"]).stdout.contains("which builds");
    assert!(wait_until(PATIENCE, || cluster.jobs().len() == 2 && says()), "{:?}", cluster.jobs());
    env.run(&["stop"]).expect(0);
    running.wait().expect(130);
    cluster.assert_no_jobs();
    for node in BUILD_NODES {
        cluster.set_node(node, "RESUME");
    }
    // The job of the hunt ends in the middle of a build, and that of the build with it.
    let running = env.spawn_product(&["resume"]);
    building(&cluster, &env, 2);
    let [id, ..] = cluster.jobs().into_iter().find(|[_, node, _]| node == "n3").unwrap();
    cluster.ask("scancel", &["--signal=KILL", "--full", &id]);
    let hunt = end(&env, running);
    ended_as_here(&cluster, &env, &history, &hunt);
    built_and_ran_apart(&env, &hunt);
}

#[test]
fn a_node_that_builds_otherwise_is_set_aside_by_name() {
    let executor = executor("", "");
    let Some((cluster, env, history)) = prepared([300, 20], &executor) else { return };
    if !cluster.drains_n1_with_one_core() {
        return;
    }
    let running = env.spawn_product(&START);
    wait_for_runs(&env, 2);
    cluster.set_node("n1", "RESUME");
    cluster.set_node("n2", "DRAIN");
    let said = || {
        std::thread::sleep(Duration::from_millis(200));
        journal(&env).contains("node n1 is set aside for builds")
    };
    assert!(wait_until(Duration::from_mins(1), said), "{}", journal(&env));
    cluster.set_node("n2", "RESUME");
    let hunt = end(&env, running);
    ended_as_here(&cluster, &env, &history, &hunt);
    assert_eq!(notes(&env, "built-on"), BTreeSet::from(["n2".to_owned()]));
}
