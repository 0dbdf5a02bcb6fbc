use super::super::tree::tests::tree;
use super::*;
use crate::init::program::Program;

fn build(files: &[(&str, &str)]) -> Build {
    let (_folder, tree) = tree(files);
    read(&tree, "").unwrap()
}

#[track_caller]
fn find<'b>(build: &'b Build, name: &str) -> &'b Program {
    let found = build.programs.iter().find(|program| program.name == name);
    found.unwrap_or_else(|| panic!("{build:#?}"))
}

#[test]
fn programs_of_subfolders_lie_where_the_tree_puts_them() {
    let build = build(&[
        (
            "CMakeLists.txt",
            "project(x C)\nset(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)\nadd_subdirectory(tools)\n",
        ),
        (
            "tools/CMakeLists.txt",
            "if (EMSCRIPTEN)\n  add_executable(wasm w.c)\nelse()\n  add_subdirectory(ppl)\nendif()\n",
        ),
        (
            "tools/ppl/CMakeLists.txt",
            "set(TARGET my-ppl)\nadd_library(${TARGET}-impl ppl.cpp)\nadd_executable(${TARGET} main.cpp)\ntarget_link_libraries(${TARGET} PRIVATE my-ppl-impl common)\n",
        ),
        ("tools/ppl/ppl.cpp", ""),
        ("tools/ppl/main.cpp", ""),
    ]);
    assert_eq!(build.programs.len(), 1);
    let ppl = find(&build, "my-ppl");
    assert_eq!(ppl.recipe.path, "{build}/bin/my-ppl");
    assert_eq!(ppl.sources, ["tools/ppl/main.cpp", "tools/ppl/ppl.cpp"]);
    assert_eq!(ppl.from, Origin::new("tools/ppl/CMakeLists.txt", 3));
    assert_eq!(
        ppl.recipe.configure.as_deref(),
        Some("cmake -B {build} -S {src} -DCMAKE_BUILD_TYPE=Release")
    );
    assert_eq!(ppl.recipe.build, "cmake --build {build} -j{jobs} --target my-ppl");
}

#[test]
fn without_a_folder_of_its_own_a_program_lies_where_it_is_built() {
    let build = build(&[
        (
            "CMakeLists.txt",
            "add_subdirectory(a)\nadd_subdirectory(a/b out)\nadd_executable(top t.c)\n",
        ),
        (
            "a/CMakeLists.txt",
            "add_executable(one x.c)\nset_target_properties(one PROPERTIES OUTPUT_NAME uno)\nadd_executable(al ALIAS one)",
        ),
        (
            "a/b/CMakeLists.txt",
            "add_executable(two x.c)\nadd_executable(three x.c)\nset_target_properties(three PROPERTIES RUNTIME_OUTPUT_DIRECTORY \"${CMAKE_SOURCE_DIR}/bin\")\nset(EXECUTABLE_OUTPUT_PATH ${NOBODY}/x)\nadd_executable(four y.c)",
        ),
    ]);
    let paths: Vec<_> = build.programs.iter().map(|p| p.recipe.path.as_str()).collect();
    assert_eq!(
        paths,
        ["{build}/a/uno", "{build}/out/two", "{src}/bin/three", "{build}/bin/four", "{build}/top"]
    );
    assert_eq!(find(&build, "four").recipe.unsure.len(), 1);
}

