use std::path::Path;

use super::*;

const ENGINE: &str = r#"version = 1
[inputs]
model = "m.bin"
corpus = "c.txt"
[build]
commands = ["make -C {src} O={build}"]
env = { CC = "gcc" }
[[measure]]
name = "ppl"
command = "{build}/ppl -m {inputs.model} -t {threads}"
parser = "regex"
pattern = "ppl ([0-9.]+)"
env = { OMP = "1" }
[[guard]]
metric = "ppl"
max_increase = 0.5
"#;

/// All inputs of the keys.
struct Facts {
    config: Config,
    tree: &'static str,
    commit: CommitId,
    inputs: BTreeMap<String, InputFile>,
    links: BTreeMap<String, String>,
    environment: BTreeMap<String, String>,
    surroundings: Surroundings,
    machine: Machine,
    build_node: Option<BuildNode>,
}

fn file(path: &str, sha256: &str) -> InputFile {
    InputFile { path: path.to_owned(), sha256: sha256.to_owned() }
}

fn facts(text: &str) -> Facts {
    let config = Config::parse(text, Path::new("/"), "oracle.toml").unwrap();
    Facts {
        config,
        tree: "tree",
        commit: "1".repeat(40).parse().unwrap(),
        inputs: BTreeMap::from([
            ("model".to_owned(), file("/m.bin", "aa")),
            ("corpus".to_owned(), file("/c.txt", "bb")),
        ]),
        links: BTreeMap::new(),
        environment: BTreeMap::new(),
        surroundings: Surroundings::default(),
        machine: Machine { class: "x86".to_owned(), cores: 8, ..Machine::default() },
        build_node: None,
    }
}

impl Facts {
    fn around(&self) -> Circumstances<'_> {
        Circumstances {
            inputs: &self.inputs,
            links: &self.links,
            probes: &self.environment,
            surroundings: &self.surroundings,
            machine: &self.machine,
            build_node: self.build_node.as_ref(),
        }
    }

    fn build(&self) -> BuildKey {
        build_key(self.tree, &self.commit, &self.config, self.around())
    }

    fn run(&self) -> RunKey {
        let (config, measure) = (&self.config, &self.config.measures[0]);
        run_key(&self.build(), &self.commit, measure, config, self.around())
    }
}

/// Whether a change of the facts changes the keys of build and run.
fn changes(change: impl FnOnce(&mut Facts)) -> (bool, bool) {
    let before = facts(ENGINE);
    let mut after = facts(ENGINE);
    change(&mut after);
    (before.build() != after.build(), before.run() != after.run())
}

/// Whether a change of the configuration's text changes the keys of build and run.
fn edited(old: &str, new: &str) -> (bool, bool) {
    assert!(ENGINE.contains(old), "{old}");
    let (before, after) = (facts(ENGINE), facts(&ENGINE.replacen(old, new, 1)));
    (before.build() != after.build(), before.run() != after.run())
}

const NEITHER: (bool, bool) = (false, false);
const ONLY_RUN: (bool, bool) = (false, true);
const BOTH: (bool, bool) = (true, true);

#[test]
fn parsers_time_outs_and_guards_are_in_neither_key() {
    assert_eq!(edited("max_increase = 0.5", "max_increase_percent = 9.0"), NEITHER);
    assert_eq!(edited("ppl ([0-9.]+)", "PPL: ([0-9.]+)"), NEITHER);
    assert_eq!(edited("env = { OMP", "pick = \"max\"\nenv = { OMP"), NEITHER);
    assert_eq!(edited("env = { OMP", "timeout = \"3m\"\nenv = { OMP"), NEITHER);
    assert_eq!(edited("env = { CC", "timeout = \"3m\"\nenv = { CC"), NEITHER);
    assert_eq!(edited("env = { CC", "confirm = \"reuse\"\nenv = { CC"), NEITHER);
    assert_eq!(edited("env = { CC", "ignore = [\"docs/**\"]\nenv = { CC"), NEITHER);
    let besides = [
        "[failures]\ncrash = \"bad\"\ntransient = [\"Xid\"]\n[[guard]]",
        "[statistics]\nconfidence = 0.9\n[[guard]]",
        "[[require]]\nmeasure = \"ppl\"\npattern = \"cpu\"\n[[guard]]",
        "[[guard]]\nmetric = \"ppl.wall_s\"\nmax_increase = 9.0\n[[guard]]",
    ];
    for table in besides {
        assert_eq!(edited("[[guard]]", table), NEITHER, "{table}");
    }
}

