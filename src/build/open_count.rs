//! Counts how often a file is opened (Linux's inotify).

use std::path::Path;

/// A count of how often one file is opened, active until it is [finished](OpenCount::finish).
#[derive(Debug)]
pub(super) struct OpenCount(imp::Count);

impl OpenCount {
    /// Begins to count.
    pub(super) fn of(file: &Path) -> Self {
        Self(imp::Count::begin(file))
    }

    /// How often the file was opened, at least: the kernel joins equal events that follow each
    /// other. 0 if the file cannot be watched.
    pub(super) fn finish(self) -> usize {
        self.0.finish()
    }
}

#[cfg(target_os = "linux")]
mod imp {
    use std::mem::MaybeUninit;
    use std::os::fd::OwnedFd;
    use std::path::Path;

    use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
    use rustix::io::Errno;

    #[derive(Debug)]
    pub(super) struct Count(Option<OwnedFd>);

    impl Count {
        pub(super) fn begin(file: &Path) -> Self {
            Self(begin(file).ok())
        }

        pub(super) fn finish(self) -> usize {
            self.0.as_ref().map_or(0, count)
        }
    }

    fn begin(file: &Path) -> Result<OwnedFd, Errno> {
        let queue = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
        // Two events of opening in a row would be joined. The event of closing stands between them.
        let flags = WatchFlags::OPEN | WatchFlags::CLOSE | WatchFlags::DONT_FOLLOW;
        inotify::add_watch(&queue, file, flags)?;
        Ok(queue)
    }

    fn count(queue: &OwnedFd) -> usize {
        let mut buffer = [MaybeUninit::uninit(); 16 << 10];
        let mut events = Reader::new(queue, &mut buffer);
        let mut opened = 0;
        loop {
            match events.next() {
                Ok(event) if event.events().contains(ReadFlags::OPEN) => opened += 1,
                Ok(_) | Err(Errno::INTR) => {}
                // The queue is empty.
                Err(_) => return opened,
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod imp {
    use std::path::Path;

    #[derive(Debug)]
    pub(super) struct Count;

    impl Count {
        pub(super) fn begin(_: &Path) -> Self {
            Self
        }

        pub(super) fn finish(self) -> usize {
            0
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn each_opening_of_the_file_counts() {
        let folder = tempfile::tempdir().unwrap();
        let [file, other] = ["file", "other"].map(|name| folder.path().join(name));
        std::fs::write(&file, "x").unwrap();
        std::fs::write(&other, "x").unwrap();
        let count = OpenCount::of(&file);
        for path in [&file, &other, &file, &file] {
            std::fs::read(path).unwrap();
        }
        std::fs::metadata(&file).unwrap();
        assert_eq!(count.finish(), 3);
        assert_eq!(OpenCount::of(&folder.path().join("none")).finish(), 0);
    }
}
