//! The only module that reads repositories and calls git.
//!
//! Git2 reads commits and their graph, and it reads trees where a fetch is not allowed. Git itself
//! does all other work on trees and files: only git fetches missing objects of a partial clone,
//! honours attributes and filters, and limits history by paths as `git bisect` does.
//!
//! *Invariant:* nothing here writes to the user's worktree, index, HEAD, stash, branches, or
//! bisect session. All work happens in linked worktrees and bare repositories of our own.

mod authoring;
mod bisect;
mod bisect_repository;
mod bisect_state;
mod carried;
mod changes;
mod checkout_failure;
mod command;
mod commit;
mod dependencies;
mod diff;
mod disk;
mod error;
mod folding;
mod gitfile;
mod history;
mod laid;
mod leftovers;
mod lines;
mod link;
mod misfit;
mod parts;
mod raw_path;
mod removal;
mod repository;
mod restore;
mod snapshot;
mod sparsity;
mod submodules;
mod tracked;
mod tree_paths;
mod vendored;
mod version;
mod worktree;

pub use authoring::{Author, Authoring};
pub use bisect::BisectSession;
pub use bisect_state::{BisectState, End, Remaining};
pub use carried::{Absence, Change};
pub use changes::FileChange;
pub use diff::{FileDiff, read_diff};
pub use error::GitError;
pub use folding::folds_case;
pub use history::{History, Range};
pub use laid::{Laid, LaidTree, Layer, Laying, Refusal, Refused, pathspec};
pub use lines::ChangedLines;
pub use link::check_link;
pub use misfit::Misfit;
pub use parts::{ChangedFile, FileSide, Hunk, Split};
pub use repository::{Repository, git_version};
pub use snapshot::{BlobId, Here, Snapshot, without_hashing};
pub use version::GitVersion;
pub use worktree::{Holding, Worktree};

#[cfg(test)]
mod tests;
