//! Finished logs on the disk: a long one is compressed with zstd, a short one is plain text.
//! Readers tell them apart by the first bytes, so that logs of older versions are read too.

use std::io::{self, Read};
use std::path::Path;

use crate::files;

/// Bytes of the longest log that stays plain text, for people to open.
const PLAIN: u64 = 64 << 10;

/// Most bytes of a log: lines with values up to 64 MiB, a measure's file up to 64 MiB, the first
/// and the last MiB of the output, and their marks. A file that expands to more is no log of ours.
const MOST: u64 = 256 << 20;

/// zstd's own default: logs shrink to about a tenth, at several hundred MB a second.
const LEVEL: i32 = 3;

/// The first bytes of what zstd writes (RFC 8878, 3.1.1). No log begins so: each line has a mark.
const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// The text of a log, compressed or not. Errors: the file cannot be read, or
/// [`io::ErrorKind::InvalidData`] if it cannot be decompressed.
pub fn log_bytes(path: &Path) -> io::Result<Vec<u8>> {
    let bytes = files::read(path)?;
    if !bytes.starts_with(&MAGIC) {
        return Ok(bytes);
    }
    let invalid = |error: io::Error| io::Error::new(io::ErrorKind::InvalidData, error);
    let mut text = Vec::new();
    let decoder = zstd::Decoder::new(&bytes[..]).map_err(invalid)?;
    decoder.take(MOST).read_to_end(&mut text).map_err(invalid)?;
    if text.len() as u64 == MOST {
        return Err(invalid(io::Error::other("the log is too long")));
    }
    Ok(text)
}

/// Whether the file is a compressed log; false if it cannot be read.
pub(crate) fn is_compressed_log(path: &Path) -> bool {
    let mut first = [0; MAGIC.len()];
    files::open(path).and_then(|mut file| file.read_exact(&mut first)).is_ok() && first == MAGIC
}

/// Compresses a text as [`compress_log`] does.
pub(crate) fn compressed_log(text: &[u8]) -> io::Result<Vec<u8>> {
    zstd::encode_all(text, LEVEL)
}

/// Replaces a long log by its compressed form, which is synced. A short one, and one that is
/// compressed already, stays as it is.
pub(crate) fn compress_log(path: &Path) -> io::Result<()> {
    if std::fs::metadata(path)?.len() <= PLAIN || is_compressed_log(path) {
        return Ok(());
    }
    let aside = path.with_extension("zst");
    let mut encoder = zstd::Encoder::new(files::create(&aside)?, LEVEL)?;
    io::copy(&mut files::open(path)?, &mut encoder)?;
    encoder.finish()?.sync_all()?;
    std::fs::rename(aside, path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_log_is_smaller_on_the_disk_and_reads_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("a.log");
        let text = "1> [1]7.1234, a line like any other\n".repeat(4000);
        std::fs::write(&log, &text).unwrap();
        compress_log(&log).unwrap();
        assert!(is_compressed_log(&log));
        assert!(std::fs::metadata(&log).unwrap().len() < text.len() as u64 / 10);
        assert_eq!(log_bytes(&log).unwrap(), text.as_bytes());
        let before = std::fs::read(&log).unwrap();
        compress_log(&log).unwrap();
        assert_eq!(std::fs::read(&log).unwrap(), before, "not compressed twice");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        std::fs::write(&log, &before[..before.len() / 2]).unwrap();
        assert_eq!(log_bytes(&log).unwrap_err().kind(), io::ErrorKind::InvalidData);
    }

    #[test]
    fn a_short_log_stays_plain_text() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("a.log");
        std::fs::write(&log, "1> short\n").unwrap();
        compress_log(&log).unwrap();
        assert!(!is_compressed_log(&log));
        assert_eq!(std::fs::read(&log).unwrap(), b"1> short\n");
    }

    #[test]
    fn a_small_file_that_expands_to_more_than_any_log_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("a.log");
        let mut encoder = zstd::Encoder::new(std::fs::File::create(&log).unwrap(), LEVEL).unwrap();
        io::copy(&mut io::repeat(b' ').take(MOST + 1), &mut encoder).unwrap();
        encoder.finish().unwrap();
        assert_eq!(log_bytes(&log).unwrap_err().kind(), io::ErrorKind::InvalidData);
    }
}
