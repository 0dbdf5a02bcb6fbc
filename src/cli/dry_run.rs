//! `start --dry-run`: the plan of a hunt that is not begun.

use std::fmt::Write;

use crate::config::Config;
use crate::evaluation::GuardForm;
use crate::git::{History, Repository};
use crate::hunt::{self, ExaminedRange, HuntRequest, UsageError};
use crate::search::steps_of;
use crate::stats::median;
use crate::store::Store;
use crate::store::journal::{Event, Options};
use crate::ui::{Ui, text};

use super::{Failed, exit};

/// Runs of each endpoint if all values repeat.
const ENDPOINT_RUNS: usize = 2;

/// The builds and runs of a hunt without noise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cost {
    steps: usize,
    builds: usize,
    runs: usize,
}

/// Checks what `start` checks, and prints the plan.
pub(crate) fn run(
    repository: &Repository,
    config: &Config,
    asked: &HuntRequest,
    ui: Ui,
) -> Result<u8, Failed> {
    let refused = |problem: UsageError| Failed::hunt(problem.into());
    let first = |problems: Vec<UsageError>| {
        refused(problems.into_iter().next().expect("a refusal has a problem"))
    };
    let history = History::open(repository).map_err(|error| refused(error.into()))?;
    let range = hunt::range(&history, config, asked).map_err(first)?;
    let surroundings = hunt::surroundings(&history, config).map_err(first)?;
    let store = Store::open(repository.common_dir()).map_err(Failed::store)?;
    let cost = cost(config, range.commits);
    let mut plan = words(config, &range, &surroundings.slots);
    // Writing to a string cannot fail.
    let _ = writeln!(
        plan,
        "plan     {}, about {}: {} and {} or more{}",
        text::plural(range.commits, "commit"),
        text::plural(cost.steps, "step"),
        text::plural(cost.builds, "build"),
        text::plural(cost.runs, "run"),
        time(&store, cost)?
    );
    ui.out(&plan).map_err(Failed::stdout)?;
    ui.hint("nothing was begun; without --dry-run the hunt begins");
    Ok(exit::DONE)
}

/// Both endpoints, the search, and the confirmation of one commit against one parent.
fn cost(config: &Config, commits: usize) -> Cost {
    let steps = steps_of(commits);
    let all = config.search_measures().len();
    let guarded = config
        .measures
        .iter()
        .filter(|measure| config.guards.iter().any(|guard| guard.metric.measure == measure.name));
    let confirmed = 2;
    let builds = if config.build.commands.is_empty() { 0 } else { 2 + steps + confirmed };
    let runs = 2 * ENDPOINT_RUNS * all + (steps + confirmed) * guarded.count();
    Cost { steps, builds, runs }
}

fn words(config: &Config, range: &ExaminedRange, slots: &str) -> String {
    let mut lines = Vec::new();
    let mut line = |what: &str, about: &str| lines.push(format!("{what:<8} {}", text::line(about)));
    for (what, end) in [("good", &range.good), ("bad", &range.bad)] {
        line(what, &text::commit(&end.commit, &end.subject));
    }
    let Options { first_parent, paths, skip, .. } = &range.options;
    if *first_parent {
        line("history", "first parents only");
    }
    if !paths.is_empty() {
        line("paths", &paths.join(" "));
    }
    for commit in skip {
        line("skip", commit.short());
    }
    for command in &config.build.commands {
        line("build", &command.text);
    }
    for measure in &config.measures {
        let what = if measure.for_cause { "cause" } else { "run" };
        line(what, &format!("{}: {}", measure.name, measure.command.text));
    }
    for guard in &config.guards {
        line("guard", &format!("{}: {}", guard.metric, limit(guard.form)));
    }
    line("slots", &format!("{slots} (commits are built there)"));
    lines.join("\n") + "\n"
}

/// A guard's tolerance: `at most 0.05 more than at good`.
fn limit(form: GuardForm) -> String {
    match form {
        GuardForm::MaxIncrease(x) => format!("at most {} more than at good", text::figure(x)),
        GuardForm::MaxIncreasePercent(p) => {
            format!("at most {} % more than at good", text::figure(p))
        }
        GuardForm::MaxDecrease(x) => format!("at most {} less than at good", text::figure(x)),
        GuardForm::MaxDecreasePercent(p) => {
            format!("at most {} % less than at good", text::figure(p))
        }
        GuardForm::Max(x) => format!("at most {}", text::figure(x)),
        GuardForm::Min(x) => format!("at least {}", text::figure(x)),
        GuardForm::Unchanged => "as at good, bit for bit".to_owned(),
    }
}

/// The time of the plan, from the builds and runs of the newest hunt that measured; empty if there
/// is none.
fn time(store: &Store, cost: Cost) -> Result<String, Failed> {
    for hunt in store.hunts().map_err(Failed::store)?.into_iter().rev() {
        let (mut builds, mut runs) = (Vec::new(), Vec::new());
        for entry in hunt.entries().map_err(Failed::store)? {
            match entry.event {
                Event::Build(build) if !build.reused && build.prepare.is_none() => {
                    builds.push(build.wall_s);
                }
                Event::Run(run) if !run.reused => runs.push(run.wall_s),
                _ => {}
            }
        }
        let (Some(run), build) = (median(&runs), median(&builds)) else { continue };
        let seconds = cost.builds as f64 * build.unwrap_or(0.0) + cost.runs as f64 * run;
        let time = text::seconds(seconds);
        return Ok(format!(", about {time} at the pace of hunt {}", hunt.id()));
    }
    Ok(String::new())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn a_plan_counts_endpoints_search_and_confirmation() {
        let config = |build: &str| {
            let text = format!(
                "version = 1\n{build}[[measure]]\nname = 'a'\ncommand = 'a'\nparser = 'exit-code'\n\
                 [[measure]]\nname = 'b'\ncommand = 'b'\nparser = 'exit-code'\n\
                 [[guard]]\nmetric = 'a'\nmax = 0\n"
            );
            Config::parse(&text, Path::new("/"), "oracle.toml").unwrap()
        };
        let built = cost(&config("[build]\ncommands = ['make']\n"), 41);
        assert_eq!(built, Cost { steps: 6, builds: 10, runs: 8 + 8 });
        assert_eq!(cost(&config(""), 1), Cost { steps: 0, builds: 0, runs: 8 + 2 });
    }
}
