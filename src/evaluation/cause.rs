//! The cause of a first bad commit's step: the smallest part of its change that makes the step, and
//! whether reverting that part makes the bad endpoint good.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Backport, CommitId, FailureKind, FileRole, Metric, Revert, SkipReason, Value};

/// The parts of a first bad commit that make the step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cause {
    /// The first bad commit.
    pub(crate) commit: CommitId,
    /// The parent to which parts of the change were applied.
    pub(crate) parent: CommitId,
    /// The parts that make the step. With more than one set, each set makes the step by itself.
    pub(crate) sets: Vec<CauseSet>,
    /// How the search for the sets ended.
    pub(crate) end: CauseEnd,
    /// Parts that were removed together with the sets, since they seem to need the sets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) dependents: Vec<ChangePart>,
    /// All tested parts of the change, in the order of the tests.
    pub(crate) trials: Vec<Trial>,
    /// The files of the change with their roles, by path.
    pub(crate) roles: BTreeMap<String, FileRole>,
    /// The test of the commit with all sets removed, by its index in `trials`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub without: Option<usize>,
    /// Whether a revert makes the bad endpoint good, if that was tested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revert: Option<Revert>,
    /// A guard outside the search that the bad endpoint breaks with the change and without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub broken_too: Option<Metric>,
    /// Whether the tests of the endpoints removed only the parts that make the step, for one of two
    /// reasons: the whole change cannot be removed there, or the endpoints cannot be judged without
    /// it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_part: bool,
    /// In a hunt for a fix: whether the fix alone makes the bad endpoint good, if that was tested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backport: Option<Backport>,
}

/// The newer endpoint with the causes of all first bad commits removed. Only if there are several
/// first bad commits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct JointRevert {
    /// What it shows.
    pub revert: Revert,
    /// The test, if the patches apply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trial: Option<Trial>,
}

/// In a hunt for a fix: the bad endpoint with the causes of all first fixed commits added. Only if
/// there are several first fixed commits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct JointBackport {
    /// What it shows.
    pub backport: Backport,
    /// The test, if the patches apply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trial: Option<Trial>,
}

/// Parts of a change that make the step together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CauseSet {
    /// The parts.
    pub parts: Vec<ChangePart>,
    /// How many other parts of the change were present when these made the step. 0: these parts
    /// make it alone.
    pub context: usize,
    /// These other parts. Part of the cause may be in these, and show only together with `parts`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub with: Vec<ChangePart>,
    /// The edits of moved code among the parts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edits: Vec<MovedEdit>,
    /// Whether the search for the set was completed: it found no smaller set that makes the step
    /// and that can be judged.
    pub is_minimal: bool,
    /// The test of the parent with these parts alone, by its index in [`Cause::trials`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alone: Option<usize>,
}

/// How the search for a cause inside a commit's change ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum CauseEnd {
    /// The change without the sets does not show the step, so nothing else makes the step.
    Complete,
    /// The change without the sets shows a smaller step.
    RestPart,
    /// The change without the sets cannot be judged.
    RestUnknown,
    /// The change without the sets still shows the step.
    RestShows,
    /// The maximum of tests was reached.
    Budget,
    /// The runs of a decisive test contradict each other. The index of the test in
    /// [`Cause::trials`].
    Unsteady(usize),
    /// A fault of the machine ended the tests; the reason, in words.
    Stopped(String),
    /// Parts of the change cannot be judged alone; the reason, in words.
    NotSeparable(String),
}

/// A part of a commit's change.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ChangePart {
    /// The file's path after the change; bytes that are not UTF-8 are replaced.
    pub path: String,
    /// Which part of the file's change.
    pub(crate) of: PartOf,
    /// What the whole change of the file is, if it is no change of the file's text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) whole: Option<WholeChange>,
}

/// A change of a file that is no change of its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum WholeChange {
    /// The file is removed.
    Removal,
    /// Only the file's mode changes.
    Mode,
    /// A submodule is added, or moves to another commit.
    Submodule,
    /// The changes of a submodule's files that the move of its pin brought. They are taken out of
    /// the files at a later pin.
    InSubmodule,
}

/// Which part of a file's change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum PartOf {
    /// The whole change of the file.
    File,
    /// One hunk.
    Hunk {
        /// Its number, from 1, as `git show` lists them.
        number: usize,
        /// How many hunks the file has.
        of: usize,
    },
    /// The file's mode.
    Mode,
    /// The file's new name.
    Name,
    /// A new file whose code comes from another file of the change, without the edits.
    Moved,
    /// One edit of moved code.
    Edit {
        /// Its number, from 1, in the order of the file.
        number: usize,
        /// How many edits the moved code has.
        of: usize,
        /// The line of the new file, from 1.
        line: usize,
    },
}

/// An edit of moved code that makes the step, or a part of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MovedEdit {
    /// The new file; bytes that are not UTF-8 are replaced.
    pub path: String,
    /// The path of the file that had the code before.
    pub from: String,
    /// The line of the new file, from 1.
    pub line: usize,
    /// Lines that were lost on the way.
    pub lost: Vec<String>,
    /// Lines that are new.
    pub added: Vec<String>,
}

