//! Tests of the report for an issue tracker.

use crate::evaluation::{
    Difference, DifferenceIn, Differences, Finding, Outcome, Phase, SkipReason, Verdict,
};
use crate::report::issue;
use crate::report::model::{CandidateLine, Change};

use super::fixture::{Hunt, culprit, found, id, over_text};
use super::{candidates, with_culprit};

#[test]
fn a_first_bad_commit_for_an_issue() {
    let words = issue(&with_culprit().report()).replace('\u{2060}', "{joiner}");
    insta::assert_snapshot!(words, @r"
    ### First bad commit: `dddddddddd` kv: pad the cache

    - Commit: `dddddddddddddddddddddddddddddddddddddddd` by Ada Example &lt;ada@{joiner}example.org&gt;, 2026-01-02T03:04:05Z
    - Parent: `cccccccccccccccccccccccccccccccccccccccc`
    - Own step: ppl: 7.21 → 7.52, +4.3 %, 0.31 worse (tolerance 0.05)
    - Tolerance: ppl may rise by at most 0.05
    - Confidence: 100 %: every run repeated bit for bit; 0.00 % chance of that by luck
    - Files: src/kv_cache.c +3 -1
    - Account: ppl got 0.33 worse from good to bad: 0.31 explained, 0.02 left (tolerance 0.05)
    - Range: v1.0 (`bbbbbbbbbb`) to HEAD (`eeeeeeeeee`), 12 commits, 4 measured
    - Skipped: `ffffffffff` (does not build)
    - Machine: Example CPU (2 cores), no GPU, 4096 MiB, Linux 6.1
    - Measured by: bisect-ppl 0.1.0, hunt 20260102-030405

    To reproduce, in a clone:

    ```text
    git worktree add --detach ../bad/src dddddddddddddddddddddddddddddddddddddddd && mkdir ../bad/build && cd ../bad/src
    # and the same with cccccccccccccccccccccccccccccccccccccccc in ../good
    make -C /slots/0/src
    /slots/0/build/ppl --text 'a b.txt'
    ```
    ");
}

#[test]
fn candidates_for_an_issue() {
    let words = issue(&candidates().report());
    assert!(words.starts_with("### The first bad commit is one of 2\n"), "{words}");
    assert!(words.contains("- Candidates: `dddddddddd`; `ffffffffff`\n"), "{words}");
    assert!(
        words.contains("- ppl: 7.21 at the good end, 7.54 (+4.6 %) at the bad end\n"),
        "{words}"
    );
}

/// A hunt with as much of everything as possible.
fn crowded(words: &str) -> Hunt {
    let mut hunt = Hunt::begun(words, words);
    hunt.build('b', Phase::Endpoint);
    let run = hunt.run('d', Phase::Confirm, Some(7.52));
    for number in 0..30 {
        let mut run = run.clone();
        run.attempt = number.to_string();
        run.measure = format!("m{number}");
        run.argv.push(words.to_owned());
        hunt.append(crate::store::journal::Event::Run(run));
    }
    for letter in ['1', '2', '3', '4', '5', '6', '7', '8'] {
        hunt.judge_as(letter, Verdict::Skip, Phase::Search, 0, words, Some(SkipReason::Build));
    }
    hunt.targets();
    hunt
}

fn full(words: &str) -> Finding {
    let mut first = culprit(words, words);
    first.files = vec![first.files[0].clone(); 30];
    first.effects[0].over_text = Some(over_text());
    first.effects = vec![first.effects[0].clone(); 40];
    first.confirmed_before = Some((words.to_owned(), words.to_owned()));
    let sides = [Some(words), Some(words)];
    let one = Difference::named(DifferenceIn::Constant, words, sides).in_place(words);
    first.differences = Some(Differences::new(vec![one; 40], vec![DifferenceIn::Constant]));
    let mut finding = found(first.clone());
    finding.accounts = vec![finding.accounts[0].clone(); 40];
    finding.culprits.extend((0..40).map(|_| {
        let mut other = first.clone();
        other.info.commit = id('c');
        other
    }));
    finding.candidates = vec![id('c'); 400];
    finding.summary = words.to_owned();
    finding.notes = vec![words.to_owned(); 50];
    finding
}

#[test]
fn forty_lines_hold_any_hunt() {
    let words = "many\nlines\n\nof\r\nwords ".repeat(30);
    for outcome in [Outcome::Culprit, Outcome::Candidates, Outcome::Gradual] {
        let mut hunt = crowded(&words);
        let mut finding = full(&words);
        if outcome != Outcome::Culprit {
            finding.main = None;
        }
        finding.outcome = outcome;
        hunt.end(finding);
        let mut report = hunt.report();
        if outcome == Outcome::Candidates {
            let left_out = culprit(&words, &words).files;
            let change = Change { files: Vec::new(), left_out };
            let line = CandidateLine { info: culprit(&words, "").info, change };
            report.candidate_changes = vec![line; 3];
        }
        let words = issue(&report);
        assert!(words.lines().count() <= 40, "{} lines:\n{words}", words.lines().count());
        assert!(words.lines().all(|line| line.chars().count() < 2000), "{words}");
        assert!(words.contains("To reproduce"), "{words}");
    }
}

#[test]
fn hostile_words_ping_nobody_and_link_nowhere() {
    let hostile = "fixes #12 @octocat ![x](http://evil/x) <img src=x> GH-7 www.evil.com ``` `a`";
    let mut hunt = crowded(hostile);
    hunt.end(full(hostile));
    let words = issue(&hunt.report());
    let (text, block) = words.split_once("To reproduce").unwrap();
    for bad in ["#12", "@octocat", "](http", "<img", "GH-7", "http://", "www.evil", "@ada"] {
        assert!(!text.contains(bad), "{bad} in {text}");
    }
    let fence = block.lines().find(|line| line.starts_with("```")).unwrap();
    let ticks = fence.trim_end_matches("text");
    assert_eq!(block.matches(ticks).count(), 2, "the block ends where we end it: {block}");
}
