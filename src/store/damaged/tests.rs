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
        assert_eq!(reader.record::<u32>(&record, "the run").unwrap(), None);
    }
    assert_eq!(reader.take_damaged().len(), 1);
    assert!(record.exists(), "who reads moves nothing");
    let measuring = Store::open_to_measure(folder.path()).unwrap();
    for _ in 0..2 {
        assert_eq!(measuring.record::<u32>(&record, "the run").unwrap(), None);
    }
    let told = measuring.take_damaged();
    let aside = folder.path().join("a.json.damaged");
    assert_eq!(told.iter().map(|one| &one.path).collect::<Vec<_>>(), [&aside]);
    assert!(told[0].to_string().starts_with("the run a is damaged: its record cannot be read"));
    assert!(aside.exists() && folder.path().join("a.log.damaged").exists());
}
