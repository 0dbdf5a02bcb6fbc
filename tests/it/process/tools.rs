//! Short helpers.

use std::time::Duration;

use bisect_ppl::evaluation::Ended;
use bisect_ppl::process::{Invocation, ToolOutput, tool};
use bisect_ppl::ui::printable;

use super::{TestFolder, wait_for};

#[test]
fn a_tool_is_heard_bounded_and_ended() {
    let room = TestFolder::new();
    let said = |invocation: &Invocation| tool(invocation).unwrap();
    let both = said(&room.sh("echo out; echo err >&2; exit 2"));
    let expected = ToolOutput {
        ended: Ended::Exited(2),
        stdout: b"out\n".to_vec(),
        stderr: b"err\n".to_vec(),
        truncated: false,
    };
    assert_eq!(both, expected);

    let long = said(&room.sh("yes | head -c 3000000").capture(1000));
    assert_eq!((long.ended, long.stdout.len(), long.truncated), (Ended::Exited(0), 1000, true));

    let endless = room.sh("trap '' TERM; echo x; while :; do sleep 0.1; done");
    let endless = endless.timeout(Some(Duration::from_millis(300)));
    let endless = said(&endless.grace(Duration::from_millis(100)));
    assert_eq!((endless.ended, &*endless.stdout), (Ended::TimedOut, &b"x\n"[..]));

    let held = said(&room.sh("sleep 1000 & echo done"));
    assert_eq!((held.ended, &*held.stdout), (Ended::Exited(0), &b"done\n"[..]));
    let mute = said(&room.sh("exec >/dev/null 2>&1; sleep 0.1; kill -9 $$"));
    assert_eq!(mute.ended, Ended::Signaled(9));
    wait_for("the background process's end", || room.alive().is_empty());

    assert!(matches!(said(&room.program("no-such-program-here")).ended, Ended::NotFound(_)));
    room.file("garbage", 0o755, "\u{1}");
    assert!(matches!(said(&room.program("./garbage")).ended, Ended::NotStarted(_)));
    room.file("script", 0o755, "#!/opt/gone/python3\n");
    let script = said(&room.program("./script"));
    assert_eq!(script.ended, Ended::NotFound("/opt/gone/python3".to_owned()));
}

#[test]
fn git_answers_in_english_from_where_it_stands() {
    let room = TestFolder::new();
    let git = |args: &[&str]| tool(&room.marked(Invocation::git(args.to_vec()))).unwrap();
    assert!(git(&["init", "-q"]).ended.is_success());
    let top = git(&["rev-parse", "--show-toplevel"]);
    let folder = room.folder.path().canonicalize().unwrap();
    assert_eq!(printable(&top.stdout).trim(), folder.display().to_string());
    let elsewhere = Invocation::git(["rev-parse", "--git-dir"]).env("GIT_DIR", "/nowhere");
    assert!(!tool(&room.marked(elsewhere)).unwrap().ended.is_success());
}
