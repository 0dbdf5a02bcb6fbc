//! A small realistic hunt, written through the real journal.

use std::collections::BTreeMap;

use crate::evaluation::{
    Account, Basis, ChunkIntervals, CommitId, CommitInfo, Culprit, Doubts, Effect, Failure,
    FailureKind, FileRole, Finding, Guard, GuardForm, GuardTarget, Judgement, Metric, Outcome,
    Phase, SkipReason, Surroundings, Target, TouchedFile, Value, Verdict,
};
use crate::report::Report;
use crate::report::gather::Stored;
use crate::store::journal::{
    Begun, BuildDone, Event, InputFile, JournalEntries, Judged, Machine, Options, OtherGuard,
    RunDone, SearchMethod,
};
use crate::store::{HuntDir, Store};

/// A commit id of forty times the same letter.
pub(crate) fn id(letter: char) -> CommitId {
    letter.to_string().repeat(40).parse().unwrap()
}

pub(crate) fn info(letter: char, subject: &str) -> CommitInfo {
    CommitInfo {
        commit: id(letter),
        subject: subject.to_owned(),
        author: "Ada Example <ada@example.org>".to_owned(),
        date: "2026-01-02T03:04:05Z".to_owned(),
    }
}

/// What varies between the searches of the tests. The bad end is always `e`.
pub(crate) struct Search {
    pub(crate) number: usize,
    pub(crate) good: char,
    pub(crate) commits: usize,
    pub(crate) targets: Vec<Target>,
    pub(crate) method: Option<SearchMethod>,
    pub(crate) chunks: Option<u32>,
}

impl Default for Search {
    fn default() -> Self {
        let (method, chunks) = (None, None);
        Self { number: 0, good: 'b', commits: 4, targets: Vec::new(), method, chunks }
    }
}

/// A hunt in a folder of its own.
pub(crate) struct Hunt {
    pub(crate) dir: HuntDir,
    _folder: tempfile::TempDir,
    attempts: usize,
}

impl Hunt {
    /// A hunt before its search: the endpoints are judged, `b` good (7.21) and `e` bad (7.54).
    pub(crate) fn at_search() -> Self {
        let mut hunt = Self::begun("v1.0", "engine: release");
        for (commit, level) in [('b', 7.21), ('e', 7.54)] {
            hunt.build(commit, Phase::Endpoint);
            hunt.run(commit, Phase::Endpoint, Some(level));
            hunt.run(commit, Phase::Endpoint, Some(level));
        }
        hunt.judge('b', Verdict::Good, Phase::Endpoint);
        hunt.judge('e', Verdict::Bad, Phase::Endpoint);
        hunt.targets();
        hunt
    }

    pub(crate) fn begun(asked: &str, good_subject: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let dir = Store::open_to_measure(folder.path()).unwrap().new_hunt().unwrap();
        let mut hunt = Self { dir, _folder: folder, attempts: 0 };
        hunt.append(Event::Begun(Box::new(Begun {
            hunt: "20260102-030405".to_owned(),
            tool: "bisect-ppl 0.1.0".to_owned(),
            good: info('b', good_subject),
            bad: info('e', "sampler: tidy"),
            asked: (asked.to_owned(), "HEAD".to_owned()),
            revisions: BTreeMap::new(),
            patches: BTreeMap::new(),
            within: None,
            commits: 12,
            options: Options::default(),
            base: "/work".to_owned(),
            slots: "/cache/slots".to_owned(),
            config_sha256: "0123".to_owned(),
            links: BTreeMap::new(),
            inputs: BTreeMap::from([(
                "model".to_owned(),
                InputFile { path: "/data/model.bin".to_owned(), sha256: "abcd".to_owned() },
            )]),
            environment: BTreeMap::from([("cc --version".to_owned(), "cc 14.2\n".to_owned())]),
            surroundings: Surroundings::default(),
            build_node: None,
            machine: Machine {
                cpu: "Example CPU".to_owned(),
                cores: 2,
                all_cores: None,
                memory_mib: 4096,
                gpus: Vec::new(),
                kernel: "Linux 6.1".to_owned(),
                class: "c1".to_owned(),
            },
            checkout: Some("/home/ada/engine".to_owned()),
            git: "2.47.3".to_owned(),
        })));
        hunt
    }

