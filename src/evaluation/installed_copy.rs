//! A file from outside that a run loaded in place of the commit's own.

use serde::{Deserialize, Serialize};

/// An installed copy of one of the commit's files. A run loaded the copy, which no commit changes,
/// and not the commit's file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct InstalledCopy {
    /// The absolute path of the copy: a shared object, the `__init__.py` of a Python package, or a
    /// Python module without a package.
    pub path: String,
    /// The commit's file, by its path below the slot.
    pub own: String,
    /// SHA-256 of the commit's file, without the path of the slot if the file holds it.
    pub sha256: String,
    /// Set if the copy does not resemble the commit's file: it may be another project's package of
    /// the same name.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_unlike: bool,
}

impl InstalledCopy {
    /// The folder of the commit's package, by its path below `{src}` and with a slash at its end;
    /// `None` for a shared object, and for a module without a package.
    pub(crate) fn package(&self) -> Option<&str> {
        self.own.strip_prefix("src/")?.strip_suffix("__init__.py")
    }

    /// Whether it is a Python package or module.
    pub(crate) fn is_python(&self) -> bool {
        self.own.strip_suffix(".py").is_some()
    }

    /// The commit's file as it is written in the configuration: `{build}/lib/libeng.so`.
    pub(crate) fn own_in_config(&self) -> String {
        match self.own.split_once('/') {
            Some((top, below)) => format!("{{{top}}}/{below}"),
            None => self.own.clone(),
        }
    }

    /// The folder with the commit's file that the variable for the search path needs, as it is
    /// written in the configuration.
    pub(crate) fn folder_in_config(&self) -> String {
        let own = self.own_in_config();
        // A package or module is found from the folder above the name by which it is imported.
        let depth = match self.package() {
            Some(_) => 2,
            None if self.is_python() => {
                let [copy, own] = [&self.path, &own].map(|path| path.rsplit('/'));
                copy.zip(own).take_while(|(copy, own)| copy == own).count()
            }
            None => 1,
        };
        let parts: Vec<&str> = own.split('/').collect();
        parts[..parts.len().saturating_sub(depth)].join("/")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn copy(path: &str, own: &str) -> InstalledCopy {
        let (path, own) = (path.to_owned(), own.to_owned());
        InstalledCopy { path, own, sha256: String::new(), is_unlike: false }
    }

    #[test]
    fn a_package_has_a_folder() {
        let package = |own: &str| copy("", own).package().map(str::to_owned);
        assert_eq!(package("src/src/eng/__init__.py").as_deref(), Some("src/eng/"));
        assert_eq!(package("src/eng/__init__.py").as_deref(), Some("eng/"));
        for other in ["build/lib/libeng.so", "src/libeng.so", "src/src/eng.py"] {
            assert_eq!(package(other), None);
        }
    }

    #[test]
    fn the_search_path_needs_the_folder_above_the_imported_name() {
        let folder = |path: &str, own: &str| copy(path, own).folder_in_config();
        assert_eq!(folder("/p/libeng.so.1", "build/lib/libeng.so"), "{build}/lib");
        assert_eq!(folder("/p/libeng.so", "build/libeng.so"), "{build}");
        assert_eq!(folder("/p/src/eng/__init__.py", "src/src/eng/__init__.py"), "{src}/src");
        assert_eq!(folder("/p/eng/__init__.py", "src/eng/__init__.py"), "{src}");
        assert_eq!(folder("/p/eng.py", "src/src/eng.py"), "{src}/src");
        assert_eq!(folder("/p/eng/core.py", "src/py/eng/core.py"), "{src}/py");
    }

    #[test]
    fn old_records_hold_copies_that_resemble() {
        let old = r#"{"path":"/p/libeng.so","own":"build/libeng.so","sha256":""}"#;
        let known: InstalledCopy = serde_json::from_str(old).unwrap();
        assert_eq!(known, copy("/p/libeng.so", "build/libeng.so"));
        assert_eq!(serde_json::to_string(&known).unwrap(), old);
    }
}