#[test]
fn another_measure_changes_nothing_of_this_one() {
    let other = "[[measure]]\nname = \"other\"\ncommand = \"x\"\nparser = \"exit-code\"\n[[guard]]";
    assert_eq!(edited("[[guard]]", other), NEITHER);
}

#[test]
fn what_a_build_depends_on_changes_it_and_its_runs() {
    assert_eq!(changes(|facts| facts.tree = "another"), BOTH);
    assert_eq!(edited("O={build}", "O={build} V=1"), BOTH);
    assert_eq!(edited("CC = \"gcc\"", "CC = \"clang\""), BOTH);
    assert_eq!(edited("CC = \"gcc\"", "CXX = \"gcc\""), BOTH);
    assert_eq!(edited("env = { CC", "mode = \"incremental\"\nenv = { CC"), BOTH);
    assert_eq!(edited("env = { CC", "jobs = 3\nenv = { CC"), BOTH);
    assert_eq!(edited("[build]", "[worktree]\nlink = [\".venv\"]\n[build]"), BOTH);
    assert_eq!(edited("[build]", "[worktree]\nsubmodules = false\n[build]"), BOTH);
    let probe = |output: &str| {
        let output = output.to_owned();
        changes(|facts| drop(facts.environment.insert("cc --version".to_owned(), output)))
    };
    assert_eq!(probe("12.1"), BOTH);
}

#[test]
fn what_commands_inherit_counts_unless_it_is_declared() {
    let inherits = |name: &str| {
        let one = [(name.to_owned(), "x".to_owned())];
        changes(|facts| facts.surroundings = Surroundings::of(one, &facts.config.variables))
    };
    assert_eq!(inherits("CFLAGS"), BOTH);
    assert_eq!(inherits("LD_LIBRARY_PATH"), BOTH);
    assert_eq!(inherits("OMP_NUM_THREADS"), ONLY_RUN);
    assert_eq!(inherits("HOME"), NEITHER);
    assert_eq!(inherits("CC"), NEITHER, "it is declared");
    let compiler = ("cc".to_owned(), "cc 13".to_owned());
    assert_eq!(changes(|facts| facts.surroundings.compilers = BTreeMap::from([compiler])), BOTH);
}

#[test]
fn cores_are_in_a_build_key_unless_jobs_and_threads_are_set() {
    assert_eq!(changes(|facts| facts.machine.cores = 4), BOTH);
    let fixed = ENGINE.replacen("[build]", "[run]\nthreads = 2\n[build]\njobs = 2", 1);
    let (mut eight, mut four) = (facts(&fixed), facts(&fixed));
    (eight.machine.cores, four.machine.cores) = (8, 4);
    assert_eq!(eight.build(), four.build());
    assert_ne!(eight.run(), four.run(), "a run may use as many as it finds");
    assert_eq!(edited("env = { CC", "jobs = 8\nenv = { CC"), NEITHER);
}

#[test]
fn the_slot_of_a_run_does_not_change_its_key() {
    let of = |slots: &str| {
        let executor = format!("[executor]\nslots = [{slots}]\n[build]");
        facts(&ENGINE.replacen("[build]", &executor, 1))
    };
    let devices =
        "{ env = { CUDA_VISIBLE_DEVICES = '0' } }, { env = { CUDA_VISIBLE_DEVICES = '1' } }";
    let (first, mut second) = (of(devices), of(devices));
    second.config.executor.own = 1;
    assert_eq!((first.build(), first.run()), (second.build(), second.run()));
    // Which device is inherited does not matter: the slot's own replaces it.
    let one = [("CUDA_VISIBLE_DEVICES".to_owned(), "7".to_owned())];
    second.surroundings = Surroundings::of(one, &[]);
    assert_eq!(first.run(), second.run());
    // A value that all slots have may change results.
    let fast = of("{ env = { OMP_X = '1' } }, { env = { OMP_X = '1' } }");
    let slow = of("{ env = { OMP_X = '2' } }, { env = { OMP_X = '2' } }");
    assert_eq!(fast.build(), slow.build());
    assert_ne!(fast.run(), slow.run());
}

