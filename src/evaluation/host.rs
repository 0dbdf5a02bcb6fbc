//! The computer on which a run was made.

use serde::{Deserialize, Serialize};

/// A computer. Computers of one class may still differ in speed, so each run names its own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Host {
    /// Its name in the network; in a job of a cluster, the name of the node.
    pub name: String,
    /// Model and UUID of each GPU that its driver lists, in the order of their places on the bus.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gpus: Vec<String>,
}
