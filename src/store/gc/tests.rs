use super::*;
use crate::evaluation::{Ended, Phase, Resources, Setup};
use crate::store::{Control, KeyHasher, RunKey, publish};

const LONG_AGO: &str = "2026-01-01T00:00:00Z";

struct Place {
    _folder: tempfile::TempDir,
    store: Store,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open_to_measure(folder.path()).unwrap();
        // The drop frees the lock.
        drop(store);
        let store = Store::open(folder.path()).unwrap();
        Self { _folder: folder, store }
    }

    /// A hunt with one attempt of its own that also refers to these attempts of other hunts.
    fn hunt(&self, refers_to: &[&str]) -> String {
        let hunt = self.store.new_hunt().unwrap();
        let mut journal = hunt.journal().unwrap();
        journal.append(Event::Resumed { limits: None, driver_since: None }).unwrap();
        for attempt in refers_to {
            let run = serde_json::json!({
                "event": "run", "commit": "1".repeat(40), "measure": "ppl", "attempt": attempt,
                "run_key": "k", "phase": "search", "wall_s": 1.0, "log": "", "values": {},
                "failure": null, "reused": true, "argv": [],
            });
            journal.append(serde_json::from_value(run).unwrap()).unwrap();
        }
        hunt.id().to_owned()
    }

    fn run(&self, attempt: &str, hunt: Option<&str>, started: &str) {
        let record = RunRecord {
            prepare: None,
            attempt: attempt.to_owned(),
            run_key: key(attempt).to_string(),
            measure: "ppl".to_owned(),
            commit: "1".repeat(40).parse().unwrap(),
            phase: Phase::Search,
            hunt: hunt.map(str::to_owned),
            argv: Vec::new(),
            cwd: String::new(),
            slot: String::new(),
            env: std::collections::BTreeMap::new(),
            cpus: Vec::new(),
            started: started.to_owned(),
            used: Resources { wall_s: 1.0, peak_rss_mib: None },
            ended: Ended::Exited(0),
            built: started.to_owned(),
            warm_up: false,
            ahead: false,
            alone: false,
            host: None,
            machine: None,
            loaded: None,
            same_as: None,
            same_commit: None,
            empty_home: false,
            wrote_home: None,
            git_folder: None,
            put_back: Vec::new(),
            dumps: Vec::new(),
            taken_port: None,
            log_sha256: None,
        };
        let log = self.store.pending_log(attempt).unwrap();
        std::fs::write(log.path(), "1> said\n").unwrap();
        self.store.put_run(&record, log.path()).unwrap();
    }

    fn has(&self, attempt: &str) -> bool {
        !self.store.runs(&key(attempt)).unwrap().is_empty()
    }

    fn waste(&self, hunts: Option<Timestamp>) -> Garbage {
        let limits = AgeLimits { hunts, unreferenced: "2026-06-01T00:00:00Z".parse().unwrap() };
        self.store.tidy().unwrap().waste(&limits).unwrap()
    }

    fn remove(&self, waste: &Garbage) {
        self.store.tidy().unwrap().remove(waste).unwrap();
    }
}

fn key(attempt: &str) -> RunKey {
    KeyHasher::new("run").field("attempt", attempt).run_key()
}

#[test]
fn what_a_hunt_measured_or_took_over_stays_and_old_runs_of_nobody_go() {
    let place = Place::new();
    let hunt = place.hunt(&["taken"]);
    place.run("own", Some(&hunt), LONG_AGO);
    place.run("taken", Some("19990101-000000"), LONG_AGO);
    place.run("by-hand", None, LONG_AGO);
    place.run("fresh", None, &Timestamp::now().to_string());
    let waste = place.waste(None);
    assert_eq!((waste.hunts.len(), waste.runs, waste.leftovers), (0, 1, 0));
    place.remove(&waste);
    assert_eq!(
        ["own", "taken", "fresh", "by-hand"].map(|one| place.has(one)),
        [true, true, true, false]
    );
    assert!(place.waste(None).is_empty());
}

#[test]
fn an_old_hunt_goes_with_what_only_it_refers_to() {
    let place = Place::new();
    let old = place.hunt(&[]);
    place.run("only-old", Some(&old), LONG_AGO);
    place.run("shared", Some(&old), LONG_AGO);
    place.store.put_control(&control("only-old")).unwrap();
    let later = Timestamp::now();
    let kept = place.hunt(&["shared"]);
    let waste = place.waste(Some(later));
    assert_eq!(waste.hunts, [old]);
    assert_eq!((waste.runs, waste.others), (1, 1));
    place.remove(&waste);
    assert!(!place.has("only-old") && place.has("shared"));
    let hunts: Vec<String> =
        place.store.hunts().unwrap().iter().map(|h| h.id().to_owned()).collect();
    assert_eq!(hunts, [kept]);
}

fn control(about: &str) -> Control {
    Control { about: about.to_owned(), attempt: "c".to_owned(), worked: true }
}

