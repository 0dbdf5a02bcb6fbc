//! The kinds of faults.

/// A process of a hunt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Victim {
    Driver,
    Git,
    Oracle,
    Guard,
    Supervisor,
    Engine,
    /// All of them at once, as when the power fails.
    Everybody,
}

/// A place on a disk of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Store,
    Slots,
    Temporary,
}

/// Files of the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Files {
    /// Records and logs of runs and builds.
    Records,
    /// The journal of the hunt.
    Journal,
    /// All other files.
    Others,
}

/// How a file is damaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Harm {
    /// The file ends early, as after a power cut.
    Torn,
    /// One bit is another.
    Flipped,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `kill -9`.
    Kill(Victim),
    /// TERM or INT to the driver.
    Stop,
    /// No space on the disk.
    Full(Place),
    /// The store is mounted for reading.
    ReadOnly,
    /// An engine that hangs and ignores TERM, while the driver is ended.
    Deaf,
    /// Engines that leave processes in sessions of their own, while a process is killed.
    Orphans,
    /// Files are damaged while no driver runs.
    Damage(Harm, Files),
    /// The time of day jumps.
    Clock,
    /// A process of the hunt may not have more memory.
    Memory,
    /// The model is another one for a while.
    Input,
    /// Every run, or every build, fails for a while, at every commit.
    Broken,
    /// One build in ten fails.
    Compiler,
}

pub(crate) const KINDS: [Kind; 25] = [
    Kind::Kill(Victim::Driver),
    Kind::Kill(Victim::Git),
    Kind::Kill(Victim::Oracle),
    Kind::Kill(Victim::Guard),
    Kind::Kill(Victim::Supervisor),
    Kind::Kill(Victim::Engine),
    Kind::Kill(Victim::Everybody),
    Kind::Stop,
    Kind::Full(Place::Store),
    Kind::Full(Place::Slots),
    Kind::Full(Place::Temporary),
    Kind::ReadOnly,
    Kind::Deaf,
    Kind::Orphans,
    Kind::Damage(Harm::Torn, Files::Records),
    Kind::Damage(Harm::Flipped, Files::Records),
    Kind::Damage(Harm::Torn, Files::Journal),
    Kind::Damage(Harm::Flipped, Files::Journal),
    Kind::Damage(Harm::Torn, Files::Others),
    Kind::Damage(Harm::Flipped, Files::Others),
    Kind::Clock,
    Kind::Memory,
    Kind::Input,
    Kind::Broken,
    Kind::Compiler,
];

impl Kind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Kill(Victim::Driver) => "kill driver",
            Self::Kill(Victim::Git) => "kill git",
            Self::Kill(Victim::Oracle) => "kill oracle",
            Self::Kill(Victim::Guard) => "kill guard",
            Self::Kill(Victim::Supervisor) => "kill supervisor",
            Self::Kill(Victim::Engine) => "kill engine",
            Self::Kill(Victim::Everybody) => "kill all (power cut)",
            Self::Stop => "TERM or INT to the driver",
            Self::Full(Place::Store) => "full disk: store",
            Self::Full(Place::Slots) => "full disk: builds",
            Self::Full(Place::Temporary) => "full disk: TMPDIR",
            Self::ReadOnly => "read-only store",
            Self::Deaf => "engine deaf to TERM",
            Self::Orphans => "engines leave processes",
            Self::Damage(Harm::Torn, Files::Records) => "torn records",
            Self::Damage(Harm::Flipped, Files::Records) => "flipped bits in records",
            Self::Damage(Harm::Torn, Files::Journal) => "torn journal",
            Self::Damage(Harm::Flipped, Files::Journal) => "flipped bits in the journal",
            Self::Damage(Harm::Torn, Files::Others) => "torn other files",
            Self::Damage(Harm::Flipped, Files::Others) => "flipped bits in other files",
            Self::Clock => "clock jumps",
            Self::Memory => "memory limit",
            Self::Input => "changed model",
            Self::Broken => "broken machine",
            Self::Compiler => "compiler fails 1 in 10",
        }
    }

    /// Whether a test that is not long has a case of this kind. Each other kind is a kill of another
    /// process, harm to other files or another disk, or a failure that scenarios have too.
    pub(crate) fn is_always_tested(self) -> bool {
        matches!(
            self,
            Self::Kill(Victim::Driver | Victim::Engine | Victim::Everybody)
                | Self::Full(Place::Store)
                | Self::Orphans
                | Self::Damage(Harm::Torn, Files::Records)
                | Self::Damage(Harm::Flipped, Files::Journal)
                | Self::Memory
                | Self::Broken
        )
    }

    /// Most runs that one fault may cost, beyond those of a hunt without faults; `None` if a fault
    /// lasts for a while and may hit many runs.
    pub(crate) fn cost(self) -> Option<usize> {
        match self {
            // A run of the good end's build shows whose fault the kill was. After a jump of the
            // clock, the last run of the good end seems long ago, and is made once more.
            Self::Kill(Victim::Engine | Victim::Supervisor) | Self::Orphans | Self::Clock => {
                Some(2)
            }
            Self::Kill(_)
            | Self::Stop
            | Self::Deaf
            | Self::Input
            | Self::Full(_)
            | Self::ReadOnly => Some(1),
            Self::Damage(..) | Self::Memory | Self::Broken | Self::Compiler => None,
        }
    }

    /// Whether the fault may make a commit untestable. The answer may then be open, but it names no
    /// innocent commit, and `start --retry-failed` gives the answer later.
    pub(crate) fn may_leave_open(self) -> bool {
        matches!(self, Self::Broken | Self::Compiler | Self::Memory)
    }
}
