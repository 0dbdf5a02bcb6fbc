//! If a measure's program is not at the configured path, finds where the build put it.

use std::collections::VecDeque;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::build::Slot;

/// Maximum number of files and folders to look at.
const MOST: usize = 20_000;

/// The path of an executable file with the name of `program` in the slot's build folder or tree, as
/// `oracle.toml` would have it: `{build}/bin/ppl`. `None` if `program` exists, is not an absolute
/// path, or has no such file.
pub(super) fn find_program(slot: &Slot, program: &str) -> Option<String> {
    let path = Path::new(program);
    if !path.is_absolute() || path.exists() {
        return None;
    }
    let name = path.file_name()?;
    [("{build}", slot.build()), ("{src}", slot.src())].iter().find_map(|(placeholder, folder)| {
        let found = find(folder, |path| path.file_name() == Some(name))?;
        let inner = found.strip_prefix(folder).ok()?.to_str()?;
        Some(format!("{placeholder}/{inner}"))
    })
}

/// The executable file nearest to the top that `is_it` accepts. Links to folders are not followed.
fn find(top: &Path, is_it: impl Fn(&Path) -> bool) -> Option<PathBuf> {
    let mut folders: VecDeque<PathBuf> = [top.to_owned()].into();
    let mut left = MOST;
    while let Some(folder) = folders.pop_front() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            left = left.checked_sub(1)?;
            let (path, kind) = (entry.path(), entry.file_type().ok()?);
            if kind.is_dir() {
                folders.push_back(path);
            } else if is_it(&path) {
                let about = fs::metadata(&path).ok();
                if about.is_some_and(|a| a.is_file() && a.permissions().mode() & 0o111 != 0) {
                    return Some(path);
                }
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_executable_file_nearest_to_the_top_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let put = |path: &str, mode: u32| {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, "").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        };
        put("ppl", 0o644);
        put("a/b/ppl", 0o755);
        put("z/ppl", 0o755);
        std::os::unix::fs::symlink("..", folder.path().join("a/loop")).unwrap();
        let found = |name: &str| find(folder.path(), |path| path.ends_with(name));
        assert_eq!(found("ppl"), Some(folder.path().join("z/ppl")));
        assert_eq!(found("other"), None);
    }
}
