//! A real Slurm of three nodes on this machine, which a test may break.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use rustix::process::Signal;

use crate::kit::{PATIENCE, TestEnvironment, kill, wait_until};

/// The cluster; dropping it ends its daemons and jobs.
pub(super) struct Cluster {
    folder: tempfile::TempDir,
}

fn script_path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/slurm-test-cluster")
}

impl Cluster {
    /// Starts a cluster; `None`, with the reason on stdout, if Slurm is not installed here.
    pub(super) fn start() -> Option<Self> {
        let folders = std::env::var("PATH").unwrap_or_default() + ":/usr/sbin:/sbin";
        for program in ["slurmctld", "slurmd", "sbatch", "python3"] {
            let is_there = |folder: &str| Path::new(folder).join(program).is_file();
            if !folders.split(':').any(is_there) {
                println!("skipped: no {program} here (apt-get install slurmctld slurmd)");
                return None;
            }
        }
        let folder = tempfile::Builder::new().prefix("slurm-").tempdir().unwrap();
        let cluster = Self { folder };
        cluster.script(&["start"], &[]);
        Some(cluster)
    }

    fn script(&self, before: &[&str], after: &[&str]) {
        let mut command = Command::new(script_path());
        let output = command.args(before).arg(self.folder.path()).args(after).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    /// The file that clients read.
    pub(super) fn conf(&self) -> PathBuf {
        self.folder.path().join("slurm.conf")
    }

    /// An environment whose programs use this cluster.
    pub(super) fn environment(&self) -> TestEnvironment {
        TestEnvironment::new().with_variable("SLURM_CONF", &self.conf().to_string_lossy())
    }

    /// What a client of Slurm prints; empty if it fails.
    pub(super) fn ask(&self, program: &str, words: &[&str]) -> String {
        let output =
            Command::new(program).args(words).env("SLURM_CONF", self.conf()).output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// The jobs that wait or run: number, node and name.
    pub(super) fn jobs(&self) -> Vec<[String; 3]> {
        let said = self.ask("squeue", &["-h", "-o", "%i|%N|%j"]);
        let jobs = said.lines().map(|line| {
            let mut words = line.split('|').map(str::to_owned);
            [(); 3].map(|()| words.next().unwrap_or_default())
        });
        jobs.collect()
    }

    /// Waits until a job runs; its number and its node.
    #[track_caller]
    pub(super) fn running(&self) -> [String; 2] {
        let mut found = None;
        let began = wait_until(PATIENCE, || {
            std::thread::sleep(Duration::from_millis(100));
            found = self.jobs().into_iter().find(|[_, node, _]| !node.is_empty());
            found.is_some()
        });
        assert!(began, "no job runs: {:?}", self.jobs());
        let [id, node, _] = found.unwrap();
        [id, node]
    }

    /// Waits until a job runs on this node.
    #[track_caller]
    pub(super) fn wait_for_job_on(&self, node: &str) {
        let began = wait_until(PATIENCE, || {
            std::thread::sleep(Duration::from_millis(100));
            self.jobs().iter().any(|[_, its, _]| its == node)
        });
        assert!(began, "no job runs on {node}: {:?}", self.jobs());
    }

    /// Waits until no job is left.
    #[track_caller]
    pub(super) fn assert_no_jobs(&self) {
        let ended = wait_until(Duration::from_mins(1), || {
            std::thread::sleep(Duration::from_millis(200));
            self.jobs().is_empty()
        });
        assert!(ended, "jobs are left: {:?}", self.jobs());
    }

    /// Kills a daemon: `slurmctld` or a node's.
    pub(super) fn kill(&self, daemon: &str) {
        let text = fs::read_to_string(self.folder.path().join("run").join(daemon)).unwrap();
        kill(text.trim().parse().unwrap(), Signal::KILL);
    }

    /// Starts the controller again, with the jobs that it knew.
    pub(super) fn start_controller(&self) {
        self.script(&["controller"], &[]);
    }

    /// Gives n1 one core, and drains it. False, with a word, if this machine has no second core.
    pub(super) fn drains_n1_with_one_core(&self) -> bool {
        let has_two = std::thread::available_parallelism().unwrap().get() > 1;
        if has_two {
            self.restart_with_one_core("n1");
            self.set_node("n1", "DRAIN");
        } else {
            println!("skipped: this machine has one core");
        }
        has_two
    }

    /// Starts a node's daemon again. Its jobs may use one core.
    #[track_caller]
    fn restart_with_one_core(&self, node: &str) {
        self.kill(node);
        let status = Command::new("taskset")
            .args(["-c", "0"])
            .arg(script_path())
            .arg("node")
            .arg(self.folder.path())
            .arg(node)
            .status()
            .unwrap();
        assert!(status.success());
        let is_idle = || {
            // One line for each partition that the node is in.
            let said = self.ask("sinfo", &["-h", "-N", "-n", node, "-o", "%t"]);
            !said.is_empty() && said.lines().all(|state| state.trim() == "idle")
        };
        assert!(wait_until(PATIENCE, is_idle), "{}", self.ask("sinfo", &["-N", "-l"]));
    }

    /// Ends a job as its time limit does.
    pub(super) fn end_at_time_limit(&self, id: &str) {
        self.ask("scontrol", &["update", &format!("JobId={id}"), "EndTime=now"]);
    }

    /// Puts a running job back into the queue and holds it there, as an administrator can.
    pub(super) fn requeue_held(&self, id: &str) {
        self.ask("scontrol", &["update", &format!("JobId={id}"), "Requeue=1"]);
        self.ask("scontrol", &["requeuehold", id]);
    }

    /// Sets a node down, or lets it work again.
    pub(super) fn set_node(&self, node: &str, state: &str) {
        let words = [&format!("NodeName={node}"), &format!("State={state}"), "Reason=test"];
        self.ask("scontrol", &[&["update"], &words[..]].concat());
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let stopped = Command::new(script_path()).arg("stop").arg(self.folder.path()).output();
        if let Ok(output) = stopped
            && !output.status.success()
        {
            println!("{}", String::from_utf8_lossy(&output.stderr));
        }
    }
}
