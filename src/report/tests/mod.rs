//! Tests of all report formats, for each outcome of a hunt.

mod change;
mod document;
pub(crate) mod fixture;
mod html;
mod issue;
mod logs;
mod marks;
mod noise;
mod over_text;
mod page;
mod places;
mod short;
mod tolerance;
mod undecided;

use proptest::prelude::*;

use crate::evaluation::{
    Contribution, Ended, Evidence, Failure, FailureKind, Finding, Metric, Outcome, Phase,
    SkipReason, Verdict,
};
use crate::store::RecordedFault;
use crate::store::journal::Event;

use self::fixture::{Hunt, culprit, found, id};
use super::{Format, Logs, Report, json, terminal_answer, words, write_all};

/// The report as Markdown, in the hunt's folder.
pub(crate) fn markdown(report: &Report) -> String {
    super::markdown(report, &Logs::beside(report))
}

pub(crate) fn with_culprit() -> Hunt {
    let mut hunt = Hunt::at_search();
    hunt.unbuildable('f', "make: *** [ppl] Error 1");
    hunt.judge('f', Verdict::Skip, Phase::Search);
    for (commit, level) in [('c', 7.21), ('d', 7.52)] {
        hunt.build(commit, Phase::Confirm);
        hunt.run(commit, Phase::Confirm, Some(level));
    }
    hunt.judge('d', Verdict::Bad, Phase::Confirm);
    hunt.judge('c', Verdict::Good, Phase::Confirm);
    hunt.end(found(culprit("kv: pad the cache", "src/kv_cache.c")));
    hunt
}

