//! `check`.

use std::fs;

use crate::kit::{Oracle, Snapshot, TestEnvironment, line};

#[test]
fn check_says_what_is_well_and_what_is_not() {
    let env = TestEnvironment::new();
    line("g g b b").build(&env);
    Oracle::new(&env).write(&env);
    let before = Snapshot::of(&env);
    env.run(&["check"]).expect(0);
    before.assert_unchanged(&env);
    assert!(env.starts().is_empty(), "{:?}", env.starts());

    fs::remove_file(env.path("inputs/model.bin")).unwrap();
    let output = env.run(&["check"]);
    assert!([Some(1), Some(2)].contains(&output.code()), "{output:?}");
    assert!(format!("{}{}", output.stdout, output.stderr).contains("model"), "{output:?}");

    fs::write(env.path("inputs/model.bin"), "weights\n").unwrap();
    Oracle::new(&env).build_command("no-such-compiler {src}").write(&env);
    let output = env.run(&["check"]);
    assert!([Some(1), Some(5)].contains(&output.code()), "{output:?}");
    assert!(format!("{}{}", output.stdout, output.stderr).contains("no-such-compiler"));
}

#[test]
fn check_knows_whether_a_submodule_can_be_entered() {
    let env = TestEnvironment::new();
    let declared = "[submodule \"lib\"]\n\tpath = lib\n\turl = ./nowhere\n";
    line("g b").file(1, ".gitmodules", declared).pin(1, "lib", &"1".repeat(40)).build(&env);
    for (path, said) in [
        ("lib", "this clone does not have the commits of lib"),
        ("src", "src is neither a submodule nor a folder at HEAD"),
    ] {
        let oracle = Oracle::new(&env).section(&format!("[worktree]\ndescend = \"{path}\""));
        oracle.write_to(&env.repo().join("oracle.toml"));
        env.run_in(&env.repo(), &["check"]).expect(0).says(&["warn  descend", said]);
    }
}

#[test]
fn check_warns_of_files_that_stay_pointers() {
    let env = TestEnvironment::new();
    line("g b").file(1, ".gitattributes", "*.bin filter=lfs -text\n").build(&env);
    let words = ["warn  lfs", "stay pointers of three lines", "set `lfs = true` under [worktree]"];
    Oracle::new(&env).write_to(&env.repo().join("oracle.toml"));
    env.run_in(&env.repo(), &["check"]).expect(0).says(&words);
    let fetched = Oracle::new(&env).section("[worktree]\nlfs = true");
    fetched.write_to(&env.repo().join("oracle.toml"));
    let said = env.run_in(&env.repo(), &["check"]).expect(0).stdout;
    assert!(!said.contains("lfs"), "{said}");
}

#[test]
fn check_warns_of_files_that_no_key_knows() {
    let env = TestEnvironment::new();
    line("g b").build(&env);
    let [weights, model] = ["inputs/draft.bin", "inputs/model.bin"].map(|path| env.path(path));
    fs::write(&weights, "weights\n").unwrap();
    let command = |args: &str| format!("{{build}}/engine run ppl {args}");
    let args = format!("draft={} model={}", weights.display(), model.display());
    Oracle::new(&env).ppl_command(&command(&args)).write(&env);
    let said = env.run(&["check"]).expect(0).stdout;
    let draft = format!(
        "warn  path         `{}` is named in measure.ppl.command and not in [inputs]: if it \
         changes, stored results of the old file are used again; add it to [inputs] and write \
         {{inputs.NAME}}",
        weights.display()
    );
    assert!(said.contains(&draft), "{said}");
    assert!(said.contains("is the input model, but measure.ppl.command names it"), "{said}");
    Oracle::new(&env).ppl_command(&command("draft={inputs.model}")).write(&env);
    let said = env.run(&["check"]).expect(0).stdout;
    assert!(!said.contains("measure.ppl.command"), "{said}");
}

#[test]
fn check_warns_of_a_speed_that_is_measured_in_company() {
    let env = TestEnvironment::new();
    line("g b").build(&env);
    let keys = "parser = \"regex\"\npattern = 'decode: (?<tg>[0-9.]+)'\n";
    let oracle = |keys: &str| {
        let guard = "metric = \"speed.tg\"\nmax_decrease_percent = 5";
        Oracle::new(&env).measure("speed", "speed", keys).guard(guard).write(&env);
        env.run(&["check"]).expect(0).stdout
    };
    let said = oracle(keys);
    let line = said.lines().find(|line| line.starts_with("warn")).unwrap();
    assert_eq!(
        line,
        "warn  measure      speed.tg looks like a time or a speed; `exclusive = true` in the \
         measure `speed` keeps our other builds and runs away from its runs"
    );
    let said = oracle(&format!("{keys}exclusive = true\n"));
    assert!(!said.contains("looks like a time"), "{said}");
}
