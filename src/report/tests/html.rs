//! Tests of `report.html`.

use std::fmt::Write as _;

use proptest::prelude::*;

use crate::evaluation::{
    Contribution, Failure, FailureKind, Finding, Lineage, Metric, Outcome, Phase, SkipReason,
    Target, Verdict,
};
use crate::report::{Logs, Report, html, terminal_answer};
use crate::store::journal::{Event, SearchMethod};

use super::fixture::{Hunt, Search, culprit, found, id};
use super::logs::log_of;
use super::{candidates, with_culprit};

/// The page with its logs in place.
pub(super) fn page(hunt: &Hunt) -> String {
    let report = Report::of(&hunt.dir).unwrap();
    let logs = report.commits.iter().flat_map(|commit| {
        let builds = commit.builds.iter().map(|build| &build.log);
        builds.chain(commit.runs.iter().map(|run| &run.log))
    });
    for log in logs {
        let file = hunt.dir.path().join(log);
        if !file.exists() {
            std::fs::write(file, format!("# command: x\n1> printed into {log}\n")).unwrap();
        }
    }
    std::fs::write(hunt.dir.path().join("reproduce.sh"), "#!/bin/sh\n").unwrap();
    html(&report, &Logs::beside(&report))
}

/// Stores a linear history after `b`, one commit per letter.
pub(super) fn line(hunt: &Hunt, letters: &str) {
    let mut parent = 'b';
    let mut history = Vec::new();
    for letter in letters.chars() {
        history.push(Lineage { commit: id(letter), parents: vec![id(parent)] });
        parent = letter;
    }
    hunt.dir.keep_history(&history).unwrap();
}

/// The texts between `<` and `>`, in order.
fn tags(page: &str) -> Vec<&str> {
    let tags = page.split('<').skip(1);
    tags.map(|rest| rest.split_once('>').expect("a tag ends").0).collect()
}

/// The page's elements, in order; panics if they do not nest.
fn elements(page: &str) -> Vec<String> {
    const VOID: [&str; 2] = ["meta", "!doctype"];
    let mut open: Vec<String> = Vec::new();
    let mut all = Vec::new();
    for tag in tags(page) {
        let name = tag.trim_start_matches('/').split([' ', '/']).next().unwrap_or_default();
        if tag.starts_with('/') {
            assert_eq!(open.pop().as_deref(), Some(name), "closed by </{name}>");
        } else if !VOID.contains(&name) && !tag.ends_with('/') {
            open.push(name.to_owned());
        }
        all.push(name.to_owned());
    }
    assert!(open.is_empty(), "{open:?} stay open");
    all
}

/// Asserts that the page loads nothing and runs no script.
pub(super) fn assert_inert(page: &str) {
    let elements = elements(page);
    for name in ["script", "link", "img", "iframe", "object", "base", "form", "use", "image"] {
        assert!(!elements.iter().any(|element| element == name), "{name}");
    }
    assert!(page.contains("content=\"default-src 'none'; style-src 'unsafe-inline'"), "{page}");
    for tag in tags(page) {
        let outside = tag.replace("http://www.w3.org/2000/svg", "");
        for forbidden in ["://", " src=", " on", "javascript:", "url("] {
            assert!(!outside.contains(forbidden), "{forbidden} in <{tag}>");
        }
    }
    let style = page.split("<style>").nth(1).unwrap().split("</style>").next().unwrap();
    assert!(!style.contains("url(") && !style.contains("@import"), "{style}");
}

#[test]
fn a_first_bad_commit_in_a_browser() {
    let mut hunt = with_culprit();
    line(&hunt, "cfde");
    hunt.search(Search::default());
    let page = page(&hunt);
    assert_inert(&page);
    for said in [
        "<html lang=\"en\">",
        "<h1><bdi>First bad commit: dddddddddd kv: pad the cache</bdi></h1>",
        "Ada Example &#60;ada@example.org&#62;",
        "own step 0.31 worse, tolerance 0.05",
        "<b>ppl</b> may rise by at most 0.05",
        "every run repeated bit for bit",
        "<a href=\"#reproduce\">",
        "ppl got 0.33 worse from good to bad: 0.31 explained, 0.02 left (tolerance 0.05)",
        "does not build (exit code 2)",
        "<h2>How the range narrowed</h2>",
        "<p>Nothing of what was recorded.</p>",
        "/slots/0/build/ppl --text &#39;a b.txt&#39;",
        "cc 14.2",
    ] {
        assert!(page.contains(said), "no {said} in {page}");
    }
    assert_eq!(
        log_of(&page, "<bdi>7.52</bdi>").1,
        "# command: x\n1&#62; printed into logs/ppl-a11.log\n"
    );
    assert!(!page.contains("log missing") && !page.contains("culprit"), "{page}");
}

