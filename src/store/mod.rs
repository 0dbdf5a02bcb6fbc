//! Stores measurements on disk, in plain files that stay correct without locks: the store may be
//! on a network disk.
//!
//! ```text
//! <git common dir>/bisect-ppl/
//!   format                             the version of this layout
//!   runs/ab/<run key>/<attempt>.json   a run, beside its <attempt>.log
//!   builds/ab/<build key>/<attempt>.json
//!   controls/<attempt>.json            the control's result about a failed run or build
//!   confirmations/<key>.json           a confirmation of a first bad commit
//!   patches/<digest>.diff              patches that hunts apply to commits
//!   setups/<digest>.json               how builds were configured
//!   dumps/ab/<digest>                  tensors that runs wrote
//!   comparisons/<digest>-<digest>.json figures of two files with logits
//!   digests.json                       cached digests of input files
//!   hunts/<id>/                        one hunt: config, journal, logs, reports
//!   verifications/<time>/bisect-ppl/   one `verify`: a store of its own, with one hunt
//!   squeue/<uid>/                      what Slurm last said of the jobs of this user's hunts
//!   in-flight/                         locks: what processes measure now
//!   pending/                           logs before their records
//!   trash/                             folders of hunts during their removal
//!   in-use                             lock of measuring processes and of removal
//! ```
//!
//! A record of a run or a build has a unique name and never changes. It is written under a
//! temporary name, synced, and renamed. `digests.json` is only a cache and is replaced. A hunt's
//! journal is appended to.

mod ahead;
mod builds;
mod changes;
mod comparisons;
mod confirmations;
mod damaged;
mod digests;
mod driver;
mod dumps;
mod durable;
mod error;
mod evidence;
mod fault;
mod folder;
mod forget;
mod gc;
mod history;
mod holder;
mod hunts;
mod identity;
mod in_flight;
mod in_use;
mod inside;
mod inventory;
mod jobs;
pub(crate) mod journal;
mod json_digest;
mod key;
mod patches;
mod recent;
mod record_files;
mod recorded_commits;
mod runs;
mod setups;
mod slot_path;
mod stored_record;
mod verifications;

pub(crate) use ahead::{AheadClaim, AheadRecord};
pub(crate) use builds::{AttemptsCost, BuildRecord, CacheProgram, CompilerCache};
pub(crate) use changes::{
    BACKPORT_PATCH, Candidate, JOINT_BACKPORT_PATCH, JOINT_REVERT_PATCH, Messages, PATCHES,
    REVERT_PATCH,
};
pub(crate) use confirmations::Confirmation;
pub(crate) use digests::{Digests, check_readable};
pub(crate) use driver::Driver;
pub(crate) use dumps::MOST_DUMPED;
pub(crate) use durable::{publish, publish_log, replace};
pub(crate) use error::{FORMAT, StoreError};
pub(crate) use evidence::{Damage, Damaged};
pub(crate) use fault::RecordedFault;
pub(crate) use folder::Store;
pub(crate) use forget::Forget;
pub(crate) use gc::{AgeLimits, Garbage};
pub(crate) use holder::Holder;
pub(crate) use hunts::{HuntDir, config_digest};
pub(crate) use in_flight::{FlightClaim, InFlight};
pub(crate) use inside::{FollowUpAttempt, FollowUpResult};
pub(crate) use inventory::Inventory;
pub(crate) use jobs::JobLock;
pub(crate) use key::{BuildKey, KeyHasher, RunKey, hex};
pub(crate) use patches::patch_digest;
pub(crate) use record_files::attempt_name;
pub(crate) use runs::{Control, PendingLog, StoredRun};
pub(crate) use verifications::OwnStore;
