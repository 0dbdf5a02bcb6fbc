//! `[[patch]]` and `[[overlay]]`.

use std::convert::Infallible;

use super::*;

const BOTH: &str = r#"
[[patch]]
file = "fix.diff"
[[patch]]
commit = "abc1234"
when = { lacks_ancestor = "abc1234" }
[[overlay]]
from = "HEAD"
paths = ["bench/**", "tests/golden/**"]
when = { missing = "bench/run" }
"#;

fn with(text: &str) -> String {
    format!("{SMALL}{text}")
}

#[test]
fn they_are_read_and_only_those_that_hold_stay() {
    let config = parse(&with(BOTH)).unwrap();
    assert_eq!(config.patches[0].source, PatchSource::File("fix.diff".to_owned()));
    assert_eq!(config.patches[1].source, PatchSource::Commit("abc1234".to_owned()));
    assert_eq!(config.overlays[0].paths, ["bench/**", "tests/golden/**"]);
    assert_eq!(config.conditions().count(), 2);
    let at = |wanted: bool| config.resolve::<Infallible>(&mut |_| Ok(wanted)).unwrap();
    let (all, few) = (at(true), at(false));
    assert_eq!((all.patches.len(), all.overlays.len()), (2, 1));
    assert_eq!((few.patches.len(), few.overlays.len()), (1, 0));
    assert_eq!(all.conditions().count() + few.conditions().count(), 0);
    // If different patches or overlays hold at two commits, their configurations differ too.
    assert_ne!(all.text(), few.text());
    assert_eq!(all.text(), at(true).text());
}

#[test]
fn what_is_wrong_with_them_is_told() {
    for (text, said) in [
        ("[[patch]]\n", "patch[1].file: is missing; e.g. `file = \"fix.patch\"`, or `commit = "),
        ("[[patch]]\nfile='a'\ncommit='b'\n", "patch[1].commit: `file` and `commit` are both"),
        ("[[patch]]\ncommit='a..b'\n", "patch[1].commit: `a..b` is not a revision."),
        ("[[patch]]\nfile='~/a'\n", "patch[1].file: `~` means something only to a shell"),
        ("[[patch]]\nfile='a'\nwhen={}\n", "patch[1].when: is empty; give one or more of"),
        ("[[overlay]]\nfrom='HEAD'\n", "overlay[1].paths: is missing; e.g. "),
        ("[[overlay]]\npaths=['a']\n", "overlay[1].from: is missing; e.g. "),
        ("[[overlay]]\nfrom='HEAD'\npaths=[]\n", "overlay[1].paths: may not be empty."),
        ("[[overlay]]\nfrom='HEAD'\npaths=['../a']\n", "must be a relative path"),
        ("[[overlay]]\nfrom='HEAD'\npaths=[':!a']\n", "only plain patterns"),
        ("[ruler]\n", "ruler.paths: is missing; e.g. "),
        ("[ruler]\npaths=[]\n", "ruler.paths: may not be empty."),
        (
            "[[override]]\nwhen={exists='a'}\npatch=[{file='a'}]\n",
            "override[1].patch: belongs to the whole hunt, not to some commits. Give the patch a \
             `when` of its own.",
        ),
    ] {
        let error = parse(&with(text)).unwrap_err().to_string();
        assert!(error.contains(said), "{text}: {error}");
    }
}
