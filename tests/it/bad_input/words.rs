//! Commands and options that do not exist, or not yet.

use super::{plain, refused};

#[test]
fn commands() {
    let env = plain("g b");
    insta::assert_snapshot!(refused(&env, &["strat"]), @r"
    exit code 2
    error: there is no command `strat`
    hint: did you mean `bisect-ppl start`?
    ");
    insta::assert_snapshot!(refused(&env, &["hunt"]), @r"
    exit code 2
    error: there is no command `hunt`
    hint: `bisect-ppl --help` lists the commands
    ");
    // A short word is close to many commands, so the error suggests none.
    insta::assert_snapshot!(refused(&env, &["foo"]), @r"
    exit code 2
    error: there is no command `foo`
    hint: `bisect-ppl --help` lists the commands
    ");
    insta::assert_snapshot!(refused(&env, &["help", "oracle.toml"]), @r"
    exit code 2
    error: there is no help on `oracle.toml`
    hint: did you mean `bisect-ppl help oracle-toml`?
    ");
    insta::assert_snapshot!(refused(&env, &["help", "store", "purge"]), @r"
    exit code 2
    error: there is no help on `purge`
    hint: `bisect-ppl --help` lists the commands, `bisect-ppl help topics` the documents
    ");
    insta::assert_snapshot!(refused(&env, &["help", "compare"]), @r"
    exit code 2
    error: `bisect-ppl compare` is not available yet
    hint: `bisect-ppl --help` lists what is
    ");
    insta::assert_snapshot!(refused(&env, &["store", "lst"]), @r"
    exit code 2
    error: unrecognized subcommand 'lst'

      tip: a similar subcommand exists: 'ls'

    Usage: bisect-ppl store [OPTIONS] <COMMAND>

    For more information, try '--help'.
    ");
    insta::assert_snapshot!(refused(&env, &["completions", "csh"]), @r"
    exit code 2
    error: invalid value 'csh' for '<SHELL>'
      [possible values: bash, elvish, fish, powershell, zsh]

      tip: a similar value exists: 'zsh'

    For more information, try '--help'.
    ");
    assert!(refused(&env, &[]).starts_with("exit code 2\n"));
}

#[test]
fn options() {
    let env = plain("g b").let_localize();
    insta::assert_snapshot!(refused(&env, &["start"]), @r"
    exit code 2
    error: the following required arguments were not provided:
      --good <REV>

    Usage: bisect-ppl start --good <REV> [-- <PATH>...]

    For more information, try '--help'.
    ");
    insta::assert_snapshot!(refused(&env, &["start", "--good", "v1", "--first-parents"]), @r"
    exit code 2
    error: unexpected argument '--first-parents' found

      tip: a similar argument exists: '--first-parent'
      tip: to pass '--first-parents' as a value, use '-- --first-parents'

    Usage: bisect-ppl start --good <REV> --first-parent [-- <PATH>...]

    For more information, try '--help'.
    ");
    insta::assert_snapshot!(refused(&env, &["start", "--good", "v1", "-q", "-v"]), @r"
    exit code 2
    error: the argument '--quiet' cannot be used with '--verbose'

    Usage: bisect-ppl start --good <REV> --quiet [-- <PATH>...]

    For more information, try '--help'.
    ");
    insta::assert_snapshot!(refused(&env, &["start", "--good"]), @r"
    exit code 2
    error: a value is required for '--good <REV>' but none was supplied

    For more information, try '--help'.
    ");
    insta::assert_snapshot!(refused(&env, &["start", "--good", "v1", "--search", "random"]), @r"
    exit code 2
    error: --search random: unknown search method
    hint: allowed are auto, git-bisect and posterior
    ");
    insta::assert_snapshot!(refused(&env, &["measure", "HEAD", "--runs", "0"]), @r"
    exit code 2
    error: invalid value '0' for '--runs <N>': 0 is not in 1..=1000

    For more information, try '--help'.
    ");
    insta::assert_snapshot!(refused(&env, &["status", "--watch", "--wait"]), @r"
    exit code 2
    error: the argument '--watch' cannot be used with '--wait'

    Usage: bisect-ppl status --watch [HUNT]

    For more information, try '--help'.
    ");
    insta::assert_snapshot!(refused(&env, &["report", "--format", "pdf"]), @r"
    exit code 2
    error: invalid value 'pdf' for '--format <FORMAT>'
      [possible values: md, json, html, issue]

    For more information, try '--help'.
    ");
    insta::assert_snapshot!(refused(&env, &["demo", "--scenario", "ropes"]), @r"
    exit code 2
    error: there is no scenario `ropes`; there are: crash, fused, launch, quant, repack, rope
    hint: `bisect-ppl demo --help` names the scenarios
    ");
    insta::assert_snapshot!(refused(&env, &["demo", "--dir", "."]), @r"
    exit code 2
    scenario repack: Weights repacked for speed: right where a width is a multiple of four, wrong where it is not.
    laying the bundled engine's history out in .
    error: . is not empty
    hint: name an empty or a new folder with --dir
    ");
}

#[test]
fn what_is_not_there_yet_is_refused_by_name() {
    let env = plain("g b");
    insta::assert_snapshot!(refused(&env, &["compare", "v1", "HEAD"]), @r"
    exit code 2
    error: `bisect-ppl compare` is not available yet
    hint: `bisect-ppl --help` lists what is
    ");
    insta::assert_snapshot!(refused(&env, &["verify", "report.json"]), @r"
    exit code 2
    error: cannot read report.json: No such file or directory (os error 2)
    hint: verify reads the report.json of a hunt, as `bisect-ppl report --format json` prints it, or a bundle
    ");
    let commands: [&[&str]; 4] = [
        &["compare", "v1", "HEAD"],
        &["gate", "--base", "v1", "--head", "HEAD"],
        &["track", "v1..HEAD"],
        &["reproduce", "--good", "v1", "--bad", "HEAD"],
    ];
    for args in commands {
        let said = refused(&env, args);
        assert!(said.starts_with("exit code 2\n") && said.contains("not available yet"), "{said}");
        assert!(said.contains(args[0]), "{said}");
    }
}
