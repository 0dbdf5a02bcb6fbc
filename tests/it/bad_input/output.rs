//! Output to a closed stream, to a full disk, and to a reader that stops early.

use super::{plain, seen};
use crate::kit::{Output, TestEnvironment};

fn hunted() -> TestEnvironment {
    let env = plain("g g b b");
    env.hunt().expect(0, "culprit");
    env
}

fn shell(env: &TestEnvironment, script: &str) -> Output {
    env.tool(&env.repo(), "bash", &["-c", script])
}

#[test]
fn a_report_into_a_place_that_takes_none() {
    let env = hunted();
    let report = |place: &str| seen(&env, &env.run(&["report", "-o", place]));
    insta::assert_snapshot!(report("no/such/folder/report.md"), @r"
    exit code 2
    error: cannot write [ROOT]/repo/no/such/folder/report.md: there is no folder [ROOT]/repo/no/such/folder
    hint: make it (mkdir -p [ROOT]/repo/no/such/folder), or correct the path
    ");
    insta::assert_snapshot!(report("."), @r"
    exit code 2
    error: cannot write [ROOT]/repo: it is a folder
    hint: name a file in it
    ");
    insta::assert_snapshot!(report("/dev/full"), @r"
    exit code 5
    error: cannot write /dev/full
    caused by: No space left on device (os error 28)
    hint: free some space there, or name another place
    ");
    assert!(!env.repo().join("no").exists(), "a folder that may be misspelt was made");
}

#[test]
fn a_report_into_a_pipe_does_not_replace_it() {
    let env = hunted();
    let plain = shell(&env, "bisect-ppl report").expect(0).stdout;
    // Links begin where the text is written: standard output is a file beside the repository.
    assert!(plain.contains("(../repo/.git/"), "{plain}");
    let plain = plain.replace("(../repo/.git/", "(.git/");
    let piped = shell(&env, "mkfifo p && (bisect-ppl report -o p & cat p; wait)").expect(0).stdout;
    assert_eq!(piped, plain);
    assert_eq!(shell(&env, "test -p p && echo still a pipe").stdout, "still a pipe\n");
    // `/dev/stdout` is such a link too.
    let link = "ln -s /proc/self/fd/1 out && bisect-ppl report -o out && test -L out";
    assert_eq!(shell(&env, link).expect(0).stdout, plain);
}

#[test]
fn a_full_disk_behind_standard_output() {
    let env = hunted();
    insta::assert_snapshot!(seen(&env, &shell(&env, "bisect-ppl report > /dev/full")), @r"
    exit code 5
    error: cannot write to standard output
    caused by: No space left on device (os error 28)
    hint: free some space there, and run the command again
    ");
    for command in ["status", "log", "store ls", "schema", "man", "completions zsh", "check"] {
        let output = shell(&env, &format!("bisect-ppl {command} > /dev/full"));
        let said = seen(&env, &output);
        assert!(said.starts_with("exit code 5\nerror: cannot write to standard output"), "{said}");
    }
}

#[test]
fn a_reader_that_has_seen_enough() {
    let env = hunted();
    for command in ["report", "report --format json", "log", "store ls", "schema", "man", "--help"]
    {
        let script = format!("bisect-ppl {command} | head -n 1; exit ${{PIPESTATUS[0]}}");
        let output = shell(&env, &script).expect(0);
        assert_eq!((output.stdout.lines().count(), output.stderr.as_str()), (1, ""), "{command}");
        let closed = shell(&env, &format!("bisect-ppl {command} | true; exit ${{PIPESTATUS[0]}}"));
        assert_eq!(closed.expect(0).stderr, "", "{command}");
    }
}

#[test]
fn closed_standard_streams() {
    let env = hunted();
    let output = shell(&env, "bisect-ppl status nothing 2>&-");
    assert_eq!((output.code(), output.stderr.as_str()), (Some(2), ""));
    shell(&env, "bisect-ppl status <&- 2>&-").expect(0).says(&["First bad commit"]);
}

#[test]
fn colour_only_where_it_is_wanted() {
    let env = plain("g b");
    let error = ["start", "--good", "nowhere"];
    for args in [&error[..], &["strat"], &["start"], &["--help"]] {
        let plain = env.run(args);
        let text = |output: &Output| output.stdout.clone() + &output.stderr;
        assert!(!text(&plain).contains('\u{1b}'), "{plain:?}");
        let forced = env.run_with(&env.repo(), args, &[("CLICOLOR_FORCE", "1")]);
        assert!(text(&forced).contains('\u{1b}'), "{forced:?}");
        let both = [("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")];
        let none = env.run_with(&env.repo(), args, &both);
        assert_eq!(text(&none), text(&plain));
    }
}
