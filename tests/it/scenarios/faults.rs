//! Whose fault a failure is, where one look is not enough: failures that do not repeat, and
//! processes that the kernel kills for lack of memory.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use super::hunt;
use crate::kit::{Hunt, Oracle, Output, PATIENCE, TestEnvironment, line, wait_until};

/// The notes of a hunt's report.
fn notes(hunt: &Hunt) -> String {
    let notes = hunt.report["notes"].as_array().unwrap();
    notes.iter().map(|note| note.as_str().unwrap()).collect::<Vec<_>>().join("\n")
}

/// Each commit in between fails in this way at its first run.
fn fails_once(fate: &str) {
    // Whichever commit is first in the search fails at its first run.
    let mut plan = line("g g g g b b b b");
    for label in 1..7 {
        let fate = format!("fate = {fate} well well well well well well well well");
        plan = plan.with(label, &fate);
    }
    // A crash also counts as bad, so a hunt that believed it would name the wrong commit.
    let failures = "[failures]\ncrash = 'bad'\ntimeout = 'bad'\n";
    let row = hunt(plan).oracle(|oracle| oracle.timeout("2s").section(failures));
    let (hunt, history) = row.hunted();
    let hunt = hunt.names(&history, 4);
    assert!(notes(&hunt).contains("did not count"), "{fate}: {}", notes(&hunt));
}

