use super::*;

#[test]
fn the_printed_nan_or_infinity_is_kept() {
    for number in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let failure = Failure::not_finite("chunk 3", number);
        let printed = failure.printed().unwrap().number().unwrap();
        assert_eq!(printed.total_cmp(&number), std::cmp::Ordering::Equal);
    }
    assert_eq!(Failure::of_old(FailureKind::Crash, "exit code 1", "nan").printed(), None);
}

#[test]
fn nan_and_infinities_are_different_failures_wherever_they_stand() {
    let all = [
        Failure::not_finite("chunk 3", f64::NAN),
        Failure::not_finite("chunk 3", f64::INFINITY),
        Failure::not_finite("chunk 3", f64::NEG_INFINITY),
        Failure::not_finite("the final estimate", f64::NAN),
        Failure::not_finite("kld.mean", f64::NAN),
    ];
    for (i, one) in all.iter().enumerate() {
        for (j, other) in all.iter().enumerate() {
            assert_eq!(one.is_same_failure(other), i == j, "{one:?} {other:?}");
        }
        assert!(!one.is_telling());
    }
    assert!(all[0].is_same_failure(&Failure::not_finite("chunk 5", f64::NAN)));
}

#[test]
fn records_of_old_are_read_and_compared_as_they_were() {
    let old = r#"{"kind":"crash","signature":"exit code 1","detail":"ended with exit code 1"}"#;
    let old: Failure = serde_json::from_str(old).unwrap();
    let crash = |code| Failure::new(FailureKind::Crash, Evidence::of(&Ended::Exited(code)), "");
    let said = FailureMessage::Reached("loading".to_owned());
    let new = crash(1).heard(FailureReason { said, shown: String::new() });
    assert!(old.is_same_failure(&new) && new.is_same_failure(&old) && !old.is_telling());
    assert!(!old.is_same_failure(&crash(2)));
    for failure in [&old, &new] {
        let text = serde_json::to_string(failure).unwrap();
        assert_eq!(serde_json::from_str::<Failure>(&text).unwrap(), *failure);
    }
}

/// A failure of each kind, two of kinds that have several forms.
fn each() -> Vec<Failure> {
    let ended = |kind, ended: Ended| Failure::new(kind, Evidence::of(&ended), "a sentence");
    let step = Evidence { step: Some("model".to_owned()), ..Evidence::of(&Ended::Exited(1)) };
    let unmade = Evidence {
        step: Some("model".to_owned()),
        missing: Some("model.bin".to_owned()),
        ..Evidence::of(&Ended::Exited(0))
    };
    let patch = Evidence { patch: Some("fix.diff".to_owned()), ..Evidence::default() };
    let required = Evidence { required: Some("cuda".to_owned()), ..Evidence::default() };
    let said = FailureMessage::Diagnostics(vec!["a.c: error: x".to_owned()]);
    vec![
        ended(FailureKind::Build, Ended::Exited(2)),
        ended(FailureKind::Build, Ended::Exited(2))
            .heard(FailureReason { said, shown: "a.c:1: error: x".to_owned() }),
        ended(FailureKind::Build, Ended::NotFound("nvcc".to_owned())),
        Failure::new(FailureKind::Patch, patch, "a sentence"),
        Failure::plain(FailureKind::Checkout, "a sentence"),
        Failure::new(FailureKind::Prepare, step, "a sentence"),
        Failure::new(FailureKind::Prepare, unmade, "a sentence"),
        ended(FailureKind::Crash, Ended::Signaled(11)),
        ended(FailureKind::Crash, Ended::NotFound("ppl".to_owned())),
        ended(FailureKind::Timeout, Ended::TimedOut),
        Failure::not_finite("chunk 3", f64::NAN),
        Failure::unreadable(Unreadable::NoPerplexity, "a sentence"),
        Failure::unreadable(Unreadable::NotANumber("ppl".to_owned()), "a sentence"),
        Failure::plain(FailureKind::Incomplete, "a sentence"),
        Failure::new(FailureKind::Require, required, "a sentence"),
        ended(FailureKind::Require, Ended::Exited(125)),
    ]
}

#[test]
fn other_words_are_the_same_failure() {
    for (place, failure) in each().iter().enumerate() {
        let mut record = serde_json::to_value(failure).unwrap();
        record["detail"] = "other words".into();
        record["signature"] = "other words".into();
        let reworded: Failure = serde_json::from_value(record).unwrap();
        assert!(
            reworded.is_same_failure(failure) && failure.is_same_failure(&reworded),
            "{failure:?}"
        );
        assert_eq!(reworded.signature(), failure.signature());
        assert_eq!(reworded.is_telling(), failure.is_telling());
        for (other_place, other) in each().iter().enumerate() {
            // A build failure without a known reason may be the same as one with a reason.
            let is_same = place == other_place;
            assert_eq!(reworded.is_same_failure(other), is_same, "{failure:?} {other:?}");
        }
    }
}

#[test]
fn a_record_without_typed_details_is_compared_by_its_text() {
    for failure in each() {
        let mut record = serde_json::to_value(&failure).unwrap();
        record.as_object_mut().unwrap().remove("evidence");
        let old: Failure = serde_json::from_value(record).unwrap();
        // The printed number has no text: a NaN of an older version equals any NaN.
        assert!(old.is_same_failure(&failure), "{failure:?}");
        assert_eq!(old.signature(), failure.signature(), "{failure:?}");
    }
}
