//! Compares the configurations of two builds.

use std::collections::{BTreeMap, BTreeSet};

use crate::evaluation::{Compiled, Difference, DifferenceIn, Setup, Spread, Unit};

/// The default path of CMake's cache.
const MAIN_CACHE: &str = "{build}/CMakeCache.txt";

/// The differences, and the kinds that could be compared because both builds have them.
pub(crate) fn setups(before: &Setup, now: &Setup) -> (Vec<Difference>, Vec<DifferenceIn>) {
    let mut found = Vec::new();
    let mut compared = Vec::new();
    let groups = [
        (DifferenceIn::CmakeCache, &before.caches, &now.caches),
        (DifferenceIn::Package, &before.packages, &now.packages),
    ];
    for (kind, before, now) in groups {
        for (place, before) in before {
            let Some(now) = now.get(place) else { continue };
            compared.push(kind);
            let differing = entries(kind, before, now).into_iter();
            found.extend(differing.map(|one| match place.as_str() {
                MAIN_CACHE => one,
                place => one.in_place(place.strip_prefix("{src}/").unwrap_or(place)),
            }));
        }
    }
    if !before.probes.is_empty() && !now.probes.is_empty() {
        compared.push(DifferenceIn::Probe);
        found.extend(entries(DifferenceIn::Probe, &before.probes, &now.probes));
    }
    let units =
        [(Unit::File, &before.files, &now.files), (Unit::Target, &before.targets, &now.targets)];
    for (unit, before, now) in units {
        if !before.is_empty() && !now.is_empty() {
            compared.extend([DifferenceIn::Flag, DifferenceIn::CompiledFile]);
            found.extend(flags(unit, before, now));
            found.extend(compiled(before, now));
        }
    }
    (found, compared)
}

fn entries(
    kind: DifferenceIn,
    before: &BTreeMap<String, String>,
    now: &BTreeMap<String, String>,
) -> Vec<Difference> {
    let names: BTreeSet<&String> = before.keys().chain(now.keys()).collect();
    let sides = names.into_iter().map(|name| (name, [before.get(name), now.get(name)]));
    let differing = sides.filter(|(_, [before, now])| before != now);
    differing
        .map(|(name, sides)| Difference::named(kind, name, sides.map(|s| s.map(String::as_str))))
        .collect()
}

/// Files or targets that only one build compiles.
fn compiled(before: &Compiled, now: &Compiled) -> Vec<Difference> {
    let names: BTreeSet<&String> = before.by.keys().chain(now.by.keys()).collect();
    let one = |name: &String| {
        let side = |compiled: &Compiled| compiled.by.contains_key(name).then_some("compiled");
        let sides = [side(before), side(now)];
        let shown = name.strip_prefix("{src}/").unwrap_or(name);
        (sides[0] != sides[1]).then(|| Difference::named(DifferenceIn::CompiledFile, shown, sides))
    };
    names.into_iter().filter_map(one).collect()
}

type Pair<'a> = (Option<&'a str>, Option<&'a str>);

/// Flags that differ, the most frequent first.
fn flags(unit: Unit, before: &Compiled, now: &Compiled) -> Vec<Difference> {
    let mut how_often: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    for (name, old) in &before.by {
        if let Some(new) = now.by.get(name) {
            *how_often.entry((*old, *new)).or_default() += 1;
        }
    }
    let of = how_often.values().sum();
    let mut counted: BTreeMap<Pair<'_>, usize> = BTreeMap::new();
    for ((old, new), count) in &how_often {
        let commands = [before.commands.get(*old), now.commands.get(*new)];
        let [Some(old), Some(new)] = commands else { continue };
        for pair in pairs(old, new) {
            *counted.entry(pair).or_default() += count;
        }
    }
    let mut counted: Vec<_> = counted.into_iter().collect();
    counted.sort_by_key(|((before, _), count)| (std::cmp::Reverse(*count), before.is_none()));
    let told = counted.into_iter().map(|((before, now), count)| Difference {
        kind: DifferenceIn::Flag,
        name: None,
        place: None,
        before: before.map(str::to_owned),
        now: now.map(str::to_owned),
        spread: Some(Spread { count, of, unit }),
    });
    told.collect()
}

/// Words that only one of two commands has. A word that replaces another is paired with it.
fn pairs<'a>(before: &'a [String], now: &'a [String]) -> Vec<Pair<'a>> {
    let families = |words: &'a [String]| {
        let mut families: BTreeMap<String, Vec<&'a str>> = BTreeMap::new();
        for word in words {
            families.entry(family(word)).or_default().push(word);
        }
        families
    };
    let (before, now) = (families(before), families(now));
    let names: BTreeSet<&String> = before.keys().chain(now.keys()).collect();
    let mut found = Vec::new();
    for name in names {
        let of =
            |side: &BTreeMap<String, Vec<&'a str>>| side.get(name).cloned().unwrap_or_default();
        let (old, new) = (of(&before), of(&now));
        let gone: Vec<&str> = old.iter().copied().filter(|word| !new.contains(word)).collect();
        let came: Vec<&str> = new.iter().copied().filter(|word| !old.contains(word)).collect();
        match (gone.as_slice(), came.as_slice()) {
            ([gone], [came]) => found.push((Some(*gone), Some(*came))),
            // The last flag of a family counts: `-O3` in `-O2 -O3`.
            ([], []) if has_last_word(name) && old.last() != new.last() => {
                found.push((old.last().copied(), new.last().copied()));
            }
            _ => {
                found.extend(gone.into_iter().map(|word| (Some(word), None)));
                found.extend(came.into_iter().map(|word| (None, Some(word))));
            }
        }
    }
    found
}

/// Whether only the last word of the family counts.
fn has_last_word(family: &str) -> bool {
    !family.is_empty() && !["-I", "-L", "-l"].contains(&family)
}

/// The option that a word sets. Words of one family set the same option.
fn family(word: &str) -> String {
    if !word.starts_with('-') {
        return String::new();
    }
    for start in ["-I", "-L", "-l", "-O"] {
        if word.starts_with(start) {
            return start.to_owned();
        }
    }
    for start in ["-f", "-m", "-W"] {
        if let Some(negated) = word.strip_prefix(start).and_then(|rest| rest.strip_prefix("no-")) {
            return format!("{start}{}", negated.split('=').next().unwrap_or(negated));
        }
    }
    // `-isystem x`, `-gencode x`: values add up, so each one is its own family.
    if word.contains(' ') {
        return word.to_owned();
    }
    word.split('=').next().unwrap_or(word).to_owned()
}

#[cfg(test)]
mod tests;
