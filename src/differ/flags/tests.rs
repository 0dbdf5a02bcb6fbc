use super::*;

fn place() -> BuildFolders {
    let commit = "1".repeat(40).parse().unwrap();
    BuildFolders::new(Path::new("/s/src"), Path::new("/s/build"), &commit)
}

fn command<'a>(compiled: &'a Compiled, name: &str) -> Vec<&'a str> {
    compiled.command(name).expect(name).iter().map(String::as_str).collect()
}

#[test]
fn a_database_with_commands_and_with_arguments_is_read() {
    let text = r#"[
      {"directory": "/s/build", "file": "/s/src/a.c", "output": "a.o",
       "command": "/usr/bin/cc '-DNAME=\"x y\"' -I /s/src/inc -isystem /opt/inc -O3 -MD -MT a.o -MF a.o.d -o a.o -c /s/src/a.c"},
      {"directory": "/s/build/sub", "file": "../../src/k.cu",
       "arguments": ["nvcc", "-O3", "-gencode", "arch=compute_90,code=sm_90", "-x", "cu", "-c", "../../src/k.cu", "-o", "k.o"]},
      {"directory": "/s/build", "file": "/s/src/none.c"}
    ]"#;
    let mut compiled = Compiled::default();
    compile_commands(text, &place(), &mut compiled);
    assert_eq!(compiled.by.len(), 2);
    let words = ["/usr/bin/cc", "-DNAME=\"x y\"", "-I{src}/inc", "-isystem /opt/inc", "-O3"];
    assert_eq!(command(&compiled, "{src}/a.c"), words);
    let words = ["nvcc", "-O3", "-gencode arch=compute_90,code=sm_90", "-x cu"];
    assert_eq!(command(&compiled, "{src}/k.cu"), words);
    compile_commands("[{", &place(), &mut compiled);
    assert_eq!(compiled.by.len(), 2);
}

#[test]
fn what_cmake_writes_for_make_is_read_by_target() {
    let text = "# CMAKE generated file: DO NOT EDIT!\n\n# compile C with /usr/bin/cc\n\
                C_DEFINES = -DFAST\n\nC_INCLUDES = -I/s/src/inc\n\nC_FLAGS = -O3 -DNDEBUG\n\n\
                CXX_DEFINES = \n\nCXX_FLAGS = -O2 -std=gnu++17\n";
    let mut compiled = Compiled::default();
    flags_make(text, "engine", &place(), &mut compiled);
    assert_eq!(command(&compiled, "engine (C)"), ["-O3", "-DNDEBUG", "-DFAST", "-I{src}/inc"]);
    assert_eq!(command(&compiled, "engine (CXX)"), ["-O2", "-std=gnu++17"]);
}

#[test]
fn a_command_that_a_build_prints_is_read_where_it_compiles_a_file() {
    let mut compiled = Compiled::default();
    for line in [
        "cc -std=c11 -I/s/build/gen -O3 -MMD -c -o /s/build/obj/ffn.o src/ffn.c",
        "cd /s/build && /usr/bin/ccache /opt/bin/aarch64-linux-gnu-g++-13 -O2 -c /s/src/a.cpp -o a.o",
        "[3/14] nvcc -arch sm_90 -c k.cu",
        "cc -o /s/build/ppl ffn.o -lm",
        "echo cc -c x.c",
        "tar -c a.c",
        "a.c:3: error: in `cc -c a.c",
    ] {
        printed_command(line, &place(), &mut compiled);
    }
    assert_eq!(compiled.by.keys().collect::<Vec<_>>(), ["k.cu", "src/ffn.c", "{src}/a.cpp"]);
    assert_eq!(command(&compiled, "src/ffn.c"), ["cc", "-std=c11", "-I{build}/gen", "-O3"]);
    let words = ["/opt/bin/aarch64-linux-gnu-g++-13", "-O2"];
    assert_eq!(command(&compiled, "{src}/a.cpp"), words);
    assert_eq!(command(&compiled, "k.cu"), ["nvcc", "-arch sm_90"]);
}
