//! Links to commits and pull requests on the site that hosts a repository.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use super::CommitId;

/// Where people read a repository's commits in a browser.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Forge {
    /// The page of a commit; `{commit}` stands for its full name.
    pub commit_url: String,
    /// The repository on a known site, if its address is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repository: Option<Hosted>,
}

/// A repository on a known kind of site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Hosted {
    /// The program that runs the site.
    pub site: Site,
    /// The address of the repository's page, without a slash at the end.
    pub url: String,
}

/// The kinds of sites. Each has its own form of addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Site {
    /// GitHub, including GitHub Enterprise.
    GitHub,
    /// GitLab, including other hosts that run it.
    GitLab,
    /// Gitea, Forgejo, Codeberg.
    Gitea,
}

/// A pull request, or a merge request on GitLab.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ChangeRequest {
    /// `#12`, or `!12` on GitLab.
    pub name: String,
    /// The URL of its page.
    pub url: String,
}

/// The placeholder in [`Forge::commit_url`].
pub(crate) const COMMIT: &str = "{commit}";

impl Forge {
    /// The site of a repository whose remote has this URL; `None` if the kind of site is unknown.
    /// Removes a user name and a password from the URL.
    pub(crate) fn of_remote(url: &str) -> Option<Self> {
        let hosted = Hosted::of_remote(url)?;
        let commit = match hosted.site {
            Site::GitHub | Site::Gitea => "commit",
            Site::GitLab => "-/commit",
        };
        let commit_url = format!("{}/{commit}/{COMMIT}", hosted.url);
        Some(Self { commit_url, repository: Some(hosted) })
    }

    /// The page of a commit.
    pub(crate) fn commit(&self, commit: &CommitId) -> String {
        self.commit_url.replace(COMMIT, commit.as_str())
    }

    /// The request that a commit message names, if the site is known.
    pub(crate) fn request(&self, message: &str) -> Option<ChangeRequest> {
        let Hosted { site, url } = self.repository.as_ref()?;
        let (number, mark, path) = match site {
            Site::GitHub => (pull_request(message)?, '#', "pull"),
            Site::Gitea => (pull_request(message)?, '#', "pulls"),
            Site::GitLab => (merge_request(message)?, '!', "-/merge_requests"),
        };
        let name = format!("{mark}{number}");
        Some(ChangeRequest { name, url: format!("{url}/{path}/{number}") })
    }
}

impl Hosted {
    fn of_remote(url: &str) -> Option<Self> {
        let (scheme, rest) = match url.split_once("://") {
            Some((scheme @ ("http" | "https"), rest)) => (scheme, rest.to_owned()),
            // This port belongs to SSH or to git's own protocol.
            Some(("ssh" | "git" | "git+ssh", rest)) => {
                let (host, path) = rest.split_once('/')?;
                let host = host.rsplit_once(':').map_or(host, |(host, _)| host);
                ("https", format!("{host}/{path}"))
            }
            Some(_) => return None,
            // `git@host:path`
            None => {
                let (host, path) = url.split_once(':')?;
                ("https", format!("{host}/{}", path.trim_start_matches('/')))
            }
        };
        let (host, path) = rest.split_once('/')?;
        let host = host.rsplit_once('@').map_or(host, |(_, host)| host).to_ascii_lowercase();
        let is_host = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | ':');
        if host.is_empty() || !host.chars().all(is_host) {
            return None;
        }
        let site = Site::of_host(&host)?;
        let path = path.trim_matches('/');
        let path = path.strip_suffix(".git").unwrap_or(path);
        let is_part = |part: &str| !matches!(part, "" | "." | "..");
        if path.split('/').count() < 2 || !path.split('/').all(is_part) {
            return None;
        }
        Some(Self { site, url: format!("{scheme}://{host}/{}", encoded(path)) })
    }
}

impl Site {
    fn of_host(host: &str) -> Option<Self> {
        let name = host.split(':').next().unwrap_or(host);
        let is = |wanted: &[&str]| name.split('.').any(|label| wanted.contains(&label));
        if is(&["github"]) {
            Some(Self::GitHub)
        } else if is(&["gitlab"]) {
            Some(Self::GitLab)
        } else if is(&["gitea", "forgejo", "codeberg"]) {
            Some(Self::Gitea)
        } else {
            None
        }
    }
}

/// The path, percent-encoded so that it stays a path.
fn encoded(path: &str) -> String {
    let mut safe = String::with_capacity(path.len());
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'.' | b'_' | b'-' | b'~') {
            safe.push(char::from(byte));
        } else {
            let _ = write!(safe, "%{byte:02X}");
        }
    }
    safe
}

