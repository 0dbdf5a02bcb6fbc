//! `reproduce.sh`: builds and measures the first bad commit and its parent on another machine.
//! The script needs only git and a POSIX shell with its usual tools.

mod recipe;
mod shell;
#[cfg(test)]
mod tests;

use std::fmt::Write as _;

use crate::evaluation::CommitId;
use crate::ui::text;

pub(crate) use self::recipe::{
    Recipe, RecipeLayer, RecipeMeasure, RecipePart, RecipePrepare, RecipeWord,
};
use self::shell::quote;

use super::ReportError;
use super::model::Report;
use super::{steps, words};

/// The text of the script. `recipes` apply to the two commits of [`sides`], in that order.
pub(crate) fn reproduce(report: &Report, recipes: &[Recipe; 2]) -> Result<String, ReportError> {
    let are_equal = recipes[0] == recipes[1];
    let mut script = header(report, recipes)?;
    script.push_str(include_str!("functions.sh"));
    for (recipe, number) in recipes.iter().zip(1..) {
        let measures = chosen(report, recipe);
        lay(&mut script, recipe, number)?;
        links(&mut script, recipe, number)?;
        compile(&mut script, recipe, &measures, number)?;
        measure_all(&mut script, &measures, number)?;
        if are_equal {
            break;
        }
    }
    show_all(&mut script, report, &chosen(report, &recipes[1]))?;
    script.push_str(include_str!("main.sh"));
    Ok(script)
}

/// The two commits with their labels: the parent and the first bad commit, or the endpoints if
/// there is no first bad commit.
pub(crate) fn sides(report: &Report) -> [(&'static str, &CommitId); 2] {
    match &report.culprit {
        Some(first) => [("parent", &first.parent), (words::sought(report), &first.commit)],
        None => [("good endpoint", &report.good.commit), ("bad endpoint", &report.bad.commit)],
    }
}

/// The measures that show the regression: those of the targets, or all if there is no target. A
/// build failure as target needs no measure.
fn chosen<'r>(report: &Report, recipe: &'r Recipe) -> Vec<&'r RecipeMeasure> {
    let mut wanted: Vec<&str> = match (&report.target_failure, &report.culprit) {
        (Some(target), _) => match &target.measure {
            Some(measure) => vec![measure],
            None => return Vec::new(),
        },
        (None, Some(first)) => first.effects.iter().map(|e| e.metric.measure.as_str()).collect(),
        (None, None) => Vec::new(),
    };
    if wanted.is_empty() {
        let targets = report.guards.iter().filter(|guard| guard.target);
        wanted.extend(targets.map(|guard| guard.metric.measure.as_str()));
    }
    let all = recipe.measures.iter();
    let found: Vec<_> = all.clone().filter(|m| wanted.contains(&m.name.as_str())).collect();
    if found.is_empty() { all.collect() } else { found }
}

fn header(report: &Report, recipes: &[Recipe; 2]) -> Result<String, ReportError> {
    let mut head = String::from("#!/bin/sh\n");
    let mut comment = |words: &str| {
        let _ = writeln!(head, "# {}", text::line(words));
    };
    comment(&format!("Made by {} for hunt {}.", report.tool, report.hunt));
    comment("Builds and measures two commits in worktrees of its own and shows their figures:");
    for (label, commit) in sides(report) {
        comment(&format!("  {label}: {commit}"));
    }
    if let Some(within) = &report.within {
        comment(&format!("They are commits of {}, each built into", within.what()));
        comment(&format!("  {}", within.commit.commit));
    }
    comment("Usage: sh reproduce.sh [CLONE]");
    let wanted = if report.within.is_some() { "that commit" } else { "both commits" };
    comment(&format!("CLONE is a clone that has {wanted}; by default the one the hunt ran in."));
    comment("Exits with 0 if both could be built and measured, else with 1.");
    let [(label_1, commit_1), (label_2, commit_2)] = sides(report);
    // Shells treat quotes inside `${1:-…}` differently.
    let repo = match repository(report) {
        Some(path) => format!("repo={}\n[ $# -eq 0 ] || repo=$1", quote(&path)?),
        // The journal cannot contain a path that is not UTF-8.
        None => "repo=${1:?usage: sh reproduce.sh CLONE}".to_owned(),
    };
    let submodules = if recipes[1].submodules { "yes" } else { "no" };
    let of_newer = if recipes[0] == recipes[1] {
        1
    } else {
        comment("The two have different recipes: oracle.toml changes the recipe for some commits.");
        2
    };
    let _ = write!(
        head,
        "\n{repo}\nlabel_1={} commit_1={commit_1}\nlabel_2={} commit_2={commit_2}\n\
         submodules={submodules}\nrecipe_1=1 recipe_2={of_newer}\n",
        quote(label_1)?,
        quote(label_2)?
    );
    if let Some(within) = &report.within {
        let _ = writeln!(head, "engine={}", within.commit.commit);
    }
    Ok(head)
}

/// The checkout, or the repository if there is no checkout.
fn repository(report: &Report) -> Option<String> {
    let whole = |path: &String| !path.contains(char::REPLACEMENT_CHARACTER);
    let common = || report.folder.ancestors().nth(3)?.to_str().map(str::to_owned);
    report.checkout.clone().filter(whole).or_else(common).filter(|path| !path.is_empty())
}

