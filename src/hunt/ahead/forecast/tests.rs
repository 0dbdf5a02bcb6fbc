use std::convert::Infallible;

use proptest::prelude::*;

use super::*;

fn commit(number: usize) -> CommitId {
    format!("{number:040x}").parse().unwrap()
}

/// What a bisect of `0..=end` asks after these answers: the middle of what is left.
fn middle(end: usize, answers: &[Answer]) -> Option<CommitId> {
    let (mut good, mut bad) = (0, end);
    for (id, verdict) in answers {
        let number = usize::from_str_radix(id.as_str(), 16).unwrap();
        if *verdict == Verdict::Good { good = number } else { bad = number }
    }
    (bad - good > 1).then(|| commit(usize::midpoint(good, bad)))
}

fn wanted(
    end: usize,
    answers: &[Answer],
    most: usize,
    known: impl Fn(&CommitId) -> Option<Verdict>,
    is_busy: impl Fn(&CommitId) -> bool,
) -> Vec<CommitId> {
    let next = |later: &[Answer]| {
        let all: Vec<Answer> = answers.iter().chain(later).cloned().collect();
        Ok::<_, Infallible>(middle(end, &all))
    };
    forecast(most, next, known, is_busy).unwrap()
}

#[test]
fn the_nearest_questions_come_first() {
    let all = |most| wanted(16, &[], most, |_| None, |_| false);
    // The search measures 8 itself.
    assert_eq!(all(2), [12, 4].map(commit));
    assert_eq!(all(6), [12, 4, 14, 10, 6, 2].map(commit));
    assert_eq!(all(99).len(), 14, "every commit between the ends but its own");
    assert!(all(0).is_empty());
}

#[test]
fn after_a_known_verdict_only_that_answer_is_followed() {
    let eight_is_bad = |id: &CommitId| (*id == commit(8)).then_some(Verdict::Bad);
    let seen = wanted(16, &[], 2, eight_is_bad, |_| false);
    assert_eq!(seen, [6, 2].map(commit), "4 is the search's own now");
    let seen = wanted(16, &[], 3, eight_is_bad, |id| *id == commit(4));
    assert_eq!(seen, [4, 6, 2].map(commit), "a worker has it already");
}

#[test]
fn nothing_is_forecast_after_the_end_of_a_search() {
    let answers = [(commit(4), Verdict::Bad), (commit(3), Verdict::Good)];
    assert!(wanted(16, &answers, 3, |_| None, |_| false).is_empty());
}

proptest! {
    /// With 2^m − 1 slots, m answers are there when one round of measurements has ended. What is
    /// measured ahead never changes what is asked.
    #[test]
    fn a_round_settles_as_many_answers_as_its_tree_is_deep(
        end in 2_usize..3000,
        first_bad in 1_usize..3000,
        depth in 1_u32..4,
    ) {
        let first_bad = 1 + first_bad % end;
        let verdict = |id: &CommitId| {
            let number = usize::from_str_radix(id.as_str(), 16).unwrap();
            if number < first_bad { Verdict::Good } else { Verdict::Bad }
        };
        let (mut alone, mut ahead) = (Vec::new(), Vec::<Answer>::new());
        while let Some(id) = middle(end, &alone) {
            let answer = verdict(&id);
            alone.push((id, answer));
        }
        let mut rounds = 0;
        let mut measured = BTreeSet::new();
        while middle(end, &ahead).is_some() {
            rounds += 1;
            let known = |id: &CommitId| measured.contains(id).then(|| verdict(id));
            let round = wanted(end, &ahead, (1 << depth) - 2, known, |_| false);
            measured.extend(round);
            measured.extend(middle(end, &ahead));
            while let Some(id) = middle(end, &ahead).filter(|id| measured.contains(id)) {
                let answer = verdict(&id);
                ahead.push((id, answer));
            }
        }
        prop_assert_eq!(rounds, alone.len().div_ceil(depth as usize));
        prop_assert_eq!(ahead, alone);
    }
}
