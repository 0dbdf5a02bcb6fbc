//! The TCP sockets of this machine, from the kernel's tables (Linux; elsewhere none are seen).

use std::collections::{BTreeMap, BTreeSet};

#[cfg(target_os = "linux")]
use super::socket_diag::listening;

/// The state of a socket that listens, in `/proc/net/tcp`.
const LISTENS: &str = "0A";

/// The TCP sockets at one moment.
#[derive(Debug, Default)]
pub(crate) struct TcpSockets {
    /// For each port the inodes of the sockets that listen there.
    listening: BTreeMap<u16, BTreeSet<u64>>,
    /// Both ports of each connection within this machine. The kernel lists a connection for a
    /// minute after its end, so short ones are seen too.
    connections: BTreeSet<(u16, u16)>,
}

/// A process that listens.
#[derive(Clone, Debug)]
pub(crate) struct Listener {
    pub(crate) pid: i32,
    /// Its command, one word per entry; empty if it cannot be read.
    pub(crate) words: Vec<String>,
}

impl TcpSockets {
    /// The sockets that listen now, without the connections: much faster than [`Self::now`].
    pub(crate) fn listening_now() -> Self {
        let Some(sockets) = listening() else { return Self::now() };
        let mut now = Self::default();
        for (port, inode) in sockets {
            now.listening.entry(port).or_default().insert(inode);
        }
        now
    }

    /// The sockets of now.
    pub(crate) fn now() -> Self {
        let mut sockets = Self::default();
        for file in ["/proc/net/tcp", "/proc/net/tcp6"] {
            sockets.add(&std::fs::read_to_string(file).unwrap_or_default());
        }
        sockets
    }

    /// Adds the sockets of a table (`proc_pid_net(5)`). Its columns: number, own address, other
    /// address, state, queues, timer, retransmissions, user, time-outs, inode.
    fn add(&mut self, table: &str) {
        for line in table.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            let [_, own, other, state, _, _, _, _, _, inode, ..] = words[..] else { continue };
            let (Some(own), Some(other)) = (address(own), address(other)) else { continue };
            if state == LISTENS {
                let inodes = self.listening.entry(own.1).or_default();
                inodes.extend(inode.parse::<u64>());
            } else if own.0 == other.0 {
                self.connections.insert((own.1, other.1));
            }
        }
    }

    /// The ports on which a program listens.
    pub(crate) fn ports(&self) -> impl Iterator<Item = u16> {
        self.listening.keys().copied()
    }

    /// Whether a program of this machine connected to this port of this machine since `before`.
    pub(crate) fn has_new_connection(&self, before: &Self, port: u16) -> bool {
        let mut new = self.connections.difference(&before.connections);
        new.any(|(own, other)| *own == port || *other == port)
    }

    /// The process that listens on this port; `None` if it is another user's or has ended. Of
    /// several processes that share the socket, the one with the smallest number.
    pub(crate) fn listener(&self, port: u16) -> Option<Listener> {
        let sockets = self.listening.get(&port)?;
        let sockets: BTreeSet<String> =
            sockets.iter().map(|inode| format!("socket:[{inode}]")).collect();
        let entries = std::fs::read_dir("/proc").ok()?;
        let pids: BTreeSet<i32> = entries
            .flatten()
            .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
            .collect();
        let pid = pids.into_iter().find(|pid| has_open(*pid, &sockets))?;
        let command = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let command = String::from_utf8_lossy(&command);
        let words = command.trim_end_matches('\0').split('\0').map(str::to_owned);
        Some(Listener { pid, words: words.filter(|word| !word.is_empty()).collect() })
    }
}

#[cfg(not(target_os = "linux"))]
fn listening() -> Option<Vec<(u16, u64)>> {
    None
}

/// Whether the process has one of these sockets open.
fn has_open(pid: i32, sockets: &BTreeSet<String>) -> bool {
    let open = std::fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    open.filter_map(|entry| std::fs::read_link(entry.path()).ok())
        .any(|target| target.to_str().is_some_and(|target| sockets.contains(target)))
}

/// Host and port of an address such as `0100007F:1F90`.
fn address(text: &str) -> Option<(&str, u16)> {
    let (host, port) = text.rsplit_once(':')?;
    Some((host, u16::from_str_radix(port, 16).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: &str = "\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 4711 1
   1: 0100007F:1F90 0100007F:C350 06 00000000:00000000 03:00000000 00000000     0        0 0 3
";
    const AFTER: &str = "\
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 4711 1
   1: 0100007F:1F90 0100007F:C351 06 00000000:00000000 03:00000000 00000000     0        0 0 3
   2: 0200000A:C352 08080808:0050 01 00000000:00000000 00:00000000 00000000  1000        0 4712 1
";

    #[test]
    fn who_listens_and_who_connected_is_read() {
        let [mut before, mut after] = [TcpSockets::default(), TcpSockets::default()];
        before.add(BEFORE);
        after.add(AFTER);
        assert_eq!(before.ports().collect::<Vec<_>>(), [8080]);
        assert_eq!(before.listening[&8080], BTreeSet::from([4711]));
        assert!(after.has_new_connection(&before, 8080));
        assert!(!before.has_new_connection(&before, 8080), "it was there before");
        assert!(!after.has_new_connection(&before, 80), "another machine's port");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_process_listens() {
        let socket = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = socket.local_addr().unwrap().port();
        let before = TcpSockets::now();
        assert!(before.ports().any(|other| other == port));
        assert_eq!(TcpSockets::listening_now().listening[&port], before.listening[&port]);
        let listener = before.listener(port).unwrap();
        assert_eq!(listener.pid, i32::try_from(std::process::id()).unwrap());
        assert!(!listener.words.is_empty());
        drop(std::net::TcpStream::connect(("127.0.0.1", port)).unwrap());
        assert!(TcpSockets::now().has_new_connection(&before, port));
    }
}
