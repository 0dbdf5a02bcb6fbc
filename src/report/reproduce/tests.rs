//! Runs the script with real git.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Output;

use crate::report::tests::fixture::{Hunt, culprit, found};

use super::*;

#[expect(clippy::disallowed_methods, reason = "the test is what a person does with the script")]
fn run(folder: &Path, program: &str, args: &[&str]) -> Output {
    std::process::Command::new(program)
        .args(args)
        .current_dir(folder)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("HOME", folder)
        .env("TMPDIR", folder.parent().unwrap())
        .output()
        .unwrap()
}

fn git(folder: &Path, args: &[&str]) -> String {
    let mut all = vec!["-c", "user.name=A", "-c", "user.email=a@b.c", "-c", "commit.gpgSign=false"];
    all.extend(args);
    let output = run(folder, "git", &all);
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

fn text(text: &str) -> RecipePart {
    RecipePart::Text(text.to_owned())
}

struct World {
    folder: tempfile::TempDir,
    commits: Vec<CommitId>,
    shell: &'static str,
}

const HOSTILE: &str = "in put's \"$(touch pwned)\" `x` ;.txt";

impl World {
    /// An engine in shell. Its value rises from 7.21 to 7.52 at the second commit; the third commit
    /// does not build.
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let repo = folder.path().join("re po's");
        std::fs::create_dir(&repo).unwrap();
        git(&repo, &["init", "-q"]);
        std::fs::write(folder.path().join(HOSTILE), "corpus\n").unwrap();
        std::fs::write(repo.join(".gitignore"), "ignored stuff\n").unwrap();
        std::fs::create_dir(repo.join("ignored stuff")).unwrap();
        std::fs::write(repo.join("ignored stuff/lib"), "linked\n").unwrap();
        let mut commits = Vec::new();
        for (figure, build) in [("7.21", "exit 0"), ("7.52", "exit 0"), ("7.52", "exit 3")] {
            let engine = format!(
                "cat \"$1\" && cat 'ignored stuff/lib'\nprintf 'PPL = {figure}\\033[2J\\n'\n\
                 for i in 1 2 3 4 5 6 7 8 9; do echo tail $i; done\n"
            );
            std::fs::write(repo.join("engine.sh"), engine).unwrap();
            let build = format!("cp engine.sh \"$1/engine\"\necho \"$MODE\"\n{build}\n");
            std::fs::write(repo.join("build.sh"), build).unwrap();
            git(&repo, &["add", "-A"]);
            git(&repo, &["commit", "-q", "-m", "$(touch pwned)"]);
            commits.push(git(&repo, &["rev-parse", "HEAD"]).parse().unwrap());
        }
        Self { folder, commits, shell: "sh" }
    }

    fn repo(&self) -> std::path::PathBuf {
        self.folder.path().join("re po's")
    }

    fn recipe(&self) -> Recipe {
        let input = self.folder.path().join(HOSTILE);
        let input = text(input.to_str().unwrap());
        let (src, build) = (RecipePart::Variable("src"), RecipePart::Variable("build"));
        Recipe {
            build: vec![vec![vec![text("sh")], vec![src, text("/build.sh")], vec![build.clone()]]],
            build_env: BTreeMap::from([("MODE".to_owned(), vec![text("a  b'c")])]),
            measures: vec![RecipeMeasure {
                name: "ppl".to_owned(),
                command: vec![vec![text("sh")], vec![build, text("/engine")], vec![input]],
                shown: Some("PPL = |corpus|linked".to_owned()),
                ..RecipeMeasure::default()
            }],
            links: vec!["ignored stuff".to_owned()],
            ..Recipe::default()
        }
    }

    /// A report with commit `first` as the first bad one and the previous commit as its parent.
    fn report(&self, first: usize) -> Report {
        let mut hunt = Hunt::at_search();
        let mut culprit = culprit("$(touch pwned)\n`x`", "f");
        culprit.info.commit = self.commits[first].clone();
        culprit.parent = self.commits[first - 1].clone();
        culprit.parents = vec![culprit.parent.clone()];
        hunt.end(found(culprit));
        let mut report = hunt.report();
        report.good.commit = self.commits[0].clone();
        report.bad.commit = self.commits[1].clone();
        report.checkout = Some(self.repo().to_str().unwrap().to_owned());
        report
    }

    /// Runs the script and checks that it leaves nothing behind.
    fn script(&self, report: &Report, recipe: &Recipe, args: &[&str]) -> (String, Option<i32>) {
        self.script_of(report, &[recipe.clone(), recipe.clone()], args)
    }

    fn script_of(
        &self,
        report: &Report,
        recipes: &[Recipe; 2],
        args: &[&str],
    ) -> (String, Option<i32>) {
        let path = self.folder.path().join("reproduce.sh");
        std::fs::write(&path, reproduce(report, recipes).unwrap()).unwrap();
        let before = git(&self.repo(), &["status", "--porcelain"]);
        let mut all = vec!["../reproduce.sh"];
        all.extend(args);
        let output = run(&self.repo(), self.shell, &all);
        let shown = String::from_utf8(output.stdout).unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!said.contains("error:") || output.status.code() == Some(1), "{said}");
        let names = |folder: &Path| {
            let names = std::fs::read_dir(folder).unwrap();
            names.map(|e| e.unwrap().file_name().into_string().unwrap()).collect::<Vec<_>>()
        };
        assert!(names(self.folder.path()).iter().all(|n| !n.contains("bisect-ppl")), "{said}");
        assert!(!names(&self.repo()).contains(&"pwned".to_owned()));
        assert_eq!(git(&self.repo(), &["status", "--porcelain"]), before);
        assert_eq!(git(&self.repo(), &["worktree", "list"]).lines().count(), 1, "{said}");
        (shown, output.status.code())
    }
}

