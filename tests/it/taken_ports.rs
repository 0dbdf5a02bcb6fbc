//! A program outside the runs listens on the port that the engine wants, or nobody does.

use std::net::TcpListener;

use crate::kit::planted::put;
use crate::kit::shell_engine::{NUMBER, hunt};
use crate::kit::{Hunt, PATIENCE, TestEnvironment, wait_until};

const GUARD: &str = "metric = \"e\"\nmax_increase = 0.1\n[failures]\npauses = []";

/// Says that the port is in use, in the words of Go.
const SAY: &str = "echo listen tcp 127.0.0.1:PORT: bind: address already in use >&2";
/// The client of the engine, which talks to whoever listens.
const CONNECT: &str =
    "python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", PORT)).close()'";
const PRINT: &str = "echo e = $(cat k)";

/// Hunts with these lines in the engine, while a program of the test listens, or has ended.
/// The commit `b` makes the number worse.
fn hunt_with(env: &TestEnvironment, is_held: bool, lines: &[&str]) -> (u16, Hunt) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let held = is_held.then_some(listener);
    let engine = lines.join("\n").replace("PORT", &port.to_string());
    let commits = [("k", "7"), ("a", "1"), ("k", "7.5"), ("c", "1"), ("d", "1")];
    let hunt = hunt(env, &engine, [NUMBER, GUARD], &commits);
    drop(held);
    (port, hunt)
}

fn stops(lines: &[&str]) {
    let env = TestEnvironment::new();
    let (port, hunt) = hunt_with(&env, true, lines);
    let taken = format!("listens on port {port}, and the run says");
    hunt.output.expect(5).says(&[&taken, "stop that program"]);
}

fn is_named(is_held: bool, lines: &[&str]) {
    let env = TestEnvironment::new();
    let (_, hunt) = hunt_with(&env, is_held, lines);
    let hunt = hunt.expect(0, "culprit");
    let changed = env.git(&["show", "--format=", "--name-only", hunt.culprit()]);
    assert_eq!(changed.trim(), "k", "{}", hunt.output.stderr);
}

#[test]
fn a_client_that_talks_to_a_forgotten_server_stops_the_hunt() {
    stops(&[SAY, CONNECT, PRINT]);
}

#[test]
fn a_run_that_fails_because_of_a_forgotten_server_is_no_commits_fault() {
    stops(&["if [ \"$(cat k)\" = 7.5 ]; then", SAY, "exit 1", "fi", PRINT]);
}

#[test]
fn a_run_that_takes_another_port_counts() {
    is_named(true, &[SAY, PRINT]);
}

/// An engine without its metrics, whose port another program has.
#[test]
fn a_crash_beside_a_warning_that_the_good_end_prints_too_is_the_commits() {
    let crash = "if [ \"$(cat k)\" = 7.5 ]; then echo illegal access >&2; exit 1; fi";
    is_named(true, &[SAY, crash, PRINT]);
}

#[test]
fn a_commit_that_starts_its_server_twice_is_named() {
    is_named(false, &["if [ \"$(cat k)\" = 7.5 ]; then", SAY, "exit 1", "fi", PRINT]);
}

/// Listens for two minutes at most, and writes its port into a file.
const SERVER: &str = "import os, socket, sys
server = socket.create_server(('127.0.0.1', 0))
server.settimeout(120)
with open(sys.argv[1] + '.new', 'w') as file:
    file.write(str(server.getsockname()[1]))
os.replace(sys.argv[1] + '.new', sys.argv[1])
while True:
    server.accept()[0].close()
";

/// The commit's own server says nothing before it is ended, since its client has an answer at once.
#[test]
fn equal_values_of_a_forgotten_server_deny_no_regression() {
    let env = TestEnvironment::new();
    let (script, place) = (env.path("old/server.py"), env.path("old/port"));
    put(&script, SERVER.as_bytes());
    let mut command = env.command("python3", &env.repo());
    command.arg(&script).arg(&place);
    let mut server = env.spawn(command);
    assert!(wait_until(PATIENCE, || place.is_file()));
    // Several connections: one may be missed beside the many of other tests.
    let engine = [CONNECT, CONNECT, CONNECT, "echo e = 7"].join("\n");
    let engine = engine.replace("PORT", &std::fs::read_to_string(&place).unwrap());
    let commits = [("k+server.py", "7"), ("a", "1"), ("k", "7.5"), ("c", "1")];
    let hunt = hunt(&env, &engine, [NUMBER, GUARD], &commits);
    server.child.kill().unwrap();
    server.child.wait().unwrap();
    let hunt = hunt.expect(4, "endpoint-unmeasurable");
    let words = ["may have measured a program that was there before them", "stop that program"];
    hunt.output.says(&words);
}
