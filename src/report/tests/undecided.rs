//! Reports of a hunt with confirmed steps and many candidates.

use crate::evaluation::{Finding, Metric, OpenStep, Outcome, Phase, SkipReason, Verdict};
use crate::report::{Logs, html, issue, json, terminal_answer};

use super::fixture::{Hunt, id};
use super::markdown;

/// `d` made `ppl` worse, and at `8` it is better again. Ten other candidates were not measured.
fn undecided() -> Hunt {
    let mut hunt = Hunt::at_search();
    hunt.run('d', Phase::Confirm, Some(7.52));
    hunt.judge('d', Verdict::Bad, Phase::Confirm);
    hunt.run('8', Phase::Search, Some(7.5));
    let step = |letter, change, is_confirmed| OpenStep {
        commit: id(letter),
        metric: Some(Metric::of("ppl")),
        change: Some(change),
        is_confirmed,
    };
    let mut finding = Finding::plain(Outcome::Candidates, "A part of the step may be left.");
    finding.candidates = "d0123456789a".chars().map(id).collect();
    finding.open_steps = vec![step('d', 0.31, true), step('8', -0.02, false)];
    hunt.end(finding);
    hunt
}

#[test]
fn an_undecided_answer_begins_with_what_was_measured() {
    insta::assert_snapshot!(terminal_answer(&undecided().report()), @r"
    Undecided: the confirmed step, or one of 11 other commits
    A part of the step may be left.
    Confirmed steps that may explain the bad end:
      dddddddddddddddddddddddddddddddddddddddd kv: pad the cache  ppl 0.31 worse
    Improvements, at this commit or shortly before it:
      8888888888888888888888888888888888888888  ppl 0.02 better
    Other candidates:
      8888888888888888888888888888888888888888
    10 other commits from 0000000000 to aaaaaaaaaa were not measured; none of them is excluded
    Next: `git show dddddddddd` shows the first; `bisect-ppl measure dddddddddd` measures it
    report: /home/ada/engine/.git/bisect-ppl/hunts/20260102-030405/report.html (report.md, report.json and reproduce.sh are beside it)
    ");
}

#[test]
fn all_formats_count_the_candidates_that_were_not_measured() {
    let report = undecided().report();
    let counted = "10 other commits from 0000000000 to aaaaaaaaaa were not measured";
    let logs = Logs::beside(&report);
    for page in [markdown(&report), html(&report, &logs), issue(&report)] {
        assert!(page.contains(counted), "{page}");
        assert!(page.contains("Confirmed steps that may explain the bad end"), "{page}");
        assert!(!page.contains(&"3".repeat(10)), "{page}");
    }
    let row = format!("| {} | kv: pad the cache | ppl 0.31 worse | confirmed |", id('d'));
    assert!(markdown(&report).contains(&row));
    // A program reads all of them.
    let parsed: serde_json::Value = serde_json::from_str(&json(&report)).unwrap();
    assert_eq!(parsed["candidates"].as_array().unwrap().len(), 12);
    assert_eq!(parsed["open_steps"][1]["change"], -0.02);
}

#[test]
fn candidates_that_print_their_value_elsewhere_are_told_with_advice() {
    let mut hunt = Hunt::at_search();
    let reason =
        "ppl comes from another place of the output: `ref VALUE`, but `VALUE` at both ends";
    for commit in ['c', 'd'] {
        let skip = Some(SkipReason::OtherForm);
        hunt.judge_as(commit, Verdict::Skip, Phase::Search, 0, reason, skip);
    }
    let mut finding = Finding::plain(Outcome::Candidates, "Two commits are left.");
    finding.candidates = "cd".chars().map(id).collect();
    hunt.end(finding);
    let report = hunt.report();
    let told = terminal_answer(&report);
    assert!(told.contains("2 commits from "), "{told}");
    assert!(told.contains(&format!(" were not compared, since there {reason}\n")), "{told}");
    assert!(told.contains("Next: let the `pattern` in oracle.toml match one line only"), "{told}");
    let logs = Logs::beside(&report);
    for page in [markdown(&report), html(&report, &logs), issue(&report)] {
        assert!(page.contains("were not compared, since there ppl comes from another"), "{page}");
    }
}

#[test]
fn lines_for_the_file_are_shown_whole_and_as_they_are() {
    let mut hunt = Hunt::at_search();
    let mut finding = Finding::plain(Outcome::Candidates, "The ruler changed.");
    finding.candidates = "cd".chars().map(id).collect();
    let paths = format!("paths = [\"{}_*.txt\"]", "a_long_folder/".repeat(40));
    finding.next = vec![format!("add the lines below\n[[overlay]]\n{paths}")];
    hunt.end(finding);
    let report = hunt.report();
    let told = terminal_answer(&report);
    let block = format!("\nNext: add the lines below\n  [[overlay]]\n  {paths}\nNext: ");
    assert!(told.contains(&block), "{told}");
    let text = markdown(&report);
    let block = format!("- add the lines below\n\n```toml\n[[overlay]]\n{paths}\n```\n");
    assert!(text.contains(&block), "{text}");
    let page = html(&report, &Logs::beside(&report));
    assert!(page.contains("<li>add the lines below<pre><code>[[overlay]]\npaths = ["), "{page}");
}