#[test]
fn an_option_that_is_off_is_switched_on_where_the_program_needs_it() {
    let top = "\
if (CMAKE_SOURCE_DIR STREQUAL CMAKE_CURRENT_SOURCE_DIR)
  set(ALONE ON)
else()
  set(ALONE OFF)
endif()
option(X_TOOLS \"tools\" OFF)
option(X_MORE \"more\" ${ALONE})
option(X_CUDA \"x: use CUDA\" OFF)
if (X_TOOLS AND X_MORE)
  add_executable(ppl ppl.c)
endif()
if (X_MORE)
  add_executable(bench b.c)
endif()
";
    let build = build(&[("CMakeLists.txt", top)]);
    let configure = |name: &str| find(&build, name).recipe.configure.clone().unwrap();
    assert!(configure("ppl").ends_with("Release -DX_TOOLS=ON"), "{}", configure("ppl"));
    assert!(configure("bench").ends_with("Release"), "{}", configure("bench"));
    assert_eq!(build.options, [("X_CUDA".to_owned(), Origin::new("CMakeLists.txt", 8))]);
}

#[test]
fn loops_and_globs_are_followed() {
    let build = build(&[
        (
            "CMakeLists.txt",
            "set(ALL a b)\nlist(APPEND ALL c)\nforeach(t IN LISTS ALL)\n  file(GLOB S src/${t}/*.c)\n  add_executable(tool-${t} ${S})\nendforeach()\ninclude(more.cmake)\n",
        ),
        (
            "more.cmake",
            "function(f)\n  add_executable(never x.c)\nendfunction()\nforeach(t d e)\n  add_executable(${t} x.c)\nendforeach()",
        ),
        ("src/b/one.c", ""),
        ("src/b/deep/two.c", ""),
    ]);
    let names: Vec<_> = build.programs.iter().map(|p| p.name.as_str()).collect();
    assert_eq!(names, ["tool-a", "tool-b", "tool-c", "d", "e"]);
    assert_eq!(find(&build, "tool-b").sources, ["src/b/one.c"]);
}

#[test]
fn the_words_of_a_loop_are_no_names_of_programs() {
    let names = |call: &str| -> Vec<String> {
        let text = format!(
            "set(ALL a b)\nset(MORE c)\n{call}\n  add_executable(tool-${{t}} x.c)\nendforeach()\n\
             add_executable(last x.c)\n"
        );
        let programs = build(&[("CMakeLists.txt", &text)]).programs;
        programs.into_iter().map(|program| program.name).filter(|name| name != "last").collect()
    };
    assert_eq!(names("foreach(t RANGE 2)"), ["tool-0", "tool-1", "tool-2"]);
    assert_eq!(names("foreach(t RANGE 9 11)"), ["tool-9", "tool-10", "tool-11"]);
    assert_eq!(names("foreach(t RANGE 1 6 2)"), ["tool-1", "tool-3", "tool-5"]);
    assert_eq!(names("foreach(t RANGE 2 1)"), ["tool-2", "tool-1"]);
    assert_eq!(names("foreach(t IN LISTS ALL MORE)"), ["tool-a", "tool-b", "tool-c"]);
    assert_eq!(names("foreach(t IN LISTS MORE ITEMS d e)"), ["tool-c", "tool-d", "tool-e"]);
    assert_eq!(names("foreach(t IN ITEMS d e)"), ["tool-d", "tool-e"]);
    assert_eq!(names("foreach(t d e)"), ["tool-d", "tool-e"]);
    // Values that the file does not tell name no program.
    for call in ["RANGE 1 ${NUMBER}", "IN ZIP_LISTS ALL MORE", "u IN ZIP_LISTS ALL MORE"] {
        assert_eq!(names(&format!("foreach(t {call})")), [""; 0], "{call}");
    }
}

#[test]
fn a_loop_whose_values_are_unknown_is_read_once() {
    let text = "foreach(t RANGE ${N})\n  add_executable(one x.c)\nendforeach()\n";
    assert_eq!(build(&[("CMakeLists.txt", text)]).programs.len(), 1);
}

#[test]
fn folders_and_variables_that_contain_themselves_end() {
    let build = build(&[(
        "CMakeLists.txt",
        "add_subdirectory(.)\nset(A ${A};${A};x)\nset(B ${${B}})\nadd_executable(p x.c)\n",
    )]);
    assert_eq!(build.programs[0].name, "p");
}

#[test]
fn a_value_that_grows_without_end_is_unknown() {
    let doubled = "set(A ${A}${A})\n".repeat(64);
    let text = format!("set(A xx)\n{doubled}add_executable(p${{A}} x.c)\nadd_executable(q x.c)\n");
    let build = build(&[("CMakeLists.txt", &text)]);
    let names: Vec<_> = build.programs.iter().map(|p| p.name.as_str()).collect();
    assert_eq!(names, ["q"]);
}

#[test]
fn a_file_is_not_read_again_inside_itself() {
    let build = build(&[
        (
            "CMakeLists.txt",
            "include(CMakeLists.txt)\nadd_subdirectory(.)\nadd_subdirectory(sub)\nadd_executable(p x.c)\n",
        ),
        ("sub/CMakeLists.txt", "include(../CMakeLists.txt)\nadd_executable(q x.c)\n"),
    ]);
    let names: Vec<_> = build.programs.iter().map(|p| p.name.as_str()).collect();
    assert_eq!(names, ["q", "p"]);
}

#[test]
fn blocks_that_are_nested_too_deep_are_left_out() {
    let nested = |depth: usize| {
        let (open, close) = ("if(X)\n".repeat(depth), "endif()\n".repeat(depth));
        let text = format!("{open}add_executable(p x.c)\n{close}add_executable(q x.c)\n");
        build(&[("CMakeLists.txt", &text)]).programs.len()
    };
    assert_eq!([nested(8), nested(5_000)], [2, 1]);
}
