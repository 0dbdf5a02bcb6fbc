//! Tests of all report formats for a hunt whose runs vary.

mod drawings;
mod rates;

use crate::evaluation::{
    Basis, Culprit, Effect, Finding, Guard, GuardForm, GuardTarget, Lineage, Metric, Neighbours,
    Noise, NoiseKind, Outcome, Phase, Target, Value, Verdict,
};
use crate::report::tests::markdown;
use crate::report::{issue, json, terminal_answer};
use crate::store::journal::{CommitPosterior, Event, PosteriorSnapshot, SearchEnd, SearchMethod};

use super::fixture::{Hunt, Search, culprit, found, id};

const NOISE: Noise = Noise {
    kind: NoiseKind::Plain,
    good: 7.2104,
    bad: 7.5312,
    sd: 0.1071,
    runs: 6,
    paired: false,
    error: 0.001,
};

fn target(form: GuardForm, noise: Noise) -> GuardTarget {
    let (good, bad) = (Value::Number(7.2104), Value::Number(7.5312));
    let guard = Guard { metric: Metric::of("ppl"), form };
    GuardTarget {
        limit: 0.05,
        threshold: Some(7.3708),
        noise: Some(noise),
        ..GuardTarget::between(&guard, good, bad, None)
    }
}

/// A hunt with the history `b` (good), `c`, `d`, `f`, `e` (bad).
fn begun(targets: &GuardTarget, method: SearchMethod) -> Hunt {
    let mut hunt = Hunt::begun("v1.0", "engine: release");
    let mut parent = 'b';
    let history = "cdfe".chars().map(|letter| {
        let commit = id(letter);
        Lineage { commit, parents: vec![id(std::mem::replace(&mut parent, letter))] }
    });
    hunt.dir.keep_history(&history.collect::<Vec<_>>()).unwrap();
    for (commit, levels) in [('b', [7.1, 7.2, 7.25, 7.3]), ('e', [7.4, 7.5, 7.55, 7.6])] {
        hunt.build(commit, Phase::Endpoint);
        for level in levels {
            hunt.run(commit, Phase::Endpoint, Some(level));
        }
    }
    hunt.judge('b', Verdict::Good, Phase::Endpoint);
    hunt.judge('e', Verdict::Bad, Phase::Endpoint);
    let targets = vec![Target::Guard(targets.clone())];
    let others = Vec::new();
    hunt.append(Event::Targets { targets: targets.clone(), steadiness: method, others });
    search(&mut hunt, targets, method);
    hunt
}

fn search(hunt: &mut Hunt, targets: Vec<Target>, method: SearchMethod) {
    hunt.search(Search { targets, method: Some(method), ..Search::default() });
}

fn weighed(hunt: &mut Hunt, noise: Noise, commits: &[(char, f64, f64, usize)], set: &str) {
    let commits = commits.iter().map(|&(commit, first, bad, samples)| {
        let commit = id(commit);
        CommitPosterior { commit, first, bad, samples }
    });
    hunt.append(Event::Weighed(Box::new(PosteriorSnapshot {
        search_number: 0,
        metric: Metric::of("ppl"),
        noise,
        runs: 31,
        commits: commits.collect(),
        smallest_set: set.chars().map(id).collect(),
    })));
}

/// Ends the search with `d` and confirms `d`.
fn confirmed(hunt: &mut Hunt, culprit: Culprit) {
    let end = SearchEnd::FirstBad(id('d'));
    hunt.append(Event::SearchEnd { search_number: 0, end });
    for (commit, level) in [('c', 7.19), ('d', 7.52), ('d', 7.58), ('c', 7.26)] {
        hunt.run(commit, Phase::Confirm, Some(level));
    }
    hunt.judge('c', Verdict::Good, Phase::Confirm);
    hunt.judge('d', Verdict::Bad, Phase::Confirm);
    hunt.end(found(culprit));
}

fn first(basis: Basis) -> Culprit {
    let effect = Effect {
        runs: None,
        over_text: None,
        metric: Metric::of("ppl"),
        parent: Value::Number(7.225),
        commit: Value::Number(7.55),
        own_step: Some(0.325),
        interval: Some([0.1776, 0.4724]),
        limit: 0.05,
    };
    let plain = culprit("kv: pad the cache", "src/kv_cache.c");
    Culprit { confidence: 0.9969, basis, effects: vec![effect], ..plain }
}

