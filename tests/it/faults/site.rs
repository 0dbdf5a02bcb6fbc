//! Where a case happens: its environment, history and configuration.

use std::cell::RefCell;
use std::fs;
use std::path::PathBuf;

use crate::kit::{Clock, History, Oracle, Running, Snapshot, TestEnvironment};
use crate::worlds::dice::Dice;

use super::case::{Case, World};
use super::disk::Disk;
use super::kinds::{Kind, Place};

/// Size of the disk in MiB.
const DISK: usize = 16;

pub(crate) struct Site {
    pub env: TestEnvironment,
    pub history: History,
    pub disk: Option<RefCell<Disk>>,
    pub clock: Option<Clock>,
    /// The user's repository before the hunt.
    pub before: Snapshot,
    place: Option<Place>,
    localizes: bool,
}

impl Site {
    /// Without faults.
    pub(crate) fn plain(world: World) -> Self {
        let env = TestEnvironment::new();
        Self::with(env, world, None, |oracle| oracle)
    }

    /// A site with what the case's fault needs, such as a disk that can be full. `None` if this
    /// machine cannot inject the fault.
    pub(crate) fn of(case: &Case) -> Option<Self> {
        let env = TestEnvironment::new();
        let mut dice = Dice::new(case.seed ^ 0x5173);
        let scripts = Scripts::new(&env);
        let slots = env.path("slots");
        let worktrees = format!("[worktree]\ndir = '{}'", slots.display());
        let pauses = dice.pick(&["[]", "['100ms', '300ms']", "['200ms', '1s', '2s']"]);
        let with_pauses = format!("[failures]\npauses = {pauses}");
        let mut site = Self::with(env, case.world, Some(case.kind), |oracle| match case.kind {
            Kind::Full(Place::Slots) => oracle.section(&worktrees).section(&with_pauses),
            Kind::Deaf => oracle.ppl_command(&scripts.deaf()),
            Kind::Compiler => oracle.build_command(&scripts.compiler(&mut dice)),
            _ => oracle.section(&with_pauses),
        });
        let env = &site.env;
        let disk = match case.kind {
            Kind::Full(Place::Store) => Disk::at(env, &site.store(), DISK)?,
            Kind::Full(Place::Slots) => Disk::at(env, &slots, DISK)?,
            Kind::Full(Place::Temporary) => Disk::at(env, &env.path("tmp"), DISK)?,
            Kind::ReadOnly => Disk::without_disk(env, &site.store())?,
            _ => return Some(site),
        };
        site.disk = Some(RefCell::new(disk));
        Some(site)
    }

    fn with(
        env: TestEnvironment,
        world: World,
        kind: Option<Kind>,
        change: impl FnOnce(Oracle) -> Oracle,
    ) -> Self {
        let mut plan = world.plan();
        if kind == Some(Kind::Orphans) {
            plan = plan.with_all("orphan = yes");
        }
        let history = plan.build(&env);
        change(Oracle::new(&env)).write(&env);
        let clock = (kind == Some(Kind::Clock)).then(|| Clock::new(&env));
        let place = match kind {
            Some(Kind::Full(place)) => Some(place),
            _ => None,
        };
        let before = Snapshot::of(&env);
        Self { env, history, disk: None, clock, before, place, localizes: world.localizes() }
    }

    pub(crate) fn store(&self) -> PathBuf {
        self.env.git_folder().join("bisect-ppl")
    }

    /// The folder of the newest hunt.
    pub(crate) fn hunt(&self) -> Option<PathBuf> {
        let hunts = fs::read_dir(self.store().join("hunts")).into_iter().flatten().flatten();
        hunts.map(|entry| entry.path()).max()
    }

    pub(crate) fn has_hunt(&self) -> bool {
        self.hunt().is_some_and(|hunt| hunt.join("journal.jsonl").exists())
    }

    /// The temporary folder of the hunt's programs.
    pub(crate) fn temporary(&self) -> PathBuf {
        match (&self.disk, self.place) {
            (Some(disk), Some(Place::Temporary)) => disk.borrow().seen_from_outside(),
            _ => self.env.path("tmp"),
        }
    }

    /// The folder of the builds, if it is not in the cache.
    pub(crate) fn slots(&self) -> PathBuf {
        match (&self.disk, self.place) {
            (Some(disk), Some(Place::Slots)) => disk.borrow().seen_from_outside(),
            _ => self.env.path("slots"),
        }
    }

    // ---- the product ----

    /// The words that begin the hunt.
    pub(crate) fn start(&self) -> Vec<String> {
        let words = ["start", "--good", "v1", "--no-localize"];
        let words = &words[..if self.localizes { 3 } else { 4 }];
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    /// Starts the product.
    pub(crate) fn spawn(&self, words: &[String]) -> Running {
        let repo = self.env.repo();
        let mut command = self.env.command(TestEnvironment::product(), &repo);
        if let Some(disk) = &self.disk {
            let entrance = disk.borrow().entrance();
            command = self.env.command(&entrance[0], &repo);
            command.args(&entrance[1..]).arg(&repo).arg(TestEnvironment::product());
        }
        command.args(words);
        if let Some(clock) = &self.clock {
            command.envs(clock.variables());
        }
        self.env.spawn(command)
    }

    /// Starts the product where the compiler works.
    pub(crate) fn spawn_well(&self, words: &[String]) -> Running {
        let _ = fs::remove_file(Scripts::new(&self.env).failing);
        self.spawn(words)
    }

    /// Makes the store visible outside its namespace.
    pub(crate) fn mirror(&self) {
        if let (Some(disk), Some(Place::Store)) = (&self.disk, self.place) {
            disk.borrow().mirror();
        }
    }

    /// Builds that the compiler failed.
    pub(crate) fn failed_builds(&self) -> usize {
        self.env.said("note compiler").len()
    }
}

/// Scripts around the engine.
struct Scripts {
    folder: PathBuf,
    /// The numbers of the builds that fail.
    failing: PathBuf,
}

impl Scripts {
    fn new(env: &TestEnvironment) -> Self {
        let folder = env.path("world");
        Self { failing: folder.join("failing"), folder }
    }

    fn write(&self, name: &str, text: &str) -> String {
        let path = self.folder.join(name);
        fs::write(&path, text).unwrap();
        path.display().to_string()
    }

    /// An engine that ignores TERM, and hangs while the world has `hang`.
    fn deaf(&self) -> String {
        let text = "trap '' TERM INT HUP\n\
                    if [ -e \"$FAKE_WORLD/hang\" ]; then sleep 600; fi\n\
                    exec \"$@\"\n";
        let script = self.write("deaf.sh", text);
        format!("sh {script} {{build}}/engine run ppl src={{src}} cache={{cache}} out={{out}}")
    }

    /// A compiler that fails one time in ten.
    fn compiler(&self, dice: &mut Dice) -> String {
        let failing = (0..400).filter(|_| dice.percent(10)).map(|number| format!("{number}\n"));
        fs::write(&self.failing, failing.collect::<String>()).unwrap();
        let fake = TestEnvironment::fake();
        let text = format!(
            "cd \"$FAKE_WORLD\"\n\
             number=$(cat compiled 2>/dev/null || echo 0)\n\
             echo $((number + 1)) >compiled\n\
             if grep -qx $number failing; then\n\
               {fake} note compiler\n\
               echo 'cc: internal compiler error: Killed (program cc1)' >&2\n\
               exit 1\n\
             fi\n\
             exec {fake} build \"$@\"\n"
        );
        let script = self.write("compiler.sh", &text);
        format!("sh {script} {{src}} {{build}}")
    }
}
