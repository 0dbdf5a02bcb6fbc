//! A generated file that is committed beside its source. `make` compares their times, and a checkout
//! on top of another commit writes only the files that differ.

use crate::kit::{Oracle, TestEnvironment, line};

/// The engine, a script: source and generated file are the same.
fn engine(ppl: &str) -> String {
    format!("#!/bin/sh\necho '[1]{ppl},'\necho 'Final estimate: PPL = {ppl} +/- 0.01'\n")
}

const MAKEFILE: &str = "$(BUILD)/ppl: a_gen.sh\n\tcp a_gen.sh $@ && chmod +x $@\n\
                        a_gen.sh: z_in.sh\n\tcp z_in.sh a_gen.sh\n";

/// Commit 3 changes the source, and commit 6 the committed output. In a clone the output is older
/// than its source, so `make` makes it at every commit, and the step is at commit 3.
#[test]
fn the_step_is_where_a_clone_has_it() {
    let env = TestEnvironment::new();
    let history = line(&["g"; 10].join(" "))
        .file(0, "Makefile", MAKEFILE)
        .file(0, ".gitattributes", "m_slow filter=slow\n")
        .file(0, "m_slow", "between both\n")
        .file(0, "z_in.sh", &engine("7.0"))
        .file(0, "a_gen.sh", &engine("7.0"))
        .file(3, "z_in.sh", &engine("7.5"))
        .file(6, "a_gen.sh", &engine("7.5"))
        .build(&env);
    // In place of the thousand files between both: git writes files in the order of their names.
    env.git(&["config", "filter.slow.smudge", "sleep 0.05; cat"]);
    let oracle = Oracle::new(&env).build_command("make -C {src} BUILD={build}");
    oracle.ppl_command("{build}/ppl").write(&env);
    env.hunt().names(&history, 3);
}
