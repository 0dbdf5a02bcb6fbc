//! Git's version. In a file of its own, since `error` and `repository` both need it, and
//! `repository` imports `error`.

use std::fmt;

/// Version of the installed git.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct GitVersion(u32, u32, u32);

impl GitVersion {
    /// The oldest supported version. `bisect --first-parent` came with git 2.29.
    pub(crate) const OLDEST: Self = Self(2, 30, 0);

    /// Reads the output of `git version`, such as `git version 2.39.5 (Apple Git-154)`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let word = text.split_whitespace().find(|w| w.starts_with(|c: char| c.is_ascii_digit()))?;
        // A release candidate such as `2.48.0-rc1` counts as its release.
        let mut numbers = word.split(['.', '-']).map(|n| n.parse::<u32>().ok());
        let (major, minor) = (numbers.next()??, numbers.next()??);
        Some(Self(major, minor, numbers.next().flatten().unwrap_or(0)))
    }
}

impl fmt::Display for GitVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(major, minor, patch) = self;
        write!(f, "{major}.{minor}.{patch}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::GitError;

    #[test]
    fn versions_are_read_in_every_form() {
        let read = |text| GitVersion::parse(text).map(|v| v.to_string());
        assert_eq!(read("git version 2.39.5").as_deref(), Some("2.39.5"));
        assert_eq!(read("git version 2.39.5 (Apple Git-154)").as_deref(), Some("2.39.5"));
        assert_eq!(read("git version 2.45.1.windows.1").as_deref(), Some("2.45.1"));
        assert_eq!(read("git version 2.48.0-rc1").as_deref(), Some("2.48.0"));
        assert_eq!(read("git version 2.48.GIT").as_deref(), Some("2.48.0"));
        assert_eq!(read("hub"), None);
        assert!(
            GitVersion(2, 29, 9) < GitVersion::OLDEST && GitVersion::OLDEST < GitVersion(2, 47, 3)
        );
        assert_eq!(
            GitError::TooOld(GitVersion(2, 25, 1)).to_string(),
            "git 2.25.1 is too old: at least 2.30.0 is needed"
        );
    }
}
