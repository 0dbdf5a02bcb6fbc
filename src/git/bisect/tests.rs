use std::fs;
use std::path::PathBuf;

use super::*;
use crate::evaluation::Ended;
use crate::git::tests::{Fixture, git_in, range, write_program};
use crate::git::{BisectState, End};
use crate::process::tool;

fn session(fixture: &Fixture, commit: &CommitId) -> BisectSession {
    BisectSession::open(&fixture.repository(), &fixture.beside("hunt a/bisect.git"), commit)
        .unwrap()
}

fn state(session: &BisectSession) -> BisectState {
    session.state().unwrap().unwrap()
}

/// Answers git's questions with `judge` until the session ends; returns the result and the number
/// of questions.
fn drive(
    session: &BisectSession,
    commits: &[CommitId],
    judge: impl Fn(usize) -> Verdict,
) -> (Option<End>, usize) {
    for asked in 0..commits.len() {
        let state = state(session);
        if state.end.is_some() {
            return (state.end, asked);
        }
        let current = state.current.unwrap();
        let at = commits.iter().position(|c| *c == current).unwrap();
        session.mark(judge(at), &current).unwrap();
    }
    (state(session).end, commits.len())
}

#[test]
fn git_finds_the_first_bad_commit_and_the_state_says_so() {
    let (fixture, commits) = Fixture::line(9);
    let session = session(&fixture, &commits[8]);
    assert_eq!(session.state().unwrap(), None);
    session.reset().unwrap();
    assert!(!session.is_open());
    session.start(&range(&commits[0], &commits[8]), Aim::Regression).unwrap();
    assert!(session.is_open());
    let left = session.remaining().unwrap().unwrap();
    assert_eq!((left.revisions, left.steps, left.candidates), (3, 2, 8));
    assert_eq!(session.current().unwrap(), Some(commits[4].clone()));
    let judge = |at| if at >= 5 { Verdict::Bad } else { Verdict::Good };
    let (end, asked) = drive(&session, &commits, judge);
    assert_eq!((end, asked), (Some(End::FirstBad(commits[5].clone())), 3));
    let state = state(&session);
    assert_eq!((state.new, state.old.len()), (Some(commits[5].clone()), 2));
    session.reset().unwrap();
    assert_eq!(session.state().unwrap(), None);
}

#[test]
fn the_best_split_comes_first_and_a_skipped_commit_ends_the_list() {
    let (fixture, commits) = Fixture::line(9);
    let session = session(&fixture, &commits[8]);
    assert!(session.splits().unwrap().is_empty());
    session.start(&range(&commits[0], &commits[8]), Aim::Regression).unwrap();
    let mut splits = session.splits().unwrap();
    assert_eq!(splits[0], (commits[4].clone(), 4));
    splits.sort_by_key(|(commit, _)| commits.iter().position(|one| one == commit));
    let counts: Vec<usize> = splits.iter().map(|(_, split)| *split).collect();
    assert_eq!(counts, [1, 2, 3, 4, 3, 2, 1, 0]);
    // A verdict on another commit than git's is as good as one on git's.
    session.mark(Verdict::Good, &commits[3]).unwrap();
    assert_eq!(session.splits().unwrap().len(), 5);
    session.mark(Verdict::Skip, &commits[5]).unwrap();
    assert!(session.splits().unwrap().is_empty());
}

#[test]
fn skipped_commits_leave_candidates() {
    let (fixture, commits) = Fixture::line(6);
    let session = session(&fixture, &commits[5]);
    session.start(&range(&commits[0], &commits[5]), Aim::Regression).unwrap();
    let judge = |at| match at {
        2 | 3 => Verdict::Skip,
        0 | 1 => Verdict::Good,
        _ => Verdict::Bad,
    };
    let Some(End::Candidates(mut candidates)) = drive(&session, &commits, judge).0 else {
        panic!("{:?}", state(&session))
    };
    candidates.sort();
    let mut expected = commits[2..=4].to_vec();
    expected.sort();
    assert_eq!(candidates, expected);
    assert_eq!(state(&session).skipped.len(), 2);
    // One more mark changes the result.
    session.mark(Verdict::Good, &commits[3]).unwrap();
    assert_eq!(state(&session).end, Some(End::FirstBad(commits[4].clone())));
}

