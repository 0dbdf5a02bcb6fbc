use std::collections::BTreeSet;

use proptest::prelude::*;

use super::super::Levels;
use super::super::fixture::{Parents, assert_close, graph, histories, levels, relabelled, sets};
use super::*;

/// Samples at the good endpoint (`None`) or at a commit.
type Samples = Vec<(Option<usize>, f64)>;

fn believe(
    graph: &Graph,
    prior: &[f64],
    samples: &Samples,
    likelihood: &Likelihood,
) -> Option<Belief> {
    let mut classes = Classes::new(prior.to_vec());
    let mut good = Evidence::default();
    let mut measured = Vec::new();
    for &(commit, x) in samples {
        let x = likelihood.prepared(x);
        match commit {
            None => good.add(x),
            Some(commit) => {
                let place = classes.place(graph, commit);
                measured.resize(measured.len().max(place + 1), Evidence::default());
                measured[place].add(x);
            }
        }
    }
    classes.belief(graph, likelihood, good, &measured)
}

/// The formula computed directly: for each candidate, all samples on both sides of it.
fn by_force(
    parents: &Parents,
    prior: &[f64],
    samples: &Samples,
    levels: &Levels,
    pinned: f64,
) -> Option<Vec<f64>> {
    let sets = sets(parents);
    let moved = |x: f64| x.clamp(levels.good - 2.5 * levels.sd, levels.bad + 2.5 * levels.sd);
    let ln = |candidate: usize| {
        let is_right =
            |commit: &Option<usize>| commit.is_some_and(|c| sets[c].contains(&candidate));
        let part = |side: bool| -> Vec<f64> {
            samples.iter().filter(|(c, _)| is_right(c) == side).map(|(_, x)| moved(*x)).collect()
        };
        let (left, right) = (part(false), part(true));
        // Pinned samples are exactly 0.
        let (n_left, n_right) = (left.len() as f64 + pinned, right.len() as f64);
        if n_left == 0.0 || n_right == 0.0 {
            return None;
        }
        let (mean_left, mean_right) =
            (left.iter().sum::<f64>() / n_left, right.iter().sum::<f64>() / n_right);
        let squares = left.iter().map(|x| (x - mean_left).powi(2)).sum::<f64>()
            + pinned * mean_left.powi(2)
            + right.iter().map(|x| (x - mean_right).powi(2)).sum::<f64>();
        let n = (left.len() + right.len()) as f64;
        let spread = squares + levels.sd.powi(2);
        (mean_right > mean_left && prior[candidate] > 0.0).then(|| {
            prior[candidate].ln()
                - 0.5 * n_left.ln()
                - 0.5 * n_right.ln()
                - 0.5 * (n - 2.0 + 1.0) * spread.ln()
        })
    };
    let logs: Vec<Option<f64>> = (0..parents.len()).map(ln).collect();
    let highest = logs.iter().flatten().copied().reduce(f64::max)?;
    let odds: Vec<f64> = logs.iter().map(|ln| ln.map_or(0.0, |ln| (ln - highest).exp())).collect();
    let sum: f64 = odds.iter().sum();
    Some(odds.into_iter().map(|odds| odds / sum).collect())
}

#[track_caller]
fn assert_alike(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (commit, (a, b)) in found.iter().zip(expected).enumerate() {
        // P(bad) leaves out commits with a total probability of 1e-7.
        assert!((a - b).abs() < 2e-7, "{commit}: {a} is not {b}");
    }
}

