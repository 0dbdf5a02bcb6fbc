//! Notices that a program outside the run listens on the TCP port that the run wants: a server that
//! somebody forgot, or the server of a run beside this one.
//!
//! A run whose own server cannot listen may still print values: its client talks to the other
//! program. All commits then show the same, or a commit that changes the client seems to fail.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::Path;

use crate::build::Slot;
use crate::evaluation::{Ended, TakenPort};
use crate::files::below;
use crate::measure::{FIRST_USER_PORT, named_ports, says_address_in_use};
use crate::process::{Listener, Stop, TcpSockets};
use crate::ui::text;

/// Most lines to remember.
const MOST_LINES: usize = 8;

/// Longest quoted text, characters.
const LONGEST_QUOTE: usize = 160;

/// Most files of a slot to look at.
const MOST_FILES: usize = 100_000;

/// Programs that run a script: its name tells what they are, not theirs.
const INTERPRETERS: [&str; 8] = ["python", "node", "bash", "sh", "ruby", "perl", "java", "deno"];

/// Watches one run.
pub(super) struct PortWatch {
    /// The sockets before the run, with the connections if they matter; `None` if the run
    /// has a network of its own.
    before: Option<TcpSockets>,
    /// Lines of its output which say that an address is in use.
    lines: Vec<String>,
    /// Whether the last line so far that is not blank says so: then the run ended for want of it.
    ends_with_one: bool,
    asks_for_server: bool,
}

/// What is known of the ports when the run has ended.
#[derive(Debug, Default)]
pub(super) struct SeenPorts {
    /// The port that the run wanted and another program holds.
    pub(super) taken: Option<TakenPort>,
    /// The program from before the run to which the run may have talked.
    pub(super) answered_by: Option<String>,
}

impl PortWatch {
    /// Begins before the run. A sandbox has a network of its own. `asks_for_server`: whether it
    /// matters that a server from before the run may answer it.
    pub(super) fn begin(is_sandboxed: bool, asks_for_server: bool) -> Self {
        let before = (!is_sandboxed).then(|| {
            let listening = TcpSockets::listening_now();
            let asks = asks_for_server && may_answer(&listening);
            if asks { TcpSockets::now() } else { listening }
        });
        Self { before, lines: Vec::new(), ends_with_one: false, asks_for_server }
    }

    /// Takes a line of the output; returns whether it says that an address is in use.
    pub(super) fn line(&mut self, line: &[u8]) -> bool {
        if self.before.is_none() || line.trim_ascii().is_empty() {
            return false;
        }
        let said = address_in_use(line);
        self.ends_with_one = said.is_some();
        if self.lines.len() >= MOST_LINES {
            return false;
        }
        let is_one = said.is_some();
        self.lines.extend(said);
        is_one
    }

    /// Looks at the sockets when all processes of the run have ended. `at_good`: the output lines which say that
    /// an address is in use, one list for each run of the good endpoint that worked.
    pub(super) fn finish(
        self,
        ended: &Ended,
        slot: &Slot,
        stop: &Stop,
        at_good: &dyn Fn() -> Vec<Vec<String>>,
    ) -> SeenPorts {
        let Self { before, lines, ends_with_one, asks_for_server } = self;
        let Some(before) = before else { return SeenPorts::default() };
        let asks = asks_for_server && ended.is_success() && may_answer(&before);
        if lines.is_empty() && !asks {
            return SeenPorts::default();
        }
        let during = SocketsAround { before, after: TcpSockets::now(), ends_with_one };
        if !lines.is_empty() {
            let taken = during.taken(&lines, ended, slot, stop, at_good);
            return SeenPorts { taken, answered_by: None };
        }
        SeenPorts { taken: None, answered_by: during.older_server(slot, stop) }
    }
}

/// Whether a program that listens before the run may answer it. Only then are connections looked
/// at, which takes long.
fn may_answer(before: &TcpSockets) -> bool {
    before.ports().any(|port| port >= FIRST_USER_PORT)
}

/// The sockets before and after a run. Whatever listens then is not of the run, so a commit that
/// starts its own server twice is not excused.
struct SocketsAround {
    before: TcpSockets,
    after: TcpSockets,
    /// Whether the run's last words are that an address is in use.
    ends_with_one: bool,
}