    pub(crate) fn append(&mut self, event: Event) {
        self.dir.journal().unwrap().append(event).unwrap();
    }

    pub(crate) fn targets(&mut self) {
        let guard = Guard { metric: Metric::of("ppl"), form: GuardForm::MaxIncrease(0.05) };
        let [good, bad] = [7.21, 7.54].map(Value::Number);
        self.append(Event::Targets {
            targets: vec![Target::Guard(GuardTarget::between(&guard, good, bad, None))],
            steadiness: SearchMethod::BitIdentical,
            others: vec![OtherGuard {
                guard: Guard {
                    metric: Metric::of("speed"),
                    form: GuardForm::MaxDecreasePercent(10.0),
                },
                baseline: Some(Value::Number(100.0)),
                bad: Some(Value::Number(99.0)),
                why: "the bad endpoint keeps it".to_owned(),
            }],
        });
    }

    fn attempt(&mut self) -> String {
        self.attempts += 1;
        format!("a{}", self.attempts)
    }

    /// Writes the beginning of a search.
    pub(crate) fn search(&mut self, search: Search) {
        let Search { number, good, commits, targets, method, chunks } = search;
        self.append(Event::Search {
            search_number: number,
            good: id(good),
            bad: id('e'),
            commits,
            targets,
            paths: Vec::new(),
            method,
            chunks,
            clean: false,
        });
    }

    pub(crate) fn build(&mut self, commit: char, phase: Phase) {
        let make = ["make", "-C", "/slots/0/src"].map(str::to_owned).to_vec();
        self.built(commit, phase, 3.0, None, vec![make]);
    }

    pub(crate) fn unbuildable(&mut self, commit: char, detail: &str) {
        let failure = Failure::of_old(FailureKind::Build, "exit code 2", detail);
        self.built(commit, Phase::Search, 1.0, Some(failure), Vec::new());
    }

    fn built(
        &mut self,
        commit: char,
        phase: Phase,
        wall_s: f64,
        failure: Option<Failure>,
        commands: Vec<Vec<String>>,
    ) {
        let attempt = self.attempt();
        self.append(Event::Build(BuildDone {
            node: None,
            prepare: None,
            compiler_cache: None,
            failed_attempts: None,
            commit: id(commit),
            log: format!("logs/build-{attempt}.log"),
            attempt,
            build_key: "k".to_owned(),
            phase,
            wall_s,
            failure,
            reused: false,
            stored_at: None,
            commands,
        }));
    }

    /// A run of `ppl`; `None` crashes.
    pub(crate) fn run(&mut self, commit: char, phase: Phase, ppl: Option<f64>) -> RunDone {
        let attempt = self.attempt();
        let mut values = BTreeMap::from([
            (Metric::named("ppl", "wall_s"), Value::Number(1.5)),
            (Metric::named("ppl", "peak_rss_mib"), Value::Number(64.0)),
        ]);
        values.extend(ppl.map(|ppl| (Metric::of("ppl"), Value::Number(ppl))));
        let run = RunDone {
            commit: id(commit),
            measure: "ppl".to_owned(),
            log: format!("logs/ppl-{attempt}.log"),
            attempt,
            run_key: "r".to_owned(),
            phase,
            wall_s: 1.5,
            values,
            failure: ppl.is_none().then(|| Failure::of_old(FailureKind::Crash, "signal 11", "")),
            reused: false,
            stored_at: None,
            same_as: None,
            argv: vec!["/slots/0/build/ppl".to_owned(), "--text".to_owned(), "a b.txt".to_owned()],
            text: None,
            repeats: BTreeMap::new(),
            apart: None,
            host: None,
            machine: None,
        };
        self.append(Event::Run(run.clone()));
        run
    }

