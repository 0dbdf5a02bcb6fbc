//! Why a job waits, in words. Pure.

use std::collections::BTreeSet;

/// Words that Slurm uses for jobs whose nodes are out of service.
const NODES_OUT: [&str; 2] = ["ReqNodeNotAvail", "Nodes required for job are DOWN"];

/// After this word Slurm lists the nodes that are out of service.
const LISTED: &str = "UnavailableNodes:";

/// Most nodes that are named.
const MOST_NODES: usize = 8;

/// Whether this reason says that nodes are out of service, but does not list them. Slurm changes
/// between such a reason and one with a list while the same job waits.
pub(super) fn lacks_nodes(reason: &str) -> bool {
    NODES_OUT.iter().any(|words| reason.starts_with(words)) && listed_nodes(reason).is_none()
}

/// Such a reason with the nodes that are out of service.
pub(super) fn with_nodes(reason: &str, nodes: &BTreeSet<String>) -> String {
    let named: Vec<&str> = nodes.iter().take(MOST_NODES).map(String::as_str).collect();
    let more = nodes.len().saturating_sub(MOST_NODES);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}, {LISTED}{}{more}", without_list(reason), named.join(", "))
}

/// Whether `named` is what [`with_nodes`] makes of this reason, with any nodes.
pub(super) fn is_with_nodes(named: &str, reason: &str) -> bool {
    named.contains(LISTED) && without_list(named) == without_list(reason)
}

/// A reason without the nodes that it lists.
fn without_list(reason: &str) -> &str {
    reason.split_once(LISTED).map_or(reason, |(before, _)| before.trim_end_matches([',', ' ']))
}

/// The nodes that a reason lists.
fn listed_nodes(reason: &str) -> Option<&str> {
    let nodes = reason.split_once(LISTED).map(|(_, nodes)| nodes.trim());
    nodes.filter(|nodes| !nodes.is_empty())
}

/// What is said of a job that waits: `waiting for job 7 to begin (no node is free)`, or for a job
/// that somebody holds, what lets it go on. `what`: the job, such as `job 7`. `id`: its number.
/// `reason`: Slurm's.
pub(super) fn in_words(what: &str, id: &str, reason: &str) -> String {
    let by = match reason {
        "JobHeldAdmin" => "an administrator",
        "JobHeldUser" => "its user",
        _ => return format!("waiting for {what} to begin ({})", why(reason)),
    };
    format!("{what} is held by {by}: `scontrol release {id}`")
}

fn why(reason: &str) -> String {
    if NODES_OUT.iter().any(|words| reason.starts_with(words)) {
        let nodes = listed_nodes(reason).map_or_else(String::new, |nodes| format!(": {nodes}"));
        return format!("its nodes are down, drained or reserved{nodes}");
    }
    match reason {
        "Resources" => "no node is free".to_owned(),
        "Priority" => "no node is free, and other jobs come first".to_owned(),
        other => other.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_reasons_are_said_in_words_and_others_as_slurm_says_them() {
        for (reason, words) in [
            ("Resources", "no node is free"),
            ("Priority", "no node is free, and other jobs come first"),
            ("ReqNodeNotAvail", "its nodes are down, drained or reserved"),
            (
                "ReqNodeNotAvail, UnavailableNodes:n[1-3]",
                "its nodes are down, drained or reserved: n[1-3]",
            ),
            ("ReqNodeNotAvail, UnavailableNodes:", "its nodes are down, drained or reserved"),
            (
                "Nodes required for job are DOWN, DRAINED or reserved for jobs in higher priority \
                 partitions",
                "its nodes are down, drained or reserved",
            ),
            ("QOSMaxJobsPerUserLimit", "QOSMaxJobsPerUserLimit"),
        ] {
            let said = in_words("job 7, which builds,", "7", reason);
            assert_eq!(said, format!("waiting for job 7, which builds, to begin ({words})"));
        }
    }

    #[test]
    fn a_reason_without_nodes_gets_those_that_are_out_of_service() {
        let down = "Nodes required for job are DOWN, DRAINED or reserved for jobs";
        assert!(lacks_nodes(down) && lacks_nodes("ReqNodeNotAvail, UnavailableNodes:"));
        assert!(!lacks_nodes("ReqNodeNotAvail, UnavailableNodes:n1") && !lacks_nodes("Resources"));
        let nodes = |number| (0..number).map(|node| format!("n{node}")).collect::<BTreeSet<_>>();
        let said = |number| why(&with_nodes(down, &nodes(number)));
        assert_eq!(said(2), "its nodes are down, drained or reserved: n0, n1");
        assert!(said(10).ends_with(": n0, n1, n2, n3, n4, n5, n6, n7 and 2 more"));
        assert_eq!(said(0), "its nodes are down, drained or reserved");
        let empty = "ReqNodeNotAvail, UnavailableNodes:";
        assert_eq!(with_nodes(empty, &nodes(1)), "ReqNodeNotAvail, UnavailableNodes:n0");
        assert!(is_with_nodes(&with_nodes(empty, &nodes(0)), "ReqNodeNotAvail"));
        assert!(!is_with_nodes(&with_nodes(empty, &nodes(1)), down) && !is_with_nodes(down, down));
    }

    #[test]
    fn a_held_job_has_the_command_that_releases_it() {
        let said = |reason| in_words("job 40", "40", reason);
        let admin = "job 40 is held by an administrator: `scontrol release 40`";
        assert_eq!(said("JobHeldAdmin"), admin);
        assert_eq!(said("JobHeldUser"), "job 40 is held by its user: `scontrol release 40`");
    }
}
