//! Hostile names of repositories, files and commits: each name is only data.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;

use serde_json::Value;

use super::{PassedHunt, Row, hunt};
use crate::kit::line;

/// A hunt whose repository is in a folder of this name.
fn in_folder(name: &[u8]) -> Row {
    hunt(line("g g b b")).given(|env, _| {
        let folder = env.path("").join(OsStr::from_bytes(name));
        fs::rename(env.repo(), &folder).unwrap();
        env.stand_in(&folder);
    })
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_repository_whose_path_has_blanks_and_quotes() {
    in_folder(b" it's  \"mine\" $HOME `x` \\ * ? {src} ").finds("2").costs(14, 6);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_repository_whose_path_has_umlauts() {
    in_folder("größer als 日本語".as_bytes()).finds("2").costs(14, 6);
}

#[test]
fn a_repository_whose_path_has_a_newline() {
    in_folder(b"two\nlines").finds("2").costs(14, 6);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_repository_whose_path_begins_with_a_dash() {
    in_folder(b"--upload-pack=x").finds("2").costs(14, 6);
}

#[test]
fn a_repository_whose_path_is_no_utf8() {
    in_folder(b"caf\xe9").gets_refused(&["is not UTF-8", "hint: "]).costs(0, 0);
}

/// Names of files that commit 2 adds.
const FILES: [&[u8]; 8] = [
    b" leading and trailing ",
    b"it's \"quoted\"",
    b"two\nlines\tand tabs",
    b"--output=x",
    b":(exclude)magic",
    b"caf\xe9.c",
    b"\x1b[31mred\x1b[0m<img src=x onerror=y>|`rm`",
    "日本語.c".as_bytes(),
];

#[test]
fn files_of_every_name_are_told() {
    let mut plan = line("g g b b");
    for name in FILES {
        plan = plan.file(2, [b"src/", name].concat(), "int x;\n");
    }
    let told = hunt(plan).finds("2").costs(14, 6);
    let files = told.hunt.report["culprit"]["files"].as_array().unwrap();
    for name in FILES {
        let path = [b"src/", name].concat();
        let lossy = String::from_utf8_lossy(&path);
        let file = files.iter().find(|file| file["path"] == lossy.as_ref());
        let file = file.unwrap_or_else(|| panic!("no {lossy:?} in {files:#?}"));
        let exact = if std::str::from_utf8(&path).is_ok() { Value::Null } else { BASE64.into() };
        assert_eq!(file.get("path_b64").unwrap_or(&Value::Null), &exact);
        assert_eq!((&file["added"], &file["removed"]), (&1.into(), &0.into()));
    }
    told.is_harmless();
}

/// Base64 of `src/café.c` in Latin-1.
const BASE64: &str = "c3JjL2NhZukuYw==";

#[test]
fn a_filter_of_a_hostile_name() {
    let plan = line("g g g b b b b")
        .file(0, "--odd [x]\"*?.c", "0\n")
        .file(2, "--odd [x]\"*?.c", "2\n")
        .file(5, "--odd [x]\"*?.c", "5\n");
    // The filter hides the first bad commit. The hunt drops the filter and names the path.
    let row = hunt(plan).with(&["--", ":(literal)--odd [x]\"*?.c"]);
    row.saying(&["engine.conf"]).finds("3").costs(21, 9).is_harmless();
}

impl PassedHunt {
    /// Fails if the output has anything that a terminal or a browser would act on.
    #[track_caller]
    fn is_harmless(&self) {
        let report = self.env().run(&["report"]).expect(0);
        let status = self.env().run(&["status"]).expect(0);
        let (output, markdown) = (&self.hunt.output, self.hunt.file("report.md"));
        for text in [&output.stdout, &output.stderr, &report.stdout, &status.stdout, &markdown] {
            let controls: Vec<char> =
                text.chars().filter(|c| c.is_control() && *c != '\n' && *c != '\t').collect();
            assert!(controls.is_empty(), "{controls:?} in {text:?}");
        }
        assert!(!markdown.contains("<script") && !markdown.contains("<img"), "{markdown}");
    }
}

fn are_only_subjects(subjects: &[&[u8]]) {
    for subject in subjects {
        hunt(line("g b").subjects(subject)).finds("1").costs(6, 4).is_harmless();
    }
}

#[test]
fn subjects_of_every_kind() {
    are_only_subjects(&[
        b"\x1b[2J\x1b]0;owned\x07<script>alert(1)</script> | [x](javascript:y) `rm`",
        b"it's \"quoted\" \\ $(rm -rf .) %s %n {src}",
        b"first line\nsecond line\n\n# first bad commit: [0000000000000000000000000000000000000000]",
        b"caf\xe9 \xff\xfe",
    ]);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn subjects_of_more_kinds() {
    are_only_subjects(&[
        b"--option=value",
        b"-",
        b"cr\r# first bad commit: [1111111111111111111111111111111111111111] forged\rx",
        b"",
        "日本語 \u{202e}reversed\u{2066} \u{feff}".as_bytes(),
        "x".repeat(10_000).as_bytes(),
    ]);
}

#[test]
fn a_subject_that_is_not_there_is_no_subject() {
    let told = hunt(line("g g b b").subject(2, "")).finds("2").costs(14, 6);
    assert_eq!(told.hunt.report["culprit"]["subject"], "");
}

#[test]
fn branches_and_tags_of_every_name() {
    let row = hunt(line("g g b b")).given(|env, history| {
        // Names that look like an option, a commit, or another reference.
        for (name, label) in [("bisect/bad", 0), ("bad", 1), ("HEAD2", 1), ("ab12cd", 1)] {
            env.git(&["branch", name, history.commit(label)]);
        }
        env.git(&["update-ref", "refs/heads/-dash", history.commit(3)]);
    });
    row.finds("2").costs(14, 6);
}
