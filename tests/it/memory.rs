//! Memory use of a search over a long history.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use bisect_ppl::search::{
    Advice, CalibrationSettings, DriftPrior, Graph, MeasuredCommit, Noisy, Scale, Settings,
    calibrate,
};
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;

use crate::simulation::world::{Change, Family, World, merged};

/// The system's allocator; counts the bytes that the calling thread holds.
struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

thread_local! {
    static HELD: Cell<isize> = const { Cell::new(0) };
    static MOST: Cell<isize> = const { Cell::new(0) };
}

fn count(bytes: usize, sign: isize) {
    let bytes = isize::try_from(bytes).unwrap_or(isize::MAX);
    // A thread that ends frees memory after its counters are gone.
    let _ = HELD.try_with(|held| {
        held.set(held.get() + sign * bytes);
        MOST.try_with(|most| most.set(most.get().max(held.get())))
    });
}

#[expect(
    unsafe_code,
    reason = "nothing else can see what is allocated; all is passed on as it came"
)]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 1);
        // SAFETY: the caller's promise about the layout.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(layout.size(), -1);
        // SAFETY: the caller's promise about the pointer, which came from the system.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// Peak of the bytes held during a call, and the call's value.
fn most_held<T>(during: impl FnOnce() -> T) -> (usize, T) {
    let before = HELD.get();
    MOST.set(before);
    let value = during();
    (usize::try_from(MOST.get() - before).unwrap_or(0), value)
}

#[test]
fn what_is_held_is_counted() {
    let (most, kept) = most_held(|| {
        drop(vec![0_u8; 3_000_000]);
        vec![0_u8; 1_000_000]
    });
    assert_eq!(kept.len(), 1_000_000);
    assert!((3_000_000..3_010_000).contains(&most), "{most}");
}

/// At most 64 MiB over 100,000 commits, a fifth of them merges. One ancestor bit for each pair of
/// commits would take 1.25 GB.
#[test]
fn a_long_history_fits_into_64_mib() {
    const COMMITS: usize = 100_000;
    let mut random = Pcg64Mcg::seed_from_u64(1);
    let plain = merged(COMMITS, &mut random);
    let mut world = World::new(plain.clone(), Change::Step(4.0), Family::NORMAL, random);
    let parents: Vec<Vec<usize>> =
        (0..COMMITS).map(|commit| plain.parents(commit).collect()).collect();
    let tip = MeasuredCommit::Commit(COMMITS - 1);
    let [good, bad] = [MeasuredCommit::Good, tip].map(|place| {
        let runs: Vec<f64> = (0..16).map(|_| world.run(place)).collect();
        runs
    });
    let rule = CalibrationSettings { tolerance: 1.0, drift: DriftPrior::Never, paired: false };
    let found = calibrate(&good, &bad, rule).unwrap();
    let (most, (asked, claimed)) = most_held(|| {
        let graph = Graph::new(&parents);
        let settings = Settings {
            prior: vec![1.0; COMMITS],
            untestable: vec![false; COMMITS],
            good,
            bad,
            scale: Scale::Levels(found),
            drift: DriftPrior::Never,
            price_of_build: 1.0,
            stored: Vec::new(),
            built: Vec::new(),
        };
        let mut search = Noisy::new(&graph, settings);
        let mut asked = 0;
        loop {
            match search.advise() {
                Advice::Measure(places) => {
                    let samples: Vec<f64> = places.iter().map(|place| world.run(*place)).collect();
                    search.add_samples(&samples);
                    asked += 1;
                }
                Advice::Confirm(candidate) => break (asked, Some(candidate.commit)),
                Advice::Stop(_) => break (asked, None),
            }
        }
    });
    assert_eq!(claimed, world.culprit);
    assert!(asked > 10, "{asked} runs");
    assert!(most <= 64 << 20, "{} KiB", most >> 10);
    // A lower peak would show that the test does not count all memory: one posterior is 1.6 MB.
    assert!(most >= 3 << 20, "{} KiB", most >> 10);
}
