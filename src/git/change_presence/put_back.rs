//! The lines of a file that a commit puts back as an older version has them. Pure.

use std::collections::BTreeMap;

use git2::{DiffOptions, Patch};

use crate::git::Hunk;

/// Maximum number of places in which two versions differ.
const MOST_HUNKS: usize = 2000;

/// The hunks between two texts, without context. `None` if they cannot be compared.
pub(super) fn hunks_between(old: &[u8], new: &[u8]) -> Option<Vec<Hunk>> {
    let mut options = DiffOptions::new();
    options.context_lines(0).interhunk_lines(0);
    let patch = Patch::from_buffers(old, None, new, None, Some(&mut options)).ok()?;
    let mut hunks = Vec::new();
    for number in 0..patch.num_hunks() {
        let (hunk, _) = patch.hunk(number).ok()?;
        let range = |start: u32, count: u32| {
            // A side without lines has the number of the line before it.
            let start = if count == 0 { start } else { start.checked_sub(1)? };
            let [start, count] = [start, count].map(usize::try_from);
            let (start, count) = (start.ok()?, count.ok()?);
            Some(start..start + count)
        };
        let old = range(hunk.old_start(), hunk.old_lines())?;
        let new = range(hunk.new_start(), hunk.new_lines())?;
        hunks.push(Hunk { old, new });
    }
    Some(hunks)
}

/// The hunks from `older` to `parent` that a commit takes back. Its text is that of its parent with
/// these hunks as in `older`, and differs from `parent` in nothing else. `None` if it has any other
/// text. Of a hunk that replaces lines by as many others, and of one that only adds or only removes
/// lines, each line may be taken back alone. All arguments are lines.
pub(super) fn put_back(
    older: &[&[u8]],
    parent: &[&[u8]],
    commit: &[&[u8]],
    hunks: Vec<Hunk>,
) -> Option<Vec<Hunk>> {
    let hunks: Vec<Hunk> = hunks.into_iter().flat_map(in_lines).collect();
    if hunks.len() > MOST_HUNKS {
        return None;
    }
    // For each hunk: the places of the commit's text where the hunk may end, where it began then,
    // and whether it is taken back.
    let mut ends: Vec<BTreeMap<usize, (usize, bool)>> = Vec::new();
    let mut begins = vec![0];
    let mut done = 0;
    for hunk in &hunks {
        let common = parent.get(done..hunk.new.start)?;
        let sides = [(parent.get(hunk.new.clone())?, false), (older.get(hunk.old.clone())?, true)];
        let mut next = BTreeMap::new();
        for begin in begins {
            let Some(middle) = end_of(commit, begin, common) else { continue };
            for (side, is_back) in sides {
                if let Some(end) = end_of(commit, middle, side) {
                    next.entry(end).or_insert((begin, is_back));
                }
            }
        }
        begins = next.keys().copied().collect();
        ends.push(next);
        done = hunk.new.end;
    }
    let rest = parent.get(done..)?;
    let is_end = |begin: &usize| end_of(commit, *begin, rest) == Some(commit.len());
    let mut place = begins.into_iter().find(is_end)?;
    let mut back = Vec::new();
    for (hunk, ends) in hunks.into_iter().zip(&ends).rev() {
        let (begin, is_back) = *ends.get(&place)?;
        if is_back {
            back.push(hunk);
        }
        place = begin;
    }
    back.reverse();
    Some(back)
}

/// The end of these lines, if the text has them at this place.
fn end_of(text: &[&[u8]], begin: usize, lines: &[&[u8]]) -> Option<usize> {
    text.get(begin..)?.starts_with(lines).then_some(begin + lines.len())
}

/// The lines of a hunk as hunks of their own, if it is clear which old and new lines belong
/// together; otherwise the hunk.
fn in_lines(hunk: Hunk) -> Vec<Hunk> {
    let Hunk { old, new } = &hunk;
    if old.len() == new.len() {
        let pairs = old.clone().zip(new.clone());
        return pairs.map(|(old, new)| Hunk { old: old..old + 1, new: new..new + 1 }).collect();
    }
    if old.is_empty() {
        let of = |line: usize| Hunk { old: old.clone(), new: line..line + 1 };
        return new.clone().map(of).collect();
    }
    if new.is_empty() {
        let of = |line: usize| Hunk { old: line..line + 1, new: new.clone() };
        return old.clone().map(of).collect();
    }
    vec![hunk]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::parts::lines;

    const OLDER: &str = "a 1\nx\nx\nb 1\nc 1\nx\nx\nd 1\n";

    /// The lines of the parent that the commit takes back, and the older lines that it restores.
    fn told<'t>(older: &'t str, parent: &'t str, commit: &str) -> Option<[Vec<&'t str>; 2]> {
        let hunks = hunks_between(older.as_bytes(), parent.as_bytes()).unwrap();
        let [old, new, now] = [older, parent, commit].map(|text| lines(text.as_bytes()));
        let back = put_back(&old, &new, &now, hunks)?;
        let [old, new] = [older, parent].map(|text| text.lines().collect::<Vec<&str>>());
        let taken = back.iter().flat_map(|hunk| new[hunk.new.clone()].to_vec()).collect();
        let restored = back.iter().flat_map(|hunk| old[hunk.old.clone()].to_vec()).collect();
        Some([taken, restored])
    }

    #[test]
    fn one_of_several_lines_goes_back() {
        let parent = OLDER.replace("a 1", "a 2").replace("b 1", "b 2").replace("c 1", "c 2");
        let one = parent.replace("a 2", "a 1");
        assert_eq!(told(OLDER, &parent, &one), Some([vec!["a 2"], vec!["a 1"]]));
        // Its neighbour stays, though both are in one hunk.
        let one = parent.replace("c 2", "c 1");
        assert_eq!(told(OLDER, &parent, &one), Some([vec!["c 2"], vec!["c 1"]]));
        let all = told(OLDER, &parent, OLDER).unwrap();
        assert_eq!(all, [["a 2", "b 2", "c 2"], ["a 1", "b 1", "c 1"]]);
        assert_eq!(told(OLDER, &parent, &parent), Some([vec![], vec![]]));
    }

    #[test]
    fn added_and_removed_lines_go_back() {
        let parent = OLDER.replace("b 1\n", "").replace("d 1\n", "d 1\ne 1\nf 1\n");
        let without_e = parent.replace("e 1\n", "");
        assert_eq!(told(OLDER, &parent, &without_e), Some([vec!["e 1"], vec![]]));
        let with_b = parent.replace("c 1\n", "b 1\nc 1\n");
        assert_eq!(told(OLDER, &parent, &with_b), Some([vec![], vec!["b 1"]]));
    }

    #[test]
    fn any_other_line_is_no_way_back() {
        let parent = OLDER.replace("a 1", "a 2").replace("b 1", "b 2");
        for other in [
            parent.replace("a 2", "a 1.0"),
            parent.replace("a 2", "a 1").replace("d 1", "d 2"),
            parent.replace("a 2\n", ""),
            format!("{}y\n", parent.replace("a 2", "a 1")),
        ] {
            assert_eq!(told(OLDER, &parent, &other), None, "{other}");
        }
        // Lines that replaced others go away, and those do not come back.
        let parent = OLDER.replace("a 1\n", "a 2\na 3\n");
        assert_eq!(told(OLDER, &parent, &parent.replace("a 2\n", "")), None);
    }
}
