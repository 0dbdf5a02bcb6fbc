//! Reads git's lists of a tree's files, without the files themselves.

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

/// Reads a record of `ls-tree -z` (`MODE SP KIND SP OBJECT TAB PATH`): the mode, the object's name
/// and the path.
pub(super) fn read_record(record: &[u8]) -> Option<(&str, &str, &[u8])> {
    let tab = record.iter().position(|byte| *byte == b'\t')?;
    let mut words = std::str::from_utf8(&record[..tab]).ok()?.split(' ');
    Some((words.next()?, words.nth(1)?, &record[tab + 1..]))
}
