//! What is checked out for a commit under test: the commit itself, or, in a hunt inside a
//! dependency, one fixed commit of the engine with the dependency replaced.

use crate::evaluation::{CommitId, DependencyHunt};
use crate::git::{History, Layer};

/// The engine under test.
pub(crate) struct Engine {
    /// The repository that is checked out and built.
    pub history: History,
    /// The engine's fixed commit, in a hunt inside a dependency.
    pub within: Option<DependencyHunt>,
}

impl Engine {
    /// The engine's commit for a commit under test: HEAD during its build.
    pub(crate) fn commit<'a>(&'a self, in_question: &'a CommitId) -> &'a CommitId {
        self.within.as_ref().map_or(in_question, |within| &within.commit.commit)
    }

    /// The layer that puts the dependency's commit under test into the engine; `None` in an
    /// ordinary hunt.
    pub(crate) fn exchanged(&self, in_question: &CommitId) -> Option<Layer> {
        let within = self.within.as_ref()?;
        let DependencyHunt { path, files, .. } = within;
        Some(if files.is_empty() {
            Layer::Pin { path: path.clone(), to: in_question.clone() }
        } else {
            Layer::Vendored {
                folder: path.clone(),
                from: in_question.clone(),
                files: files.clone(),
            }
        })
    }
}
