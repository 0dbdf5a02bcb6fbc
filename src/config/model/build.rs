//! `[build]` and `[environment] home`.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::command::Command;
use crate::config::Placeholder;
use crate::config::Template;
use crate::evaluation::Phase;

/// `[build]`.
#[derive(Clone, Debug)]
pub struct Build {
    /// Commands, run in order in `{src}`; may be empty (nothing to build).
    pub commands: Vec<Command>,
    /// Declared environment.
    pub(crate) env: BTreeMap<String, Template>,
    /// `clean`, `incremental` or `auto`.
    pub(crate) mode: BuildMode,
    /// Wall-clock limit of each command; default 30 minutes.
    pub timeout: Duration,
    /// Git pathspecs (`:(top,glob)` is added): commits touching only these change nothing.
    pub ignore: Vec<String>,
    /// Git pathspecs: only commits that touch these can change something.
    pub paths: Vec<String>,
    /// `{jobs}`; default: the CPUs of a slot of `[executor]`, or all usable cores.
    pub jobs: Option<u32>,
    /// Whether a confirmation builds again.
    pub(crate) confirm: ConfirmBuild,
    /// A build that took at least this long stays in its slot for later hunts.
    pub(crate) keep: Duration,
    /// Whether commits are built that change no file that either end's build read.
    pub(crate) unread: UnreadCommits,
    /// Whether builds of a search may use the direct mode of a compiler cache. No file sets it: a
    /// hunt does, if this mode misled its search.
    pub(crate) direct_mode: bool,
    /// Whether each build is clean, whatever an override says. No file sets it: a hunt does, if
    /// incremental builds misled its search.
    pub(in crate::config) always_clean: bool,
}

impl Build {
    /// Makes each build a clean one, at every commit.
    pub(crate) fn set_always_clean(&mut self) {
        (self.mode, self.always_clean) = (BuildMode::Clean, true);
    }

    /// The settings of a build from before [`Self::set_always_clean`]; `None` if each build has
    /// its mode from the file.
    pub(crate) fn before_always_clean(&self) -> Option<Self> {
        self.always_clean.then(|| Self {
            mode: BuildMode::Incremental,
            always_clean: false,
            ..self.clone()
        })
    }

    /// Whether a command or variable of the build uses `{chunks}`.
    pub(crate) fn takes_chunks(&self) -> bool {
        let words = self.commands.iter().flat_map(|command| &command.words);
        let templates = words.chain(self.env.values());
        templates.flat_map(Template::placeholders).any(|p| *p == Placeholder::Chunks)
    }
}

/// `build.mode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BuildMode {
    /// A fresh build folder for every commit.
    Clean,
    /// The build folder is kept between commits of the search (never for a confirmation).
    Incremental,
    /// Like incremental, but the ends of the hunt are built clean.
    Auto,
}

impl BuildMode {
    /// Whether builds of a search may start from the files of other builds, so that a confirmation
    /// that contradicts the search makes all of them suspect.
    pub(crate) fn keeps_files(self) -> bool {
        self != Self::Clean
    }
}

/// `build.confirm`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConfirmBuild {
    /// Make new clean builds.
    Rebuild,
    /// Use the builds of the search. The report says so.
    Reuse,
}

/// `build.unread`: what the search does with commits that change no file that either end's build
/// read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UnreadCommits {
    /// Leave them out.
    Skip,
    /// Build and judge them like others.
    Build,
}

/// `environment.home`: which builds and runs get an empty home folder, so that no file in the home
/// folder carries a result from one commit to another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum HomeUse {
    /// The builds and runs of a confirmation. If they contradict the search, the hunt begins again
    /// with an empty home folder for all.
    #[default]
    Checked,
    /// None.
    Shared,
    /// All.
    Empty,
}

impl HomeUse {
    /// Whether the builds and runs of this phase get an empty home folder.
    pub(crate) fn is_empty_in(self, phase: Phase) -> bool {
        match self {
            Self::Checked => phase == Phase::Confirm,
            Self::Shared => false,
            Self::Empty => true,
        }
    }

    /// Whether the builds and runs of this phase get an empty home folder although those of other
    /// phases do not.
    pub(crate) fn is_check_in(self, phase: Phase) -> bool {
        self == Self::Checked && self.is_empty_in(phase)
    }
}