/// The number in `Merge pull request #12 from …`, in Gitea's `Merge pull request 'title' (#12) from
/// …`, or at the end of a squashed commit's subject: `title (#12)`.
fn pull_request(message: &str) -> Option<u64> {
    let subject = message.lines().next()?.trim_end();
    if let Some(rest) = subject.strip_prefix("Merge pull request ") {
        let rest = match rest.strip_prefix('#') {
            Some(rest) => rest,
            None => rest.rsplit_once("(#")?.1,
        };
        return leading_number(rest);
    }
    let (_, number) = subject.strip_suffix(')')?.rsplit_once("(#")?;
    number.parse().ok()
}

/// The number in GitLab's line `See merge request group/project!12`.
fn merge_request(message: &str) -> Option<u64> {
    let named = message.lines().rev().find_map(|line| line.strip_prefix("See merge request "))?;
    let (_, number) = named.trim_end().rsplit_once('!')?;
    number.parse().ok()
}

fn leading_number(text: &str) -> Option<u64> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text[..end].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remotes_of_known_sites_are_pages_without_secrets() {
        for (remote, page) in [
            ("https://github.com/ada/engine.git", "https://github.com/ada/engine/commit/{commit}"),
            (
                "https://ada:token@github.com/ada/engine",
                "https://github.com/ada/engine/commit/{commit}",
            ),
            ("git@github.com:ada/engine.git", "https://github.com/ada/engine/commit/{commit}"),
            (
                "ssh://git@gitlab.example.org:2222/a/b/c.git",
                "https://gitlab.example.org/a/b/c/-/commit/{commit}",
            ),
            ("https://codeberg.org/ada/engine/", "https://codeberg.org/ada/engine/commit/{commit}"),
            ("http://gitea.lan:3000/a/b", "http://gitea.lan:3000/a/b/commit/{commit}"),
            (
                "https://github.com/a/b\"><script>",
                "https://github.com/a/b%22%3E%3Cscript%3E/commit/{commit}",
            ),
        ] {
            assert_eq!(Forge::of_remote(remote).unwrap().commit_url, page, "{remote}");
        }
        for remote in [
            "",
            "/srv/git/engine.git",
            "../engine",
            "file:///srv/github.com/a/b",
            "https://example.org/ada/engine",
            "https://notgithub.com/ada/engine",
            "https://github.com/ada",
            "https://github.com/a/../b",
            "javascript://github.com/a/b",
            "https://git\"hub.com/a/b",
        ] {
            assert_eq!(Forge::of_remote(remote), None, "{remote}");
        }
    }

    #[test]
    fn requests_are_read_from_messages() {
        let page = |remote: &str, message: &str| {
            let found = Forge::of_remote(remote).unwrap().request(message);
            found.map(|request| format!("{} {}", request.name, request.url))
        };
        let [github, gitlab, gitea] =
            ["git@github.com:a/b", "https://gitlab.com/g/p", "https://codeberg.org/a/b"];
        for (remote, message, said) in [
            (
                github,
                "Merge pull request #12 from ada/fast\n\nfast",
                "#12 https://github.com/a/b/pull/12",
            ),
            (github, "kv: pad the cache (#345)\n\nbody", "#345 https://github.com/a/b/pull/345"),
            (github, "revert (#1) (#2)", "#2 https://github.com/a/b/pull/2"),
            (
                gitea,
                "Merge pull request 'pad (#3)' (#7) from ada/x into main",
                "#7 https://codeberg.org/a/b/pulls/7",
            ),
            (
                gitlab,
                "Merge branch 'x'\n\nSee merge request g/p!9",
                "!9 https://gitlab.com/g/p/-/merge_requests/9",
            ),
        ] {
            assert_eq!(page(remote, message).as_deref(), Some(said), "{message}");
        }
        for (remote, message) in [
            (github, "see (#12) for more"),
            (github, "kv: pad the cache\n\n(#12)"),
            (github, "x (#12a)"),
            (github, "x (#99999999999999999999)"),
            (gitlab, "kv: pad (#12)"),
            (gitlab, ""),
        ] {
            assert_eq!(page(remote, message), None, "{message}");
        }
        let own = Forge { commit_url: "https://x/{commit}".to_owned(), repository: None };
        assert_eq!(own.request("Merge pull request #12 from a"), None);
        let id: CommitId = "a".repeat(40).parse().unwrap();
        assert_eq!(own.commit(&id), format!("https://x/{id}"));
    }
}
