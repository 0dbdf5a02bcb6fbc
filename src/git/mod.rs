//! The only module that reads repositories and calls git.
//!
//! Git2 reads commits and their graph, and it reads trees where a fetch is not allowed. Git itself
//! does all other work on trees and files: only git fetches missing objects of a partial clone,
//! honours attributes and filters, and limits history by paths as `git bisect` does.
//!
//! *Invariant:* nothing here writes to the user's worktree, index, HEAD, stash, branches, or
//! bisect session. All work happens in linked worktrees and bare repositories of our own.

mod answers;
mod authoring;
mod bisect;
mod bisect_repository;
mod bisect_state;
mod change_presence;
mod changes;
mod checkout_failure;
mod checkout_impossible;
mod command;
mod command_question;
mod commit;
mod common_files;
mod dependencies;
mod diff;
mod disk;
mod error;
mod folding;
mod gitfile;
mod history;
mod laid;
mod laid_commit;
mod leftovers;
mod lfs_pointer;
mod lines;
mod link;
mod moved;
mod overlay;
mod parts;
mod pin_change;
mod put_away;
mod raw_path;
mod removal;
mod repository;
mod restore;
mod scratch_repository;
mod snapshot;
mod sparsity;
mod submodules;
mod tags;
mod touched;
mod trace_events;
mod tracked;
mod tree_paths;
mod unknown_files;
mod vendored;
mod version;
mod word_search;
mod worktree;
mod written;

pub(crate) use authoring::{Author, DemoRepositoryWriter};
pub(crate) use bisect::{BisectSession, log_with};
pub(crate) use bisect_state::{BisectState, End, Remaining};
pub(crate) use change_presence::{
    AddedFile, Change, CommitsWithoutChange, HeldLines, MergeWithoutLines, TakenBack,
};
pub(crate) use changes::FileChange;
pub(crate) use checkout_impossible::CheckoutImpossible;
pub(crate) use common_files::CommonFiles;
pub(crate) use diff::{FileDiff, read_diff};
pub(crate) use error::GitError;
pub(crate) use folding::folds_case;
pub(crate) use history::{History, Range};
pub(crate) use laid::OverlayBuilder;
pub(crate) use lfs_pointer::{LONGEST_POINTER, is_pointer};
pub(crate) use lines::ChangedLines;
pub(crate) use link::check_link;
pub(crate) use moved::{LineSets, MovedCode};
pub(crate) use overlay::{
    LaidTree, Layer, OverlayFailure, OverlayFailureCause, OverlayResult, pathspec,
};
pub(crate) use parts::{ChangedFile, FileSide, Hunk, Split};
pub(crate) use pin_change::submodule_entries;
pub(crate) use repository::{Repository, git_version};
pub(crate) use scratch_repository::{Conflicts, MergedTree};
pub(crate) use snapshot::{BlobId, EntryKind, Snapshot, without_hashing};
pub(crate) use touched::{TouchedPath, TouchedPaths};
pub(crate) use trace_events::asked_git;
pub(crate) use version::GitVersion;
pub(crate) use worktree::{CheckoutSpec, Worktree, mend_moved};

#[cfg(test)]
mod tests;
