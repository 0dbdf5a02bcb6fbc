//! The machine that this process runs on.

/// The machine's name in the network.
pub(crate) fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// The name of the cluster's node that this process runs on; outside a job, the machine's name.
pub(crate) fn node_name() -> String {
    // Several nodes may be one machine. In the container of a job only the list of its nodes is set;
    // our jobs have one node.
    let is_inside = std::env::var_os("SLURM_CONTAINER").is_some();
    let variable = if is_inside { "SLURM_JOB_NODELIST" } else { "SLURMD_NODENAME" };
    std::env::var(variable).unwrap_or_else(|_| host_name())
}
