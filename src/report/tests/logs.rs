//! The logs inside `report.html`, and the links to them.

use std::fs;
use std::path::PathBuf;

use crate::evaluation::Phase;
use crate::report::{Format, Logs, Report, html};
use crate::store::journal::Event;

use super::fixture::{Hunt, id};
use super::html::{assert_inert, page};
use super::with_culprit;

/// The target of the link around `words`, and the text of the element there.
pub(super) fn log_of<'p>(page: &'p str, words: &str) -> (&'p str, &'p str) {
    let around = page.split(&format!("{words}</a>")).next().unwrap();
    let link = around.rsplit("<a href=\"").next().unwrap().split('"').next().unwrap();
    let id = link.strip_prefix('#').unwrap_or_else(|| panic!("{link} is outside of the page"));
    let text = page.split(&format!("id=\"{id}\"><code>")).nth(1).expect("the link has a target");
    (link, text.split("</pre>").next().unwrap().trim_end_matches("</code>"))
}

fn write(hunt: &Hunt, log: &str, text: &[u8]) -> PathBuf {
    let path = hunt.dir.path().join(log);
    fs::write(&path, text).unwrap();
    path
}

#[test]
fn a_page_that_lies_elsewhere_contains_what_it_links_to() {
    let hunt = with_culprit();
    page(&hunt);
    let report = Report::of(&hunt.dir).unwrap();
    let hunts = hunt.dir.path().parent().unwrap();
    let name = hunt.dir.id();
    let other = tempfile::tempdir_in(hunts).unwrap();
    let mailed = Format::Html.render(&report, &other.path().join("else.html"));
    assert_inert(&mailed);
    assert!(mailed.contains("Each link to output leads to a log at the end of this page."));
    assert_eq!(log_of(&mailed, "reproduce.sh"), ("#reproduce", "#!/bin/sh\n"));
    for link in mailed.split("href=\"").skip(1).map(|rest| rest.split('"').next().unwrap()) {
        assert!(link.starts_with('#'), "{link} leads out of the page");
    }
    let words = Format::Md.render(&report, &other.path().join("else.md"));
    assert!(words.contains(&format!("[7.52](../{name}/logs/ppl-a11.log)")), "{words}");
}

#[test]
fn of_a_long_log_both_ends_are_in_the_page() {
    let hunt = with_culprit();
    let lines: Vec<String> = (0..20_000).map(|n| format!("1> step {n}\n")).collect();
    write(&hunt, "logs/ppl-a11.log", lines.concat().as_bytes());
    let page = page(&hunt);
    let (_, text) = log_of(&page, "<bdi>7.52</bdi>");
    assert!(text.starts_with("1&#62; step 0\n") && text.ends_with("\n1&#62; step 19999\n"));
    let (head, tail) = text.split_once("<span class=\"note\">… ").unwrap();
    let (note, tail) = tail.split_once("</span>\n<code>").unwrap();
    let link = "are left out here; the whole log is in the hunt&#39;s folder: \
                <a href=\"logs/ppl-a11.log\">logs/ppl-a11.log</a> …";
    assert!(note.ends_with(&link.replace("&#39;", "'")), "{note}");
    let lines = |text: &str| text.lines().filter(|line| line.starts_with("1&#62; step ")).count();
    let (before, after) = (lines(head), lines(tail));
    assert!(head.contains(&format!("step {}\n", before - 1)), "a line is whole");
    assert!(tail.starts_with(&format!("1&#62; step {}\n", 20_000 - after)), "a line is whole");
    assert!(text.len() < 90_000, "{}", text.len());
}

