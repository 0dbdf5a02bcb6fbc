//! Asks the kernel for the TCP sockets that listen (`sock_diag(7)`). The tables in `/proc/net` have
//! them too, but the kernel looks through its whole table of connections for each reading: about
//! 10 ms, much longer than many a run of a test.

use std::time::Duration;

use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink, recv, send, socket_with,
};

/// Types of messages, and flags of a request (`linux/netlink.h`, `linux/sock_diag.h`).
const BY_FAMILY: u16 = 20;
const DONE: u16 = 3;
const DUMP_REQUEST: u16 = 0x301;

/// Families and the protocol of the sockets.
const INET: [u8; 2] = [2, 10];
const TCP: u8 = 6;
/// The bit of the state `TCP_LISTEN`.
const LISTEN: u32 = 1 << 10;

/// Lengths in bytes: of a message's header, and of a request with it.
const HEADER: usize = 16;
const REQUEST: usize = HEADER + 56;

/// The kernel answers at once. A machine on which it does not has no such sockets.
const LONGEST_WAIT: Duration = Duration::from_secs(1);

/// The port and the inode of each TCP socket that listens. `None` if the kernel does not tell.
pub(super) fn listening() -> Option<Vec<(u16, u64)>> {
    let socket = socket_with(
        AddressFamily::NETLINK,
        SocketType::DGRAM,
        SocketFlags::CLOEXEC,
        Some(netlink::SOCK_DIAG),
    )
    .ok()?;
    set_socket_timeout(&socket, Timeout::Recv, Some(LONGEST_WAIT)).ok()?;
    let mut sockets = Vec::new();
    let mut buffer = vec![0; 64 * 1024];
    for family in INET {
        send(&socket, &request(family), SendFlags::empty()).ok()?;
        let mut is_done = false;
        while !is_done {
            let (read, _) = recv(&socket, buffer.as_mut_slice(), RecvFlags::empty()).ok()?;
            is_done = take(&buffer[..read], &mut sockets)?;
        }
    }
    Some(sockets)
}

/// A request for all sockets of a family that listen.
fn request(family: u8) -> [u8; REQUEST] {
    let mut bytes = [0; REQUEST];
    let length = u32::try_from(REQUEST).expect("a few bytes");
    bytes[0..4].copy_from_slice(&length.to_ne_bytes());
    bytes[4..6].copy_from_slice(&BY_FAMILY.to_ne_bytes());
    bytes[6..8].copy_from_slice(&DUMP_REQUEST.to_ne_bytes());
    bytes[HEADER..HEADER + 2].copy_from_slice(&[family, TCP]);
    bytes[HEADER + 4..HEADER + 8].copy_from_slice(&LISTEN.to_ne_bytes());
    bytes
}

/// Reads the messages of one answer. Returns whether it was the last one; `None` after an error, or
/// if a message has another form.
fn take(mut answer: &[u8], sockets: &mut Vec<(u16, u64)>) -> Option<bool> {
    while !answer.is_empty() {
        let length = usize::try_from(u32::from_ne_bytes(array(answer, 0)?)).ok()?;
        let kind = u16::from_ne_bytes(array(answer, 4)?);
        let message = answer.get(HEADER..length)?;
        match kind {
            DONE => return Some(true),
            BY_FAMILY => {
                // `struct inet_diag_msg`: the port is in the order of the network.
                let port = u16::from_be_bytes(array(message, 4)?);
                let inode = u32::from_ne_bytes(array(message, 68)?);
                sockets.push((port, inode.into()));
            }
            _ => return None,
        }
        // Messages begin at multiples of four bytes.
        answer = answer.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    Some(false)
}

/// So many bytes from this place on.
fn array<const N: usize>(bytes: &[u8], from: usize) -> Option<[u8; N]> {
    bytes.get(from..from + N)?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn sockets_that_listen_are_told() {
        let [four, six] = ["127.0.0.1:0", "[::1]:0"].map(TcpListener::bind);
        // The machine may have no IPv6.
        for listener in [four.ok(), six.ok()].into_iter().flatten() {
            let port = listener.local_addr().unwrap().port();
            let found = listening().expect("this kernel tells");
            assert!(found.iter().any(|(other, inode)| *other == port && *inode > 0), "{found:?}");
        }
    }

    #[test]
    fn a_damaged_answer_tells_nothing() {
        let mut sockets = Vec::new();
        assert_eq!(take(&[], &mut sockets), Some(false));
        assert_eq!(take(&[1, 2, 3], &mut sockets), None);
        let mut done = request(2);
        done[4..6].copy_from_slice(&DONE.to_ne_bytes());
        assert_eq!(take(&done, &mut sockets), Some(true));
        assert_eq!(take(&request(2), &mut sockets), None, "too short for a socket");
        let mut endless = [0; HEADER];
        endless[4..6].copy_from_slice(&BY_FAMILY.to_ne_bytes());
        assert_eq!(take(&endless, &mut sockets), None, "a length of zero");
        assert!(sockets.is_empty());
    }
}
