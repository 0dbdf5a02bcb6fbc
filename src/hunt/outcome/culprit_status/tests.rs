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
        ..MendContext::default()
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
    let among = vec![commit('1'), commit('4')];
    let hides = CulpritStatus::Hides { among, left: 0.3, undone_by: None, why: None };
    assert_eq!(settled(&[99_993.0], &mend(99_992.7, 0.3)), [hides]);
}

#[test]
fn a_step_that_one_commit_made_good_mostly_stands_if_its_text_is_whole() {
    let status = |step: f64, amount: f64, around: MendContext| {
        let mut all = vec![found('1', step)];
        let mend = Mend { repeats: true, ..mend(amount, step - amount) };
        apply_mend(&mut all, &mend, &[around]);
        (all[0].status.clone(), all[0].perhaps_mended_by.clone())
    };
    let hides = |step: f64, amount: f64, around: MendContext| {
        matches!(status(step, amount, around).0, CulpritStatus::Hides { undone_by: None, .. })
    };
    let whole = MendContext { carried: ChangePresence::Whole, ..before() };
    let one = MendContext { made_by: MadeBy::OneCommit, ..whole.clone() };
    let by = Some(commit('9'));
    assert_eq!(status(1.89, 1.46, one.clone()), (CulpritStatus::Stands, by));
    // Enough is left to see, whoever made the improvement.
    assert_eq!(status(1.89, 0.9, one.clone()), (CulpritStatus::Stands, None));
    // Too little is left: a rise of that size may have been hidden.
    assert!(hides(10.0, 9.2, one.clone()));
    // Several commits may have made the improvement, or the text does not show the change.
    assert!(hides(1.89, 1.46, whole));
    for carried in [ChangePresence::Gone, ChangePresence::GoneBefore, ChangePresence::Unknown] {
        assert!(hides(1.89, 1.46, MendContext { carried, ..one.clone() }), "{carried:?}");
    }
}

#[test]
fn who_made_an_improvement_matters_only_if_little_is_left() {
    let matters = |left: f64| depends_on_author(3.15, &mend(3.15 - left, left));
    assert_eq!([2.34, 0.81, 0.2, 0.05].map(matters), [false, true, false, false]);
    // A tenth of a small step is within the tolerance.
    assert!(!depends_on_author(0.5, &mend(0.42, 0.08)));
}

#[test]
fn an_improvement_larger_than_a_step_may_have_undone_it_and_more() {
    let mended_by = |steps: [f64; 2], amount: f64| {
        let mut all = vec![found('1', steps[0]), found('2', steps[1])];
        let mend = Mend { repeats: true, ..mend(amount, steps[0] + steps[1] - amount) };
        let whole = MendContext { carried: ChangePresence::Whole, ..before() };
        apply_mend(&mut all, &mend, &[whole.clone(), whole]);
        all.into_iter().map(|one| (one.stands(), one.perhaps_mended_by)).collect::<Vec<_>>()
    };
    let by = Some(commit('9'));
    // The second step and a part of the first, or both in part.
    assert_eq!(mended_by([1.49, 3.23], 4.16), [(true, by.clone()), (true, by.clone())]);
    assert_eq!(mended_by([3.23, 1.49], 2.2), [(true, None), (true, by)]);
    // It undid the first step, so it is not open what it did.
    assert_eq!(mended_by([1.49, 0.5], 1.49), [(false, None), (true, None)]);
}

#[test]
fn a_step_that_hides_another_was_undone_by_a_mend_of_its_size() {
    let undone_by = |repeats: bool| {
        let mut all = vec![found('1', 0.9), found('2', 0.38)];
        let mend = Mend { repeats, ..mend(0.38, 1.35) };
        let whole = MendContext { carried: ChangePresence::Whole, ..before() };
        apply_mend(&mut all, &mend, &[whole, before()]);
        assert!(all[0].stands());
        match all.remove(1).status {
            CulpritStatus::Hides { undone_by, .. } => undone_by,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!((undone_by(true), undone_by(false)), (Some(commit('9')), None));
}

#[test]
fn a_mend_in_the_lines_of_another_step_undoes_no_step_of_its_size() {
    let status = |edits: EditedLines| {
        let mut all = vec![found('1', 0.4), found('2', 0.8)];
        let mend = Mend { repeats: true, ..mend(0.4, 0.8) };
        let whole = MendContext { carried: ChangePresence::Whole, edits, ..before() };
        let gone = MendContext { carried: ChangePresence::Gone, ..before() };
        apply_mend(&mut all, &mend, &[whole, gone]);
        all.into_iter().map(|found| found.status).collect::<Vec<_>>()
    };
    assert_eq!(status(EditedLines::AnothersOnly), [CulpritStatus::Stands, CulpritStatus::Stands]);
    assert_eq!(status(EditedLines::Any), [undone(), CulpritStatus::Stands]);
    // The mend takes the other step back, but for a part within the tolerance.
    let mut all = vec![found('1', 0.8), found('2', 0.85)];
    let edits = EditedLines::AnothersOnly;
    let whole = MendContext { carried: ChangePresence::Whole, edits, ..before() };
    let gone = MendContext { carried: ChangePresence::Gone, ..before() };
    apply_mend(&mut all, &Mend { repeats: true, ..mend(0.8, 0.85) }, &[whole, gone]);
    assert_eq!([&all[0].status, &all[1].status], [&CulpritStatus::Stands, &undone()]);
}

#[test]
fn of_equal_steps_it_is_not_clear_which_was_undone() {
    assert_eq!(
        settled(&[0.5, 0.5], &mend(0.5, 0.5)),
        [CulpritStatus::Unclear, CulpritStatus::Unclear]
    );
}

#[test]
fn a_step_that_the_runs_leave_open_is_unclear() {
    // By the few runs of its confirmation, the first step is larger than the mend.
    let status = |first: MendContext| -> Vec<CulpritStatus> {
        let mut all = vec![found('1', 1.05), found('2', 3.0)];
        apply_mend(&mut all, &mend(0.93, 3.0), &[first, before()]);
        all.into_iter().map(|found| found.status).collect()
    };
    assert_eq!(status(before()), [CulpritStatus::Stands, CulpritStatus::Stands]);
    let sized = |size: f64, is_open: bool| MendContext {
        by_all_runs: Some(SizedStep { size, is_open }),
        ..before()
    };
    let open = sized(1.05, true);
    assert_eq!(status(open), [CulpritStatus::Unclear, CulpritStatus::Stands]);
    let by_all_runs = sized(0.95, false);
    assert_eq!(status(by_all_runs), [undone(), CulpritStatus::Stands]);
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