#[test]
fn a_first_bad_commit_on_the_terminal() {
    insta::assert_snapshot!(terminal_answer(&with_culprit().report()), @r"
    First bad commit: dddddddddddddddddddddddddddddddddddddddd kv: pad the cache
    Author: Ada Example <ada@example.org>  Date: 2026-01-02T03:04:05Z
    ppl: 7.21 → 7.52, +4.3 %, 0.31 worse (tolerance 0.05)
    Confidence 100 %: every run repeated bit for bit; 0.00 % chance of that by luck
    ppl got 0.33 worse from good to bad: 0.31 explained, 0.02 left (tolerance 0.05)
    Files it touches:
      src/kv_cache.c  +3 -1
    Next: `bisect-ppl report 20260102-030405 --diff` shows the change; `bisect-ppl report 20260102-030405 --format issue` writes the issue
    report: /home/ada/engine/.git/bisect-ppl/hunts/20260102-030405/report.html (report.md, report.json and reproduce.sh are beside it)
    ");
}

#[test]
fn a_step_that_two_commits_make_is_not_gained_back() {
    let mut hunt = with_culprit();
    let mut finding = found(culprit("kv: pad the cache", "src/kv_cache.c"));
    let account = &mut finding.accounts[0];
    (account.total, account.explained, account.rest) = (0.5, 1.0, -0.5);
    account.overlap = Some(0.5);
    hunt.end(finding);
    let told = terminal_answer(&hunt.report());
    let said = "ppl got 0.5 worse from good to bad: all of it is explained; the steps of two commits \
                overlap: either of them is enough\n";
    assert!(told.contains(said), "{told}");
}

#[test]
fn one_change_on_two_branches_is_not_gained_back() {
    let mut hunt = with_culprit();
    let mut finding = found(culprit("kv: pad the cache", "src/kv_cache.c"));
    let mut other = finding.culprits[0].clone();
    other.info.commit = id('a');
    let step = other.effects[0].own_step.unwrap();
    finding.culprits.push(other);
    let account = &mut finding.accounts[0];
    (account.total, account.explained, account.rest) = (step, 2.0 * step, -step);
    hunt.end(finding);
    let told = terminal_answer(&hunt.report());
    let said = "all of it is explained; both commits make the same step in the same file, and the \
                bad end has it once\n";
    assert!(told.contains(said), "{told}");
}

#[test]
fn a_change_that_landed_again_says_that_it_was_undone() {
    let mut hunt = with_culprit();
    let mut finding = found(culprit("kv: pad the cache", "src/kv_cache.c"));
    let mut earlier = finding.culprits[0].clone();
    (earlier.info.commit, earlier.undone_by) = (id('a'), Some(id('c')));
    finding.culprits.push(earlier);
    hunt.end(finding);
    let report = hunt.report();
    let undone = "by cccccccccc at the latest, and applied again later";
    for (told, said) in [
        (terminal_answer(&report), format!("\n  Undone: {undone}\n")),
        (markdown(&report), format!("\n- Undone: {undone}\n")),
        (super::issue(&report), format!("(undone {undone})")),
    ] {
        assert_eq!(told.matches(&said).count(), 1, "no {said} in {told}");
    }
}

#[test]
fn the_terminal_says_how_sure_each_first_bad_commit_is() {
    let mut hunt = with_culprit();
    let mut finding = found(culprit("kv: pad the cache", "src/kv_cache.c"));
    let mut untested = finding.culprits[0].clone();
    untested.info.commit = id('a');
    (untested.confidence, untested.doubts.unmeasured_after) = (0.98, Some(3));
    finding.culprits.push(untested);
    hunt.end(finding);
    let told = terminal_answer(&hunt.report());
    let also = told.find("Also a first bad commit").unwrap();
    assert!(told[also..].contains("\n  Confidence at most 98 %\n"), "{told}");
}

#[test]
fn a_doubt_for_lack_of_a_test_names_the_option_that_left_it_out() {
    let mut hunt = with_culprit();
    let mut finding = found(culprit("kv: pad the cache", "src/kv_cache.c"));
    let first = &mut finding.culprits[0];
    (first.confidence, first.doubts.unmeasured_after) = (0.98, Some(3));
    hunt.end(finding);
    let told = terminal_answer(&hunt.report());
    let said = "Confidence at most 98 %: every run repeated bit for bit, but --no-localize left \
                out the test whether the bad end needs it. 3 later commits without a verdict may \
                have undone it and made the same change again\n";
    assert!(told.contains(said), "{told}");
}

#[test]
fn a_step_of_the_last_digit_is_no_matter_of_luck() {
    let mut hunt = with_culprit();
    let mut finding = found(culprit("kv: pad the cache", "src/kv_cache.c"));
    let first = &mut finding.culprits[0];
    (first.confidence, first.doubts.last_digit) =
        (0.98, first.effects.first().map(|it| it.metric.clone()));
    hunt.end(finding);
    let told = terminal_answer(&hunt.report());
    let said = "Confidence at most 98 %: every run repeated bit for bit, but the step is one unit \
                of the last printed digit of ppl: earlier commits may have made most of it\n";
    assert!(told.contains(said), "{told}");
}

#[test]
fn the_terminal_counts_the_first_bad_commits_that_it_does_not_show() {
    let mut hunt = with_culprit();
    let mut finding = found(culprit("kv: pad the cache", "src/kv_cache.c"));
    for other in ['a', 'c', 'e'] {
        let mut culprit = finding.culprits[0].clone();
        culprit.info.commit = id(other);
        finding.culprits.push(culprit);
    }
    hunt.end(finding);
    let told = terminal_answer(&hunt.report());
    assert_eq!(told.matches("Also a first bad commit").count(), 2, "{told}");
    assert!(told.contains("\n… and 1 more first bad commit in the report\n"), "{told}");
}

pub(crate) fn candidates() -> Hunt {
    let mut hunt = Hunt::at_search();
    hunt.run('f', Phase::Search, None);
    hunt.judge_as(
        'f',
        Verdict::Skip,
        Phase::Search,
        0,
        "crashes (signal 11)",
        Some(SkipReason::Crash),
    );
    let mut finding = Finding::plain(Outcome::Candidates, "Two commits cannot be told apart.");
    finding.candidates = vec![id('d'), id('f')];
    hunt.end(finding);
    hunt
}

#[test]
fn candidates_on_the_terminal() {
    insta::assert_snapshot!(terminal_answer(&candidates().report()), @r"
    The first bad commit is one of 2
    Two commits cannot be told apart.
    Candidates:
      dddddddddddddddddddddddddddddddddddddddd
      ffffffffffffffffffffffffffffffffffffffff
    Next: `git show dddddddddd` shows the first; `bisect-ppl measure dddddddddd` measures it
    report: /home/ada/engine/.git/bisect-ppl/hunts/20260102-030405/report.html (report.md, report.json and reproduce.sh are beside it)
    ");
}

#[test]
fn a_gradual_rise() {
    let mut hunt = Hunt::at_search();
    let mut finding = Finding::plain(Outcome::Gradual, "Many small steps cross the limit.");
    finding.candidates = vec![id('d')];
    finding.contributions = vec![Contribution {
        from: id('b'),
        to: id('d'),
        commits: 4,
        rise: 0.1,
        metric: Metric::of("ppl"),
    }];
    hunt.end(finding);
    let report = hunt.report();
    assert!(report.culprit.is_none());
    insta::assert_snapshot!(terminal_answer(&report), @r"
    No single commit: small steps add up
    Many small steps cross the limit.
    The threshold is crossed at:
      dddddddddddddddddddddddddddddddddddddddd
    Contributions:
      bbbbbbbbbb..dddddddddd (4 commits)  ppl 0.1 worse
    Next: `git show dddddddddd` shows the first; `bisect-ppl measure dddddddddd` measures it
    report: /home/ada/engine/.git/bisect-ppl/hunts/20260102-030405/report.html (report.md, report.json and reproduce.sh are beside it)
    ");
    let page = markdown(&report);
    assert!(page.contains("| bbbbbbbbbb..dddddddddd | 4 | ppl | 0.1 worse |"), "{page}");
}

#[test]
fn a_crash_is_said_once() {
    let failure =
        |ended, detail: &str| Failure::new(FailureKind::Crash, Evidence::of(&ended), detail);
    for (ended, detail, said) in [
        (
            Ended::Signaled(6),
            "ended with signal 6 (SIGABRT): no arena",
            "crashes with SIGABRT: no arena",
        ),
        (Ended::Signaled(11), "ended with signal 11 (SIGSEGV)", "crashes with SIGSEGV"),
        (Ended::Exited(2), "ended with exit code 2: no arena", "crashes (exit code 2): no arena"),
        (Ended::Signaled(64), "", "crashes (signal 64)"),
        (
            Ended::Signaled(11),
            "ended with signal 11 (SIGSEGV); its last line was `chunk 1`",
            "crashes with SIGSEGV; its last line was `chunk 1`",
        ),
    ] {
        assert_eq!(words::failure_text(&failure(ended, detail)), said);
    }
    let late = Failure::plain(FailureKind::Timeout, "timed out; its last line was `chunk 3`");
    assert_eq!(words::failure_text(&late), "times out; its last line was `chunk 3`");
    let detail = "`make -s`: exit code 2: a.c:1: error: no b";
    let unbuilt = Failure::new(FailureKind::Build, Evidence::of(&Ended::Exited(2)), detail);
    let said = "does not build (exit code 2): `make -s`: a.c:1: error: no b";
    assert_eq!(words::failure_text(&unbuilt), said);
    // A record of an older version has only a text.
    let old = Failure::of_old(FailureKind::Crash, "signal 6 (SIGABRT)", "no arena");
    assert_eq!(words::failure_text(&old), "crashes (signal 6 (SIGABRT)): no arena");
}

#[test]
fn an_answer_fits_on_a_screen_whatever_there_is_to_do_next() {
    let mut report = with_culprit().report();
    for count in [0, 11, 23, 24, 40] {
        report.next = vec!["look at it".to_owned(); count];
        let answer = terminal_answer(&report);
        assert!(answer.starts_with("First bad commit: "), "{count}: {answer}");
        assert!(answer.lines().count() <= 25, "{count}: {answer}");
        assert_eq!(answer.contains("and more in the report"), count > 11, "{count}: {answer}");
    }
}

#[test]
fn no_regression() {
    let mut hunt = Hunt::at_search();
    hunt.end(Finding::plain(Outcome::NoRegression, "The bad endpoint keeps every limit."));
    insta::assert_snapshot!(terminal_answer(&hunt.report()), @r"
    No regression between the endpoints
    The bad endpoint keeps every limit.
    report: /home/ada/engine/.git/bisect-ppl/hunts/20260102-030405/report.html (report.md, report.json and reproduce.sh are beside it)
    ");
    assert!(markdown(&hunt.report()).starts_with("# No regression between the endpoints\n"));
}

#[test]
fn a_hunt_without_an_end_is_interrupted() {
    let mut hunt = Hunt::at_search();
    hunt.judge('d', Verdict::Bad, Phase::Search);
    hunt.append(Event::Confirmed(Box::new(culprit("kv: pad the cache", "a.c"))));
    let fault = RecordedFault { reason: "Ctrl-C".to_owned(), ..RecordedFault::default() };
    hunt.append(Event::Stopped { world: false, fault });
    let report = hunt.report();
    assert_eq!(report.outcome, Outcome::Interrupted);
    assert!(report.culprit.is_none());
    assert_eq!(report.culprits.len(), 1);
    insta::assert_snapshot!(terminal_answer(&report), @r"
    Interrupted, no answer yet
    The hunt was stopped. About 3 more steps over 6 commits were left. `bisect-ppl resume` goes on with it.
    Confirmed first bad commits:
      dddddddddddddddddddddddddddddddddddddddd kv: pad the cache
    report: /home/ada/engine/.git/bisect-ppl/hunts/20260102-030405/report.html (report.md, report.json and reproduce.sh are beside it)
    ");
    hunt.append(Event::Contradicted { commit: id('d'), reason: "it vanished".to_owned() });
    let report = hunt.report();
    assert!(report.culprits.is_empty());
    assert_eq!(report.notes, ["dddddddddd: the claim did not hold: it vanished"]);
}

#[test]
fn a_hunt_that_never_began_has_no_report() {
    let folder = tempfile::tempdir().unwrap();
    let hunt = crate::store::Store::open_to_measure(folder.path()).unwrap().new_hunt().unwrap();
    assert!(matches!(Report::of(&hunt), Err(super::ReportError::NotBegun(_))));
}

#[test]
fn an_attempt_counts_once_and_what_was_reused_not_at_all() {
    let mut hunt = Hunt::at_search();
    let before = hunt.report();
    let run = hunt.run('d', Phase::Search, Some(7.52));
    hunt.append(Event::Resumed { limits: None, driver_since: None });
    let mut again = run.clone();
    again.reused = true;
    hunt.append(Event::Run(again.clone()));
    // Another commit with the same tree has the sample, but nothing ran.
    again.commit = id('f');
    hunt.append(Event::Run(again));
    let mut old = run;
    old.attempt = "from an earlier hunt".to_owned();
    old.reused = true;
    hunt.append(Event::Run(old));
    let report = hunt.report();
    assert_eq!(report.totals.runs, before.totals.runs + 1);
    assert!((report.totals.run_s - before.totals.run_s - 1.5).abs() < 1e-9);
    let of = |letter| report.commits.iter().find(|c| c.commit == id(letter)).unwrap();
    assert_eq!(of('d').samples.len(), 2 * 3);
    assert_eq!(of('d').samples.iter().filter(|s| s.reused).count(), 3);
    assert_eq!(of('f').samples.len(), 3);
}

#[test]
fn the_time_between_drivers_is_not_counted() {
    let mut hunt = Hunt::begun("v1", "x");
    hunt.append(Event::Note { text: "one".to_owned() });
    let fault = RecordedFault { reason: "night".to_owned(), ..RecordedFault::default() };
    hunt.append(Event::Stopped { world: false, fault });
    hunt.append(Event::Resumed { limits: None, driver_since: None });
    hunt.append(Event::Note { text: "two".to_owned() });
    // Ten seconds an event: 20 s, then 10 s.
    assert!((hunt.report().totals.wall_s - 30.0).abs() < 1e-9);
}

#[test]
fn a_later_baseline_does_not_turn_a_verdict() {
    let mut hunt = Hunt::at_search();
    hunt.judge('d', Verdict::Good, Phase::Search);
    hunt.judge('d', Verdict::Bad, Phase::Search);
    hunt.judge_as('d', Verdict::Good, Phase::Endpoint, 1, "its own level", None);
    let report = hunt.report();
    let commit = report.commits.iter().find(|c| c.commit == id('d')).unwrap();
    assert_eq!((commit.verdict, commit.reason.as_str()), (Verdict::Bad, "ppl breaks its limit"));
}

#[test]
fn nan_and_infinity_are_strings_in_json() {
    let mut hunt = Hunt::at_search();
    hunt.run('d', Phase::Search, Some(f64::NAN));
    hunt.run('d', Phase::Search, Some(f64::INFINITY));
    hunt.run('d', Phase::Search, None);
    let report = hunt.report();
    let text = json(&report);
    let parsed: serde_json::Value = serde_json::from_str(&text).unwrap();
    let commit = parsed["commits"].as_array().unwrap().last().unwrap();
    let ppl: Vec<_> = commit["samples"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|sample| sample["metric"] == "ppl")
        .map(|sample| sample["value"].clone())
        .collect();
    assert_eq!(ppl, ["nan".into(), "inf".into(), serde_json::Value::Null]);
    assert!(text.contains("crashes (signal 11)"));
    assert!(markdown(&report).contains("search [nan](logs/"));
    let back: Report = serde_json::from_str(&text).unwrap();
    assert_eq!(json(&back), text);
}

#[test]
fn hostile_words_change_nothing_but_words() {
    let subject = "<img src=x onerror=alert(1)> | [x](http://evil) `a` \u{1b}[2J\n# forged";
    let mut hunt = Hunt::at_search();
    hunt.run('d', Phase::Confirm, Some(7.52));
    hunt.end(found(culprit(subject, "a|b`c\n<d>.c")));
    let page = markdown(&hunt.report());
    assert!(!page.contains("<img") && !page.contains("](http") && !page.contains('\u{1b}'));
    assert!(page.lines().all(|line| line != "# forged"));
    assert!(page.contains("| a&#124;b\\`c &lt;d&gt;.c | +3 -1 |"), "{page}");
    let answer = terminal_answer(&hunt.report());
    assert!(!answer.contains('\u{1b}'));
    assert!(answer.lines().count() <= 25);
}

#[test]
fn an_answer_fits_on_a_screen() {
    let mut hunt = Hunt::at_search();
    let mut first = culprit("s", "f");
    first.files = vec![first.files[0].clone(); 100];
    first.effects = vec![first.effects[0].clone(); 9];
    let mut finding = found(first.clone());
    finding.culprits.extend((0..20).map(|_| {
        let mut other = first.clone();
        other.info.commit = id('c');
        other
    }));
    finding.candidates = vec![id('c'); 100];
    hunt.end(finding.clone());
    assert!(terminal_answer(&hunt.report()).lines().count() <= 25);
    finding.outcome = Outcome::Candidates;
    finding.main = None;
    finding.contributions = vec![
        Contribution {
            from: id('b'),
            to: id('d'),
            commits: 1,
            rise: 0.1,
            metric: Metric::of("ppl")
        };
        20
    ];
    hunt.end(finding);
    let answer = terminal_answer(&hunt.report());
    assert_eq!(answer.lines().count(), 25);
    assert!(answer.lines().last().unwrap().starts_with("report: "), "{answer}");
}

#[test]
fn all_reports_lie_in_the_hunts_folder() {
    use std::os::unix::fs::PermissionsExt;
    let hunt = with_culprit();
    let report = write_all(&hunt.dir, &Default::default()).unwrap();
    let read = |name: &str| std::fs::read_to_string(hunt.dir.path().join(name)).unwrap();
    assert_eq!(read("report.json"), Format::Json.render(&report, &hunt.dir.path().join("x")));
    assert_eq!(read("report.md"), Format::Md.render(&report, &hunt.dir.path().join("x")));
    assert!(read("reproduce.sh").starts_with("#!/bin/sh\n"));
    let script = std::fs::metadata(hunt.dir.path().join("reproduce.sh")).unwrap();
    assert_eq!(script.permissions().mode() & 0o777, 0o755);
    assert!(terminal_answer(&report).contains(hunt.dir.path().to_str().unwrap()));
}

/// The number of bars in each table row; all rows of a table must agree.
fn bars(page: &str) -> Vec<usize> {
    page.lines().filter(|l| l.starts_with('|')).map(|l| l.matches('|').count()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn no_subject_or_path_breaks_a_table(subject in any::<String>(), path in any::<String>()) {
        let page = |subject: &str, path: &str| {
            let mut hunt = Hunt::begun("v1", subject);
            hunt.unbuildable('f', path);
            hunt.judge_as('f', Verdict::Skip, Phase::Search, 0, path, Some(SkipReason::Build));
            hunt.targets();
            hunt.end(found(culprit(subject, path)));
            markdown(&hunt.report())
        };
        let (plain, hostile) = (page("s", "p"), page(&subject, &path));
        prop_assert_eq!(bars(&hostile), bars(&plain));
        prop_assert_eq!(hostile.lines().count(), plain.lines().count());
    }
}
