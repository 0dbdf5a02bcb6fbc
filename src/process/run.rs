//! Runs a program under supervision and reads all its output.

use std::collections::BTreeSet;
use std::io::{self, PipeReader};
use std::os::fd::AsFd;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use super::error::ProcessError;
use super::job::{KILL, Report, TERM};
use super::prepared::{Prepared, prepare};
use super::ready::{drain, ready, sooner, until};
use super::sandbox::{self, FirstLine, SandboxError};
use super::signals::Alarm;
use super::splitter::Splitter;
use super::supervised::Supervised;
use super::{Invocation, Keep, LogWriter, SlotMark, Stop, Stream, program, shim};
use crate::evaluation::{Ended, Resources};
use crate::files;

/// How long to wait for output after the supervisor has ended everything below it. Only a process
/// outside the run, to which the pipe was passed, can still hold the pipe open.
const OUTPUT_DRAIN_TIMEOUT: Duration = Duration::from_secs(2);

/// The result and the cost of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Finished {
    /// How it ended.
    pub ended: Ended,
    /// From the engine's start to the end of its main process.
    pub wall: Duration,
    /// Peak resident memory of the engine or any child it waited for, MiB.
    pub peak_rss_mib: Option<f64>,
    /// Size of the log, bytes.
    pub log_bytes: u64,
    /// Bytes of output that the log lacks.
    pub cut: u64,
    /// The part of `cut` in lines with [`Keep::Yes`]; 0 unless such lines alone exceed the log's
    /// limit.
    pub lost: u64,
    /// Processes that hang in the kernel, so no signal could end them; usually 0.
    pub survivors: usize,
    /// Programs and shared objects that the engine and its descendants had mapped, sorted by path
    /// (Linux; empty elsewhere).
    pub mapped: Vec<PathBuf>,
}

impl Finished {
    /// The run's time and memory.
    pub fn used(&self) -> Resources {
        Resources { wall_s: self.wall.as_secs_f64(), peak_rss_mib: self.peak_rss_mib }
    }
}

/// The log file of a run.
#[derive(Clone, Copy, Debug)]
pub struct LogFile<'a> {
    /// The file; truncated if it exists.
    pub path: &'a Path,
    /// The header; each pair becomes `# key: value`.
    pub header: &'a [(&'a str, String)],
    /// Whether to sync the file before the run returns.
    pub sync: bool,
}

/// Runs a program under supervision until its main process ends, its time is over, or `stop` is
/// requested. Afterwards no process of it is left, except [`Finished::survivors`]. Each line of
/// output goes to the log and to `lines`: as it comes, complete, without its newline. A line
/// longer than 1 MiB comes in pieces.
pub fn run(
    invocation: &Invocation,
    stop: &Stop,
    log: &LogFile<'_>,
    lines: &mut dyn FnMut(Stream, &[u8]) -> Keep,
) -> Result<Finished, ProcessError> {
    let log_error = |source| ProcessError::Log { path: log.path.to_owned(), source };
    let writer = files::create(log.path).and_then(|file| LogWriter::new(file, log.header));
    let mut sink = Sink { writer: writer.map_err(log_error)?, lines, first: FirstLine::default() };
    let end = execute(invocation, stop, &mut sink, &log_error)?;
    let summary = sink.writer.finish(log.sync).map_err(log_error)?;
    Ok(Finished {
        ended: end.ended,
        wall: end.wall,
        peak_rss_mib: (end.peak_rss > 0).then_some(end.peak_rss as f64 / (1024.0 * 1024.0)),
        log_bytes: summary.bytes,
        cut: summary.cut,
        lost: summary.lost,
        survivors: end.survivors,
        mapped: end.mapped,
    })
}

struct Sink<'a> {
    writer: LogWriter,
    lines: &'a mut dyn FnMut(Stream, &[u8]) -> Keep,
    first: FirstLine,
}

impl Sink<'_> {
    fn line(&mut self, stream: Stream, line: &[u8], whole: bool) -> io::Result<()> {
        self.first.see(stream, line);
        let keep = (self.lines)(stream, line);
        self.writer.line(stream, line, whole, keep)
    }
}