/// Expected values from other code: twelve commits, thirteen samples, one of them an outlier.
#[test]
fn a_posterior_that_other_code_computed() {
    let samples: Samples = [
        (0, 6.0),
        (0, 5.96),
        (0, 6.05),
        (12, 6.11),
        (12, 6.16),
        (12, 6.07),
        (6, 6.03),
        (6, 5.97),
        (9, 6.12),
        (8, 6.04),
        (8, 6.09),
        (7, 6.02),
        (7, 6.9),
    ]
    .map(|(commit, x): (usize, f64)| (commit.checked_sub(1), x))
    .to_vec();
    let likelihood = Likelihood::Normal { levels: levels(6.0033, 6.1133, 0.043), pinned: 0.0 };
    let belief = believe(&Graph::line(12), &[1.0; 12], &samples, &likelihood).unwrap();
    let expected = [
        0.056_351_728_732_2,
        0.056_351_728_732_2,
        0.056_351_728_732_2,
        0.056_351_728_732_2,
        0.056_351_728_732_2,
        0.056_351_728_732_2,
        0.477_003_918_241,
        0.038_153_447_311_5,
        0.051_192_867_560_7,
        0.031_846_464_831_1,
        0.031_846_464_831_1,
        0.031_846_464_831_1,
    ];
    for (found, expected) in belief.first.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-9, "{found} is not {expected}");
    }
    let mut sum = 0.0;
    for (bad, first) in belief.bad.iter().zip(expected) {
        sum += first;
        assert!((bad - sum).abs() < 1e-9);
    }
    assert_eq!(likeliest(&belief), Some(6));
}

#[test]
fn pass_and_fail_by_hand() {
    // Three commits in a line; good passes twice, the middle one fails, the last fails.
    let samples: Samples = vec![(None, 0.0), (None, 0.0), (Some(1), 1.0), (Some(2), 1.0)];
    let belief = believe(&Graph::line(3), &[1.0; 3], &samples, &Likelihood::PassFail).unwrap();
    // The first two: 3/8 · 3/8. The last: B(1 of 3) · B(1 of 1) = 1/16 · 1/2.
    let (front, last) = (9.0 / 64.0, 1.0 / 32.0);
    let sum = 2.0 * front + last;
    for (found, expected) in belief.first.iter().zip([front / sum, front / sum, last / sum]) {
        assert_close(*found, expected);
    }
}

#[test]
fn samples_that_get_worse_nowhere_have_no_posterior() {
    let graph = Graph::line(3);
    let likelihood = Likelihood::Normal { levels: levels(0.0, 1.0, 1.0), pinned: 0.0 };
    let samples: Samples = vec![(None, 1.0), (Some(2), 0.0)];
    assert_eq!(believe(&graph, &[1.0; 3], &samples, &likelihood), None);
    assert_eq!(believe(&graph, &[0.0; 3], &vec![(None, 0.0), (Some(2), 1.0)], &likelihood), None);
    assert_eq!(believe(&graph, &[1.0; 3], &Vec::new(), &likelihood), None);
}

#[test]
fn the_entropy_is_that_of_good_or_bad() {
    let belief = Belief { first: vec![], bad: vec![0.5, 0.0, 1.0, 0.1, 1.0 + 1e-12] };
    assert_close(belief.binary_entropy(0), 1.0);
    assert_eq!(
        (belief.binary_entropy(1), belief.binary_entropy(2), belief.binary_entropy(4)),
        (0.0, 0.0, 0.0)
    );
    assert!((belief.binary_entropy(3) - 0.469).abs() < 1e-3);
}

#[derive(Clone, Debug)]
struct Case {
    parents: Parents,
    prior: Vec<f64>,
    samples: Samples,
    levels: Levels,
    keys: Vec<u32>,
}

