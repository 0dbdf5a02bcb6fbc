//! `report.html` while its hunt runs: it is never torn, loads itself again, shows what runs, and
//! ends as an ordinary report.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::process::Signal;

use crate::kit::{Oracle, PATIENCE, TestEnvironment, kill, line, show, show_again, wait_until};

/// The widths of a small phone and of a small laptop.
const WIDTHS: [u32; 2] = [375, 1280];

const REFRESH: &str = "<meta http-equiv=\"refresh\" content=\"";

/// The page of the newest hunt, if it is there.
fn page_of(env: &TestEnvironment) -> Option<PathBuf> {
    let hunts = fs::read_dir(env.git_folder().join("bisect-ppl/hunts")).ok()?;
    let pages = hunts.map(|hunt| hunt.unwrap().path().join("report.html"));
    pages.filter(|page| page.exists()).max()
}

/// Waits for a page with all these words.
#[track_caller]
fn eventually(env: &TestEnvironment, words: &[&str]) -> (PathBuf, String) {
    let mut last = (PathBuf::new(), String::new());
    let says = wait_until(PATIENCE, || {
        if let Some(page) = page_of(env) {
            let text = fs::read_to_string(&page).unwrap();
            last = (page, text);
        }
        words.iter().all(|word| last.1.contains(word))
    });
    assert!(says, "no {words:?} in:\n{}", last.1);
    last
}

/// An engine that waits for the file `go` after this many runs, and says so.
fn waiting_after(env: &TestEnvironment, runs: usize) {
    let [log, go] = ["world/starts.log", "go"].map(|name| env.path(name));
    let script = env.path("wait.sh");
    let wait = format!(
        "if test $(grep -c ^run {log}) -ge {runs}; then\n\
         for n in 1 2 3 4 5 6 7 8 9; do echo \"loading <layer> $n\" >&2; done\n\
         until test -e {go}; do sleep 0.05; done; fi\n\
         exec \"$@\"\n",
        log = log.display(),
        go = go.display(),
    );
    fs::write(&script, wait).unwrap();
    let run = "{build}/engine run ppl src={src} cache={cache} out={out}";
    Oracle::new(env).ppl_command(&format!("sh {} {run}", script.display())).write(env);
}

fn seconds(page: &Path) -> u64 {
    let modified = fs::metadata(page).unwrap().modified().unwrap();
    modified.duration_since(std::time::UNIX_EPOCH).unwrap().as_secs()
}

#[test]
fn a_running_hunt_has_a_page_of_this_moment_and_then_a_report() {
    let env = TestEnvironment::new();
    let history = line("g g g g b b b b").subject(3, "kernels: <b>faster</b>").build(&env);
    waiting_after(&env, 4);
    let limits = ["--deadline", "2999-01-01T08:00:00Z", "--max-runs", "500"];
    let running = env.spawn_product(&[&["start", "--good", "v1"], &limits[..]].concat());
    let (page, text) = eventually(
        &env,
        &[
            "Still running, no answer yet",
            "until 2999-01-01 08:00 UTC (",
            " left), 500 runs (4 made)",
            REFRESH,
            "run ppl (search)",
            "searching, step 1 of about 3, 7 commits left; ran for ",
            "; usually about ",
            "loading &#60;layer&#62; 9",
        ],
    );
    let section = text.split("<section class=\"live\">").nth(1).unwrap();
    let section = section.split("</section>").next().unwrap();
    let middle = &history.commit(3)[..10];
    assert!(section.contains(&format!("{middle} kernels: &#60;b&#62;faster")), "{section}");
    assert!(!section.contains("layer&#62; 1\n"), "only the last lines are shown: {section}");
    for width in WIDTHS {
        let shown = show(&env, &page, width);
        assert!(shown.width <= width, "{} pixels wide on a screen of {width}", shown.width);
        assert_eq!(shown.too_wide, Vec::<String>::new());
        assert_eq!(shown.requests, Vec::<String>::new());
        assert!(shown.dom.contains("data-label=\"ppl\"") || shown.dom.contains("One mark per run"));
    }
    let live = seconds(&page);
    fs::write(env.path("go"), "").unwrap();
    running.wait().expect(0);
    let text = fs::read_to_string(&page).unwrap();
    for over in [REFRESH, "Still running", "class=\"live\"", "<!-- now -->"] {
        assert!(!text.contains(over), "{over}");
    }
    assert!(text.contains("First bad commit"), "{text}");
    let markdown = fs::read_to_string(page.with_file_name("report.md")).unwrap();
    for report in [&text, &markdown] {
        assert!(report.contains("until 2999-01-01 08:00 UTC, at most 500 more runs"), "{report}");
    }
    // A server that knows only the second of a file must not take it for the same.
    assert!(seconds(&page) > live);
    assert!(!page.with_file_name("report.html.new").exists());
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_page_is_whole_whenever_it_is_read() {
    let env = TestEnvironment::new();
    line("g g g g b b b b").with_all("chunk_ms = 60").build(&env);
    Oracle::new(&env).write(&env);
    let mut running = env.spawn_product(&["start", "--good", "v1"]);
    let (mut reads, mut versions) = (0, BTreeSet::new());
    while running.child.try_wait().unwrap().is_none() {
        let Some(page) = page_of(&env) else { continue };
        let text = fs::read_to_string(page).unwrap();
        let is_whole = text.starts_with("<!doctype html>") && text.trim_end().ends_with("</html>");
        assert!(is_whole, "{} bytes:\n{text}", text.len());
        reads += 1;
        let written = text.split("Written at ").nth(1).map(|rest| rest[..8].to_owned());
        versions.extend(written);
        std::thread::sleep(Duration::from_micros(200));
    }
    running.wait().expect(0);
    assert!(reads > 100 && versions.len() >= 3, "{reads} reads of {versions:?}");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_page_that_loads_itself_again_stays_where_its_reader_was() {
    let env = TestEnvironment::new();
    line("g g g g b b b b").build(&env);
    waiting_after(&env, 4);
    let running = env.spawn_product(&["start", "--good", "v1"]);
    let (page, _) = eventually(&env, &["run ppl (search)", "loading"]);
    for width in WIDTHS {
        let (before, after) = show_again(&env, &page, width, 400);
        assert!(before == 400 && after.abs_diff(before) <= 2, "{before} → {after} at {width}");
    }
    env.run(&["stop"]).expect(0);
    running.wait().expect(130);
    let text = fs::read_to_string(&page).unwrap();
    assert!(text.contains("Interrupted, no answer yet") && !text.contains(REFRESH), "{text}");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn the_page_of_a_hunt_whose_process_died_says_so_when_it_is_written_again() {
    let env = TestEnvironment::new();
    line("g g g g b b b b").build(&env);
    waiting_after(&env, 4);
    let running = env.spawn_product(&["start", "--good", "v1"]);
    let (page, text) = eventually(&env, &["run ppl (search)"]);
    assert!(text.contains("If this time stays behind the clock, the hunt's process died"));
    kill(running.pid(), Signal::KILL);
    running.wait();
    env.assert_no_survivors();
    env.run_with(&env.repo(), &["report", "--open"], &[("BROWSER", "true")]).expect(0);
    let text = fs::read_to_string(&page).unwrap();
    assert!(text.contains("process ended unexpectedly: it was killed"), "{text}");
    assert!(!text.contains(REFRESH) && !text.contains("Still running"), "{text}");
}