    pub(crate) fn judge(&mut self, commit: char, verdict: Verdict, phase: Phase) {
        let (reason, skip) = match verdict {
            Verdict::Good => ("ppl keeps its limit", None),
            Verdict::Bad => ("ppl breaks its limit", None),
            _ => ("does not build: exit code 2", Some(SkipReason::Build)),
        };
        self.judge_as(commit, verdict, phase, 0, reason, skip);
    }

    pub(crate) fn judge_as(
        &mut self,
        commit: char,
        verdict: Verdict,
        phase: Phase,
        search_number: usize,
        reason: &str,
        skip: Option<SkipReason>,
    ) {
        self.append(Event::Judged(Judged {
            commit: id(commit),
            subject: match commit {
                'b' => "engine: release",
                'd' => "kv: pad the cache",
                'e' => "sampler: tidy",
                _ => "",
            }
            .to_owned(),
            judgement: Judgement { verdict, skip, reason: reason.to_owned(), broken: Vec::new() },
            search_number,
            phase,
            attempts: Vec::new(),
            left: (phase == Phase::Search).then_some((6, 3)),
        }));
    }

    pub(crate) fn end(&mut self, finding: Finding) {
        self.append(Event::Ended { finding: Box::new(finding), order: Vec::new() });
    }

    fn stored(&self, entries: JournalEntries, is_driven: bool, folder: &str) -> Option<Report> {
        let history = self.dir.history().unwrap();
        Report::from_stored(Stored {
            entries,
            history,
            is_driven,
            folder: folder.into(),
            inside: Vec::new(),
        })
    }

    /// The report while a process drives the hunt.
    pub(crate) fn report_while_running(&self) -> Report {
        self.stored(self.dir.entries().unwrap(), true, "/hunt").unwrap()
    }

    /// The report, with events ten seconds apart and a fixed folder, for snapshots.
    pub(crate) fn report(&self) -> Report {
        let mut entries = self.dir.entries().unwrap().to_vec();
        let start: jiff::Timestamp = "2026-01-02T03:04:05Z".parse().unwrap();
        for (at, entry) in (0..).zip(&mut entries) {
            entry.at = (start + jiff::SignedDuration::from_secs(10 * at)).to_string();
        }
        let folder = "/home/ada/engine/.git/bisect-ppl/hunts/20260102-030405";
        self.stored(entries.into(), false, folder).unwrap()
    }
}

/// `d` is the first bad commit, `c` its parent.
pub(crate) fn culprit(subject: &str, path: &str) -> Culprit {
    Culprit {
        info: info('d', subject),
        parents: vec![id('c')],
        parent: id('c'),
        confidence: 1.0,
        basis: Basis::BitExact,
        effects: vec![Effect {
            metric: Metric::of("ppl"),
            parent: Value::Number(7.21),
            commit: Value::Number(7.52),
            own_step: Some(7.52 - 7.21),
            interval: Some([7.52 - 7.21, 7.52 - 7.21]),
            limit: 0.05,
            runs: None,
            over_text: None,
        }],
        failure: None,
        files: vec![TouchedFile {
            path: path.to_owned(),
            path_b64: None,
            added: Some(3),
            removed: Some(1),
            role: FileRole::Unknown,
        }],
        dependencies: Vec::new(),
        own_files: None,
        ran: None,
        differences: None,
        confirmed_before: None,
        doubts: Doubts::default(),
        undone_by: None,
        hidden: None,
    }
}

/// A step over 24 chunks, one of which stayed as it was.
pub(crate) fn over_text() -> ChunkIntervals {
    ChunkIntervals {
        chunks: 24,
        carrying: 23,
        confidence: 0.95,
        paired: [0.285, 0.335],
        plain: [-0.412, 1.04],
    }
}

pub(crate) fn found(culprit: Culprit) -> Finding {
    Finding {
        candidates: vec![culprit.info.commit.clone()],
        culprits: vec![culprit],
        main: Some(0),
        accounts: vec![Account {
            metric: Metric::of("ppl"),
            total: 0.33,
            explained: 0.31,
            rest: 0.02,
            in_small_steps: false,
            taken_back: None,
            overlap: None,
            error: None,
            limit: 0.05,
        }],
        ..Finding::plain(Outcome::Culprit, "One commit raised ppl beyond its limit.")
    }
}
