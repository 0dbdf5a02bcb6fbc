//! Records which files in some folders are read during a run (Linux's inotify). The kernel reports
//! every open: of programs, libraries, modules, compiled GPU code and settings. A file that the run
//! only writes, such as a log, does not count.

use std::collections::BTreeSet;
use std::path::PathBuf;

/// A watch on some folders, active until it is [finished](Opened::finish).
#[derive(Debug)]
pub(super) struct Opened(imp::Watch);

impl Opened {
    /// Begins to watch the files in these folders, without their subfolders.
    pub(super) fn of(folders: Vec<PathBuf>) -> Self {
        Self(imp::Watch::begin(folders))
    }

    /// The files that were opened, without those that were only written; `None` if the watch may
    /// have missed some.
    pub(super) fn finish(self) -> Option<BTreeSet<PathBuf>> {
        self.0.finish()
    }
}

#[cfg(target_os = "linux")]
mod imp {
    use std::collections::{BTreeMap, BTreeSet};
    use std::ffi::OsStr;
    use std::io::{PipeReader, PipeWriter, pipe};
    use std::mem::MaybeUninit;
    use std::os::fd::{AsFd, OwnedFd};
    use std::os::unix::ffi::OsStrExt;
    use std::path::PathBuf;
    use std::thread::JoinHandle;

    use rustix::event::{PollFd, PollFlags, poll};
    use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
    use rustix::io::Errno;

    #[derive(Debug)]
    pub(super) struct Watch(Option<Watching>);

    #[derive(Debug)]
    struct Watching {
        /// Dropping this ends the thread.
        end: PipeWriter,
        thread: JoinHandle<Option<BTreeSet<PathBuf>>>,
    }

    /// What happened to an opened file.
    #[derive(Debug, Default)]
    struct Uses {
        is_modified: bool,
        /// A descriptor that could write was closed.
        is_closed_by_writer: bool,
        /// A descriptor that could only read was closed. For a mapped file this happens when it is
        /// unmapped.
        is_closed_by_reader: bool,
    }

    impl Uses {
        fn see(&mut self, events: ReadFlags) {
            self.is_modified |= events.contains(ReadFlags::MODIFY);
            self.is_closed_by_writer |= events.contains(ReadFlags::CLOSE_WRITE);
            self.is_closed_by_reader |= events.contains(ReadFlags::CLOSE_NOWRITE);
        }

        /// A file that is written and then read, such as a kernel compiled at run time, is not only
        /// written.
        fn is_only_written(&self) -> bool {
            self.is_modified && self.is_closed_by_writer && !self.is_closed_by_reader
        }
    }

    impl Watch {
        pub(super) fn begin(folders: Vec<PathBuf>) -> Self {
            Self(begin(folders).ok())
        }

        pub(super) fn finish(self) -> Option<BTreeSet<PathBuf>> {
            let Watching { end, thread } = self.0?;
            drop(end);
            thread.join().ok()?
        }
    }

    fn begin(folders: Vec<PathBuf>) -> std::io::Result<Watching> {
        let queue = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
        let mut names = BTreeMap::new();
        for folder in folders {
            let flags = WatchFlags::OPEN | WatchFlags::MODIFY | WatchFlags::CLOSE;
            let flags = flags | WatchFlags::ONLYDIR | WatchFlags::DONT_FOLLOW;
            names.insert(inotify::add_watch(&queue, &folder, flags)?, folder);
        }
        let (ended, end) = pipe()?;
        let thread = std::thread::Builder::new()
            .name("opened".to_owned())
            .spawn(move || follow(&queue, &ended, &names))?;
        Ok(Watching { end, thread })
    }