#[test]
fn leftovers_of_killed_processes_go() {
    let place = Place::new();
    let root = place.store.root().to_owned();
    place.run("whole", None, &Timestamp::now().to_string());
    let half = place.store.pending_log("half").unwrap();
    std::fs::write(half.path(), "1> sai").unwrap();
    // The process is killed: drop does not run.
    std::mem::forget(half);
    publish(&root.join("runs/ab/abc/lone.log"), b"1> said\n").unwrap();
    std::fs::write(root.join(".tmp-x1"), "{").unwrap();
    std::fs::write(root.join("runs/report.html.new"), "<html").unwrap();
    std::fs::create_dir_all(root.join("hunts/20260101-000000/logs")).unwrap();
    std::fs::create_dir_all(root.join("hunts/20260103-000000/logs")).unwrap();
    std::fs::write(root.join("hunts/20260103-000000/journal.jsonl"), "{\"at\":\"20").unwrap();
    std::fs::create_dir_all(root.join("trash/20260102-000000")).unwrap();
    std::fs::write(root.join("trash/20260102-000000/oracle.toml"), "").unwrap();
    let waste = place.waste(None);
    assert_eq!((waste.leftovers, waste.runs), (7, 0), "{waste:#?}");
    place.remove(&waste);
    assert!(place.waste(None).is_empty());
    assert!(place.has("whole"));
    assert!(!root.join("runs/ab").exists() && !root.join("hunts/20260101-000000").exists());
}

#[test]
fn nothing_is_removed_while_somebody_measures() {
    let place = Place::new();
    let common = place.store.root().parent().unwrap().to_owned();
    let measuring = Store::open_to_measure(&common).unwrap();
    let other = Store::open_to_measure(&common).unwrap();
    assert!(matches!(place.store.tidy(), Err(StoreError::InUse(None))));
    drop((measuring, other));
    let id = place.hunt(&[]);
    let hunt = place.store.hunt(Some(&id)).unwrap();
    let lock = hunt.lock().unwrap();
    assert!(matches!(place.store.tidy(), Err(StoreError::InUse(Some(hunt))) if hunt == id));
    drop(lock);
    place.store.tidy().unwrap();
}

/// After a kill at any step, the rest is complete and the next removal takes it.
#[test]
fn a_kill_at_any_moment_leaves_less_and_nothing_half() {
    let total = half_done(0).1;
    assert!(total >= 6, "{total}");
    for done in 1..=total {
        let (place, _) = half_done(done);
        for attempt in place.store.attempts("runs").unwrap() {
            assert!(attempt.record.is_none() || attempt.log.is_some(), "{done}: {attempt:?}");
        }
        for file in files_below(&place.store.root().join("confirmations")).unwrap() {
            let made: Confirmation = read_json(&file).unwrap();
            assert!(made.attempts.iter().all(|attempt| place.has(attempt)), "{done}: {made:?}");
        }
        let again = place.waste(Some(Timestamp::MAX));
        place.remove(&again);
        assert!(!place.has("a") && !place.has("b") && place.store.hunts().unwrap().is_empty());
        assert!(place.waste(Some(Timestamp::MAX)).is_empty(), "{done}");
    }
}

/// A store after the first `done` steps of a removal, and the number of all steps.
fn half_done(done: usize) -> (Place, usize) {
    let place = Place::new();
    let hunt = place.hunt(&[]);
    place.run("a", Some(&hunt), LONG_AGO);
    place.run("b", Some(&hunt), LONG_AGO);
    place.store.put_control(&control("a")).unwrap();
    let attempts = vec!["a".to_owned(), "b".to_owned()];
    let made = Confirmation { hunt, date: LONG_AGO.to_owned(), attempts };
    place.store.put_confirmation("k", &made).unwrap();
    let mut waste = place.waste(Some(Timestamp::MAX));
    let total = waste.folders.len() + waste.files.len();
    let files = done.saturating_sub(waste.folders.len());
    waste.folders.truncate(done);
    waste.files.truncate(files);
    place.remove(&waste);
    (place, total)
}

#[test]
fn a_build_setup_is_removed_with_the_last_build_that_uses_it() {
    let place = Place::new();
    let setup = |file: &str| {
        let mut setup = Setup::default();
        setup.files.add(file, vec!["cc".to_owned()]);
        place.store.keep_setup(&setup).unwrap().unwrap()
    };
    let [shared, old, lost] = ["a.c", "b.c", "c.c"].map(setup);
    let now = Timestamp::now().to_string();
    for (attempt, setup, finished) in
        [("1", &shared, LONG_AGO), ("2", &old, LONG_AGO), ("3", &shared, now.as_str())]
    {
        let record = serde_json::json!({
            "attempt": attempt, "build_key": "b".repeat(64), "commit": "1".repeat(40),
            "phase": "search", "commands": [], "finished": finished, "wall_s": 1.0,
            "failure": null, "setup": setup,
        });
        place.store.put_build(&serde_json::from_value(record).unwrap()).unwrap();
    }
    let waste = place.waste(None);
    assert_eq!((waste.builds, waste.others), (2, 2));
    place.remove(&waste);
    let kept = [&shared, &old, &lost].map(|one| place.store.setup(one).unwrap().is_some());
    assert_eq!(kept, [true, false, false]);
    assert!(place.waste(None).is_empty());
}

#[test]
fn comparisons_of_dumps_that_no_run_wrote_are_counted_and_removed() {
    let place = Place::new();
    let file = place.store.root().join("comparisons/aa-bb.json");
    publish(&file, b"{}").unwrap();
    let waste = place.waste(None);
    assert_eq!((waste.runs, waste.dumps, waste.others), (0, 0, 1));
    place.remove(&waste);
    assert!(!file.exists() && place.waste(None).is_empty());
}

impl Garbage {
    /// Whether there is nothing to remove.
    pub(crate) fn is_empty(&self) -> bool {
        self.folders.is_empty() && self.files.is_empty()
    }
}
