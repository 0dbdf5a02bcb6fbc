use super::*;
use crate::evaluation::Effect;
use crate::oracle::fixture::{self, commit};

fn found(digit: char, step: f64) -> FoundCommit {
    let effect = Effect { own_step: Some(step), ..fixture::effect(7.0, 7.0 + step, 0.1) };
    let parents = Vec::new();
    let known = fixture::culprit(digit, '0');
    FoundCommit::new(Culprit { parents, confidence: 0.99, effects: vec![effect], ..known })
}

fn mend(amount: f64, left: f64) -> Mend {
    let (by, metric) = (commit('9'), Some(Metric::of("ppl")));
    Mend { by, before: None, metric, amount, left, limit: 0.1, repeats: false }
}

fn before() -> MendContext {
    MendContext {
        is_before: true,
        carried: ChangePresence::Unknown,
        is_reworked: false,
        is_put_back: false,
        before: 0.0,
        hidden: vec![commit('4')],
    }
}

fn settled(steps: &[f64], mend: &Mend) -> Vec<CulpritStatus> {
    let mut all: Vec<FoundCommit> =
        "123".chars().zip(steps).map(|(digit, step)| found(digit, *step)).collect();
    let around = vec![before(); all.len()];
    apply_mend(&mut all, mend, &around);
    all.into_iter().map(|found| found.status).collect()
}

fn undone() -> CulpritStatus {
    CulpritStatus::Undone { by: commit('9'), again: false }
}

#[test]
fn a_step_that_is_wholly_gone_was_undone() {
    assert_eq!(settled(&[0.5], &mend(0.5, 0.0)), [undone()]);
}

#[test]
fn of_two_steps_the_one_that_fits_was_undone() {
    assert_eq!(settled(&[0.5, 0.3], &mend(0.5, 0.3)), [undone(), CulpritStatus::Stands]);
}

#[test]
fn a_step_mended_in_part_stands() {
    assert_eq!(settled(&[52.0], &mend(19.0, 33.0)), [CulpritStatus::Stands]);
}

#[test]
fn what_is_left_of_a_huge_step_may_be_anothers() {
    let hides = CulpritStatus::Hides { among: vec![commit('1'), commit('4')], left: 0.3 };
    assert_eq!(settled(&[99_993.0], &mend(99_992.7, 0.3)), [hides]);
}

#[test]
fn of_equal_steps_it_is_not_clear_which_was_undone() {
    assert_eq!(
        settled(&[0.5, 0.5], &mend(0.5, 0.5)),
        [CulpritStatus::Unclear, CulpritStatus::Unclear]
    );
}

#[test]
fn a_mend_before_a_step_does_not_undo_it() {
    let mut all = vec![found('1', 0.5)];
    apply_mend(&mut all, &mend(0.5, 0.0), &[MendContext::default()]);
    assert!(all[0].stands() && all[0].is_named());
}

#[test]
fn a_step_from_a_level_better_than_good_stands_after_a_mend_of_a_part() {
    let mut all = vec![found('1', 2.05)];
    let around = MendContext { before: -1.02, ..before() };
    apply_mend(&mut all, &mend(0.5, 0.53), &[around]);
    assert!(all[0].stands());
}

#[test]
fn a_mend_of_what_was_worse_before_a_step_does_not_undo_the_step() {
    // The step's parent is 1.62 worse than the good end, and an earlier mend took that away.
    let mut all = vec![found('1', 4.02)];
    let around = MendContext { before: 1.62, ..before() };
    apply_mend(&mut all, &mend(1.62, 2.4), &[around]);
    assert!(all[0].stands());
}

#[test]
fn the_change_whose_files_the_mend_puts_back_was_mended_in_part() {
    let mut all = vec![found('1', 0.83), found('2', 1.89)];
    let kept = MendContext { carried: ChangePresence::Whole, ..before() };
    let put_back = MendContext { carried: ChangePresence::InPart, is_put_back: true, ..before() };
    apply_mend(&mut all, &mend(0.83, 1.89), &[kept.clone(), put_back.clone()]);
    assert!(all.iter().all(FoundCommit::stands));
    // A mend as large as the step undoes the whole step.
    apply_mend(&mut all, &mend(1.89, 0.83), &[kept, put_back]);
    assert_eq!(all[1].status, undone());
}

#[test]
fn mends_that_add_up_to_a_step_undid_no_other_of_nearly_their_size() {
    let part = |amount, unclear| {
        let mend = Mend { repeats: true, ..mend(amount, 0.38) };
        PartialMend { mend, around: vec![before(); 2], unclear }
    };
    let status = |last: f64| {
        let mut all = vec![found('1', 0.38), found('2', 1.89)];
        all[0].status = CulpritStatus::Unclear;
        apply_mends_in_parts(&mut all, &[part(1.52, vec![]), part(last, vec![0])]);
        all.into_iter().map(|found| found.status).collect::<Vec<_>>()
    };
    assert_eq!(status(0.37), [CulpritStatus::Stands, undone()]);
    assert_eq!(status(0.36), [CulpritStatus::Unclear, CulpritStatus::Stands]);
}
