//! This machine beside the one of a report. Pure.

use std::collections::{BTreeMap, BTreeSet};

use crate::oracle::Facts;
use crate::report::{self, Report};
use crate::ui::text;

use super::result::MachineCompared;

/// The differences that may change results: processor, graphics cards, cores, compilers, probes,
/// inherited variables, linked folders. Memory and kernel do not count.
pub(super) fn compared(
    report: &Report,
    links: &BTreeMap<String, String>,
    here: &Facts,
) -> MachineCompared {
    let there = &report.machine;
    let mut differences = Vec::new();
    let mut note = |what: &str, before: &str, now: &str| {
        if before != now {
            let [before, now] = [before, now].map(first_line);
            differences.push(format!("{what}: {now} here, {before} in the report"));
        }
    };
    note("processor", &there.cpu, &here.machine.cpu);
    note("cores", &there.cores.to_string(), &here.machine.cores.to_string());
    note("graphics cards", &list(&there.gpus), &list(&here.machine.gpus));
    if there.cpu == here.machine.cpu && there.gpus == here.machine.gpus {
        let class = |class: &str| format!("class {class}");
        note("processor's features", &class(&there.class), &class(&here.machine.class));
    }
    let now = report::environment(&here.environment, &here.surroundings);
    each(&report.environment, &now, &mut note);
    each(links, &here.links, &mut note);
    MachineCompared { is_alike: differences.is_empty(), differences }
}

fn each(
    before: &BTreeMap<String, String>,
    now: &BTreeMap<String, String>,
    note: &mut impl FnMut(&str, &str, &str),
) {
    let names: BTreeSet<&String> = before.keys().chain(now.keys()).collect();
    for name in names {
        let of = |all: &BTreeMap<String, String>| {
            all.get(name).map_or_else(|| "nothing".to_owned(), |said| said.trim().to_owned())
        };
        note(&text::line(name), &of(before), &of(now));
    }
}

fn list(names: &[String]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

fn first_line(text: &str) -> String {
    text::line(text.lines().next().unwrap_or_default())
}
