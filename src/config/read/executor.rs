//! `[executor]`: where a hunt measures, and how much at the same time.

use std::collections::{BTreeMap, BTreeSet};

use super::super::executor::cpus;
use super::super::field::Field;
use super::super::reader::Reader;
use super::super::slurm::{SHORTEST_JOB, check_sbatch_arg};
use super::super::table_reader::TableReader;
use super::super::{
    BuildMode, ConfirmNode, Executor, ExecutorSlot, Measure, Prepare, Slurm, Values,
};

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
    Executor { slots, own: 0, slurm }
}

/// The keys of `kind = "slurm"`; `None` for another kind, which has none of them.
fn slurm(reader: &mut Reader, section: &mut TableReader<'_>, kind: Kind) -> Option<Slurm> {
    section.later(&["container", "build", "measure"]);
    let mut slurm = Slurm { max_jobs: 1, ..Slurm::default() };
    let mut given = Vec::new();
    for (key, place) in [
        ("partition", &mut slurm.partition),
        ("account", &mut slurm.account),
        ("gres", &mut slurm.gres),
        ("constraint", &mut slurm.constraint),
    ] {
        let Some(field) = section.get(key) else { continue };
        *place = field.text(reader).map(str::to_owned);
        if place.as_ref().is_some_and(|text| text.contains(char::is_control)) {
            field.refuse(reader, "has a control character.");
        }
        given.push(field);
    }
    if let Some(field) = section.get("time") {
        slurm.time = field.duration(reader);
        if slurm.time.is_some_and(|time| time < SHORTEST_JOB) {
            field.refuse(reader, "is too short; a job needs at least 5m.");
        }
        given.push(field);
    }
    if let Some(field) = section.get("nodes") {
        if field.count(reader).is_some_and(|nodes| nodes != 1) {
            field.refuse(reader, "jobs of several nodes are not available yet. Allowed: 1");
        }
        given.push(field);
    }
    if let Some(field) = section.get("max_jobs") {
        let most = field.count(reader).unwrap_or(1);
        if most > MOST_JOBS {
            field.refuse(reader, format!("{most} is out of range; allowed: 1 to {MOST_JOBS}"));
        }
        slurm.max_jobs = usize::try_from(most).unwrap_or(1);
        given.push(field);
    }
    if let Some(field) = section.get("confirm") {
        let nodes = &[("same-node", ConfirmNode::Same), ("other-node", ConfirmNode::Other)];
        slurm.confirm = field.choice(reader, nodes, &[]).unwrap_or_default();
        given.push(field);
    }
    if let Some(field) = section.get("sbatch_args") {
        slurm.sbatch_args = field.texts(reader);
        for what in slurm.sbatch_args.iter().filter_map(|word| check_sbatch_arg(word).err()) {
            field.refuse(reader, what);
        }
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

/// The most jobs of one hunt. A search asks about few commits at the same time.
const MOST_JOBS: u32 = 64;

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
