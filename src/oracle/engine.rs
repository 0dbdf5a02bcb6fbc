//! What is checked out for a commit under test: the commit itself, or, in a hunt inside a
//! dependency, one fixed commit of the engine with the dependency replaced.

use std::sync::Arc;

use crate::evaluation::{CommitId, DependencyHunt, TreeEntry};
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

    /// The layers that put the dependency's commit under test into the engine as plain files, with
    /// entries of its own tree over them; in an ordinary hunt only the entries.
    pub(crate) fn as_files(
        &self,
        in_question: &CommitId,
        entries: &Arc<Vec<TreeEntry>>,
    ) -> Vec<Layer> {
        let Some(DependencyHunt { path, files, .. }) = &self.within else {
            let some = Some(entries.clone()).filter(|entries| !entries.is_empty());
            return some.map(Layer::Entries).into_iter().collect();
        };
        let dependency = if files.is_empty() {
            Some(Layer::Inline { path: path.clone(), from: in_question.clone() })
        } else {
            self.exchanged(in_question)
        };
        // A copy has only some of the project's files.
        let is_here = |entry: &&TreeEntry| {
            files.is_empty() || files.iter().any(|file| file.as_bytes() == entry.path)
        };
        let below = |entry: &TreeEntry| TreeEntry {
            path: [path.as_bytes(), b"/", &entry.path].concat(),
            ..entry.clone()
        };
        let entries: Vec<TreeEntry> = entries.iter().filter(is_here).map(below).collect();
        let entries = Some(entries).filter(|entries| !entries.is_empty());
        let entries = entries.map(|entries| Layer::Entries(Arc::new(entries)));
        dependency.into_iter().chain(entries).collect()
    }
}
