//! Exclusive runs: hunts that share a machine, and what they wait for.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::kit::{
    History, Hunt, Oracle, PATIENCE, Plan, Running, TestEnvironment, kill, line, wait_until,
};

/// What the hunts of one user share: a cache folder, and the folder `town`, in which each engine
/// has a file while it builds or runs.
struct Machine {
    folder: tempfile::TempDir,
}

/// One repository of the user.
struct Place {
    env: TestEnvironment,
    history: History,
    cache: PathBuf,
}

impl Machine {
    fn new() -> Self {
        let folder = tempfile::Builder::new().prefix("bisect-ppl-it-machine-").tempdir().unwrap();
        std::fs::create_dir(folder.path().join("town")).unwrap();
        Self { folder }
    }

    fn place(&self, plan: Plan, keys: &str) -> Place {
        let env = TestEnvironment::new();
        let town = self.folder.path().join("town");
        let history = plan.with_all(&format!("town = {}", town.display())).build(&env);
        Oracle::new(&env).ppl(keys).write(&env);
        Place { env, history, cache: self.folder.path().join("cache") }
    }
}

impl Place {
    fn spawn(&self, args: &[&str]) -> Running {
        let mut command = self.env.command(TestEnvironment::product(), &self.env.repo());
        command.args(args).env("XDG_CACHE_HOME", &self.cache);
        self.env.spawn(command)
    }

    fn says_of_itself(&self) -> String {
        let mut command = self.env.command(TestEnvironment::product(), &self.env.repo());
        command.args(["status"]).env("XDG_CACHE_HOME", &self.cache);
        self.env.spawn(command).wait().stdout
    }
}

const START: [&str; 4] = ["start", "--no-localize", "--good", "v1"];
const EXCLUSIVE: &str = "exclusive = true";
const WAITS: &str = "waiting for an exclusive run of bisect-ppl to end";

/// A history with long builds and runs. With `alone`, engines log a fault if another one runs.
fn busy(alone: bool) -> Plan {
    let plan = line("g g g b b").with_all("build_ms = 60").with_all("chunk_ms = 15");
    if alone { plan.with_all("alone = yes") } else { plan }
}

#[test]
fn nothing_of_another_hunt_builds_or_runs_beside_an_exclusive_run() {
    let machine = Machine::new();
    let places = [
        machine.place(busy(true), EXCLUSIVE),
        machine.place(busy(true), EXCLUSIVE),
        machine.place(busy(false), ""),
    ];
    let begun = Instant::now();
    let hunts = places.each_ref().map(|place| place.spawn(&START));
    // The engines log a fault if they are not alone: see `alone` in the fake engine.
    for (place, hunt) in places.iter().zip(hunts) {
        let hunt = Hunt::of(&place.env, hunt.wait()).names(&place.history, 3);
        assert_eq!(hunt.report["totals"]["runs"], 14);
        place.env.assert_no_survivors();
    }
    println!("{:?}", begun.elapsed());
}

/// A hunt whose first run is exclusive and does not end by itself.
fn in_the_way(machine: &Machine) -> (Place, Running) {
    let place = machine.place(line("g b").with(0, "fate = hang"), EXCLUSIVE);
    let running = place.spawn(&START);
    assert!(wait_until(PATIENCE, || place.env.runs_of(0) == 1));
    (place, running)
}

#[test]
fn what_waits_says_so_and_can_be_stopped() {
    let machine = Machine::new();
    let (first, first_hunt) = in_the_way(&machine);
    let second = machine.place(line("g b"), "");
    let hunt = second.spawn(&START);
    assert!(wait_until(PATIENCE, || second.says_of_itself().contains(WAITS)));
    // The screen is updated a few times a second.
    std::thread::sleep(Duration::from_millis(600));
    let asked = Instant::now();
    kill(-hunt.pid(), Signal::INT);
    let output = hunt.wait().expect(130);
    assert!(asked.elapsed() < Duration::from_secs(10), "{:?}", asked.elapsed());
    assert!(output.stderr.contains(&format!("note: {WAITS}")), "{}", output.stderr);
    assert!(second.env.starts().is_empty(), "it built beside an exclusive run");

    let by_hand = second.spawn(&["measure", "HEAD"]);
    std::thread::sleep(Duration::from_millis(600));
    kill(-by_hand.pid(), Signal::INT);
    let output = by_hand.wait().expect(130);
    assert!(output.stderr.contains(&format!("note: {WAITS}")), "{}", output.stderr);
    kill(-first_hunt.pid(), Signal::INT);
    first_hunt.wait().expect(130);
    first.env.assert_no_survivors();
}