impl SocketsAround {
    /// The port that the run wanted and another program holds.
    ///
    /// A run that worked may have taken another port in place of the one in use, or may not need it.
    /// So a run that fails does not fail for want of a port that the good endpoint does not need,
    /// unless these are its last words.
    /// Both count, unless something connected to the port meanwhile, or in the minute before (not
    /// every run knows the difference). If no line names a port, the program that listens must have
    /// the name of one of the commit's files.
    fn taken(
        &self,
        lines: &[String],
        ended: &Ended,
        slot: &Slot,
        stop: &Stop,
        at_good: &dyn Fn() -> Vec<Vec<String>>,
    ) -> Option<TakenPort> {
        let held: BTreeSet<u16> = self.before.ports().chain(self.after.ports()).collect();
        let has_failed = !ended.is_success();
        let (port, says) = match named(lines, &held) {
            Named::Held(ports) => {
                let is_needed =
                    has_failed && (self.ends_with_one || !is_known(lines, &held, &at_good()));
                ports.into_iter().find(|(port, _)| is_needed || self.is_used(*port))?
            }
            Named::Free => return None,
            Named::Nothing => {
                let ports = held.iter().copied();
                let ports = ports.filter(|port| has_failed || self.is_used(*port));
                (self.of_commit(ports, slot, stop)?, lines.first()?.as_str())
            }
        };
        let holder = self.holder(port);
        let command = holder.as_ref().map_or_else(String::new, command);
        let says = text::shorten(says, LONGEST_QUOTE);
        Some(TakenPort { port, pid: holder.map(|holder| holder.pid), command, says })
    }

    /// The program that listened before and after the run, if something connected to it meanwhile
    /// and it has the name of one of the commit's files.
    fn older_server(&self, slot: &Slot, stop: &Stop) -> Option<String> {
        let before: BTreeSet<u16> = self.before.ports().collect();
        let ports = self.after.ports().filter(|port| before.contains(port) && self.is_used(*port));
        let port = self.of_commit(ports, slot, stop)?;
        let holder = self.holder(port)?;
        Some(format!("`{}` (pid {}) on port {port}", command(&holder), holder.pid))
    }

    fn is_used(&self, port: u16) -> bool {
        self.after.has_new_connection(&self.before, port)
    }

    fn holder(&self, port: u16) -> Option<Listener> {
        self.after.listener(port).or_else(|| self.before.listener(port))
    }

    /// The first of these ports on which a program listens that has the name of a file of the
    /// commit or its build.
    fn of_commit(&self, ports: impl Iterator<Item = u16>, slot: &Slot, stop: &Stop) -> Option<u16> {
        let ports = ports.filter(|port| *port >= FIRST_USER_PORT);
        let programs = ports.filter_map(|port| Some((port, program(&self.holder(port)?)?)));
        let programs: Vec<(u16, OsString)> = programs.collect();
        if programs.is_empty() {
            return None;
        }
        let is_stopped = || stop.is_requested();
        let entries =
            [slot.src(), slot.build()].map(|folder| below(&folder, MOST_FILES, &is_stopped));
        let files = entries.iter().flat_map(|entries| &entries.found);
        let files = files.filter(|(_, kind)| !kind.is_dir());
        let names: BTreeSet<&OsStr> = files.filter_map(|(path, _)| path.file_name()).collect();
        let mut own = programs.iter().filter(|(_, name)| names.contains(name.as_os_str()));
        own.next().map(|(port, _)| *port)
    }
}

/// The command of a process, for one line.
fn command(process: &Listener) -> String {
    text::shorten(&text::line(&text::typed(&process.words)), LONGEST_QUOTE)
}

/// The line of a run's output as it is shown, if it says that an address is in use.
pub(super) fn address_in_use(line: &[u8]) -> Option<String> {
    says_address_in_use(line).then(|| text::line(&String::from_utf8_lossy(line)).trim().to_owned())
}

/// What lines name that say that an address is in use.
#[derive(Debug, PartialEq, Eq)]
enum Named<'l> {
    /// These ports, on which programs outside the run listen; and the line of each.
    Held(Vec<(u16, &'l str)>),
    /// Only ports on which no program outside the run listens.
    Free,
    /// No port.
    Nothing,
}

fn named<'l>(lines: &'l [String], held: &BTreeSet<u16>) -> Named<'l> {
    let ports =
        lines.iter().flat_map(|line| named_ports(line).map(move |port| (port, line.as_str())));
    let mut ports: Vec<(u16, &str)> = ports.collect();
    if ports.is_empty() {
        return Named::Nothing;
    }
    ports.retain(|(port, _)| held.contains(port));
    if ports.is_empty() { Named::Free } else { Named::Held(ports) }
}

