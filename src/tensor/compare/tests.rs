#![allow(
    clippy::float_cmp,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "exact values are expected, and small numbers are cast"
)]

use std::path::PathBuf;

use tempfile::TempDir;

use super::super::comparison::Breach;
use super::super::row::Figure;
use super::*;

/// A folder with dumps.
struct Files(TempDir);

impl Files {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn write(&self, name: &str, header: &str, data: &[u8]) -> Dump {
        let path: PathBuf = self.0.path().join(name);
        let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
        bytes.extend(header.as_bytes());
        bytes.extend(data);
        std::fs::write(&path, bytes).unwrap();
        Dump::open(&path, None).unwrap()
    }

    fn dump(&self, name: &str, rows: &[Vec<f32>]) -> Dump {
        let data: Vec<u8> = rows.iter().flatten().flat_map(|x| x.to_le_bytes()).collect();
        self.write(name, &header("F32", rows, data.len()), &data)
    }

    fn wide(&self, name: &str, rows: &[Vec<f32>]) -> Dump {
        let data: Vec<u8> =
            rows.iter().flatten().flat_map(|x| f64::from(*x).to_le_bytes()).collect();
        self.write(name, &header("F64", rows, data.len()), &data)
    }
}

fn header(dtype: &str, rows: &[Vec<f32>], size: usize) -> String {
    let shape = format!("[{},{}]", rows.len(), rows[0].len());
    format!(r#"{{"x":{{"dtype":"{dtype}","shape":{shape},"data_offsets":[0,{size}]}}}}"#)
}

/// Rows of waves; row `i` of the second has noise of `i` times a small number.
fn waves(rows: usize, length: usize) -> [Vec<Vec<f32>>; 2] {
    [0.0, 1e-4].map(|noise| {
        let value = |row: usize, at: usize| {
            let x = (row * length + at) as f32;
            (x * 0.7).sin() * 8.0 + noise * row as f32 * (x * 31.0).cos()
        };
        (0..rows).map(|row| (0..length).map(|at| value(row, at)).collect()).collect()
    })
}

fn compared(
    base: &Dump,
    candidate: &Dump,
    guard: Option<LogitsGuard>,
    threads: usize,
) -> Comparison {
    compare(base, candidate, &Settings { threads, guard }, &|| false).unwrap()
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let files = Files::new();
    let [a, b] = waves(3000, 70);
    let (a, b) = (files.dump("a", &a), files.dump("b", &b));
    let one = compared(&a, &b, None, 1);
    assert_eq!(one.positions, 3000);
    for threads in [2, 3, 8] {
        assert_eq!(compared(&a, &b, None, threads), one);
    }
    let exact = compared(&files.wide("c", &waves(3000, 70)[0]), &b, None, 2);
    let close =
        |a: Option<f64>, b: Option<f64>, slack: f64| (a.unwrap() - b.unwrap()).abs() < slack;
    assert!(
        close(one.mean_kl(), exact.mean_kl(), 1e-8),
        "{:?} {:?}",
        one.mean_kl(),
        exact.mean_kl()
    );
    assert!(close(one.rms(), exact.rms(), 1e-7));
    assert!(close(one.p99_kl, exact.p99_kl, 1e-7));
    assert_eq!(
        one.figures.largest_delta.unwrap().position,
        exact.figures.largest_delta.unwrap().position
    );
}

#[test]
fn places_are_the_first_and_the_worst() {
    let files = Files::new();
    let mut b = vec![vec![1.0, 2.0, 3.0]; 9];
    let a = files.dump("a", &b);
    b[2][0] = 1.002;
    b[5][2] = 1.0;
    b[7][2] = 2.5;
    let b = files.dump("b", &b);
    let found = compared(&a, &b, None, 2);
    for figure in [Figure::MaxAbs, Figure::MeanAbs, Figure::Rms, Figure::Cosine, Figure::Kl] {
        let extreme = found.figures.extreme(figure);
        assert_eq!((extreme.first, extreme.worst.unwrap().0), (Some(2), 5), "{figure:?}");
    }
    let top = found.figures.extreme(Figure::Top1);
    assert_eq!((top.first, top.worst), (Some(5), Some((5, 1.0))));
    assert_eq!(found.top1_agreement(), Some(8.0 / 9.0));
    let largest = found.figures.largest_delta.unwrap();
    assert_eq!((largest.position, largest.index, largest.values), (5, 2, [3.0, 1.0]));
    assert_eq!((found.max_abs(), found.first_bits), (Some(2.0), Some((2, 0))));
    assert!(found.is_beyond_rounding());
    // With a guard, the first one beyond its limit.
    let guarded = compared(&a, &b, Some(LogitsGuard::Lossy), 2);
    assert_eq!(guarded.figures.extreme(Figure::Cosine).first, Some(5));
    assert_eq!(guarded.figures.extreme(Figure::Kl).first, Some(5));
    let breaches = guarded.breaches(LogitsGuard::Lossy);
    assert_eq!(breaches.len(), 2);
    assert!(matches!(breaches[0], Breach::Beyond { figure: Figure::Cosine, limit: 0.999, .. }));
}

#[test]
fn guards_hold_up_to_their_limits() {
    let files = Files::new();
    let rows = vec![vec![0.0, 1.0, 5.0]; 2];
    let a = files.dump("a", &rows);
    let with = |delta: f32| {
        let mut rows = rows.clone();
        rows[1][0] = delta;
        compared(&a, &files.dump("b", &rows), None, 1)
    };
    let holds = |guard: LogitsGuard, delta: f32| with(delta).breaches(guard).is_empty();
    assert!(
        holds(LogitsGuard::Bitwise, 0.0)
            && !holds(LogitsGuard::Bitwise, 1e-9)
            && !holds(LogitsGuard::Bitwise, -0.0)
    );
    assert!(holds(LogitsGuard::LosslessF32, 0.9e-5) && !holds(LogitsGuard::LosslessF32, 1.1e-5));
    assert!(holds(LogitsGuard::LosslessF16, 0.9e-3) && !holds(LogitsGuard::LosslessF16, 1.1e-3));
    assert!(holds(LogitsGuard::Lossy, 0.1) && !holds(LogitsGuard::Lossy, 2.0));
    let wide = compared(&a, &files.wide("w", &rows), None, 1);
    assert_eq!(wide.breaches(LogitsGuard::Bitwise), [Breach::Encoding]);
    assert!(wide.breaches(LogitsGuard::LosslessF32).is_empty() && !wide.is_identical());
}

#[test]
fn rows_that_are_not_finite_have_places_and_no_figures() {
    let files = Files::new();
    let mut b = vec![vec![1.0, 2.0, 3.0]; 4];
    let a = files.dump("a", &b);
    b[1][2] = f32::NAN;
    b[3][0] = f32::INFINITY;
    b[3][1] = f32::NAN;
    let found = compared(&a, &files.dump("b", &b), Some(LogitsGuard::Lossy), 2);
    let figures = &found.figures;
    assert_eq!((figures.rows, figures.left_out, found.max_abs()), (2, 2, Some(0.0)));
    let told: Vec<_> = figures
        .non_finite
        .iter()
        .map(|one| (one.side, one.kind, one.count, one.position, one.index))
        .collect();
    assert_eq!(told, [(1, "nan", 2, 1, 2), (1, "inf", 1, 3, 0)]);
    assert_eq!(found.breaches(LogitsGuard::Lossy), [Breach::NonFinite]);
    let all = compared(&a, &files.dump("c", &vec![vec![f32::NAN; 3]; 4]), None, 1);
    assert_eq!((all.mean_kl(), all.p99_kl, all.max_abs()), (None, None, None));
    // The same NaN in both is the same bits.
    let same = compared(&files.dump("d", &b), &files.dump("e", &b), None, 1);
    assert!(same.breaches(LogitsGuard::Bitwise).is_empty() && same.is_identical());
}

#[test]
fn shapes_must_agree() {
    let files = Files::new();
    let a = files.dump("a", &vec![vec![0.0; 3]; 2]);
    let settings = Settings { threads: 1, guard: None };
    let said = |b: &Dump| compare(&a, b, &settings, &|| false).unwrap_err().to_string();
    let vocab = said(&files.dump("b", &vec![vec![0.0; 4]; 2]));
    assert_eq!(vocab, "the files cannot be compared: rows have 3 and 4 values (the vocabulary)");
    let positions = said(&files.dump("c", &vec![vec![0.0; 3]; 5]));
    assert_eq!(positions, "the files cannot be compared: they have 2 and 5 positions");
    let stopped = compare(&a, &a, &settings, &|| true).unwrap_err();
    assert!(matches!(stopped, DumpError::Stopped));
}

/// A base file with one chunk of four tokens has one row of log-probabilities, of three values
/// here.
fn kl_base(files: &Files, name: &str, lowest: f32, steps: [u16; 3]) -> Dump {
    let numbers = [4, 3, 1, 1, 2, 3, 4].into_iter().flat_map(i32::to_le_bytes);
    let header = [16.0 / 65_535.0, lowest].into_iter().flat_map(f32::to_le_bytes);
    let steps = steps.into_iter().chain([0]).flat_map(u16::to_le_bytes);
    let bytes: Vec<u8> =
        b"_logits_".iter().copied().chain(numbers).chain(header).chain(steps).collect();
    let path = files.0.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    Dump::open(&path, None).unwrap()
}

#[test]
fn logits_become_log_probabilities_beside_a_kl_base() {
    let files = Files::new();
    // exp(-0.5) + exp(-1) + exp(-30) is the sum of the probabilities of these logits.
    let logits = [4.5, 4.0, -25.0];
    let sum = logits.iter().map(|x: &f64| x.exp()).sum::<f64>().ln();
    let lowest = (4.5 - 16.0 - sum) as f32;
    let steps = [65_535, ((4.0 - 4.5 + 16.0) * 65_535.0 / 16.0_f64).round() as u16, 0];
    let base = kl_base(&files, "base", lowest, steps);
    let plain = files.dump("plain", &[logits.iter().map(|x| *x as f32).collect()]);
    let step = base.encoding().spacing(1.0);
    for (a, b) in [(&base, &plain), (&plain, &base)] {
        let found = compared(a, b, None, 1);
        assert!(found.is_of_log_probabilities());
        assert!(found.max_abs().unwrap() <= step / 2.0 + 1e-5, "{:?}", found.max_abs());
        assert!(found.mean_kl().unwrap() < 1e-8);
    }
    let wide = files.wide("wide", &[logits.iter().map(|x| *x as f32).collect()]);
    assert!(compared(&base, &wide, None, 1).max_abs().unwrap() <= step / 2.0 + 1e-5);
    let other = kl_base(&files, "other", lowest, [65_535, steps[1], 1]);
    let found = compared(&base, &other, None, 1);
    assert_eq!(found.first_bits, Some((0, 2)));
    assert!((found.max_abs().unwrap() - step).abs() < 1e-6);
}
