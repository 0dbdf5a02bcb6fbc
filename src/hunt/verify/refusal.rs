//! Why a report cannot be verified here.

use crate::evaluation::{CommitId, Outcome};

/// A report that cannot be verified here; nothing was run.
#[derive(Debug, thiserror::Error)]
pub(crate) enum VerifyRefusal {
    /// The report names no first bad commit.
    #[error(
        "the report names no first bad commit (its outcome is `{0}`): there is nothing to verify"
    )]
    NoCommit(Outcome),
    /// The report lacks the configuration.
    #[error("the report does not carry the configuration that the hunt used")]
    NotCarried,
    /// The report names a first bad commit without what the hunt judged it by.
    #[error("the report does not carry the targets that {} was judged by", .0.short())]
    NoTargets(CommitId),
    /// The configuration lacks values of secret variables.
    #[error("the report does not carry the value of {}", .0.join(", "))]
    Withheld(Vec<String>),
    /// Commits are not in this clone.
    #[error("this clone does not have {}", .0.join(", "))]
    NoSuchCommits(Vec<String>),
    /// A patch that the configuration names is not in the report.
    #[error("the report does not carry the patch `{0}`, or carries another one")]
    NoPatch(String),
    /// The dependency that the hunt was about is not in this clone.
    #[error("this clone does not have the dependency {0}, which the hunt was about")]
    NoDependency(String),
    /// An input cannot be found here.
    #[error("the input `{name}` is not here: {reason}")]
    NoInput { name: String, reason: String },
    /// An input differs from the hunt's.
    #[error(
        "the input `{name}` is not the one of the report: {path} has SHA-256 {here}, the report says {reported}"
    )]
    OtherInput {
        name: String,
        path: String,
        /// The digest here.
        here: String,
        /// The digest in the report.
        reported: String,
    },
    /// `--input` gives a name that is no input.
    #[error("the configuration has no input `{name}`; it has {known}")]
    UnknownInput {
        name: String,
        /// The names that there are.
        known: String,
    },
    /// `--fix` for a report about a commit that fixed something.
    #[error("the report names the commit that fixed something, so `--fix` has nothing to heal")]
    FixOfFix,
    /// The fix is the first bad commit itself.
    #[error("{} is the first bad commit itself, so it cannot be its fix", .0.short())]
    FixIsCulprit(CommitId),
}

impl VerifyRefusal {
    /// What the user can do.
    pub(crate) fn hint(&self) -> String {
        match self {
            Self::NoCommit(_) => "verify needs a report with the outcome `culprit`".to_owned(),
            Self::NotCarried | Self::NoTargets(_) => {
                "have the report made again where the hunt ran, with `bisect-ppl report --format \
                 json` of a newer version"
                    .to_owned()
            }
            Self::Withheld(keys) => {
                let set: Vec<String> = keys.iter().map(|key| format!("--set {key}=…")).collect();
                format!("it looks like a secret; give your own: {}", set.join(" "))
            }
            Self::NoSuchCommits(_) => {
                "run it in a clone of the engine's repository, after `git fetch` (in a shallow clone: \
                 `git fetch --unshallow`)"
                    .to_owned()
            }
            Self::NoPatch(_) => "ask for a report from where the hunt's store still is".to_owned(),
            Self::NoDependency(path) => format!("`git submodule update --init {path}`"),
            Self::NoInput { name, .. } => {
                format!("say where it is: --input {name}=PATH")
            }
            Self::OtherInput { name, .. } => {
                format!("get the file that the hunt used, and name it: --input {name}=PATH")
            }
            Self::UnknownInput { .. } => "correct --input NAME=PATH".to_owned(),
            Self::FixOfFix => "leave --fix out".to_owned(),
            Self::FixIsCulprit(_) => "name the commit with the fix".to_owned(),
        }
    }
}
