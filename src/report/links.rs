//! Where a page's links lead.

use std::fmt::Write as _;

/// A path as the target of a link: nothing in it can end the link or start a scheme.
pub(super) fn target(path: &str) -> String {
    let mut safe = String::with_capacity(path.len());
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'.' | b'_' | b'-') {
            safe.push(char::from(byte));
        } else {
            let _ = write!(safe, "%{byte:02X}");
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_target_cannot_end_early() {
        assert_eq!(target("logs/a b).log\n"), "logs/a%20b%29.log%0A");
        assert_eq!(target("javascript:x\"<"), "javascript%3Ax%22%3C");
    }
}
