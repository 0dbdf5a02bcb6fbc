//! `start --dry-run`: the plan of a hunt that is not begun.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::config::{Config, Exclusive, Executor, JobOptions, Measure};
use crate::evaluation::{GuardForm, Phase};
use crate::git::{History, Repository};
use crate::hunt::{
    self, Durations, ExaminedRange, HuntRequest, HuntSize, KnownResults, UsageError,
};
use crate::report;
use crate::search::steps_of;
use crate::stats::median;
use crate::store::Store;
use crate::store::journal::{Event, HuntPart, Options, Plan, PlanAhead};
use crate::ui::{Ui, text};

use super::{Failed, exit};

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
    let mut said = words(config, &range, &surroundings.slots);
    let mut line = |words: &str| {
        // Writing to a string cannot fail.
        let _ = writeln!(said, "{words}");
    };
    for (what, about) in at_the_same_time(config, asked.slots) {
        line(&format!("{what:<8} {}", text::line(&about)));
    }
    let known = pace(&store)?;
    let durations = known.as_ref().map_or_else(Durations::default, |(durations, _)| *durations);
    let before = KnownResults::before(&history, &store, &range).map_err(Failed::hunt)?;
    let plan = plan(config, &range, asked.slots, before, durations);
    let pace = known.map(|(_, hunt)| format!("with the durations of hunt {hunt}; "));
    let pace = pace.unwrap_or_default();
    line(&format!("plan     {} ({pace}more if values vary)", report::plan(&plan)));
    for part in report::plan_parts(&plan) {
        line(&format!("         {part}"));
    }
    if let Some(unknown) = unknown_gpu_hours(&config.executor, &plan) {
        line(&format!("gpus     {unknown}"));
    }
    ui.out(&said).map_err(Failed::stdout)?;
    ui.hint("nothing was begun; without --dry-run the hunt begins");
    Ok(exit::DONE)
}

/// The plan of a hunt whose values repeat. How often they do is known only at the endpoints.
fn plan(
    config: &Config,
    range: &ExaminedRange,
    asked: Option<u32>,
    known: KnownResults,
    durations: Durations,
) -> Plan {
    let slots = slots(config, asked);
    let size = HuntSize {
        commits: range.commits,
        measures: config.search_measures().len(),
        ends: None,
        in_noise: None,
        localizes: range.options.localize,
        known,
        reuses_runs: searched(config).any(|measure| !measure.is_exclusive()),
        slots: config.executor.slots_of_search(if needs_one_node(config) { 1 } else { slots }),
    };
    let parts = hunt::plan_parts(config, size, durations);
    let search = parts.iter().find(|part| part.part == HuntPart::Search);
    let ahead = search.and_then(|search| hunt::work_ahead(size, search, durations));
    let in_jobs = config.executor.is_cluster();
    let ahead = ahead.map(|ahead| PlanAhead { in_jobs, ..ahead });
    Plan {
        commits: range.commits,
        steps: steps_of(range.commits),
        stored: known.has_commits,
        parts,
        gpus: config.executor.gpus(),
        ahead,
        ..Plan::default()
    }
}

/// How many slots or jobs the hunt would use.
fn slots(config: &Config, asked: Option<u32>) -> usize {
    let listed = config.executor.listed().unwrap_or(1);
    asked.and_then(|asked| usize::try_from(asked).ok()).unwrap_or(listed)
}

