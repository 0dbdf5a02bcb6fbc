//! Why a confirmation does not exclude that files in the home folder matter: such files may carry
//! results from one commit to another, or may be settings that change what the endpoints show.

use serde::{Deserialize, Serialize};

/// Why nothing shows that the home folder does not matter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum HomeDoubt {
    /// The confirmation used the user's home folder, because builds or runs fail or give other
    /// values with an empty one.
    UserHome,
    /// The hunt began again with an empty home folder, without the user's settings there. The text
    /// says what the endpoints showed before.
    EmptyHome(String),
    /// This file below the home folder changed during the hunt, and an empty home folder has it
    /// too, by a link.
    Changed(String),
}