fn cases() -> impl Strategy<Value = Case> {
    let weight = prop_oneof![1 => Just(0.0), 4 => 0.1..5.0_f64];
    histories(12).prop_flat_map(move |parents| {
        let size = parents.len();
        let place = prop_oneof![1 => Just(None), 4 => (0..size).prop_map(Some)];
        let sample = (place, -4.0..8.0_f64);
        let prior = prop_oneof![Just(vec![1.0; size]), prop::collection::vec(weight.clone(), size)];
        let keys = prop::collection::vec(any::<u32>(), size);
        (Just(parents), prior, prop::collection::vec(sample, 0..14), 0.2..3.0_f64, keys).prop_map(
            |(parents, prior, mut samples, sd, keys)| {
                // A search begins with both endpoints measured.
                samples.extend([(None, 0.3), (Some(parents.len() - 1), 4.1)]);
                Case { parents, prior, samples, levels: levels(0.0, 4.0, sd), keys }
            },
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn a_belief_is_the_formula(case in cases(), pinned in prop_oneof![Just(0.0), Just(6.0)]) {
        let Case { parents, prior, samples, levels, .. } = case;
        let graph = graph(&parents);
        let likelihood = Likelihood::Normal { levels, pinned };
        let found = believe(&graph, &prior, &samples, &likelihood);
        let expected = by_force(&parents, &prior, &samples, &levels, pinned);
        prop_assert_eq!(found.is_some(), expected.is_some());
        let (Some(found), Some(expected)) = (found, expected) else { return Ok(()) };
        for (a, b) in found.first.iter().zip(&expected) {
            prop_assert!((a - b).abs() < 1e-9, "{a} is not {b}");
        }
        let bad: Vec<f64> =
            sets(&parents).iter().map(|set| set.iter().map(|one| expected[*one]).sum()).collect();
        assert_alike(&found.bad, &bad);
    }

    #[test]
    fn classes_are_what_no_measurement_tells_apart(case in cases()) {
        let graph = graph(&case.parents);
        let sets = sets(&case.parents);
        let mut classes = Classes::new(case.prior.clone());
        let mut measured: Vec<usize> = Vec::new();
        for commit in case.samples.iter().filter_map(|(commit, _)| *commit) {
            let place = classes.place(&graph, commit);
            if !measured.contains(&commit) {
                measured.push(commit);
            }
            prop_assert_eq!(measured[place], commit);
        }
        let seen_by = |one: usize| -> Vec<bool> { measured.iter().map(|c| sets[*c].contains(&one)).collect() };
        let mut priors = vec![0.0; classes.all.len()];
        for one in 0..graph.len() {
            let class = classes.of[one] as usize;
            prop_assert_eq!(&classes.all[class].within, &seen_by(one));
            priors[class] += case.prior[one];
        }
        let distinct: BTreeSet<Vec<bool>> = (0..graph.len()).map(seen_by).collect();
        prop_assert_eq!(distinct.len(), classes.all.len());
        for (class, prior) in classes.all.iter().zip(priors) {
            prop_assert!((class.prior - prior).abs() < 1e-9);
        }
    }

    #[test]
    fn the_order_of_samples_is_irrelevant(
        (case, shuffled) in cases().prop_flat_map(|case| {
            let samples = case.samples.clone();
            (Just(case), Just(samples).prop_shuffle())
        }),
    ) {
        let graph = graph(&case.parents);
        let likelihood = Likelihood::Normal { levels: case.levels, pinned: 0.0 };
        let before = believe(&graph, &case.prior, &case.samples, &likelihood);
        let after = believe(&graph, &case.prior, &shuffled, &likelihood);
        prop_assert_eq!(before.is_some(), after.is_some());
        let (Some(before), Some(after)) = (before, after) else { return Ok(()) };
        assert_alike(&before.first, &after.first);
        assert_alike(&before.bad, &after.bad);
    }

    #[test]
    fn neither_unit_nor_origin_matter(case in cases(), shift in -50.0..50.0_f64, scale in 0.01..100.0_f64) {
        let graph = graph(&case.parents);
        let moved = |x: f64| x * scale + shift;
        let there: Samples = case.samples.iter().map(|(c, x)| (*c, moved(*x))).collect();
        let Levels { good, bad, sd } = case.levels;
        let levels = levels(moved(good), moved(bad), sd * scale);
        let likelihood = |levels| Likelihood::Normal { levels, pinned: 0.0 };
        let before = believe(&graph, &case.prior, &case.samples, &likelihood(case.levels));
        let after = believe(&graph, &case.prior, &there, &likelihood(levels));
        prop_assert_eq!(before.is_some(), after.is_some());
        let (Some(before), Some(after)) = (before, after) else { return Ok(()) };
        assert_alike(&before.first, &after.first);
        assert_alike(&before.bad, &after.bad);
    }

    #[test]
    fn the_order_of_commits_is_irrelevant(case in cases()) {
        let (to, parents) = relabelled(&case.parents, &case.keys);
        let mut prior = vec![0.0; to.len()];
        for (old, new) in to.iter().enumerate() {
            prior[*new] = case.prior[old];
        }
        let there: Samples = case.samples.iter().map(|(c, x)| (c.map(|c| to[c]), *x)).collect();
        let likelihood = Likelihood::Normal { levels: case.levels, pinned: 0.0 };
        let before = believe(&graph(&case.parents), &case.prior, &case.samples, &likelihood);
        let after = believe(&graph(&parents), &prior, &there, &likelihood);
        prop_assert_eq!(before.is_some(), after.is_some());
        let (Some(before), Some(after)) = (before, after) else { return Ok(()) };
        let back = |x: &[f64]| to.iter().map(|new| x[*new]).collect::<Vec<_>>();
        assert_alike(&before.first, &back(&after.first));
        assert_alike(&before.bad, &back(&after.bad));
    }

    #[test]
    fn the_smallest_set_is_the_smallest(weights in prop::collection::vec(0.0..1.0_f64, 1..10), share in 0.01..0.99_f64) {
        let sum: f64 = weights.iter().sum();
        let first: Vec<f64> = weights.iter().map(|w| w / sum).collect();
        let belief = Belief { bad: first.clone(), first };
        let set = belief.smallest_set(share);
        let held = |set: &[usize]| set.iter().map(|one| belief.first[*one]).sum::<f64>();
        prop_assert!(held(&set) >= share);
        prop_assert!(set.is_sorted_by(|a, b| belief.first[*a] >= belief.first[*b]));
        // No set with one commit fewer has this share.
        for bits in 0..1_u32 << weights.len() {
            let other: Vec<usize> = (0..weights.len()).filter(|i| bits >> i & 1 == 1).collect();
            prop_assert!(other.len() + 1 != set.len() || held(&other) < share);
        }
    }

    #[test]
    fn the_largest_untestable_span_is_found(
        (parents, weights, mut untestable) in histories(12).prop_flat_map(|parents| {
            let size = parents.len();
            let weight = prop_oneof![Just(0.0), 1e-6..1e-4_f64, 0.1..1.0_f64];
            (Just(parents), prop::collection::vec(weight, size), prop::collection::vec(any::<bool>(), size))
        }),
    ) {
        let graph = graph(&parents);
        // The bad endpoint was measured before the search began.
        untestable[parents.len() - 1] = false;
        let belief = Belief { bad: weights.clone(), first: weights };
        // All commits that are reachable through untestable commits.
        let span_of = |commit: usize| {
            let mut span = BTreeSet::from([commit]);
            loop {
                let more: BTreeSet<usize> = span.iter().flat_map(|one| &parents[*one]).copied()
                    .filter(|parent| untestable[*parent] && !span.contains(parent)).collect();
                if more.is_empty() { return span }
                span.extend(more);
            }
        };
        let mass = |span: &BTreeSet<usize>| span.iter().map(|one| belief.first[*one]).sum::<f64>();
        let testable = (0..parents.len()).filter(|commit| !untestable[*commit]);
        let most = testable.map(|commit| mass(&span_of(commit))).fold(0.0, f64::max);
        let found = largest_untestable_span(&graph, &belief, &untestable)
            .expect("the bad endpoint can be measured");
        let span = span_of(found.commit);
        prop_assert!((found.mass - most).abs() < 1e-12, "{} of {most}", found.mass);
        prop_assert!((found.mass - mass(&span)).abs() < 1e-12);
        prop_assert!(!untestable[found.commit]);
        prop_assert_eq!(&found.span, &span.iter().copied().collect::<Vec<_>>());
        let frontier: BTreeSet<usize> = span.iter().flat_map(|one| &parents[*one]).copied()
            .filter(|parent| !untestable[*parent]).collect();
        prop_assert_eq!(found.frontier, frontier.into_iter().collect::<Vec<_>>());
    }
}
