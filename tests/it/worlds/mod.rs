//! Random worlds, hunted by the real program: histories, level functions, failures, flakes, noise,
//! leaks and layouts of files. The right answer is computed before the program runs.
//!
//! ```text
//! cargo test --all-features --test it worlds::                     300 worlds, always the same
//! WORLDS=10000 SEED=7 cargo test --release --all-features --test it worlds:: -- --nocapture
//! WORLD=1234 cargo test --all-features --test it worlds:: -- --nocapture     one, in full
//! ```
//! `PLAIN=1` replays a world without what was added to the generator later: noise, layouts of
//! files, localisation. `CLASS=ramp` draws only classes with this in their name (`classes.rs`),
//! `STEADY=1` only those in which everything repeats. `THREADS=8` hunts in eight worlds at once.
//! After `MINUTES=20` no world is begun; `FROM=3000` begins after that many worlds, to go on with
//! an earlier survey. A second table shows the cost of the hunts in which everything repeats.

mod ask;
mod classes;
pub(crate) mod dice;
mod effect;
mod failing;
mod faults;
mod layout;
mod levels;
mod shape;
mod tally;
mod truth;
mod world;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use ask::{Judgement, ask};
use classes::{CLASSES, NOISY};
use dice::Dice;
use tally::Tallies;
use world::World;

/// Highest shares of wrong and of undecided answers. Above these, the program got worse.
const MOST_WRONG: f64 = 0.01;
const MOST_UNDECIDED: f64 = 0.06;

pub(crate) fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|value| value.parse().expect("a number"))
}

pub(crate) fn count(name: &str, default: usize) -> usize {
    number(name).map_or(default, |value| usize::try_from(value).expect("a count"))
}

/// Seeds of worlds in the wanted classes, drawn from one seed.
fn seeds(seed: u64, many: usize) -> Vec<u64> {
    let wanted = std::env::var("CLASS").unwrap_or_default();
    let only_steady = number("STEADY").is_some();
    let is_wanted = |seed: &u64| {
        let class = classes::of(*seed);
        class.name.contains(&wanted) && (class.is_steady() || !only_steady)
    };
    let mut all = CLASSES.iter().chain(&NOISY);
    assert!(all.any(|class| class.name.contains(&wanted)), "no class has `{wanted}`");
    let mut dice = Dice::new(seed);
    let all = std::iter::repeat_with(|| dice.next() >> 1);
    all.filter(is_wanted).take(many).collect()
}

fn replay(seed: u64) {
    let world = if number("PLAIN").is_some() { World::plain(seed) } else { World::of(seed) };
    world.tell();
    let answer = ask(&world);
    println!("{}\n{:?}: {}", answer.text, answer.judgement, answer.said);
    println!("{} runs, {} builds, {:.1} s", answer.runs, answer.builds, answer.seconds);
    assert!(!matches!(answer.judgement, Judgement::Wrong | Judgement::Broken));
}

/// Hunts in the worlds of all seeds, several at once.
fn survey(seeds: &[u64]) -> Tallies {
    let tallies = Mutex::new(Tallies::default());
    let next = AtomicUsize::new(0);
    let began = Instant::now();
    let limit = number("MINUTES").map_or(Duration::MAX, |count| Duration::from_secs(60 * count));
    let cores = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..count("THREADS", cores + 1) {
            scope.spawn(|| {
                while let Some(seed) = seeds.get(next.fetch_add(1, Ordering::Relaxed))
                    && began.elapsed() < limit
                {
                    let world = World::of(*seed);
                    let answer = ask(&world);
                    if answer.judgement != Judgement::Right && answer.judgement != Judgement::Open {
                        println!(
                            "{:?}: {} ({:?}): {}, right is {:?} ({:?}); WORLD={seed}",
                            answer.judgement,
                            world.class.name,
                            world.levels,
                            answer.said,
                            world.truth.explaining,
                            world.truth.expected,
                        );
                    }
                    tallies.lock().unwrap().add(&world, &answer);
                }
            });
        }
    });
    tallies.into_inner().unwrap()
}

#[test]
fn nobody_is_blamed_who_did_not_do_it() {
    if let Some(seed) = number("WORLD") {
        return replay(seed);
    }
    let (done, many) = (count("FROM", 0), count("WORLDS", 300));
    let seeds = seeds(number("SEED").unwrap_or(20_261_122), done + many).split_off(done);
    let tallies = survey(&seeds);
    tallies.print();
    println!("\nWhere everything repeats:");
    tallies.print_costs();
    let all = &tallies.all;
    assert_eq!(all.broken(), 0, "broken answers, named above");
    // The program stays below these limits now; the margin is for other draws of the flakes. The
    // goal is one wrong answer in a thousand (docs/reliability.md).
    assert!(all.wrong() <= MOST_WRONG, "{:.1} % wrong, named above", 100.0 * all.wrong());
    assert!(all.undecided() <= MOST_UNDECIDED, "{:.1} % undecided", 100.0 * all.undecided());
}

