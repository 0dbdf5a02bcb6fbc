//! Injects a case's faults at random moments, and takes them away again.

use std::fs;
use std::time::{Duration, SystemTime};

use rustix::process::{Pid, Resource, Rlimit, Signal, prlimit};

use crate::kit::{Process, Running, kill, wait_until};
use crate::worlds::dice::Dice;

use super::case::Case;
use super::checks::Records;
use super::damage;
use super::kinds::{Kind, Victim};
use super::site::Site;

/// The content of the model.
const MODEL: &[u8] = b"weights\n";
/// Another one of the same size.
const OTHER: &[u8] = b"Weights\n";

pub(crate) struct Striker<'s> {
    kind: Kind,
    site: &'s Site,
    dice: Dice,
    /// Faults that are still to come.
    left: usize,
    /// Runs and builds of a hunt without faults.
    starts: usize,
    /// Whether a fault lasts that must be taken away.
    lasts: bool,
}

impl<'s> Striker<'s> {
    pub(crate) fn new(case: &Case, site: &'s Site, starts: usize) -> Self {
        let dice = Dice::new(case.seed ^ 0xfa17);
        Self { kind: case.kind, site, dice, left: case.faults, starts, lasts: false }
    }

    /// Waits for a random moment and injects the next fault; returns the number of faults that hit.
    pub(crate) fn strike(&mut self, driver: &Running) -> usize {
        if self.left == 0 || self.kind == Kind::Compiler {
            return 0;
        }
        let driver = driver.pid();
        self.wait(driver);
        if !lives(driver) {
            return 0;
        }
        let hits = match self.kind {
            Kind::Kill(victim) => self.kill(driver, victim),
            Kind::Stop => self.stop(driver),
            Kind::Full(_) | Kind::ReadOnly | Kind::Input | Kind::Broken => {
                self.break_for_a_while(driver)
            }
            Kind::Deaf => self.hang(driver),
            Kind::Orphans => {
                let victims = [
                    Victim::Driver,
                    Victim::Git,
                    Victim::Oracle,
                    Victim::Guard,
                    Victim::Supervisor,
                    Victim::Engine,
                ];
                let victim = self.dice.pick(&victims);
                if self.dice.percent(20) { self.stop(driver) } else { self.kill(driver, victim) }
            }
            // The damage comes when the driver has ended.
            Kind::Damage(..) => {
                let signal = self.dice.pick(&[Signal::KILL, Signal::TERM]);
                kill(driver, signal);
                return 0;
            }
            Kind::Clock => self.turn_the_clock(driver),
            Kind::Memory => self.limit_memory(driver),
            Kind::Compiler => false,
        };
        self.left -= usize::from(hits);
        usize::from(hits)
    }

    /// Takes away what still lasts when the driver has ended.
    pub(crate) fn heal(&mut self) {
        if std::mem::take(&mut self.lasts) {
            self.set(false);
        }
        let _ = fs::remove_file(self.site.env.path("world/hang"));
    }

    /// Damages files while no driver runs; returns how many.
    pub(crate) fn harm(&mut self, records: &mut Records) -> usize {
        let Kind::Damage(harm, files) = self.kind else { return 0 };
        if self.left == 0 {
            return 0;
        }
        let harmed = damage::some(self.site, harm, files, &mut self.dice);
        for path in &harmed {
            records.forget(path);
        }
        self.left -= usize::from(!harmed.is_empty());
        harmed.len()
    }

    /// Waits for the start of a random run or build, and a little longer.
    fn wait(&mut self, driver: i32) {
        let env = &self.site.env;
        let made = env.starts().len();
        let after = made + self.dice.below(self.starts.saturating_sub(made).max(1));
        let come = || env.starts().len() > after || !lives(driver);
        wait_until(Duration::from_mins(5), come);
        self.pause(120);
    }

    fn pause(&mut self, most: usize) {
        std::thread::sleep(Duration::from_millis(self.dice.below(most) as u64));
    }

    fn kill(&mut self, driver: i32, victim: Victim) -> bool {
        let env = &self.site.env;
        if victim == Victim::Everybody {
            env.processes().iter().for_each(|process| kill(process.pid, Signal::KILL));
            return true;
        }
        let mut found = Vec::new();
        wait_until(Duration::from_secs(20), || {
            found = env.processes();
            found.retain(|process| is_victim(process, driver, victim));
            !found.is_empty() || !lives(driver)
        });
        if found.is_empty() {
            return false;
        }
        kill(found[self.dice.below(found.len())].pid, Signal::KILL);
        true
    }

    fn stop(&mut self, driver: i32) -> bool {
        let signal = self.dice.pick(&[Signal::TERM, Signal::INT]);
        kill(if self.dice.percent(50) { driver } else { -driver }, signal);
        true
    }

