//! Ccache's settings, and the variables with which builds let ccache see the same files in every
//! slot. `check` says which of them a build sets.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

use super::cache_output::stdout_of;

/// Where ccache says a setting comes from if nobody set it.
const DEFAULT: &str = "default";

/// Ccache's settings: `(default) base_dir = `, one a line, from its configuration and environment.
#[derive(Debug)]
pub(crate) struct CcacheSettings(BTreeMap<String, Setting>);

#[derive(Debug)]
struct Setting {
    value: String,
    /// `default`, `environment` or the path of a configuration.
    origin: String,
}

impl CcacheSettings {
    /// Asks ccache, with the environment of a build. `None` if it is missing or fails.
    pub(crate) fn ask(env: &BTreeMap<String, String>) -> Option<Self> {
        stdout_of(&["ccache", "-p"], env).map(|text| Self::of(&text))
    }

    /// Reads what `ccache -p` printed.
    pub(crate) fn of(text: &str) -> Self {
        let setting = |line: &str| {
            let (name, value) = line.split_once(" =")?;
            let (origin, name) = name.rsplit_once(' ')?;
            let origin = origin.strip_prefix('(')?.strip_suffix(')')?.to_owned();
            Some((name.to_owned(), Setting { value: value.trim().to_owned(), origin }))
        };
        Self(text.lines().filter_map(setting).collect())
    }

    /// The value of a setting; `None` if this version of ccache does not name it.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(|setting| setting.value.as_str())
    }

    /// A setting that the user made, and where: `base_dir = /home (environment)`.
    pub(crate) fn own(&self, name: &str) -> Option<String> {
        let Setting { value, origin } = self.0.get(name)?;
        (origin != DEFAULT).then(|| format!("{name} = {value} ({origin})"))
    }

    /// Variables that make paths below the slot relative, and leave the working folder out of
    /// ccache's digest. What the user set, in the environment or in ccache's configuration, stays.
    pub(crate) fn same_in_every_slot(&self, slot: &Path) -> Vec<(&'static str, OsString)> {
        let is_default =
            |name: &str, value: &str| self.get(name) == Some(value) && self.own(name).is_none();
        if !is_default("base_dir", "") {
            return Vec::new();
        }
        let mut variables = vec![("CCACHE_BASEDIR", slot.as_os_str().to_owned())];
        if is_default("hash_dir", "true") {
            variables.push(("CCACHE_NOHASHDIR", "1".into()));
        }
        variables
    }
}

/// The version of a compiler cache: the last word on the first line of `ccache --version` or
/// `sccache --version`, such as `4.7.5`.
pub(crate) fn compiler_cache_version(
    program: &str,
    env: &BTreeMap<String, String>,
) -> Option<String> {
    let text = stdout_of(&[program, "--version"], env)?;
    let word = text.lines().next()?.split_whitespace().next_back()?;
    word.starts_with(|c: char| c.is_ascii_digit()).then(|| word.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEFAULTS: &str =
        "(default) base_dir = \n(default) hash_dir = true\n(default) stats_log = \n";

    fn variables(text: &str) -> Vec<&'static str> {
        let variables = CcacheSettings::of(text).same_in_every_slot(Path::new("/slot"));
        variables.iter().map(|(name, _)| *name).collect()
    }

    #[test]
    fn what_the_user_set_stays() {
        assert_eq!(variables(DEFAULTS), ["CCACHE_BASEDIR", "CCACHE_NOHASHDIR"]);
        for own in ["(/etc/ccache.conf) hash_dir = false", "(environment) hash_dir = true"] {
            let text = DEFAULTS.replace("(default) hash_dir = true", own);
            assert_eq!(variables(&text), ["CCACHE_BASEDIR"], "{own}");
        }
        for own in ["(environment) base_dir = /home/a b", "(/a b/ccache.conf) base_dir = "] {
            let text = DEFAULTS.replace("(default) base_dir = ", own);
            assert_eq!(variables(&text), [""; 0], "{own}");
        }
        assert_eq!(variables("base_dir = /old\n"), [""; 0]);
        assert_eq!(variables(""), [""; 0]);
    }

    #[test]
    fn a_setting_of_the_user_is_told_with_its_place() {
        let own = "(environment) base_dir = /home/a b\n(/a b/ccache.conf) hash_dir = false\n";
        let settings = CcacheSettings::of(own);
        assert_eq!(settings.get("base_dir"), Some("/home/a b"));
        let told = ["base_dir", "hash_dir", "stats_log"].map(|name| settings.own(name));
        let base = "base_dir = /home/a b (environment)".to_owned();
        let hash = "hash_dir = false (/a b/ccache.conf)".to_owned();
        assert_eq!(told, [Some(base), Some(hash), None]);
        assert_eq!(CcacheSettings::of(DEFAULTS).own("base_dir"), None);
        assert_eq!(CcacheSettings::of(DEFAULTS).get("stats_log"), Some(""));
    }
}
