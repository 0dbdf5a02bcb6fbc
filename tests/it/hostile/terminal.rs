//! What a terminal is sent of a hostile commit message. `script` (util-linux) makes the terminal.

use crate::kit::{Oracle, TestEnvironment, line};

/// Control characters, changes of direction, and invisible characters.
const HOSTILE: &str =
    "\u{9b}31mC1 \u{202e}txt.exe\u{202c} \u{1b}[2J\u{1b}]0;title\u{7} \u{e0041}end";

/// A hunt whose first bad commit has a hostile subject.
fn hunted() -> TestEnvironment {
    let env = TestEnvironment::new();
    line("g g b").build(&env);
    env.git(&["commit", "--quiet", "--amend", "-m", HOSTILE]);
    Oracle::new(&env).write(&env);
    env.hunt().expect(0, "culprit");
    env
}

#[test]
fn a_terminal_gets_no_character_that_it_obeys() {
    let env = hunted();
    let styles = regex::Regex::new("\u{1b}\\[[0-9;]*m").unwrap();
    for command in ["log", "status", "report", "report --format json", "status --json", "store ls"]
    {
        let line = format!("{} {command}", TestEnvironment::product());
        let output = env.tool(&env.repo(), "script", &["-qec", &line, "/dev/null"]).expect(0);
        let shown = styles.replace_all(&output.stdout, "");
        for c in ['\u{9b}', '\u{202e}', '\u{202c}', '\u{1b}', '\u{7}', '\u{e0041}'] {
            assert!(!shown.contains(c), "{command}: {c:?} in {shown:?}");
        }
        assert!(shown.contains("txt.exe") || command == "store ls", "{command}: {shown}");
    }
}

#[test]
fn a_file_with_a_log_or_a_report_is_safe_to_show_and_a_report_says_the_same() {
    let env = hunted();
    let subject = |text: &str| {
        let report: serde_json::Value = serde_json::from_str(text).unwrap();
        report["culprit"]["subject"].as_str().unwrap().to_owned()
    };
    let json = env.run(&["report", "--format", "json"]).expect(0).stdout;
    assert!(subject(&json).contains('\u{202e}'), "{json}");
    let log = env.run(&["log"]).expect(0).stdout;
    for text in [&json, &log] {
        assert!(!text.contains(['\u{9b}', '\u{202e}', '\u{202c}', '\u{1b}', '\u{7}']), "{text:?}");
    }
}
