use crate::evaluation::{LogitsDifference, Setup};
use crate::store::recent::SHORTLY;
use crate::store::record_files::publish_record;
use crate::store::{Confirmation, Control, KeyHasher, RunKey};

use super::*;

fn log(folder: &Path, text: &str) -> PathBuf {
    let log = folder.join("a.log");
    std::fs::write(&log, text).unwrap();
    log
}

#[test]
fn a_log_is_read_once_until_it_changes() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let path = log(folder.path(), "1> a\n");
    let kept = store.log_digest(&path).unwrap();
    let damage = |kept: &str| store.log_damage(&path, Some(kept)).unwrap();
    assert_eq!(damage(&kept), None);
    assert_eq!(damage("other"), Some(Damage::OtherLog));
    // The same length, and the old modification time.
    let modified = std::fs::metadata(&path).unwrap().modified().unwrap();
    std::fs::write(&path, "1> b\n").unwrap();
    std::fs::File::options().write(true).open(&path).unwrap().set_modified(modified).unwrap();
    assert_eq!(damage(&kept), Some(Damage::OtherLog));
    std::fs::remove_file(&path).unwrap();
    assert_eq!(damage(&kept), Some(Damage::NoLog));
    assert_eq!(store.log_damage(&path, None).unwrap(), Some(Damage::NoLog));
    std::fs::create_dir(&path).unwrap();
    assert_eq!(damage(&kept), Some(Damage::OtherLog));
}

/// Stores a run. Returns its key and the path of its record, which is no longer new.
fn stored_run(store: &Store) -> (RunKey, PathBuf) {
    let key = KeyHasher::new("run").field("attempt", "1-a-0").run_key();
    let record = serde_json::json!({
        "attempt": "1-a-0", "run_key": key.as_str(), "measure": "ppl", "commit": "1".repeat(40),
        "phase": "search", "hunt": null, "argv": [], "cwd": "", "slot": "", "env": {},
        "started": "2026-11-24T00:00:00Z", "wall_s": 1.0, "peak_rss_mib": null,
        "ended": { "exited": 0 }, "built": "2026-11-24T00:00:00Z",
    });
    let record: RunRecord = serde_json::from_value(record).unwrap();
    let log = store.pending_log("1-a-0").unwrap();
    std::fs::write(log.path(), "1> said\n").unwrap();
    store.put_run(&record, log.path()).unwrap();
    std::thread::sleep(2 * SHORTLY);
    let path = store.keyed("runs", key.as_str()).join("1-a-0.json");
    (key, path)
}

#[test]
fn a_record_of_a_run_is_read_once_until_it_changes() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open_to_measure(folder.path()).unwrap();
    let (_, path) = stored_run(&store);
    let first = store.run_record(&path).unwrap();
    assert!(Arc::ptr_eq(&first, &store.run_record(&path).unwrap()));
    let other = RunRecord { measure: "speed".to_owned(), ..RunRecord::clone(&first) };
    publish_record(&path, &other).unwrap();
    assert_eq!(*store.run_record(&path).unwrap(), other);
    std::thread::sleep(2 * SHORTLY);
    assert_eq!(*store.run_record(&path).unwrap(), other);
    // The same length, and the old modification time.
    let modified = std::fs::metadata(&path).unwrap().modified().unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("speed", "spied")).unwrap();
    std::fs::File::options().write(true).open(&path).unwrap().set_modified(modified).unwrap();
    assert!(store.run_record(&path).is_none());
    assert_eq!(store.take_damaged()[0].damage, Damage::Changed);
}

#[test]
fn a_record_that_was_just_written_is_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open_to_measure(folder.path()).unwrap();
    let (_, path) = stored_run(&store);
    let text = std::fs::read_to_string(&path).unwrap();
    // Two writes within one step of the kernel's clock leave the same times.
    for _ in 0..100 {
        std::fs::write(&path, &text).unwrap();
        assert!(store.run_record(&path).is_some());
        std::fs::write(&path, text.replace("ppl", "pql")).unwrap();
        assert!(store.run_record(&path).is_none());
    }
}

