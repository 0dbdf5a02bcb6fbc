//! Measures the first bad commits of a report again, on any machine. It needs only the report, a
//! clone of the engine's repository and the inputs. No earlier build or run counts, except those of
//! the same verification if it was interrupted.

mod claims;
mod compare;
mod fix;
mod here;
mod machine;
mod place;
pub(crate) mod prepare;
pub(crate) mod refusal;
pub(crate) mod requirements;
pub(crate) mod result;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use crate::evaluation::{CommitId, Phase};
use crate::git::{History, Repository, git_version};
use crate::oracle::{Facts, Oracle, References, Request};
use crate::process::Stop;
use crate::store::journal::{Begun, Event, Options};
use crate::store::{HuntDir, Store, config_digest};

use super::HuntError;
use super::begin::examine::text;
use super::begin::open::open_in;
use super::begin::write_beginning;
use super::cleanup::clean;
use super::driver::Driver;
use place::Place;
use prepare::{Prepared, compared};
use requirements::check_inputs;
use result::{ClaimVerified, VERIFY_SCHEMA, Verification, all};

const TOOL: &str = concat!("bisect-ppl ", env!("CARGO_PKG_VERSION"));

impl Prepared {
    /// Builds and measures, and says whether the claims hold here. The user must have agreed to the
    /// commands that [`Prepared::commands`] lists. `begins` gets the folder of the verification.
    pub(crate) fn verify(
        self,
        repository: &Repository,
        stop: &Stop,
        begins: &dyn Fn(&HuntDir),
    ) -> Result<Verification, HuntError> {
        check_inputs(repository, &self.config, &self.report)?;
        repository.repair()?;
        // While this is open, no other process removes the build folders.
        let _in_use = Store::open_to_measure(repository.common_dir())?;
        let fix = self.fix.as_ref().map(|(_, commit)| commit.as_str());
        let place = Place::of(repository, &self.report, &self.config, fix)?;
        let (store, hunt) = (place.own.store.clone(), &place.own.hunt);
        let machine = machine::compared(&self.report, &self.links, &place.facts);
        if !place.goes_on {
            self.write(repository, &store, hunt, place.facts)?;
        }
        let (mut oracle, begun) = open_in(repository, hunt, store, stop)?;
        if place.goes_on {
            oracle.recorder.event(Event::Resumed { limits: None, driver_since: None })?;
        }
        // Some parsers compare each run with a run of the hunt's good end (`reference_here`).
        oracle.references = References::at(self.reference.clone());
        let mut driver = driver(oracle, begun, hunt, stop);
        begins(hunt);
        let result = self.measured(&mut driver);
        let slots = driver.oracle.pool.slots().clone();
        drop(driver);
        let cleaned = clean(repository, hunt, &slots);
        let (claims, fix) = result?;
        cleaned?;
        let verdicts = claims.iter().map(|claim| claim.verdict);
        let verdict = all(verdicts.chain(fix.as_ref().map(|fix| fix.verdict)));
        let found = Verification {
            schema: VERIFY_SCHEMA,
            tool: TOOL,
            hunt: self.report.hunt,
            report_tool: self.report.tool,
            began: self.report.began,
            outcome: self.report.outcome,
            verdict,
            machine,
            changes: self.changes,
            claims,
            fix,
            notes: notes(hunt)?,
            folder: hunt.path().to_string_lossy().into_owned(),
        };
        let bytes = serde_json::to_vec_pretty(&found).expect("a verification is plain data");
        hunt.end_verification(&bytes)?;
        Ok(found)
    }

    fn measured(
        &self,
        driver: &mut Driver<'_>,
    ) -> Result<(Vec<ClaimVerified>, Option<result::FixVerified>), HuntError> {
        if let Some(reference) = &self.reference {
            let mut measures: Vec<String> = compared(&self.config).map(str::to_owned).collect();
            measures.sort();
            measures.dedup();
            let look = Request::look(reference, &measures, Phase::Endpoint);
            driver.oracle.evaluate(Request { runs: 1, ..look })?;
        }
        let mut claims = Vec::new();
        for claimed in &self.claims {
            claims.push(driver.verify_claim(claimed)?);
        }
        let Some((asked, fix)) = &self.fix else { return Ok((claims, None)) };
        let fix = driver.verify_fix((asked, fix), &self.claims, &self.report)?;
        Ok((claims, Some(fix)))
    }

    /// The good and the bad side of the first claim.
    fn ends(&self) -> [&CommitId; 2] {
        self.claims[0].good_and_bad()
    }

    /// Writes configuration, patches and the first journal entry of the verification.
    fn write(
        &self,
        repository: &Repository,
        store: &Store,
        hunt: &HuntDir,
        facts: Facts,
    ) -> Result<(), HuntError> {
        let kept = self
            .patches
            .iter()
            .map(|(name, patch)| Ok::<_, HuntError>((name.clone(), store.keep_patch(patch)?)));
        let history = match &self.within {
            None => History::open(repository)?,
            Some(within) => {
                History::open(&repository.of_submodule(std::path::Path::new(&within.git_dir))?)?
            }
        };
        let [good, bad] = self.ends();
        let [good, bad] = [history.named(good)?, history.named(bad)?];
        let begun = Begun {
            hunt: hunt.id().to_owned(),
            tool: TOOL.to_owned(),
            asked: (good.commit.to_string(), bad.commit.to_string()),
            good,
            bad,
            revisions: self.revisions.clone(),
            patches: kept.collect::<Result<_, _>>()?,
            within: self.within.clone(),
            commits: 1,
            options: Options {
                aim: self.report.options.aim,
                search: self.report.options.search,
                first_parent: self.report.options.first_parent,
                changes: self.changes.clone(),
                slots: Some(1),
                ..Options::default()
            },
            config_sha256: config_digest(self.config.text()),
            base: text("the configuration", &self.config.base)?,
            slots: text("the folder to build in", &self.slots)?,
            inputs: facts.inputs,
            links: facts.links,
            environment: facts.environment,
            surroundings: facts.surroundings,
            machine: facts.machine,
            build_node: None,
            checkout: repository.top().map(|top| text("the checkout", top)).transpose()?,
            git: git_version()?.to_string(),
        };
        write_beginning(hunt, &self.config, &history, begun)
    }
}

/// The driver of a verification. It searches nothing, and never waits for a fault to pass.
fn driver<'h>(oracle: Oracle, begun: Begun, hunt: &'h HuntDir, stop: &Stop) -> Driver<'h> {
    Driver {
        oracle,
        begun,
        hunt,
        program: PathBuf::new(),
        stop: stop.clone(),
        asker: &|_| None,
        searches: 0,
        excluded_runs: BTreeSet::new(),
        short: None,
        is_flaky: false,
        has_drifted: false,
        is_clean: true,
        undone: Vec::new(),
        earlier_good: None,
        compared: BTreeSet::new(),
        needed_at_end: BTreeSet::new(),
        own_head_shows: BTreeMap::new(),
        added_targets: Vec::new(),
        limit: None,
        pauses_left: 0,
        unread: Vec::new(),
    }
}

/// The notes of the oracle in the journal, without repetitions.
fn notes(hunt: &HuntDir) -> Result<Vec<String>, HuntError> {
    let mut notes = Vec::new();
    for entry in &hunt.entries()? {
        if let Event::Note { text } = &entry.event
            && !notes.contains(text)
        {
            notes.push(text.clone());
        }
    }
    Ok(notes)
}
