use std::collections::BTreeMap;

use crate::evaluation::{
    ChangePart, Failure, FailureKind, Metric, Shows, SkipReason, Trial, TrialOf, Value, WholeChange,
};
use crate::git::FileDiff;
use crate::report::change;
use crate::report::model::Change;
use crate::report::tests::with_culprit;

use super::*;

fn hunk(number: usize) -> ChangePart {
    ChangePart { path: "src/packed.c".to_owned(), of: PartOf::Hunk { number, of: 3 }, whole: None }
}

fn trial(of: TrialOf, shows: Shows, level: Option<f64>) -> Trial {
    let metric = || Metric::of("ppl");
    Trial {
        of,
        parts: vec![hunk(2)],
        shows,
        reason: "it says why".to_owned(),
        skip: None,
        failure: None,
        levels: level.map(|level| (metric(), Value::Number(level))).into_iter().collect(),
        attempts: Vec::new(),
    }
}

/// A cause with one set of these parts, and these tests.
fn cause(parts: Vec<ChangePart>, context: usize, trials: Vec<Trial>) -> Cause {
    let alone = (!trials.is_empty()).then_some(0);
    Cause {
        commit: "b".repeat(40).parse().unwrap(),
        parent: "a".repeat(40).parse().unwrap(),
        sets: vec![CauseSet {
            parts,
            context,
            with: Vec::new(),
            edits: Vec::new(),
            is_minimal: true,
            alone,
        }],
        end: CauseEnd::Complete,
        dependents: Vec::new(),
        trials,
        roles: BTreeMap::new(),
        without: None,
        revert: None,
        broken_too: None,
        in_part: false,
        backport: None,
    }
}

fn said(cause: &Cause) -> String {
    set_in_words(cause, &cause.sets[0])
}

#[test]
fn alone_is_said_only_of_parts_that_were_tested_alone() {
    let only = || trial(TrialOf::Only, Shows::Difference, Some(7.5));
    let one = cause(vec![hunk(2)], 0, vec![only()]);
    assert_eq!(said(&one), "hunk 2 of 3 in src/packed.c alone makes the step: ppl 7.5");
    let beside = cause(vec![hunk(2)], 4, vec![trial(TrialOf::Only, Shows::Unresolved, None)]);
    let expected = "hunk 2 of 3 in src/packed.c makes the step, together with other parts of the \
                    change";
    assert_eq!(said(&beside), expected);
    let file = |path: &str| ChangePart { path: path.to_owned(), of: PartOf::File, whole: None };
    let mut named = beside;
    named.sets[0].with = ["a.h", "b.c"].map(file).to_vec();
    let expected = "hunk 2 of 3 in src/packed.c makes the step, together with a.h and b.c";
    assert_eq!(said(&named), expected);
    assert_eq!(others_in_short(&named.sets[0]), "a.h and 3 other parts");
    (named.sets[0].with, named.sets[0].context) = (vec![hunk(1)], 1);
    assert_eq!(others_in_short(&named.sets[0]), "hunk 1 of 3 in src/packed.c");
    (named.sets[0].with, named.sets[0].context) = (["a.h", "b.c"].map(file).to_vec(), 4);
    // The cause may also be in the other parts that were present.
    named.sets[0].is_minimal = false;
    let expected = "somewhere in hunk 2 of 3 in src/packed.c, or in a.h and b.c, which were in the \
                    same build: the search ended after 1 test";
    assert_eq!(said(&named), expected);
    // Nothing was left out, and only the revert was tested.
    let whole =
        cause(vec![file("a.c")], 0, vec![trial(TrialOf::Reverted, Shows::Nothing, Some(7.0))]);
    assert_eq!(said(&whole), "a.c: the whole change");
    let mut early = cause(vec![hunk(1), hunk(2)], 0, vec![only()]);
    early.sets[0].is_minimal = false;
    let expected = "somewhere in hunks 1 and 2 of 3 in src/packed.c: the search ended after 1 test";
    assert_eq!(said(&early), expected);
}

