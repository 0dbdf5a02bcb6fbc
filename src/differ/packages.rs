//! Versions of resolved packages.

use std::collections::BTreeMap;

use serde::Deserialize;

/// Lock files of one format: TOML tables with name and version.
pub(crate) const LOCK_FILES: [&str; 5] =
    ["Cargo.lock", "uv.lock", "poetry.lock", "pdm.lock", "pylock.toml"];

#[derive(Deserialize)]
struct Lock {
    #[serde(default, alias = "packages")]
    package: Vec<Locked>,
}

#[derive(Deserialize)]
struct Locked {
    name: String,
    version: Option<String>,
    /// Cargo writes a string. Other tools write a table with the place of a file, which is ignored.
    source: Option<toml::Value>,
}

/// Versions by package from a lock file; empty if the file cannot be parsed.
pub(crate) fn lock_file(text: &str) -> BTreeMap<String, String> {
    let lock: Lock = toml::from_str(text).unwrap_or(Lock { package: Vec::new() });
    let mut found = BTreeMap::new();
    for package in lock.package {
        let source = package.source.as_ref().and_then(toml::Value::as_str);
        let from = source.filter(|source| source.starts_with("git+"));
        let version = package.version.unwrap_or_else(|| "no version".to_owned());
        let version = from.map_or(version.clone(), |from| format!("{version} ({from})"));
        add(&mut found, &package.name, &version);
    }
    found
}

/// Name and version of an installed Python package, from its folder `NAME-VERSION.dist-info`.
pub(crate) fn installed(folder: &str) -> Option<(&str, &str)> {
    folder.strip_suffix(".dist-info")?.rsplit_once('-')
}

/// Adds a version; a name may have several.
pub(crate) fn add(versions: &mut BTreeMap<String, String>, name: &str, version: &str) {
    let known = versions.entry(name.to_owned()).or_default();
    let mut all: Vec<&str> = known.split(", ").filter(|one| !one.is_empty()).collect();
    all.push(version);
    all.sort_unstable();
    all.dedup();
    *known = all.join(", ");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lock_files_of_cargo_and_of_python_are_read() {
        let cargo = "version = 4\n\n[[package]]\nname = \"half\"\nversion = \"2.4.1\"\n\
                     source = \"registry+https://example.org\"\nchecksum = \"1\"\n\n\
                     [[package]]\nname = \"syn\"\nversion = \"2.0.1\"\n\n\
                     [[package]]\nname = \"syn\"\nversion = \"1.0.9\"\n\n\
                     [[package]]\nname = \"ggml\"\nversion = \"0.1.0\"\nsource = \"git+https://example.org/g#abc\"\n";
        let found = lock_file(cargo);
        let expected = [
            ("ggml", "0.1.0 (git+https://example.org/g#abc)"),
            ("half", "2.4.1"),
            ("syn", "1.0.9, 2.0.1"),
        ];
        let found: Vec<_> = found.iter().map(|(name, value)| (&**name, &**value)).collect();
        assert_eq!(found, expected);
        let uv = "[[package]]\nname = \"torch\"\nversion = \"2.9.0\"\nsource = { registry = \"r\" }\n\n\
                  [[package]]\nname = \"own\"\nsource = { editable = \".\" }\n";
        let found = lock_file(uv);
        assert_eq!([&*found["torch"], &*found["own"]], ["2.9.0", "no version"]);
        assert_eq!(lock_file("[[packages]]\nname = \"a\"\nversion = \"1\"\n")["a"], "1");
        assert!(lock_file("not a lock file").is_empty());
    }

    #[test]
    fn what_is_installed_is_read_off_its_folder() {
        assert_eq!(installed("torch-2.9.0+cu130.dist-info"), Some(("torch", "2.9.0+cu130")));
        assert_eq!(installed("torch"), None);
    }
}
