//! The programs that the commands of oracle.toml start.

use std::path::{Path, PathBuf};

use crate::config::{Config, Placeholder};

use super::lines::Lines;

/// Checks that the programs of all commands exist. Programs under `{src}` or `{build}` come from
/// the commit and are left out.
pub(crate) fn check(lines: &mut Lines, config: &Config) {
    let measures = config.measures.iter().flat_map(|measure| {
        std::iter::once(&measure.command).chain(&measure.before).chain(&measure.after)
    });
    let prepares = config.prepares.iter().map(|prepare| &prepare.command);
    let mut programs: Vec<String> = config
        .build
        .commands
        .iter()
        .chain(prepares)
        .chain(measures)
        .filter_map(|command| command.words.first())
        .filter(|word| {
            !word.placeholders().any(|p| matches!(p, Placeholder::Src | Placeholder::Build))
        })
        .map(|word| word.text().to_owned())
        .chain(config.probes.iter().filter_map(|words| words.first().cloned()))
        .collect();
    programs.sort();
    programs.dedup();
    for program in programs {
        if let Some(path) = find(&program) {
            lines.ok("tool", &path.to_string_lossy());
        } else {
            let cure = "install it, or correct the command".to_owned();
            lines.fail("tool", &format!("`{program}` is not there"), Some(cure));
        }
    }
}

/// A program in PATH, or at its path.
pub(crate) fn find(program: &str) -> Option<PathBuf> {
    if program.contains('/') {
        return Path::new(program).exists().then(|| PathBuf::from(program));
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|file| file.is_file())
}
