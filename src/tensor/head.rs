//! Reads the header at the beginning of a file.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use super::error::Problem;

/// What to do about a damaged file.
pub(super) const REDUMP: &str = "write the dump again";

/// The first bytes of a file, as many as it has.
pub(super) fn head(file: &File, bytes: usize) -> io::Result<Vec<u8>> {
    let mut buffer = vec![0; bytes];
    let mut have = 0;
    while have < bytes {
        match file.read_at(&mut buffer[have..], have as u64) {
            Ok(0) => break,
            Ok(more) => have += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    buffer.truncate(have);
    Ok(buffer)
}

/// Checks that a header has all its bytes.
pub(super) fn whole(header: &[u8], bytes: usize) -> Result<(), Problem> {
    if header.len() < bytes {
        return Err(Problem::new("the file ends in its header", REDUMP));
    }
    Ok(())
}
