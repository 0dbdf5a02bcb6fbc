//! Hostile engines: their output is only data.

use super::hunt;
use crate::kit::line;

#[test]
fn escape_sequences_nuls_and_broken_utf8() {
    let say =
        "say = \\e[31mred\\e[0m\\a \\x00 \\xff\\xfe <img src=x onerror=y> \\e]8;;http://evil\\a";
    let told = hunt(line("g g b b").with_all(say)).finds("2").costs(14, 6);
    let (output, markdown) = (&told.hunt.output, told.hunt.file("report.md"));
    for text in [&output.stdout, &output.stderr, &markdown] {
        let controls = text.chars().filter(|c| c.is_control() && *c != '\n' && *c != '\t');
        assert_eq!(controls.count(), 0, "{text:?}");
    }
    // The diff quotes the engine's file in code.
    assert!(!outside_code(&markdown).contains("<img"), "{markdown}");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_line_of_five_mebibytes() {
    hunt(line("g g b b").with(2, "flood_mib = 5")).finds("2").costs(14, 6);
}

#[test]
fn an_estimate_before_the_last_one_does_not_count() {
    let fake = "say_out = Final estimate: PPL = 1.0000 +/- 0.1";
    hunt(line("g g b b").with_all(fake)).finds("2").costs(14, 6);
}

#[test]
fn an_estimate_of_another_kind_on_the_other_stream_is_no_figure() {
    // Chance decides which of the two streams comes last.
    let fake = "say_err = Final estimate: PPL = 1.0000 +/- 0.1";
    hunt(line("g g g b b b b").with(2, fake)).leaves("2 3").costs(7, 5);
    let row = hunt(line("g g b b").with_all(fake)).saying(&["on stdout and 1 on stderr"]);
    row.cannot_be_measured().costs(4, 2);
}

#[test]
fn a_failing_engine_that_says_hostile_things() {
    let say = "say = \\e]0;owned\\a | <script>alert(1)</script> \\x00\\xff";
    let told = hunt(line("g g e e").with_all(say)).finds("2").costs(16, 6);
    let markdown = told.hunt.file("report.md");
    assert!(!outside_code(&markdown).contains("<script"), "{markdown}");
    assert!(markdown.contains("<script>alert(1)</script>"), "quoted in code: {markdown}");
    assert!(!markdown.contains('\u{1b}'), "{markdown}");
}

/// A page of Markdown without its code blocks, where nothing is interpreted.
fn outside_code(markdown: &str) -> String {
    let blocks = markdown.split("\n```");
    blocks.step_by(2).collect()
}

#[test]
fn a_build_that_says_hostile_things() {
    let says = "build_says = \\e]0;owned\\a <script>alert(1)</script>";
    let told = hunt(line("g g g x b b b").with_all(says)).leaves("3 4").costs(6, 6);
    let markdown = told.hunt.file("report.md");
    assert!(!markdown.contains('\u{1b}'), "{markdown}");
    // In a fence, such as the diffs of the candidates, it is text as it stands.
    let outside: String = markdown.split("```").step_by(2).collect();
    assert!(!outside.contains("<script"), "{markdown}");
}
