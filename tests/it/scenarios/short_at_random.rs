//! Random histories in which the beginning of the text may mislead: the named commit is always
//! the one with the defect.
//!
//! `HUNTS=300 cargo test --all-features --test it short_at_random::` tries more histories.

use proptest::prelude::*;

use super::short::{reading, short};

/// The mean of the text without the defect, in hundredths of a nat.
const LEVEL: i32 = 200;
/// What the defect adds, in hundredths of a nat.
const DEFECT: i32 = 10;

/// A history. Commits make one half of the text worse and the other half better by the same amount.
/// One commit has the defect, and some do not build.
#[derive(Clone, Debug)]
struct World {
    planted: usize,
    /// How much each commit adds to the first half and subtracts from the second.
    turns: Vec<i32>,
    unbuildable: Vec<bool>,
}

fn worlds() -> impl Strategy<Value = World> {
    (3..9_usize).prop_flat_map(|count| {
        let turns = prop::sample::select(vec![0, 0, 0, 4, 8, 15, -8]);
        (
            1..count,
            prop::collection::vec(turns, count),
            prop::collection::vec(prop::bool::weighted(0.15), count),
        )
            .prop_map(|(planted, turns, unbuildable)| World {
                planted,
                turns,
                unbuildable,
            })
    })
}

impl World {
    /// The `nll` setting of each commit: only one commit moves the mean of the text.
    fn words(&self) -> Vec<String> {
        let mut turned = 0;
        let nats = |hundredths: i32| format!("{}.{:02}", hundredths / 100, hundredths % 100);
        let commits = self.turns.iter().enumerate().map(|(at, turn)| {
            turned += turn;
            let level = LEVEL + if at >= self.planted { DEFECT } else { 0 };
            format!("nll = 12x{} 12x{}", nats(level + turned), nats(level - turned))
        });
        commits.collect()
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: std::env::var("HUNTS").ok().and_then(|hunts| hunts.parse().ok()).unwrap_or(2),
        max_shrink_iters: 20,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn whoever_is_named_did_it(world in worlds()) {
        let words = world.words();
        let last = words.len() - 1;
        let mut plan = reading(&words.iter().map(String::as_str).collect::<Vec<_>>());
        for at in (1..last).filter(|at| world.unbuildable[*at]) {
            plan = plan.with(at, "build_exit = 1");
        }
        let (hunt, history) = short(plan).hunted();
        let planted = world.planted.to_string();
        match hunt.report["outcome"].as_str() {
            Some("culprit") => prop_assert_eq!(hunt.culprits(&history), [planted]),
            Some("candidates") => {
                let named = hunt.candidates(&history);
                prop_assert!(named.contains(&planted), "{named:?}");
                let is_beside = world.unbuildable[world.planted] && world.planted < last
                    || world.planted > 1 && world.unbuildable[world.planted - 1];
                prop_assert!(is_beside, "{named:?}");
            }
            other => prop_assert!(false, "{other:?}: {}", hunt.output.stderr),
        }
    }
}
