//! Where a later commit put a file of a change, or its lines.

use crate::evaluation::CommitId;

/// Another path to which a later commit took a file of a change, or the lines of the change.
#[derive(Clone, Debug)]
pub(super) struct LaterPlace {
    pub(super) path: Vec<u8>,
    /// The commit that took them there.
    pub(super) since: CommitId,
    /// Whether this is the new name of the file. If not, only the lines moved to this other file.
    pub(super) is_name: bool,
}
