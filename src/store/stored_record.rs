//! The records that a hunt's journal names, as they are on disk.

use super::json_digest::{is_unchanged, without_digest};
use super::record_files::read_if_there;
use super::{HuntDir, StoreError};

impl HuntDir {
    /// The text of a record (`kind`: `runs`, `builds`) in the store of this hunt, without its
    /// digest; `None` if it is gone or has changed.
    pub(crate) fn stored_record(
        &self,
        kind: &str,
        key: &str,
        attempt: &str,
    ) -> Result<Option<Vec<u8>>, StoreError> {
        let (Some(root), Some(first)) = (self.path().ancestors().nth(2), key.get(..2)) else {
            return Ok(None);
        };
        let folder = root.join(kind).join(first).join(key);
        let path = folder.join(format!("{attempt}.json"));
        let bytes = read_if_there(&path)?.filter(|bytes| is_unchanged(bytes));
        Ok(bytes.map(|bytes| without_digest(&bytes)))
    }
}
