//! The only room that reads repositories and calls git.
//!
//! Commits and their graph are read through git2; whatever touches trees and files goes
//! through git itself, since only git fetches what a partial clone left out, honours
//! attributes and filters, and limits history by paths as `git bisect` does.
//!
//! *Invariant:* the user's worktree, index, HEAD, stash, branches and bisect are never written
//! to. Everything happens in linked worktrees of our own, whose state git keeps apart.

mod authoring;
mod bisect;
mod bisect_repository;
mod bisect_state;
mod carried;
mod changes;
mod command;
mod commit;
mod dependencies;
mod disk;
mod error;
mod folding;
mod history;
mod laid;
mod leftovers;
mod lines;
mod link;
mod misfit;
mod removal;
mod repository;
mod restore;
mod snapshot;
mod sparsity;
mod submodules;
mod tracked;
mod vendored;
mod worktree;

pub use authoring::{Author, Authoring};
pub use bisect::BisectSession;
pub use bisect_state::{BisectState, End, Remaining};
pub use carried::{Absence, Change};
pub use changes::{ChangeStatus, FileChange};
pub use error::GitError;
pub use folding::folds_case;
pub use history::{CommitInfo, History, Range};
pub use laid::{Laid, LaidTree, Layer, Laying, Refusal, Refused, pathspec};
pub use lines::ChangedLines;
pub use misfit::Misfit;
pub use repository::{GitVersion, Repository, git_version};
pub use snapshot::{BlobId, Here, Snapshot};
pub use worktree::{Holding, Worktree};

/// What a list of all files of a large repository takes, in bytes.
const LONGEST_LIST: usize = 256 << 20;

#[cfg(test)]
mod tests;
