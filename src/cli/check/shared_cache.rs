//! Whether builds in several slots share the files of a compiler cache. Each slot has its own path.
//! A cache treats the same file at another path as a different file, unless it knows the base
//! directories. Then it compares paths relative to them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::build::{CcacheSettings, compiler_cache_version};
use crate::config::{Config, Template, Values};

use super::lines::Lines;

/// What it means if a cache does not share its files.
const AGAIN: &str = "what one slot compiled is compiled again in every other slot";

/// The first version of sccache that has base directories.
const WITH_BASE_DIRECTORIES: [u32; 2] = [0, 14];

/// Reports what builds set for this cache, or which settings of the user they keep.
pub(super) fn check(lines: &mut Lines, config: &Config, cache: &'static str) {
    let env = environment(config);
    let version = compiler_cache_version(cache, &env);
    let of_version = |about: String| match &version {
        Some(version) => format!("{version}: {about}"),
        None => about,
    };
    if cache == "ccache" {
        let settings = CcacheSettings::ask(&env);
        return lines.ok(cache, &of_version(of_ccache(config, settings.as_ref())));
    }
    let base = own_base_directories(config);
    match of_sccache(version.as_deref(), base.as_deref(), is_direct(config)) {
        Ok(about) => lines.ok(cache, &of_version(about)),
        Err(about) => lines.warn(
            cache,
            &of_version(about),
            "start its server with SCCACHE_DIRECT=false, or without base directories",
        ),
    }
}

/// The environment of a build, without values that depend on the slot.
fn environment(config: &Config) -> BTreeMap<String, String> {
    let filled = |(name, value): (&String, &Template)| {
        Some((name.clone(), value.fill(&Values::new()).ok()?))
    };
    config.build.env.iter().filter_map(filled).collect()
}

/// A variable that `[build] env` sets, and its value as written.
fn in_build_env(config: &Config, name: &str) -> Option<String> {
    let value = config.build.env.get(name)?.text();
    Some(format!("{name} = {value} ([build] env)"))
}

/// What builds set for ccache, and which settings of the user they keep.
fn of_ccache(config: &Config, settings: Option<&CcacheSettings>) -> String {
    let own = |setting: &str, variables: &[&str]| {
        let in_build = variables.iter().find_map(|name| in_build_env(config, name));
        in_build.or_else(|| settings?.own(setting))
    };
    if settings.is_some_and(|settings| settings.get("disable") == Some("true")) {
        let how = own("disable", &["CCACHE_DISABLE"]).unwrap_or_default();
        return format!("it is switched off, so it keeps and answers nothing: {how}");
    }
    if let Some(base) = own("base_dir", &["CCACHE_BASEDIR"]) {
        return format!("builds set no base directory, because you set one: {base}");
    }
    let set =
        settings.map(|settings| settings.same_in_every_slot(Path::new("/"))).unwrap_or_default();
    if set.is_empty() {
        return format!("`ccache -p` shows no settings, so builds set none: {AGAIN}");
    }
    let names: Vec<&str> = set.iter().map(|(name, _)| *name).collect();
    let names = names.join(" and ");
    let Some(hash) = own("hash_dir", &["CCACHE_HASHDIR", "CCACHE_NOHASHDIR"]) else {
        return format!("builds in all slots share its files: they set {names}");
    };
    let but = match settings.and_then(|settings| settings.get("hash_dir")) {
        Some("true") => ", so files with debug information are compiled again in every slot",
        _ => "",
    };
    format!("builds in all slots share its files: they set {names}, and keep your {hash}{but}")
}

/// What base directories mean for sccache. Builds set none: only the server reads them, when it
/// starts. `base`: those of the user. An error is a danger: sccache's preprocessor cache
/// (`is_direct`) leaves the base directories out of the names of headers. So it may look at the
/// headers of one slot, and answer for another slot (issue 2863 of mozilla/sccache).
fn of_sccache(
    version: Option<&str>,
    base: Option<&str>,
    is_direct: bool,
) -> Result<String, String> {
    if version.and_then(numbers).is_none_or(|version| version < WITH_BASE_DIRECTORIES) {
        return Ok(format!("this version has no base directories (0.14 has): {AGAIN}"));
    }
    match base {
        None => Ok(format!("no base directories are set: {AGAIN}")),
        Some(base) if is_direct => Err(format!(
            "with your base directories, {base}, a build in one slot may get an object of another \
             slot, made with that slot's headers (mozilla/sccache issue 2863)"
        )),
        Some(base) => Ok(format!("your base directories are used: {base}")),
    }
}

/// Major and minor number of a version.
fn numbers(version: &str) -> Option<[u32; 2]> {
    let mut parts = version.split('.').map_while(|part| part.parse().ok());
    Some([parts.next()?, parts.next()?])
}

/// Whether sccache may use its preprocessor cache, as it does unless a variable switches it off.
fn is_direct(config: &Config) -> bool {
    let value = config.build.env.get("SCCACHE_DIRECT").map(|value| value.text().to_owned());
    let value = value.or_else(|| std::env::var("SCCACHE_DIRECT").ok());
    value.is_none_or(|value| !["false", "off", "0"].contains(&value.to_lowercase().as_str()))
}