pub(super) fn posterior() -> Hunt {
    let target = target(GuardForm::MaxIncrease(0.05), NOISE);
    let mut hunt = begun(&target, SearchMethod::Posterior);
    hunt.run('c', Phase::Search, Some(7.22));
    hunt.run('d', Phase::Search, Some(7.49));
    let all =
        [('c', 0.021, 0.021, 8), ('d', 0.968, 0.989, 9), ('f', 0.011, 1.0, 0), ('e', 0.0, 1.0, 6)];
    weighed(&mut hunt, NOISE, &all, "d");
    confirmed(&mut hunt, first(Basis::Posterior));
    hunt
}

#[test]
fn a_step_says_how_many_runs_gave_it() {
    let target = target(GuardForm::MaxIncrease(0.05), NOISE);
    let told = |runs: [usize; 2]| {
        let mut hunt = begun(&target, SearchMethod::Posterior);
        let mut culprit = first(Basis::Posterior);
        culprit.effects[0].runs = Some(runs);
        confirmed(&mut hunt, culprit);
        markdown(&hunt.report())
    };
    assert!(told([2, 2]).contains("0.33 worse from 2 runs of each (95 % interval"));
    assert!(told([2, 3]).contains("from 2 runs of the parent and 3 of the commit (95 %"));
}

#[test]
fn a_neighbour_without_a_verdict_says_why_it_was_measured() {
    let target = target(GuardForm::MaxIncrease(0.05), NOISE);
    let mut hunt = begun(&target, SearchMethod::Posterior);
    hunt.run('f', Phase::Search, Some(7.49));
    let (commit, subject, of) = (id('f'), "kv: rename".to_owned(), id('d'));
    hunt.append(Event::Neighbour { commit, subject, of, side: Neighbours::Later });
    confirmed(&mut hunt, first(Basis::Posterior));
    let report = hunt.report();
    let neighbour = report.commits.iter().find(|one| one.commit == id('f')).unwrap();
    assert_eq!(neighbour.subject.as_deref(), Some("kv: rename"));
    assert_eq!(neighbour.reason, "measured to see whether the step of dddddddddd lasts");
}

#[test]
fn a_rest_within_the_noise_is_no_other_commit() {
    let said = |explained: f64, error: f64| {
        let mut hunt = posterior();
        let mut finding = found(first(Basis::Posterior));
        let account = &mut finding.accounts[0];
        (account.explained, account.rest) = (explained, account.total - explained);
        account.error = Some(error);
        hunt.end(finding);
        let answer = terminal_answer(&hunt.report());
        let line = answer.lines().find_map(|line| line.strip_prefix("ppl got 0.33 worse "));
        line.expect("an account").to_owned()
    };
    assert_eq!(
        said(0.4, 0.05),
        "from good to bad: all of it is explained, within the noise (rest -0.07 ± 0.1)"
    );
    // Two standard errors reach beyond the tolerance.
    let beyond = |rest: &str, explained: &str| {
        format!(
            "from good to bad: {explained} explained; by these runs, what is left may be above the \
             tolerance of 0.05 (rest {rest})"
        )
    };
    assert_eq!(said(0.31, 0.025), beyond("0.02 ± 0.05", "0.31"));
    assert_eq!(said(0.35, 0.05), beyond("-0.02 ± 0.1", "0.35"));
    assert_eq!(
        said(0.36, 0.01),
        "from good to bad: all of it is explained (rest -0.03 ± 0.02, within the tolerance of 0.05)"
    );
    // Beyond the tolerance by two standard errors, and by more than three.
    assert_eq!(
        said(0.4, 0.01),
        "from good to bad: all of it is explained (rest -0.07 ± 0.02, not surely more than the \
         tolerance of 0.05)"
    );
    assert_eq!(
        said(0.42, 0.01),
        "from good to bad: all of it is explained; other commits gained back 0.09 ± 0.02"
    );
    assert_eq!(
        said(0.25, 0.025),
        "from good to bad: 0.25 explained, 0.08 ± 0.05 left (tolerance 0.05; not surely above it)"
    );
    assert_eq!(
        said(0.25, 0.01),
        "from good to bad: 0.25 explained, 0.08 ± 0.02 left (tolerance 0.05)"
    );
}