#[test]
fn headings_are_in_order_and_drawings_have_words() {
    let page = page(&with_culprit());
    let levels: Vec<u8> =
        elements(&page).iter().filter_map(|name| name.strip_prefix('h')?.parse().ok()).collect();
    assert_eq!(page.matches("<h1>").count(), 1);
    assert!(levels.windows(2).all(|pair| pair[1] <= pair[0] + 1), "{levels:?}");
    let drawings = page.matches("<svg class=").count();
    assert!(drawings > 0);
    assert_eq!(page.matches("role=\"img\"").count(), drawings);
    assert_eq!(page.matches("<desc>").count(), drawings);
    assert_eq!(page.matches("<th>").count(), 0, "every head of a table says of what");
}

#[test]
fn what_differs_between_the_two_besides_the_source_is_said() {
    let mut hunt = with_culprit();
    let mut run = hunt.run('d', Phase::Confirm, Some(7.52));
    run.argv.push("--flash".to_owned());
    run.attempt = "other".to_owned();
    hunt.append(Event::Run(run));
    let page = page(&hunt);
    assert!(page.contains("Not the same: the command of ppl."), "{page}");
    assert!(page.contains("--flash"));
    assert!(page.contains("The same for both: the build commands, the machine"), "{page}");
}

#[test]
fn a_log_that_is_gone_is_said_and_not_linked_to() {
    let hunt = with_culprit();
    page(&hunt);
    std::fs::remove_file(hunt.dir.path().join("logs/ppl-a11.log")).unwrap();
    let report = Report::of(&hunt.dir).unwrap();
    let page = html(&report, &Logs::beside(&report));
    assert!(!page.contains("logs/ppl-a11.log"));
    assert!(page.contains("<bdi>7.52</bdi> <span class=\"note\">(log missing)</span>"), "{page}");
    assert!(page.contains("1 log is not among its files any more."));
}

fn gradual() -> Hunt {
    let mut hunt = Hunt::at_search();
    let mut finding = Finding::plain(Outcome::Gradual, "Many small steps cross the limit.");
    finding.candidates = vec![id('d')];
    let from = id('b');
    let (to, metric) = (id('d'), Metric::of("ppl"));
    finding.contributions = vec![Contribution { from, to, commits: 4, rise: 0.1, metric }];
    hunt.end(finding);
    hunt
}

fn plain(outcome: Outcome, summary: &str) -> Hunt {
    let mut hunt = Hunt::begun("v1", "engine: release");
    hunt.run('b', Phase::Endpoint, None);
    hunt.end(Finding::plain(outcome, summary));
    hunt
}

fn crash() -> Hunt {
    let mut hunt = Hunt::begun("v1", "engine: release");
    hunt.run('b', Phase::Endpoint, Some(7.21));
    hunt.run('e', Phase::Endpoint, None);
    let failure = Failure::of_old(FailureKind::Crash, "signal 11", "");
    let target =
        Target::Failure { measure: Some("ppl".to_owned()), failure: failure.clone(), checks: None };
    let steadiness = SearchMethod::BitIdentical;
    hunt.append(Event::Targets { targets: vec![target], steadiness, others: Vec::new() });
    let mut first = culprit("kv: pad the cache", "src/kv.c");
    first.effects.clear();
    first.failure = Some(failure);
    hunt.end(found(first));
    hunt
}

