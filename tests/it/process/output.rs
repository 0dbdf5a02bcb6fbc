//! What a run prints and what it costs.

use std::cell::RefCell;
use std::time::Duration;

use bisect_ppl::evaluation::Ended;
use bisect_ppl::process::{Keep, LogFile, Stop, Stream, run};

use super::TestFolder;

#[test]
fn both_streams_come_line_by_line_and_as_bytes() {
    let room = TestFolder::new();
    let script = "printf 'a\\377\\r\\n'; printf '\\nb' >&2; printf 'no newline'";
    let seen = RefCell::new(Vec::new());
    let path = room.path("log");
    let header = [("command", "one\ntwo".to_owned()), ("cwd", "/x".to_owned())];
    let log = LogFile { path: &path, header: &header, sync: true };
    let finished = run(&room.sh(script), &Stop::never(), &log, &mut |stream, line| {
        seen.borrow_mut().push((stream, line.to_vec()));
        Keep::Yes
    })
    .unwrap();
    assert_eq!(finished.ended, Ended::Exited(0));
    let log = room.log();
    let logged: Vec<_> = log.lines().map(|(stream, line)| (stream, line.to_vec())).collect();
    assert_eq!(logged, *seen.borrow());
    assert_eq!(log.stream(Stream::Out), b"a\xff\r\nno newline");
    assert_eq!(log.stream(Stream::Err), b"\nb");
    assert_eq!(log.header().next().unwrap().1, "one\ntwo");
    assert_eq!(finished.log_bytes, std::fs::metadata(&path).unwrap().len());
}

#[test]
fn two_hundred_megabytes_fit_a_small_log() {
    // Resets the peak, which another test may have set (proc(5)).
    std::fs::write("/proc/self/clear_refs", "5").unwrap();
    let before = memory("VmRSS:");
    let room = TestFolder::new();
    let script = "
        yes 'some words of an engine that talks too much, and then some more of them again' |
            head -c 100000000
        echo; echo 'figure: 7.21'
        yes 'some words of an engine that talks too much, and then some more of them again' |
            head -c 100000000; echo; echo last";
    let mut bytes = 0;
    let path = room.path("log");
    let log = LogFile { path: &path, header: &[], sync: false };
    let finished = run(&room.sh(script), &Stop::never(), &log, &mut |_, line| {
        bytes += line.len() as u64 + 1;
        if line.starts_with(b"figure") { Keep::Yes } else { Keep::No }
    })
    .unwrap();
    assert_eq!(finished.ended, Ended::Exited(0));
    assert_eq!(bytes, 200_000_000 + 2 + 13 + 5);
    assert!(finished.log_bytes < 3 << 20, "{finished:?}");
    let log = room.log();
    assert_eq!(log.cut(), finished.cut);
    let kept = (log.stream(Stream::Out).len() + log.stream(Stream::Err).len()) as u64;
    assert_eq!(kept + finished.cut, bytes);
    let lines: Vec<_> = log.lines().map(|(_, line)| line).collect();
    assert!(lines.contains(&&b"figure: 7.21"[..]));
    assert_eq!(lines.last(), Some(&&b"last"[..]));
    let peak = memory("VmHWM:");
    // Other tests in this process use memory meanwhile, but far less than 200 MB.
    assert!(peak < before + 120_000, "{peak} kB, {before} kB before");
}

/// One memory value of this process, in kB. All tests share the process.
fn memory(of: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(of)).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

#[test]
fn a_panic_while_reading_ends_the_run() {
    let room = TestFolder::new();
    let path = room.path("log");
    let result = std::panic::catch_unwind(|| {
        let log = LogFile { path: &path, header: &[], sync: false };
        run(&room.sh("echo x; sleep 1000"), &Stop::never(), &log, &mut |_, _| panic!("parser"))
    });
    assert!(result.is_err());
    room.assert_empty();
}

#[test]
fn wall_and_memory_are_the_engines() {
    let room = TestFolder::new();
    let finished = room.run(&room.sh("x=$(head -c 30000000 /dev/zero | tr '\\0' x); sleep 0.2"));
    assert!(finished.wall >= Duration::from_millis(200));
    assert!(finished.peak_rss_mib.unwrap() > 28.0, "{finished:?}");
    let small = room.run(&room.program("true")).peak_rss_mib.unwrap();
    assert!(small < 20.0, "{small}");
}
