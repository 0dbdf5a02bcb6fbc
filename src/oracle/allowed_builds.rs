//! Which builds of earlier hunts a request may take, by the hunt that made them.

use crate::build::Stamp;
use crate::evaluation::Phase;

/// The builds of earlier hunts that a request may take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum AllowedBuilds {
    /// None. Builds that this hunt took before do not count any more either.
    NoLonger,
    /// Only builds that this hunt took before.
    None,
    /// Also the builds of the hunt with this name.
    Of(String),
    All,
}

impl AllowedBuilds {
    /// Whether a build may be taken by `hunt` in this phase, as far as it depends on who made it.
    /// Builds that stay for no later hunt were always shared, until they are replaced.
    pub(super) fn allow(&self, stamp: &Stamp, hunt: Option<&str>, phase: Phase) -> bool {
        let is_ours = hunt.is_some() && stamp.hunt.as_deref() == hunt;
        if stamp.kept.is_none() || is_ours {
            return true;
        }
        if phase == Phase::Confirm {
            return false;
        }
        let was_taken = hunt.is_some() && stamp.taken_by.as_deref() == hunt;
        match self {
            Self::NoLonger => false,
            Self::None => was_taken,
            Self::Of(earlier) => was_taken || stamp.hunt.as_ref() == Some(earlier),
            Self::All => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A build of hunt `a` that stays for later hunts, or not.
    fn stamp(stays: bool, taken_by: Option<&str>) -> Stamp {
        let kept = serde_json::json!({ "files": "", "system": "", "bytes": 1 });
        let stamp = serde_json::json!({
            "build_key": "k",
            "commit": "1".repeat(40),
            "phase": "search",
            "hunt": "a",
            "attempt": "1",
            "finished": "",
            "kept": stays.then_some(kept),
            "taken_by": taken_by,
        });
        serde_json::from_value(stamp).unwrap()
    }

    #[test]
    fn a_confirmation_takes_only_builds_of_its_own_hunt() {
        let [plain, taken] = [None, Some("b")].map(|by| stamp(true, by));
        assert!(AllowedBuilds::None.allow(&plain, Some("a"), Phase::Confirm));
        for stamp in [&plain, &taken] {
            assert!(!AllowedBuilds::All.allow(stamp, Some("b"), Phase::Confirm));
            assert!(AllowedBuilds::All.allow(stamp, Some("b"), Phase::Search));
        }
    }

    #[test]
    fn builds_of_other_hunts_need_a_permission_once() {
        let [plain, taken] = [None, Some("b")].map(|by| stamp(true, by));
        let of = |hunt: &str| AllowedBuilds::Of(hunt.to_owned());
        assert!(of("a").allow(&plain, Some("b"), Phase::Endpoint));
        assert!(!of("c").allow(&plain, Some("b"), Phase::Endpoint));
        assert!(!AllowedBuilds::None.allow(&plain, Some("b"), Phase::Control));
        assert!(AllowedBuilds::None.allow(&taken, Some("b"), Phase::Control));
        assert!(!AllowedBuilds::NoLonger.allow(&taken, Some("b"), Phase::Search));
        assert!(AllowedBuilds::NoLonger.allow(&plain, Some("a"), Phase::Search), "its own");
        assert!(!AllowedBuilds::None.allow(&plain, None, Phase::Manual), "`measure` builds itself");
        assert!(AllowedBuilds::None.allow(&stamp(false, None), None, Phase::Manual));
    }
}
