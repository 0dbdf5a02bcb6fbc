//! Finds measures that run nothing of the commit. A program from PATH gives the same result at
//! every commit, and the hunt would report "no regression" for a build that nobody ran.

use std::path::PathBuf;

use crate::config::{Measure, Placeholder, Template};
use crate::evaluation::{Finding, Loaded};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::oracle::{Observation, guarded_measures};
use crate::store::journal::Event;

use super::targets::unmeasurable;

/// Whether a measure's runs at both endpoints ran something of the commit.
#[derive(Clone, Debug, PartialEq, Eq)]
enum CommitCodeRan {
    /// They ran something of the commit, or it is not known what they ran.
    Something,
    /// They loaded nothing of the commit as far as is known. Either the record of files is
    /// incomplete, or the command names the commit and may run it elsewhere, as on another machine.
    Unseen,
    /// They ran nothing of the commit. `program` ran; `instead` is the commit's file of that name.
    Nothing { program: String, instead: Option<String> },
}

impl Driver<'_> {
    /// The finding that a guarded measure ran nothing of the commit at the endpoints. If that is
    /// likely but not certain, writes a note instead and returns `None`.
    pub(crate) fn nothing_ran(
        &mut self,
        good: &Observation,
        bad: &Observation,
    ) -> Result<Option<Box<Finding>>, HuntError> {
        for name in guarded_measures(&self.oracle.recipes.config.guards) {
            let recipe = self.oracle.recipes.at(&good.commit)?;
            let Some(measure) = recipe.measure(&name) else { continue };
            let mut runs = Vec::new();
            for seen in [good, bad] {
                runs.extend(self.runs(seen, &name)?);
            }
            match ran(&runs, names_the_commit(measure)) {
                CommitCodeRan::Something => {}
                CommitCodeRan::Unseen => {
                    let text = format!(
                        "the runs of {name} were not seen to load anything of the commit: unless \
                         the measure's command runs the commit's build elsewhere, its values say \
                         nothing about the commit"
                    );
                    self.oracle.recorder.event(Event::Note { text })?;
                }
                CommitCodeRan::Nothing { program, instead } => {
                    return Ok(Some(unmeasurable(refusal(
                        &name,
                        measure,
                        &program,
                        instead.as_deref(),
                    ))));
                }
            }
        }
        Ok(None)
    }

    /// For each guarded measure whose runs at both endpoints opened only texts of the commit, while a
    /// program from PATH ran: what ran, and what to do. Empty if a `[[prepare]]` may have put the
    /// commit's program elsewhere.
    pub(super) fn texts_only(
        &self,
        good: &Observation,
        bad: &Observation,
    ) -> Result<Vec<TextsOnly>, HuntError> {
        let mut all = Vec::new();
        let config = &self.oracle.recipes.config;
        if !config.prepares.is_empty() {
            return Ok(all);
        }
        for measure in guarded_measures(&config.guards) {
            let mut runs = self.runs(good, &measure)?;
            runs.extend(self.runs(bad, &measure)?);
            if let Some((program, text)) = text_of_all(&runs)
                && let Some(path) = in_path(program)
            {
                let [program, text] = [program, text].map(str::to_owned);
                all.push(TextsOnly { measure, program, path, text });
            }
        }
        Ok(all)
    }

    /// The program and the loaded files of each of a measure's runs; `None` for a run that failed
    /// or has no record of them.
    fn runs(&self, seen: &Observation, name: &str) -> Result<Vec<Run>, HuntError> {
        let recipe = self.oracle.recipes.at(&seen.commit)?;
        let Some(measure) = recipe.measure(name) else { return Ok(Vec::new()) };
        let key = self.oracle.recipes.run_key_of(&seen.commit, &recipe, measure)?;
        let mut runs = Vec::new();
        for sample in seen.of(name) {
            let record = self.oracle.store.run(key.as_str(), &sample.attempt)?.map(|r| r.record);
            let known = record.filter(|_| sample.result.is_ok());
            let run = known
                .and_then(|record| Some((record.argv.first()?.clone(), record.loaded.clone()?)));
            runs.push(run);
        }
        Ok(runs)
    }
}

