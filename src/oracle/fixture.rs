//! Builders of observations, guards and targets for tests.

use std::collections::BTreeMap;
use std::path::Path;

use crate::config::Config;
use crate::evaluation::{
    Account, Checks, CommitId, CommitInfo, Culprit, Effect, Failure, FailureKind, Guard, GuardForm,
    GuardTarget, Metric, Noise, NoiseKind, Reading, Resources, Shows, Target, Trial, TrialOf,
    Value,
};

use super::{Observation, Sample};

/// A commit whose name is forty times this hexadecimal digit.
pub(crate) fn commit(digit: char) -> CommitId {
    digit.to_string().repeat(40).parse().unwrap()
}

/// The checks with these names, which white space separates.
pub(crate) fn checks(names: &str) -> Checks {
    names.split_whitespace().map(str::to_owned).collect()
}

/// A run whose output had these values.
pub(crate) fn reading(values: impl IntoIterator<Item = (Metric, Value)>) -> Sample {
    Sample {
        attempt: "attempt".to_owned(),
        result: Ok(Reading { values: values.into_iter().collect(), ..Reading::default() }),
        starved: false,
        phase: crate::evaluation::Phase::Search,
        hunt: None,
        used: Resources { wall_s: 1.0, peak_rss_mib: None },
        stored_at: None,
        built: String::new(),
        loaded: None,
    }
}

/// A first bad commit, named by a digit, of which only its parent is known.
pub(crate) fn culprit(digit: char, parent: char) -> Culprit {
    let info = CommitInfo {
        commit: commit(digit),
        subject: String::new(),
        author: String::new(),
        date: String::new(),
    };
    Culprit::bare(info, commit(parent))
}

/// The account of `ppl` with a tolerance of 0.1, where values repeat: the named commits explain this
/// part of the whole change.
pub(crate) fn account(total: f64, explained: f64) -> Account {
    Account {
        metric: Metric::of("ppl"),
        total,
        explained,
        rest: total - explained,
        in_small_steps: false,
        taken_back: None,
        overlap: None,
        error: None,
        limit: 0.1,
    }
}

/// A step of `ppl` between the levels of parent and commit.
pub(crate) fn effect(parent: f64, level: f64, limit: f64) -> Effect {
    Effect {
        metric: Metric::of("ppl"),
        parent: Value::Number(parent),
        commit: Value::Number(level),
        own_step: Some(level - parent),
        interval: None,
        limit,
        runs: None,
        over_text: None,
    }
}

/// A test that gives an endpoint this level of ppl.
pub(crate) fn trial(of: TrialOf, level: f64) -> Trial {
    Trial {
        of,
        parts: Vec::new(),
        shows: Shows::Difference,
        reason: String::new(),
        skip: None,
        failure: None,
        levels: BTreeMap::from([(Metric::of("ppl"), Value::Number(level))]),
        attempts: Vec::new(),
    }
}

/// A run of `ppl` that printed this number.
pub(crate) fn ppl(x: f64) -> Sample {
    reading([(Metric::of("ppl"), Value::Number(x))])
}

/// A run of `launch` that printed this fact.
pub(crate) fn launch(text: &str) -> Sample {
    reading([(Metric::of("launch"), Value::Fact(text.to_owned()))])
}

pub(crate) fn failure(kind: FailureKind, signature: &str) -> Failure {
    Failure::of_old(kind, signature, format!("{kind}: {signature}"))
}

/// A run that failed.
pub(crate) fn failed(kind: FailureKind, signature: &str) -> Sample {
    Sample { result: Err(failure(kind, signature)), ..ppl(0.0) }
}

/// An observation of one measure at a commit.
pub(crate) fn seen(
    digit: char,
    measure: &str,
    samples: impl IntoIterator<Item = Sample>,
) -> Observation {
    Observation {
        commit: commit(digit),
        build_failure: None,
        build_stored_at: None,
        build_starved: false,
        samples: BTreeMap::from([(measure.to_owned(), samples.into_iter().collect())]),
    }
}

/// The runs of `ppl` at a commit.
pub(crate) fn at(digit: char, values: &[f64]) -> Observation {
    seen(digit, "ppl", values.iter().copied().map(ppl))
}

/// A commit that does not build.
pub(crate) fn unbuildable(digit: char, signature: &str) -> Observation {
    Observation {
        build_failure: Some(failure(FailureKind::Build, signature)),
        samples: BTreeMap::new(),
        ..at(digit, &[])
    }
}

pub(crate) fn guard(form: GuardForm) -> Guard {
    Guard { metric: Metric::of("ppl"), form }
}

/// A target on `ppl` with these levels at the good and the bad endpoint.
pub(crate) fn target(form: GuardForm, good: f64, bad: f64) -> GuardTarget {
    GuardTarget::between(&guard(form), Value::Number(good), Value::Number(bad), None)
}

/// The same target in noise: its levels are 10σ apart.
pub(crate) fn noisy(form: GuardForm, good: f64, bad: f64) -> GuardTarget {
    let mut noisy = target(form, good, bad);
    let scale = noisy.orientation();
    let (low, high) = (scale.oriented(good), scale.oriented(bad));
    noisy.threshold = Some(f64::midpoint(good, bad));
    noisy.noise = Some(Noise {
        kind: NoiseKind::Plain,
        good: low,
        bad: high,
        sd: (high - low) / 10.0,
        runs: 4,
        paired: false,
        error: 0.001,
    });
    noisy
}

/// A target on the fact `launch`, which must stay unchanged.
pub(crate) fn unchanged(good: &str, bad: &str) -> GuardTarget {
    let guard = Guard { metric: Metric::of("launch"), form: GuardForm::Unchanged };
    let [good, bad] = [good, bad].map(|fact| Value::Fact(fact.to_owned()));
    GuardTarget::between(&guard, good, bad, None)
}

pub(crate) fn fails_alike(measure: Option<&str>, kind: FailureKind, signature: &str) -> Target {
    Target::Failure {
        measure: measure.map(str::to_owned),
        failure: failure(kind, signature),
        checks: None,
    }
}

/// A configuration with the measures `ppl`, `speed` and `launch`, and the lines `besides`.
pub(crate) fn config(besides: &str) -> Config {
    let text = format!(
        "version = 1\n\
         [[measure]]\nname = \"ppl\"\ncommand = \"engine\"\nparser = \"llama-perplexity\"\n\
         [[measure]]\nname = \"speed\"\ncommand = \"bench\"\nparser = \"regex\"\npattern = '([0-9.]+)'\n\
         [[measure]]\nname = \"launch\"\ncommand = \"engine -d\"\nparser = \"regex\"\npattern = 'b=(.*)'\n\
         kind = \"fact\"\n\
         [[guard]]\nmetric = \"ppl\"\nmax_increase = 0.5\n{besides}"
    );
    Config::parse(&text, Path::new("/"), "oracle.toml").unwrap()
}
