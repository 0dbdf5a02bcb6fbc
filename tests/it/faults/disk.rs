//! A small disk in a mount namespace of its own. Programs in the namespace see it, others see the
//! folder below it.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::bad_input::is_root;
use crate::bad_input::places::shell_that_mounts;
use crate::kit::TestEnvironment;

/// A shell in a namespace, which carries out commands until it is dropped.
pub(crate) struct Disk {
    shell: Child,
    orders: ChildStdin,
    answers: BufReader<ChildStdout>,
    folder: PathBuf,
}

impl Disk {
    /// A disk for this folder; `None` if nothing can be mounted here.
    pub(crate) fn at(env: &TestEnvironment, folder: &Path, megabytes: usize) -> Option<Self> {
        let mut disk = Self::without_disk(env, folder)?;
        disk.order(&format!("mount -t tmpfs -o size={megabytes}m,mode=755 none \"$disk\""));
        Some(disk)
    }

    /// The namespace alone, in which the folder can be mounted for reading.
    pub(crate) fn without_disk(env: &TestEnvironment, folder: &Path) -> Option<Self> {
        std::fs::create_dir_all(folder).unwrap();
        let mut command = shell_that_mounts(env, "exec sh -s")?;
        // Without the test's token, so that the shell does not count as left behind.
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap()).current_dir("/");
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut shell = command.spawn().unwrap();
        let orders = shell.stdin.take().unwrap();
        let answers = BufReader::new(shell.stdout.take().unwrap());
        let mut disk = Self { shell, orders, answers, folder: folder.to_owned() };
        disk.order(&format!("disk='{}'", folder.display()));
        Some(disk)
    }

    /// Runs a line of shell in the namespace; it must succeed.
    pub(crate) fn order(&mut self, line: &str) {
        writeln!(self.orders, "{{ {line}; }} >&2 && echo done || echo failed").unwrap();
        let mut answer = String::new();
        self.answers.read_line(&mut answer).unwrap();
        assert_eq!(answer, "done\n", "{line}");
    }

    /// Takes all space but for these KiB.
    pub(crate) fn fill(&mut self, free_kib: usize) {
        self.order(&format!(
            "head -c 1G /dev/zero 2>/dev/null >\"$disk/fill\" || true; \
             truncate -c -s -{free_kib}k \"$disk/fill\""
        ));
    }

    pub(crate) fn make_room(&mut self) {
        self.order("rm -f \"$disk/fill\"");
    }

    /// Programs that open a file from now on can only read it.
    pub(crate) fn protect(&mut self) {
        // A file that is open for writing is in the way for a moment.
        let read_only = "until mount -o remount,ro,bind \"$disk\"; do sleep 0.01; done";
        self.order(&format!("mount --bind \"$disk\" \"$disk\" && {read_only}"));
    }

    pub(crate) fn unprotect(&mut self) {
        self.order("umount -l \"$disk\"");
    }

    /// The program to start a program in the namespace with, and its first words; the folder to
    /// start in and the program follow.
    pub(crate) fn entrance(&self) -> Vec<String> {
        let pid = self.shell.id().to_string();
        let own = if is_root() { &["-m"][..] } else { &["-U", "-m", "--preserve-credentials"] };
        let enter = ["-t", &pid, "sh", "-c", "cd \"$0\" && exec \"$@\""];
        std::iter::once(&"nsenter")
            .chain(own)
            .chain(&enter)
            .map(|word| (*word).to_owned())
            .collect()
    }

    /// The disk's folder as a path outside the namespace.
    pub(crate) fn seen_from_outside(&self) -> PathBuf {
        let root = PathBuf::from(format!("/proc/{}/root", self.shell.id()));
        root.join(self.folder.strip_prefix("/").unwrap())
    }

    /// Copies the files to the folder that others see.
    pub(crate) fn mirror(&self) {
        // The folder itself must stay: without it, the disk is gone too.
        for entry in std::fs::read_dir(&self.folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                std::fs::remove_dir_all(path).unwrap();
            } else {
                std::fs::remove_file(path).unwrap();
            }
        }
        let from = self.seen_from_outside().join(".");
        let copied = Command::new("cp").arg("-a").arg(from).arg(&self.folder).status();
        assert!(copied.unwrap().success());
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = self.shell.kill();
        let _ = self.shell.wait();
    }
}
