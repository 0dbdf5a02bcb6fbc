use crate::evaluation::{LogitsDifference, Setup};
use crate::store::{Confirmation, Control};

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
