//! The last lines of a log that is still being written.

use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use crate::files;

use super::reader::piece;

/// Most bytes that are read.
const MOST: u64 = 16 << 10;

/// The last `most` lines that the engine printed, oldest first, without the log's own marks. The
/// writer keeps output after the first MiB in memory until the run ends, so then these are the last
/// lines of that MiB.
pub(crate) fn last_lines(log: &Path, most: usize) -> io::Result<Vec<String>> {
    let mut file = files::open(log)?;
    let from = file.metadata()?.len().saturating_sub(MOST);
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    file.take(MOST).read_to_end(&mut bytes)?;
    let mut lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
    // The last piece is empty or not yet whole; the first may be the end of a longer line.
    lines.pop();
    if from > 0 && !lines.is_empty() {
        lines.remove(0);
    }
    let said: Vec<&[u8]> = lines.into_iter().filter_map(piece).map(|(_, text, _)| text).collect();
    let last = &said[said.len().saturating_sub(most)..];
    Ok(last.iter().map(|line| String::from_utf8_lossy(line).into_owned()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::{Keep, LogWriter, Stream};

    #[test]
    fn the_last_lines_are_read_while_the_log_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.log");
        let file = std::fs::File::create(&path).unwrap();
        let mut log = LogWriter::new(file, &[("command", "x".to_owned())]).unwrap();
        log.flush().unwrap();
        assert_eq!(last_lines(&path, 3).unwrap(), [""; 0]);
        for number in 0..5000 {
            let line = format!("line {number}");
            log.line(Stream::Err, line.as_bytes(), true, Keep::No).unwrap();
        }
        log.flush().unwrap();
        assert_eq!(last_lines(&path, 2).unwrap(), ["line 4998", "line 4999"]);
        // The first line of the part that is read may not be whole.
        let part = last_lines(&path, 9999).unwrap();
        assert!(part.len() < 2000 && part[0].starts_with("line 3"), "{part:?}");
        assert!(last_lines(&folder.path().join("gone"), 2).is_err());
    }
}
