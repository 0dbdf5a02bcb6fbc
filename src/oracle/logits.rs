//! Compares a run's logits with those of the reference: the oldest run of the good end.

use std::path::PathBuf;

use crate::config::Measure;
use crate::evaluation::{
    Dumped, Failure, LogitsDifference, LogitsSide, Metric, Reading, Unreadable, Value,
};
use crate::store::{Store, StoreError, StoredRun};
use crate::tensor::{Dump, DumpError, Settings, compare};

/// The values of a run that exited with 0. Without a reference, these are only the shape. A value
/// that is not finite is a failure.
pub(super) fn read(
    run: &StoredRun,
    reference: Option<&StoredRun>,
    measure: &Measure,
    store: &Store,
) -> Result<Result<Reading, Failure>, StoreError> {
    let Some(own) = single(run) else {
        let file = measure.file.as_deref().unwrap_or_default();
        let detail = format!(
            "there is nothing to read at {{out}}/{file}: it was not written, is no file, or several \
             files match"
        );
        return Ok(Err(Failure::unreadable(Unreadable::NoFile, detail)));
    };
    let base = reference.and_then(single);
    Ok(difference(base.unwrap_or(own), own, store)?
        .and_then(|difference| reading(&measure.name, &difference, base.is_some())))
}

/// The only file that the run dumped.
pub(super) fn single(run: &StoredRun) -> Option<&Dumped> {
    match run.record.dumps.as_slice() {
        [one] => Some(one),
        _ => None,
    }
}

/// How two stored files differ; a failure if the candidate cannot be read or has another shape.
pub(super) fn difference(
    base: &Dumped,
    candidate: &Dumped,
    store: &Store,
) -> Result<Result<LogitsDifference, Failure>, StoreError> {
    let digests = (base.sha256.as_str(), candidate.sha256.as_str());
    if let Some(known) = store.logits_difference(digests.0, digests.1) {
        return Ok(Ok(known));
    }
    let first = store.checked_dump(base)?;
    let is_same = base.sha256 == candidate.sha256;
    let second = if is_same { first.clone() } else { store.checked_dump(candidate)? };
    let paths = [first, second];
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let settings = Settings { threads, guard: None };
    let compared = Dump::open(&paths[0], None).and_then(|base| {
        let candidate = Dump::open(&paths[1], None)?;
        compare(&base, &candidate, &settings, &|| false)
    });
    match compared {
        Ok(compared) => {
            let difference = compared.difference();
            store.put_logits_difference(digests.0, digests.1, &difference)?;
            Ok(Ok(difference))
        }
        Err(error) => failed(error, candidate, &paths[1]),
    }
}

/// A malformed file is the commit's fault; an unreadable disk is not.
fn failed<T>(
    error: DumpError,
    candidate: &Dumped,
    stored: &PathBuf,
) -> Result<Result<T, Failure>, StoreError> {
    let (why, detail) = match error {
        DumpError::Open { path, source } | DumpError::Read { path, source, .. } => {
            return Err(StoreError::Io { path, source });
        }
        // The file's name in the store means nothing to users.
        DumpError::Format { path, what, .. } if path == *stored => {
            (Unreadable::NoLogits, format!("{}: {what}", candidate.path))
        }
        DumpError::Mismatch { what, .. } => (
            Unreadable::OtherLogits,
            format!("its logits cannot be compared with the good end's: {what}"),
        ),
        other => (Unreadable::NoLogits, other.to_string()),
    };
    Ok(Err(Failure::unreadable(why, detail)))
}

fn reading(measure: &str, found: &LogitsDifference, is_compared: bool) -> Result<Reading, Failure> {
    if let Some(broken) = found.non_finite.iter().find(|one| one.file == LogitsSide::B) {
        let place = format!("{measure} at position {}, token {}", broken.position, broken.index);
        let number = match broken.value.as_str() {
            "inf" => f64::INFINITY,
            "-inf" => f64::NEG_INFINITY,
            _ => f64::NAN,
        };
        return Err(Failure::not_finite(&place, number));
    }
    // The reference has no NaN. So a position that was left out is infinite in one of the two files
    // only, as with a lost mask.
    if let Some(one) = found.non_finite.first().filter(|_| found.positions_left_out > 0) {
        let place = format!("|Δ| of {measure} at position {}, token {}", one.position, one.index);
        return Err(Failure::not_finite(&place, f64::INFINITY));
    }
    let count = |count: usize| Some(count as f64);
    let shape = [("positions", count(found.positions)), ("vocab", count(found.vocab))];
    let figures = [
        ("identical", Some(f64::from(u8::from(found.identical)))),
        ("max_abs", found.max_abs),
        ("mean_abs", found.mean_abs),
        ("rms", found.rms),
        ("min_cosine", found.min_cosine),
        ("mean_cosine", found.mean_cosine),
        ("mean_kl", found.mean_kl),
        ("p99_kl", found.p99_kl),
        ("max_kl", found.max_kl),
        ("top1_agreement", found.top1_agreement),
    ];
    let figures = figures.into_iter().filter(|_| is_compared);
    let value = |(name, value): (&str, Option<f64>)| {
        Some((Metric::named(measure, name), Value::Number(value?)))
    };
    Ok(Reading {
        values: shape.into_iter().chain(figures).filter_map(value).collect(),
        ..Reading::default()
    })
}
