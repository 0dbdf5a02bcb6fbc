//! The types that all modules share: commit, metric, run, guard, verdict and more. No IO.

mod account;
mod aim;
mod cause;
mod checks;
mod commit;
mod contribution;
mod deceptive;
mod difference;
mod doubts;
mod ended;
mod failure;
mod failure_kind;
mod failure_log;
mod fault;
mod file_role;
mod finding;
mod forge;
mod form_change;
mod form_match;
mod git_folder_change;
mod git_question;
mod guard;
mod hidden_step;
mod home_doubt;
mod host;
mod inquiry;
mod installed_copy;
mod levels;
mod limits;
mod loaded;
mod logits;
mod logits_guard;
mod machine_state;
mod metric;
mod neighbours;
mod noise;
mod number;
mod open_step;
mod option_change;
mod output;
mod place_names;
mod printed;
mod printed_number;
mod printed_units;
mod read_files;
mod resource;
mod revert;
mod run;
mod setup;
mod shape_rule;
mod shapes;
mod signal;
mod surroundings;
mod taken_port;
mod target;
mod tensor_comparison;
mod tensor_difference;
mod text_length;
mod tree_entry;
mod unexplained;
mod unreadable;
mod value_forms;
mod value_places;
mod verdict;

pub(crate) use account::Account;
pub(crate) use aim::Aim;
pub use cause::Cause;
pub(crate) use cause::{
    CauseEnd, CauseSet, ChangePart, JointBackport, JointRevert, MovedEdit, PartOf, Shows, Trial,
    TrialOf, WholeChange,
};
pub(crate) use checks::{Checks, NeededChecks, UNNAMED_CHECK, is_unnamed_check};
pub use commit::ParseCommitIdError;
pub(crate) use commit::{CommitId, Lineage};
pub(crate) use contribution::Contribution;
pub(crate) use deceptive::is_deceptive;
pub(crate) use difference::{Difference, DifferenceIn, Differences, Spread, Unit};
pub(crate) use doubts::Doubts;
pub use ended::Ended;
pub use failure::{Evidence, Failure};
pub use failure_kind::FailureKind;
#[cfg(test)]
pub(crate) use failure_log::FailureReason;
pub(crate) use failure_log::{FailureLogParser, FailureMessage};
pub(crate) use fault::Fault;
pub(crate) use fault::{failure_of, fault_of, was_caused_by_program};
pub(crate) use file_role::FileRole;
pub(crate) use finding::{
    Basis, ChunkIntervals, CommitInfo, Culprit, DependencyHunt, Finding, Outcome, TouchedFile,
};
pub use finding::{Dependency, Effect};
pub use forge::Site;
pub(crate) use forge::{ChangeRequest, Forge};
pub(crate) use form_change::FormChange;
pub(crate) use form_match::{LONGEST_WORD, form_of_parts, is_name_in_form, without_names};
pub(crate) use git_folder_change::{ChangedDuring, GitFolderChange};
pub(crate) use git_question::GitQuestion;
pub use guard::Guard;
pub(crate) use guard::{Direction, FormName, GuardForm, exceeds_limit};
pub(crate) use hidden_step::HiddenStep;
pub(crate) use home_doubt::HomeDoubt;
pub(crate) use host::Host;
pub(crate) use inquiry::Inquiry;
pub(crate) use installed_copy::InstalledCopy;
pub(crate) use levels::lowest_failing;
pub(crate) use levels::{LevelCheck, LevelResult, LevelShows};
pub(crate) use limits::{Limits, ReachedLimit};
pub(crate) use loaded::{FileDifference, FileDifferenceKind, Loaded, LoadedFilesComparison};
pub(crate) use logits::{
    LargestDifference, LogitsChange, LogitsDifference, LogitsSide, NonFiniteValues, Positions,
    ThreadFloor,
};
pub(crate) use logits_guard::{LogitsGuard, LogitsLimits};
pub(crate) use machine_state::{GpuState, MachineState, MachineStates};
pub(crate) use metric::{Metric, Reading, is_count_of_failures};
pub use metric::{ParseMetricError, Value};
pub(crate) use neighbours::Neighbours;
pub(crate) use noise::{Noise, NoiseKind, Orientation};
pub(crate) use open_step::OpenStep;
pub(crate) use option_change::OptionChange;
pub(crate) use output::LONGEST_LINE;
pub use output::Stream;
pub(crate) use place_names::PlaceNames;
pub(crate) use printed::{FactChange, GeneratedText, TextPair};
pub(crate) use printed_number::{decimals, is_rounded, parse_number};
pub(crate) use printed_units::PrintedUnits;
pub(crate) use read_files::ReadFiles;
pub use resource::Resource;
pub(crate) use resource::Resources;
pub use revert::{Backport, Revert};
pub(crate) use run::{Dumped, ExclusionReason, FailedPrepare, Phase, RunRecord};
pub(crate) use setup::{Compiled, Setup};
pub(crate) use shape_rule::{Border, Comparison, Condition, Join, Properties, Property, ShapeRule};
pub use shapes::Shapes;
pub(crate) use shapes::{CellSide, MeasureSweep, SweepEnd, SweptCell};
pub(crate) use signal::name as signal_name;
pub(crate) use surroundings::COMPILERS;
pub(crate) use surroundings::Surroundings;
pub(crate) use surroundings::is_secret;
pub(crate) use taken_port::TakenPort;
pub(crate) use target::GuardTarget;
pub(crate) use target::Target;
pub(crate) use tensor_comparison::{
    TensorAxis, TensorChange, TensorComparison, TensorGrowth, TensorInput, TensorOrder,
    TensorPattern, TensorPatternKind, TensorRun,
};
pub(crate) use tensor_difference::{TensorDifference, TensorLevel, TensorPart, TensorVerdict};
pub(crate) use text_length::TextLength;
pub(crate) use tree_entry::{EntryContent, EntryFile, TreeEntry};
pub(crate) use unexplained::Unexplained;
pub(crate) use unreadable::Unreadable;
pub(crate) use value_forms::{FormsAtEnds, ValueForms};
pub(crate) use value_places::{OutputPlace, PlacesAtEnds, ValuePlaces};
pub use verdict::Judgement;
pub(crate) use verdict::SkipReason;
pub(crate) use verdict::Verdict;
