//! One commit, as git reads it. Git2 refuses some header lines that git accepts, such as an author
//! without an address or a date that is not a number. Imported histories have such lines; these
//! commits are parsed here.

use git2::{ErrorCode, ObjectType, Oid};

use crate::evaluation::CommitId;

use super::{GitError, Repository};

/// Text for a missing date.
const NO_DATE: &str = "unknown";

/// The data of a commit.
#[derive(Debug)]
pub(super) struct Commit {
    pub(super) tree: Oid,
    /// The parents that this clone has, each once: a commit may name a parent twice and is then no
    /// merge.
    pub(super) parents: Vec<CommitId>,
    /// Whether the commit names no parent.
    pub(super) is_root: bool,
    /// The first paragraph of the message, on one line.
    pub(super) subject: Vec<u8>,
    /// `name <email>`, or the whole line if it has another form.
    pub(super) author: String,
    /// RFC 3339, or the original text if it is not a date.
    pub(super) date: String,
}

impl Commit {
    /// Reads a commit.
    pub(super) fn read(
        objects: &git2::Repository,
        repository: &Repository,
        id: &CommitId,
    ) -> Result<Self, GitError> {
        let unread = |source| GitError::Library { what: format!("commit {id}"), source };
        match objects.find_commit(object_id(id)) {
            Ok(commit) => Ok(Self::of(&commit)),
            Err(source) if source.code() == ErrorCode::NotFound => {
                let shallow = repository.is_shallow();
                Err(GitError::UnknownCommit { commit: id.clone(), shallow })
            }
            Err(source) => {
                let all = objects.odb().map_err(unread)?;
                let object = all.read(object_id(id)).map_err(unread)?;
                let bytes = (object.kind() == ObjectType::Commit).then(|| object.data());
                let mut commit = bytes.and_then(Self::parse).ok_or_else(|| unread(source))?;
                if is_cut_off(repository, id) {
                    commit.parents.clear();
                }
                Ok(commit)
            }
        }
    }

    fn of(commit: &git2::Commit<'_>) -> Self {
        let author = commit.author();
        let lossy = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let header = commit.raw_header_bytes();
        Self {
            tree: commit.tree_id(),
            parents: each_once(commit.parent_ids().map(commit_id)),
            is_root: !header.split(|b| *b == b'\n').any(|line| line.starts_with(b"parent ")),
            subject: commit.summary_bytes().unwrap_or_default().to_vec(),
            author: format!("{} <{}>", lossy(author.name_bytes()), lossy(author.email_bytes())),
            date: rfc3339(author.when()),
        }
    }

    /// Parses a commit object: lines of `key value`, an empty line, the message.
    fn parse(bytes: &[u8]) -> Option<Self> {
        let end = bytes.windows(2).position(|pair| pair == b"\n\n").unwrap_or(bytes.len());
        let (header, message) = bytes.split_at(end);
        let lines = || header.split(|byte| *byte == b'\n');
        let values = |key: &'static [u8]| lines().filter_map(move |line| line.strip_prefix(key));
        let object = |value: &[u8]| Oid::from_str(std::str::from_utf8(value).ok()?).ok();
        let parents: Option<Vec<Oid>> = values(b"parent ").map(object).collect();
        let parents = parents?;
        let author = String::from_utf8_lossy(values(b"author ").next().unwrap_or_default());
        let (author, date) = who_and_when(&author);
        Some(Self {
            tree: object(values(b"tree ").next()?)?,
            is_root: parents.is_empty(),
            parents: each_once(parents.into_iter().map(commit_id)),
            subject: first_paragraph(message),
            author,
            date,
        })
    }
}

fn each_once(commits: impl Iterator<Item = CommitId>) -> Vec<CommitId> {
    let mut found = Vec::new();
    for commit in commits {
        if !found.contains(&commit) {
            found.push(commit);
        }
    }
    found
}

/// Author and date from `name <email> seconds offset`; either half may be malformed.
fn who_and_when(line: &str) -> (String, String) {
    let Some((who, when)) = line.rsplit_once('>').filter(|(who, _)| who.contains('<')) else {
        return (line.trim().to_owned(), NO_DATE.to_owned());
    };
    let when = when.trim();
    let (seconds, offset) = when.split_once(' ').unwrap_or((when, ""));
    let date = match (seconds.parse(), minutes(offset)) {
        (Ok(seconds), Some(minutes)) => rfc3339(git2::Time::new(seconds, minutes)),
        _ if when.is_empty() => NO_DATE.to_owned(),
        _ => when.to_owned(),
    };
    (format!("{}>", who.trim()), date)
}

/// Minutes of an offset such as `+0530`.
fn minutes(offset: &str) -> Option<i32> {
    let digits = offset.strip_prefix(['+', '-']).filter(|digits| digits.len() == 4)?;
    let hours_and_minutes: i32 = digits.parse().ok()?;
    let minutes = hours_and_minutes / 100 * 60 + hours_and_minutes % 100;
    Some(if offset.starts_with('-') { -minutes } else { minutes })
}

fn first_paragraph(message: &[u8]) -> Vec<u8> {
    let lines = message.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let lines = lines.skip_while(|line| line.is_empty());
    let lines: Vec<&[u8]> = lines.take_while(|line| !line.is_empty()).collect();
    lines.join(&b' ')
}

/// Whether the shallow clone ends at this commit.
fn is_cut_off(repository: &Repository, id: &CommitId) -> bool {
    let listed = std::fs::read_to_string(repository.common_dir().join("shallow"));
    listed.is_ok_and(|text| text.lines().any(|line| line == id.as_str()))
}

