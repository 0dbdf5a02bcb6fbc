use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::git::tests::Fixture;

fn numbered(lines: impl IntoIterator<Item = usize>) -> String {
    lines.into_iter().fold(String::new(), |text, number| text + &format!("line {number};\n"))
}

/// What `new.c` consists of in the change from `old` to `new`. An empty text means no file.
fn moved(old: &[(&str, &str)], new: &[(&str, &str)]) -> Option<MovedCode> {
    let fixture = Fixture::new();
    let before = fixture.commit("before", old);
    let after = fixture.commit("after", new);
    let history = fixture.history();
    let files = history.changed_files(&before, &after).unwrap();
    let files: Vec<&ChangedFile> = files.iter().collect();
    let lines = history.line_sets(&files).unwrap();
    let place = files.iter().position(|file| file.shown_path() == "new.c").unwrap();
    history.moved_code(&files, &lines, place).unwrap()
}

fn shown(moved: &MovedCode) -> Vec<[String; 2]> {
    let edits = (0..moved.split.hunks.len()).map(|edit| moved.split.lines_of(edit));
    let text = |lines: Vec<&[u8]>| String::from_utf8(lines.concat()).unwrap();
    edits.map(|sides| sides.map(text)).collect()
}

#[test]
fn a_line_that_gets_lost_on_the_way_is_an_edit() {
    let old = numbered(0..40);
    let left = numbered(0..20);
    // Line 30 is lost, and line 35 is another one.
    let new = numbered((20..30).chain(31..40)).replace("line 35", "row 35");
    let found = moved(&[("old.c", &old)], &[("old.c", &left), ("new.c", &new)]).unwrap();
    assert_eq!(found.from, "old.c");
    let lost = ["line 30;\n".to_owned(), String::new()];
    let other = ["line 35;\n".to_owned(), "row 35;\n".to_owned()];
    assert_eq!(shown(&found), [lost, other]);
    assert_eq!(found.split.old, numbered(20..40).as_bytes());
    assert_eq!(found.split.with(|_| true), new.as_bytes());
    let healed = numbered(20..40).replace("line 35", "row 35");
    assert_eq!(found.split.with(|edit| edit == 1), healed.as_bytes());
}

#[test]
fn what_stays_or_moves_elsewhere_is_not_lost() {
    let old = numbered(0..40);
    // Lines 20 and 21 stay, line 30 goes to a third file, and line 50 comes from there.
    let left = numbered((0..20).chain([20, 21]));
    let new = numbered((22..30).chain(31..40).chain([50])) + "more;\n";
    let third = [numbered([50, 51, 52]), numbered([30, 51, 52])];
    let found = moved(
        &[("old.c", &old), ("third.c", &third[0])],
        &[("old.c", &left), ("third.c", &third[1]), ("new.c", &new)],
    );
    assert_eq!(shown(&found.unwrap()), [[String::new(), "line 50;\nmore;\n".to_owned()]]);
}

#[test]
fn new_code_and_a_plain_move_have_no_edits() {
    let old = numbered(0..40);
    let left = numbered(0..20);
    let plain = numbered(20..40);
    assert_eq!(moved(&[("old.c", &old)], &[("old.c", &left), ("new.c", &plain)]), None);
    let other = numbered(100..140);
    assert_eq!(moved(&[("old.c", &old)], &[("old.c", &left), ("new.c", &other)]), None);
    // A copy: nothing left the old file.
    let more = format!("{old}more;\n");
    assert_eq!(moved(&[("old.c", &old)], &[("old.c", &more), ("new.c", &plain)]), None);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    /// Each line of the old text stays, moves, moves with an edit, or is lost.
    #[test]
    fn all_edits_give_the_new_file_and_none_gives_the_moved_lines(fates in vec(0_u8..5, 1..40)) {
        let numbered = || fates.iter().enumerate();
        let line = |number: usize| format!("line {number};\n");
        let old: String = numbered().map(|(number, _)| line(number)).collect();
        let new: String = numbered().filter_map(|(number, fate)| match fate {
            1 | 2 => Some(line(number)),
            3 => Some(format!("row {number};\n")),
            _ => None,
        }).collect();
        let base: String =
            numbered().filter(|(_, fate)| **fate != 0).map(|(number, _)| line(number)).collect();
        let kept: Vec<bool> = fates.iter().map(|fate| *fate == 0).collect();
        let mut hunks: Vec<Hunk> = Vec::new();
        let mut at = 0;
        for (number, fate) in numbered() {
            let added = usize::from(*fate == 3);
            if !matches!(fate, 1 | 2) {
                let hunk = Hunk { old: number..number + 1, new: at..at + added };
                match hunks.last_mut().filter(|last| last.old.end == number) {
                    Some(last) => (last.old.end, last.new.end) = (hunk.old.end, hunk.new.end),
                    None => hunks.push(hunk),
                }
            }
            at += usize::from(matches!(fate, 1..=3));
        }
        let nowhere = Elsewhere { removed: BTreeSet::new(), added: BTreeSet::new() };
        let split = edits(old.as_bytes(), &kept, new.as_bytes(), &hunks, &nowhere);
        let is_edited = fates.iter().any(|fate| *fate > 2);
        prop_assert_eq!(split.is_some(), is_edited);
        let Some(split) = split else { return Ok(()) };
        prop_assert_eq!(split.with(|_| true), new.into_bytes());
        // With several lines in a hunk the old ones come first, in their order.
        prop_assert_eq!(split.with(|_| false), base.into_bytes());
    }
}
