use std::fs;

use super::*;

fn config(base: &Path, path: &str) -> Config {
    let text = format!("{SMALL}[inputs]\nmodel = '{path}'\n");
    Config::parse(&text, base, "oracle.toml").unwrap()
}

/// A folder whose own name looks like a pattern.
fn folder() -> (tempfile::TempDir, std::path::PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let base = dir.path().join("a[b]*");
    fs::create_dir_all(base.join("split")).unwrap();
    fs::create_dir_all(base.join("empty")).unwrap();
    fs::write(base.join("split/m-2.gguf"), "").unwrap();
    fs::write(base.join("split/m-1.gguf"), "").unwrap();
    fs::write(base.join("odd[1].bin"), "").unwrap();
    (dir, base)
}

#[test]
fn files_folders_and_globs_start_from_the_base() {
    let (_dir, base) = folder();
    let paths = |path: &str| config(&base, path).input_paths("model").unwrap();
    assert_eq!(paths("split/m-1.gguf"), [base.join("split/m-1.gguf")]);
    assert_eq!(paths("split"), [base.join("split")]);
    assert_eq!(paths("split/*.gguf"), [base.join("split/m-1.gguf"), base.join("split/m-2.gguf")]);
    assert_eq!(paths("odd[1].bin"), [base.join("odd[1].bin")]);
    let value = config(&base, "split/m-*").input_value("model").unwrap();
    assert_eq!(value, base.join("split/m-1.gguf"));
}

#[test]
fn what_is_not_there_is_told_with_the_path_and_a_cure() {
    let (_dir, base) = folder();
    let error = |path: &str| config(&base, path).input_paths("model").unwrap_err();
    let said = error("nope.bin").to_string();
    assert!(said.contains(&base.join("nope.bin").display().to_string()), "{said}");
    assert!(error("nope.bin").hint().contains("`model` in [inputs]"));
    assert!(matches!(error("nope*.bin"), InputError::NoMatch { .. }));
    assert!(matches!(error("empty"), InputError::Empty { .. }));
    assert!(matches!(error("odd[1].bin/x"), InputError::Unreadable { .. }));
    let undeclared = config(&base, "split").input_paths("corpus").unwrap_err();
    assert_eq!(undeclared.to_string(), "[inputs] has no `corpus`");
}

#[test]
fn a_missing_file_has_its_own_error() {
    let error = Config::load(Path::new("/nonexistent/oracle.toml")).unwrap_err();
    assert!(matches!(error, LoadError::Missing { .. }));
    assert_eq!(error.to_string(), "there is no /nonexistent/oracle.toml");
}

#[test]
fn a_file_that_is_no_text_is_unreadable() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("oracle.toml");
    fs::write(&path, [0xff, 0xfe]).unwrap();
    assert!(matches!(Config::load(&path).unwrap_err(), LoadError::Unreadable { .. }));
}
