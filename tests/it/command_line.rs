//! Help, completions, manual pages and the schema.

use std::fs;

use crate::kit::{Output, TestEnvironment};

fn shell(env: &TestEnvironment, program: &str, args: &[&str]) -> Option<Output> {
    let is_there = env.tool(&env.repo(), "sh", &["-c", &format!("command -v {program}")]);
    if is_there.code() == Some(0) {
        return Some(env.tool(&env.repo(), program, args));
    }
    println!("{program} is not here");
    None
}

#[test]
fn help_lists_the_commands_in_the_order_of_their_use() {
    let env = TestEnvironment::new();
    let output = env.run_with(&env.repo(), &["--help"], &[("COLUMNS", "80")]).expect(0);
    assert_eq!(output.stderr, "");
    insta::assert_snapshot!(output.stdout, @r"
    Finds the commit that made an inference engine's answers worse, or made it
    slower. Drives `git bisect run`: at each commit it builds the engine, measures
    it, judges it against a declared tolerance, and names a first bad commit only
    after measuring it and its parents afresh.

    Usage: bisect-ppl <COMMAND>

    See it work:
      demo         Hunt in the bundled engine's history, end to end

    Hunt:
      init         Read the tree it stands in and write a commented oracle.toml
      check        What would stand in a hunt's way, one line each, with the cure
      start        Hunt for the first bad commit between two revisions
      status       What a hunt is doing, and what it has found out so far
      stop         End a running hunt cleanly; it can be resumed
      resume       Go on with an interrupted hunt where it was

    Read what was found:
      report       A hunt's report again, from what it stored
      log          A log that `git bisect replay` takes in any clone

    Measure without a hunt:
      measure      Build and measure one commit by hand

    Be called by git:
      oracle       What `git bisect run` calls; also in a bisect of your own

    Look after it:
      store        What has been measured here: list it, look at it, tidy up
      schema       The JSON schema of oracle.toml, for editors
      completions  A script that completes commands and options in a shell
      man          The manual, for `man`

    Options:
      -h, --help
              Print help (see a summary with '-h')

      -V, --version
              Print version

    From nothing to an answer, in the engine's clone:
      bisect-ppl init                         writes oracle.toml
      bisect-ppl check --good v1              what would stand in the way
      bisect-ppl start --good v1 --bad HEAD   the hunt

    Every command has examples: bisect-ppl start --help
    ");
}

#[test]
fn completions_are_scripts_that_their_shells_take() {
    let env = TestEnvironment::new();
    let checks = [
        ("bash", "bash", &["-n"][..]),
        ("zsh", "zsh", &["-n"]),
        ("fish", "fish", &["--no-execute"]),
        ("elvish", "elvish", &["-compileonly"]),
        ("powershell", "pwsh", &["-NoProfile", "-File"]),
    ];
    for (name, program, args) in checks {
        let script = env.run(&["completions", name]).expect(0).stdout;
        for command in ["start", "resume", "store", "completions"] {
            assert!(script.contains(command), "{name} lacks {command}");
        }
        let file = env.path(&format!("tmp/{name}.ps1"));
        fs::write(&file, script).unwrap();
        let args: Vec<&str> = args.iter().copied().chain([file.to_str().unwrap()]).collect();
        if let Some(output) = shell(&env, program, &args) {
            output.expect(0);
        }
    }
    env.run(&["completions", "csh"]).expect(2).says(&["bash", "zsh"]);
}

#[test]
fn bash_completes_commands_and_options() {
    let env = TestEnvironment::new();
    let complete = |words: &str, count: usize| {
        let script = format!(
            "source <(bisect-ppl completions bash); COMP_WORDS=({words}); COMP_CWORD={count}; \
             _bisect__ppl bisect-ppl \"${{COMP_WORDS[-1]}}\" \"${{COMP_WORDS[-2]}}\"; \
             echo \"${{COMPREPLY[@]}}\""
        );
        shell(&env, "bash", &["-c", &script]).map(|output| output.expect(0).stdout)
    };
    if let Some(said) = complete("bisect-ppl st", 1) {
        assert_eq!(said.trim(), "start status stop store");
    }
    if let Some(said) = complete("bisect-ppl start --first", 2) {
        assert_eq!(said.trim(), "--first-parent --first-only");
    }
}

#[test]
fn manual_pages_are_pages_that_man_takes() {
    let env = TestEnvironment::new();
    let main = env.run(&["man"]).expect(0).stdout;
    let folder = env.path("tmp/man1");
    let output = env.run(&["man", "--dir", folder.to_str().unwrap()]).expect(0);
    assert_eq!(output.stdout, "");
    assert_eq!(fs::read_to_string(folder.join("bisect-ppl.1")).unwrap(), main);
    let help = env.run(&["--help"]).expect(0).stdout;
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let page = path.to_str().unwrap();
        let command = name.trim_start_matches("bisect-ppl-");
        let below = command.split('-').next().unwrap();
        assert!(name == "bisect-ppl" || help.contains(&format!("  {below} ")), "{name}");
        let args = ["-man", "-ww", "-z", "-Tutf8", page];
        if let Some(output) = shell(&env, "groff", &args) {
            assert_eq!(output.expect(0).stderr, "", "{name}");
        }
        if let Some(output) = shell(&env, "man", &["-l", page]) {
            let shown = output.expect(0).stdout;
            assert!(shown.contains(&command.replace("bisect-ppl", "demo")), "{name}: {shown}");
        }
    }
    let count = fs::read_dir(&folder).unwrap().count();
    assert!(count > 12, "{count} pages");
}
