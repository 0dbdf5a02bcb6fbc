//! The plan of the demo's history: one step per line.

use crate::evaluation::CommitId;

/// A line of the plan that is not a valid step.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("demo/history/plan:{line}: `{text}` is no step; see demo/README.md")]
pub struct PlanError {
    line: usize,
    text: String,
}

/// Author and date of a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Author {
    /// The name.
    pub name: String,
    /// The e-mail address.
    pub email: String,
    /// The date, ISO 8601 with offset.
    pub date: String,
}

/// One step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verb {
    /// Make the first commit: everything below `demo/base`.
    Root {
        /// The author.
        author: Author,
        /// The commit message.
        subject: String,
    },
    /// Apply a patch, relative to `demo/history`.
    Apply(String),
    /// Create a branch and switch to it.
    Branch {
        /// The branch's name.
        name: String,
        /// The start of the branch; the current commit if `None`.
        at: Option<String>,
    },
    /// Switch to a branch.
    Switch(String),
    /// Merge a branch into the current one.
    Merge {
        /// The branch.
        branch: String,
        /// The author of the merge.
        author: Author,
        /// The commit message.
        subject: String,
    },
    /// Tag the current commit.
    Tag(String),
    /// Check that a revision has this commit id: the history's ids are fixed.
    Expect {
        /// The revision.
        revision: String,
        /// The expected commit id.
        id: CommitId,
    },
}

/// All steps, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Plan(pub(crate) Vec<Verb>);

impl Plan {
    /// Reads a plan; `#` begins a comment line.
    pub(crate) fn parse(text: &str) -> Result<Self, PlanError> {
        let mut verbs = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let verb =
                verb(line).ok_or_else(|| PlanError { line: number + 1, text: line.to_owned() })?;
            verbs.push(verb);
        }
        Ok(Self(verbs))
    }
}

fn verb(line: &str) -> Option<Verb> {
    let (word, rest) = line.split_once(' ')?;
    let words: Vec<&str> = rest.split(' ').collect();
    let author = |words: &[&str]| {
        let [name, email, date, subject @ ..] = words else { return None };
        let author = Author {
            name: name.replace('_', " "),
            email: (*email).to_owned(),
            date: (*date).to_owned(),
        };
        (!subject.is_empty()).then(|| (author, subject.join(" ")))
    };
    match (word, words.as_slice()) {
        ("root", words) => author(words).map(|(author, subject)| Verb::Root { author, subject }),
        ("merge", [branch, words @ ..]) => author(words).map(|(author, subject)| Verb::Merge {
            branch: (*branch).to_owned(),
            author,
            subject,
        }),
        ("apply", [patch]) => Some(Verb::Apply((*patch).to_owned())),
        ("branch", [name]) => Some(Verb::Branch { name: (*name).to_owned(), at: None }),
        ("branch", [name, at]) => {
            Some(Verb::Branch { name: (*name).to_owned(), at: Some((*at).to_owned()) })
        }
        ("switch", [name]) => Some(Verb::Switch((*name).to_owned())),
        ("tag", [name]) => Some(Verb::Tag((*name).to_owned())),
        ("expect", [revision, id]) => {
            Some(Verb::Expect { revision: (*revision).to_owned(), id: id.parse().ok()? })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bundled_plan_reads_and_begins_with_a_root() {
        let text = crate::demo::embedded::DEMO
            .get_file("history/plan")
            .and_then(include_dir::File::contents_utf8)
            .unwrap();
        let plan = Plan::parse(text).unwrap();
        assert!(matches!(plan.0.first(), Some(Verb::Root { .. })));
        assert!(plan.0.iter().any(|verb| matches!(verb, Verb::Expect { .. })));
        assert!(plan.0.iter().any(|verb| matches!(verb, Verb::Merge { .. })));
    }

    #[test]
    fn a_line_that_is_no_step_is_named() {
        let error = Plan::parse("# x\n\ntag v1\nfrobnicate y").unwrap_err();
        assert_eq!(
            error.to_string(),
            "demo/history/plan:4: `frobnicate y` is no step; see demo/README.md"
        );
        assert!(Plan::parse("expect main 1234").is_err());
        assert!(Plan::parse("root A a@b").is_err());
    }
}