/// Worlds that once got a wrong answer, wrong candidates, or none, and why.
#[test]
fn worlds_that_were_once_wrong_are_right() {
    let worlds = [
        // A merge has a parent that git took for good, four times.
        7_181_091_934_140_326_908,
        // Another file mends a step within the tolerance.
        7_949_436_949_907_756_888,
        // Two mends fit two steps, and only a build without each change tells which.
        7_102_771_972_570_948_324,
        // Runs differ, two steps are put back, and the mend of one was counted for the other.
        386_337_593_813_247_929,
    ];
    for seed in worlds {
        gets_the_right_answer(&World::plain(seed));
    }
}

/// More worlds of two kinds that the test above has too, and worlds whose reasons a scenario has.
#[test]
#[ignore = "long: scripts/test --long"]
fn more_worlds_that_were_once_wrong_are_right() {
    let worlds = [
        // The mend within the tolerance, and the two mends that fit two steps.
        2_240_037_637_287_142_928,
        8_788_851_672_775_630_038,
        // A regression on two lines of history has two merge bases with the good end.
        6_376_937_984_535_186_542,
        // A search that came later measures a mend on the first-parent path.
        3_120_298_707_261_595_318,
        // A merge brings in a branch with a mend and a step.
        7_515_067_865_763_540_475,
        // `git bisect run` ends with success before it tests a merge base.
        6_797_299_780_135_687_862,
        // A part of a failure's change is put back, and the rest still fails.
        6_992_832_720_880_935_886,
    ];
    for seed in worlds {
        gets_the_right_answer(&World::plain(seed));
    }
}

#[track_caller]
fn gets_the_right_answer(world: &World) {
    let answer = ask(world);
    assert_eq!(answer.judgement, Judgement::Right, "WORLD={}: {}", world.seed, answer.text);
}

/// Worlds in which everything repeats, and that once got candidates, and why.
#[test]
fn worlds_that_were_once_undecided_are_right() {
    let worlds = [
        // Runs fail from one commit on. A commit after that takes a mend back.
        1_485_997_618_287_767_432,
    ];
    for seed in worlds {
        gets_the_right_answer(&World::of(seed));
    }
}

/// More of them, most of them for reasons that scenarios have too.
#[test]
#[ignore = "long: scripts/test --long"]
fn more_worlds_that_were_once_undecided_are_right() {
    let worlds = [
        // A step that hid another one was undone, and so was the hidden one.
        8_950_658_898_610_192_100,
        // One commit takes most of the step back in another file.
        1_455_225_742_275_803_368,
        // A merge improves more than the branch that it brings in.
        8_929_160_983_287_416_236,
    ];
    for seed in worlds {
        gets_the_right_answer(&World::of(seed));
    }
}

/// Worlds of which the measurements allow several readings: candidates, or by luck the right
/// commit.
#[test]
fn worlds_that_do_not_tell_get_no_wrong_answer() {
    let worlds = [
        // Builds differ, the bad end mends a step, and another commit made one of the same size.
        4_249_423_408_515_003_664,
    ];
    for seed in worlds {
        gets_no_wrong_answer(&World::of(seed));
    }
}

/// More worlds, most of them for reasons that another test of worlds or a scenario has too. One of
/// them takes 600 builds.
#[test]
#[ignore = "long: scripts/test --long"]
fn more_worlds_that_do_not_tell_get_no_wrong_answer() {
    let worlds = [
        // In noise, the mends after a found commit cannot be assigned to steps.
        5_133_693_463_229_844_535,
        // Half of the commits show the other side's value in every second run. Of several claims,
        // one finds seven runs that agree by chance.
        3_593_540_990_152_329_785,
        // Nothing between a change, its revert and the same change again can be measured, twice.
        5_553_682_836_670_609_298,
        6_328_282_806_616_889_095,
        // Builds flake at one side.
        747_969_158_523_273_729,
        // In noise, a file of a found commit was put back, and another commit made the same step.
        7_589_314_024_381_420_512,
        // Untestable commits hide that one of them undid a step and made a larger one.
        1_449_484_396_617_863_608,
        // Two runs in noise did not show that a found step was undone before the bad end.
        7_019_129_917_963_912_987,
    ];
    for seed in worlds {
        gets_no_wrong_answer(&World::plain(seed));
    }
}

#[track_caller]
fn gets_no_wrong_answer(world: &World) {
    let answer = ask(world);
    let is_honest = matches!(answer.judgement, Judgement::Open | Judgement::Right);
    assert!(is_honest, "WORLD={}: {:?}: {}", world.seed, answer.judgement, answer.text);
}

/// Worlds with noise that once got a wrong answer, and why.
#[test]
fn worlds_in_noise_that_were_once_wrong_get_no_wrong_answer() {
    let worlds = [
        // By the few runs of its confirmation, a step is larger than the mend in another file that
        // took it back.
        5_463_797_778_444_046_705,
    ];
    for seed in worlds {
        gets_no_wrong_answer(&World::of(seed));
    }
}

#[test]
fn the_same_seed_makes_the_same_world() {
    for seed in seeds(5, 400) {
        let world = World::of(seed);
        assert_eq!(world, World::of(seed));
        assert!(world.truth.explaining.iter().all(|one| world.shape.is_between(*one)));
    }
}
