//! Names the nodes that jobs wait for because these are out of service. Slurm does not always say
//! which nodes that are.

use std::cell::LazyCell;

use super::listing::Listed;
use super::partition::NodeStates;

/// These jobs. Each that waits for nodes which Slurm does not name has their names: those that it
/// had in the `last` listing, as long as the reason stays the same, or those of `ask`, which is
/// called at most once.
pub(super) fn name_missing_nodes(
    jobs: Vec<Listed>,
    last: &[Listed],
    ask: impl FnOnce() -> NodeStates,
) -> Vec<Listed> {
    let states = LazyCell::new(ask);
    let named = |job: Listed| {
        if !job.lacks_nodes() {
            return job;
        }
        last.iter().find_map(|earlier| job.with_nodes_of(earlier)).unwrap_or_else(|| {
            let nodes = states.out_of_service(&job.partition);
            job.with_nodes(&nodes)
        })
    };
    jobs.into_iter().map(named).collect()
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::super::listing::State;
    use super::*;

    const DOWN: &str = "Nodes required for job are DOWN, DRAINED or reserved for jobs";

    fn job(number: usize, reason: &str) -> Listed {
        Listed {
            id: number.to_string(),
            state: State::Pending,
            reason: reason.to_owned(),
            restarts: 0,
            partition: "gpu".to_owned(),
            name: format!("a{number}"),
        }
    }

    #[test]
    fn many_jobs_that_wait_ask_once_and_not_again_for_the_same_reason() {
        let calls = Cell::new(0);
        let ask = |states: &str| {
            calls.set(calls.get() + 1);
            NodeStates(states.to_owned())
        };
        let jobs = || [job(1, DOWN), job(2, "Resources"), job(3, DOWN)].to_vec();
        let first = name_missing_nodes(jobs(), &[], || ask("gpu|n1|down\ngpu|n2|idle\n"));
        assert_eq!(calls.get(), 1);
        assert!(first[0].reason.ends_with(":n1") && first[2].reason.ends_with(":n1"));
        assert_eq!(first[1].reason, "Resources");
        let second = name_missing_nodes(jobs(), &first, || ask("gpu|n2|down\n"));
        assert_eq!((second, calls.get()), (first.clone(), 1));
        let other = [job(1, "ReqNodeNotAvail"), job(4, DOWN)].to_vec();
        let third = name_missing_nodes(other, &first, || ask("gpu|n2|down\n"));
        assert!(third.iter().all(|job| job.reason.ends_with(":n2")), "{third:?}");
        assert_eq!(calls.get(), 2);
    }

    #[test]
    fn a_cluster_that_does_not_say_it_is_not_asked_again() {
        let first = name_missing_nodes(vec![job(1, DOWN)], &[], NodeStates::default);
        let unasked = || -> NodeStates { panic!("asked again") };
        let second = name_missing_nodes(vec![job(1, DOWN)], &first, unasked);
        let said = "waiting for job 1 to begin (its nodes are down, drained or reserved)";
        assert_eq!(second[0].waits("job 1").as_deref(), Some(said));
    }
}