#[test]
fn a_path_filter_that_hides_the_answer_ends_with_nothing_to_test() {
    let fixture = Fixture::new();
    let good = fixture.commit("good", &[("a", "1")]);
    let inside = fixture.commit("inside", &[("it's src/x", "1")]);
    let bad = fixture.commit("outside", &[("docs", "1")]);
    let session = session(&fixture, &bad);
    let filter = vec![":(top,glob)it's src/**".to_owned(), ":(exclude)docs".to_owned()];
    let range = Range { paths: filter.clone(), ..range(&good, &bad) };
    session.start(&range, Aim::Regression).unwrap();
    assert_eq!(state(&session).paths, filter);
    assert_eq!(session.current().unwrap(), Some(inside.clone()));
    session.mark(Verdict::Good, &inside).unwrap();
    assert_eq!(state(&session).end, Some(End::NoTestable));
    assert_eq!(state(&session).range().unwrap().paths, filter);
}

#[test]
fn a_bad_merge_base_is_an_end_of_its_own() {
    let (fixture, commits) = Fixture::line(1);
    fixture.git(&["checkout", "--quiet", "-b", "old"]);
    let good = fixture.commit("good", &[("side", "1")]);
    fixture.git(&["checkout", "--quiet", "main"]);
    let bad = fixture.commit("bad", &[("n", "2")]);
    let session = session(&fixture, &bad);
    session.start(&range(&good, &bad), Aim::Regression).unwrap();
    assert_eq!(session.current().unwrap(), Some(commits[0].clone()));
    session.mark(Verdict::Bad, &commits[0]).unwrap();
    assert_eq!(state(&session).end, Some(End::MergeBaseBad(commits[0].clone())));
}

#[test]
fn a_hunt_for_a_fix_has_words_of_its_own() {
    let (fixture, commits) = Fixture::line(6);
    let session = session(&fixture, &commits[5]);
    session.start(&range(&commits[0], &commits[5]), Aim::Fix).unwrap();
    assert_eq!(state(&session).terms, ("broken".to_owned(), "fixed".to_owned()));
    let judge = |at| if at >= 2 { Verdict::Good } else { Verdict::Bad };
    let (end, _) = drive(&session, &commits, judge);
    assert_eq!(end, Some(End::FirstBad(commits[2].clone())));
    assert_eq!(state(&session).aim(), Aim::Fix);
}

#[test]
fn first_parents_alone_can_be_searched() {
    let (fixture, line) = Fixture::line(2);
    fixture.git(&["checkout", "--quiet", "-b", "side", "HEAD~1"]);
    fixture.commit("side 1", &[("side", "1")]);
    fixture.commit("side 2", &[("side", "2")]);
    fixture.git(&["checkout", "--quiet", "main"]);
    fixture.git(&["merge", "--quiet", "--no-ff", "-m", "merge", "side"]);
    let merge = fixture.head();
    let session = session(&fixture, &merge);
    let range = Range { first_parent: true, ..range(&line[0], &merge) };
    session.start(&range, Aim::Regression).unwrap();
    assert_eq!(session.remaining().unwrap().unwrap().candidates, 2);
    assert_eq!(session.current().unwrap(), Some(line[1].clone()));
    session.mark(Verdict::Good, &line[1]).unwrap();
    assert_eq!(state(&session).end, Some(End::FirstBad(merge)));
    assert!(state(&session).first_parent);
}

#[test]
fn the_users_own_bisect_goes_on_beside_ours() {
    let (fixture, commits) = Fixture::line(9);
    fixture.git(&["bisect", "start", "HEAD", "HEAD~8"]);
    let before = fixture.snapshot();
    let session = session(&fixture, &commits[8]);
    session.start(&range(&commits[2], &commits[7]), Aim::Regression).unwrap();
    let judge = |at| if at >= 6 { Verdict::Bad } else { Verdict::Good };
    assert_eq!(drive(&session, &commits, judge).0, Some(End::FirstBad(commits[6].clone())));
    assert_eq!(fixture.snapshot(), before);

    // The user's session goes on beside ours; neither sees the other's marks.
    let ours = state(&session);
    fixture.git(&["bisect", "bad"]);
    fixture.git(&["bisect", "skip", "HEAD"]);
    assert_eq!(state(&session), ours);
    let theirs = fixture.repository().bisect_state_here().unwrap().unwrap();
    assert_eq!((theirs.new, theirs.old), (Some(commits[4].clone()), vec![commits[0].clone()]));
    assert_eq!(theirs.current, Some(fixture.head()));
    let between = fixture.snapshot();
    session.reset().unwrap();
    BisectSession::remove(session.place.git_dir()).unwrap();
    assert_eq!(fixture.snapshot(), between);
    assert_eq!(fixture.git(&["worktree", "list"]).lines().count(), 1);
    fixture.git(&["bisect", "reset"]);
    assert_eq!(fixture.repository().bisect_state_here().unwrap(), None);
}