/// Whether one of these runs said all lines of another run. `held`: the ports on which programs
/// outside the run listen.
fn is_known(lines: &[String], held: &BTreeSet<u16>, runs: &[Vec<String>]) -> bool {
    // Of a run that says more, not all lines are known.
    lines.len() < MOST_LINES
        && runs
            .iter()
            .any(|run| lines.iter().all(|line| run.iter().any(|known| is_alike(line, known, held))))
}

/// Whether two lines differ only in numbers, such as the time, and name the same of these ports.
fn is_alike(one: &str, other: &str, held: &BTreeSet<u16>) -> bool {
    let ports = |line: &str| -> BTreeSet<u16> {
        named_ports(line).filter(|port| held.contains(port)).collect()
    };
    without_numbers(one).eq(without_numbers(other)) && ports(one) == ports(other)
}

fn without_numbers(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| c.is_ascii_digit()).filter(|part| !part.is_empty())
}

/// The file name of the program that a process runs: of the script or module, if it is an
/// interpreter.
fn program(process: &Listener) -> Option<OsString> {
    let file = |word: &str| Path::new(word).file_name().map(OsStr::to_owned);
    let (first, rest) = process.words.split_first()?;
    let name = file(first)?;
    let is_interpreter = name.to_str().is_some_and(|name| {
        let bare = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        INTERPRETERS.contains(&bare)
    });
    if !is_interpreter {
        return Some(name);
    }
    let place = rest.iter().position(|word| word == "-m" || !word.starts_with('-'))?;
    if rest[place] == "-m" {
        let module = rest.get(place + 1)?.rsplit('.').next()?;
        return Some(format!("{module}.py").into());
    }
    file(&rest[place])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_named_port_must_be_held_by_another_program() {
        let held = BTreeSet::from([22, 8080]);
        let of = |lines: &[&str]| {
            let lines: Vec<String> = lines.iter().map(|&line| line.to_owned()).collect();
            match named(&lines, &held) {
                Named::Held(ports) => Some((ports[0].0, ports[0].1.to_owned())),
                Named::Free => Some((0, String::new())),
                Named::Nothing => None,
            }
        };
        let taken = "listen tcp :8080: bind: address already in use";
        assert_eq!(of(&["address already in use", taken]), Some((8080, taken.to_owned())));
        // The commit starts its own server twice.
        assert_eq!(of(&["listen tcp :9090: address already in use"]), Some((0, String::new())));
        assert_eq!(of(&["10:22:33 [Errno 98] Address already in use"]), None);
        let lines = ["port 8080 is already in use", taken].map(str::to_owned);
        assert!(matches!(named(&lines, &held), Named::Held(ports) if ports.len() == 2));
    }

    #[test]
    fn a_run_that_says_what_a_working_run_says_does_not_need_the_port() {
        let held = BTreeSet::from([8080, 9090]);
        let is_known = |lines: &[&str], run: &[&str]| {
            let [lines, run] =
                [lines, run].map(|all| all.iter().map(|&line| line.to_owned()).collect::<Vec<_>>());
            is_known(&lines, &held, &[Vec::new(), run])
        };
        let metrics = "10:22:33 no metrics: bind :9090: address already in use";
        let later = "9:01:07 no metrics: bind :9090: address already in use";
        let server = "10:22:33 no metrics: bind :8080: address already in use";
        let other = "fatal: bind :9090: address already in use";
        assert!(is_known(&[later], &[other, metrics]));
        assert!(is_known(&[later, metrics], &[metrics]));
        assert!(!is_known(&[metrics], &[]));
        assert!(!is_known(&[metrics], &[server]), "another port");
        assert!(!is_known(&[metrics], &[other]), "another text");
        assert!(!is_known(&[metrics, server], &[metrics]), "a port more");
        assert!(!is_known(&[metrics; MOST_LINES], &[metrics]), "there may be more lines");
    }

    #[test]
    fn a_program_is_named_after_its_script_or_module() {
        let of = |command: &str| {
            let words = command.split(' ').map(str::to_owned).collect();
            program(&Listener { pid: 1, words }).map(|name| name.to_string_lossy().into_owned())
        };
        for (command, name) in [
            ("/old/build/llama-server -m model.gguf --port 8080", Some("llama-server")),
            ("python3 /old/server.py", Some("server.py")),
            ("/venv/bin/python3.11 -u tools/serve.py --port 1", Some("serve.py")),
            ("python -m vllm.entrypoints.openai.api_server", Some("api_server.py")),
            ("/usr/bin/node", None),
            ("python3 -V", None),
        ] {
            assert_eq!(of(command).as_deref(), name, "{command}");
        }
    }
}