#[test]
fn a_first_bad_commit_that_a_search_in_noise_found_on_the_terminal() {
    insta::assert_snapshot!(terminal_answer(&posterior().report()), @r"
    First bad commit: dddddddddddddddddddddddddddddddddddddddd kv: pad the cache
    Author: Ada Example <ada@example.org>  Date: 2026-01-02T03:04:05Z
    ppl: 7.225 → 7.55, +4.5 %, 0.33 worse (95 % interval 0.18 to 0.47; tolerance 0.05)
    Confidence 99.69 %: fresh runs of it and of its parent favour a real change 320 : 1; the search had given it 96.8 % from its own runs
    6 runs of each endpoint put ppl at 7.21 at the good end and 7.53 at the bad end; run-to-run noise 0.11; good and bad are 3.0σ apart. The search weighed all 31 runs of 4 commits together until one commit, dddddddddd, held 96.8 % of the probability.
    ppl got 0.33 worse from good to bad: 0.31 explained, 0.02 left (tolerance 0.05)
    Files it touches:
      src/kv_cache.c  +3 -1
    Next: `bisect-ppl report 20260102-030405 --diff` shows the change; `bisect-ppl report 20260102-030405 --format issue` writes the issue
    report: /home/ada/engine/.git/bisect-ppl/hunts/20260102-030405/report.html (report.md, report.json and reproduce.sh are beside it)
    ");
}

#[test]
fn what_the_search_believed_in_markdown() {
    let page = markdown(&posterior().report());
    let (_, rest) = page.split_once("## How the search weighed the commits").unwrap();
    let (said, _) = rest.split_once("## Endpoints").unwrap();
    insta::assert_snapshot!(said, @r"


    6 runs of each endpoint put ppl at 7.21 at the good end and 7.53 at the bad end; run-to-run noise 0.11; good and bad are 3.0σ apart. The search weighed all 31 runs of 4 commits together until one commit, dddddddddd, held 96.8 % of the probability.

    | commit | the first bad one | bad | runs |
    | --- | --- | --- | --- |
    | dddddddddd kv: pad the cache | 96.8 % | 98.9 % | 9 |
    | cccccccccc | 2.1 % | 2.1 % | 8 |
    | ffffffffff | 1.1 % | 100 % | 0 |

    ");
    let table = "| ppl | 7.225 | 7.55 | 0.33 worse | 0.18 to 0.47 | 0.05 |";
    assert!(page.contains(table), "{page}");
    assert!(page.contains("| own step | 95 % interval |"), "{page}");
}

#[test]
fn programs_get_the_posterior() {
    let report = posterior().report();
    let text = json(&report);
    let parsed: serde_json::Value = serde_json::from_str(&text).unwrap();
    let p_bad: Vec<_> =
        parsed["commits"].as_array().unwrap().iter().map(|c| c["p_bad"].clone()).collect();
    // The good end is no candidate, so the posterior does not have it.
    assert_eq!(p_bad, [serde_json::Value::Null, 0.021.into(), 0.989.into(), 1.0.into()]);
    let one = &parsed["posterior"][0];
    assert_eq!(one["metric"], "ppl");
    assert_eq!(one["runs"], 31);
    assert_eq!(one["noise"]["good"], 7.2104);
    assert_eq!(one["noise"]["paired"], false);
    assert_eq!(one["smallest_set"][0]["commit"], id('d').to_string());
    assert_eq!(one["smallest_set"][0]["first"], 0.968);
    assert_eq!(one["commits"].as_array().unwrap().len(), 4);
    assert_eq!(parsed["searches"][0]["method"], "posterior");
    assert_eq!(parsed["guards"][0]["noise"]["runs"], 6);
    assert_eq!(json(&serde_json::from_str(&text).unwrap()), text);
}

#[test]
fn what_an_earlier_search_of_the_range_believed_is_forgotten() {
    let target = target(GuardForm::MaxIncrease(0.05), NOISE);
    let mut hunt = begun(&target, SearchMethod::Posterior);
    weighed(&mut hunt, NOISE, &[('c', 1.0, 1.0, 4)], "c");
    search(&mut hunt, vec![Target::Guard(target)], SearchMethod::Posterior);
    assert_eq!(hunt.report().posterior, []);
    weighed(&mut hunt, NOISE, &[('d', 0.6, 0.6, 4)], "d");
    weighed(&mut hunt, NOISE, &[('d', 0.9, 0.9, 4)], "d");
    let report = hunt.report();
    assert_eq!(report.posterior.len(), 1);
    assert!((report.posterior[0].commits[0].first - 0.9).abs() < 1e-12);
}

/// A hunt that spent its budget without an answer.
fn open() -> Hunt {
    let target = target(GuardForm::MaxIncrease(0.05), NOISE);
    let mut hunt = begun(&target, SearchMethod::Posterior);
    let all = [('c', 0.3, 0.3, 8), ('d', 0.66, 0.96, 9), ('f', 0.04, 1.0, 1), ('e', 0.0, 1.0, 6)];
    weighed(&mut hunt, NOISE, &all, "dc");
    let mut finding = Finding::plain(Outcome::Candidates, "The budget of 40 runs is spent.");
    finding.candidates = vec![id('c'), id('d')];
    hunt.append(Event::SearchEnd {
        search_number: 0,
        end: SearchEnd::Candidates(finding.candidates.clone()),
    });
    hunt.end(finding);
    hunt
}

#[test]
fn candidates_stand_with_their_probability_the_likeliest_first() {
    let report = open().report();
    assert_eq!(report.candidates, ['d', 'c'].map(id));
    insta::assert_snapshot!(terminal_answer(&report), @r"
    The first bad commit is one of 2
    The budget of 40 runs is spent.
    6 runs of each endpoint put ppl at 7.21 at the good end and 7.53 at the bad end; run-to-run noise 0.11; good and bad are 3.0σ apart. The search weighed all 31 runs of 5 commits together; 2 commits hold 96.0 % of the probability.
    Candidates:
      66.0 %  dddddddddddddddddddddddddddddddddddddddd
      30.0 %  cccccccccccccccccccccccccccccccccccccccc
    Next: `git show dddddddddd` shows the first; `bisect-ppl measure dddddddddd` measures it
    report: /home/ada/engine/.git/bisect-ppl/hunts/20260102-030405/report.html (report.md, report.json and reproduce.sh are beside it)
    ");
    let words = issue(&report);
    assert!(
        words.contains("- Candidates: `dddddddddd` (66.0 %); `cccccccccc` (30.0 %)\n"),
        "{words}"
    );
    assert!(words.contains("- Search: 6 runs of each endpoint put ppl"), "{words}");
    let page = markdown(&report);
    assert!(page.contains("| commit | probability | subject | what is known |"), "{page}");
    let row = format!("| {} | 66.0 % |", id('d'));
    assert!(page.contains(&row), "{page}");
}

#[test]
fn probabilities_of_a_search_that_was_given_up_do_not_count() {
    let target = target(GuardForm::MaxIncrease(0.05), NOISE);
    let mut hunt = begun(&target, SearchMethod::Posterior);
    let all = [('c', 0.3, 0.3, 8), ('d', 0.66, 0.96, 9), ('f', 0.04, 1.0, 1), ('e', 0.0, 1.0, 6)];
    weighed(&mut hunt, NOISE, &all, "dc");
    // Something contradicts a single change: `f` is a candidate too.
    let mut finding = Finding::plain(Outcome::Candidates, "Runs contradict each other.");
    finding.candidates = ['c', 'd', 'f'].map(id).to_vec();
    let end = SearchEnd::Candidates(finding.candidates.clone());
    hunt.append(Event::SearchEnd { search_number: 0, end });
    hunt.end(finding);
    let report = hunt.report();
    assert_eq!(report.candidates, ['c', 'd', 'f'].map(id));
    let said = terminal_answer(&report);
    assert!(!said.contains("66.0 %") && !said.contains("96.0 %"), "{said}");
    assert!(said.contains("Its probabilities do not count for this answer"), "{said}");
    assert!(!issue(&report).contains("(66.0 %)"));
    assert!(!markdown(&report).contains("| commit | probability | subject |"));
}

#[test]
fn each_commit_settled_by_itself_has_levels_and_no_posterior() {
    let noise = Noise { sd: 0.04, ..NOISE };
    let target = target(GuardForm::MaxIncrease(0.05), noise);
    let mut hunt = begun(&target, SearchMethod::Sequential);
    confirmed(&mut hunt, first(Basis::Sequential));
    let page = markdown(&hunt.report());
    for said in [
        "fresh runs of it and of its parent favour a real change 320 : 1\n",
        "run-to-run noise 0.040; good and bad are 8.0σ apart.",
        "so far apart that a run or two settle a commit",
        "95 % interval",
    ] {
        assert!(page.contains(said), "no {said} in {page}");
    }
    assert!(!page.contains("weighed the commits"), "{page}");
}

#[test]
fn runs_in_pairs_and_in_percent_are_said_so() {
    let noise = Noise { kind: NoiseKind::Log, good: 0.0, bad: 0.0436, sd: 0.012, ..NOISE };
    let paired = Noise { paired: true, ..noise };
    let form = GuardForm::MaxIncreasePercent(1.0);
    let all = [('c', 0.04, 0.04, 3), ('d', 0.96, 1.0, 2)];
    let of = |before: Noise| {
        let mut hunt = begun(&target(form, before), SearchMethod::Posterior);
        weighed(&mut hunt, paired, &all, "d");
        markdown(&hunt.report())
    };
    let page = of(paired);
    let said = "The machine drifts, so each run was compared with one of the good endpoint beside \
                it. 6 runs of each endpoint put ppl at 7.210 at the good end and 7.532 at the bad \
                end; noise of such a difference 1.2 %";
    assert!(page.contains(said), "{page}");
    assert!(page.contains("| pairs of runs |"), "{page}");
    let page = of(noise);
    assert!(page.contains("Then the machine drifted, and from there on each run"), "{page}");
}
