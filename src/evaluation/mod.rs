//! The types that all modules share: commit, metric, run, guard, verdict and more. No IO, no
//! policy.

mod aim;
mod checks;
mod commit;
mod complaint;
mod difference;
mod extent;
mod failure;
mod fault;
mod finding;
mod guard;
mod loaded;
mod machine_state;
mod metric;
mod noise;
mod run;
mod setup;
mod surroundings;
mod verdict;

pub use aim::Aim;
pub use checks::Checks;
pub use commit::{CommitId, Lineage, ParseCommitIdError};
pub use complaint::{Complaints, Heard, Said, normalised};
pub use difference::{Difference, DifferenceIn, Differences, Spread, Unit};
pub use extent::Extent;
pub use failure::{Evidence, Failure, FailureKind, Fault, NonFinite, Printed};
pub use fault::{failure_of, fault_of, is_own_doing, signature};
pub use finding::{
    Account, Basis, CommitInfo, Contribution, Culprit, Dependency, Effect, Finding, GuardTarget,
    Outcome, OverText, Target, TouchedFile, Within,
};
pub use guard::{Direction, Guard, GuardForm};
pub use loaded::{Loaded, Ran, Unlike, UnlikeIn};
pub use machine_state::{Around, GpuState, MachineState};
pub use metric::{Metric, ParseMetricError, Reading, Value};
pub use noise::{Noise, NoiseKind, Orientation};
pub use run::{Ended, ExclusionReason, FailedPrepare, LONGEST_LINE, Phase, RunRecord, Stream};
pub use setup::{Compiled, Setup};
pub use surroundings::{COMPILERS, Surroundings};
pub use verdict::{Judgement, SkipReason, Verdict};
