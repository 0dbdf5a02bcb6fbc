use super::super::fixture::levels;
use super::*;

#[test]
fn it_looks_every_eight_runs() {
    let mut drift = Drift::since(10);
    assert!(!drift.is_due(17));
    assert!(drift.is_due(18));
    drift.look(0.0, &levels(0.0, 1.0, 1.0), 20);
    assert!(!drift.is_due(27));
    assert!(drift.is_due(28));
}

#[test]
fn the_average_by_hand() {
    let levels = levels(100.0, 130.0, 10.0);
    let mut drift = Drift::default();
    // z = 2 each: 0.8, 1.28, 1.568.
    assert!(!drift.look(120.0, &levels, 8));
    assert!(!drift.look(120.0, &levels, 16));
    assert!(drift.look(120.0, &levels, 24));
    // Also downwards. An outlier counts as 4σ: 1.6 at once.
    assert!(Drift::default().look(-900.0, &levels, 8));
    assert!(Drift::default().look(1e9, &levels, 8));
    // Alternating noise does not accumulate.
    let mut drift = Drift::default();
    assert!((0..100).all(|i| !drift.look(if i % 2 == 0 { 120.0 } else { 80.0 }, &levels, 8)));
}

#[test]
fn without_noise_nothing_drifts() {
    assert!(!Drift::default().look(5.0, &levels(1.0, 2.0, 0.0), 8));
}
