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

    /// What is left of this filter after searches that went on without a part of it. `used`: the
    /// pathspecs of each search.
    pub(crate) fn as_far_as_used(&self, used: &[Vec<String>]) -> Self {
        let forms = [self.clone(), self.asked_alone(), Self::default()];
        let form = |specs: &Vec<String>| forms.iter().position(|one| one.specs() == *specs);
        let widest = used.iter().map(|specs| form(specs).unwrap_or(2)).max();
        forms[widest.unwrap_or(0)].clone()
    }

    /// What the commits that a search leaves out do, after `those that`.
    pub(crate) fn what_is_left_out(&self) -> String {
        let asked = format!("touch nothing in the path filter ({})", self.asked.join(" "));
        let unread = "change nothing that the builds of both ends read";
        match (self.asked.is_empty(), self.unread.is_empty()) {
            (false, true) => asked,
            (true, _) => unread.to_owned(),
            (false, false) => format!("{asked} or {unread}"),
        }
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

    #[test]
    fn a_search_without_a_part_of_the_filter_drops_this_part() {
        let all = PathFilter { asked: vec!["src".to_owned()], unread: vec!["docs".to_owned()] };
        let asked = all.asked_alone();
        let used = |forms: &[&PathFilter]| {
            let specs: Vec<_> = forms.iter().map(|one| one.specs()).collect();
            all.as_far_as_used(&specs)
        };
        assert_eq!(used(&[]), all);
        assert_eq!(used(&[&all, &all]), all);
        assert_eq!(used(&[&all, &asked, &all]), asked);
        assert!(used(&[&all, &PathFilter::default(), &asked]).is_empty());
    }
}
