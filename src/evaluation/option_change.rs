//! A change of the configuration by a command line option, for one hunt.

use std::fmt;

use serde::{Deserialize, Serialize};

/// One `--set` or `--arg`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct OptionChange {
    /// The option as a user could type it.
    pub option: String,
    /// The replaced value in `oracle.toml`, as TOML. `None` if the key is not there, and for
    /// `--arg`, which replaces nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub former: Option<String>,
    /// How many overrides the option also changes.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub overrides: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

impl OptionChange {
    /// How many overrides the option also changes: `1 override too`; empty for none.
    pub(crate) fn in_overrides(&self) -> String {
        match self.overrides {
            0 => String::new(),
            1 => "1 override too".to_owned(),
            many => format!("{many} overrides too"),
        }
    }
}

impl fmt::Display for OptionChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.option)
    }
}
