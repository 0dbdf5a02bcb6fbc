//! Doubts about a confirmed commit, which limit the confidence in it.

use serde::{Deserialize, Serialize};

use super::{CommitId, FormChange, GitFolderChange, HomeDoubt, InstalledCopy, Metric, PutBack};

/// What neither runs nor tests exclude of a confirmed commit. The default is no doubt.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Doubts {
    /// Set if no test shows that the newer end needs the commit: how many later commits the hunt
    /// did not measure, or could not judge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unmeasured_after: Option<usize>,
    /// Set if later commits name what the commit adds or sets, and commits that would show what
    /// these left cannot be judged: how many. It may have been switched off there, and on again
    /// later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub untold_namings: Option<usize>,
    /// Set in a hunt for a fix if no test tells what the bad end shows with the commit: how many
    /// earlier commits the hunt did not measure, or could not judge. One of them may have fixed the
    /// same, and another one broken it again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unmeasured_before: Option<usize>,
    /// Set if one later commit took most of the step back, or improved the metric by more than the
    /// step, or if runs in noise leave open whether it did: that commit. It may have undone the
    /// whole step; then another change made the rest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub perhaps_mended_by: Option<CommitId>,
    /// Set if no test shows that the newer end needs the commit, and other commits gained back as
    /// much as its whole step: the metric.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gained_back: Option<Metric>,
    /// Set if files in the home folder may carry results from one commit to another: why the
    /// confirmation does not exclude that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub home_doubt: Option<HomeDoubt>,
    /// Set if builds or runs ask git for branches or tags, and no control shows that this makes no
    /// difference: tests with a changed tree are on no branch and have no tag, and a tag at an
    /// endpoint may alone make a step.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reference_doubt: bool,
    /// Set if builds or runs ask git for the commit's name, and no two measured commits show the
    /// same value: the name alone may make the values.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub name_doubt: bool,
    /// Set if the runs of a metric of the commit load an installed copy in place of the commit's
    /// file, which differs between the endpoints, and they also load other code of the commit: the
    /// copy. Whether it is meant is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copy_doubt: Option<InstalledCopy>,
    /// Set if files changed in the git folder that all worktrees share, while a build or run went on:
    /// they may carry results from one commit to another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git_folder_doubt: Option<GitFolderChange>,
    /// Set if a run opened files that git tracks and that its build wrote: they are put back after
    /// each build, so a commit of such a file shows what an earlier change of its generator made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub put_back_doubt: Option<PutBack>,
    /// Set if a metric's value comes from another place of the output since this commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub form_change: Option<FormChange>,
    /// Set if the commit's step is one unit of a metric's last printed digit, so that rounding may
    /// hide steps of earlier commits: the metric.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_digit: Option<Metric>,
    /// Set if the commit changes a pointer of Git LFS, and builds or runs may have read it in place
    /// of the file: the path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pointer: Option<String>,
}