/// How much is built and run at the same time, and what each kind of job asks for.
fn at_the_same_time(config: &Config, asked: Option<u32>) -> Vec<(&'static str, String)> {
    let executor = &config.executor;
    let slots = slots(config, asked);
    let Some(slurm) = &executor.slurm else {
        return in_slots(config, slots).into_iter().map(|words| ("ahead", words)).collect();
    };
    let at_once = |jobs: usize| if needs_one_node(config) { 1 } else { jobs };
    let measure = &slurm.measure;
    let mut lines = vec![job("measure", measure, at_once(measure.max_jobs.min(slots)))];
    lines.extend(slurm.build.iter().map(|it| job("build", it, at_once(it.max_jobs))));
    if at_once(slots) > 1 {
        let varies = "if values vary, commits are usually built and run one after the other";
        lines.push(varies.to_owned());
        let exclusive = searched(config).filter(|measure| measure.is_exclusive());
        let one_job = |it: &Measure| format!("runs of {} are made in one job", it.name);
        lines.extend(exclusive.map(one_job));
    }
    lines.into_iter().map(|words| ("jobs", words)).collect()
}

/// Whether nothing is measured or built ahead in a cluster: the runs of an exclusive measure need
/// one node.
fn needs_one_node(config: &Config) -> bool {
    config.executor.is_cluster() && searched(config).all(Measure::is_exclusive)
}

/// The measures that run at the endpoints and in the search.
fn searched(config: &Config) -> impl Iterator<Item = &Measure> {
    config.measures.iter().filter(|measure| !measure.for_cause)
}

/// What happens at the same time in this many slots of one machine; empty if there is one.
fn in_slots(config: &Config, slots: usize) -> Vec<String> {
    if slots < 2 {
        return Vec::new();
    }
    let mut lines = vec![format!(
        "commits are built and run in {slots} slots at the same time; if values vary, a \
         confirmation uses one slot, and so does a search for times or speeds"
    )];
    for measure in searched(config) {
        let builds = match measure.exclusive {
            Exclusive::No => continue,
            Exclusive::Runs => "",
            Exclusive::All => ", and nothing is built meanwhile",
        };
        lines.push(format!("runs of {} are made one at a time{builds}", measure.name));
    }
    lines
}

/// `measure: partition gpu, gres gpu:1, at most 4 h 00 min each, up to 3 jobs at the same time`.
fn job(what: &str, options: &JobOptions, most: usize) -> String {
    let named = [
        ("partition", &options.partition),
        ("account", &options.account),
        ("gres", &options.gres),
        ("constraint", &options.constraint),
        ("container", &options.container),
    ];
    let named = named.into_iter().filter_map(|(key, value)| Some((key, value.as_ref()?)));
    let mut all: Vec<String> = named.map(|(key, value)| format!("{key} {value}")).collect();
    all.extend(options.sbatch_args.iter().cloned());
    let time = options.time.map(|time| format!("at most {} each", text::duration(time)));
    all.push(time.unwrap_or_else(|| "time limit of the cluster".to_owned()));
    all.push(format!("up to {} at the same time", text::plural(most, "job")));
    format!("{what}: {}", all.join(", "))
}

