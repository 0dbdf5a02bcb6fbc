//! The machine that this process runs on.

/// The machine's name in the network.
pub(crate) fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// The name of the cluster's node that this process runs on; outside a job, the machine's name.
pub(crate) fn node_name() -> String {
    // Several nodes may be one machine. In a container only the list of the job's nodes is set; our
    // jobs have one node.
    let variable = if is_in_container() { "SLURM_JOB_NODELIST" } else { "SLURMD_NODENAME" };
    std::env::var(variable).unwrap_or_else(|_| host_name())
}

/// The machine's name, also in the container of a job, which may have a name of its own.
pub(crate) fn machine_name() -> String {
    if is_in_container() { node_name() } else { host_name() }
}

/// Whether this process is in the container of a job (`container` of `[executor]`).
fn is_in_container() -> bool {
    std::env::var_os("SLURM_CONTAINER").is_some()
}
