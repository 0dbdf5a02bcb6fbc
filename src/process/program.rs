//! Finds a program's file before the start. A missing program and a failing program have different
//! causes, so the file is looked up and the cause is not guessed from an error.

use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::Access;
use rustix::io::Errno;

use crate::evaluation::Ended;

/// The search path if `PATH` is not set, as in a shell.
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// The absolute path of `program`, found as a shell in `cwd` would: a name with a slash is a path,
/// any other is searched along `path`. `Err` is the result of a run that cannot start.
pub(super) fn find(program: &OsStr, cwd: &Path, path: Option<&OsStr>) -> Result<PathBuf, Ended> {
    let missing = || Ended::NotFound(program.to_string_lossy().into_owned());
    if program.is_empty() {
        return Err(missing());
    }
    if program.as_bytes().contains(&b'/') {
        let file = cwd.join(program);
        return match check_file(&file) {
            FileCheck::Runs => Ok(file),
            FileCheck::Missing => Err(Ended::NotFound(file.to_string_lossy().into_owned())),
            FileCheck::Refused(why) => Err(refused(&file, why)),
        };
    }
    let mut denied = None;
    for folder in std::env::split_paths(path.unwrap_or(OsStr::new(DEFAULT_PATH))) {
        let file = cwd.join(folder).join(program);
        match check_file(&file) {
            FileCheck::Runs => return Ok(file),
            FileCheck::Missing => {}
            FileCheck::Refused(why) => denied = denied.or(Some(refused(&file, why))),
        }
    }
    Err(denied.unwrap_or_else(missing))
}

/// The result of a run whose exec failed with `errno` although [`find`] found the file.
pub(super) fn refusal(file: &Path, errno: i32) -> Ended {
    if Errno::from_raw_os_error(errno) == Errno::NOENT {
        if let Some(interpreter) = missing_interpreter(file) {
            return Ended::NotFound(interpreter.to_string_lossy().into_owned());
        }
        if !file.exists() {
            return Ended::NotFound(file.to_string_lossy().into_owned());
        }
        return refused(file, "its dynamic loader does not exist");
    }
    refused(file, std::io::Error::from_raw_os_error(errno))
}

enum FileCheck {
    Runs,
    Missing,
    Refused(&'static str),
}

fn check_file(file: &Path) -> FileCheck {
    match file.metadata() {
        Ok(data) if data.is_dir() => FileCheck::Refused("is a folder"),
        Ok(_) if rustix::fs::access(file, Access::EXEC_OK).is_err() => {
            FileCheck::Refused("permission denied")
        }
        Ok(_) if !is_program(file) => FileCheck::Refused(
            "exec format error: neither an executable nor a script with a #! line",
        ),
        Ok(_) => FileCheck::Runs,
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
            FileCheck::Refused("permission denied")
        }
        Err(_) => FileCheck::Missing,
    }
}

/// Whether the kernel can execute the file. Libc would pass any other file to a shell. An empty
/// file, left by a killed linker, would then succeed.
fn is_program(file: &Path) -> bool {
    if !cfg!(target_os = "linux") {
        return true;
    }
    let mut start = Vec::new();
    let read = std::fs::File::open(file).and_then(|file| file.take(4).read_to_end(&mut start));
    // A program may be executable but not readable. `MZ` files run where wine is registered.
    read.is_err() || [&b"#!"[..], b"\x7fELF", b"MZ"].iter().any(|magic| start.starts_with(magic))
}

/// The interpreter of a script, if it does not exist.
pub(super) fn missing_interpreter(file: &Path) -> Option<PathBuf> {
    interpreter(file).filter(|path| !path.exists())
}

fn refused(file: &Path, why: impl std::fmt::Display) -> Ended {
    Ended::NotStarted(format!("{}: {why}", file.display()))
}

/// The interpreter in a script's first line.
fn interpreter(file: &Path) -> Option<PathBuf> {
    let mut start = Vec::new();
    std::fs::File::open(file).ok()?.take(256).read_to_end(&mut start).ok()?;
    let line = start.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let word = line.trim_ascii().split(u8::is_ascii_whitespace).next()?;
    Some(PathBuf::from(OsString::from(OsStr::from_bytes(word))))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, mode) in [("runs", 0o755), ("plain", 0o644)] {
            let file = folder.path().join(name);
            std::fs::write(&file, "#!/nowhere/python3 -u\n").unwrap();
            std::fs::set_permissions(&file, PermissionsExt::from_mode(mode)).unwrap();
        }
        folder
    }

    #[test]
    fn a_name_with_a_slash_is_relative_to_the_working_folder() {
        let here = folder();
        let found = find("./runs".as_ref(), here.path(), None).unwrap();
        assert_eq!(found, here.path().join("./runs"));
        let missing = find("./gone".as_ref(), here.path(), None).unwrap_err();
        assert_eq!(missing, Ended::NotFound(here.path().join("./gone").display().to_string()));
    }

    #[test]
    fn a_bare_name_is_searched_along_the_path_given() {
        let here = folder();
        let path = std::env::join_paths(["/nowhere".as_ref(), here.path()]).unwrap();
        let find = |name: &str| find(name.as_ref(), "/".as_ref(), Some(&path));
        assert_eq!(find("runs").unwrap(), here.path().join("runs"));
        assert_eq!(find("gone").unwrap_err(), Ended::NotFound("gone".to_owned()));
        assert!(matches!(find("plain").unwrap_err(), Ended::NotStarted(_)));
        assert_eq!(find("").unwrap_err(), Ended::NotFound(String::new()));
    }

    #[test]
    fn a_missing_interpreter_is_what_was_not_found() {
        let here = folder();
        let ended = refusal(&here.path().join("runs"), Errno::NOENT.raw_os_error());
        assert_eq!(ended, Ended::NotFound("/nowhere/python3".to_owned()));
    }
}