#[test]
fn what_only_a_run_depends_on_leaves_the_build() {
    assert_eq!(edited("/ppl -m", "/ppl --fast -m"), ONLY_RUN);
    assert_eq!(edited("OMP = \"1\"", "OMP = \"2\""), ONLY_RUN);
    assert_eq!(edited("env = { OMP", "cwd = \"{build}\"\nenv = { OMP"), ONLY_RUN);
    assert_eq!(edited("env = { OMP", "before = [\"true\"]\nenv = { OMP"), ONLY_RUN);
    assert_eq!(edited("[[guard]]", "[run]\nchunks = 4\n[[guard]]"), ONLY_RUN);
    assert_eq!(changes(|facts| facts.machine.class = "arm".to_owned()), ONLY_RUN);
}

#[test]
fn a_command_before_is_not_the_same_command_after() {
    let with = |text: &str| facts(&ENGINE.replacen("env = { OMP", text, 1)).run();
    let before = with("before = [\"sync\"]\nenv = { OMP");
    let after = with("after = [\"sync\"]\nenv = { OMP");
    assert_ne!(before, after);
}

#[test]
fn an_input_counts_by_its_content_and_only_where_it_is_named() {
    let replaced = |name: &str, input: InputFile| {
        changes(|facts| drop(facts.inputs.insert(name.to_owned(), input)))
    };
    assert_eq!(replaced("model", file("/m.bin", "cc")), ONLY_RUN);
    assert_eq!(replaced("model", file("/elsewhere/m.bin", "aa")), NEITHER);
    assert_eq!(replaced("corpus", file("/c.txt", "cc")), NEITHER);
    let named = ENGINE.replacen("make -C", "make M={inputs.model} -C", 1);
    let (before, mut after) = (facts(&named), facts(&named));
    after.inputs.insert("model".to_owned(), file("/m.bin", "cc"));
    assert_ne!(before.build(), after.build());
}

#[test]
fn equal_trees_share_what_they_measure_unless_the_recipe_names_the_commit() {
    assert_eq!(changes(|facts| facts.commit = "2".repeat(40).parse().unwrap()), NEITHER);
    for word in ["{commit}", "{short}", "{parent}", "{commit_date}"] {
        for (old, expected) in [("O={build}", BOTH), ("/ppl -m", ONLY_RUN)] {
            let text = ENGINE.replacen(old, &format!("{old} {word}"), 1);
            let (before, mut after) = (facts(&text), facts(&text));
            after.commit = "2".repeat(40).parse().unwrap();
            let changed = (before.build() != after.build(), before.run() != after.run());
            assert_eq!(changed, expected, "{word} in {old}");
        }
    }
}

#[test]
fn two_measures_of_one_command_have_runs_of_their_own() {
    let twice = format!(
        "{ENGINE}[[measure]]\nname = \"launch\"\n\
         command = \"{{build}}/ppl -m {{inputs.model}} -t {{threads}}\"\n\
         parser = \"regex\"\npattern = \"b=(.*)\"\nkind = \"fact\"\nenv = {{ OMP = \"1\" }}\n"
    );
    let facts = facts(&twice);
    let key = |index: usize| {
        let measure = &facts.config.measures[index];
        let build = facts.build();
        run_key(&build, &facts.commit, measure, &facts.config, facts.around())
    };
    assert_ne!(key(0), key(1));
}

