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

    Usage: bisect-ppl [OPTIONS] <COMMAND>

    See it work:
      demo         Hunt in the bundled engine's history, end to end

    Hunt:
      init         Read the source tree and write a commented oracle.toml
      check        Check what a hunt needs, and say how to fix what is missing
      start        Hunt for the first bad commit between two revisions
      status       Show what a hunt does now, and what it has found so far
      stop         End a running hunt cleanly; it can be resumed
      resume       Continue an interrupted hunt

    Read what was found:
      report       Show a hunt's report
      log          Print a log that `git bisect replay` accepts in any clone
      localize     Find the files and hunks that matter in a bad commit
      verify       Measure a report's first bad commit again, on this machine

    Measure without a hunt:
      measure      Build and measure one commit
      diff         Compare two dumps of logits or of tensors, without any commit

    Be called by git:
      oracle       Judge the checked-out commit; `git bisect run` calls it

    Look after it:
      store        List, show and remove stored results
      schema       Print the JSON schema of oracle.toml, for editors
      completions  Print a script that completes commands and options in a shell
      man          Print the manual page, for `man`
      help         Show the help of a command, or a document, offline

    Options:
      -q, --quiet
              Print only the hunt's name, warnings, errors and the result

      -v, --verbose
              Also show each build and run of a hunt: its command, its time and its
              log

      -h, --help
              Print help (see a summary with '-h')

      -V, --version
              Print version

    From nothing to an answer, in the engine's clone:
      bisect-ppl init                         writes oracle.toml
      bisect-ppl check --good v1              what would stand in the way
      bisect-ppl start --good v1 --bad HEAD   the hunt

    Every command has examples: bisect-ppl help start
    Documents, also offline:    bisect-ppl help topics
    ");
}

#[test]
fn help_is_the_same_by_command_and_by_option() {
    let env = TestEnvironment::new();
    let columns = [("COLUMNS", "80")];
    let said = |args: &[&str]| env.run_with(&env.repo(), args, &columns).expect(0).stdout;
    assert_eq!(said(&["help"]), said(&["--help"]));
    assert_eq!(said(&["help", "start"]), said(&["start", "--help"]));
    assert_eq!(said(&["help", "store", "gc"]), said(&["store", "gc", "--help"]));
}

#[test]
fn documents_are_shown_offline_and_cited_by_address() {
    let env = TestEnvironment::new();
    let topics = env.run(&["help", "topics"]).expect(0).stdout;
    for topic in topics.lines().skip(1).map(|line| line.split_whitespace().next().unwrap()) {
        let text = env.run(&["help", topic]).expect(0).stdout;
        let last = text.lines().last().unwrap();
        let address = "On the web: https://github.com/bisect-ppl/bisect-ppl/blob/main/docs/";
        assert!(last.starts_with(address) && last.ends_with(&format!("{topic}.md")), "{last}");
        assert!(!text.contains("](") && !text.contains('\u{1b}'), "{text}");
    }
    let codes = env.run(&["help", "exit-codes"]).expect(0).stdout;
    let shown: Vec<&str> = codes.lines().take(12).collect();
    insta::assert_snapshot!(shown.join("\n"), @r"
    Exit codes

      0
          a first bad commit was found and confirmed
      1
          only `demo`: the hunt found another commit than the one with the planted
            regression
      2
          wrong arguments or files, reported before a hunt exists: usage; a revision
            that is unknown, ambiguous or not a commit; a folder that is not a
            repository or that git does not trust; good and bad are the same commit,
            in the wrong order, or without a common ancestor; an invalid
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
        assert!(!script.contains("is-detached"), "{name} offers is-detached");
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
