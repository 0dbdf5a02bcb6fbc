//! Opens a page in the user's browser.

use std::ffi::{OsStr, OsString};
use std::path::Path;

/// The system's own programs for opening a file.
const OPENERS: [&str; 2] =
    if cfg!(target_os = "macos") { ["open", "xdg-open"] } else { ["xdg-open", "sensible-browser"] };

/// Opens a page: with the programs of `BROWSER`, separated by colons, else with the system's. Waits
/// until the program ends, because a browser for the terminal needs the terminal. Returns false if
/// no program worked.
pub(crate) fn open_page(page: &Path) -> bool {
    let configured = std::env::var("BROWSER").unwrap_or_default();
    let configured = configured.split(':').filter(|words| !words.trim().is_empty());
    let own = configured.filter_map(|words| command(words, page));
    let systems = OPENERS.iter().map(|name| vec![OsString::from(name), page.into()]);
    own.chain(systems).any(|words| works(&words))
}

/// The words of one program of `BROWSER`, where `%s` stands for the page; without `%s` the page
/// comes last.
fn command(words: &str, page: &Path) -> Option<Vec<OsString>> {
    let words = shlex::split(words)?;
    let has_place = words.iter().any(|word| word.contains("%s"));
    let fill = |word: &String| -> OsString {
        if word == "%s" { page.into() } else { word.replace("%s", &page.to_string_lossy()).into() }
    };
    let filled = words.iter().map(fill);
    let last = (!has_place).then(|| page.into());
    Some(filled.chain(last).collect())
}

fn works(words: &[OsString]) -> bool {
    let Some((program, arguments)) = words.split_first() else { return false };
    // The browser is the user's own program, so it gets the user's terminal and environment.
    #[expect(clippy::disallowed_methods, reason = "only this module starts programs")]
    let run = duct::cmd::<&OsStr, _>(program, arguments).unchecked().run();
    run.is_ok_and(|output| output.status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_takes_its_place_in_the_command() {
        let said = |words: &str| command(words, Path::new("/a b/report.html"));
        let words = |words: &[&str]| Some(words.iter().map(OsString::from).collect::<Vec<_>>());
        assert_eq!(said("firefox"), words(&["firefox", "/a b/report.html"]));
        assert_eq!(
            said("'my app' --url=%s -x"),
            words(&["my app", "--url=/a b/report.html", "-x"])
        );
        assert_eq!(said("unclosed '"), None);
    }

    #[test]
    fn a_program_that_fails_is_no_browser() {
        assert!(works(&["true".into()]));
        assert!(!works(&["false".into()]));
        assert!(!works(&["/nowhere/browser".into()]));
    }
}
