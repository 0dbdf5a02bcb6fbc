//! `[executor]`: where a hunt measures, and how much at the same time.

use std::collections::{BTreeMap, BTreeSet};

use super::super::document::Data;
use super::super::executor::cpus;
use super::super::field::Field;
use super::super::reader::Reader;
use super::super::table_reader::TableReader;
use super::super::{
    BuildMode, ConfirmNode, Executor, ExecutorSlot, JobOptions, Measure, Prepare, Slurm, Values,
};
use super::jobs::job_options;

/// Where the slots are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Local,
    Slurm,
}

/// Reads the table.
pub(super) fn executor(
    reader: &mut Reader,
    root: &mut TableReader<'_>,
    mode: BuildMode,
    measures: &[Measure],
    prepares: &[Prepare],
) -> Executor {
    let mut section = root.section(reader, "executor");
    let kinds = &[("local", Kind::Local), ("slurm", Kind::Slurm)];
    let field = section.get("kind");
    let kind = field.as_ref().and_then(|field| field.choice(reader, kinds, &[]));
    if let Some(field) = field.filter(|_| kind == Some(Kind::Slurm) && mode == BuildMode::Auto) {
        let why = "\"slurm\" and build.mode = \"auto\" exclude each other: each job builds in a \
                   folder of its own.";
        field.refuse(reader, why);
    }
    let slurm = slurm(reader, &mut section, kind.unwrap_or(Kind::Local));
    let mut slots = Vec::new();
    if let Some(field) = section.get("slots") {
        if kind == Some(Kind::Slurm) {
            field.refuse(reader, "is for kind = \"local\"; use `max_jobs`.");
        }
        let items = match field.node.data {
            Data::List(_) => field.list(reader),
            _ => field.expected(
                reader,
                "an array with a table for each slot, or no key and `start --slots N` for N equal \
                 slots",
            ),
        };
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
    section.elsewhere("cpus", "each slot has its own: `slots = [{ cpus = \"0-3\" }]`");
    section.elsewhere("env", "each slot has its own: `slots = [{ env = { NAME = \"value\" } }]`");
    section.finish(reader);
    Executor { slots, own: 0, slurm }
}

/// The keys of `kind = "slurm"`; `None` for another kind, which has none of them.
fn slurm(reader: &mut Reader, section: &mut TableReader<'_>, kind: Kind) -> Option<Slurm> {
    let mut slurm = Slurm::default();
    let (measure, mut given) = job_options(reader, section);
    slurm.measure = measure;
    if let Some(field) = section.get("measure") {
        if let Some(own) = given.first() {
            let key = own.key.rsplit('.').next().unwrap_or_default();
            let what = format!(
                "`{key}` is in [executor] too; write all keys of the jobs that measure in \
                 [executor.measure]."
            );
            field.refuse(reader, what);
        }
        slurm.measure = table(reader, &field);
        given.push(field);
    }
    if let Some(field) = section.get("build") {
        slurm.build = Some(table(reader, &field));
        given.push(field);
    }
    if let Some(field) = section.get("confirm") {
        let nodes = &[("same-node", ConfirmNode::Same), ("other-node", ConfirmNode::Other)];
        slurm.confirm = field.choice(reader, nodes, &[]).unwrap_or_default();
        given.push(field);
    }
    if kind == Kind::Slurm {
        return Some(slurm);
    }
    for field in given {
        field.refuse(reader, "needs kind = \"slurm\".");
    }
    None
}

/// A table of its own for jobs of one kind.
fn table(reader: &mut Reader, field: &Field<'_>) -> JobOptions {
    let Some(mut section) = field.section(reader) else { return JobOptions::default() };
    let (options, _) = job_options(reader, &mut section);
    section.finish(reader);
    options
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
    if let Some(field) = section.get("cpus") {
        let text = match field.node.data {
            Data::Text(_) => field.text(reader),
            _ => field.expected(reader, "CPUs in quotes, such as \"0-3,8\""),
        };
        match text.map(cpus) {
            Some(Ok(cpus)) => slot.cpus = cpus,
            Some(Err(what)) => field.refuse(reader, what),
            None => {}
        }
    }
    section.finish(reader);
    slot
}

/// What keeps runs of different slots from being compared, or lets them disturb each other.
fn unequal(slots: &[ExecutorSlot]) -> Vec<String> {
    let mut problems = Vec::new();
    let Some(first) = slots.first() else { return problems };
    let numbered = || slots.iter().enumerate().map(|(place, slot)| (place + 1, slot));
    if let Some((other, slot)) = numbered().find(|(_, slot)| slot.cpus.len() != first.cpus.len()) {
        let cpus = |slot: &ExecutorSlot| match slot.cpus.len() {
            0 => "has no `cpus`".to_owned(),
            count => format!("has {count}"),
        };
        problems.push(format!(
            "all slots need equally many CPUs; otherwise their runs cannot be compared. Slot 1 {}, \
             slot {other} {}.",
            cpus(first),
            cpus(slot)
        ));
    }
    let unset = numbered().find_map(|(other, slot)| {
        let lacks = |slot: &ExecutorSlot, by: &ExecutorSlot| {
            slot.env.keys().find(|name| !by.env.contains_key(*name)).cloned()
        };
        let in_first = lacks(first, slot).map(|name| (name, 1, other));
        in_first.or_else(|| lacks(slot, first).map(|name| (name, other, 1)))
    });
    if let Some((name, set, unset)) = unset {
        problems.push(format!(
            "all slots must set the same variables. Slot {set} sets {name}, slot {unset} does not."
        ));
    }
    let mut seen = BTreeSet::new();
    if let Some(cpu) = slots.iter().flat_map(|slot| &slot.cpus).find(|cpu| !seen.insert(**cpu)) {
        problems.push(format!("CPU {cpu} is in two slots."));
    }
    problems
}