#[test]
fn a_killed_holder_keeps_nobody_waiting() {
    let machine = Machine::new();
    let (first, first_hunt) = in_the_way(&machine);
    let second = machine.place(busy(false), EXCLUSIVE);
    let hunt = second.spawn(&START);
    assert!(wait_until(PATIENCE, || second.says_of_itself().contains(WAITS)));
    kill(first_hunt.pid(), Signal::KILL);
    first_hunt.wait();
    Hunt::of(&second.env, hunt.wait()).names(&second.history, 3);
    first.env.assert_no_survivors();
}

/// A hunt on a machine with one GPU, played by a script. The n-th query gets the n-th throttle
/// reason; queries beyond the last reason get the last one.
struct Card {
    place: Place,
    programs: PathBuf,
}

const SCRIPT: &str = r#"#!/bin/sh
case "$*" in
*clocks_event_reasons.active*)
    if [ -e WORLD/old-driver ]; then
        echo 'Field "clocks_event_reasons.active" is not a valid field to query.'
        exit 2
    fi ;;
*clocks_throttle_reasons.active*) ;;
*) echo "Scripted GPU, 550.1, 1 MiB"; exit 0 ;;
esac
echo asked >> WORLD/asked
if [ -e WORLD/card-hangs ]; then sleep 60; fi
if [ -e WORLD/card-broken ]; then exit 9; fi
turn=$(wc -l < WORLD/asked)
reasons=$(sed -n "${turn}p" WORLD/reasons)
if [ -z "$reasons" ]; then reasons=$(tail -n 1 WORLD/reasons); fi
echo "0, 1980, 61, $reasons"
"#;

impl Card {
    fn new(plan: Plan, reasons: &str) -> Self {
        use std::os::unix::fs::PermissionsExt;
        let env = TestEnvironment::new();
        let history = plan.build(&env);
        Oracle::new(&env).ppl(EXCLUSIVE).write(&env);
        let place = Place { cache: env.path("cache"), env, history };
        let programs = place.env.path("card");
        std::fs::create_dir(&programs).unwrap();
        let world = place.env.path("world");
        let file = programs.join("nvidia-smi");
        std::fs::write(&file, SCRIPT.replace("WORLD", world.to_str().unwrap())).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
        let card = Self { place, programs };
        card.tells(reasons);
        card
    }

    fn tells(&self, reasons: &str) {
        let world = self.place.env.path("world");
        std::fs::write(world.join("reasons"), reasons.replace(' ', "\n") + "\n").unwrap();
        let _ = std::fs::remove_file(world.join("asked"));
    }

    fn asked(&self) -> usize {
        let log = std::fs::read_to_string(self.place.env.path("world/asked"));
        log.unwrap_or_default().lines().count()
    }

    fn hunt(&self, args: &[&str]) -> Hunt {
        let env = &self.place.env;
        let mut command = env.command(TestEnvironment::product(), &env.repo());
        let path = std::env::var("PATH").unwrap();
        command.args(args).env("PATH", format!("{}:{path}", self.programs.display()));
        Hunt::of(env, env.spawn(command).wait())
    }
}

