//! The answer of a hunt, and the hunts without faults that others are compared with.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::sync::{Arc, Mutex, OnceLock};

use serde_json::Value;

use crate::kit::{History, Hunt};

use super::case::World;
use super::damage::below;
use super::site::Site;

/// What a hunt says in the end.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Answer {
    pub code: Option<i32>,
    pub outcome: String,
    pub culprits: Vec<String>,
    pub candidates: Vec<String>,
    /// Metric, level of the parent, level of the commit, own step.
    pub effect: [Value; 4],
    /// The parts of the change that make the step together.
    pub causes: Vec<BTreeSet<String>>,
}

/// The parts of each set, with the parts that were there too when these made the step. Of two parts
/// that need each other, the order of the tests decides which counts as the cause.
pub(crate) fn causes(report: &Value) -> Vec<BTreeSet<String>> {
    let parts = |set: &Value, key: &str| set[key].as_array().cloned().unwrap_or_default();
    let set = |set: &Value| {
        let all = [parts(set, "parts"), parts(set, "with")].concat();
        all.iter().map(Value::to_string).collect()
    };
    report["cause"]["sets"].as_array().into_iter().flatten().map(set).collect()
}

impl Answer {
    pub(crate) fn of(hunt: &Hunt, history: &History) -> Self {
        let report = &hunt.report;
        let (mut culprits, mut candidates) = (Vec::new(), Vec::new());
        if !report.is_null() {
            culprits = hunt.culprits(history);
            candidates = hunt.candidates(history);
        }
        let effect = &report["culprit"]["effect"];
        Self {
            code: hunt.output.code(),
            outcome: report["outcome"].as_str().unwrap_or("no report").to_owned(),
            culprits,
            candidates,
            effect: ["metric", "parent", "commit", "own_step"].map(|key| effect[key].clone()),
            causes: causes(report),
        }
    }

    /// Whether the answer is right, but does not tell the cause inside the commit.
    pub(crate) fn lacks_only_causes(&self, right: &Self) -> bool {
        *self == Self { causes: Vec::new(), ..right.clone() }
    }

    /// Whether the answer blames no innocent commit: it names no commit, or the candidates contain
    /// the guilty one.
    pub(crate) fn blames_no_innocent(&self, right: &Self) -> bool {
        let candidates = self.candidates.is_empty() || self.candidates.contains(&right.culprits[0]);
        self.culprits.is_empty() && candidates && self.outcome != "no-regression"
    }
}

/// A hunt without faults.
#[derive(Debug)]
pub(crate) struct Reference {
    pub answer: Answer,
    pub runs: usize,
    /// Runs and builds.
    pub starts: usize,
    /// Names of the files in the folders of the builds, such as locks.
    pub kept: BTreeSet<OsString>,
}

impl Reference {
    /// The hunt of this world, made once.
    pub(crate) fn of(world: World) -> Arc<Self> {
        static KNOWN: OnceLock<Mutex<BTreeMap<World, Arc<Reference>>>> = OnceLock::new();
        let known = KNOWN.get_or_init(Mutex::default);
        // Held meanwhile, so that no two threads make the same hunt. A panic leaves no partial
        // data.
        let mut known = known.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let make = || {
            let site = Site::plain(world);
            let output = site.spawn(&site.start()).wait();
            let hunt = Hunt::of(&site.env, output).names(&site.history, world.culprit());
            let answer = Answer::of(&hunt, &site.history);
            let [runs, starts] = [site.env.runs().len(), site.env.starts().len()];
            let kept = below(&site.env.path("cache"));
            let kept = kept.iter().filter_map(|path| Some(path.file_name()?.to_owned())).collect();
            Arc::new(Self { answer, runs, starts, kept })
        };
        Arc::clone(known.entry(world).or_insert_with(make))
    }
}
