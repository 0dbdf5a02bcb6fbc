//! `[[prepare]]`.

use std::time::Duration;

use super::super::walk::{Section, Spot, Walk};
use super::super::{Command, Placeholder, Policy, Prepare, Template};
use super::matrix::Matrix;
use super::{NOT_A_WORD, POLICIES, is_word};

/// What the cells of a matrix have in common.
const SHARED: &str = "what is prepared";

const PREPARE_TIMEOUT: Duration = Duration::from_mins(30);

pub(super) fn prepares(walk: &mut Walk, root: &mut Section<'_>, matrix: &Matrix) -> Vec<Prepare> {
    let mut prepares: Vec<Prepare> = Vec::new();
    for mut section in root.sections(walk, "prepare") {
        let name = name(walk, &mut section);
        // Its own folder is what it writes to.
        walk.names.prepares.extend(name.clone());
        let command = section.need(walk, "command").and_then(|spot| command(walk, &spot, matrix));
        let timeout = section.get("timeout").and_then(|spot| spot.duration(walk));
        let env = section.get("env").map(|spot| {
            let env = spot.env(walk);
            refuse_a_runs_own(walk, &spot, env.values());
            matrix.refuse_in_shared(walk, &spot, env.values(), SHARED);
            env
        });
        let outputs = section.get("outputs").map(|spot| {
            let spots = spot.list(walk).unwrap_or_default();
            spots.iter().filter_map(|spot| spot.inner_path(walk)).collect()
        });
        let failure = section.get("failure").and_then(|spot| spot.choice(walk, POLICIES, &[]));
        section.finish(walk);
        let Some(name) = name else { continue };
        prepares.push(Prepare {
            name,
            command: command.unwrap_or_else(|| Command { text: String::new(), words: Vec::new() }),
            timeout: timeout.unwrap_or(PREPARE_TIMEOUT),
            env: env.unwrap_or_default(),
            outputs: outputs.unwrap_or_default(),
            failure: failure.unwrap_or(Policy::Skip),
        });
    }
    prepares
}

/// The name, which from here on is part of the section's key.
fn name(walk: &mut Walk, section: &mut Section<'_>) -> Option<String> {
    let spot = section.need(walk, "name")?;
    let name = spot.text(walk)?;
    if !is_word(name) {
        spot.refuse(walk, NOT_A_WORD);
    } else if walk.names.prepares.iter().any(|known| known == name) {
        spot.refuse(walk, format!("there is a prepare `{name}` already."));
    }
    section.key = format!("prepare.{name}");
    Some(name.to_owned())
}

fn command(walk: &mut Walk, spot: &Spot<'_>, matrix: &Matrix) -> Option<Command> {
    let command = spot.command(walk)?;
    refuse_a_runs_own(walk, spot, &command.words);
    matrix.refuse_in_shared(walk, spot, &command.words, SHARED);
    Some(command)
}

/// What is prepared serves every run of a build.
fn refuse_a_runs_own<'t>(
    walk: &mut Walk,
    spot: &Spot<'_>,
    words: impl IntoIterator<Item = &'t Template>,
) {
    for placeholder in words.into_iter().flat_map(Template::placeholders) {
        if matches!(placeholder, Placeholder::Out | Placeholder::Chunks) {
            let what = format!(
                "{placeholder} belongs to a run; what is prepared serves all of them, and is \
                 written to {{prepare.NAME}}."
            );
            spot.refuse(walk, what);
        }
    }
}