#[test]
fn a_throttled_run_is_kept_and_taken_again() {
    // A query before and after each run: 0x40 throttles the first run, 0x04 is a normal power cap.
    let card = Card::new(line("g b"), "0x01 0x40 0x01 0x04");
    let hunt = card.hunt(&START).names(&card.place.history, 1);
    assert_eq!(hunt.report["totals"]["runs"], 7);
    let good = hunt.commit(&card.place.history, 0);
    let apart = good["apart"].as_array().unwrap();
    assert_eq!(apart.len(), 1);
    let why = "GPU 0 was slowed down: hardware thermal slowdown";
    assert_eq!(apart[0]["why"]["throttled"], why);
    let samples = good["samples"].as_array().unwrap();
    assert!(samples.iter().all(|sample| sample["attempt"] != apart[0]["attempt"]));
    let log = apart[0]["log"].as_str().unwrap();
    assert!(hunt.file(log).contains("Final estimate"), "its output is kept");
    let timed = &hunt.report["timed"][0];
    assert_eq!((&timed["runs"], &timed["throttled"]), (&6.into(), &1.into()));
    assert_eq!(timed["gpu_mhz"], serde_json::json!([1980.0, 1980.0]));
    let page = hunt.file("report.md");
    assert!(page.contains("Runs that do not count") && page.contains(why), "{page}");
    let one = "1 more run did not count, since the machine throttled";
    assert!(page.contains(one), "{page}");
    assert!(hunt.file("report.html").contains(one));
    assert!(hunt.output.stderr.contains("did not count"), "{}", hunt.output.stderr);

    // A hunt with another tolerance uses the stored runs without the excluded one.
    Oracle::new(&card.place.env)
        .ppl(EXCLUSIVE)
        .only_guard("metric = \"ppl\"\nmax_increase = 0.1")
        .write(&card.place.env);
    let again = card.hunt(&START).names(&card.place.history, 1);
    assert_eq!(again.report["totals"]["runs"], 0);
    let shown = card.place.env.run(&["store", "show", apart[0]["attempt"].as_str().unwrap()]);
    assert!(shown.stdout.contains(&format!("does not count: {why}")), "{}", shown.stdout);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_machine_that_keeps_throttling_stops_the_hunt_and_resume_goes_on() {
    let card = Card::new(line("g b"), "0x20");
    let hunt = card.hunt(&START);
    let output = hunt
        .output
        .expect(5)
        .says(&["the machine throttles: 3 runs of ppl", "let the machine cool"]);
    assert!(output.stderr.contains("note: waiting for the machine to cool"), "{}", output.stderr);
    assert_eq!(card.place.env.runs(), ["0"; 3]);
    card.tells("0x01");
    let hunt = card.hunt(&["resume"]).names(&card.place.history, 1);
    assert_eq!(hunt.report["totals"]["runs"], 9);
    assert_eq!(hunt.report["timed"][0]["throttled"], 3);
    card.place.env.assert_no_survivors();
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_driver_of_another_year_is_asked_in_its_own_words() {
    let card = Card::new(line("g b"), "0x01 0x80 0x01");
    card.place.env.world("old-driver", true);
    let hunt = card.hunt(&START).names(&card.place.history, 1);
    assert_eq!(hunt.report["timed"][0]["throttled"], 1);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_card_that_does_not_answer_costs_one_wait_and_fails_nothing() {
    for (switch, asked) in [("card-broken", 2), ("card-hangs", 1)] {
        let card = Card::new(line("g b"), "0x01");
        card.place.env.world(switch, true);
        let begun = Instant::now();
        let hunt = card.hunt(&START).names(&card.place.history, 1);
        assert!(begun.elapsed() < Duration::from_secs(40), "{:?}", begun.elapsed());
        assert_eq!(card.asked(), asked);
        assert!(hunt.report["timed"][0]["gpu_c"].is_null(), "absent is not zero");
        card.place.env.assert_no_survivors();
    }
}

#[test]
fn only_where_times_are_measured_is_the_card_asked() {
    let card = Card::new(line("g b"), "0x40");
    Oracle::new(&card.place.env).write(&card.place.env);
    let hunt = card.hunt(&START).names(&card.place.history, 1);
    assert_eq!(card.asked(), 0);
    assert!(hunt.report["timed"].is_null());
}

/// A history in which each build's first run prints another perplexity.
fn cold_at_first() -> Plan {
    line("g b").with(0, "ppl = 9.0 7.0 7.0 9.0 7.0").with(1, "ppl = 9.0 7.5 7.5 9.0 7.5")
}

#[test]
fn warm_ups_are_kept_and_never_count() {
    let env = TestEnvironment::new();
    let history = cold_at_first().build(&env);
    let command = "{build}/engine run ppl src={src} out={out}";
    Oracle::new(&env).ppl("warmup = 1").ppl_command(command).write(&env);
    // Endpoints: a warm-up and two runs each. Confirmation, from fresh builds: a warm-up and one.
    let hunt = env.hunt().names(&history, 1);
    assert_eq!([env.runs_of(0), env.runs_of(1)], [5, 5]);
    assert_eq!(hunt.report["totals"]["runs"], 10);
    assert_eq!(hunt.report["culprit"]["basis"], "bit-exact");
    for label in ["0", "1"] {
        let commit = hunt.commit(&history, label);
        assert_eq!(commit["apart"].as_array().unwrap().len(), 2);
        assert_eq!(commit["apart"][0]["why"], "warm-up");
        let samples = commit["samples"].as_array().unwrap();
        assert!(samples.iter().all(|sample| sample["value"] != 9.0), "{samples:#?}");
    }
    assert!(hunt.file("report.md").contains("warm-up"));
    assert!(hunt.file("report.html").contains("warm-up"));
    let shown = env.run(&["store", "show", history.commit(0)]).expect(0).stdout;
    assert_eq!(shown.matches("does not count: warm-up").count(), 2, "{shown}");
    // A cache hit needs no warm-up.
    let again = env.start(&["--good", "v1"]).names(&history, 1);
    assert_eq!(again.report["totals"]["runs"], 0);
}

#[test]
fn a_cache_that_was_emptied_is_warmed_up_again() {
    let env = TestEnvironment::new();
    let history = line("g").build(&env);
    Oracle::new(&env).ppl("warmup = 2").write(&env);
    env.run(&["measure", "HEAD", "--runs", "3"]).expect(0);
    assert_eq!(env.runs_of(0), 5);
    env.run(&["measure", history.commit(0), "--runs", "3"]).expect(0);
    assert_eq!(env.runs_of(0), 5, "it is all in the store");
}

#[test]
fn a_kernel_cache_that_was_emptied_is_warmed_up_again() {
    let env = TestEnvironment::new();
    let history = line("g b").with_all("jit = XDG_CACHE_HOME").build(&env);
    let command = "{build}/engine run ppl src={src}";
    Oracle::new(&env).ppl("warmup = 1").ppl_command(command).write(&env);
    env.start(&["--good", "v1"]).expect(0, "culprit").names(&history, 1);
    // Each end has two runs from one build, and one run to confirm. Each run begins with an empty
    // cache and so needs a warm-up.
    assert_eq!([env.runs_of(0), env.runs_of(1)], [6, 6], "{:?}", env.runs());
}

#[test]
fn warm_ups_are_paid_for() {
    let env = TestEnvironment::new();
    line("g b").build(&env);
    Oracle::new(&env).ppl("warmup = 3").section("[statistics]\nmax_runs = 4").write(&env);
    let hunt = env.hunt().expect(3, "candidates");
    assert_eq!((env.runs().len(), &hunt.report["totals"]["runs"]), (4, &4.into()));
}

#[test]
fn a_warm_up_that_fails_is_the_last() {
    let env = TestEnvironment::new();
    line("g s").build(&env);
    Oracle::new(&env).ppl("warmup = 3").write(&env);
    let output = env.run(&["measure", "HEAD"]).expect(1);
    assert!(output.stderr.contains("signal 11") || output.stderr.contains("SEGV"));
    // One warm-up, and the crash is seen twice.
    assert_eq!(env.runs_of(1), 3);
}

#[test]
fn a_launch_is_one_sample_however_often_it_says_its_figure() {
    let env = TestEnvironment::new();
    let plan = line("g b").with_all("say_out = decode: 90 tokens per second");
    let history = plan.with_all("tg = 110").build(&env);
    let keys = "parser = \"regex\"\npick = \"mean\"\n\
                pattern = 'decode: (?<tg>[0-9.]+) tokens per second'";
    Oracle::new(&env)
        .measure("speed", "speed", keys)
        .guard("metric = \"speed.tg\"\nmax_decrease_percent = 5")
        .write(&env);
    let hunt = env.hunt().names(&history, 1);
    let good = hunt.commit(&history, 0)["samples"].as_array().unwrap();
    let speed: Vec<_> = good.iter().filter(|s| s["metric"] == "speed.tg").collect();
    assert!(speed.iter().all(|sample| sample["value"] == 100.0), "{speed:#?}");
    let repeats = &hunt.report["repeats"][0];
    assert_eq!(repeats["metric"], "speed.tg");
    let launches = env.starts().iter().filter(|start| start.measure == "speed").count();
    assert_eq!(repeats["launches"], launches);
    assert_eq!(repeats["repeats"], serde_json::json!([2, 2]));
    assert_eq!(repeats["between"], 0.0);
    let within = repeats["within"].as_f64().unwrap();
    // Two values in each run, 20 apart; see stats::winsorised_sd for the factor.
    assert!((within - 1.02 * 200.0_f64.sqrt()).abs() < 1e-9, "{within}");
    assert!(hunt.file("report.md").contains("deviation within a run"));
    assert!(hunt.file("report.html").contains("deviation within a run"));
}
