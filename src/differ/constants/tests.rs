use super::*;

fn lines(path: &str, removed: &[&str], added: &[&str]) -> ChangedLines {
    let owned = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect();
    ChangedLines {
        path: path.to_owned(),
        removed: owned(removed),
        added: owned(added),
        ..ChangedLines::default()
    }
}

fn told(change: &[ChangedLines]) -> Vec<String> {
    constants(change).iter().map(ToString::to_string).collect()
}

#[test]
fn a_value_that_changed_is_told_with_its_file() {
    let change = [
        lines("k/attn.cu", &["#define THREADS 384", "f(x);"], &["#define THREADS 128", "f(x, y);"]),
        lines("ops.py", &["        num_warps=8,"], &["        num_warps=4,"]),
        lines("notes.md", &["#define THREADS 1"], &["#define THREADS 2"]),
    ];
    let words = ["THREADS: 384 → 128 in k/attn.cu", "num_warps: 8 → 4 in ops.py"];
    assert_eq!(told(&change), words);
}

#[test]
fn what_only_moved_or_got_a_comment_is_not_told() {
    let same =
        lines("a.h", &["#define A 1", "#define B 2"], &["#define B  2", "#define A 1 // one"]);
    assert_eq!(told(&[same]), [""; 0]);
    let moved = [lines("a.h", &["#define A 1"], &[]), lines("b.h", &[], &["#define A 1"])];
    assert_eq!(told(&moved), [""; 0]);
}

#[test]
fn a_name_that_has_several_values_in_a_file_is_paired_in_order() {
    let change = [lines(
        "a.h",
        &["#define N 4", "#define N 8", "#define N 16"],
        &["#define N 8", "#define N 2", "#define N 1"],
    )];
    assert_eq!(told(&change), ["N: 4 → 2 in a.h", "N: 16 → 1 in a.h"]);
}

#[test]
fn what_comes_or_goes_is_told_unless_its_whole_file_does() {
    let new = ChangedLines { is_new: true, ..lines("new.h", &[], &["#define A 1", "#define B 7"]) };
    let gone =
        ChangedLines { is_gone: true, ..lines("old.h", &["#define B 8", "#define C 1"], &[]) };
    let kept = lines("kept.h", &["#define D 1"], &["int count = 0;", "#define FAST"]);
    let words =
        ["B: 8 → 7 in new.h", "D: 1 (no longer) in kept.h", "FAST: (empty) (only now) in kept.h"];
    assert_eq!(told(&[new, gone, kept]), words);
}

#[test]
fn a_long_value_is_cut_only_where_it_is_told() {
    let value = |last: char| format!("constexpr char T[] = \"{}{last}\";", "x".repeat(300));
    let change = [lines("a.cpp", &[&value('1')], &[&value('2')])];
    let found = constants(&change);
    assert_eq!(found.len(), 1);
    assert!(found[0].now.as_ref().unwrap().ends_with("xx…"));
}

#[test]
fn a_constant_that_the_build_did_not_use_is_no_clue() {
    let places = ["Makefile", "CMakeLists.txt", "src/attn.c", "src/other.c", "src/attn.h"];
    let left = |builds: [&Setup; 2]| {
        let one = |place: &str| told_in(place);
        let mut found: Vec<_> = places.iter().map(|place| one(place)).collect();
        used(&mut found, builds);
        found.into_iter().filter_map(|one| one.place).collect::<Vec<_>>()
    };
    let mut cmake = Setup::default();
    cmake.caches.insert("{build}/CMakeCache.txt".to_owned(), std::collections::BTreeMap::new());
    let mut make = Setup::default();
    make.files.add("{src}/src/attn.c", vec!["cc".to_owned()]);
    let nothing = Setup::default();
    assert_eq!(left([&nothing, &nothing]), places);
    assert_eq!(left([&cmake, &cmake]), places[1..]);
    assert_eq!(left([&make, &make]), ["Makefile", "src/attn.c", "src/attn.h"]);
    // One of the builds is not known.
    assert_eq!(left([&nothing, &make]), places);
}

fn told_in(place: &str) -> Difference {
    Difference::named(DifferenceIn::Constant, "N", [Some("1"), Some("2")]).in_place(place)
}