#[test]
fn a_change_without_a_new_text_is_named_by_its_kind() {
    let said = |whole| {
        named(&[ChangePart { path: "gen.sh".to_owned(), of: PartOf::File, whole: Some(whole) }])
    };
    assert_eq!(said(WholeChange::Removal), "the removal of gen.sh");
    assert_eq!(said(WholeChange::Mode), "the mode of gen.sh");
    assert_eq!(said(WholeChange::Submodule), "the submodule gen.sh");
    assert_eq!(said(WholeChange::InSubmodule), "the change inside the submodule gen.sh");
}

#[test]
fn many_parts_are_counted() {
    let mut many: Vec<ChangePart> = (1..4).map(hunk).collect();
    many.push(ChangePart { path: "src/packed.c".to_owned(), of: PartOf::Mode, whole: None });
    let expected = "hunks 1, 2 and 3 of 3 in src/packed.c and the mode of src/packed.c";
    assert_eq!(named(&many), expected);
    many.truncate(3);
    many.extend(["a.c", "b.c", "c.c", "d.c", "e.c"].map(|path| ChangePart {
        path: path.to_owned(),
        of: PartOf::File,
        whole: None,
    }));
    many.push(hunk(3));
    assert_eq!(named(&many), "4 of 3 hunks in src/packed.c, a.c, b.c, c.c and 2 more");
}

#[test]
fn sets_of_which_each_is_enough_are_named_in_short() {
    let without = trial(TrialOf::Without, Shows::Nothing, Some(7.0));
    let mut one = cause(vec![hunk(2)], 3, vec![without]);
    one.without = Some(0);
    assert_eq!(in_short_of(&one).unwrap(), "hunk 2 of 3 in src/packed.c with 3 other parts");
    let other = CauseSet { parts: vec![hunk(3)], ..one.sets[0].clone() };
    one.sets.push(other);
    let expected = "hunk 2 of 3 in src/packed.c, or hunk 3 of 3 in src/packed.c, each by itself";
    assert_eq!(in_short_of(&one).unwrap(), expected);
    one.sets[1].is_minimal = false;
    assert_eq!(in_short_of(&one), None);
}

#[test]
fn a_rest_without_a_test_is_not_told() {
    let mut one = cause(vec![hunk(2)], 0, vec![trial(TrialOf::Without, Shows::Nothing, Some(7.0))]);
    assert_eq!(rest_in_words(&one), None);
    one.without = Some(0);
    assert_eq!(rest_in_words(&one).unwrap(), "the commit without it shows no step: ppl 7");
    one.dependents = vec![hunk(3)];
    let expected = "the commit without it and the part that needs it shows no step: ppl 7";
    assert_eq!(rest_in_words(&one).unwrap(), expected);
    one.dependents.clear();
    one.end = CauseEnd::RestPart;
    let expected = "the commit without it shows a smaller part of the step: ppl 7";
    assert_eq!(rest_in_words(&one).unwrap(), expected);
}

#[test]
fn a_failed_test_says_how_it_failed() {
    let mut failed = trial(TrialOf::Only, Shows::Unresolved, None);
    assert_eq!((values(&failed).as_str(), shown(&failed)), ("it says why", "cannot be judged"));
    failed.failure = Some(FailureKind::Build);
    assert_eq!(values(&failed), "does not build");
    let odd = trial(TrialOf::Only, Shows::Unresolved, Some(97.0));
    assert_eq!((values(&odd).as_str(), shown(&odd)), ("ppl 97", "shows another value"));
    assert_eq!(tested(&odd), "parent with hunk 2 of 3 in src/packed.c");
}