struct End {
    ended: Ended,
    wall: Duration,
    peak_rss: u64,
    survivors: usize,
    mapped: Vec<PathBuf>,
}

impl From<Ended> for End {
    fn from(ended: Ended) -> Self {
        Self { ended, wall: Duration::ZERO, peak_rss: 0, survivors: 0, mapped: Vec::new() }
    }
}

fn execute(
    invocation: &Invocation,
    stop: &Stop,
    sink: &mut Sink<'_>,
    log_error: &dyn Fn(io::Error) -> ProcessError,
) -> Result<End, ProcessError> {
    let alarm = stop.alarm().map_err(ProcessError::Start)?;
    if stop.is_requested() {
        return Ok(Ended::Stopped.into());
    }
    let Prepared { job, program } = match prepare(invocation)? {
        Ok(prepared) => prepared,
        Err(ended) => return Ok(ended.into()),
    };
    let supervisor = shim::program().ok_or(ProcessError::NoSupervisor)?;
    let mut run = Running {
        supervised: Supervised::start(&supervisor, &job).map_err(ProcessError::Start)?,
        splitters: Default::default(),
        limit: invocation.limit(),
        deadline: None,
        reason: None,
        requests: 0,
        group: None,
        mark: invocation.slot_mark(),
        over: None,
    };
    run.follow(stop, &alarm, sink, log_error)?;
    match run.over {
        Some(Report::Refused { errno }) => Ok(program::refusal(&job.program, errno).into()),
        Some(Report::Ended { status, told, wall_ns, peak_rss, survivors, mapped }) => Ok(End {
            ended: match run.reason.filter(|_| told) {
                Some(reason) => reason,
                None if job.is_sandboxed => ended_in_sandbox(ended(status), &sink.first)?,
                None => ended(status),
            },
            wall: Duration::from_nanos(wall_ns),
            peak_rss,
            survivors,
            mapped: with_program(mapped, &program),
        }),
        _ => Err(ProcessError::SupervisorDied),
    }
}

/// How the program in a sandbox ended.
fn ended_in_sandbox(ended: Ended, first: &FirstLine) -> Result<Ended, ProcessError> {
    match first.refusal().filter(|_| ended == Ended::Exited(1)) {
        Some(Ok(refused)) => Ok(refused),
        Some(Err(why)) => Err(SandboxError::Refused(why).into()),
        None => Ok(sandbox::ended_inside(ended)),
    }
}

/// Adds the program itself, which may have ended before the first check.
fn with_program(mapped: Vec<String>, program: &Path) -> Vec<PathBuf> {
    let mut files: BTreeSet<PathBuf> = mapped.into_iter().map(PathBuf::from).collect();
    files.extend(program.canonicalize());
    files.into_iter().collect()
}

fn ended(status: Option<i32>) -> Ended {
    let status = status.map(ExitStatus::from_raw);
    match status.map(|status| (status.code(), status.signal())) {
        Some((Some(code), _)) => Ended::Exited(code),
        Some((_, Some(signal))) => Ended::Signaled(signal),
        // Only an engine that was told to end has no status.
        _ => Ended::Stopped,
    }
}

struct Running<'a> {
    supervised: Supervised,
    splitters: [Splitter; 2],
    limit: Option<Duration>,
    /// When the time limit ends, counted from the engine's start.
    deadline: Option<Instant>,
    /// Why the engine was told to end.
    reason: Option<Ended>,
    /// Number of requests to stop that were passed on.
    requests: usize,
    group: Option<Pid>,
    mark: Option<&'a SlotMark>,
    /// The supervisor's last report.
    over: Option<Report>,
}

