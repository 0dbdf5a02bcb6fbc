//! A case: a world to hunt in, a kind of fault, and the course of the hunt with the faults.

use std::fmt;
use std::fmt::Write as _;

use crate::kit::{Hunt, Output, Plan, graph, line};
use crate::worlds::dice::Dice;

use super::answer::{Answer, Reference, causes};
use super::checks::{self, Records};
use super::kinds::{KINDS, Kind};
use super::site::Site;
use super::strike::Striker;

/// A history and what is wrong in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum World {
    /// The metric steps up late.
    Late,
    /// The metric steps up early in a longer history.
    Early,
    /// A merged branch brings the step in.
    Merge,
    /// The bad end crashes.
    Crash,
    /// One of two changed files makes the step; the hunt also looks for the cause.
    Inside,
}

const WORLDS: [World; 5] = [World::Late, World::Early, World::Merge, World::Crash, World::Inside];

impl World {
    pub(crate) fn plan(self) -> Plan {
        let plan =
            match self {
                Self::Late => line("g g g g g b b b"),
                Self::Early => line("g g g b b b b b b b b b"),
                Self::Merge => {
                    let commits =
                        ["a: g", "b<a: g", "c<b: g", "x<b: b", "m<c x: b", "d<m: b", "e<d: b"];
                    graph(&commits)
                }
                Self::Crash => line("g g g g s s s"),
                Self::Inside => line("g g g b b b")
                    .file(3, "kernels/a.conf", "ppl+a = 0.5\n")
                    .file(3, "kernels/b.conf", "ppl+b = 0\n"),
            };
        plan.with_all("chunk_ms = 15").with_all("build_ms = 40")
    }

    /// The label of the first bad commit.
    pub(crate) fn culprit(self) -> &'static str {
        match self {
            Self::Late => "5",
            Self::Merge => "x",
            Self::Crash => "4",
            Self::Early | Self::Inside => "3",
        }
    }

    pub(crate) fn localizes(self) -> bool {
        self == Self::Inside
    }
}

/// A world, and the faults in it, from one seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Case {
    pub seed: u64,
    pub kind: Kind,
    pub world: World,
    /// How often the fault happens.
    pub faults: usize,
}

/// The course of a case.
#[derive(Debug, Default)]
pub(crate) struct Course {
    /// Faults that hit.
    pub struck: usize,
    /// Drivers that ended before the hunt did.
    pub stops: usize,
    /// Runs beyond those of a hunt without faults.
    pub repeated: usize,
    /// Whether this machine cannot make the fault.
    pub is_impossible: bool,
    /// Promises that were broken.
    pub problems: Vec<String>,
    /// What every driver said.
    pub told: String,
}

impl Course {
    pub(crate) fn failed(problem: String) -> Self {
        Self { problems: vec![problem], ..Self::default() }
    }

    /// Adds a problem unless this holds.
    pub(crate) fn check(&mut self, holds: bool, problem: impl FnOnce() -> String) {
        if !holds {
            self.problems.push(problem());
        }
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seed, kind, world, faults } = self;
        write!(f, "{} × {faults}, {world:?}; FAULT={seed}", kind.name())
    }
}

impl Case {
    pub(crate) fn of(seed: u64) -> Self {
        let mut dice = Dice::new(seed);
        let kind = dice.pick(&KINDS);
        let world = dice.pick(&WORLDS);
        Self { seed, kind, world, faults: dice.within(1..=3) }
    }

    /// Hunts with the faults, and resumes until the hunt ends.
    pub(crate) fn run(&self) -> Course {
        let right = Reference::of(self.world);
        let mut course = Course::default();
        let Some(site) = Site::of(self) else {
            course.is_impossible = true;
            return course;
        };
        let mut striker = Striker::new(self, &site, right.starts);
        let mut records = Records::default();
        let mut words = site.start();
        for _ in 0..12 {
            let running = site.spawn(&words);
            course.struck += striker.strike(&running);
            let output = running.wait();
            striker.heal();
            course.check(site.env.is_left_alone(), || format!("left: {:?}", site.env.processes()));
            site.mirror();
            let _ = write!(
                course.told,
                "{words:?}: {:?}\n{}\n{}\n",
                output.status, output.stderr, output.stdout
            );
            records.check(&site, &mut course);
            let Some(next) = next(&site, &output, &words, &mut course) else {
                self.judge(&site, &Hunt::of(&site.env, output), &right, &mut course);
                return course;
            };
            words = next;
            course.stops += 1;
            course.struck += striker.harm(&mut records);
        }
        course.problems.push("the hunt does not end".to_owned());
        course
    }

    fn judge(&self, site: &Site, hunt: &Hunt, right: &Reference, course: &mut Course) {
        let mut found = Answer::of(hunt, &site.history);
        let runs = site.env.runs().len();
        course.repeated = runs.saturating_sub(right.runs);
        course.struck += site.failed_builds();
        if let Some(cost) = self.kind.cost() {
            let most = right.runs + cost * course.struck;
            course.check(runs <= most, || format!("{runs} runs, at most {most}"));
        }
        checks::nothing_is_left(site, right, course);
        // The commit is found, but a fault that did not pass ended the search for the cause.
        let commit = hunt.report["culprit"]["commit"].as_str().map_or("", |commit| &commit[..10]);
        if hunt.output.stdout.contains(&format!("`bisect-ppl localize {commit}` goes on")) {
            let words = ["localize", commit].map(str::to_owned);
            let later = site.spawn(&words).wait();
            site.mirror();
            let later = Hunt::of(&site.env, later);
            found.causes = causes(&later.report);
        }
        if found == right.answer {
            return;
        }
        // A machine that fails for a moment may also leave open which part of the change it is.
        let is_open =
            found.blames_no_innocent(&right.answer) || found.lacks_only_causes(&right.answer);
        let is_open = self.kind.may_leave_open() && is_open;
        course.check(is_open, || format!("{found:?} instead of {:?}", right.answer));
        if is_open {
            let words = [site.start(), vec!["--retry-failed".to_owned()]].concat();
            let later = Hunt::of(&site.env, site.spawn_well(&words).wait());
            let later_answer = Answer::of(&later, &site.history);
            course.check(later_answer == right.answer, || {
                format!("later {later_answer:?}: {}", later.output.stderr)
            });
        }
    }
}

/// The command that goes on, as the message of a driver says; `None` if the hunt has ended.
fn next(
    site: &Site,
    output: &Output,
    words: &[String],
    course: &mut Course,
) -> Option<Vec<String>> {
    let begins = words[0] == "start";
    let mut advice = output.stderr.lines().filter_map(|line| line.strip_prefix("hint: "));
    let advice = advice.next_back().unwrap_or_default();
    let says = |word: &str| advice.contains(word);
    match output.code() {
        Some(0 | 3 | 4) => return None,
        // Killed.
        None => {}
        Some(5 | 130) => {
            let helps = says("resume") || says("start a new hunt") || !site.has_hunt();
            course.check(helps, || format!("no advice: {}", output.stderr));
        }
        // There is no hunt yet, or its damaged files no longer say how it began.
        Some(2) if !begins && (!site.has_hunt() || says("start a new hunt")) => {}
        code => course.problems.push(format!("exit code {code:?}: {}", output.stderr)),
    }
    let is_over = says("start a new hunt") && !says("resume") || !site.has_hunt();
    Some(if is_over { site.start() } else { vec!["resume".to_owned()] })
}
