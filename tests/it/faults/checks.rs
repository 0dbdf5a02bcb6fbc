//! What must hold after every fault.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::answer::Reference;
use super::case::Course;
use super::damage::below;
use super::site::Site;

/// The records of runs that were seen in the store.
#[derive(Debug, Default)]
pub(crate) struct Records {
    seen: BTreeMap<PathBuf, Vec<u8>>,
    /// Names of files that the test damaged.
    harmed: Vec<String>,
}

impl Records {
    /// No record may be lost or changed.
    pub(crate) fn check(&mut self, site: &Site, course: &mut Course) {
        let mut now = below(&site.store().join("runs"));
        now.retain(|path| path.extension().is_some_and(|end| end == "json"));
        let now: BTreeMap<PathBuf, Vec<u8>> =
            now.into_iter().map(|path| (path.clone(), fs::read(path).unwrap())).collect();
        for (path, bytes) in self.seen.iter().filter(|(path, _)| !self.is_harmed(path)) {
            let name = path.display();
            course.check(now.get(path) == Some(bytes), || format!("{name} is lost or changed"));
        }
        self.seen.extend(now);
    }

    /// Leaves out a record that the test damaged, or whose log it damaged.
    pub(crate) fn forget(&mut self, path: &Path) {
        self.harmed.push(path.file_name().unwrap_or_default().to_string_lossy().into_owned());
    }

    /// Logs of a hunt are hard links to those of the records, and have the attempt in their names.
    fn is_harmed(&self, record: &Path) -> bool {
        let attempt = record.file_stem().unwrap_or_default().to_string_lossy();
        self.harmed.iter().any(|name| name.contains(&*attempt))
    }
}

/// A hunt that has ended leaves the user's repository as it was, and no files but the store's.
pub(crate) fn nothing_is_left(site: &Site, right: &Reference, course: &mut Course) {
    let env = &site.env;
    let changed = site.before.changes(&crate::kit::Snapshot::of(env));
    course.check(changed.is_empty(), || format!("changed in the repository: {changed:?}"));
    let mut left: Vec<PathBuf> = fs::read_dir(site.temporary())
        .into_iter()
        .flatten()
        .map(|entry| entry.unwrap().path())
        .filter(|path| !is_the_tests(path))
        .collect();
    let mut home = below(&env.path("home"));
    // The compilers that rustup starts write settings when they are asked for their version.
    home.retain(|path| !path.starts_with(env.path("home/.rustup")));
    left.extend(home);
    let is_kept = |path: &PathBuf| right.kept.contains(path.file_name().unwrap());
    let builds = [env.path("cache"), site.slots()].map(|folder| below(&folder)).concat();
    left.extend(builds.into_iter().filter(|path| !is_kept(path)));
    // Logs of runs that were killed stay until then.
    env.run(&["store", "gc"]).expect(0);
    let store = site.store();
    left.extend(below(&store).into_iter().filter(|path| is_unfinished(&store, path)));
    course.check(left.is_empty(), || format!("left behind: {left:?}"));
}

/// Outputs of the programs that the test started, and files of the kit.
fn is_the_tests(path: &Path) -> bool {
    let name = path.file_name().unwrap().to_string_lossy();
    let is_output = name.split_once('.').is_some_and(|(number, end)| {
        number.parse::<u32>().is_ok() && ["out", "err"].contains(&end)
    });
    is_output || ["marks", "input"].contains(&&*name)
}

/// Whether a file belongs to a write or a step that has not ended.
fn is_unfinished(store: &Path, path: &Path) -> bool {
    let name = path.file_name().unwrap().to_string_lossy();
    let relative = path.strip_prefix(store).unwrap().to_string_lossy();
    let is_in = |folder: &str| relative.starts_with(folder);
    name.starts_with(".tmp")
        || name.ends_with(".new")
        || relative.contains("bisect.git/")
        || is_in("pending/")
        || is_in("trash/")
}