#[test]
fn the_users_hooks_never_hear_of_it() {
    let (fixture, commits) = Fixture::line(9);
    let heard = fixture.beside("heard");
    let hook = fixture.user().join(".git/hooks/reference-transaction");
    fs::create_dir_all(hook.parent().unwrap()).unwrap();
    write_program(&hook, &format!("#!/bin/sh\necho \"$@\" >>'{}'\n", heard.display()));
    let session = session(&fixture, &commits[8]);
    session.start(&range(&commits[0], &commits[8]), Aim::Regression).unwrap();
    let judge = |at| if at >= 6 { Verdict::Bad } else { Verdict::Good };
    assert_eq!(drive(&session, &commits, judge).0, Some(End::FirstBad(commits[6].clone())));
    session.reset().unwrap();
    assert!(!heard.exists(), "{}", fs::read_to_string(&heard).unwrap());
    fixture.git(&["-c", "core.hooksPath=.git/hooks", "tag", "heard"]);
    assert!(heard.exists());
}

#[test]
fn a_session_that_was_half_made_is_made_anew_and_a_whole_one_taken_up() {
    let (fixture, commits) = Fixture::line(9);
    let path = fixture.beside("hunt a/bisect.git");
    fs::create_dir_all(path.join("refs")).unwrap();
    fs::write(path.join("config"), "[core").unwrap();
    let first = session(&fixture, &commits[8]);
    first.start(&range(&commits[0], &commits[8]), Aim::Regression).unwrap();
    fs::write(path.join("packed-refs.lock"), "").unwrap();
    let second = session(&fixture, &commits[8]);
    assert_eq!(second.current().unwrap(), Some(commits[4].clone()));
    second.mark(Verdict::Good, &commits[4]).unwrap();
    second.reset().unwrap();
}

#[test]
fn what_somebody_planted_in_the_sessions_repository_is_gone() {
    let (fixture, commits) = Fixture::line(9);
    let first = session(&fixture, &commits[8]);
    let at = |name: &str| fixture.beside("hunt a/bisect.git").join(name);
    let own = ["config", "objects/info/alternates"].map(|name| fs::read(at(name)).unwrap());
    first.start(&range(&commits[0], &commits[8]), Aim::Regression).unwrap();
    fs::create_dir_all(at("hooks")).unwrap();
    fs::create_dir_all(at("info")).unwrap();
    let ran = fixture.beside("ran");
    let hook = format!("#!/bin/sh\ntouch '{}'\n", ran.display());
    write_program(&at("hooks/reference-transaction"), &hook);
    fs::write(at("info/attributes"), "* diff=evil\n").unwrap();
    fs::write(at("config.worktree"), "[core]\n\tbare = false\n").unwrap();
    fs::write(at("objects/info/alternates"), "/elsewhere\n").unwrap();
    let script = ran.with_extension("sh");
    write_program(&script, &hook);
    let evil = format!("[core]\n\tsshCommand = {0}\n\tpager = {0}\n", script.display());
    fs::write(at("config"), evil).unwrap();

    let second = session(&fixture, &commits[8]);
    assert_eq!(second.current().unwrap(), Some(commits[4].clone()), "the session goes on");
    for name in ["hooks", "info", "config.worktree"] {
        assert!(!at(name).exists(), "{name}");
    }
    let after = ["config", "objects/info/alternates"].map(|name| fs::read(at(name)).unwrap());
    assert_eq!(after, own);
    second.mark(Verdict::Good, &commits[4]).unwrap();
    assert!(!ran.exists());
}

