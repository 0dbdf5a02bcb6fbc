//! Messages on the sockets between driver, supervisor, and stage. The engine's environment is sent
//! as data, not set for the supervisor: a configured `LD_PRELOAD` must not affect our process.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, Read};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Order to the supervisor: send TERM to the group.
pub(super) const TERM: u8 = b'T';
/// Order to the supervisor: kill everything at once. The end of the socket means the same.
pub(super) const KILL: u8 = b'K';

/// A program to start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Job {
    /// The file to execute.
    pub(super) program: PathBuf,
    /// The program's `argv[0]`.
    pub(super) name: OsString,
    pub(super) args: Vec<OsString>,
    pub(super) cwd: PathBuf,
    /// The file to read as stdin; `None` for `/dev/null`.
    pub(super) stdin: Option<PathBuf>,
    pub(super) env: BTreeMap<OsString, OsString>,
    pub(super) grace: Duration,
    /// The CPUs that the program may use; empty for ours.
    pub(super) cpus: Vec<usize>,
    /// Whether the program is bubblewrap, and the engine its child.
    pub(super) is_sandboxed: bool,
}

/// Reports of the supervisor, one line of JSON each.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Report {
    /// The engine is being started in this process group.
    Started { group: i32 },
    /// The exec failed.
    Refused { errno: i32 },
    /// The engine ended. All its processes are gone except `survivors`, which no signal could end.
    Ended {
        /// The kernel's wait status; `None` if the engine itself survived.
        status: Option<i32>,
        /// Whether the engine was asked to end before it ended.
        told: bool,
        wall_ns: u64,
        peak_rss: u64,
        survivors: usize,
        /// Programs and shared objects that were mapped.
        mapped: Vec<String>,
    },
}

impl Job {
    /// Serializes the job: total length, then each field after its length.
    pub(super) fn to_frame(&self) -> Vec<u8> {
        let mut body = Vec::new();
        let mut put = |field: &[u8]| {
            body.extend_from_slice(&(field.len() as u64).to_le_bytes());
            body.extend_from_slice(field);
        };
        put(self.program.as_os_str().as_bytes());
        put(self.name.as_bytes());
        put(self.cwd.as_os_str().as_bytes());
        // No file has an empty path.
        put(self.stdin.as_ref().map_or(&[], |file| file.as_os_str().as_bytes()));
        let grace = u64::try_from(self.grace.as_millis()).unwrap_or(u64::MAX);
        put(&grace.to_le_bytes());
        put(&u64::from(self.is_sandboxed).to_le_bytes());
        put(&(self.cpus.len() as u64).to_le_bytes());
        for cpu in &self.cpus {
            put(&(*cpu as u64).to_le_bytes());
        }
        put(&(self.args.len() as u64).to_le_bytes());
        for arg in &self.args {
            put(arg.as_bytes());
        }
        for (name, value) in &self.env {
            put(name.as_bytes());
            put(value.as_bytes());
        }
        let mut frame = (body.len() as u64).to_le_bytes().to_vec();
        frame.append(&mut body);
        frame
    }

    /// Reads one job; an error if the stream ends too early.
    pub(super) fn read(mut from: impl Read) -> io::Result<Self> {
        let mut len = [0; 8];
        from.read_exact(&mut len)?;
        let len = u64::from_le_bytes(len);
        let mut body = Vec::new();
        if from.take(len).read_to_end(&mut body)? as u64 != len {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Self::parse(&body).ok_or_else(|| io::ErrorKind::InvalidData.into())
    }

    fn parse(body: &[u8]) -> Option<Self> {
        let mut fields = Fields(body);
        let program = PathBuf::from(fields.text()?);
        let name = fields.text()?;
        let cwd = PathBuf::from(fields.text()?);
        let stdin = Some(fields.text()?).filter(|file| !file.is_empty()).map(PathBuf::from);
        let grace = Duration::from_millis(fields.number()?);
        let is_sandboxed = fields.number()? != 0;
        let cpus = (0..fields.number()?)
            .map(|_| usize::try_from(fields.number()?).ok())
            .collect::<Option<_>>()?;
        let args = (0..fields.number()?).map(|_| fields.text()).collect::<Option<_>>()?;
        let mut env = BTreeMap::new();
        while !fields.0.is_empty() {
            env.insert(fields.text()?, fields.text()?);
        }
        Some(Self { program, name, args, cwd, stdin, env, grace, cpus, is_sandboxed })
    }
}

struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn next(&mut self) -> Option<&'a [u8]> {
        let (len, rest) = self.0.split_first_chunk()?;
        let len = usize::try_from(u64::from_le_bytes(*len)).ok()?;
        let (field, rest) = rest.split_at_checked(len)?;
        self.0 = rest;
        Some(field)
    }

    fn text(&mut self) -> Option<OsString> {
        self.next().map(|field| OsString::from_vec(field.to_vec()))
    }

    fn number(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.next()?.try_into().ok()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_arrives_as_it_was_sent_bytes_and_all() {
        let odd = OsString::from_vec(b"\xff\n\0 x".to_vec());
        let job = Job {
            program: "/bin/sh".into(),
            name: "sh".into(),
            args: vec!["-c".into(), odd.clone(), OsString::new()],
            cwd: "/".into(),
            stdin: Some("/dev/zero".into()),
            env: BTreeMap::from([("A".into(), odd), ("B".into(), OsString::new())]),
            grace: Duration::from_millis(2500),
            cpus: vec![0, 700],
            is_sandboxed: true,
        };
        let frame = job.to_frame();
        assert_eq!(Job::read(&*frame).unwrap(), job);
        for end in 0..frame.len() {
            assert!(Job::read(&frame[..end]).is_err());
        }
    }
}
