use super::*;

fn asks(line: &str) -> &'static [GitQuestion] {
    let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    questions(&words)
}

#[test]
fn a_command_that_is_not_known_to_be_harmless_asks_for_references() {
    for line in [
        "branch",
        "branch --contains HEAD",
        "branch -r --contains=HEAD",
        "-C sub -c core.pager=cat --no-pager branch -a --contains HEAD",
        "for-each-ref --contains HEAD",
        "show-ref",
        "describe --exact-match --tags",
        "describe --tags --exact",
        "describe --contains HEAD",
        "describe --candidates=0",
        "describe --all",
        "describe main",
        "name-rev --name-only HEAD",
        "tag",
        "tag --points-at HEAD",
        "log -1 --decorate",
        "log -1 --format=%h%d",
        "log -1 --format=%P",
        "log -1 -p",
        "log origin/main -1",
        "show",
        "show main:VERSION",
        "merge-base HEAD main",
        "merge-base --is-ancestor HEAD main",
        "rev-list main",
        "rev-list main..HEAD",
        "rev-list --count ..main",
        "rev-list --count v1.0..HEAD",
        "rev-list --all",
        "rev-list 0123456789abcdef",
        "rev-parse main",
        "rev-parse @{u}",
        "rev-parse HEAD~1",
        "rev-parse --branches",
        "diff --quiet main",
        "diff --name-only HEAD~1",
        "cat-file -p HEAD",
        "checkout main",
        "checkout -b x",
        "submodule foreach git-branch",
        "symbolic-ref refs/remotes/origin/HEAD",
        "ls-remote",
        "reflog",
        "archive main",
        "some-command-of-later",
    ] {
        assert_eq!(asks(line), ANYTHING, "{line}");
    }
}

#[test]
fn a_command_that_every_commit_answers_alike_asks_for_no_reference() {
    for line in [
        "",
        "--version",
        "rev-parse --git-dir",
        "rev-parse --show-toplevel",
        "status --porcelain",
        "status -sb",
        "diff --quiet HEAD",
        "diff --exit-code HEAD -- main",
        "diff-index --name-only HEAD",
        "ls-files --others",
        "ls-tree -r HEAD src/",
        "show HEAD:VERSION",
        "cat-file blob HEAD:VERSION",
        "branch --show-current",
        "symbolic-ref -q --short HEAD",
        "config --get remote.origin.url",
        "remote get-url origin",
        "submodule update --init",
        "checkout -- main",
        "-C deps/fmt checkout -q 0123456789abcdef",
    ] {
        assert_eq!(asks(line), NOTHING, "{line}");
    }
    for line in [
        "rev-parse HEAD",
        "rev-parse --short=8 HEAD",
        "rev-parse --abbrev-ref HEAD",
        "rev-parse --verify -q HEAD^{commit}",
        "rev-list --count HEAD",
        "rev-list -n 1 HEAD",
        "log -1 --format=%h",
        "log -n 1 --pretty=format:%ad --date=short",
        "-c log.showSignature=false log -n1 HEAD --format=%cI",
        "log -- --all",
        "show -s --format=%ct HEAD",
    ] {
        assert_eq!(asks(line), NAME, "{line}");
    }
    for line in ["describe --always --dirty", "describe --tags --long --match v*"] {
        assert_eq!(asks(line), DESCRIBE, "{line}");
    }
    assert_eq!(asks("archive --prefix /top/ HEAD"), SUBSTITUTED);
}
