//! Reads commits and their graph.

use std::path::Path;
use std::sync::Once;

use git2::{Oid, RepositoryOpenFlags};

use crate::evaluation::{self, CommitId, Lineage};

use super::commit::{Commit, commit_id, object_id};
use super::{GitError, Repository};

/// A range of commits: reachable from `new`, but from none of `old`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    /// The older ends: good in a hunt for a regression.
    pub old: Vec<CommitId>,
    /// The newer end: bad in a hunt for a regression.
    pub new: CommitId,
    /// Whether only first parents are followed.
    pub first_parent: bool,
    /// Pathspecs: only commits that touch these count. Empty means all commits.
    pub paths: Vec<String>,
}

/// The data of a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CommitInfo {
    /// The commit's object name.
    pub id: CommitId,
    /// The first paragraph of the message on one line; bytes that are not UTF-8 are replaced.
    pub subject: String,
    /// The author as `name <email>`, or the whole line if it has another form.
    pub author: String,
    /// The author's date: RFC 3339 with the author's offset, or the original text if it is not a
    /// date.
    pub date: String,
    /// The tree's object name.
    pub tree: String,
    /// The parents that this clone has, each once.
    pub parents: Vec<CommitId>,
    /// Whether the commit has no parent at all. If false and `parents` is empty, a shallow clone
    /// ends here.
    pub is_root: bool,
}

/// A repository that is open for reading commits. Each thread opens its own.
pub(crate) struct History {
    repository: Repository,
    pub(super) objects: git2::Repository,
}

impl History {
    /// Opens the repository for reading.
    pub(crate) fn open(repository: &Repository) -> Result<Self, GitError> {
        // The common folder has the data that all worktrees share, and it stays if the user's
        // worktree is removed.
        let objects = open_bare(repository.common_dir())?;
        Ok(Self { repository: repository.clone(), objects })
    }

    /// The commit that `rev` names in the user's worktree; annotated tags resolve to their commit.
    pub(crate) fn resolve(&self, rev: &str) -> Result<CommitId, GitError> {
        let unknown = || GitError::UnknownRevision {
            rev: rev.to_owned(),
            shallow: self.repository.is_shallow(),
        };
        if rev.is_empty() || rev.starts_with('-') {
            return Err(unknown());
        }
        // Git, not git2: git knows all forms, such as `@{yesterday}` and `:/words`. Two steps,
        // since `:/words` would take `^{commit}` as a part of the words.
        let named = |rev: &str| -> Result<String, GitError> {
            let call = self.repository.call().args(["rev-parse", "--verify", "--quiet"]);
            Ok(call.arg(rev).run()?.line())
        };
        let object = named(rev)?;
        let commit = named(&format!("{object}^{{commit}}"))?;
        if let Ok(commit) = commit.parse() {
            return Ok(commit);
        }
        if object.is_empty() {
            return Err(self.ambiguous(rev)?.unwrap_or_else(unknown));
        }
        // The object behind an annotated tag.
        let object = named(&format!("{object}^{{}}"))?;
        if object.is_empty() {
            return Err(unknown());
        }
        let kind = self.repository.call().args(["cat-file", "-t"]).arg(object).line()?;
        Err(GitError::NotACommit { rev: rev.to_owned(), kind })
    }

