//! `[executor]`: where a hunt measures, and how much at the same time.

use std::collections::{BTreeMap, BTreeSet};

use super::super::executor::cpus;
use super::super::field::Field;
use super::super::reader::Reader;
use super::super::table_reader::TableReader;
use super::super::{BuildMode, Executor, ExecutorSlot, Measure, Prepare, Values};

/// Kinds that a later version will have.
const LATER: &[&str] = &["slurm"];

/// Reads the table.
pub(super) fn executor(
    reader: &mut Reader,
    root: &mut TableReader<'_>,
    mode: BuildMode,
    measures: &[Measure],
    prepares: &[Prepare],
) -> Executor {
    let mut section = root.section(reader, "executor");
    if let Some(field) = section.get("kind") {
        field.choice(reader, &[("local", ())], LATER);
    }
    let mut slots = Vec::new();
    if let Some(field) = section.get("slots") {
        let items = field.list(reader);
        if items.as_ref().is_some_and(Vec::is_empty) {
            field.refuse(reader, "is empty; give one or more slots, or leave the key out.");
        }
        slots.extend(items.unwrap_or_default().iter().map(|item| slot(reader, item)));
        for what in unequal(&slots) {
            field.refuse(reader, what);
        }
        if mode == BuildMode::Auto && slots.len() > 1 {
            let why = "several slots and build.mode = \"auto\" exclude each other: auto builds all \
                       commits of a search in one slot.";
            field.refuse(reader, why);
        }
        let declared = measures.iter().map(|measure| (&measure.name, &measure.env));
        let declared = declared.chain(prepares.iter().map(|step| (&step.name, &step.env)));
        for (owner, env) in declared {
            let own = slots.iter().flat_map(|slot| slot.env.keys());
            let both: BTreeSet<&String> = own.filter(|name| env.contains_key(*name)).collect();
            for name in both {
                field.refuse(reader, format!("{name} is also in the env of {owner}."));
            }
        }
    }
    section.finish(reader);
    Executor { slots, own: 0 }
}

fn slot(reader: &mut Reader, item: &Field<'_>) -> ExecutorSlot {
    let Some(mut section) = item.section(reader) else { return ExecutorSlot::default() };
    let mut slot = ExecutorSlot::default();
    if let Some(field) = section.get("env") {
        let mut env = BTreeMap::new();
        for (name, value) in field.env(reader) {
            if let Ok(text) = value.fill(&Values::new()) {
                env.insert(name, text);
            } else {
                field.refuse(reader, format!("{name}: a slot's values have no placeholders."));
            }
        }
        slot.env = env;
    }
    if let Some(field) = section.get("cpus")
        && let Some(text) = field.text(reader)
    {
        match cpus(text) {
            Ok(cpus) => slot.cpus = cpus,
            Err(what) => field.refuse(reader, what),
        }
    }
    section.finish(reader);
    slot
}

/// What keeps runs of different slots from being compared, or lets them disturb each other.
fn unequal(slots: &[ExecutorSlot]) -> Vec<String> {
    let mut problems = Vec::new();
    let Some(first) = slots.first() else { return problems };
    if slots.iter().any(|slot| slot.cpus.len() != first.cpus.len()) {
        problems.push(
            "all slots need equally many CPUs; otherwise their runs cannot be compared.".to_owned(),
        );
    }
    if slots.iter().any(|slot| !slot.env.keys().eq(first.env.keys())) {
        problems.push("all slots must set the same variables.".to_owned());
    }
    let mut seen = BTreeSet::new();
    if let Some(cpu) = slots.iter().flat_map(|slot| &slot.cpus).find(|cpu| !seen.insert(**cpu)) {
        problems.push(format!("CPU {cpu} is in two slots."));
    }
    problems
}
