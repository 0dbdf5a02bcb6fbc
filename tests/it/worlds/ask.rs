//! Runs the program on a world as a user would, and compares its answer with the right one.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use serde_json::Value;

use super::faults::Leak;
use super::truth::{Expected, Truth};
use super::world::World;
use crate::kit::{History, Hunt, TestEnvironment, in_path};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Judgement {
    Right,
    /// A commit was named wrongly, or an existing regression was denied.
    Wrong,
    /// No commit was named in a decidable world.
    Undecided,
    /// No commit was named in a world that is not decidable.
    Open,
    /// The hunt stopped early, or did not end.
    Broken,
}

#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub judgement: Judgement,
    /// The answer in short.
    pub said: String,
    /// A commit was named with a confidence of 0.99 or more.
    pub is_stated: bool,
    /// There are candidates, and the right commit is not among them.
    pub is_astray: bool,
    pub runs: usize,
    pub builds: usize,
    pub seconds: f64,
    /// All that was printed.
    pub text: String,
}

/// Hunts in this world. A panic of the test kit counts as broken.
pub(crate) fn ask(world: &World) -> Answer {
    let began = Instant::now();
    let mut answer = catch_unwind(AssertUnwindSafe(|| hunt(world))).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned().unwrap_or_default();
        Answer {
            judgement: Judgement::Broken,
            said: "the test gave up".to_owned(),
            is_stated: false,
            is_astray: false,
            runs: 0,
            builds: 0,
            seconds: 0.0,
            text,
        }
    });
    answer.seconds = began.elapsed().as_secs_f64();
    answer
}

fn hunt(world: &World) -> Answer {
    let env = if world.localizes { TestEnvironment::localizing() } else { TestEnvironment::new() };
    let env = without_ccache(env);
    let history = world.plan().build(&env);
    world.oracle(&env).write(&env);
    let [good, bad] = [world.shape.good, world.shape.bad].map(|end| history.commit(end).to_owned());
    let hunt = env.start(&["--good", &good, "--bad", &bad]);
    let starts = env.starts();
    let count = |kind: &str| starts.iter().filter(|start| start.kind == kind).count();
    let (runs, builds) = (count("run"), count("build"));
    let (judgement, said) = judge(world, &history, &hunt);
    let confidence = hunt.report["culprit"]["confidence"].as_f64().unwrap_or(0.0);
    let candidates = numbers(&history, &hunt.report["candidates"], |one| one);
    let is_astray = hunt.output.code() == Some(3)
        && world.truth.expected == Expected::Named
        && !candidates.is_empty()
        && candidates.is_disjoint(&world.truth.explaining);
    let is_stated = hunt.output.code() == Some(0) && confidence >= 0.99;
    let text = format!("{}\n{}", hunt.output.stdout, hunt.output.stderr);
    Answer { judgement, said, is_stated, is_astray, runs, builds, seconds: 0.0, text }
}

/// The environment with `false` in place of ccache. A hunt asks ccache before each build, and no
/// world uses it.
fn without_ccache(env: TestEnvironment) -> TestEnvironment {
    let folder = env.path("programs");
    fs::create_dir(&folder).unwrap();
    symlink(in_path("false").unwrap(), folder.join("ccache")).unwrap();
    env.with_programs_of(&folder)
}

/// Numbers of the commits in a list of the report.
fn numbers(history: &History, list: &Value, commit: impl Fn(&Value) -> &Value) -> BTreeSet<usize> {
    let all = list.as_array().into_iter().flatten();
    all.filter_map(|entry| commit(entry).as_str())
        .map(|commit| history.label(commit).parse().unwrap())
        .collect()
}

/// All culprits, the main one included.
fn named(history: &History, report: &Value) -> BTreeSet<usize> {
    let mut all = numbers(history, &report["culprits"], |culprit| &culprit["commit"]);
    let main = report["culprit"]["commit"].as_str().map(|commit| history.label(commit));
    all.extend(main.map(|label| label.parse::<usize>().unwrap()));
    all
}

fn judge(world: &World, history: &History, hunt: &Hunt) -> (Judgement, String) {
    let truth = &world.truth;
    let outcome = hunt.report["outcome"].as_str().unwrap_or("no report");
    let is_told = world.class.tells_ends_apart() && truth.ends_differ;
    let judgement = match hunt.output.code() {
        Some(0) => {
            let named = named(history, &hunt.report);
            let judgement =
                if is_right(truth, &named) { Judgement::Right } else { Judgement::Wrong };
            return (judgement, format!("named {named:?}"));
        }
        Some(4) if outcome == "no-regression" && is_told => Judgement::Wrong,
        Some(4) if outcome == "no-regression" && truth.expected == Expected::NoRegression => {
            Judgement::Right
        }
        Some(3) if outcome == "gradual" && truth.expected == Expected::Gradual => Judgement::Right,
        Some(3 | 4) if truth.is_decidable => Judgement::Undecided,
        Some(3 | 4) => Judgement::Open,
        // The program refuses to measure if a build leaves state for the next one.
        Some(5) if world.leak == Some(Leak::Carried) => Judgement::Right,
        code => return (Judgement::Broken, format!("{code:?}, {outcome}")),
    };
    (judgement, outcome.to_owned())
}

/// Whether each named commit explains the change, or landed it first and a commit that landed it
/// again is named too.
fn is_right(truth: &Truth, named: &BTreeSet<usize>) -> bool {
    let explains = |one: &usize| {
        truth.explaining.contains(one)
            || truth.earlier.get(one).is_some_and(|again| !again.is_disjoint(named))
    };
    !named.is_empty() && named.iter().all(explains)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_landed_it_first_is_right_beside_who_landed_it_again() {
        let truth = Truth {
            explaining: [7, 9].into(),
            earlier: [(2, [7].into())].into(),
            expected: Expected::Named,
            is_decidable: true,
            ends_differ: true,
        };
        for right in [&[7][..], &[9], &[7, 9], &[2, 7]] {
            assert!(is_right(&truth, &right.iter().copied().collect()), "{right:?}");
        }
        for wrong in [&[][..], &[2], &[2, 9], &[3], &[3, 7]] {
            assert!(!is_right(&truth, &wrong.iter().copied().collect()), "{wrong:?}");
        }
    }
}
