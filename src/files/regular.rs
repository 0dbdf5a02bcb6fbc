//! Opens regular files, and refuses all others: a FIFO waits for another process, a device may have
//! no end, and a link may lead to any file of the user.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Error, ErrorKind, Read, Result};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;
use rustix::io::Errno;

/// Longest file that is read into memory, bytes. A journal of a hunt with 100,000 events has some
/// 50 MB.
pub(crate) const LONGEST: u64 = 1 << 30;

/// Opens a regular file for reading.
///
/// # Errors
/// [`ErrorKind::InvalidData`] if the path is a link, a folder, a FIFO, a socket or a device.
pub(crate) fn open(path: &Path) -> Result<File> {
    with(path, OpenOptions::new().read(true), OFlags::NOFOLLOW)
}

/// As [`open`], but follows links: for files that the user named, and for files to which this
/// program made a link.
pub(crate) fn open_target(path: &Path) -> Result<File> {
    with(path, OpenOptions::new().read(true), OFlags::empty())
}

/// Reads a whole regular file.
///
/// # Errors
/// [`ErrorKind::InvalidData`] as for [`open`], and if the file has more than 1 GiB.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>> {
    let file = open(path)?;
    let mut bytes = Vec::new();
    let size = file.metadata()?.len();
    if size > LONGEST {
        let why = format!("it has {size} bytes; no file of bisect-ppl is that long");
        return Err(Error::new(ErrorKind::InvalidData, why));
    }
    bytes.reserve(usize::try_from(size).unwrap_or_default());
    file.take(LONGEST).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Opens a regular file for writing; creates it, or empties it. Errors as for [`open`].
pub(crate) fn create(path: &Path) -> Result<File> {
    // Emptied only after the check, so that a link's target keeps its content.
    let file = with(path, OpenOptions::new().create(true).write(true), OFlags::NOFOLLOW)?;
    file.set_len(0)?;
    Ok(file)
}

/// Opens a regular file for reading and appending; creates it if needed. Errors as for [`open`].
pub(crate) fn append(path: &Path) -> Result<File> {
    with(path, OpenOptions::new().create(true).append(true).read(true), OFlags::NOFOLLOW)
}

/// Opens a regular file to lock it; creates it if needed. Errors as for [`open`].
pub(crate) fn lock_file(path: &Path) -> Result<File> {
    with(path, OpenOptions::new().create(true).read(true).write(true), OFlags::NOFOLLOW)
}

/// Opens a file as [`lock_file`] does, and locks it; `None` if another process holds the lock.
pub(crate) fn try_lock_file(path: &Path) -> Result<Option<File>> {
    let file = lock_file(path)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

fn with(path: &Path, options: &mut OpenOptions, flags: OFlags) -> Result<File> {
    // Without `NONBLOCK`, the call itself would wait for the other end of a FIFO.
    let flags = (flags | OFlags::NONBLOCK | OFlags::NOCTTY).bits();
    let flags = i32::try_from(flags).expect("the flags of open(2) are an int");
    let file = options.custom_flags(flags).open(path).map_err(|error| {
        let known = error.raw_os_error().map(Errno::from_raw_os_error);
        match known {
            Some(Errno::LOOP) => irregular("a symbolic link"),
            Some(Errno::ISDIR) => irregular("a folder"),
            // A FIFO without a reader, or a socket.
            Some(Errno::NXIO) => irregular("a FIFO, a socket or a device"),
            _ => error,
        }
    })?;
    let kind = file.metadata()?.file_type();
    if kind.is_file() {
        Ok(file)
    } else if kind.is_dir() {
        Err(irregular("a folder"))
    } else {
        Err(irregular("a FIFO, a socket or a device"))
    }
}

fn irregular(what: &str) -> Error {
    Error::new(ErrorKind::InvalidData, format!("it is {what}, not a regular file"))
}

#[cfg(test)]
mod tests;