/// A measure that runs a program from PATH, and nothing of the commit but texts.
pub(super) struct TextsOnly {
    measure: String,
    /// As the command has it.
    program: String,
    /// The program's file.
    path: PathBuf,
    /// A text that the runs opened, below `{src}`.
    text: String,
}

impl TextsOnly {
    /// What ran, as a part of a sentence.
    pub(super) fn told(&self) -> String {
        let Self { measure, program, text, .. } = self;
        format!("`{program}` of PATH ran for {measure}, and read only {text} of the commit")
    }

    /// What to do.
    pub(super) fn cure(&self) -> String {
        let Self { measure, program, path, text } = self;
        format!(
            "the runs of {measure} opened nothing of {{build}}, and no program or script of {{src}}, \
             only {text}: `{program}` is {}, so no commit changes what runs. To measure the \
             commits' program, name it by its path below {{build}} in measure.{measure}.command",
            path.display()
        )
    }
}

/// Endings of files that hold texts for a program, not code and not settings.
const TEXTS: [&str; 8] = ["csv", "jsonl", "md", "raw", "rst", "text", "tsv", "txt"];

/// The program of the first run and a text below `{src}`, if all runs opened the same files of the
/// commit, and only texts of its source that are not executable. `None` if that is not known.
fn text_of_all(runs: &[Run]) -> Option<(&str, &str)> {
    let (program, first) = runs.first()?.as_ref()?;
    for run in runs {
        let (_, loaded) = run.as_ref()?;
        let executable = loaded.executable.as_ref().filter(|_| loaded.is_watched)?;
        let is_text = |path: &String| {
            let ending = path.rsplit_once('.').map(|(_, ending)| ending);
            let is_plain = path.starts_with("src/") && !executable.contains(path);
            is_plain && ending.is_some_and(|ending| TEXTS.contains(&ending))
        };
        if loaded.own != first.own || !loaded.own.keys().all(is_text) {
            return None;
        }
    }
    let text = first.own.keys().next()?.strip_prefix("src/")?;
    Some((program, text))
}

/// A run's program and the files that it loaded; `None` if the run failed or has no record.
type Run = Option<(String, Loaded)>;

fn ran(runs: &[Run], names_the_commit: bool) -> CommitCodeRan {
    let mut shadowed = None;
    let mut is_sure = true;
    for run in runs {
        let Some((_, loaded)) = run else { return CommitCodeRan::Something };
        if !loaded.own.is_empty() {
            return CommitCodeRan::Something;
        }
        is_sure &= loaded.is_watched;
        shadowed = shadowed.or(loaded.shadowed.clone());
    }
    let Some(Some((program, loaded))) = runs.first() else { return CommitCodeRan::Something };
    if !is_sure || (names_the_commit && shadowed.is_none()) {
        return CommitCodeRan::Unseen;
    }
    let is_it = |path: &&String| path.rsplit('/').next() == Some(program);
    let program = loaded.elsewhere.keys().find(is_it).unwrap_or(program).clone();
    CommitCodeRan::Nothing { program, instead: shadowed }
}

/// Whether a placeholder gives the measure the commit or a path of its source or build.
fn names_the_commit(measure: &Measure) -> bool {
    let is_its = |place: &Placeholder| {
        place.depends_on_commit()
            || matches!(place, Placeholder::Src | Placeholder::Build | Placeholder::Prepare(_))
    };
    measure.templates().flat_map(Template::placeholders).any(is_its)
}

fn refusal(name: &str, measure: &Measure, program: &str, instead: Option<&str>) -> String {
    let typed = measure.command.words.first().map_or("", Template::text);
    let found = if typed.contains('/') { "" } else { ", found in PATH" };
    let cure = match instead.and_then(|path| path.split_once('/')) {
        Some((top, rest)) => format!("use {{{top}}}/{rest}"),
        None => "let the command name a file below {build} or {src}".to_owned(),
    };
    let what = match in_path(program) {
        Some(path) => path.display().to_string(),
        None if program == typed => "no program of the commit".to_owned(),
        None => program.to_owned(),
    };
    format!(
        "`{typed}` of the measure {name} is {what}{found}: nothing of the commit was run; {cure}"
    )
}

