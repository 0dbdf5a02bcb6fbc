//! Commands that ran, as text for people.

use super::model::{MeasuredCommit, Report};

/// A command without the slot, and with placeholders for the names of the commit and its first
/// parent. Two such commands differ only if the recipes differ.
pub(super) fn comparable(argv: &[String], report: &Report, commit: &MeasuredCommit) -> Vec<String> {
    let lineage = report.history.iter().find(|one| one.commit == commit.commit);
    let parent = lineage.and_then(|one| one.parents.first());
    argv.iter()
        .map(|word| {
            let word = from_slot(word, &report.slots, "");
            let word = word.replace(commit.commit.as_str(), "{commit}");
            let word = word.replace(commit.commit.short(), "{short}");
            parent.map_or(word.clone(), |parent| word.replace(parent.as_str(), "{parent}"))
        })
        .collect()
}

/// `/cache/slots/2/build/ppl` as `build/ppl`, or as `../build/ppl` if `way` is `../`.
pub(super) fn from_slot(word: &str, slots: &str, way: &str) -> String {
    let mut rest = word;
    let mut short = String::with_capacity(word.len());
    let folder = format!("{}/", slots.trim_end_matches('/'));
    while let Some((before, after)) = rest.split_once(&folder).filter(|_| folder.len() > 1) {
        short.push_str(before);
        let digits = after.len() - after.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        rest = match after[digits..].strip_prefix('/') {
            Some(inner) if digits > 0 => {
                short.push_str(way);
                inner
            }
            _ => {
                short.push_str(&folder);
                after
            }
        };
    }
    short + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_is_left_out_wherever_it_stands() {
        for (word, short) in [
            ("/c/slots/2/build/ppl", "build/ppl"),
            ("BUILD=/c/slots/10/build:/c/slots/0/src", "BUILD=build:src"),
            ("/c/slots/x/y", "/c/slots/x/y"),
            ("/c/slots/2", "/c/slots/2"),
            ("plain", "plain"),
        ] {
            assert_eq!(from_slot(word, "/c/slots", ""), short);
        }
        assert_eq!(from_slot("/0/a", "", ""), "/0/a");
        assert_eq!(from_slot("/c/slots/2/build/ppl", "/c/slots/", "../"), "../build/ppl");
    }
}