#[test]
fn a_session_works_where_the_repository_has_an_odd_name_or_ends_early() {
    let (fixture, _) = Fixture::line(9);
    let odd = fixture.beside("a \"b\\\n#c");
    let url = format!("file://{}", fixture.user().display());
    let odd_name = odd.to_str().unwrap();
    git_in(&fixture.beside(""), &["clone", "--quiet", "--depth=5", &url, odd_name]);
    let repository = Repository::discover(&odd).unwrap();
    let commits = git_in(&odd, &["rev-list", "--reverse", "HEAD"]);
    let commits: Vec<CommitId> = commits.lines().map(|line| line.parse().unwrap()).collect();
    assert_eq!(commits.len(), 5);
    let path = odd.join(".git/bisect-ppl/bisect.git");
    let session = BisectSession::open(&repository, &path, &commits[4]).unwrap();
    session.start(&range(&commits[0], &commits[4]), Aim::Regression).unwrap();
    let judge = |at| if at >= 1 { Verdict::Bad } else { Verdict::Good };
    assert_eq!(drive(&session, &commits, judge).0, Some(End::FirstBad(commits[1].clone())));
}

#[test]
fn a_partial_clone_fetches_what_a_path_filter_needs() {
    let fixture = Fixture::new();
    for allowed in ["allowFilter", "allowAnySHA1InWant"] {
        fixture.git(&["config", &format!("uploadpack.{allowed}"), "true"]);
    }
    let numbers = 1..=6;
    let commits: Vec<CommitId> = numbers
        .map(|n| fixture.commit("step", &[(if n % 2 == 0 { "a/x" } else { "b" }, &n.to_string())]))
        .collect();
    let url = format!("file://{}", fixture.user().display());
    let clone = fixture.beside("partial");
    let words = ["clone", "--quiet", "--filter=tree:0", "--no-checkout", &url, "partial"];
    git_in(&fixture.beside(""), &words);
    let repository = Repository::discover(&clone).unwrap();
    let path = clone.join(".git/bisect-ppl/bisect.git");
    let session = BisectSession::open(&repository, &path, &commits[5]).unwrap();
    let range = Range { paths: vec!["a".to_owned()], ..range(&commits[0], &commits[5]) };
    session.start(&range, Aim::Regression).unwrap();
    assert_eq!(session.current().unwrap(), Some(commits[3].clone()));
}

