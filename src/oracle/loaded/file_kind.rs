//! What kind of file one is, by its first bytes, its mode or its name.

use std::ffi::OsStr;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Whether the file is a program or a shared object, that is, an ELF file.
pub(super) fn is_binary(path: &Path) -> bool {
    let mut magic = [0; 4];
    let read = std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut magic));
    read.is_ok() && magic == *b"\x7fELF"
}

/// Whether the file's owner may execute it.
pub(super) fn is_executable(file: &Path) -> bool {
    file.metadata().is_ok_and(|about| about.permissions().mode() & 0o100 != 0)
}

/// Whether a name is that of a shared object: `libeng.so`, `libeng.so.1`.
pub(super) fn is_library(name: &OsStr) -> bool {
    stem(Path::new(name)).is_some()
}

/// The name of a shared object up to `.so`; `None` for another file.
pub(super) fn stem(path: &Path) -> Option<&str> {
    let name = path.file_name()?.to_str()?;
    let (stem, rest) = name.split_once(".so")?;
    let is_version = rest.is_empty() || rest.starts_with('.');
    (is_version && stem.starts_with("lib")).then_some(stem)
}
