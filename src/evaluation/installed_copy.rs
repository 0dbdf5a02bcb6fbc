//! A file from outside that a run loaded in place of the commit's own.

use serde::{Deserialize, Serialize};

/// An installed copy of one of the commit's files. A run loaded the copy, which no commit changes,
/// and not the commit's file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct InstalledCopy {
    /// The absolute path of the copy: a shared object, or the `__init__.py` of a Python package.
    pub path: String,
    /// The commit's file, by its path below the slot.
    pub own: String,
    /// SHA-256 of the commit's file, without the path of the slot if the file holds it.
    pub sha256: String,
}

impl InstalledCopy {
    /// The folder of the commit's package, by its path below `{src}` and with a slash at its end;
    /// `None` for a shared object.
    pub(crate) fn package(&self) -> Option<&str> {
        self.own.strip_prefix("src/")?.strip_suffix("__init__.py")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_has_a_folder() {
        let of = |own: &str| InstalledCopy {
            path: String::new(),
            own: own.to_owned(),
            sha256: String::new(),
        };
        assert_eq!(of("src/src/eng/__init__.py").package(), Some("src/eng/"));
        assert_eq!(of("src/eng/__init__.py").package(), Some("eng/"));
        assert_eq!(of("build/lib/libeng.so").package(), None);
        assert_eq!(of("src/libeng.so").package(), None);
    }
}