/// The program's file in PATH. For a script, memory maps show only the interpreter.
pub(super) fn in_path(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").filter(|_| !program.contains('/'))?;
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|file| file.is_file())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn run(own: &[&str], shadowed: Option<&str>) -> (String, Loaded) {
        let files = |paths: &[&str]| -> BTreeMap<String, String> {
            paths.iter().map(|path| ((*path).to_owned(), "1".to_owned())).collect()
        };
        let loaded = Loaded {
            own: files(own),
            elsewhere: files(&["/lib/libc.so.6", "/usr/local/bin/engine"]),
            is_watched: true,
            shadowed: shadowed.map(str::to_owned),
            ..Loaded::default()
        };
        ("engine".to_owned(), loaded)
    }

    #[test]
    fn a_program_from_elsewhere_that_reads_only_a_text_is_told() {
        let told = |runs: &[(String, Loaded)]| {
            let with_modes = |(program, loaded): &(String, Loaded)| {
                let executable = Some(["src/tool.txt".to_owned()].into());
                Some((program.clone(), Loaded { executable, ..loaded.clone() }))
            };
            let runs: Vec<Run> = runs.iter().map(with_modes).collect();
            text_of_all(&runs).map(|(program, text)| (program.to_owned(), text.to_owned()))
        };
        let text = run(&["src/data/text.txt"], None);
        let found = Some(("engine".to_owned(), "data/text.txt".to_owned()));
        assert_eq!(told(&[text.clone(), text.clone()]), found);
        let others: [&[&str]; 5] =
            [&["build/engine"], &["src/engine.sh"], &["src/engine"], &["src/tool.txt"], &[]];
        for other in others {
            assert_eq!(told(&[text.clone(), run(other, None)]), None, "{other:?}");
        }
        let (program, loaded) = text;
        assert_eq!(text_of_all(&[Some((program, loaded))]), None, "modes are not known");
        assert_eq!(told(&[]), None);
    }

    #[test]
    fn what_to_do_names_the_program_that_ran() {
        let texts = TextsOnly {
            measure: "ppl".to_owned(),
            program: "engine".to_owned(),
            path: "/opt/bin/engine".into(),
            text: "text.txt".to_owned(),
        };
        assert_eq!(
            texts.told(),
            "`engine` of PATH ran for ppl, and read only text.txt of the commit"
        );
        assert!(
            texts.cure().contains("`engine` is /opt/bin/engine, so no commit changes what runs")
        );
    }

    #[test]
    fn a_program_from_elsewhere_that_loads_nothing_of_the_commit_is_told() {
        let nothing = |instead: Option<&str>| CommitCodeRan::Nothing {
            program: "/usr/local/bin/engine".to_owned(),
            instead: instead.map(str::to_owned),
        };
        let told = |runs: &[(String, Loaded)], names_the_commit| {
            let runs: Vec<Run> = runs.iter().cloned().map(Some).collect();
            ran(&runs, names_the_commit)
        };
        let built = run(&[], Some("build/bin/engine"));
        let both = [built.clone(), built.clone()];
        assert_eq!(told(&both, false), nothing(Some("build/bin/engine")));
        assert_eq!(told(&both, true), nothing(Some("build/bin/engine")));
        assert_eq!(told(&[run(&[], None)], false), nothing(None));
        assert_eq!(told(&[run(&[], None)], true), CommitCodeRan::Unseen);
        assert_eq!(
            told(&[built.clone(), run(&["src/a.py"], None)], false),
            CommitCodeRan::Something
        );
        assert_eq!(ran(&[Some(built.clone()), None], false), CommitCodeRan::Something);
        assert_eq!(told(&[], false), CommitCodeRan::Something);
        let (program, loaded) = built;
        let unwatched = (program, Loaded { is_watched: false, ..loaded });
        assert_eq!(told(&[unwatched], false), CommitCodeRan::Unseen);
    }
}