impl Running<'_> {
    /// Follows the run until the supervisor has exited and both pipes are at their end.
    fn follow(
        &mut self,
        stop: &Stop,
        alarm: &Alarm,
        sink: &mut Sink<'_>,
        log_error: &dyn Fn(io::Error) -> ProcessError,
    ) -> Result<(), ProcessError> {
        let mut buffer = vec![0; 64 << 10];
        let mut listen = true;
        let mut last_words = None;
        loop {
            let open = self.supervised.out.is_some() || self.supervised.err.is_some();
            let silent = last_words.is_some_and(|until| until <= Instant::now());
            if !listen && (!open || silent) {
                break;
            }
            let descriptors = [
                self.supervised.out.as_ref().map(AsFd::as_fd),
                self.supervised.err.as_ref().map(AsFd::as_fd),
                listen.then_some(self.supervised.control.as_fd()),
                Some(alarm.bell.as_fd()),
            ];
            let timeout = until(sooner(self.deadline, last_words));
            let [out, err, report, _] =
                ready(descriptors, timeout).map_err(ProcessError::Follow)?;
            drain(&alarm.bell);
            self.pass_on(stop);
            if out {
                let pipe = &mut self.supervised.out;
                read(pipe, &mut self.splitters[0], Stream::Out, &mut buffer, sink, log_error)?;
            }
            if err {
                let pipe = &mut self.supervised.err;
                read(pipe, &mut self.splitters[1], Stream::Err, &mut buffer, sink, log_error)?;
            }
            if out || err {
                sink.writer.flush().map_err(log_error)?;
            }
            if report && !self.read_reports().map_err(ProcessError::Follow)? {
                listen = false;
                self.deadline = None;
                last_words = Some(Instant::now() + OUTPUT_DRAIN_TIMEOUT);
                if self.over.is_none() {
                    self.end_left();
                }
            }
        }
        for (splitter, stream) in self.splitters.iter_mut().zip([Stream::Out, Stream::Err]) {
            if let Some(rest) = splitter.rest() {
                sink.line(stream, &rest, false).map_err(log_error)?;
            }
        }
        Ok(())
    }

    /// Ends the processes that a killed supervisor left. The kernel ends the engine together with
    /// its supervisor, and the guard ends all other processes, but the guard may have been killed
    /// too.
    fn end_left(&self) {
        if let Some(group) = self.group {
            let _ = kill_process_group(group, Signal::KILL);
        }
        if let Some(mark) = self.mark {
            mark.end_processes();
        }
    }

    /// Tells the supervisor about a time-out or a request to stop.
    fn pass_on(&mut self, stop: &Stop) {
        if self.deadline.is_some_and(|deadline| deadline <= Instant::now()) {
            self.deadline = None;
            if self.reason.is_none() {
                self.reason = Some(Ended::TimedOut);
                self.supervised.send_order(TERM);
            }
        }
        let requests = stop.requests();
        if requests > self.requests {
            if requests > 1 {
                self.supervised.send_order(KILL);
            } else if self.reason.is_none() {
                self.supervised.send_order(TERM);
            }
            self.requests = requests;
            self.reason.get_or_insert(Ended::Stopped);
        }
    }

    /// Reads reports; `false` if the supervisor has exited.
    fn read_reports(&mut self) -> io::Result<bool> {
        let (reports, open) = self.supervised.read_reports()?;
        for report in reports {
            if let Report::Started { group } = report {
                self.group = Pid::from_raw(group);
                self.deadline = self.limit.and_then(|limit| Instant::now().checked_add(limit));
            } else {
                self.over = Some(report);
            }
        }
        Ok(open)
    }
}

/// Reads once from a pipe that is ready; closes it at its end.
fn read(
    pipe: &mut Option<PipeReader>,
    splitter: &mut Splitter,
    stream: Stream,
    buffer: &mut [u8],
    sink: &mut Sink<'_>,
    log_error: &dyn Fn(io::Error) -> ProcessError,
) -> Result<(), ProcessError> {
    let Some(open) = pipe else { return Ok(()) };
    let n = super::ready::read_some(open, buffer).map_err(ProcessError::Follow)?;
    if n == 0 {
        *pipe = None;
    }
    splitter.push(&buffer[..n], |line, whole| sink.line(stream, line, whole)).map_err(log_error)
}
