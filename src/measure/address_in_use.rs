//! Recognises lines of output which say that an address is in use, on which a program wanted to
//! listen.

use std::sync::LazyLock;

use regex::bytes::Regex;

/// The texts of the systems (`strerror`, Winsock) and of common runtimes and servers.
static IN_USE: LazyLock<Regex> = LazyLock::new(|| {
    let forms = "(?i-u)address already in use|addrinuse|\\[errno 98\\]\
                 |only one usage of each socket address\
                 |(couldn't|could not|failed to|cannot) bind\\b.*\\bport\\b\
                 |\\bport\\b.{0,20}\\balready (in use|being used)";
    Regex::new(forms).expect("a constant of ours")
});

/// Words of a program that goes on with another port.
static GOES_ON: LazyLock<Regex> = LazyLock::new(|| {
    let forms = "(?i-u)\\btrying\\b|\\binstead\\b|\\b(another|next) (free )?port\\b";
    Regex::new(forms).expect("a constant of ours")
});

/// Ports below are those of the system. Only its administrator can listen there.
pub(crate) const FIRST_USER_PORT: u16 = 1024;

/// Numbers that are nearly always the year of a time.
const YEARS: std::ops::Range<u16> = 2000..2100;

/// Whether a line says that an address is in use, and not that the program takes another one.
pub(crate) fn says_address_in_use(line: &[u8]) -> bool {
    IN_USE.is_match(line) && !GOES_ON.is_match(line)
}

/// The whole numbers of a line that may be ports of a user's program.
pub(crate) fn named_ports(line: &str) -> impl Iterator<Item = u16> {
    let words = line.split(|c: char| !c.is_alphanumeric());
    let numbers = words.filter_map(|word| word.parse::<u16>().ok());
    numbers.filter(|port| *port >= FIRST_USER_PORT && !YEARS.contains(port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_texts_of_common_servers_are_known() {
        for (line, ports) in [
            ("OSError: [Errno 98] Address already in use", &[][..]),
            ("OSError: [Errno 98] Die Adresse wird bereits verwendet", &[]),
            ("bind(): Address already in use", &[]),
            ("listen tcp 127.0.0.1:8080: bind: address already in use", &[8080]),
            ("Error: listen EADDRINUSE: address already in use :::3000", &[3000]),
            ("Os { code: 98, kind: AddrInUse, message: \"...\" }", &[]),
            ("couldn't bind HTTP server socket, hostname: 127.0.0.1, port: 8080", &[8080]),
            (
                "ERROR: [Errno 98] error while attempting to bind on address ('0.0.0.0', 8000): \
                 address already in use",
                &[8000],
            ),
            ("Error: Port 8501 is already in use", &[8501]),
            ("2026-11-27 10:22:33 bind: Only one usage of each socket address", &[]),
        ] {
            assert!(says_address_in_use(line.as_bytes()), "{line}");
            assert_eq!(named_ports(line).collect::<Vec<_>>(), ports, "{line}");
        }
    }

    #[test]
    fn other_lines_say_nothing() {
        for line in [
            "ppl = 7.25",
            "server is listening on port 8080",
            "The port 8888 is already in use, trying another port.",
            "Port 8501 is already in use; using 8502 instead",
            "could not bind texture",
            "the model is already in use",
            "",
        ] {
            assert!(!says_address_in_use(line.as_bytes()), "{line}");
        }
    }
}