    /// Empties the event queue as it fills, so that it does not overflow, until the pipe closes.
    fn follow(
        queue: &OwnedFd,
        ended: &PipeReader,
        names: &BTreeMap<i32, PathBuf>,
    ) -> Option<BTreeSet<PathBuf>> {
        let mut seen = BTreeMap::new();
        loop {
            let mut wait = [
                PollFd::from_borrowed_fd(queue.as_fd(), PollFlags::IN),
                PollFd::from_borrowed_fd(ended.as_fd(), PollFlags::IN),
            ];
            match poll(&mut wait, None) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(_) => return None,
            }
            // The queue has every open from before the pipe closed.
            let is_over = !wait[1].revents().is_empty();
            take(queue, names, &mut seen)?;
            if is_over {
                let read = seen.into_iter().filter(|(_, uses)| !uses.is_only_written());
                return Some(read.map(|(path, _)| path).collect());
            }
        }
    }

    /// Takes all events from the queue; `None` if the queue overflowed or cannot be read.
    fn take(
        queue: &OwnedFd,
        names: &BTreeMap<i32, PathBuf>,
        seen: &mut BTreeMap<PathBuf, Uses>,
    ) -> Option<()> {
        let mut buffer = [MaybeUninit::uninit(); 16 << 10];
        let mut events = Reader::new(queue, &mut buffer);
        loop {
            let event = match events.next() {
                Ok(event) => event,
                Err(Errno::AGAIN) => return Some(()),
                Err(Errno::INTR) => continue,
                Err(_) => return None,
            };
            if event.events().contains(ReadFlags::QUEUE_OVERFLOW) {
                return None;
            }
            if event.events().contains(ReadFlags::ISDIR) {
                continue;
            }
            let folder = names.get(&event.wd());
            if let (Some(folder), Some(name)) = (folder, event.file_name()) {
                let path = folder.join(OsStr::from_bytes(name.to_bytes()));
                if event.events().contains(ReadFlags::OPEN) {
                    seen.entry(path).or_default();
                } else if let Some(uses) = seen.get_mut(&path) {
                    uses.see(event.events());
                }
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod imp {
    use std::collections::BTreeSet;
    use std::path::PathBuf;

    #[derive(Debug)]
    pub(super) struct Watch;

    impl Watch {
        pub(super) fn begin(_: Vec<PathBuf>) -> Self {
            Self
        }

        pub(super) fn finish(self) -> Option<BTreeSet<PathBuf>> {
            None
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn every_file_that_is_opened_is_told_and_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().join(path);
        std::fs::create_dir_all(at("src/a/b")).unwrap();
        for path in ["src/top", "src/a/b/deep", "src/a/unread", "elsewhere"] {
            std::fs::write(at(path), path).unwrap();
        }
        let opened = Opened::of(["src", "src/a", "src/a/b"].map(at).to_vec());
        for path in ["src/top", "src/a/b/deep", "elsewhere", "src/top"] {
            std::fs::read(at(path)).unwrap();
        }
        std::fs::metadata(at("src/a/unread")).unwrap();
        assert_eq!(opened.finish(), Some(BTreeSet::from([at("src/a/b/deep"), at("src/top")])));
    }

    #[test]
    fn a_file_that_is_only_written_is_not_told() {
        use std::io::{Read, Write};

        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().join(path);
        for path in ["appended.log", "state", "settings"] {
            std::fs::write(at(path), "old\n").unwrap();
        }
        let opened = Opened::of(vec![folder.path().to_owned()]);
        std::fs::write(at("new.log"), "x").unwrap();
        let append = std::fs::OpenOptions::new().append(true).open(at("appended.log"));
        append.unwrap().write_all(b"more\n").unwrap();
        // Compiled at run time, and then loaded.
        std::fs::write(at("kernel.so"), "code").unwrap();
        std::fs::read(at("kernel.so")).unwrap();
        let both = std::fs::OpenOptions::new().read(true).write(true).open(at("state"));
        both.unwrap().read_exact(&mut [0; 3]).unwrap();
        std::fs::read(at("settings")).unwrap();
        std::fs::write(at("settings"), "new\n").unwrap();
        let told = ["kernel.so", "settings", "state"].map(at);
        assert_eq!(opened.finish(), Some(BTreeSet::from(told)));
    }
}
