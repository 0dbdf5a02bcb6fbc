//! Builds small projects with the real tools of this machine.
#![expect(clippy::disallowed_methods, reason = "the build tools of this machine, in tests")]

use std::process::Command;

use super::*;
use crate::build::setup::setup;

const MAIN: (&str, &str) = ("src/main.c", "#include \"table.h\"\nint main(void) { return N; }\n");
const TABLE: (&str, &str) = ("include/table.h", "#define N 0\n");
const CMAKE: &str = "cmake_minimum_required(VERSION 3.10)\nproject(engine C)\n\
                     include(rules.cmake)\nadd_library(part part/part.c)\n\
                     add_executable(engine src/main.c)\n\
                     target_include_directories(engine PRIVATE include)\n\
                     target_link_libraries(engine part)\n";

/// A folder like a slot's, with these files in `src`.
struct Project {
    folder: tempfile::TempDir,
}

impl Project {
    fn new(files: &[(&str, &str)]) -> Self {
        let project = Self { folder: tempfile::tempdir().unwrap() };
        fs::create_dir_all(project.slot().build()).unwrap();
        for (path, text) in files {
            let path = project.slot().src().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        project
    }

    fn slot(&self) -> Slot {
        Slot::unlocked(self.folder.path().join("slots/1"))
    }

    /// Runs a command in `{src}`; `BUILD` stands for the build folder.
    fn run(&self, command: &str) -> &Self {
        let slot = self.slot();
        let command = command.replace("BUILD", slot.build().to_str().unwrap());
        let output = Command::new("sh").args(["-ec", &command]).current_dir(slot.src()).output();
        let output = output.unwrap();
        assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
        self
    }

    fn read(&self) -> Option<ReadFiles> {
        let commit = "1".repeat(40).parse().unwrap();
        setup(&self.slot(), &commit, crate::evaluation::Compiled::default(), true).read
    }

    /// The files that the build read, if its records cover everything.
    fn files(&self) -> Vec<String> {
        let read = self.read().unwrap();
        assert_eq!(read.gap, None);
        read.files.into_iter().collect()
    }

    fn gap(&self) -> String {
        self.read().unwrap().gap.expect("the records have a gap")
    }
}

#[test]
fn make_in_the_source_folder_writes_paths_from_there() {
    let make = "BUILD/main.o: src/main.c\n\tcc -MMD -Iinclude -c src/main.c -o $(OUT)/main.o\n\t\
                cc $(OUT)/main.o -o $(OUT)/engine\n";
    let make = make.replacen("BUILD", "$(OUT)", 1);
    let project = Project::new(&[MAIN, TABLE, ("Makefile", &make), ("src/other.c", "")]);
    project.run("make OUT=BUILD");
    assert_eq!(project.files(), ["include/table.h", "src/main.c"]);
}

#[test]
fn make_in_the_tree_and_below_it_writes_relative_paths() {
    let inner = "main.o: main.c\n\tcc -MMD -I../include -c main.c\n\tcc main.o -o engine\n";
    let project = Project::new(&[MAIN, TABLE, ("src/Makefile", inner), ("main.c", "")]);
    project.run("make -C src");
    assert_eq!(project.files(), ["include/table.h", "src/main.c"]);
}

#[test]
fn links_and_copies_count_as_the_files_behind_them() {
    let project = Project::new(&[MAIN, ("real/n.h", "#define N 0\n"), ("part/k.c", "int k;\n")]);
    project.run("mkdir include && ln -s ../real/n.h include/table.h");
    project.run("cp part/k.c BUILD/k.c && cd BUILD && cc -MMD -c k.c");
    project.run("cc -MMD -Iinclude -c src/main.c -o BUILD/main.o && cc BUILD/*.o -o BUILD/engine");
    assert_eq!(project.files(), ["include/table.h", "real/n.h", "src/main.c"]);
    assert!(project.read().unwrap().has("part/k.c"));
}

#[test]
fn cmake_leaves_the_same_with_ninja_and_with_make() {
    let files = [
        MAIN,
        TABLE,
        ("CMakeLists.txt", CMAKE),
        ("rules.cmake", ""),
        ("part/part.c", "int part;\n"),
        ("part/unused.c", "int unused;\n"),
    ];
    for generator in ["Ninja", "Unix Makefiles"] {
        let project = Project::new(&files);
        project.run(&format!("cmake -S . -B BUILD -G '{generator}' && cmake --build BUILD"));
        let lists = ["CMakeLists.txt", "include/table.h", "part/part.c", "rules.cmake"];
        assert_eq!(project.files(), [&lists[..], &["src/main.c"]].concat(), "{generator}");
    }
}

#[test]
fn cargo_lists_the_modules_of_every_crate_and_what_they_include() {
    let manifest = "[package]\nname = \"engine\"\nedition = \"2021\"\n[workspace]\n\
                    [dependencies]\npart = { path = \"part\" }\n";
    let project = Project::new(&[
        ("Cargo.toml", manifest),
        ("src/main.rs", "mod k;\nfn main() { part::f(k::TEXT); }\n"),
        ("src/k.rs", "pub const TEXT: &str = include_str!(\"../data/k.txt\");\n"),
        ("src/unused.rs", ""),
        ("data/k.txt", "k"),
        ("part/Cargo.toml", "[package]\nname = \"part\"\nedition = \"2021\"\n"),
        ("part/src/lib.rs", "pub fn f(_: &str) {}\n"),
    ]);
    let wanted = ["data/k.txt", "part/src/lib.rs", "src/k.rs", "src/main.rs"];
    for profile in ["", "--release"] {
        project.run(&format!("cargo build --offline {profile} --target-dir BUILD"));
        assert_eq!(project.files(), wanted);
    }
}

#[test]
fn an_object_without_a_record_is_a_gap() {
    let project = Project::new(&[MAIN, TABLE]);
    project.run("cc -Iinclude -c src/main.c -o BUILD/main.o");
    assert_eq!(project.gap(), "build/main.o has no dependency record");
}

#[test]
fn a_program_that_was_compiled_and_linked_at_once_is_a_gap() {
    let project = Project::new(&[MAIN, TABLE, ("src/part.c", "int part;\n")]);
    project.run("cc -MMD -c src/part.c -o BUILD/part.o && cc -Iinclude src/main.c BUILD/part.o -o BUILD/engine");
    assert_eq!(project.gap(), "build/engine is made from main.c, which no record names");
}

#[test]
fn a_stripped_program_is_a_gap() {
    let project = Project::new(&[MAIN, TABLE]);
    project.run(
        "cc -MMD -Iinclude -c src/main.c -o BUILD/main.o && cc -s BUILD/main.o -o BUILD/engine",
    );
    assert!(project.gap().starts_with("build/engine does not name its source files"));
}

#[test]
fn a_record_of_files_that_are_gone_or_lie_in_another_slot_is_a_gap() {
    let project = Project::new(&[MAIN, TABLE]);
    project.run("cc -MMD -Iinclude -c src/main.c -o BUILD/main.o && rm include/table.h");
    assert_eq!(project.gap(), "build/main.d names files that are not there");
    let project = Project::new(&[MAIN]);
    project.run("mkdir -p ../../2/src && echo '#define N 0' > ../../2/src/table.h");
    project.run("cc -MMD -I$PWD/../../2/src -c $PWD/src/main.c -o BUILD/main.o");
    assert!(project.gap().starts_with("a dependency record names"), "{}", project.gap());
}

#[test]
fn a_build_that_compiled_nothing_has_no_records() {
    let project = Project::new(&[("run.py", "print(1)\n")]);
    project.run("cp run.py BUILD/run.py");
    assert_eq!(project.read(), None);
}
