use super::super::lines::ChangedTexts;
use super::*;
use crate::git::{Hunk, Split};

/// A file before and after; an empty text means no file.
type File<'f> = (&'f str, &'f str, &'f str);

/// The clues of whole files.
fn clues(files: &[File<'_>]) -> Clues {
    let known = |(number, (path, old, new)): (usize, &File<'_>)| {
        let [before, after] = [old, new].map(|text| text.lines().count());
        let hunk = Hunk { old: 0..before, new: 0..after };
        let [old_bytes, new_bytes] = [old, new].map(|text| text.as_bytes().to_vec());
        let split = Split { old: old_bytes, new: new_bytes, hunks: vec![hunk] };
        let part = Part { file: number, of: PartOf::File };
        let is_there = [!old.is_empty(), !new.is_empty()];
        let known = PartInfo::of_file(path, &[part], is_there, &ChangedTexts::of(&split)).remove(0);
        PartInfo { weight: known.weight(false, false), ..known }
    };
    Clues { parts: files.iter().enumerate().map(known).collect() }
}

/// `0→1`: part 0 needs part 1.
fn needs(files: &[File<'_>]) -> String {
    let hints = clues(files).hints();
    let shown = |(part, others): (&usize, &Parts)| {
        others.iter().map(|other| format!("{part}→{other}")).collect::<Vec<_>>().join(" ")
    };
    hints.needs.iter().map(shown).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_new_name_is_needed_by_those_who_use_it() {
    let files = [
        ("src/packed.h", "", "int pack(int n);\n"),
        ("src/packed.c", "", "#include \"packed.h\"\nint pack(int n) { return n; }\n"),
        (
            "src/model.c",
            "int load;\n",
            "#include \"packed.h\"\nint load(void) { return pack(4); }\n",
        ),
        ("docs/kernels.md", "", "pack(n) is in src/packed.c\n"),
    ];
    assert_eq!(needs(&files), "1→0 2→0 2→1");
}

#[test]
fn a_changed_prototype_goes_with_its_calls() {
    let files = [
        ("a.h", "int f(int a);\n", "int f(int a, int b);\n"),
        ("a.c", "int f(int a) { return a; }\n", "int f(int a, int b) { return a + b; }\n"),
        ("b.c", "int g(void) { return f(1); }\n", "int g(void) { return f(1, 2); }\n"),
        ("c.c", "int h(void) { return 1; }\n", "int h(void) { return 2; }\n"),
    ];
    assert_eq!(needs(&files), "0→1 1→2 2→0");
}

#[test]
fn a_removed_name_waits_for_its_last_use() {
    let files = [
        ("add.c", "void add(float *x) { x[0]++; }\n", ""),
        ("forward.c", "void run(float *x) { add(x); }\n", "void run(float *x) { }\n"),
    ];
    assert_eq!(needs(&files), "0→1");
}

#[test]
fn a_function_that_moves_is_in_one_place() {
    let files = [
        ("a.c", "int f(void) { return 1; }\nint z;\n", "int z;\n"),
        ("b.c", "int y;\n", "int f(void) { return 1; }\nint y;\n"),
    ];
    assert_eq!(needs(&files), "0→1 1→0");
}

#[test]
fn a_name_that_moves_to_another_header_takes_its_new_imports_along() {
    let files = [
        ("ggml.h", "enum numa { A, B };\nint keep;\n", "int keep;\n"),
        ("ggml-cpu.h", "", "enum numa { A, B };\n"),
        ("llama.h", "#include \"ggml.h\"\n", "#include \"ggml.h\"\n#include \"ggml-cpu.h\"\n"),
        ("other.c", "int x;\n", "#include \"ggml-cpu.h\"\nint x;\n"),
    ];
    assert_eq!(needs(&files), "0→2 2→1 3→1");
    // If the old header imports the new one, nobody needs to change.
    let mut passed_on = files;
    passed_on[0].2 = "#include \"ggml-cpu.h\"\nint keep;\n";
    assert_eq!(needs(&passed_on), "0→1 2→1 3→1");
}

#[test]
fn a_new_source_needs_the_line_that_makes_it_part_of_the_program() {
    let cmake = ("CMakeLists.txt", "add_library(e a.c)\n", "add_library(e a.c src/packed.cu)\n");
    assert_eq!(needs(&[("src/packed.cu", "", "int x;\n"), cmake]), "0→1 1→0");
    let folder = ("examples/CMakeLists.txt", "add_subdirectory(tiny)\n", "\n");
    let gone = ("examples/tiny/CMakeLists.txt", "add_executable(tiny tiny.c)\n", "");
    assert_eq!(needs(&[gone, folder]), "0→1");
    let module = ("src/lib.rs", "", "mod packed;\n");
    assert_eq!(needs(&[("src/packed.rs", "", "pub fn pack() {}\n"), module]), "0→1 1→0");
    let import = ("model.py", "x = 1\n", "from engine.packed import pack\nx = pack(1)\n");
    assert_eq!(needs(&[("engine/packed.py", "", "def pack(n):\n    return n\n"), import]), "1→0");
}

#[test]
fn what_no_build_reads_is_the_least_likely() {
    let files = [
        ("src/model.c", "int a = 1;\n", "int a = 2;\n"),
        ("src/model.h", "int a;\n", "long a;\n"),
        ("tools/selftest.c", "int a = 1;\n", "int a = 2;\n"),
        ("src/rope.c", "/* a */\nint b;\n", "/* b */\nint b;\n"),
        ("CHANGES.md", "", "int a = 2;\n"),
    ];
    let weights: Vec<u32> = clues(&files).hints().weights.into_values().collect();
    assert!(weights.is_sorted_by(|a, b| a >= b) && weights[2] * 9 < weights[0], "{weights:?}");
    assert!(weights[2] > weights[3], "{weights:?}");
}

#[test]
fn a_compilers_complaint_names_what_is_missing() {
    // Part 2 already contained the name, so nothing binds it to part 0.
    let clues = clues(&[
        ("src/packed.h", "", "int pack(int n);\n"),
        ("src/packed.c", "", "int pack(int n) { return n; }\n"),
        ("src/model.c", "int pack;\n", "int pack;\nint load(void) { return pack(4); }\n"),
    ]);
    let set = Parts::from([2]);
    for said in [
        "src/model.c: error: implicit declaration of function 'pack'",
        "src/model.c: error: ‘pack’ undeclared",
        "model.c:(.text+): undefined reference to `pack(int)'",
        "ld.lld: error: undefined symbol: pack",
        "error[E#]: cannot find function `pack` in this scope",
        "NameError: name 'pack' is not defined",
    ] {
        assert_eq!(clues.lacking(&[said.to_owned()], &set), [(2, 0), (2, 1)], "{said}");
    }
    assert!(clues.lacking(&["error: something 'else'".to_owned()], &set).is_empty());
    assert!(clues.lacking(&["'pack'".to_owned()], &Parts::from([0, 1, 2])).is_empty());
}
