//! Notes what is different from the last hunt with the same endpoint. Otherwise users wonder why
//! the new hunt takes nothing from the store.

use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::store::Store;
use crate::store::journal::{Begun, Event};

use super::open::begun;

impl Driver<'_> {
    /// If the surroundings differ from those of the last hunt with one of these endpoints, notes
    /// the differences.
    pub(crate) fn note_environment_changes(&mut self) -> Result<(), HuntError> {
        let Some(before) = last(&self.oracle.store, &self.begun)? else { return Ok(()) };
        let differences = differences(&self.begun, &before);
        if differences.is_empty() {
            return Ok(());
        }
        let text = format!(
            "no result of hunt {} is used, because the surroundings differ: {}",
            before.hunt,
            differences.join("; ")
        );
        Ok(self.oracle.recorder.event(Event::Note { text })?)
    }
}

/// The beginning of the newest other hunt with one of the same endpoints.
fn last(store: &Store, this: &Begun) -> Result<Option<Begun>, HuntError> {
    let others = store.hunts()?.into_iter().rev().filter(|hunt| hunt.id() != this.hunt);
    // A hunt without a readable beginning measured nothing.
    let mut begun = others.filter_map(|hunt| begun(&hunt).ok());
    Ok(begun.find(|other| {
        let ends = [&other.good.commit, &other.bad.commit];
        ends.contains(&&this.good.commit) || ends.contains(&&this.bad.commit)
    }))
}

/// The differences in what keys contain, besides the commit and the configuration.
fn differences(now: &Begun, before: &Begun) -> Vec<String> {
    let mut told = now.surroundings.changes_since(&before.surroundings);
    let mut differs = |what: &str, now: String, before: String| {
        if now != before {
            told.push(format!("{what}: {now}, was {before}"));
        }
    };
    differs("cores", now.machine.cores.to_string(), before.machine.cores.to_string());
    differs("processor", now.machine.cpu.clone(), before.machine.cpu.clone());
    differs("GPUs", now.machine.gpus.join(", "), before.machine.gpus.join(", "));
    let first_line = |said: &str| format!("`{}`", said.lines().next().unwrap_or_default());
    for (probe, said) in &now.environment {
        let earlier = before.environment.get(probe).map(|said| first_line(said));
        differs(probe, first_line(said), earlier.unwrap_or_else(|| "not asked".to_owned()));
    }
    told
}
