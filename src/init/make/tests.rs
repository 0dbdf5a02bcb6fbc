use super::super::tree::tests::tree;
use super::*;

fn read_all(root: &str, files: &[(&str, &str)]) -> Vec<Program> {
    let (_folder, tree) = tree(files);
    read(&tree, root).unwrap().programs
}

#[track_caller]
fn find<'p>(programs: &'p [Program], name: &str) -> &'p Program {
    programs.iter().find(|program| program.name == name).unwrap_or_else(|| panic!("{programs:#?}"))
}

#[test]
fn a_folder_for_the_build_is_used() {
    let makefile = "\
BUILD ?= build   # here
PROGRAMS = ppl bench
OBJ = $(patsubst src/%.c,$(BUILD)/obj/%.o,$(wildcard src/*.c))
all: $(PROGRAMS:%=$(BUILD)/%)
$(BUILD)/lib.so: $(OBJ)
\t$(CC) -shared -o $@ $(OBJ)
$(BUILD)/ppl: $(BUILD)/obj/ppl.o $(BUILD)/obj/args.o
$(PROGRAMS:%=$(BUILD)/%): $(BUILD)/lib.so
\t$(CC) -o $@ \\
\t  $(filter %.o,$^)
$(BUILD)/obj/%.o: tools/%.c
\t$(CC) -c -o $@ $<
";
    let programs = read_all(
        "",
        &[
            ("Makefile", makefile),
            ("tools/ppl.c", ""),
            ("tools/args.c", ""),
            ("tools/bench.c", ""),
            ("src/model.c", ""),
        ],
    );
    let names: Vec<_> = programs.iter().map(|p| p.name.as_str()).collect();
    assert_eq!(names, ["bench", "ppl"]);
    let ppl = find(&programs, "ppl");
    assert_eq!(ppl.recipe.build, "make -C {src} BUILD={build} -j{jobs} {build}/ppl");
    assert_eq!(ppl.recipe.path, "{build}/ppl");
    assert_eq!(ppl.sources, ["tools/ppl.c", "tools/args.c"]);
    assert_eq!(ppl.from, Origin::new("Makefile", 7));
}

#[test]
fn a_folder_within_the_folder_is_found() {
    let makefile = "O := out\nBIN = $(O)/bin\n$(BIN)/ppl: ppl.c ; cc -o $@ ppl.c\n";
    let programs = read_all("sub dir", &[("sub dir/Makefile", makefile), ("sub dir/ppl.c", "")]);
    let ppl = find(&programs, "ppl");
    assert_eq!(ppl.recipe.build, "make -C '{src}/sub dir' O={build} -j{jobs} {build}/bin/ppl");
    assert_eq!(ppl.recipe.path, "{build}/bin/ppl");
    assert_eq!(ppl.sources, ["sub dir/ppl.c"]);
}

#[test]
fn without_one_the_tree_is_built_in_place() {
    let makefile = "\
CC = gcc
.PHONY: run
run: run.c
\t$(CC) -O3 -o run run.c -lm
\t$(CC) -O3 -o ./runq runq.c -lm
eval: eval.o
ppl.o: ppl.c
all: tool
clean:
\trm -f run
";
    let programs = read_all(
        "",
        &[("Makefile", makefile), ("run.c", ""), ("runq.c", ""), ("eval.c", ""), ("tool.cpp", "")],
    );
    let mut names: Vec<_> = programs.iter().map(|p| p.name.as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["eval", "run", "runq", "tool"]);
    let quantized = find(&programs, "runq");
    assert_eq!(quantized.recipe.build, "make -C {src} -j{jobs} run");
    assert_eq!(quantized.recipe.path, "{src}/runq");
    assert_eq!(quantized.sources, ["runq.c", "run.c"]);
    assert_eq!(find(&programs, "eval").recipe.build, "make -C {src} -j{jobs} eval");
}

#[test]
fn pattern_rules_and_included_files_are_followed() {
    let programs = read_all(
        "",
        &[
            ("GNUmakefile", "include rules.mk\nall: bin/ppl\n"),
            (
                "rules.mk",
                "BIN = bin\ndefine x\nnot: a rule\nendef\n$(BIN)/%: src/%.cpp\n\t$(CXX) $< -o $@\n",
            ),
            ("src/ppl.cpp", ""),
        ],
    );
    let ppl = find(&programs, "ppl");
    assert_eq!(ppl.sources, ["src/ppl.cpp"]);
    assert_eq!(ppl.from, Origin::new("rules.mk", 5));
}

#[test]
fn variables_and_files_that_contain_themselves_end() {
    let (_folder, tree) = tree(&[(
        "Makefile",
        "A = $(B) $(B)\nB = $(A) $(A)\n$(A): x\n\tcc -o $@\ninclude Makefile\n",
    )]);
    assert!(read(&tree, "").unwrap().programs.is_empty());
}

#[test]
fn a_value_that_grows_without_end_is_unknown() {
    let doubled = "A := $(A)${A}\n".repeat(64);
    let makefile = format!(
        "A = xx\n{doubled}ppl: ppl.c\n\tcc $(A) -o $@ ppl.c\nL = {}\nW = {}\n",
        "x".repeat(40_000),
        "a ".repeat(1_000)
    );
    let (_folder, tree) = tree(&[("Makefile", &makefile), ("ppl.c", "")]);
    let programs = read(&tree, "").unwrap().programs;
    assert_eq!(find(&programs, "ppl").sources, ["ppl.c"]);
    let makefile = Makefile::read(&tree, "", "Makefile");
    assert!(makefile.expand("$(A)", &[]).contains("$(shell)"));
    // Forty megabytes.
    let longer = "$(addprefix $(L),$(W))";
    assert_eq!(makefile.expand(longer, &[]), longer);
}
