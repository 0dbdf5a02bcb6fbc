//! `oracle`: the command that `git bisect run` calls. Stdout stays empty; stderr has the verdict.

use std::path::{Path, PathBuf};

use anyhow::anyhow;

use crate::config::Config;
use crate::evaluation::{Aim, CommitId, Judgement, Verdict};
use crate::git::{BisectState, Repository};
use crate::hunt::{self, AheadJob, JobKind, UsageError};
use crate::oracle::exit::code;
use crate::oracle::{Oracle as CommitOracle, Pins};
use crate::process::Stop;
use crate::store::{KeyHasher, Store, publish};
use crate::ui::{Ui, printable_line};

use super::args::Oracle;
use super::configuration::load;
use super::locate::{config_path, here, here_again};
use super::{Failed, jobs};

/// `oracle`.
pub(crate) fn run(args: &Oracle, stop: &Stop) -> Result<u8, Failed> {
    // A job may be on another node, with another git than the driver's.
    let is_beside_driver = args.hunt.is_some() && args.job.is_none();
    let repository = if is_beside_driver { here_again()? } else { here()? };
    let (verdict, aim) = if let Some(name) = &args.hunt {
        let store = Store::open(repository.common_dir()).map_err(Failed::store)?;
        let hunt = store.hunt(Some(name)).map_err(Failed::store)?;
        if let (true, Some(token)) = (args.build, &args.job) {
            return jobs::inside(&repository, &hunt, token, JobKind::Build, stop, || {
                hunt::build_in_job(&repository, &hunt, token, stop).map_err(Failed::hunt)?;
                Ok(super::exit::DONE)
            });
        }
        if let (Some(job), Some(slot)) = (&args.ahead, args.slot) {
            let job: AheadJob = serde_json::from_str(job)
                .map_err(|error| Failed::usage(anyhow!("--ahead: {error}"), None))?;
            let measure = || {
                hunt::measure_ahead(&repository, &hunt, &job, slot, stop).map_err(Failed::hunt)?;
                Ok(super::exit::DONE)
            };
            return match &args.job {
                Some(token) => {
                    jobs::inside(&repository, &hunt, token, JobKind::Ahead, stop, measure)
                }
                None => measure(),
            };
        }
        hunt::step(&repository, &hunt, stop).map_err(Failed::hunt)?
    } else {
        let path = config_path(args.config.as_deref(), Some(&repository));
        by_hand(&repository, &path, stop)?
    };
    Ok(code(verdict, aim))
}

/// Judges the current commit of a bisect that the user started. The bisect's good commit is the
/// baseline; in a search for a fix the good commit is the newer end. The bad commit must break a
/// guard, or git would name a commit that did nothing.
fn by_hand(repository: &Repository, config: &Path, stop: &Stop) -> Result<(Verdict, Aim), Failed> {
    let git = |error: crate::git::GitError| Failed::hunt(UsageError::from(error).into());
    let state = repository.bisect_state_here().map_err(git)?.ok_or_else(|| {
        Failed::usage(
            anyhow!("no bisect is going on in this worktree"),
            Some(
                "`git bisect start BAD GOOD` first, or `bisect-ppl start` for a whole hunt".into(),
            ),
        )
    })?;
    let aim = state.aim();
    let [good, bad] = aim.swap_if_fix(state.first_ends());
    let (Some(good), Some(bad), Some(commit)) = (good, bad, state.current.clone()) else {
        return Err(Failed::usage(
            anyhow!("the bisect in this worktree has no good and no bad commit yet"),
            Some("`git bisect good REV` and `git bisect bad REV` first".to_owned()),
        ));
    };
    let begun = BegunBisect::of(repository, config, &state, [good, bad])?;
    let mut oracle = hunt::standalone_oracle(repository, begun.config, begun.pins, stop)
        .map_err(Failed::hunt)?;
    let ui = Ui::new();
    let judged = judge(&mut oracle, &begun.ends, &commit, begun.is_first.then_some(ui));
    let tidied = hunt::tidy(&mut oracle);
    let judgement = judged?;
    tidied.map_err(Failed::hunt)?;
    ui.line(&format!(
        "{} {}: {}",
        judgement.verdict,
        commit.short(),
        printable_line(&judgement.reason)
    ));
    Ok((judgement.verdict, aim))
}

/// Measures the ends (later calls take them from the store), says once what they are, and judges
/// the commit.
fn judge(
    oracle: &mut CommitOracle,
    [good, bad]: &[CommitId; 2],
    commit: &CommitId,
    ui: Option<Ui>,
) -> Result<Judgement, Failed> {
    let ends = hunt::measure_ends(oracle, good, bad).map_err(Failed::hunt)?;
    let ends =
        ends.map_err(|no| Failed::world(anyhow!("{}", no.what), Some(no.cure.to_owned())))?;
    if let Some(ui) = ui {
        let what = printable_line(&ends.reason);
        ui.line(&format!("baseline {}; bad {}: {what}", good.short(), bad.short()));
    }
    hunt::judge_between(oracle, &ends, commit).map_err(Failed::hunt)
}

/// A bisect of the user's own, as it was at its first step.
struct BegunBisect {
    config: Config,
    pins: Pins,
    /// The good and the bad end, as first marked.
    ends: [CommitId; 2],
    /// Whether this is the first step.
    is_first: bool,
}

impl BegunBisect {
    /// The configuration and its resolved revisions, frozen at the first step: the checked-out file
    /// and HEAD change with each commit, but the measurement must not.
    fn of(
        repository: &Repository,
        path: &Path,
        state: &BisectState,
        ends: [CommitId; 2],
    ) -> Result<Self, Failed> {
        let store = Store::open(repository.common_dir()).map_err(Failed::store)?;
        let absolute =
            std::path::absolute(path).map_err(|error| Failed::world(error.into(), None))?;
        let start = state.log.lines().find(|line| line.starts_with("git bisect start"));
        let name = KeyHasher::new("frozen")
            .field("file", &absolute.to_string_lossy())
            .field("start", start.unwrap_or_default())
            .field("good", ends[0].as_str())
            .field("bad", ends[1].as_str())
            .hex();
        let copy: PathBuf = store.root().join("by-hand").join(format!("{name}.toml"));
        let pinned = copy.with_extension("pins.json");
        // The copy is written last: if it exists, both files do.
        if !copy.exists() {
            let config = load(path)?;
            jobs::refuse_outside(&config, "oracle")?;
            let pins = hunt::pins(repository, &config).map_err(Failed::hunt)?;
            let bytes = serde_json::to_vec_pretty(&pins).expect("names are plain data");
            publish(&pinned, &bytes).map_err(Failed::store)?;
            publish(&copy, config.text().as_bytes()).map_err(Failed::store)?;
            return Ok(Self { config, pins, ends, is_first: true });
        }
        let text =
            std::fs::read_to_string(&copy).map_err(|error| Failed::world(error.into(), None))?;
        let base = absolute.parent().unwrap_or(Path::new("/"));
        let config = Config::parse(&text, base, &path.to_string_lossy())
            .map_err(|error| Failed::usage(error.into(), None))?;
        // An older version of this program did not freeze revisions.
        let pins = match std::fs::read(&pinned).ok().and_then(|b| serde_json::from_slice(&b).ok()) {
            Some(pins) => pins,
            None => hunt::pins(repository, &config).map_err(Failed::hunt)?,
        };
        Ok(Self { config, pins, ends, is_first: false })
    }
}
