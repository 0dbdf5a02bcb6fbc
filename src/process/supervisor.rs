//! The supervisor: the process between the guard and the engine.

use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use wait4::{ResUse, Wait4};

use super::descendants::{self, PATIENCE};
use super::job::{Job, KILL, Report, TERM};
use super::mapped::Mapped;
use super::ready::{drain, read_some, ready, sooner, until};
use super::reexec::{EXEC, own_executable, socket_on_stdin, take_signals};

/// Reads a job from the socket on stdin, runs it, reports the result, and ends every process of
/// the job.
pub(super) fn supervise() -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        // `killall -9 bisect-ppl` must kill only the driver; the supervisor then ends the engine.
        let _ = rustix::thread::set_name(c"ppl-supervisor");
    }
    let mut control = socket_on_stdin()?;
    // Before the first child starts, so that no SIGCHLD is missed.
    let (dead, bell) = UnixStream::pair()?;
    dead.set_nonblocking(true)?;
    bell.set_nonblocking(true)?;
    take_signals();
    signal_hook::low_level::pipe::register(signal_hook::consts::SIGCHLD, bell)?;
    descendants::adopt_orphans();

    let job = Job::read(&control)?;
    let begin = Instant::now();
    let (child, exec) = spawn(&job)?;
    // Sent at once: if the supervisor is killed later, the driver can still kill the group. If the
    // driver is gone, the socket's end shows it.
    let _ = send(&mut control, &Report::Started { group: Pid::from_child(&child).as_raw_pid() });
    let mut engine = Engine::new(child, exec, &job);
    let result = engine.watch(&mut control, &dead);
    let wall = begin.elapsed();
    let left = descendants::end_all(Some(engine.group));
    let report = match result? {
        Outcome::Refused(errno) => Report::Refused { errno },
        Outcome::Ended(end) => Report::Ended {
            status: end.map(|end| end.status.into_raw()),
            told: engine.told,
            wall_ns: u64::try_from(wall.as_nanos()).unwrap_or(u64::MAX),
            peak_rss: end.map_or(0, |end| end.rusage.maxrss),
            survivors: left,
            mapped: engine.mapped.into_files(),
        },
    };
    send(&mut control, &report)
}

/// Starts the stage that becomes the engine and sends it the job. The returned socket tells
/// whether the exec succeeded.
fn spawn(job: &Job) -> io::Result<(Child, UnixStream)> {
    let (mut exec, theirs) = UnixStream::pair()?;
    #[expect(clippy::disallowed_methods, reason = "only this module starts programs")]
    let child = Command::new(own_executable()?)
        .args([EXEC, &std::process::id().to_string()])
        .stdin(Stdio::from(std::os::fd::OwnedFd::from(theirs)))
        .spawn()?;
    // If the stage died early, its end of the socket shows it.
    let _ = exec.write_all(&job.to_frame());
    Ok((child, exec))
}

fn send(control: &mut UnixStream, report: &Report) -> io::Result<()> {
    let mut line = serde_json::to_vec(report)?;
    line.push(b'\n');
    control.write_all(&line)
}

enum Outcome {
    Refused(i32),
    /// The engine's status and resources; `None` if it could not be killed.
    Ended(Option<ResUse>),
}

struct Engine {
    child: Child,
    group: Pid,
    /// Whether the main process is bubblewrap, and the engine its child.
    is_sandboxed: bool,
    /// The stage's socket, until the stage becomes the engine.
    exec: Option<UnixStream>,
    grace: Duration,
    told: bool,
    /// When to send KILL after TERM.
    kill_at: Option<Instant>,
    /// When to give up on a killed engine.
    give_up_at: Option<Instant>,
    mapped: Mapped,
}

impl Engine {
    fn new(child: Child, exec: UnixStream, job: &Job) -> Self {
        let group = Pid::from_child(&child);
        Self {
            child,
            group,
            is_sandboxed: job.is_sandboxed,
            exec: Some(exec),
            grace: job.grace,
            told: false,
            kill_at: None,
            give_up_at: None,
            mapped: Mapped::new(job.is_sandboxed.then_some(job.program.as_path())),
        }
    }

    /// Waits until the engine ends; carries out orders from `control`.
    fn watch(&mut self, control: &mut UnixStream, dead: &UnixStream) -> io::Result<Outcome> {
        let mut listen = true;
        loop {
            if let Some(end) = self.child.try_wait4()? {
                return Ok(self.ended(end));
            }
            let timeout = until(sooner(sooner(self.kill_at, self.give_up_at), self.mapped.next()));
            let descriptors = [
                listen.then_some(control.as_fd()),
                Some(dead.as_fd()),
                self.exec.as_ref().map(AsFd::as_fd),
            ];
            let [order, _, exec] = ready(descriptors, timeout)?;
            drain(dead);
            if exec {
                if let Some(errno) = self.refused() {
                    self.child.wait()?;
                    return Ok(Outcome::Refused(errno));
                }
                self.mapped.begin();
            }
            self.mapped.look_if_due(self.group);
            if order {
                listen = self.obey(control)?;
            }
            let now = Instant::now();
            if self.kill_at.is_some_and(|at| at <= now) {
                self.kill();
            }
            if self.give_up_at.is_some_and(|at| at <= now) {
                return Ok(Outcome::Ended(None));
            }
        }
    }

    fn ended(&mut self, end: ResUse) -> Outcome {
        // The exec may have failed, or the engine may have ended, before we checked.
        self.refused().map_or(Outcome::Ended(Some(end)), Outcome::Refused)
    }

    /// Reads the stage's socket to its end: the error number of a failed exec, or nothing if the
    /// stage became the engine or failed before the exec.
    fn refused(&mut self) -> Option<i32> {
        let mut said = Vec::new();
        // A read error also ends the message.
        let _ = self.exec.take()?.read_to_end(&mut said);
        <[u8; 4]>::try_from(&*said).ok().map(i32::from_le_bytes)
    }

    /// Carries out one order of the driver; `false` if no more orders can come.
    fn obey(&mut self, control: &mut UnixStream) -> io::Result<bool> {
        let mut order = [0];
        match (read_some(control, &mut order)?, order[0]) {
            (1, TERM) => self.term(),
            (1, KILL) => self.kill(),
            (1, _) => {}
            _ => {
                self.kill();
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Sends TERM to the group; before the exec, KILL. Processes that left the group get no TERM.
    /// One of them may supervise a nested run, and the driver of that run, which is in the group,
    /// ends it.
    fn term(&mut self) {
        if self.exec.is_some() {
            return self.kill();
        }
        self.told = true;
        self.kill_at = Some(Instant::now() + self.grace);
        // bubblewrap ends when its child has ended; if it got TERM, it would end at once.
        let groups =
            if self.is_sandboxed { descendants::children(self.group) } else { vec![self.group] };
        for group in groups {
            // It does not matter if the group is gone, here and below.
            let _ = kill_process_group(group, Signal::TERM);
            // A stopped process gets TERM only when it continues.
            let _ = kill_process_group(group, Signal::CONT);
        }
    }

    fn kill(&mut self) {
        self.told = true;
        self.kill_at = None;
        self.give_up_at.get_or_insert(Instant::now() + PATIENCE);
        let _ = kill_process_group(self.group, Signal::KILL);
        // For a stage that has no group yet.
        let _ = kill_process(self.group, Signal::KILL);
    }
}
