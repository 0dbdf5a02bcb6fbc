//! The neighbours of a found commit that a hunt in noise measures after the confirmation.

use serde::{Deserialize, Serialize};

/// Which neighbours, and so what they show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Neighbours {
    /// The next commits after a found one: whether its step lasts.
    Later,
    /// The commits before the parent of a found one: whether the parent alone is better.
    Earlier,
}
