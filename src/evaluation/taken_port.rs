//! A TCP port that a run wanted, and that a program outside the run held.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A program outside the run listened on the port that the run wanted. Clients that the run starts
/// may have talked to that program, so the run says nothing about its commit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TakenPort {
    /// The port.
    pub port: u16,
    /// The process that listens there; `None` if it is another user's or has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<i32>,
    /// The command of this process, as a user could type it; empty if it is not known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub command: String,
    /// The line of the run's output that says so.
    pub says: String,
}

impl fmt::Display for TakenPort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { port, pid, command, says } = self;
        f.write_str("another program ")?;
        match pid {
            Some(pid) if command.is_empty() => write!(f, "(pid {pid}) ")?,
            Some(pid) => write!(f, "(pid {pid}: `{command}`) ")?,
            None => {}
        }
        write!(f, "listens on port {port}, and the run says `{says}`")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_is_named_if_it_is_known() {
        let mut taken = TakenPort {
            port: 8080,
            pid: Some(77),
            command: "python3 server.py".to_owned(),
            says: "bind: Address already in use".to_owned(),
        };
        assert_eq!(
            taken.to_string(),
            "another program (pid 77: `python3 server.py`) listens on port 8080, and the run says \
             `bind: Address already in use`"
        );
        taken.command.clear();
        assert!(taken.to_string().starts_with("another program (pid 77) listens on port 8080,"));
        taken.pid = None;
        assert!(taken.to_string().starts_with("another program listens on port 8080,"));
    }
}
