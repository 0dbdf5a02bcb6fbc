//! What a build or a run asked git about HEAD.

use serde::{Deserialize, Serialize};

/// A question that a build or a run asked. HEAD of a modified tree is a commit of our own: its name
/// is new, and no branch or tag leads to it. So the answer there may differ from that at a real
/// commit, although the files are right.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum GitQuestion {
    /// A question that our commit may answer in another way: about branches, tags, remotes or
    /// ranges, or one that this program does not know.
    References,
    /// Which tag comes before HEAD (`git describe`). Our commit answers in another way only if a
    /// tag is exactly at the commit below it.
    Describe,
    /// The name or the text of HEAD's commit, which differ at every commit.
    Name,
    /// Perhaps nothing. A program opened `.git`, and no git command reported it: libgit2, a script,
    /// or git in an empty environment. Or the command was `git archive`, which writes references
    /// into files only if attributes ask for it.
    Unseen,
}