/// The base directories that the user gave sccache, and where.
fn own_base_directories(config: &Config) -> Option<String> {
    const NAME: &str = "SCCACHE_BASEDIRS";
    in_build_env(config, NAME)
        .or_else(|| Some(format!("{NAME} = {} (environment)", std::env::var(NAME).ok()?)))
        .or_else(|| {
            let file = sccache_configuration()?;
            let list = base_directories(&std::fs::read_to_string(&file).ok()?)?;
            Some(format!("basedirs = {list} ({})", file.display()))
        })
}

/// The path of sccache's configuration.
fn sccache_configuration() -> Option<PathBuf> {
    let named = |name: &str| std::env::var_os(name).map(PathBuf::from);
    named("SCCACHE_CONF").or_else(|| {
        let folder = named("XDG_CONFIG_HOME").or_else(|| Some(named("HOME")?.join(".config")));
        Some(folder?.join("sccache/config"))
    })
}

/// `basedirs` of sccache's configuration; `None` if it lists none.
fn base_directories(text: &str) -> Option<String> {
    let document: toml::Table = text.parse().ok()?;
    let list = document.get("basedirs")?;
    list.as_array().is_some_and(|list| !list.is_empty()).then(|| list.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEFAULTS: &str = "(default) base_dir = \n(default) hash_dir = true\n";

    fn config(env: &str) -> Config {
        let text = format!(
            "version = 1\n[build]\ncommands = ['make']\nenv = {{ {env} }}\n[[measure]]\n\
             name = 'a'\ncommand = 'a'\nparser = 'exit-code'\n[[guard]]\nmetric = 'a'\nmax = 0\n"
        );
        Config::parse(&text, Path::new("/"), "oracle.toml").unwrap()
    }

    fn ccache(env: &str, settings: &str) -> String {
        of_ccache(&config(env), Some(&CcacheSettings::of(settings)))
    }

    #[test]
    fn what_builds_set_for_ccache_is_told() {
        let both =
            "builds in all slots share its files: they set CCACHE_BASEDIR and CCACHE_NOHASHDIR";
        assert_eq!(ccache("", DEFAULTS), both);
        assert!(of_ccache(&config(""), None).contains("compiled again in every other slot"));
        assert!(ccache("", "").contains("compiled again in every other slot"));
    }

    #[test]
    fn the_users_settings_of_ccache_are_told() {
        let base = DEFAULTS.replace("(default) base_dir = ", "(/c/ccache.conf) base_dir = /home");
        let told = "builds set no base directory, because you set one: ";
        assert_eq!(ccache("", &base), format!("{told}base_dir = /home (/c/ccache.conf)"));
        let in_build = ccache("CCACHE_BASEDIR = '{src}'", DEFAULTS);
        assert_eq!(in_build, format!("{told}CCACHE_BASEDIR = {{src}} ([build] env)"));
        let hash = |set: &str| ccache("", &DEFAULTS.replace("(default) hash_dir = true", set));
        let kept = hash("(environment) hash_dir = false");
        assert!(kept.ends_with("CCACHE_BASEDIR, and keep your hash_dir = false (environment)"));
        let kept = hash("(environment) hash_dir = true");
        assert!(kept.ends_with("debug information are compiled again in every slot"), "{kept}");
    }

    #[test]
    fn a_ccache_that_is_switched_off_shares_nothing() {
        let off = format!("{DEFAULTS}(environment) disable = true\n");
        let told = "it is switched off, so it keeps and answers nothing: ";
        assert_eq!(ccache("", &off), format!("{told}disable = true (environment)"));
        let in_build = ccache("CCACHE_DISABLE = '1'", &off);
        assert_eq!(in_build, format!("{told}CCACHE_DISABLE = 1 ([build] env)"));
        let on = format!("{DEFAULTS}(default) disable = false\n");
        assert!(ccache("", &on).starts_with("builds in all slots share"));
    }

    #[test]
    fn sccache_shares_files_only_by_base_directories_of_the_user() {
        let base = Some("SCCACHE_BASEDIRS = /a (environment)");
        for version in [None, Some("0.4.0-pre.6"), Some("0.13.0")] {
            let told = of_sccache(version, base, true).unwrap();
            assert!(told.starts_with("this version has no base directories"), "{version:?}");
        }
        for version in ["0.14.0", "0.18.0", "1.0.0"].map(Some) {
            let told = of_sccache(version, None, true).unwrap();
            assert_eq!(told, format!("no base directories are set: {AGAIN}"), "{version:?}");
            assert!(of_sccache(version, base, true).unwrap_err().contains("issue 2863"));
            assert!(of_sccache(version, base, false).unwrap().contains("/a (environment)"));
        }
    }

    #[test]
    fn base_directories_are_read_from_the_configuration_of_sccache() {
        let text = "basedirs = ['/a', '/b']\n[cache.disk]\ndir = '/c'\n";
        assert!(base_directories(text).is_some_and(|list| list.contains("/a")));
        assert_eq!(base_directories("basedirs = []\n"), None);
        assert_eq!(base_directories("[cache.disk]\ndir = '/c'\n"), None);
        assert_eq!(base_directories("no TOML"), None);
    }
}
