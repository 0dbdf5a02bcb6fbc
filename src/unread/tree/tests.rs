use super::*;

const MAKE: &str = "SRC = $(wildcard src/*.c)\n%.o: %.c\n\tcc -MMD -c $<\nk.h: shaders/k.comp\n\
                    \tpython3 tools/gen.py shaders > $@\n";
const FILES: [(&str, &str); 15] = [
    ("Makefile", MAKE),
    ("CMakeLists.txt", "project(x)\n"),
    ("src/a.c", "#include \"a.h\"\nchar *name = \"data/table.bin\"; // README.md\n"),
    ("src/a.h", ""),
    ("other/arm.c", ""),
    ("other/arm.h", ""),
    ("shaders/k.comp", ""),
    ("shaders/common.glsl", ""),
    ("tools/gen.py", "import json, part\njson.load(open('tools/shapes.json'))\n"),
    ("tools/shapes.json", ""),
    ("tools/part.py", ""),
    ("tools/plot.py", ""),
    ("data/table.bin", ""),
    ("README.md", ""),
    (".gitattributes", ""),
];

fn commands(build: &str) -> Commands {
    Commands {
        build: vec![build.split(' ').map(str::to_owned).collect()],
        run: vec!["{build}/ppl".to_owned()],
        ..Commands::default()
    }
}

fn unread(files: &[(&str, &str)], read: &[&str], commands: &Commands) -> UnreadFiles {
    let texts: BTreeMap<&str, &str> = files.iter().copied().collect();
    let text = |path: &str| texts.get(path).map(|text| (*text).to_owned());
    let tree = || BuiltTree {
        files: files.iter().map(|(path, _)| (*path).to_owned()).collect(),
        text: &text,
        read: ReadFiles {
            files: read.iter().map(|path| (*path).to_owned()).collect(),
            ..ReadFiles::default()
        },
        caches: [("c".to_owned(), [("METAL".to_owned(), "OFF".to_owned())].into())].into(),
    };
    UnreadFiles::of([tree(), tree()], commands)
}

/// The files that count as unread.
fn left_out<'f>(unread: &UnreadFiles, files: &'f [(&'f str, &'f str)]) -> Vec<&'f str> {
    files.iter().map(|(path, _)| *path).filter(|path| unread.has(path)).collect()
}

#[test]
fn only_what_nothing_reads_or_names_is_left_out() {
    let unread = unread(&FILES, &["src/a.c", "src/a.h"], &commands("make -C {src}"));
    let wanted = ["other/arm.c", "other/arm.h", "tools/plot.py", "README.md"];
    assert_eq!(left_out(&unread, &FILES), wanted);
    assert!(!unread.has("src/gone.c"), "neither tree has it");
}

#[test]
fn if_runs_may_read_the_tree_only_sources_of_compilers_are_left_out() {
    let commands = Commands { reads_tree: true, ..commands("make") };
    let unread = unread(&FILES, &["src/a.c", "src/a.h"], &commands);
    assert_eq!(left_out(&unread, &FILES), ["other/arm.c", "other/arm.h"]);
}

#[test]
fn files_that_commands_and_conditions_name_are_read() {
    let commands = Commands {
        run: vec!["{build}/ppl".to_owned(), "tools/plot.py".to_owned()],
        conditions: vec!["other/arm.h".to_owned()],
        ..commands("make")
    };
    let unread = unread(&FILES, &["src/a.c", "src/a.h"], &commands);
    assert_eq!(left_out(&unread, &FILES), ["other/arm.c", "README.md"]);
}

#[test]
fn a_makefile_says_nothing_about_a_build_with_cmake() {
    let cmake = "if(METAL)\nconfigure_file(k.metal o)\nendif()\nadd_library(x arm.c)\n\
                 add_custom_command(COMMAND ${CMAKE_COMMAND} -P cmake/gen.cmake)\n";
    let files = [
        ("CMakeLists.txt", cmake),
        ("sub/CMakeLists.txt", "configure_file(unused.c o)\n"),
        ("Makefile", "k.h: gen.c k.metal arm.c\n"),
        ("cmake/gen.cmake", "file(READ made.c X)\n"),
        ("k.metal", ""),
        ("arm.c", ""),
        ("gen.c", ""),
        ("unused.c", ""),
        ("made.c", ""),
    ];
    let left = |read: &[&str], build: &str| {
        left_out(&unread(&files, read, &commands(build)), &files).join(" ")
    };
    let cmake = "cmake -S {src}";
    assert_eq!(left(&["CMakeLists.txt"], cmake), "k.metal arm.c gen.c unused.c");
    assert_eq!(left(&[], cmake), "k.metal arm.c gen.c", "not known which texts ran");
    assert_eq!(left(&["CMakeLists.txt"], "sh build.sh"), "unused.c");
}

#[test]
fn a_build_script_of_cargo_may_read_all_of_its_package() {
    let files = [
        ("Cargo.toml", "[package]\nreadme = \"README.md\"\n"),
        ("README.md", ""),
        ("sys/build.rs", ""),
        ("sys/vendor/k.c", ""),
        ("src/unused.rs", ""),
    ];
    let unread = unread(&files, &["src/main.rs"], &commands("cargo build --release"));
    assert_eq!(left_out(&unread, &files), ["README.md", "src/unused.rs"]);
}