#[test]
fn git_drives_an_oracle_whose_words_hold_anything() {
    let (fixture, commits) = Fixture::line(9);
    let session = session(&fixture, &commits[8]);
    session.start(&range(&commits[0], &commits[8]), Aim::Regression).unwrap();
    let oracle = fixture.beside("a 'place'/or $acle");
    let record = fixture.beside("record");
    write_program(
        &oracle,
        "#!/bin/sh\nprintf '%s|' \"$@\" >>\"$1\"\nn=$(git show BISECT_HEAD:n)\n\
         [ \"$n\" = 5 ] && exit 125\n[ \"$n\" -lt 7 ]\n",
    );
    let words = [oracle.to_str().unwrap(), record.to_str().unwrap(), "$HOME `id`", "it's", "!x"];
    let invocation = session.run_invocation(words);
    assert_eq!(invocation.folder(), fixture.user(), "where an oracle finds the repository");
    let output = tool(&invocation).unwrap();
    assert_eq!(output.ended, Ended::Exited(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(state(&session).end, Some(End::FirstBad(commits[6].clone())));
    let recorded = fs::read_to_string(&record).unwrap();
    assert!(recorded.contains("|$HOME `id`|it's|!x|"), "{recorded}");
}

#[test]
fn an_oracle_that_stops_the_run_leaves_the_session_as_it_is() {
    let (fixture, commits) = Fixture::line(9);
    let session = session(&fixture, &commits[8]);
    session.start(&range(&commits[0], &commits[8]), Aim::Regression).unwrap();
    let before = state(&session);
    let output = tool(&session.run_invocation(["sh", "-c", "exit 130"])).unwrap();
    assert_ne!(output.ended, Ended::Exited(0));
    assert_eq!(state(&session), before);
}

fn clone_of(fixture: &Fixture) -> PathBuf {
    let url = format!("file://{}", fixture.user().display());
    git_in(&fixture.beside(""), &["clone", "--quiet", &url, "fresh clone"]);
    fixture.beside("fresh clone")
}

#[test]
fn our_log_replays_in_a_fresh_clone() {
    let fixture = Fixture::new();
    let mut commits = Vec::new();
    for n in 1..=9 {
        let subject = format!("it's \"step\" {n}!\r\u{1b}[31m");
        commits.push(fixture.commit(&subject, &[("s r'c/n", &n.to_string())]));
    }
    let filter = vec!["s r'c".to_owned(), ":(exclude,top)do!cs".to_owned()];
    let range = Range { paths: filter.clone(), ..range(&commits[0], &commits[8]) };
    // A search of our own may mark commits in this order.
    let marks = [
        (commits[5].clone(), Verdict::Bad),
        (commits[2].clone(), Verdict::Good),
        (commits[7].clone(), Verdict::Bad),
        (commits[6].clone(), Verdict::Unknown),
        (commits[3].clone(), Verdict::Skip),
        (commits[4].clone(), Verdict::Good),
    ];
    let log = fixture.history().replay_log(&range, Aim::Regression, &marks).unwrap();
    let file = fixture.beside("bisect log");
    fs::write(&file, &log).unwrap();

    let clone = clone_of(&fixture);
    git_in(&clone, &["bisect", "replay", file.to_str().unwrap()]);
    let repository = Repository::discover(&clone).unwrap();
    let theirs = repository.bisect_state_here().unwrap().unwrap();
    assert_eq!(theirs.end, Some(End::FirstBad(commits[5].clone())), "{log}");
    assert_eq!((theirs.paths, theirs.skipped), (filter, vec![commits[3].clone()]));
    assert!(!log.contains('\u{1b}') && !log.contains('\r'));

    // The same replay in our session, which checks no files out.
    let session = session(&fixture, &commits[0]);
    session.replay(&log).unwrap();
    assert_eq!(state(&session).end, Some(End::FirstBad(commits[5].clone())));
    session.replay(&state(&session).log).unwrap();
    assert_eq!(state(&session).new, Some(commits[5].clone()));
}

#[test]
fn a_log_of_a_hunt_for_a_fix_replays_too() {
    let (fixture, commits) = Fixture::line(5);
    let range = Range { first_parent: true, ..range(&commits[0], &commits[4]) };
    let marks = [(commits[2].clone(), Verdict::Bad), (commits[3].clone(), Verdict::Good)];
    let log = fixture.history().replay_log(&range, Aim::Fix, &marks).unwrap();
    let file = fixture.beside("log");
    fs::write(&file, &log).unwrap();
    let clone = clone_of(&fixture);
    git_in(&clone, &["bisect", "replay", file.to_str().unwrap()]);
    let theirs = Repository::discover(&clone).unwrap().bisect_state_here().unwrap().unwrap();
    assert_eq!(theirs.end, Some(End::FirstBad(commits[3].clone())), "{log}");
    assert!(theirs.first_parent && theirs.aim() == Aim::Fix);
}

impl BisectSession {
    /// Ends the current session and rebuilds it from a log, of [`History::replay_log`] or git's
    /// own.
    pub(crate) fn replay(&self, log: &str) -> Result<(), GitError> {
        // Our repository has no files, and a log of another session does not say so.
        let log: String = log
            .lines()
            .map(|line| match line.strip_prefix("git bisect start") {
                Some(rest) if !rest.contains("'--no-checkout'") => {
                    format!("git bisect start '--no-checkout'{rest}\n")
                }
                _ => format!("{line}\n"),
            })
            .collect();
        let file = self.place.git_dir().join("bisect-ppl-replay");
        fs::write(&file, log).map_err(crate::git::error::io_error("write", &file))?;
        let replayed = self.run_to_an_end(&self.bisect("replay").arg(&file));
        // The next replay overwrites a leftover file.
        let _ = fs::remove_file(&file);
        replayed
    }

    /// The commit to test next.
    pub(crate) fn current(&self) -> Result<Option<CommitId>, GitError> {
        Ok(self.state()?.and_then(|state| state.current))
    }

    /// The remaining size by git's estimate; `None` before both ends are known.
    pub(crate) fn remaining(&self) -> Result<Option<Remaining>, GitError> {
        match self.state()? {
            Some(state) => state.remaining(self.place.git_dir()),
            None => Ok(None),
        }
    }
}
