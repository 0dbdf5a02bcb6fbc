//! Conversions from the types of a finding to those of the report.

use crate::evaluation::{Account, CommitInfo, Contribution, Culprit, Effect, Value};

use super::model::{AccountLine, EffectLine, Endpoint, FirstBad, Rise};

impl Endpoint {
    pub(super) fn new(info: &CommitInfo, asked: &str) -> Self {
        Self {
            commit: info.commit.clone(),
            subject: info.subject.clone(),
            author: info.author.clone(),
            date: info.date.clone(),
            asked: asked.to_owned(),
        }
    }
}

impl From<&Culprit> for FirstBad {
    fn from(culprit: &Culprit) -> Self {
        let effects: Vec<_> = culprit.effects.iter().map(EffectLine::from).collect();
        Self {
            commit: culprit.info.commit.clone(),
            parent: culprit.parent.clone(),
            parents: culprit.parents.clone(),
            subject: culprit.info.subject.clone(),
            author: culprit.info.author.clone(),
            date: culprit.info.date.clone(),
            confidence: culprit.confidence,
            basis: culprit.basis,
            effect: effects.first().cloned(),
            effects,
            failure: culprit.failure.clone(),
            files: culprit.files.clone(),
            dependencies: culprit.dependencies.clone(),
            inside: Vec::new(),
            own_files: culprit.own_files.clone(),
            ran: culprit.ran.clone(),
            differences: culprit.differences.clone(),
            url: None,
            request: None,
            change: None,
            confirmed_before: culprit.confirmed_before.clone(),
            doubts: culprit.doubts.clone(),
            undone_by: culprit.undone_by.clone(),
            hidden: culprit.hidden.clone(),
        }
    }
}

impl From<&Effect> for EffectLine {
    fn from(effect: &Effect) -> Self {
        Self {
            metric: effect.metric.clone(),
            parent: effect.parent.clone(),
            commit: effect.commit.clone(),
            own_step: effect.own_step.map(Value::Number),
            interval: effect.interval.map(|ends| ends.map(Value::Number)),
            limit: Value::Number(effect.limit),
            runs: effect.runs,
            over_text: effect.over_text.clone(),
        }
    }
}

impl From<&Account> for AccountLine {
    fn from(account: &Account) -> Self {
        Self {
            metric: account.metric.clone(),
            total: Value::Number(account.total),
            explained: Value::Number(account.explained),
            rest: Value::Number(account.rest),
            in_small_steps: account.in_small_steps,
            overlap: account.overlap.map(Value::Number),
            error: account.error.map(Value::Number),
            limit: Value::Number(account.limit),
        }
    }
}

impl From<&Contribution> for Rise {
    fn from(contribution: &Contribution) -> Self {
        Self {
            from: contribution.from.clone(),
            to: contribution.to.clone(),
            commits: contribution.commits,
            rise: Value::Number(contribution.rise),
            metric: contribution.metric.clone(),
        }
    }
}