#[test]
fn a_failure_is_told_of_the_commit_that_makes_it() {
    let mut hunt = crash();
    let mut finding = found(culprit("kv: pad the cache", "src/kv.c"));
    let mut maker = finding.culprits[0].clone();
    maker.info.commit = id('c');
    maker.failure = Some(Failure::of_old(FailureKind::Crash, "signal 11", ""));
    finding.culprits.push(maker);
    hunt.end(finding);
    let told = terminal_answer(&hunt.report());
    for said in [
        "looked for a failure too: ppl crashes (signal 11); cccccccccc brings this failure\n",
        "0.31 worse (tolerance 0.05); fails where its parents do not: crashes (signal 11)\n",
    ] {
        assert!(told.contains(said), "no {said} in {told}");
    }
    assert!(told.starts_with("First bad commit: d"), "{told}");
}

#[test]
fn every_way_a_hunt_can_end_has_its_page() {
    let mut several = with_culprit();
    let mut finding = found(culprit("kv: pad the cache", "src/kv_cache.c"));
    let mut other = finding.culprits[0].clone();
    other.info.commit = id('c');
    finding.culprits.push(other);
    several.end(finding);
    for (hunt, said) in [
        (several, "Another first bad commit: cccccccccc"),
        (candidates(), "The first bad commit is one of 2"),
        (gradual(), "no single commit is to blame"),
        (plain(Outcome::NoRegression, "Keeps all."), "No regression between the endpoints"),
        (plain(Outcome::NoiseTooLarge, "Overlap."), "The noise is too large to search"),
        (
            plain(Outcome::EndpointUnmeasurable, "Crash."),
            "No search is possible between the endpoints",
        ),
        (
            crash(),
            "This hunt looked for a failure, not a change of the metric: ppl crashes (signal 11)",
        ),
        (Hunt::at_search(), "Interrupted, no answer yet"),
        (Hunt::begun("v1", "x"), "as it stood"),
    ] {
        let page = page(&hunt);
        assert_inert(&page);
        assert!(page.contains(said), "no {said} in {page}");
    }
}

#[test]
fn a_hunt_that_runs_is_not_to_be_resumed() {
    let hunt = Hunt::at_search();
    assert!(hunt.report().summary.contains("`bisect-ppl resume`"));
    let running = hunt.report_while_running();
    assert_eq!(running.summary, "The hunt is running.");
    let page = html(&running, &Logs::beside(&running));
    assert!(page.contains("Still running, no answer yet"), "{page}");
    assert!(!page.contains("href=\"reproduce.sh\""), "it is not written yet");
}

#[test]
fn an_interrupted_hunt_is_told_in_order_of_history() {
    let mut hunt = Hunt::at_search();
    line(&hunt, "cdfe");
    for commit in ['f', 'c'] {
        hunt.run(commit, Phase::Search, Some(7.21));
        hunt.judge(commit, Verdict::Good, Phase::Search);
    }
    let order: Vec<_> = hunt.report().commits.iter().map(|c| c.commit.clone()).collect();
    assert_eq!(order, ['b', 'c', 'f', 'e'].map(id));
}

#[test]
fn failed_runs_and_extreme_values_are_drawn_off_the_scale() {
    let mut hunt = Hunt::at_search();
    hunt.run('d', Phase::Search, Some(f64::NAN));
    hunt.run('c', Phase::Search, Some(1e300));
    hunt.run('f', Phase::Search, None);
    let page = page(&hunt);
    let drawing = page.split("<svg class=\"wide\"").nth(1).unwrap();
    for word in ["nan\n", "1e300\n", "crashes (signal 11)\n"] {
        assert!(drawing.contains(word), "no {word} in {drawing}");
    }
}

#[test]
fn hostile_words_are_words() {
    let subject = "</title><script>alert(1)</script>\u{1b}[2J\u{202e}<img src=x onerror=x>\" '";
    let mut hunt = Hunt::at_search();
    hunt.run('d', Phase::Confirm, Some(7.52));
    hunt.append(Event::Note { text: subject.to_owned() });
    hunt.end(found(culprit(subject, "\u{fffd}<d>\n.c")));
    let page = page(&hunt);
    assert_inert(&page);
    let heading = "<h1><bdi>First bad commit: dddddddddd &#60;/title&#62;&#60;script&#62;alert(1)";
    assert!(page.contains(heading), "{page}");
    assert!(!page.contains('\u{1b}') && !page.contains('\u{202e}'));
}

