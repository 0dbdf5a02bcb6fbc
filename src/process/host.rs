//! The machine that this process runs on.

/// The machine's name in the network.
pub(crate) fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// The name of the cluster's node that this process runs on; outside a job, the machine's name.
pub(crate) fn node_name() -> String {
    // Several nodes may be one machine.
    std::env::var("SLURMD_NODENAME").unwrap_or_else(|_| host_name())
}