#[test]
fn a_damaged_log_of_a_known_record_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open_to_measure(folder.path()).unwrap();
    let (key, path) = stored_run(&store);
    for _ in 0..2 {
        assert_eq!(store.runs(&key).unwrap().len(), 1);
    }
    std::fs::write(path.with_extension("log"), "1> sail\n").unwrap();
    for _ in 0..2 {
        assert!(store.runs(&key).unwrap().is_empty());
    }
    let told = store.take_damaged();
    assert_eq!(told.iter().map(|one| &one.damage).collect::<Vec<_>>(), [&Damage::OtherLog]);
    assert!(!path.exists() && told[0].path.exists());
}

#[test]
fn what_is_damaged_is_moved_by_whoever_measures_and_told_once() {
    let folder = tempfile::tempdir().unwrap();
    let reader = Store::open(folder.path()).unwrap();
    let record = folder.path().join("a.json");
    std::fs::write(&record, "{").unwrap();
    log(folder.path(), "");
    for _ in 0..2 {
        assert_eq!(reader.record::<u32>(&record, "the run"), None);
    }
    assert_eq!(reader.take_damaged().len(), 1);
    assert!(record.exists(), "who reads moves nothing");
    let measuring = Store::open_to_measure(folder.path()).unwrap();
    for _ in 0..2 {
        assert_eq!(measuring.record::<u32>(&record, "the run"), None);
    }
    let told = measuring.take_damaged();
    let aside = folder.path().join("a.json.damaged");
    assert_eq!(told.iter().map(|one| &one.path).collect::<Vec<_>>(), [&aside]);
    assert!(told[0].to_string().starts_with("the run a is damaged: its record cannot be read"));
    assert!(aside.exists() && folder.path().join("a.log.damaged").exists());
}

/// Flips one bit of each byte of the only file in a folder of the store. Fails unless `read` gives
/// the same as before, or nothing.
fn is_believed_only_if_whole<T: PartialEq>(
    store: &Store,
    folder: &str,
    read: impl Fn() -> Option<T>,
) {
    let folder = store.root().join(folder);
    let file = std::fs::read_dir(&folder).unwrap().next().unwrap().unwrap().path();
    let whole = std::fs::read(&file).unwrap();
    let right = read();
    assert!(right.is_some());
    let mut believed = 0;
    for place in 0..whole.len() {
        let mut flipped = whole.clone();
        flipped[place] ^= 1 << (place % 8);
        std::fs::write(&file, flipped).unwrap();
        let found = read();
        assert!(found.is_none() || found == right, "byte {place} of {}", file.display());
        believed += usize::from(found.is_some());
        std::fs::write(&file, &whole).unwrap();
    }
    // Only the mark of the digest may be another.
    assert!(believed < 16, "{believed} of {} bytes", whole.len());
    assert!(read() == right);
}

#[test]
fn no_record_with_a_flipped_bit_is_believed() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open_to_measure(folder.path()).unwrap();
    let control = Control { about: "1-a-0".to_owned(), attempt: "1-a-1".to_owned(), worked: true };
    store.put_control(&control).unwrap();
    is_believed_only_if_whole(&store, "controls", || store.control("1-a-0").0);
    let confirmation = Confirmation {
        hunt: "20261124-000000".to_owned(),
        date: "2026-11-24T00:00:00Z".to_owned(),
        attempts: vec!["1-a-0".to_owned(), "1-a-1".to_owned()],
    };
    store.put_confirmation("k", &confirmation).unwrap();
    is_believed_only_if_whole(&store, "confirmations", || store.confirmation("k"));
    let difference = serde_json::json!({
        "positions": 17, "vocab": 32, "identical": false, "log_probabilities": true,
        "max_kl": 0.25, "first": { "max_kl": 3 }, "worst": { "max_kl": 3 },
        "beyond_rounding": true, "non_finite": [], "positions_left_out": 0, "masked_values": 0,
    });
    let difference: LogitsDifference = serde_json::from_value(difference).unwrap();
    store.put_logits_difference("a", "b", &difference).unwrap();
    is_believed_only_if_whole(&store, "comparisons", || store.logits_difference("a", "b"));
    let mut setup = Setup::default();
    setup.files.add("a.c", vec!["cc".to_owned()]);
    let digest = store.keep_setup(&setup).unwrap().unwrap();
    is_believed_only_if_whole(&store, "setups", || store.setup(&digest).unwrap());
}
