//! Compares two drafts, to find the keys that an override must set.

use crate::config::PARSER_KEYS;

use super::draft::Draft;
use super::measured::{Measured, Purpose};
use super::set::Setting;

/// Which keys an override sets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct OverrideKeys {
    pub(super) commands: bool,
    pub(super) command: bool,
    pub(super) reading: bool,
}

impl OverrideKeys {
    pub(super) fn or(self, other: Self) -> Self {
        Self {
            commands: self.commands || other.commands,
            command: self.command || other.command,
            reading: self.reading || other.reading,
        }
    }
}

/// The keys that overrides may set: all except those that the user set with `--set`.
pub(super) fn free(draft: &Draft, settings: &[Setting]) -> OverrideKeys {
    let Some(first) = draft.measures.first() else {
        let commands = !settings.iter().any(Setting::names_build);
        return OverrideKeys { commands, ..OverrideKeys::default() };
    };
    let is_set = |key: &str| settings.iter().any(|s| s.is_of_measure(first.name, key));
    OverrideKeys {
        commands: !settings.iter().any(Setting::names_build),
        command: !is_set("command"),
        reading: !is_set("parser") && !PARSER_KEYS.iter().any(|key| is_set(key)),
    }
}

/// The keys in which two drafts differ. Keys that `free` does not let an override set are left out.
pub(super) fn differing_keys(a: &Draft, b: &Draft, free: OverrideKeys) -> OverrideKeys {
    let command = |draft: &Draft| draft.measures.first().map(|m| m.command.clone());
    let read = |draft: &Draft| draft.measures.first().map(reading);
    OverrideKeys {
        commands: free.commands && a.own_commands() != b.own_commands(),
        command: free.command && command(a) != command(b),
        reading: free.reading && read(a) != read(b),
    }
}

/// The keys of a measure that say how its output is read.
pub(super) fn reading(measured: &Measured) -> Vec<String> {
    let keys = measured.reading.keys();
    keys.into_iter().map(|(key, value)| format!("{key} = {value}")).collect()
}

/// Whether an older commit measures the same thing. An override can neither rename a measure
/// nor change the metric of its guard.
pub(super) fn is_comparable(old: &Draft, new: &Draft) -> bool {
    match (old.measures.first(), new.measures.first()) {
        (None, None) => true,
        (Some(old), Some(new)) => {
            old.name == new.name
                && old.reading.metrics() == new.reading.metrics()
                && (old.purpose != Purpose::Suite || is_same_suite(old, new))
        }
        _ => false,
    }
}

fn is_same_suite(old: &Measured, new: &Measured) -> bool {
    old.program.name == new.program.name && reading(old) == reading(new)
}