    /// The error for an abbreviated name of several commits, if `rev` is one.
    fn ambiguous(&self, rev: &str) -> Result<Option<GitError>, GitError> {
        if rev.len() < 4 || !rev.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Ok(None);
        }
        let ask = self.repository.call().args(["rev-parse"]).arg(format!("--disambiguate={rev}"));
        let said = ask.run()?.stdout;
        let mut commits = Vec::new();
        for name in String::from_utf8_lossy(&said).lines() {
            let kind = self.repository.call().args(["cat-file", "-t", name]).run()?.line();
            if let ("commit", Ok(commit)) = (kind.as_str(), name.parse::<CommitId>()) {
                commits.push(commit.short().to_owned());
            }
        }
        let error = GitError::Ambiguous { rev: rev.to_owned(), commits: commits.join(", ") };
        Ok((commits.len() > 1).then_some(error))
    }

    /// The data of a commit.
    pub(crate) fn info(&self, id: &CommitId) -> Result<CommitInfo, GitError> {
        let commit = self.commit(id)?;
        Ok(CommitInfo {
            id: id.clone(),
            subject: String::from_utf8_lossy(&commit.subject).into_owned(),
            author: commit.author,
            date: commit.date,
            tree: commit.tree.to_string(),
            parents: commit.parents,
            is_root: commit.is_root,
        })
    }

    /// The commit as people identify it.
    pub(crate) fn named(&self, id: &CommitId) -> Result<evaluation::CommitInfo, GitError> {
        let CommitInfo { id: commit, subject, author, date, .. } = self.info(id)?;
        Ok(evaluation::CommitInfo { commit, subject, author, date })
    }

    /// The parents that this clone has, each once.
    pub(crate) fn parents(&self, id: &CommitId) -> Result<Vec<CommitId>, GitError> {
        Ok(self.commit(id)?.parents)
    }

    /// The name of the commit's tree.
    pub(crate) fn tree_id(&self, id: &CommitId) -> Result<String, GitError> {
        Ok(self.commit(id)?.tree.to_string())
    }

    /// Whether the top folder of the commit's tree has an entry of this name.
    pub(super) fn lists(&self, id: &CommitId, name: &str) -> Result<bool, GitError> {
        let tree = self.objects.find_tree(self.commit(id)?.tree);
        let unread =
            |source| GitError::Library { what: format!("the tree of commit {id}"), source };
        Ok(tree.map_err(unread)?.get_name(name).is_some())
    }

    /// Whether one of two commits contains the other.
    pub(crate) fn are_on_one_line(
        &self,
        one: &CommitId,
        other: &CommitId,
    ) -> Result<bool, GitError> {
        Ok(self.is_ancestor(one, other)? || self.is_ancestor(other, one)?)
    }

    /// Whether `old` is reachable from `new`. As in git, a commit is its own ancestor.
    pub(crate) fn is_ancestor(&self, old: &CommitId, new: &CommitId) -> Result<bool, GitError> {
        let (old_oid, new_oid) = (self.known(old)?, self.known(new)?);
        if old_oid == new_oid {
            return Ok(true);
        }
        if let Ok(is_so) = self.objects.graph_descendant_of(new_oid, old_oid) {
            return Ok(is_so);
        }
        // The history between them has a commit that git can read and git2 cannot.
        let call = self.repository.shared_call().args(["merge-base", "--is-ancestor"]);
        let call = call.args([old.as_str(), new.as_str()]);
        let said = call.run()?;
        if said.code > 1 { Err(call.failed(&said)) } else { Ok(said.code == 0) }
    }

    /// The best common ancestors of two commits, as in `git merge-base --all`: none for unrelated
    /// histories, several after criss-cross merges.
    pub(crate) fn merge_bases(
        &self,
        a: &CommitId,
        b: &CommitId,
    ) -> Result<Vec<CommitId>, GitError> {
        match self.objects.merge_bases(self.known(a)?, self.known(b)?) {
            Ok(bases) => return Ok(bases.iter().map(|base| commit_id(*base)).collect()),
            Err(error) if error.code() == git2::ErrorCode::NotFound => return Ok(Vec::new()),
            Err(_) => {}
        }
        let call = self.repository.shared_call().args(["merge-base", "--all"]);
        let call = call.args([a.as_str(), b.as_str()]);
        let said = call.run()?;
        if said.code > 1 { Err(call.failed(&said)) } else { read_list(&call.shown(), &said.stdout) }
    }

    /// Number of commits in the range, as in `git rev-list --count`.
    pub(crate) fn count(&self, range: &Range) -> Result<usize, GitError> {
        let (command, printed) = self.rev_list(&["--count"], range.arguments())?;
        let said = String::from_utf8_lossy(&printed).trim_end().to_owned();
        said.parse().map_err(|_| GitError::Unreadable { command, what: said })
    }

    /// The range's commits, oldest first, no commit before its parents.
    pub(crate) fn commits(&self, range: &Range) -> Result<Vec<CommitId>, GitError> {
        let (command, printed) =
            self.rev_list(&["--topo-order", "--reverse"], range.arguments())?;
        read_list(&command, &printed)
    }

    /// The range's commits that change one of its paths against a parent. Unlike
    /// [`Self::commits`], also those on a side branch whose changes a merge drops.
    pub(crate) fn commits_touching(&self, range: &Range) -> Result<Vec<CommitId>, GitError> {
        let (command, printed) = self.rev_list(&["--full-history"], range.arguments())?;
        read_list(&command, &printed)
    }

    /// The range's commits with their real parents, oldest first, no commit before its parents.
    pub(crate) fn lineage(&self, range: &Range) -> Result<Vec<Lineage>, GitError> {
        let commits = self.commits(range)?;
        let with_parents = commits.into_iter().map(|commit| {
            let parents = self.parents(&commit)?;
            Ok(Lineage { commit, parents })
        });
        with_parents.collect()
    }

    /// The commits from `old` (excluded) to `new` along first parents, oldest first.
    pub(crate) fn first_parent_path(
        &self,
        old: &CommitId,
        new: &CommitId,
    ) -> Result<Vec<CommitId>, GitError> {
        self.commits(&Range {
            old: vec![old.clone()],
            new: new.clone(),
            first_parent: true,
            paths: Vec::new(),
        })
    }

    /// The commits after `older` up to `newer` that descend from `older`, oldest first.
    pub(crate) fn descending(
        &self,
        older: &CommitId,
        newer: &CommitId,
    ) -> Result<Vec<CommitId>, GitError> {
        let options = ["--topo-order", "--reverse", "--ancestry-path"];
        let ends = vec![format!("{older}..{newer}"), "--".to_owned()];
        let (command, printed) = self.rev_list(&options, ends)?;
        read_list(&command, &printed)
    }

    /// The commits of `old..new` whose change is also in `new..old` (the same `git patch-id`), as
    /// after a cherry-pick. Oldest first, without merges.
    pub(crate) fn on_both_sides(
        &self,
        old: &CommitId,
        new: &CommitId,
    ) -> Result<Vec<CommitId>, GitError> {
        let options = ["--topo-order", "--reverse", "--no-merges", "--right-only", "--cherry-mark"];
        let ends = vec![format!("{old}...{new}"), "--".to_owned()];
        let (command, printed) = self.rev_list(&options, ends)?;
        let printed = String::from_utf8_lossy(&printed);
        let marked: Vec<&str> = printed.lines().filter_map(|line| line.strip_prefix('=')).collect();
        read_list(&command, marked.join("\n").as_bytes())
    }

    /// The command, for errors, and what `git rev-list` prints with these options and arguments.
    pub(super) fn rev_list(
        &self,
        options: &[&str],
        arguments: Vec<String>,
    ) -> Result<(String, Vec<u8>), GitError> {
        let call = self.repository.shared_call().arg("rev-list").args(options).args(arguments);
        let command = call.shown();
        Ok((command, self.repository.answer(call)?))
    }

    /// The error for the first of these commits that is gone from the repository, if any.
    pub(crate) fn find_gone<'a>(
        &self,
        commits: impl IntoIterator<Item = &'a CommitId>,
    ) -> Option<GitError> {
        // A handle that was open before `git gc` still reads the packs that it removed.
        let objects = open_bare(self.repository.common_dir()).ok()?;
        let objects = objects.odb().ok()?;
        let gone = commits.into_iter().find(|id| !objects.exists(object_id(id)))?;
        let repository = self.repository.common_dir().to_owned();
        Some(GitError::Gone { commit: gone.clone(), repository })
    }

    /// The repository.
    pub(crate) fn repository(&self) -> &Repository {
        &self.repository
    }

    pub(super) fn commit(&self, id: &CommitId) -> Result<Commit, GitError> {
        Commit::read(&self.objects, &self.repository, id)
    }

    /// The git2 name of a commit; an error if the repository lacks it.
    fn known(&self, id: &CommitId) -> Result<Oid, GitError> {
        self.commit(id).map(|_| object_id(id))
    }
}

