use std::process::Command;

use super::*;

#[test]
#[expect(clippy::disallowed_methods, reason = "a compiler of this machine, in a test")]
fn a_program_names_its_source_files_until_it_is_stripped() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name);
    std::fs::write(place("a.c"), "int f(void) { return 0; }\n").unwrap();
    std::fs::write(place("b.c"), "int f(void); int main(void) { return f(); }\n").unwrap();
    for (name, flags) in [("whole", [].as_slice()), ("stripped", &["-s"])] {
        let mut cc = Command::new("cc");
        cc.current_dir(&folder).args(["a.c", "b.c", "-o", name]).args(flags);
        assert!(cc.status().unwrap().success());
    }
    let whole = linked_sources(&place("whole")).unwrap();
    assert!(whole.contains("a.c") && whole.contains("b.c"), "{whole:?}");
    assert_eq!(linked_sources(&place("stripped")), Some(BTreeSet::new()));
    assert_eq!(linked_sources(&place("a.c")), None);
}

#[test]
fn the_host_part_of_kernels_names_the_kernels() {
    let name = "tmpxft_00001f2d_00000000-6_norm.cudafe1.cpp";
    assert_eq!(of_kernels(name).as_deref(), Some("norm.cu"));
    assert_eq!(of_kernels("norm.cpp"), None);
}
