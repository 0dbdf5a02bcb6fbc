use super::*;

fn names(text: &str, off: &[&str]) -> (super::super::names::Matcher, super::super::names::Matcher) {
    let texts = [("sub/CMakeLists.txt".to_owned(), text.to_owned())].into();
    let found = cmake_names(&texts, &|name| off.contains(&name), false);
    (found.read.matcher(), found.named.matcher())
}

#[test]
fn sources_of_targets_are_left_to_the_compiler() {
    let text = "set(SRC a.c)\nlist(APPEND SRC b.c)\nfile(GLOB CU \"*.cu\")\n\
                add_library(e ${SRC} ${CU})\ninstall(FILES tool.c)\n";
    let (read, named) = names(text, &[]);
    for path in ["a.c", "b.c", "k.cu", "tool.c"] {
        assert!(!read.has_with_folders(path), "{path}");
    }
    assert!(named.has("a.c") && named.has("k.cu") && !named.has("tool.c"));
}

#[test]
fn what_reaches_a_command_through_variables_may_be_read() {
    let text = "set(DIR ${CMAKE_CURRENT_SOURCE_DIR}/shaders)\nfile(GLOB LIST ${DIR}/*.comp x/*.c)\n\
                foreach(ONE IN LISTS LIST)\nadd_custom_command(OUTPUT o COMMAND xxd ${ONE})\n\
                endforeach()\nset(OTHER c.c)\nadd_executable(e ${OTHER})\n";
    let (read, _) = names(text, &[]);
    assert!(read.has("shaders/a.comp") && read.has("x/k.c") && !read.has("c.c"));
    assert!(read.has_with_folders("shaders/common.glsl"));
}

#[test]
fn a_function_reads_what_its_body_reads() {
    let text = "function(embed f)\nadd_custom_command(OUTPUT o COMMAND xxd ${f})\nendfunction()\n\
                function(target n)\nadd_library(${n} ${ARGN})\nendfunction()\n\
                embed(k.c)\ntarget(e a.c)\nunknown(u.c)\n";
    let (read, _) = names(text, &[]);
    assert!(read.has("k.c") && read.has("u.c") && !read.has("a.c"));
}

#[test]
fn a_branch_for_what_is_off_reads_nothing() {
    let text = "if (METAL)\nconfigure_file(k.metal o COPYONLY)\nelse()\nconfigure_file(b.c o)\n\
                endif()\nif(METAL OR X)\nconfigure_file(c.c o)\nendif()\n\
                if(CUDA AND X)\nconfigure_file(d.c o)\nendif()\n";
    let (read, _) = names(text, &["METAL"]);
    assert!(!read.has("k.metal") && read.has("b.c") && read.has("c.c") && read.has("d.c"));
    let set = format!("set(METAL ON)\n{text}");
    assert!(names(&set, &["METAL"]).0.has("k.metal"));
    assert!(is_false("OFF") && is_false("X-NOTFOUND") && is_false("") && !is_false("ON"));
}

#[test]
fn a_command_over_the_own_folder_may_read_all_of_it() {
    let text = "add_custom_command(OUTPUT o COMMAND gen ${CMAKE_CURRENT_SOURCE_DIR})\n";
    let (read, _) = names(text, &[]);
    assert!(read.has("sub/x/a.c") && !read.has("other/a.c"));
    let text = "execute_process(COMMAND git WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})\n";
    assert!(!names(text, &[]).0.has("sub/x/a.c"));
}