#[test]
fn a_crash_that_does_not_repeat_does_not_count() {
    fails_once("crash:11");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_time_out_that_does_not_repeat_does_not_count() {
    fails_once("hang");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn an_exit_code_that_does_not_repeat_does_not_count() {
    fails_once("exit:3");
}

#[test]
fn one_time_out_in_the_confirmation_does_not_count() {
    // The parent of the first bad commit runs once in the search.
    let plan = line("g g g g b b b b").with(3, "fate = well well hang well well well well well");
    let failures = "[failures]\ntimeout = 'bad'\n";
    let row = hunt(plan).oracle(|oracle| oracle.timeout("2s").section(failures));
    let (hunt, history) = row.hunted();
    let hunt = hunt.names(&history, 4);
    assert!(notes(&hunt).contains("did not count"), "{}", notes(&hunt));
}

#[test]
fn crashes_that_come_and_go_say_nothing_about_the_values_of_other_runs() {
    // The parent of the first bad commit crashes in every second run.
    let row = hunt(line("g g g g b b b b").with(3, "fate = well crash:11"));
    let (hunt, history) = row.hunted();
    hunt.names(&history, 4);
}

#[test]
fn a_build_that_fails_once_does_not_count() {
    let env = TestEnvironment::new();
    let history = line("g g g g b b b b").build(&env);
    // The first build of each commit fails.
    let (fake, world) = (TestEnvironment::fake(), env.path("world").display().to_string());
    let first = format!("test -e {world}/{{short}} || {{{{ touch {world}/{{short}}; exit 3; }}}}");
    let command = format!("sh -c \"{first}; exec {fake} build {{src}} {{build}}\"");
    let failures = "[failures]\nbuild = 'bad'\n";
    Oracle::new(&env).build_command(&command).section(failures).write(&env);
    let hunt = env.hunt().names(&history, 4);
    assert!(notes(&hunt).contains("since it worked when tried again"), "{}", notes(&hunt));
}

/// A build that fails each time for another reason has no reason of its own.
#[test]
fn a_build_that_fails_twice_but_not_alike_is_tried_a_third_time() {
    let env = TestEnvironment::new();
    let history = line("g g g g b").file(2, "odd", "1\n").without(3, "odd").build(&env);
    // At one commit, the compiler complains about another file each of the first two times.
    let (fake, world) = (TestEnvironment::fake(), env.path("world").display().to_string());
    let script = env.path("compiler.sh");
    let text = format!(
        "if test -e \"$1/odd\"; then\n\
         for file in first second; do test -e {world}/$file || {{ touch {world}/$file; \
         echo \"$file.c:1:1: error: unknown type name\" >&2; exit 2; }}; done\n\
         fi\n\
         exec {fake} build \"$1\" \"$2\"\n"
    );
    fs::write(&script, text).unwrap();
    Oracle::new(&env)
        .build_command(&format!("sh {} {{src}} {{build}}", script.display()))
        .write(&env);
    let hunt = env.hunt().names(&history, 4);
    assert_eq!(hunt.verdict(&history, "2"), "good");
    let notes = notes(&hunt);
    for file in ["first.c", "second.c"] {
        assert!(notes.contains(file), "{notes}");
    }
    let starts = env.starts();
    let builds = starts.iter().filter(|start| start.kind == "build").count();
    assert_eq!(hunt.report["totals"]["builds"], builds + 2, "failed attempts count");
}

/// An incremental build does not go on from the files of a build that was killed.
#[test]
fn a_killed_build_leaves_nothing_to_the_next_one() {
    let env = TestEnvironment::new();
    let mut plan = line("g g g g g g g b").file(3, "killed", "1\n");
    plan = plan.without(4, "killed");
    let history = plan.build(&env);
    let torn = "test ! -e {build}/torn || exit 3";
    let killed = "test ! -e {src}/killed || {{ touch {build}/torn; kill -9 $$; }}";
    let fake = TestEnvironment::fake();
    let command = format!(
        "sh -c \"mkdir -p {{build}}; {torn}; {killed}; exec {fake} build {{src}} {{build}}\""
    );
    Oracle::new(&env).build("mode = 'incremental'").build_command(&command).write(&env);
    let hunt = env.hunt().names(&history, 7);
    assert_eq!(hunt.verdict(&history, "3"), "skip");
    assert_eq!(hunt.commit(&history, "3")["skip"], "resource");
    assert!(!notes(&hunt).contains("when tried again"), "{}", notes(&hunt));
}

#[test]
fn a_hunt_waits_for_the_machine_and_goes_on_by_itself() {
    let env = TestEnvironment::new();
    let mut plan = line("g g g g b b b b");
    for label in 1..7 {
        plan = plan.with(label, "break_world = broken");
    }
    let history = plan.build(&env);
    Oracle::new(&env).section("[failures]\npauses = ['1ms', '5m']\n").write(&env);
    let running = env.spawn_product(&["start", "--good", "v1"]);
    let mut said = String::new();
    let waits = wait_until(PATIENCE, || {
        said = env.run(&["status"]).stdout;
        said.contains("waiting 5 min 00 s before another try, because ")
    });
    assert!(waits, "{said}");
    assert!(said.contains("the machine is at fault"), "{said}");
    // Nothing runs meanwhile.
    let runs = env.runs().len();
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(env.runs().len(), runs);
    env.world("broken", false);
    env.run(&["stop"]).expect(0);
    // The pause is told once, and not again when the hunt goes on.
    let told = "tries again after a pause of 5 min 00 s";
    let output = running.wait().expect(130);
    assert_eq!(output.stderr.matches(told).count(), 1, "{}", output.stderr);
    assert!(!output.stderr.contains("before another try"), "{}", output.stderr);
    let hunt = Hunt::of(&env, env.run(&["resume"])).names(&history, 4);
    assert!(!hunt.output.stderr.contains(told), "{}", hunt.output.stderr);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_fault_that_passes_during_a_pause_costs_nothing_but_time() {
    let env = TestEnvironment::new();
    let mut plan = line("g g g g b b b b");
    for label in 1..7 {
        plan = plan.with(label, "break_world = broken");
    }
    let history = plan.build(&env);
    Oracle::new(&env).section("[failures]\npauses = ['2s', '2s', '2s', '2s', '2s']\n").write(&env);
    let running = env.spawn_product(&["start", "--good", "v1"]);
    assert!(wait_until(PATIENCE, || env.path("world/broken").exists()));
    let waits = wait_until(PATIENCE, || env.run(&["status"]).stdout.contains("before another try"));
    assert!(waits);
    env.world("broken", false);
    let hunt = Hunt::of(&env, running.wait()).names(&history, 4);
    assert!(notes(&hunt).contains("the hunt tries again after a pause of 2"), "{}", notes(&hunt));
}

#[test]
fn the_pauses_end_and_the_hunt_stops() {
    let mut plan = line("g g g g b b b b");
    for label in 1..7 {
        plan = plan.with(label, "break_world = build-broken");
    }
    let pauses = "[failures]\nbuild = 'bad'\npauses = ['1ms', '2ms']\n";
    let row = hunt(plan).oracle(|oracle| oracle.section(pauses));
    let told = row.saying(&["the good endpoint does not build now either"]).gets_stopped();
    let told = told.costs(5, 12);
    assert!(notes(&told.hunt).contains("tries again after a pause of"));
    told.env().world("build-broken", false);
    told.resumed().finds("4").counting(15, 16).costs(10, 4);
}

/// A control group with at most 160 MiB of memory; `None` if this user may not make one.
fn small_group(env: &TestEnvironment) -> Option<PathBuf> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let line = groups.lines().find(|line| line.contains(":memory:")).or(groups.lines().next())?;
    let own = line.rsplit_once(':')?.1.trim_start_matches('/');
    let is_old = line.contains(":memory:");
    let top = PathBuf::from("/sys/fs/cgroup").join(if is_old { "memory" } else { "" });
    let name = env.path("").file_name()?.to_owned();
    let group = top.join(own).join(name);
    fs::create_dir(&group).ok()?;
    let limit = group.join(if is_old { "memory.limit_in_bytes" } else { "memory.max" });
    if fs::write(limit, (160 << 20).to_string()).is_err() {
        fs::remove_dir(&group).ok();
        return None;
    }
    Some(group)
}

/// Hunts in a group with little memory; `None` where that is not possible.
fn hunt_with_little_memory(env: &TestEnvironment) -> Option<Output> {
    let group = small_group(env)?;
    let (product, procs) = (TestEnvironment::product(), group.join("cgroup.procs"));
    let line = format!("echo $$ > {} && exec {product} start --good v1", procs.display());
    let output = env.tool(&env.repo(), "sh", &["-c", &line]);
    assert!(env.is_left_alone());
    fs::remove_dir(group).unwrap();
    Some(output)
}

/// A command that needs 400 MiB where the tree has the file, and then ends with an exit code, as
/// `make` does when a compiler is killed.
fn hungry(file: &str, command: &str) -> String {
    let eats = "head -c 400m /dev/zero | tail > /dev/null || exit 7";
    format!("sh -c \"test ! -e {{src}}/{file} || {{{{ {eats}; }}}}; exec {command}\"")
}

#[test]
fn a_run_whose_child_the_kernel_kills_is_short_of_memory() {
    let env = TestEnvironment::new();
    let history = line("g g b").file(1, "hungry", "1\n").without(2, "hungry").build(&env);
    let command = hungry("hungry", "{build}/engine run ppl src={src} cache={cache} out={out}");
    let failures = "[failures]\ncrash = 'bad'\n";
    Oracle::new(&env).ppl_command(&command).section(failures).write(&env);
    let Some(output) = hunt_with_little_memory(&env) else { return };
    let hunt = Hunt::of(&env, output).expect(3, "candidates");
    assert_eq!(hunt.commit(&history, "1")["skip"], "resource");
    assert!(notes(&hunt).contains("the kernel killed a process for lack of memory"));
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_build_whose_compiler_the_kernel_kills_is_short_of_memory() {
    let env = TestEnvironment::new();
    let history = line("g g b").file(1, "hungry", "1\n").without(2, "hungry").build(&env);
    let command = hungry("hungry", &format!("{} build {{src}} {{build}}", TestEnvironment::fake()));
    let failures = "[failures]\nbuild = 'bad'\n";
    Oracle::new(&env).build_command(&command).section(failures).write(&env);
    let Some(output) = hunt_with_little_memory(&env) else { return };
    let hunt = Hunt::of(&env, output).expect(3, "candidates");
    assert_eq!(hunt.commit(&history, "1")["skip"], "resource");
}
