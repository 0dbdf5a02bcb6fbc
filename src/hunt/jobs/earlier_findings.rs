//! What earlier hunts of the store found out about the speed of nodes. A hunt compares its nodes
//! only when it reaches the second one. If its first node is one that an earlier hunt set aside, a
//! hunt that depends on speed may lose all runs that it made there.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;

use crate::config::Config;
use crate::store::HuntDir;
use crate::store::journal::{Entry, Event};
use crate::ui::text;

/// For how long a finding counts. Nodes are repaired, and other users' jobs end; after this time
/// the node takes jobs again and is compared with the others as any node.
const VALID: Duration = Duration::from_hours(72);

/// That an earlier hunt set a node aside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EarlierFinding {
    hunt: String,
    at: Timestamp,
    /// The difference, in a sentence.
    why: String,
}

impl EarlierFinding {
    /// The text of a note. `node`: the node's name.
    pub(crate) fn note(&self, node: &str) -> String {
        let dated = |at: Timestamp| at.strftime("%Y-%m-%d %H:%M UTC").to_string();
        format!(
            "no job runs on node {node} if another node fits: {} (hunt {}, {}). This counts until \
             {}",
            text::line(&self.why),
            self.hunt,
            dated(self.at),
            dated(self.at.saturating_add(VALID).unwrap_or(Timestamp::MAX)),
        )
    }
}

/// The nodes that earlier hunts set aside a short time ago. A hunt whose guards do not depend on
/// speed has none: any node of the class serves it. A hunt that cannot be read says nothing.
pub(crate) fn earlier_findings(
    hunt: &HuntDir,
    config: &Config,
    now: Timestamp,
) -> BTreeMap<String, EarlierFinding> {
    let mut found = BTreeMap::new();
    if !config.guards.iter().any(|guard| config.is_timed(&guard.metric.measure)) {
        return found;
    }
    for other in hunt.others().unwrap_or_default() {
        if is_recent(&other) {
            add(&mut found, other.id(), &other.entries().unwrap_or_default(), now);
        }
    }
    found
}

/// Whether the hunt's journal changed a short time ago.
fn is_recent(hunt: &HuntDir) -> bool {
    let modified = std::fs::metadata(hunt.journal_path()).and_then(|it| it.modified());
    // A time in the future is that of another clock.
    modified.is_ok_and(|at| !at.elapsed().is_ok_and(|age| age > VALID))
}

/// Adds the findings of one hunt. The newest one about a node counts.
fn add(
    found: &mut BTreeMap<String, EarlierFinding>,
    hunt: &str,
    entries: &[Entry],
    now: Timestamp,
) {
    for entry in entries {
        let Event::NodeSetAside { node, why, .. } = &entry.event else { continue };
        let Ok(at) = entry.at.parse::<Timestamp>() else { continue };
        let is_newest = found.get(node).is_none_or(|known| known.at <= at);
        if is_newest && now.duration_since(at).as_secs_f64() <= VALID.as_secs_f64() {
            let finding = EarlierFinding { hunt: hunt.to_owned(), at, why: why.clone() };
            found.insert(node.clone(), finding);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set_aside(node: &str, at: &str) -> Entry {
        let why = format!("node {node} is slow: speed is 60 on {node} and 100 on n1");
        let event = Event::NodeSetAside { node: node.to_owned(), why, attempts: Vec::new() };
        Entry { at: at.to_owned(), event }
    }

    #[test]
    fn the_newest_finding_of_the_last_days_counts() {
        let now = "2026-11-27T18:00:00Z".parse().unwrap();
        let mut found = BTreeMap::new();
        let old =
            [set_aside("n2", "2026-11-26T17:00:00Z"), set_aside("n3", "2026-11-20T17:00:00Z")];
        add(&mut found, "h1", &old, now);
        add(&mut found, "h2", &[set_aside("n2", "2026-11-27T17:00:00Z")], now);
        assert_eq!(found.keys().collect::<Vec<_>>(), ["n2"]);
        let note = found["n2"].note("n2");
        assert_eq!(
            note,
            "no job runs on node n2 if another node fits: node n2 is slow: speed is 60 on n2 and \
             100 on n1 (hunt h2, 2026-11-27 17:00 UTC). This counts until 2026-11-30 17:00 UTC"
        );
    }
}