fn lay(script: &mut String, recipe: &Recipe, number: u8) -> Result<(), ReportError> {
    let _ = write!(script, "\nlay_{number}() {{\n  :\n");
    for layer in &recipe.layers {
        match layer {
            RecipeLayer::Pin { path } => {
                let _ = writeln!(script, "  lay_pin {}", quote(path)?);
            }
            RecipeLayer::Vendored { folder, files } => {
                let _ = write!(script, "  lay_vendored {}", quote(folder)?);
                for file in files {
                    let _ = write!(script, " \\\n    {}", quote(file)?);
                }
                script.push('\n');
            }
            RecipeLayer::Patch { name, diff } => {
                let _ = writeln!(script, "  # {}", text::line(name));
                script.push_str(&shell::command_with_input(diff, "apply_patch"));
            }
            RecipeLayer::Files { from, paths } => {
                let _ = write!(script, "  lay_files {from}");
                for path in paths {
                    let _ = write!(script, " {}", quote(path)?);
                }
                script.push('\n');
            }
        }
    }
    script.push_str("}\n");
    Ok(())
}

fn links(script: &mut String, recipe: &Recipe, number: u8) -> Result<(), ReportError> {
    let _ = write!(script, "\nlinks_{number}() {{\n  :\n");
    for link in &recipe.links {
        let _ = writeln!(script, "  link_in {}", quote(link)?);
    }
    script.push_str("}\n");
    Ok(())
}

fn compile(
    script: &mut String,
    recipe: &Recipe,
    measures: &[&RecipeMeasure],
    number: u8,
) -> Result<(), ReportError> {
    let _ = write!(script, "\ncompile_{number}() {{\n  cd \"$src\" || exit 1\n");
    for command in &recipe.build {
        let _ = writeln!(script, "  {} || exit", shell::command(command, &recipe.build_env)?);
    }
    let wanted = |prepare: &&RecipePrepare| {
        measures.iter().any(|measure| measure.prepares.contains(&prepare.name))
    };
    for prepare in recipe.prepares.iter().filter(wanted) {
        let _ = writeln!(
            script,
            "  mkdir -p \"$prepared\"/{} || exit\n  {} || exit",
            quote(&prepare.name)?,
            shell::command(&prepare.command, &prepare.env)?
        );
    }
    script.push_str("}\n");
    Ok(())
}

fn measure_all(
    script: &mut String,
    measures: &[&RecipeMeasure],
    recipe: u8,
) -> Result<(), ReportError> {
    for (number, measure) in measures.iter().enumerate() {
        let name = text::line(&measure.name);
        let _ = writeln!(script, "\n# {name}\nmeasure_{recipe}_{number}() {{");
        script.push_str("  cd \"$src\" || exit 1\n");
        if let Some(cwd) = &measure.cwd {
            let _ = writeln!(script, "  cd {} || exit 1", shell::path(cwd)?);
        }
        let aside = ">>\"$side/aside.log\" 2>&1";
        for command in &measure.before {
            let _ =
                writeln!(script, "  {} {aside} || exit", shell::command(command, &measure.env)?);
        }
        let _ = writeln!(script, "  {}", shell::command(&measure.command, &measure.env)?);
        script.push_str("  status=$?\n");
        for command in &measure.after {
            let _ = writeln!(script, "  {} {aside}", shell::command(command, &measure.env)?);
        }
        if let Some(name) = measure.file.as_deref().and_then(|file| file.rsplit('/').next()) {
            let name = quote(name)?;
            let _ = writeln!(script, "  find \"$out\" -type f -name {name} -exec cat {{}} +");
        }
        script.push_str("  exit \"$status\"\n}\n");
    }
    let _ = write!(script, "\nmeasure_all_{recipe}() {{\n  :\n");
    for (number, measure) in measures.iter().enumerate() {
        let _ = write!(
            script,
            "  say \"measuring $named:\" {}\n  out=$side/out/{number}\n  mkdir \"$out\"\n  \
             (measure_{recipe}_{number}) >\"$side/{number}.log\" 2>&1 </dev/null || {{\n    \
             echo $? >\"$side/{number}.failed\"\n    failed=1\n  }}\n",
            quote(&text::line(&measure.name))?
        );
    }
    script.push_str("}\n");
    Ok(())
}

fn show_all(
    script: &mut String,
    report: &Report,
    measures: &[&RecipeMeasure],
) -> Result<(), ReportError> {
    script.push_str("\nshow_all() {\n");
    if measures.is_empty() {
        script.push_str("  show 1 \"$label_1\" \"$commit_1\" build ''\n");
        script.push_str("  show 2 \"$label_2\" \"$commit_2\" build ''\n");
    }
    for (number, measure) in measures.iter().enumerate() {
        let pattern = quote(measure.shown.as_deref().unwrap_or_default())?;
        let name = quote(&text::line(&measure.name))?;
        let _ = writeln!(script, "  printf '%s\\n' {name}");
        for side in [1, 2] {
            let _ = writeln!(
                script,
                "  show {side} \"$label_{side}\" \"$commit_{side}\" {number} {pattern}"
            );
        }
        let effects = report.culprit.iter().flat_map(|first| &first.effects);
        for effect in effects.filter(|effect| effect.metric.measure == measure.name) {
            let found = format!("  the hunt found {}", steps::step(report, effect));
            let _ = writeln!(script, "  printf '%s\\n' {}", quote(&found)?);
        }
    }
    script.push_str("}\n");
    Ok(())
}