    /// The fault begins, and ends after a moment or with the driver.
    fn break_for_a_while(&mut self, driver: i32) -> bool {
        self.set(true);
        self.lasts = true;
        if self.dice.percent(40) || self.kind == Kind::Broken {
            let moment = Duration::from_millis(50 + self.dice.below(1200) as u64);
            wait_until(moment, || !lives(driver));
            self.heal();
        }
        true
    }

    /// Begins or ends the fault.
    fn set(&mut self, on: bool) {
        let env = &self.site.env;
        match self.kind {
            Kind::Full(_) | Kind::ReadOnly => {
                let mut disk = self.site.disk.as_ref().expect("the site has a disk").borrow_mut();
                match (self.kind, on) {
                    (Kind::ReadOnly, true) => disk.protect(),
                    (Kind::ReadOnly, false) => disk.unprotect(),
                    (_, true) => disk.fill(self.dice.pick(&[0, 0, 4, 16, 64])),
                    (_, false) => disk.make_room(),
                }
            }
            Kind::Input => {
                let model = env.path("inputs/model.bin");
                let time = model.metadata().unwrap().modified().unwrap();
                fs::write(&model, if on { OTHER } else { MODEL }).unwrap();
                // A copy that keeps the time, such as those of `rsync`.
                let time = if self.dice.percent(50) { time } else { SystemTime::now() };
                fs::File::options().write(true).open(&model).unwrap().set_modified(time).unwrap();
            }
            _ if on => {
                let switch = self.dice.pick(&["broken", "transient", "killer", "build-broken"]);
                env.world(switch, true);
            }
            _ => ["broken", "transient", "killer", "build-broken"]
                .iter()
                .filter(|switch| env.path("world").join(switch).exists())
                .for_each(|switch| env.world(switch, false)),
        }
    }

    /// The next engine hangs; then the driver is ended.
    fn hang(&mut self, driver: i32) -> bool {
        let env = &self.site.env;
        fs::write(env.path("world/hang"), "").unwrap();
        let hangs =
            || env.processes().iter().any(|process| process.command.starts_with("sleep 600"));
        wait_until(Duration::from_mins(1), || hangs() || !lives(driver));
        if !hangs() {
            return false;
        }
        let signal = self.dice.pick(&[Signal::TERM, Signal::INT, Signal::KILL]);
        kill(if self.dice.percent(50) { driver } else { -driver }, signal);
        true
    }

    fn turn_the_clock(&mut self, driver: i32) -> bool {
        let seconds = [-30_000_000, -90_000, -3_600, -2, 2, 3_600, 90_000, 30_000_000];
        self.site.clock.as_ref().expect("the site has a clock").advance(self.dice.pick(&seconds));
        if self.dice.percent(50) {
            self.pause(300);
            kill(driver, self.dice.pick(&[Signal::TERM, Signal::KILL]));
        }
        true
    }

    /// One process and those that it starts later get no more memory than a part of what it has.
    fn limit_memory(&mut self, driver: i32) -> bool {
        let victims = [Victim::Driver, Victim::Oracle, Victim::Git, Victim::Supervisor];
        let victim = self.dice.pick(&victims);
        let found = self.site.env.processes();
        let found = found.iter().find(|process| is_victim(process, driver, victim));
        let pid = found.map_or(driver, |process| process.pid);
        let Ok(sizes) = fs::read_to_string(format!("/proc/{pid}/statm")) else { return false };
        let pages: u64 = sizes.split(' ').next().unwrap_or_default().parse().unwrap_or(0);
        let most = Some(pages * 4096 * self.dice.within(5..=110) as u64 / 100);
        let limit = Rlimit { current: most, maximum: most };
        prlimit(Pid::from_raw(pid), Resource::As, limit).is_ok()
    }
}

fn is_victim(process: &Process, driver: i32, victim: Victim) -> bool {
    let Process { pid, command } = process;
    match victim {
        Victim::Driver => *pid == driver,
        Victim::Everybody => true,
        _ if *pid == driver => false,
        Victim::Git => command.starts_with("git ") || command.contains("/git"),
        Victim::Oracle => command.contains("bisect-ppl oracle"),
        Victim::Guard => command.contains(" __guard"),
        Victim::Supervisor => command.contains(" __supervise"),
        Victim::Engine => command.contains("engine run ") || command.contains("engine build "),
    }
}

/// Whether a process has not ended. Its state tells: the command line is empty for a moment while a
/// program starts, too.
fn lives(pid: i32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
    state.is_some_and(|state| !matches!(state, 'Z' | 'X'))
}
