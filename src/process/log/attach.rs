//! Copies an output file of a run into its log.

use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::Path;

use crate::files;

use super::Stream;
use super::format::{KEPT, MARKER};
use super::writer::prefix;
use crate::process::splitter::Splitter;

/// Appends a file to a finished log and syncs the log. A file larger than `KEPT` is left out and
/// only its size is noted. A path that is missing, not a regular file, or not readable adds
/// nothing: the engine is the cause, so this is not an error.
pub(crate) fn attach(log: &Path, file: &Path) -> io::Result<()> {
    let Ok(mut source) = files::open(file) else { return Ok(()) };
    let mut writer = BufWriter::new(files::append(log)?);
    let size = source.metadata()?.len();
    if size > KEPT as u64 {
        writer.write_all(&[MARKER, size.to_string().as_bytes(), b" bytes left out\n"].concat())?;
    } else {
        copy(&mut source, &mut writer)?;
    }
    writer.flush()?;
    writer.get_ref().sync_all()
}

fn copy(source: &mut File, writer: &mut impl Write) -> io::Result<()> {
    let mut splitter = Splitter::default();
    let mut buffer = vec![0; 64 << 10];
    let mut write = |line: &[u8], whole| -> io::Result<()> {
        writer.write_all(prefix(Stream::File, whole))?;
        writer.write_all(line)?;
        writer.write_all(b"\n")
    };
    loop {
        let n = source.read(&mut buffer)?;
        if n == 0 {
            break;
        }
        splitter.push(&buffer[..n], &mut write)?;
    }
    splitter.rest().map_or(Ok(()), |rest| write(&rest, false))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::process::read_log;

    /// A log with one line, in a temporary folder.
    fn log() -> (tempfile::TempDir, std::path::PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("run.log");
        std::fs::write(&log, "# command: x\n1> said\n").unwrap();
        (folder, log)
    }

    #[test]
    fn a_file_is_appended_to_the_log_byte_for_byte() {
        let (folder, log) = log();
        let file = folder.path().join("report");
        let text = [b"# a\n\n\xff ".as_slice(), &vec![b'x'; (1 << 20) + 5], b"\nlast"].concat();
        std::fs::write(&file, &text).unwrap();
        attach(&log, &file).unwrap();
        let log = read_log(&log).unwrap();
        assert_eq!(log.stream(Stream::File), text);
        assert_eq!(log.stream(Stream::Out), b"said\n");
        assert_eq!(log.cut(), 0);
    }

    #[test]
    fn what_is_no_file_or_too_large_leaves_nothing() {
        let (folder, log) = log();
        let before = std::fs::read(&log).unwrap();
        let pipe = folder.path().join("pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RWXU).unwrap();
        symlink("nowhere", folder.path().join("link")).unwrap();
        for other in
            [&pipe, &folder.path().join("link"), &folder.path().join("none"), folder.path()]
        {
            attach(&log, other).unwrap();
        }
        assert_eq!(std::fs::read(&log).unwrap(), before);
        let large = folder.path().join("large");
        File::create(&large).unwrap().set_len(KEPT as u64 + 1).unwrap();
        attach(&log, &large).unwrap();
        let log = read_log(&log).unwrap();
        assert_eq!((log.cut(), log.stream(Stream::File).len()), (KEPT as u64 + 1, 0));
    }
}
