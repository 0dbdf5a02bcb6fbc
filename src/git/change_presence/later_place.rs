//! Where a later commit put a file of a change, or its lines.

use crate::evaluation::CommitId;

/// Another path to which a later commit took a file of a change, or the lines of the change.
#[derive(Clone, Debug)]
pub(super) struct LaterPlace {
    pub(super) path: Vec<u8>,
    /// The later commit.
    pub(super) since: CommitId,
    /// Whether the later commit renamed the file to this path. If false, this is the path of
    /// another file, to which lines of the change moved.
    pub(super) is_name: bool,
}
