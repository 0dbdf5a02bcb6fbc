//! The builds of each commit, with links to their logs.

use crate::report::model::{BuildLine, Report};
use crate::report::places::Places;
use crate::report::words;
use crate::ui::text;

use super::samples::{by_phase, name};
use super::{Output, Table};

/// The builds of each commit: how long each took, how much of it a compiler cache answered, and
/// where it was made if that differs.
pub(in crate::report) fn builds(report: &Report) -> Table {
    let places = Places::of(report);
    let built = report.commits.iter().filter(|commit| !commit.builds.is_empty());
    let rows = built.map(|commit| {
        let builds = commit.builds.iter().map(|build| (build.phase, output(build, places)));
        [name(commit), by_phase(builds)]
    });
    Table::new(["commit", "builds"], rows)
}

/// `13 s`, `3 s in slot 2, 12 of 14 from ccache`, `prepare weights: 1 s`, `2 s, failed`.
fn output(build: &BuildLine, places: Places) -> Output {
    let took = format!("{}{}", text::seconds(build.wall_s), places.build(build));
    let took = match &build.prepare {
        Some(step) => format!("prepare {}: {took}", text::line(step)),
        None => took,
    };
    let cache = build.compiler_cache.map(words::compiler_cache);
    let failed = build.failure.is_some().then(|| "failed".to_owned());
    let words: Vec<String> = [Some(took), cache, failed].into_iter().flatten().collect();
    Output { words: words.join(", "), log: build.log.clone(), stored: words::stored_build(build) }
}
