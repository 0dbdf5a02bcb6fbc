//! Parts of a change in words.

use crate::evaluation::{ChangePart, PartOf};
use crate::ui::text;

/// Maximum number of files that a sentence names.
const MOST_PARTS: usize = 4;

/// Maximum number of hunks of a file that a sentence lists.
const MOST_HUNKS: usize = 3;

pub(super) fn named(parts: &[ChangePart]) -> String {
    let mut names: Vec<String> = Vec::new();
    for name in by_file(parts) {
        // Two commits may make the same change.
        if !names.contains(&name) {
            names.push(name);
        }
    }
    if names.len() > MOST_PARTS {
        let more = names.len() - MOST_PARTS;
        names.truncate(MOST_PARTS);
        names.push(format!("{more} more"));
    }
    text::joined(names)
}

/// `a.h`, `hunks 1 and 2 of 3 in src/packed.c`: the hunks of a file in one phrase.
fn by_file(parts: &[ChangePart]) -> Vec<String> {
    let mut groups: Vec<(&ChangePart, Vec<usize>)> = Vec::new();
    for part in parts {
        let (PartOf::Hunk { number, .. } | PartOf::Edit { number, .. }) = part.of else {
            groups.push((part, Vec::new()));
            continue;
        };
        let same = |(first, numbers): &&mut (&ChangePart, Vec<usize>)| {
            first.path == part.path && !numbers.is_empty()
        };
        match groups.iter_mut().find(same) {
            Some((_, numbers)) => numbers.push(number),
            None => groups.push((part, vec![number])),
        }
    }
    let phrase = |(first, numbers): (&ChangePart, Vec<usize>)| match first.of {
        PartOf::Hunk { of, .. } if numbers.len() > MOST_HUNKS => {
            format!("{} of {of} hunks in {}", numbers.len(), first.path)
        }
        PartOf::Hunk { of, .. } if numbers.len() > 1 => {
            let numbers = text::joined(numbers.iter().map(usize::to_string).collect());
            format!("hunks {numbers} of {of} in {}", first.path)
        }
        PartOf::Edit { of, .. } if numbers.len() > MOST_HUNKS => {
            format!("{} of {of} edits in the code that moved to {}", numbers.len(), first.path)
        }
        PartOf::Edit { of, .. } if numbers.len() > 1 => {
            let numbers = text::joined(numbers.iter().map(usize::to_string).collect());
            format!("edits {numbers} of {of} in the code that moved to {}", first.path)
        }
        _ => first.to_string(),
    };
    groups.into_iter().map(|group| text::line(&phrase(group))).collect()
}