#[test]
fn both_figures_are_shown() {
    let mut world = World::new();
    for shell in ["sh", "dash", "bash", "ksh"] {
        // Every machine has `sh`, but not every other shell.
        if shell == "sh" || Path::new("/usr/bin").join(shell).exists() {
            world.shell = shell;
            both_figures_in(&world);
        }
    }
}

fn both_figures_in(world: &World) {
    let (shown, code) = world.script(&world.report(1), &world.recipe(), &[]);
    let expected = format!(
        "ppl\n  parent {}\n    | corpus\n    | linked\n    | PPL = 7.21[2J\n  \
         first bad commit {}\n    | corpus\n    | linked\n    | PPL = 7.52[2J\n  \
         the hunt found ppl: 7.21 → 7.52, +4.3 %, 0.31 worse (tolerance 0.05)\n",
        world.commits[0].short(),
        world.commits[1].short()
    );
    assert_eq!((shown, code), (expected, Some(0)));
}

#[test]
fn another_clone_and_the_last_lines_will_do() {
    let world = World::new();
    let clone = world.folder.path().join("clone");
    git(world.folder.path(), &["clone", "-q", "re po's", "clone"]);
    let mut recipe = world.recipe();
    recipe.measures[0].shown = None;
    let (shown, code) = world.script(&world.report(1), &recipe, &["../clone"]);
    assert!(shown.contains("    | tail 9\n"), "{shown}");
    // The linked folder is ignored, so the clone lacks it: the engine's first lines fail.
    assert_eq!(code, Some(0), "{shown}");
    assert_eq!(git(&clone, &["worktree", "list"]).lines().count(), 1);
    let (shown, code) = world.script(&world.report(1), &recipe, &["../nowhere"]);
    assert_eq!((shown.as_str(), code), ("", Some(1)));
}

#[test]
fn a_figure_in_a_file_is_shown() {
    let world = World::new();
    let mut recipe = world.recipe();
    let measure = &mut recipe.measures[0];
    let script = "mkdir \"$1/a\" && echo \"PPL = 7.89 of $2\" > \"$1/a/report 5.txt\"";
    let words = ["sh", "-c", script, "sh"].map(|word| vec![text(word)]);
    let folders = ["out", "build"].map(|name| vec![RecipePart::Variable(name)]);
    measure.command = words.into_iter().chain(folders).collect();
    measure.file = Some("**/report *.txt".to_owned());
    let (shown, code) = world.script(&world.report(1), &recipe, &[]);
    assert_eq!(shown.matches("    | PPL = 7.89 of ").count(), 2, "{shown}");
    assert_eq!(code, Some(0));
}

#[test]
fn without_a_first_bad_commit_the_endpoints_are_measured() {
    let world = World::new();
    let mut report = world.report(1);
    report.culprit = None;
    let (shown, code) = world.script(&report, &world.recipe(), &[]);
    assert!(shown.contains("  good endpoint ") && shown.contains("  bad endpoint "), "{shown}");
    assert!(shown.contains("PPL = 7.21") && shown.contains("PPL = 7.52"), "{shown}");
    assert_eq!(code, Some(0));
}

#[test]
fn each_commit_has_the_recipe_of_its_era() {
    let world = World::new();
    let (older, mut newer) = (world.recipe(), world.recipe());
    newer.measures[0].command = vec![vec![text("echo")], vec![text("PPL = 9.99 the new way")]];
    newer.links.clear();
    let (shown, code) = world.script_of(&world.report(1), &[older, newer], &[]);
    assert!(shown.contains("PPL = 7.21") && shown.contains("PPL = 9.99 the new way"), "{shown}");
    assert!(!shown.contains("PPL = 7.52"), "{shown}");
    assert_eq!(code, Some(0));
}

#[test]
fn a_side_that_does_not_build_is_shown_so() {
    let world = World::new();
    let (shown, code) = world.script(&world.report(2), &world.recipe(), &[]);
    assert!(shown.contains("PPL = 7.52") && shown.contains("does not build:\n    | a  b'c"));
    assert_eq!(code, Some(1));
}

#[test]
fn a_commit_that_is_not_there_is_named() {
    let world = World::new();
    let mut report = world.report(1);
    report.culprit.as_mut().unwrap().commit = "f".repeat(40).parse().unwrap();
    assert_eq!(world.script(&report, &world.recipe(), &[]), (String::new(), Some(1)));
}
