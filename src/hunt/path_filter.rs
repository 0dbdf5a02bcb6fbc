//! The paths that limit a search: it tests only commits that touch them.

/// What limits a search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PathFilter {
    /// Pathspecs of the user.
    pub(crate) asked: Vec<String>,
    /// Paths that the endpoints' builds did not read.
    pub(crate) unread: Vec<String>,
}

impl PathFilter {
    /// Whether the search covers all commits.
    pub(crate) fn is_empty(&self) -> bool {
        self.asked.is_empty() && self.unread.is_empty()
    }

    /// Only the user's part.
    pub(crate) fn asked_alone(&self) -> Self {
        Self { asked: self.asked.clone(), unread: Vec::new() }
    }

    /// As git's pathspecs.
    pub(crate) fn specs(&self) -> Vec<String> {
        let mut specs = self.asked.clone();
        if specs.is_empty() && !self.unread.is_empty() {
            specs.push(":(top)".to_owned());
        }
        specs.extend(self.unread.iter().map(|path| format!(":(top,literal,exclude){path}")));
        specs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unread_paths_are_taken_off_what_the_user_asked_for() {
        let filter = |asked: &[&str], unread: &[&str]| {
            let owned = |paths: &[&str]| paths.iter().map(|path| (*path).to_owned()).collect();
            PathFilter { asked: owned(asked), unread: owned(unread) }
        };
        let left_out = ":(top,literal,exclude)a*b";
        assert_eq!(filter(&[], &["a*b"]).specs(), [":(top)", left_out]);
        assert_eq!(filter(&["src"], &["a*b"]).specs(), ["src", left_out]);
        assert_eq!(filter(&["src"], &["a*b"]).asked_alone().specs(), ["src"]);
        assert!(filter(&[], &[]).is_empty() && filter(&[], &[]).specs().is_empty());
    }
}