pub(super) fn commit_id(oid: Oid) -> CommitId {
    oid.to_string().parse().expect("an object name is 40 hexadecimal digits")
}

pub(super) fn object_id(id: &CommitId) -> Oid {
    Oid::from_str(id.as_str()).expect("a commit name is 40 hexadecimal digits")
}

/// The time in the author's own offset. A time outside the calendar, as some imported histories
/// have, becomes the nearest valid one; an invalid offset becomes UTC.
fn rfc3339(time: git2::Time) -> String {
    let timestamp = jiff::Timestamp::from_second(time.seconds()).unwrap_or_else(|_| {
        if time.seconds() < 0 { jiff::Timestamp::MIN } else { jiff::Timestamp::MAX }
    });
    let offset =
        jiff::tz::Offset::from_seconds(time.offset_minutes() * 60).unwrap_or(jiff::tz::Offset::UTC);
    timestamp.display_with_offset(offset).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::History;
    use crate::git::tests::{Fixture, git_in};

    #[test]
    fn dates_outside_any_calendar_do_not_panic() {
        assert_eq!(rfc3339(git2::Time::new(0, -90)), "1969-12-31T22:30:00-01:30");
        rfc3339(git2::Time::new(i64::MAX, 0));
        rfc3339(git2::Time::new(i64::MIN, 9_999));
    }

    #[test]
    fn author_and_date_are_read_and_malformed_parts_are_kept() {
        let name = "Ada <ada@example.org>";
        for (line, author, date) in [
            ("Ada <ada@example.org> 1714959489 +0530", name, "2024-05-06T07:08:09+05:30"),
            ("Ada <ada@example.org> 1714959489 -0130", name, "2024-05-06T00:08:09-01:30"),
            ("Ada <ada@example.org> yesterday +0000", name, "yesterday +0000"),
            ("Ada <ada@example.org> 1714959489 ~~", name, "1714959489 ~~"),
            ("Ada <ada@example.org>", name, NO_DATE),
            ("Ada <ada@example.org 17 +0000", "Ada <ada@example.org 17 +0000", NO_DATE),
            ("", "", NO_DATE),
        ] {
            assert_eq!(who_and_when(line), (author.to_owned(), date.to_owned()), "{line}");
        }
    }

    /// Writes a commit object with this text, even an invalid one.
    fn planted(fixture: &Fixture, text: &str) -> CommitId {
        let file = fixture.beside("commit");
        std::fs::write(&file, text).unwrap();
        let make = ["hash-object", "-t", "commit", "-w", "--literally", file.to_str().unwrap()];
        fixture.git(&make).parse().unwrap()
    }

    #[test]
    fn a_commit_with_a_broken_line_is_read_like_any_other() {
        let (fixture, commits) = Fixture::line(2);
        let (first, tree) = (&commits[0], fixture.git(&["rev-parse", "HEAD^{tree}"]));
        let who = "Ada <ada@example.org> 1714959489 +0530";
        for broken in [
            "Ada <ada@example.org 1714959489 +0530",
            "Ada ada@example.org 1714959489 +0530",
            "Ada <ada@example.org> never",
            "Ada <ada@example.org> 1714959489 ~~~~~",
            "",
        ] {
            let both = [[broken, who], [who, broken], [broken, broken]];
            for (author, committer) in both.map(|[author, committer]| (author, committer)) {
                let odd = planted(
                    &fixture,
                    &format!(
                        "tree {tree}\nparent {first}\nparent {first}\nauthor {author}\n\
                         committer {committer}\n\ntwo\nlines\n\nbody\n"
                    ),
                );
                let last = planted(
                    &fixture,
                    &format!("tree {tree}\nparent {odd}\nauthor {who}\ncommitter {who}\n\nlast\n"),
                );
                let history = fixture.history();
                let info = history.info(&odd).unwrap();
                assert_eq!(info.subject, "two lines", "{broken}");
                assert_eq!((info.tree, info.is_root), (tree.clone(), false), "{broken}");
                assert_eq!(info.parents, std::slice::from_ref(first), "{broken}");
                assert!(history.is_ancestor(first, &last).unwrap(), "{broken}");
                assert!(!history.is_ancestor(&last, first).unwrap(), "{broken}");
                let bases = history.merge_bases(&last, &commits[1]).unwrap();
                assert_eq!(bases, std::slice::from_ref(first), "{broken}");
            }
        }
    }

    #[test]
    fn the_edge_of_a_shallow_clone_may_be_such_a_commit() {
        let (fixture, commits) = Fixture::line(1);
        let tree = fixture.git(&["rev-parse", "HEAD^{tree}"]);
        let text = format!(
            "tree {tree}\nparent {}\nauthor Ada <a 1 +0000\ncommitter A <a 1 +0000\n\nodd\n",
            commits[0]
        );
        let odd = planted(&fixture, &text);
        fixture.git(&["update-ref", "refs/heads/main", odd.as_str()]);
        let url = format!("file://{}", fixture.user().display());
        let clone = ["clone", "--quiet", "--no-checkout", "--depth=1", &url, "shallow"];
        git_in(&fixture.beside(""), &clone);
        let shallow = Repository::discover(&fixture.beside("shallow")).unwrap();
        let info = History::open(&shallow).unwrap().info(&odd).unwrap();
        assert!(info.parents.is_empty() && !info.is_root);
    }
}
