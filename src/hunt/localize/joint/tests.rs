use super::*;
use crate::evaluation::{Effect, Metric, Outcome, Shows, Value};
use crate::hunt::localize::unknown;
use crate::oracle::fixture::{commit, culprit, effect};

fn finding(digits: &str, revert: Option<Revert>) -> Finding {
    let culprits: Vec<_> = digits.chars().map(|digit| culprit(digit, '1')).collect();
    let cause = Cause { revert, ..unknown(&culprits[0], String::new()) };
    Finding { culprits, main: Some(0), cause: Some(cause), ..Finding::plain(Outcome::Culprit, "") }
}

#[test]
fn only_a_verdict_of_the_end_without_a_commit_tells_whether_the_end_needs_it() {
    let is_told = |revert| has_verdict_without(&finding("3", revert), &commit('3'));
    assert!(is_told(Some(Revert::Heals)) && is_told(Some(Revert::HealsPart)));
    assert!(is_told(Some(Revert::Traded("tps goes from 40 to 28".to_owned()))));
    assert!(!is_told(Some(Revert::BreaksOther("tps goes from 40 to 9".to_owned()))));
    let conflict = Revert::Conflict("patch does not apply".to_owned());
    let stopped = Revert::Stopped("no space".to_owned());
    for open in [None, Some(conflict), Some(stopped), Some(Revert::Unknown)] {
        assert!(!is_told(open.clone()), "{open:?}");
    }
}

#[test]
fn with_several_commits_the_end_without_all_of_them_tells() {
    let mut several = finding("35", Some(Revert::HealsPart));
    assert!(!has_verdict_without(&several, &commit('3')));
    several.joint_revert = Some(JointRevert { revert: Revert::Heals, trial: None });
    assert!(['3', '5'].iter().all(|one| has_verdict_without(&several, &commit(*one))));
}

#[test]
fn one_of_several_commits_is_tested_if_the_end_without_it_alone_loses_all_its_steps() {
    let is_told = |revert, metrics: &[&str]| {
        let mut several = finding("35", Some(revert));
        let other = Effect { metric: Metric::of("kl"), ..effect(0.0, 0.5, 0.1) };
        several.culprits[0].effects = vec![effect(7.0, 7.5, 0.1), other];
        let level = |metric: &&str| (Metric::of(metric), Value::Number(7.0));
        let test = Trial {
            of: TrialOf::Reverted,
            parts: Vec::new(),
            shows: Shows::Nothing,
            reason: String::new(),
            skip: None,
            failure: None,
            levels: metrics.iter().map(level).collect(),
            attempts: Vec::new(),
        };
        several.cause.as_mut().unwrap().trials = vec![test];
        assert!(!has_verdict_without(&several, &commit('5')));
        has_verdict_without(&several, &commit('3'))
    };
    assert!(is_told(Revert::HealsPart, &["ppl", "kl"]) && is_told(Revert::Heals, &["ppl", "kl"]));
    assert!(is_told(Revert::StepGone, &["ppl", "kl"]));
    assert!(!is_told(Revert::HealsPart, &["ppl"]), "the other step was not judged");
    assert!(!is_told(Revert::StillBad, &["ppl", "kl"]));
}
