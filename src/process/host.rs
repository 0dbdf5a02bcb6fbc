//! The machine that this process runs on.

/// The machine's name in the network.
pub(crate) fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}
