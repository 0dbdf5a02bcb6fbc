//! Derives a sample from a stored run. The output is parsed again each time, so that a changed
//! pattern or tolerance needs no new run.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;

use crate::config::{Config, Measure};
use crate::evaluation::{Ended, Failure, FailureKind, Fault, MachineStates, fault_of};
use crate::measure::Reader;
use crate::process::read_log;
use crate::store::{Store, StoreError, StoredRun};

use super::{Sample, logits};

/// A sample, and who is at fault if it failed.
#[derive(Clone, Debug)]
pub(crate) struct Derived {
    pub(super) sample: Sample,
    pub(super) fault: Option<Fault>,
}

/// The samples that this process derived from stored runs, new ones included: each log is parsed
/// once. The store still checks the log's digest each time. The first key says how the runs are
/// read, the second one is the attempt.
#[derive(Debug, Default)]
pub(crate) struct Derivations(RefCell<BTreeMap<String, BTreeMap<String, Derived>>>);

impl Derived {
    /// Whether the run gave values.
    pub(super) fn is_value(&self) -> bool {
        self.sample.result.is_ok()
    }
}

/// How the runs of a measure are read.
pub(super) struct Derivation<'d> {
    measure: &'d Measure,
    config: &'d Config,
    /// The run that the others are compared with, if the measure needs one.
    reference: Option<&'d StoredRun>,
    store: &'d Store,
    /// Everything here that a sample depends on, as text.
    key: String,
}

impl<'d> Derivation<'d> {
    /// `reference`: the run that the others are compared with, if the measure needs one.
    pub(super) fn new(
        measure: &'d Measure,
        config: &'d Config,
        reference: Option<&'d StoredRun>,
        store: &'d Store,
    ) -> Self {
        let against = reference.map(|reference| &reference.record.attempt);
        let key = format!("{measure:?} {:?} {against:?}", config.requires);
        Self { measure, config, reference, store, key }
    }
}

impl Derivations {
    /// Parses a stored run, or returns the known result.
    pub(super) fn of(&self, run: &StoredRun, how: &Derivation<'_>) -> Result<Derived, StoreError> {
        let attempt = &run.record.attempt;
        if let Some(known) = self.0.borrow().get(&how.key).and_then(|known| known.get(attempt)) {
            return Ok(known.clone());
        }
        let derived = derive(run, how)?;
        let mut all = self.0.borrow_mut();
        all.entry(how.key.clone()).or_default().insert(attempt.clone(), derived.clone());
        Ok(derived)
    }
}

/// Parses a stored run.
fn derive(run: &StoredRun, how: &Derivation<'_>) -> Result<Derived, StoreError> {
    let Derivation { measure, config, reference, store, .. } = *how;
    let log = read_log(&run.log).map_err(StoreError::at(&run.log))?;
    let mut reader = Reader::new(measure, &config.requires);
    for (stream, line) in log.lines() {
        reader.line(stream, line);
    }
    let record = &run.record;
    let out_of_memory = record.machine.as_ref().is_some_and(MachineStates::is_out_of_memory);
    let transient = reader.transient_hit().is_some() || out_of_memory;
    let mut result = match &record.prepare {
        Some(failed) => Err(reader.explain(failed.failure(&record.ended), &record.ended)),
        None => reader.finish(&record.ended),
    };
    if result.is_ok() && measure.parser.is_compared() {
        result = logits::read(run, reference, measure, store)?;
    }
    if out_of_memory && let Err(failure) = &mut result {
        failure.detail += "; the kernel killed a process for lack of memory meanwhile";
    }
    if let Some(taken) = &record.taken_port {
        let plain = || Failure::plain(FailureKind::Incomplete, String::new());
        let mut failure = result.err().unwrap_or_else(plain);
        failure.detail = taken.to_string();
        result = Err(failure);
    }
    let is_port_taken = record.taken_port.is_some();
    let fault = result.as_ref().err().map(|failure| {
        if is_port_taken {
            return Fault::Machine;
        }
        fault_of(&record.ended, failure, transient, ran_in_tree(run))
    });
    // A starved sample makes its commit untestable, and never counts if the control run fails.
    let starved = fault == Some(Fault::Resource);
    Ok(Derived {
        sample: Sample {
            attempt: record.attempt.clone(),
            result,
            starved,
            phase: record.phase,
            hunt: record.hunt.clone(),
            used: record.used,
            stored_at: None,
            built: record.built.clone(),
            loaded: record.loaded.clone(),
        },
        fault,
    })
}

/// Whether the program's path is in the slot, so that the commit should have built it.
fn ran_in_tree(run: &StoredRun) -> bool {
    let record = &run.record;
    let program = match &record.ended {
        // The missing program may be a hook's, or a script's interpreter.
        Ended::NotFound(missing) => Some(missing),
        _ => record.argv.first(),
    };
    program.is_some_and(|program| {
        let program = Path::new(program);
        program.starts_with(&record.slot)
            || (program.is_relative() && program.components().count() > 1)
    })
}