#[test]
fn exclusive_warmed_up_and_file_measures_have_run_keys_of_their_own() {
    for keys in ["exclusive = true", "exclusive = \"runs\"", "warmup = 2", "file = \"{out}/x\""] {
        assert_eq!(edited("env = { OMP", &format!("{keys}\nenv = {{ OMP")), ONLY_RUN, "{keys}");
    }
    for keys in ["exclusive = false", "warmup = 0"] {
        assert_eq!(edited("env = { OMP", &format!("{keys}\nenv = {{ OMP")), NEITHER, "{keys}");
    }
}

#[test]
fn a_run_knows_what_was_prepared_for_it_and_only_that() {
    let text = |command: &str, measure: &str| {
        let prepares = format!(
            "[[prepare]]\nname = \"f16\"\ncommand = \"{{build}}/convert {{inputs.corpus}} \
             {{prepare.f16}}\"\n\
             [[prepare]]\nname = \"q4\"\ncommand = \"{command} {{prepare.f16}} {{prepare.q4}}\"\n\
             [[measure]]"
        );
        let text = ENGINE.replacen("[[measure]]", &prepares, 1);
        text.replacen("/ppl -m", &format!("/ppl {measure} -m"), 1)
    };
    let run = |command: &str, measure: &str| facts(&text(command, measure)).run();
    let named = "{prepare.q4}/m";
    assert_ne!(run("{build}/quant", named), run("{build}/quant --other", named));
    assert_eq!(run("{build}/quant", ""), run("{build}/quant --other", ""));
    // A measure without a prepare step has the same key as before such steps existed.
    assert_eq!(run("x", ""), facts(&ENGINE.replacen("/ppl -m", "/ppl  -m", 1)).run());
    // An input of a step changes the keys of all runs that depend on the step.
    let mut changed = facts(&text("{build}/quant", named));
    let before = (changed.build(), changed.run());
    changed.inputs.insert("corpus".to_owned(), file("/c.txt", "cc"));
    assert_eq!(changed.build(), before.0);
    assert_ne!(changed.run(), before.1);
}

#[test]
fn what_is_linked_in_is_part_of_the_build() {
    let link = |facts: &mut Facts, digest: &str| {
        facts.config.worktree.link = vec![".venv".to_owned()];
        facts.links = BTreeMap::from([(".venv".to_owned(), digest.to_owned())]);
    };
    let mut before = facts(ENGINE);
    link(&mut before, "missing");
    let mut after = facts(ENGINE);
    link(&mut after, "aa");
    assert!(before.build() != after.build() && before.run() != after.run());
    // An override may link something in at other commits only.
    let other = |facts: &mut Facts| {
        facts.links = BTreeMap::from([(".venv".to_owned(), "aa".to_owned())]);
    };
    assert_eq!(changes(other), (false, false));
}

#[test]
fn nodes_that_build_are_in_the_build_key_and_nodes_that_run_in_the_run_key() {
    let compiler = |version: &str| Surroundings {
        compilers: BTreeMap::from([("cc".to_owned(), version.to_owned())]),
        ..Surroundings::default()
    };
    let node = |class: &str, cores: usize, version: &str| BuildNode {
        machine: Machine { class: class.to_owned(), cores, ..Machine::default() },
        surroundings: compiler(version),
        environment: BTreeMap::new(),
    };
    let with = |build_node: BuildNode, here: &str| Facts {
        surroundings: compiler(here),
        build_node: Some(build_node),
        ..facts(ENGINE)
    };
    let base = with(node("x86", 64, "cc 1"), "cc 2");
    // Another class of node, other cores for {jobs}, and another compiler build otherwise.
    for other in [node("arm", 64, "cc 1"), node("x86", 32, "cc 1"), node("x86", 64, "cc 3")] {
        assert_ne!(with(other, "cc 2").build(), base.build());
    }
    // A compiler of the nodes that run changes only the runs.
    let here = with(node("x86", 64, "cc 1"), "cc 4");
    assert_eq!(here.build(), base.build());
    assert_ne!(here.run(), base.run());
    // A build of a node that also runs is another one.
    assert_ne!(Facts { surroundings: compiler("cc 1"), ..facts(ENGINE) }.build(), base.build());
}
