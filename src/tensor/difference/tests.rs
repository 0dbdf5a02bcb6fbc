use std::path::Path;

use super::*;
use crate::tensor::layout::Layout;
use crate::tensor::stored::Stored;

/// A file of raw f32, as a tensor.
fn stored(folder: &Path, name: &str, values: &[f32], shape: &[u64]) -> Values {
    let path = folder.join(name);
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    std::fs::write(&path, &bytes).unwrap();
    let layout = Layout {
        tensor: None,
        encoding: Encoding::F32,
        shape: shape.to_vec(),
        offset: 0,
        tokens: None,
    };
    let stored = Stored::checked(&path, layout, bytes.len() as u64, None).unwrap();
    Values::Stored(stored.open().unwrap())
}

fn compared(a: &[f32], b: &[f32], threshold: f64) -> Difference {
    let folder = tempfile::tempdir().unwrap();
    let shape = [a.len() as u64];
    let mut pair = [stored(folder.path(), "a", a, &shape), stored(folder.path(), "b", b, &shape)];
    let window = Window { begin: [0, 0], count: a.len() as u64 };
    difference(&mut pair, window, threshold, &mut Buffers::default(), &|| false).unwrap()
}

#[test]
#[allow(clippy::float_cmp, reason = "exact values are expected")]
fn figures_span_blocks() {
    let a: Vec<f32> = (0..3 * BLOCK).map(|i| (i % 7) as f32).collect();
    let mut b = a.clone();
    b[BLOCK + 5] += 0.5;
    b[2 * BLOCK + 1] -= 2.0;
    let found = compared(&a, &b, 0.25);
    assert_eq!(found.finite, 3 * BLOCK as u64);
    assert_eq!(found.first, Some(BLOCK as u64 + 5));
    let (largest, at, values) = found.largest.unwrap();
    assert_eq!((largest, at), (2.0, 2 * BLOCK as u64 + 1));
    assert_eq!(values, [f64::from(a[2 * BLOCK + 1]), f64::from(a[2 * BLOCK + 1]) - 2.0]);
    assert_eq!((found.sum, found.squared), (2.5, 4.25));
    assert_eq!(found.storage_step, 6_f64.log2().floor().exp2() * f64::from(f32::EPSILON));
    assert_eq!(compared(&a, &b, 1.0).first, Some(2 * BLOCK as u64 + 1));
    assert_eq!(compared(&a, &b, 3.0).first, None);
}

#[test]
#[allow(clippy::float_cmp, reason = "exact values are expected")]
fn values_that_are_not_finite_differ_unless_both_have_them() {
    let (nan, inf) = (f32::NAN, f32::INFINITY);
    let same = compared(&[nan, inf, -inf, 1.0], &[nan, inf, -inf, 1.0], 1e-5);
    assert_eq!((same.non_finite, same.first, same.finite), ([0, 0], None, 1));
    assert_eq!(same.max_abs(), Some(0.0));
    let other = compared(&[1.0, inf, 2.0, 1.0], &[1.0, -inf, nan, 1.5], 1e-5);
    assert_eq!((other.non_finite, other.first, other.finite), ([1, 2], Some(1), 2));
    assert_eq!(other.max_abs(), Some(0.5));
    assert_eq!(compared(&[nan], &[1.0], 1e-5).max_abs(), None);
}

#[test]
#[allow(clippy::float_cmp, reason = "exact values are expected")]
fn tiny_values_are_compared_exactly() {
    let found = compared(&[1e-20, 0.0, 3e-20], &[1e-20, 0.0, 2e-20], 1e-5);
    let delta = f64::from(3e-20_f32) - f64::from(2e-20_f32);
    assert_eq!((found.max_abs(), found.squared), (Some(delta), delta * delta));
}

#[test]
fn positions_leave_out_the_last_axis_and_leading_ones() {
    for (shape, value, expected) in [
        (&[4, 3][..], 7, &[2][..]),
        (&[1, 4, 3], 7, &[2]),
        (&[2, 4, 3], 19, &[1, 2]),
        (&[9], 7, &[]),
        (&[], 0, &[]),
        (&[1, 1], 0, &[]),
    ] {
        assert_eq!(position(shape, value), expected, "{shape:?}");
    }
}

#[test]
fn a_comparison_can_be_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let mut pair = ["a", "b"].map(|name| stored(folder.path(), name, &[1.0], &[1]));
    let window = Window { begin: [0, 0], count: 1 };
    let stopped = difference(&mut pair, window, 1.0, &mut Buffers::default(), &|| true);
    assert!(matches!(stopped, Err(DumpError::Stopped)));
}
