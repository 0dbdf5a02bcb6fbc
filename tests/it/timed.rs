//! Measures that must be alone: hunts that share a machine, and what they wait for.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::kit::{
    History, Hunt, Oracle, PATIENCE, Plan, Running, TestEnvironment, kill, line, wait_until,
};

/// What one user's hunts share: a cache folder, and a town in which their engines meet.
struct Machine {
    folder: tempfile::TempDir,
}

/// One repository of that user's.
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

const START: [&str; 3] = ["start", "--good", "v1"];
const EXCLUSIVE: &str = "exclusive = true";
const WAITS: &str = "waits for a run of bisect-ppl that must be alone to end";

/// A hunt with much to build and much to run, whose engines mind company or do not.
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
    // The engines themselves complain of company: see `alone` in the fake engine.
    for (place, hunt) in places.iter().zip(hunts) {
        let hunt = Hunt::of(&place.env, hunt.wait()).names(&place.history, 3);
        assert_eq!(hunt.report["totals"]["runs"], 8);
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
    // Who shows the hunt looks a few times a second.
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