/// Says that the GPU-hours are unknown before the first build. `None` if the plan has an estimate,
/// or if the configuration names no GPUs.
fn unknown_gpu_hours(executor: &Executor, plan: &Plan) -> Option<String> {
    let gpus = plan.gpus.filter(|_| plan.parts.iter().all(|part| part.seconds[1] <= 0.0))?;
    let time = executor.slurm.as_ref().and_then(|slurm| slurm.measure.time);
    let each = time.map(|time| {
        let hours = report::hours(time.as_secs_f64() * f64::from(gpus));
        format!("; a job that measures takes at most {hours} GPU-hours")
    });
    let each = each.unwrap_or_default();
    Some(format!("the GPU-hours are unknown before the first build and run{each}"))
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

/// The durations of the newest hunt that measured, and its name; `None` if there is none.
fn pace(store: &Store) -> Result<Option<(Durations, String)>, Failed> {
    for hunt in store.hunts().map_err(Failed::store)?.into_iter().rev() {
        let (mut builds, mut runs) = (Vec::new(), BTreeMap::<String, Vec<f64>>::new());
        for entry in &hunt.entries().map_err(Failed::store)? {
            match &entry.event {
                Event::Build(build) if !build.reused && build.prepare.is_none() => {
                    builds.push(build.wall_s);
                }
                Event::Run(run) if !run.reused && run.phase == Phase::Endpoint => {
                    runs.entry(run.measure.clone()).or_default().push(run.wall_s);
                }
                _ => {}
            }
        }
        if runs.is_empty() {
            continue;
        }
        let run: f64 = runs.values().filter_map(|runs| median(runs)).sum();
        return Ok(Some((Durations { build: median(&builds), run }, hunt.id().to_owned())));
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::time::Duration;

    use super::*;
    use crate::config::{ExecutorSlot, Slurm};

    /// One measure with these lines, and a place where to measure.
    fn config(measure: &str, executor: Executor) -> Config {
        let text = format!(
            "version = 1\n[build]\ncommands = ['make']\n[[measure]]\nname = 'speed'\n\
             command = 'a'\nparser = 'exit-code'\n{measure}\n[[guard]]\nmetric = 'speed'\n\
             max = 0\n"
        );
        let mut config = Config::parse(&text, Path::new("/"), "oracle.toml").unwrap();
        config.executor = executor;
        config
    }

    fn said(config: &Config, asked: Option<u32>) -> Vec<String> {
        at_the_same_time(config, asked).into_iter().map(|(_, words)| words).collect()
    }

    #[test]
    fn slots_are_named_if_there_are_several() {
        let slots = |count: usize, measure: &str| {
            let slots = vec![ExecutorSlot::default(); count];
            config(measure, Executor { slots, ..Executor::default() })
        };
        assert!(at_the_same_time(&config("", Executor::default()), None).is_empty());
        assert!(at_the_same_time(&slots(3, "exclusive = true"), Some(1)).is_empty());
        let three = "commits are built and run in 3 slots at the same time; if values vary, a \
                     confirmation uses one slot, and so does a search for times or speeds";
        assert_eq!(said(&slots(3, ""), None), [three]);
        let one = "runs of speed are made one at a time";
        assert_eq!(said(&slots(3, "exclusive = \"runs\""), None), [three, one]);
        let alone = format!("{one}, and nothing is built meanwhile");
        assert_eq!(said(&slots(3, "exclusive = true"), None), [three, alone.as_str()]);
    }

    #[test]
    fn each_kind_of_job_says_what_it_asks_for() {
        let measure = JobOptions {
            partition: Some("gpu".to_owned()),
            account: Some("lab".to_owned()),
            gres: Some("gpu:4".to_owned()),
            time: Some(Duration::from_hours(4)),
            max_jobs: 3,
            ..JobOptions::default()
        };
        let container = Some("/images/cuda-12".to_owned());
        let build = JobOptions { container, ..JobOptions::default() };
        let slurm = Slurm { measure, build: Some(build), ..Slurm::default() };
        let executor = Executor { slurm: Some(slurm), ..Executor::default() };
        assert_eq!(
            said(&config("", executor.clone()), None),
            [
                "measure: partition gpu, account lab, gres gpu:4, at most 4 h 00 min each, up to 3 \
                 jobs at the same time",
                "build: container /images/cuda-12, time limit of the cluster, up to 1 job at the \
                 same time",
                "if values vary, commits are usually built and run one after the other",
            ]
        );
        let exclusive = said(&config("exclusive = true", executor.clone()), None);
        assert_eq!(exclusive.len(), 2);
        assert!(exclusive[0].ends_with(" up to 1 job at the same time"), "{exclusive:?}");
        let plan = Plan {
            commits: 1,
            steps: 0,
            builds: 0,
            runs: 0,
            seconds: 0.0,
            stored: false,
            parts: Vec::new(),
            gpus: executor.gpus(),
            ahead: None,
        };
        let unknown = unknown_gpu_hours(&executor, &plan).unwrap();
        assert!(unknown.ends_with("measures takes at most 16.0 GPU-hours"), "{unknown}");
    }
}
