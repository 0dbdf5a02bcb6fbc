//! Lists the paths of a tree without reading the files.

use super::GitError;
use super::command::{Call, LONGEST_LIST};

/// The paths of all files in a tree, separated by NUL.
pub(super) fn list_tree(call: Call, tree: &str) -> Result<Vec<u8>, GitError> {
    let call = call.args(["ls-tree", "-r", "-z", "--name-only", "--full-tree", tree]);
    Ok(call.capture(LONGEST_LIST).ok()?.stdout)
}

/// The paths in a list from [`list_tree`].
pub(super) fn paths_of(listed: &[u8]) -> impl Iterator<Item = &[u8]> {
    listed.split(|byte| *byte == 0).filter(|path| !path.is_empty())
}
