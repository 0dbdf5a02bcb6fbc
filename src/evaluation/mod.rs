//! The types that all modules share: commit, metric, run, guard, verdict and more. No IO.

mod aim;
mod cause;
mod checks;
mod commit;
mod deceptive;
mod difference;
mod ended;
mod failure;
mod failure_kind;
mod failure_log;
mod fault;
mod file_role;
mod finding;
mod forge;
mod guard;
mod inquiry;
mod levels;
mod limits;
mod loaded;
mod logits;
mod logits_guard;
mod machine_state;
mod metric;
mod noise;
mod number;
mod option_change;
mod output;
mod printed;
mod printed_number;
mod read_files;
mod resource;
mod run;
mod setup;
mod shape_rule;
mod shapes;
mod signal;
mod surroundings;
mod target;
mod tensor_comparison;
mod tensor_difference;
mod text_length;
mod tree_entry;
mod unexplained;
mod unreadable;
mod verdict;

pub use aim::Aim;
pub use cause::{
    Backport, Cause, CauseEnd, CauseSet, ChangePart, JointRevert, MovedEdit, PartOf, Revert, Shows,
    Trial, TrialOf,
};
pub use checks::Checks;
pub use commit::{CommitId, Lineage, ParseCommitIdError};
pub(crate) use deceptive::is_deceptive;
pub use difference::{Difference, DifferenceIn, Differences, Spread, Unit};
pub use ended::Ended;
pub use failure::{Evidence, Failure, NonFinite, Printed};
pub use failure_kind::FailureKind;
pub use failure_log::{FailureLogParser, FailureMessage, FailureReason};
pub use fault::Fault;
pub(crate) use fault::{failure_of, fault_of, was_caused_by_program};
pub use file_role::FileRole;
pub use finding::{
    Account, Basis, ChunkIntervals, CommitInfo, Contribution, Culprit, Dependency, DependencyHunt,
    Effect, Finding, Outcome, TouchedFile,
};
pub use forge::{ChangeRequest, Forge, Hosted, Site};
pub use guard::{Direction, FormName, Guard, GuardForm};
pub use inquiry::Inquiry;
pub(crate) use levels::lowest_failing;
pub use levels::{LevelCheck, LevelResult, LevelShows};
pub use limits::{Limits, ReachedLimit};
pub use loaded::{FileDifference, FileDifferenceKind, Loaded, LoadedFilesComparison};
pub use logits::{
    LargestDifference, LogitsChange, LogitsDifference, LogitsSide, NonFiniteValues, Positions,
    ThreadFloor,
};
pub use logits_guard::{LogitsGuard, LogitsLimits};
pub use machine_state::{GpuState, MachineState, MachineStates};
pub use metric::{Metric, ParseMetricError, Reading, Value};
pub use noise::{Noise, NoiseKind, Orientation};
pub use option_change::OptionChange;
pub(crate) use output::LONGEST_LINE;
pub use output::Stream;
pub use printed::{FactChange, GeneratedText, TextPair};
pub(crate) use printed_number::parse_number;
pub use read_files::ReadFiles;
pub use resource::{Resource, Resources};
pub use run::{Dumped, ExclusionReason, FailedPrepare, Phase, RunRecord};
pub use setup::{Compiled, Setup};
pub use shape_rule::{Border, Comparison, Condition, Join, Properties, Property, ShapeRule};
pub use shapes::{CellSide, MeasureSweep, Shapes, SweepEnd, SweptCell};
pub(crate) use surroundings::COMPILERS;
pub use surroundings::Surroundings;
pub(crate) use surroundings::is_secret;
pub use target::{GuardTarget, Target};
pub use tensor_comparison::{
    TensorAxis, TensorChange, TensorComparison, TensorGrowth, TensorInput, TensorOrder,
    TensorPattern, TensorPatternKind, TensorRun,
};
pub use tensor_difference::{TensorDifference, TensorLevel, TensorPart, TensorVerdict};
pub use text_length::TextLength;
pub use tree_entry::{EntryContent, EntryFile, TreeEntry};
pub use unexplained::Unexplained;
pub use unreadable::Unreadable;
pub use verdict::{Judgement, SkipReason, Verdict};