#[test]
fn the_logs_of_the_answer_come_first_if_not_all_fit() {
    let mut hunt = with_culprit();
    let run = hunt.run('f', Phase::Search, Some(7.3));
    let mut journal = hunt.dir.journal().unwrap();
    let mut later = Vec::new();
    for number in 0..40 {
        let mut run = run.clone();
        run.attempt = format!("later{number}");
        run.log = format!("logs/{}.log", run.attempt);
        write(&hunt, &run.log, format!("{number} {}\n", "x".repeat(60_000)).as_bytes());
        later.push(run.log.clone());
        journal.append(Event::Run(run)).unwrap();
    }
    write(&hunt, "logs/ppl-a11.log", format!("<{}>\n", "&".repeat(60_000)).as_bytes());
    let page = page(&hunt);
    let (_, text) = log_of(&page, "<bdi>7.52</bdi>");
    assert_eq!(text.len(), 60_000 * "&#38;".len() + "&#60;&#62;\n".len());
    let outside = later.iter().filter(|log| page.contains(&format!("href=\"{log}\"")));
    let outside = outside.count();
    assert!((1..40).contains(&outside), "{outside}");
    // The ends have 6 logs, the pair 4, and `f` another 2.
    let said = format!(
        "The page contains {} of 52 logs, at its end. The links to the other {outside} lead to",
        52 - outside
    );
    assert!(page.contains(&said), "no {said}");
    let logs = page.split("<h2>Logs</h2>").nth(1).unwrap();
    assert!(logs.len() < 2_200_000, "{}", logs.len());
}

#[test]
fn a_log_is_in_the_page_once() {
    let mut hunt = with_culprit();
    // An identical build's run: the same log under the name of another commit.
    let mut twin = hunt.run('f', Phase::Search, Some(7.5));
    twin.log = "logs/twin.log".to_owned();
    twin.attempt = "twin".to_owned();
    write(&hunt, "logs/ppl-a11.log", b"# command: x\n1> the same\n");
    write(&hunt, "logs/twin.log", b"# command: x\n1> the same\n");
    hunt.append(Event::Run(twin));
    let page = page(&hunt);
    assert_eq!(page.matches("the same\n").count(), 1);
    assert!(!page.contains("logs/twin.log"), "both links lead to one place");
}

#[test]
fn what_an_engine_prints_is_text() {
    let hunt = with_culprit();
    let log = b"1> </code></pre><script>alert(1)</script>\x1b[2J\xe2\x80\xae\xff\x00\n";
    write(&hunt, "logs/ppl-a11.log", log);
    let page = page(&hunt);
    assert_inert(&page);
    assert!(!page.contains(['\u{1b}', '\u{202e}', '\0']), "{page}");
    let (_, text) = log_of(&page, "<bdi>7.52</bdi>");
    assert!(text.contains("1&#62; &#60;/code&#62;&#60;/pre&#62;&#60;script&#62;alert"), "{text}");
}

#[test]
fn a_page_contains_no_file_from_outside_the_hunt() {
    let mut hunt = with_culprit();
    let secret = hunt.dir.path().parent().unwrap().join("secret");
    fs::write(&secret, "private\n").unwrap();
    let mut run = hunt.run('d', Phase::Confirm, Some(7.5));
    for (attempt, log) in [("above", "../secret"), ("link", "logs/link.log")] {
        run.attempt = attempt.to_owned();
        run.log = log.to_owned();
        hunt.append(Event::Run(run.clone()));
    }
    std::os::unix::fs::symlink(&secret, hunt.dir.path().join("logs/link.log")).unwrap();
    let page = page(&hunt);
    assert!(!page.contains("private"), "{page}");
    assert!(page.contains("href=\"logs/link.log\""), "{page}");
}

#[test]
fn a_script_that_the_page_would_change_stays_a_file() {
    let hunt = with_culprit();
    page(&hunt);
    write(&hunt, "reproduce.sh", b"#!/bin/sh\nprintf '\x1b[1m'\n");
    let report = Report::of(&hunt.dir).unwrap();
    assert_eq!(report.culprit.as_ref().unwrap().commit, id('d'));
    let page = html(&report, &Logs::beside(&report));
    assert!(page.contains("<a href=\"reproduce.sh\">"), "{page}");
    assert!(!page.contains("id=\"reproduce\""));
}
