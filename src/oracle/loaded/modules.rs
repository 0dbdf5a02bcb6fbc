//! Lists the modules that Python interpreters load. Each interpreter gets our `sitecustomize`,
//! which reports its modules and then runs the user's own `sitecustomize`.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

const HOOK: &str = include_str!("sitecustomize.py");

/// The hook, and the file where interpreters list their modules.
#[derive(Debug)]
pub(super) struct Modules {
    /// The folder that comes first in `PYTHONPATH`.
    hook: PathBuf,
    told: PathBuf,
}

impl Modules {
    /// Writes the hook into a slot, and deletes the list of an earlier run.
    pub(super) fn below(slot: &Path) -> std::io::Result<Self> {
        let hook = slot.join("python");
        let told = slot.join("modules.txt");
        std::fs::create_dir_all(&hook)?;
        std::fs::write(hook.join("sitecustomize.py"), HOOK)?;
        match std::fs::remove_file(&told) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        Ok(Self { hook, told })
    }

    /// Variables for the run's environment; `path`: its `PYTHONPATH`.
    pub(super) fn variables(&self, path: Option<OsString>) -> [(&'static str, OsString); 2] {
        let mut python_path = self.hook.clone().into_os_string();
        if let Some(path) = path.filter(|path| !path.is_empty()) {
            python_path.push(":");
            python_path.push(path);
        }
        [("PYTHONPATH", python_path), ("BISECT_PPL_MODULES", self.told.clone().into_os_string())]
    }

    /// The loaded modules, each by its source file if that exists.
    pub(super) fn loaded(&self) -> BTreeSet<PathBuf> {
        let told = std::fs::read(&self.told).unwrap_or_default();
        let lines = told.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        let files = lines.map(|line| source_of(Path::new(OsStr::from_bytes(line))));
        files.filter(|file| !file.starts_with(&self.hook)).collect()
    }
}

/// The source of a compiled Python module; another file stays as it is. A compiled module contains
/// its source's modification time, so its digest differs between checkouts.
pub(super) fn source_of(file: &Path) -> PathBuf {
    let as_source = || {
        let name = file.file_name()?.to_str()?;
        let folder = file.parent()?;
        let in_cache = folder.file_name()? == "__pycache__" && file.extension()? == "pyc";
        let stem = name.split('.').next().filter(|_| in_cache)?;
        let source = folder.parent()?.join(format!("{stem}.py"));
        source.exists().then_some(source)
    };
    as_source().unwrap_or_else(|| file.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_compiled_module_counts_as_its_source() {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().join(path);
        std::fs::write(at("a.py"), "").unwrap();
        assert_eq!(source_of(&at("__pycache__/a.cpython-312.pyc")), at("a.py"));
        assert_eq!(source_of(&at("__pycache__/a.cpython-312.opt-1.pyc")), at("a.py"));
        for other in ["__pycache__/b.cpython-312.pyc", "a.pyc", "a.py", "__pycache__/a.so"] {
            assert_eq!(source_of(&at(other)), at(other));
        }
    }

    #[test]
    fn the_users_own_path_comes_after_ours() {
        let folder = tempfile::tempdir().unwrap();
        let modules = Modules::below(folder.path()).unwrap();
        let hook = folder.path().join("python");
        let [(name, path), _] = modules.variables(Some("/mine:/other".into()));
        assert_eq!(name, "PYTHONPATH");
        assert_eq!(path.to_str().unwrap(), format!("{}:/mine:/other", hook.display()));
        // An empty entry would mean the run's working folder.
        assert_eq!(modules.variables(Some(OsString::new()))[0].1, hook.into_os_string());
    }
}