#[test]
fn a_large_hunt_stays_readable() {
    let mut hunt = Hunt::at_search();
    let names: Vec<_> = (0..400).map(|n| format!("{n:040x}").parse().unwrap()).collect();
    let history =
        names.iter().map(|name| Lineage { commit: Clone::clone(name), parents: Vec::new() });
    hunt.dir.keep_history(&history.collect::<Vec<_>>()).unwrap();
    let run = hunt.run('d', Phase::Search, Some(7.3));
    let mut journal = hunt.dir.journal().unwrap();
    for (number, name) in (0..).zip(&names) {
        for sample in 0..5 {
            let mut run = run.clone();
            run.commit = Clone::clone(name);
            run.attempt = format!("{number}-{sample}");
            run.log = format!("logs/{number}-{sample}.log");
            let ppl = 7.2 + f64::from(number % 7) / 100.0 + f64::from(sample) / 1000.0;
            run.values.insert(Metric::of("ppl"), crate::evaluation::Value::Number(ppl));
            journal.append(Event::Run(run)).unwrap();
        }
    }
    let page = page(&hunt);
    assert!(page.len() < 2 << 20, "{} bytes for 2000 runs", page.len());
    let drawing = page.split("<svg class=\"wide\"").nth(1).unwrap().split("</svg>").next().unwrap();
    assert!(drawing.matches("<text").count() < 60, "labels are thinned");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn no_subject_path_or_reason_makes_an_element(words in any::<String>()) {
        let with = |words: &str| {
            let mut hunt = Hunt::begun("v1", words);
            hunt.unbuildable('f', "x");
            hunt.judge_as('f', Verdict::Skip, Phase::Search, 0, words, Some(SkipReason::Build));
            hunt.targets();
            hunt.append(Event::Note { text: words.to_owned() });
            hunt.end(found(culprit(words, words)));
            elements(&page(&hunt))
        };
        prop_assert_eq!(with(&words), with("plain"));
    }
}

/// Relative luminance and contrast as WCAG 2.2 defines them.
fn contrast(a: &str, b: &str) -> f64 {
    let luminance = |hex: &str| {
        let digits = hex.trim_start_matches('#');
        let digits: String = if digits.len() == 3 {
            digits.chars().flat_map(|c| [c, c]).collect()
        } else {
            digits.to_owned()
        };
        let channel = |at: usize| {
            let c = f64::from(u8::from_str_radix(&digits[at..at + 2], 16).unwrap()) / 255.0;
            if c <= 0.040_45 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * channel(0) + 0.7152 * channel(2) + 0.0722 * channel(4)
    };
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

#[test]
fn text_and_marks_can_be_read_in_light_dark_and_print() {
    let css = include_str!("../../../templates/report.css");
    let mut light = String::new();
    for (colour, name) in crate::report::plot::KEYS {
        let _ = write!(light, "--{name}: #{:02x}{:02x}{:02x}; ", colour.0, colour.1, colour.2);
    }
    let blocks: Vec<&str> =
        css.split(":root {").skip(1).map(|block| block.split('}').next().unwrap()).collect();
    let [common, dark, print] = blocks.as_slice() else { panic!("{} schemes", blocks.len()) };
    for scheme in [format!("{light}{common}"), (*dark).to_owned(), (*print).to_owned()] {
        let of = |name: &str| {
            let after = scheme.split(&format!("--{name}:")).nth(1);
            let value = after.unwrap_or_else(|| panic!("no --{name} in {scheme}"));
            value.split(';').next().unwrap().trim().to_owned()
        };
        for text in ["ink", "muted", "link", "good", "bad", "skip", "added", "removed"] {
            for ground in ["page", "panel"] {
                let ratio = contrast(&of(text), &of(ground));
                assert!(ratio >= 4.5, "{text} on {ground}: {ratio:.2} in {scheme}");
            }
        }
        for mark in ["good", "bad", "skip"] {
            for ground in ["band", "marked"] {
                let ratio = contrast(&of(mark), &of(ground));
                assert!(ratio >= 3.0, "{mark} on {ground}: {ratio:.2} in {scheme}");
            }
        }
    }
}