impl Range {
    /// A range with one older and one newer end, and all commits between them.
    pub(crate) fn between(old: &CommitId, new: &CommitId) -> Self {
        Self { old: vec![old.clone()], new: new.clone(), first_parent: false, paths: Vec::new() }
    }

    /// The range as arguments of `git rev-list`.
    pub(super) fn arguments(&self) -> Vec<String> {
        let mut arguments = Vec::new();
        if self.first_parent {
            arguments.push("--first-parent".to_owned());
        }
        arguments.push(self.new.to_string());
        arguments.extend(self.old.iter().map(|id| format!("^{id}")));
        arguments.push("--".to_owned());
        arguments.extend(self.paths.iter().cloned());
        arguments
    }
}

/// Runs a `rev-list` and reads the commits it prints.
pub(super) fn commit_list(call: super::command::Call) -> Result<Vec<CommitId>, GitError> {
    let command = call.shown();
    read_list(&command, &call.ok()?.stdout)
}

/// Reads commits, one a line. `command`: the call that printed them.
pub(super) fn read_list(command: &str, printed: &[u8]) -> Result<Vec<CommitId>, GitError> {
    String::from_utf8_lossy(printed)
        .lines()
        .map(|line| {
            let unreadable = |what| GitError::Unreadable {
                command: command.to_owned(),
                what: format!("{what}"),
            };
            line.parse().map_err(unreadable)
        })
        .collect()
}

/// Opens a git folder as a bare repository.
pub(super) fn open_bare(git_dir: &Path) -> Result<git2::Repository, GitError> {
    allow_what_git_allows();
    // `git2::Repository::open_bare` would not see where a shallow clone ends.
    let flags =
        RepositoryOpenFlags::BARE | RepositoryOpenFlags::NO_SEARCH | RepositoryOpenFlags::NO_DOTGIT;
    let none: [&Path; 0] = [];
    git2::Repository::open_ext(git_dir, flags, none)
        .map_err(|source| GitError::Library { what: git_dir.display().to_string(), source })
}

/// Lets libgit2 open every repository that git has already opened for us.
///
/// Libgit2 refuses repositories with unknown extensions, although partial clones and relative
/// worktree links do not change how commits are read. Libgit2 also reads `safe.directory` only
/// from files, not from the environment. Git has already checked the owner.
fn allow_what_git_allows() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: both calls write global variables that libgit2 reads when it opens a repository.
        // Only `open_bare` opens repositories, and `Once` makes every caller wait until this block
        // is done.
        #[expect(unsafe_code, reason = "git2 has no safe way to say what we accept")]
        unsafe {
            let done = git2::opts::set_extensions(&["partialclone", "relativeworktrees"])
                .and_then(|()| git2::opts::set_verify_owner_validation(false));
            done.expect("libgit2 knows both options and the names hold no NUL");
        }
    });
}

#[cfg(test)]
mod tests;