impl fmt::Display for ChangePart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, of, whole } = self;
        match of {
            PartOf::File => match whole {
                None => write!(f, "{path}"),
                Some(WholeChange::Removal) => write!(f, "the removal of {path}"),
                Some(WholeChange::Mode) => write!(f, "the mode of {path}"),
                Some(WholeChange::Submodule) => write!(f, "the submodule {path}"),
                Some(WholeChange::InSubmodule) => {
                    write!(f, "the change inside the submodule {path}")
                }
            },
            PartOf::Hunk { number, of } => write!(f, "hunk {number} of {of} in {path}"),
            PartOf::Mode => write!(f, "the mode of {path}"),
            PartOf::Name => write!(f, "the new name {path}"),
            PartOf::Moved => write!(f, "the code that moved to {path}"),
            PartOf::Edit { number, of, line } => {
                write!(f, "edit {number} of {of} in the code that moved to {path} (line {line})")
            }
        }
    }
}

/// What a test of part of a change shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Shows {
    /// The difference that the test looks for.
    Difference,
    /// No difference.
    Nothing,
    /// The build failed, its runs cannot be judged, or noise hides which of the two they show.
    Unresolved,
}

/// A test of part of a change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// How the parts were tested.
    pub(crate) of: TrialOf,
    /// The parts.
    pub parts: Vec<ChangePart>,
    /// What the test showed.
    pub(crate) shows: Shows,
    /// The reason in words, with the values.
    pub reason: String,
    /// Why the test cannot be judged, if it cannot. `None` in a record of an older version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) skip: Option<SkipReason>,
    /// How the test failed, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<FailureKind>,
    /// The levels of the metrics that were judged.
    pub levels: BTreeMap<Metric, Value>,
    /// The names of the runs; empty if nothing ran.
    pub attempts: Vec<String>,
}

/// How parts of a change were tested.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum TrialOf {
    /// The parent with these parts.
    Only,
    /// The commit without these parts.
    Without,
    /// The bad endpoint without these parts.
    Reverted,
    /// In a hunt for a fix: the good endpoint without these parts.
    Unfixed,
    /// In a hunt for a fix: the bad endpoint with these parts.
    Backported,
    /// The bad endpoint without the causes of all first bad commits.
    AllReverted,
    /// In a hunt for a fix: the good endpoint without the causes of all first fixed commits.
    AllUnfixed,
    /// In a hunt for a fix: the bad endpoint with the causes of all first fixed commits.
    AllBackported,
}

impl Trial {
    /// Whether both tests are of the same parts in the same way. One may have more runs.
    pub(crate) fn is_of_same_build(&self, other: &Self) -> bool {
        self.of == other.of && self.parts == other.parts
    }
}

impl TrialOf {
    /// Whether an endpoint is tested, and not the commit or its parent.
    pub(crate) fn is_of_endpoint(self) -> bool {
        match self {
            Self::Reverted
            | Self::Unfixed
            | Self::Backported
            | Self::AllReverted
            | Self::AllUnfixed
            | Self::AllBackported => true,
            Self::Only | Self::Without => false,
        }
    }
}

impl CauseEnd {
    /// Whether the search was not made, or its result does not count.
    pub(crate) fn is_without_answer(&self) -> bool {
        match self {
            Self::Unsteady(_) | Self::Stopped(_) | Self::NotSeparable(_) => true,
            Self::Complete
            | Self::RestPart
            | Self::RestUnknown
            | Self::RestShows
            | Self::Budget => false,
        }
    }
}

impl Cause {
    /// The test of the commit with all sets removed, if it was made.
    pub fn without(&self) -> Option<&Trial> {
        self.trials.get(self.without?)
    }

    /// The last test of the newer endpoint without the sets or the whole commit, if one was made.
    pub(crate) fn reverted(&self) -> Option<&Trial> {
        let of = [TrialOf::Reverted, TrialOf::Unfixed];
        self.trials.iter().rfind(|trial| of.contains(&trial.of))
    }

    /// Whether the test of [`Self::reverted`] took the change out of the files of a submodule. It
    /// does so if later commits moved the submodule's pin on.
    pub(crate) fn is_reverted_in_submodule(&self) -> bool {
        let is_inside = |part: &ChangePart| part.whole == Some(WholeChange::InSubmodule);
        self.reverted().is_some_and(|trial| trial.parts.iter().any(is_inside))
    }

    /// The last test of the bad endpoint with the sets of a fix or the whole fix, if one was made.
    pub(crate) fn backported(&self) -> Option<&Trial> {
        self.trials.iter().rfind(|trial| trial.of == TrialOf::Backported)
    }

    /// The test of one set alone, if it was made.
    pub fn alone(&self, set: &CauseSet) -> Option<&Trial> {
        self.trials.get(set.alone?)
    }

    /// The parts that a revert takes out: those of all sets and the ones that need them.
    pub fn parts(&self) -> impl Iterator<Item = &ChangePart> {
        self.sets.iter().flat_map(|set| &set.parts).chain(&self.dependents)
    }

    /// The number of tests of parts of the change. Tests of endpoints do not count.
    pub(crate) fn tests_of_parts(&self) -> usize {
        self.trials.iter().filter(|trial| !trial.of.is_of_endpoint()).count()
    }

    /// The role of a file of the change.
    pub fn role(&self, path: &str) -> FileRole {
        self.roles.get(path).copied().unwrap_or_default()
    }
}