#[test]
fn a_test_with_a_value_that_cannot_be_judged_says_why() {
    let mut odd = trial(TrialOf::Reverted, Shows::Unresolved, Some(0.0));
    odd.reason = "t did not run checks that fail at the bad end: k".to_owned();
    odd.skip = Some(SkipReason::OtherChecks);
    let told = |trial: &Trial| {
        let end =
            TestedEnd { trial: Some(trial), patch: None, name: "it".to_owned(), is_joint: false };
        end.reverted(&Revert::Unknown, "bad")
    };
    let expected = "the bad end without it cannot be judged: t did not run checks that fail at the \
                    bad end: k (ppl 0)";
    assert_eq!(told(&odd), expected);
    odd.reason = "its 3 runs contradict each other".to_owned();
    odd.skip = Some(SkipReason::Unsteady);
    assert_eq!(
        told(&odd),
        "the bad end without it cannot be judged: its 3 runs contradict each other"
    );
    odd.failure = Some(FailureKind::Build);
    odd.levels.clear();
    assert_eq!(told(&odd), "the bad end without it cannot be judged: does not build");
}

#[test]
fn a_trade_says_what_the_end_loses_again() {
    let healed = trial(TrialOf::Reverted, Shows::Nothing, Some(7.0));
    let mut one = cause(vec![hunk(2)], 0, vec![healed]);
    one.revert = Some(Revert::Traded("tps goes from 40 to 28".to_owned()));
    let patch = Some("revert.patch".to_owned());
    let line = CauseLine { cause: one, logs: BTreeMap::new(), patch };
    let expected = "reverting it heals the bad end: ppl 7; it also takes back the effect of this \
                    change on another guard (tps goes from 40 to 28); the patch is revert.patch";
    assert_eq!(revert_in_words(&line, 1, "bad").unwrap(), expected);
}

#[test]
fn a_conflict_says_what_git_said() {
    let mut one = cause(vec![hunk(2)], 0, Vec::new());
    one.revert = Some(Revert::Conflict("error: patch failed: a.c:7\nerror: more\n".to_owned()));
    let line = CauseLine { cause: one, logs: BTreeMap::new(), patch: None };
    let expected = "the revert does not apply to the bad end: patch failed: a.c:7";
    assert_eq!(revert_in_words(&line, 1, "bad").unwrap(), expected);
}

#[test]
fn marks_are_above_the_lines_that_make_the_step() {
    let header = "@@ -0,0 +1,3 @@";
    let lines = ["new file mode 100644", header, "+one", "+two", "+three"].map(str::to_owned);
    let path = "src/packed.c".to_owned();
    let file = FileDiff { path, renamed_from: None, lines: lines.to_vec(), added: 3, removed: 0 };
    let mut shown = Change { files: vec![file], left_out: Vec::new() };
    let edit =
        |number, line| ChangePart { of: PartOf::Edit { number, of: 2, line }, ..hunk(number) };
    change::mark(&mut shown, &cause(vec![edit(1, 1), edit(2, 3)], 0, Vec::new()));
    let expected = [&lines[0], header, change::MARK, "+one", "+two", change::MARK, "+three"];
    assert_eq!(shown.files[0].lines, expected);
}

#[test]
fn in_short_says_which_of_several_effects_the_parts_make() {
    let without = |level| cause_tested_without(trial(TrialOf::Without, Shows::Nothing, level));
    let mut first = first_bad();
    assert_eq!(which_step(&without(Some(7.0)), &first), None, "the only effect");
    let speed = EffectLine { metric: Metric::of("tps"), ..first.effects[0].clone() };
    first.effects.push(speed);
    assert_eq!(which_step(&without(Some(7.0)), &first).unwrap(), "the step of ppl");
    first.failure = Some(Failure::of_old(FailureKind::Crash, "signal 11", ""));
    assert_eq!(which_step(&without(None), &first).unwrap(), "the failure");
    first.effects.clear();
    assert_eq!(which_step(&without(None), &first), None, "nothing but the failure");
}

/// A cause with one set, and this test of the commit without it.
fn cause_tested_without(test: Trial) -> Cause {
    Cause { without: Some(0), ..cause(vec![hunk(2)], 0, vec![test]) }
}

/// A first bad commit that moves `ppl`.
fn first_bad() -> FirstBad {
    with_culprit().report().culprit.unwrap()
}
