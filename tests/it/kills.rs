//! Killed and interrupted hunts: the same answer after `resume`, and no process lives on.

use std::time::Duration;

use rustix::process::Signal;

use crate::kit::{History, Oracle, PATIENCE, Snapshot, TestEnvironment, kill, line, wait_until};

/// A history with runs and builds long enough for a kill to hit.
fn slow() -> (TestEnvironment, History) {
    let env = TestEnvironment::new();
    let plan = line("g g g g g b b b").with_all("chunk_ms = 15").with_all("build_ms = 40");
    let history = plan.build(&env);
    Oracle::new(&env).write(&env);
    (env, history)
}

const CULPRIT: &str = "5";
/// Runs of the hunt: two at each endpoint, three in the search, eight to confirm.
const RUNS: usize = 15;
const STARTS: u64 = 24;

/// Reproducible random numbers (xorshift).
struct Dice(u64);

impl Dice {
    /// Seeded by `FAKE_SEED` or by the clock; prints the seed for failures.
    /// `FAKE_ROUNDS` sets the number of rounds of each test.
    fn new(salt: u64) -> Self {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
        let given = std::env::var("FAKE_SEED").ok().and_then(|s| s.parse().ok());
        let seed = given.unwrap_or(u64::from(now.subsec_nanos()) + 1);
        println!("FAKE_SEED={seed}");
        Self(seed ^ (salt << 40))
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

#[derive(Clone, Copy, Debug)]
enum Victim {
    Driver,
    Git,
    Oracle,
    Engine,
    /// All of them at once, as when the power fails.
    Everybody,
}

/// The victim's process number, if such a process is alive now.
fn find(env: &TestEnvironment, driver: i32, victim: Victim) -> Option<i32> {
    if matches!(victim, Victim::Driver) {
        return Some(driver);
    }
    let fits = |command: &str| match victim {
        Victim::Driver | Victim::Everybody => false,
        Victim::Git => command.contains("git ") && command.contains("bisect"),
        Victim::Oracle => command.contains("bisect-ppl oracle"),
        Victim::Engine => command.contains("engine run ") || command.contains("engine build "),
    };
    env.processes().iter().find(|p| p.pid != driver && fits(&p.command)).map(|p| p.pid)
}

/// Kills a victim at a random moment; true if there was one.
fn strike(env: &TestEnvironment, driver: i32, victim: Victim, dice: &mut Dice) -> bool {
    let after = usize::try_from(dice.below(STARTS)).unwrap();
    let delay = Duration::from_millis(dice.below(120));
    wait_until(Duration::from_secs(10), || env.starts().len() > after);
    std::thread::sleep(delay);
    if matches!(victim, Victim::Everybody) {
        env.processes().iter().for_each(|process| kill(process.pid, Signal::KILL));
        return true;
    }
    let mut target = None;
    wait_until(Duration::from_secs(2), || {
        target = find(env, driver, victim);
        target.is_some()
    });
    target.inspect(|pid| kill(*pid, Signal::KILL)).is_some()
}

fn rounds(victim: Victim, count: u64) {
    let more = std::env::var("FAKE_ROUNDS").ok().and_then(|n| n.parse().ok());
    for round in 0..more.unwrap_or(count) {
        let mut dice = Dice::new(round * 8 + victim as u64 + 1);
        let (env, history) = slow();
        let running = env.spawn_product(&["start", "--good", "v1"]);
        let hit = strike(&env, running.pid(), victim, &mut dice);
        let stopped = running.wait();
        env.assert_no_survivors();
        let at = env.starts();
        println!("{victim:?} hit: {hit}, {:?}, after {at:?}\n{}", stopped.status, stopped.stderr);
        if !env.repo().join(".git/bisect-ppl/hunts").exists() {
            continue; // Killed before there was a hunt.
        }
        let hunt = env.resume();
        assert_eq!(env.said("fault"), [""; 0], "{}", hunt.output.stdout);
        let hunt = hunt.names(&history, CULPRIT);
        assert!(env.runs().len() <= RUNS + 1, "{:?}", env.runs());
        assert_eq!(hunt.culprits(&history), [CULPRIT]);
        assert!(env.git(&["worktree", "list"]).lines().count() == 1);
        env.assert_no_survivors();
    }
}

#[test]
fn a_killed_driver_costs_one_run_at_most() {
    rounds(Victim::Driver, 3);
}

#[test]
fn a_killed_git_costs_one_run_at_most() {
    rounds(Victim::Git, 2);
}

#[test]
fn a_killed_oracle_costs_one_run_at_most() {
    rounds(Victim::Oracle, 2);
}

#[test]
fn a_power_cut_costs_one_run_at_most() {
    rounds(Victim::Everybody, 2);
}

#[test]
fn a_killed_engine_never_puts_the_blame_on_another_commit() {
    for round in 0..2 {
        let mut dice = Dice::new(round + 100);
        let (env, history) = slow();
        let running = env.spawn_product(&["start", "--good", "v1"]);
        strike(&env, running.pid(), Victim::Engine, &mut dice);
        let first = running.wait();
        println!("{:?}\n{}", first.status, first.stderr);
        env.assert_no_survivors();
        let hunt = env.resume();
        // A kill is the machine's fault: its commit may become untestable, but not bad.
        match hunt.output.code() {
            Some(0) => assert_eq!(history.label(hunt.culprit()), CULPRIT),
            Some(3) => {
                let candidates = hunt.candidates(&history);
                assert!(candidates.iter().any(|label| label == CULPRIT), "{candidates:?}");
            }
            code => panic!("{code:?}: {}", hunt.output.stderr),
        }
    }
}

#[test]
fn a_driver_killed_again_and_again_still_gets_there() {
    let mut dice = Dice::new(7);
    let (env, history) = slow();
    let mut args = vec!["start", "--good", "v1"];
    for _ in 0..4 {
        let running = env.spawn_product(&args);
        let hunts = env.git_folder().join("bisect-ppl/hunts");
        assert!(wait_until(PATIENCE, || hunts.exists()));
        std::thread::sleep(Duration::from_millis(300 + dice.below(700)));
        kill(running.pid(), Signal::KILL);
        running.wait();
        env.assert_no_survivors();
        args = vec!["resume"];
    }
    env.resume().names(&history, CULPRIT);
    assert!(env.runs().len() <= RUNS + 4, "{:?}", env.runs());
}

/// Interrupts a hunt during a run of a searched commit.
fn interrupted(signal: Signal, whole_group: bool) {
    let env = TestEnvironment::new();
    let history = line("g g g b b").with_all("chunk_ms = 150").build(&env);
    Oracle::new(&env).write(&env);
    let before = Snapshot::of(&env);
    let running = env.spawn_product(&["start", "--good", "v1"]);
    let pid = running.pid();
    assert!(wait_until(PATIENCE, || env.runs().len() >= 5));
    kill(if whole_group { -pid } else { pid }, signal);
    let output = running.wait().expect(130).says(&["resume"]);
    env.assert_no_survivors();
    before.assert_unchanged(&env);
    assert!(!output.stderr.contains("panicked"), "{}", output.stderr);
    let killed = env.runs().len();
    assert_eq!(killed, 5, "nothing was begun after the signal");
    env.resume().names(&history, 3);
    before.assert_unchanged(&env);
}

#[test]
fn ctrl_c_ends_the_whole_hunt_and_it_can_be_resumed() {
    interrupted(Signal::INT, true);
}

#[test]
fn a_signal_to_the_driver_alone_ends_the_whole_hunt() {
    interrupted(Signal::INT, false);
    interrupted(Signal::TERM, false);
}

#[test]
fn an_engine_deaf_to_term_does_not_outlive_ctrl_c() {
    let env = TestEnvironment::new();
    line("g g g b b").with(2, "fate = hang-hard").build(&env);
    Oracle::new(&env).write(&env);
    let running = env.spawn_product(&["start", "--good", "v1"]);
    assert!(wait_until(PATIENCE, || env.runs_of(2) == 1));
    kill(-running.pid(), Signal::INT);
    running.wait().expect(130);
    env.assert_no_survivors();
}

#[test]
fn ctrl_c_within_an_endpoint_or_a_build_is_resumable_too() {
    for starts in [2, 3] {
        let (env, history) = slow();
        let running = env.spawn_product(&["start", "--good", "v1"]);
        assert!(wait_until(PATIENCE, || env.starts().len() >= starts));
        kill(-running.pid(), Signal::INT);
        running.wait().expect(130);
        env.assert_no_survivors();
        env.resume().names(&history, CULPRIT);
        assert!(env.runs().len() <= RUNS + 1, "{:?}", env.runs());
    }
}

#[test]
fn two_drivers_do_not_share_a_hunt() {
    let env = TestEnvironment::new();
    let history = line("g g g b b").with_all("chunk_ms = 150").build(&env);
    Oracle::new(&env).write(&env);
    let running = env.spawn_product(&["start", "--good", "v1"]);
    assert!(wait_until(PATIENCE, || env.runs().len() >= 5));
    let second = env.run(&["resume"]);
    assert_eq!(second.code(), Some(2), "{}", second.stderr);
    env.run(&["status"]).expect(0);
    running.wait().expect(0);
    env.resume().names(&history, 3);
}

#[test]
fn stop_ends_a_hunt_from_outside() {
    let env = TestEnvironment::new();
    let history = line("g g g b b").with_all("chunk_ms = 150").build(&env);
    Oracle::new(&env).write(&env);
    let running = env.spawn_product(&["start", "--good", "v1"]);
    assert!(wait_until(PATIENCE, || env.runs().len() >= 5));
    env.run(&["stop"]).expect(0);
    running.wait().expect(130);
    env.assert_no_survivors();
    env.resume().names(&history, 3);
}
