use super::*;
use crate::process::{Invocation, tool};

#[test]
fn the_name_of_a_library_ends_before_its_version() {
    assert_eq!(stem(Path::new("/a/libeng.so")), Some("libeng"));
    assert_eq!(stem(Path::new("/a/libeng.so.1.2")), Some("libeng"));
    for other in ["/a/eng.so", "/a/libeng.sofa", "/a/libeng.a", "/a/eng"] {
        assert_eq!(stem(Path::new(other)), None);
    }
}

#[test]
fn a_library_that_a_program_asks_for_is_a_copy() {
    let folder = tempfile::tempdir().unwrap();
    let top = folder.path().canonicalize().unwrap();
    let (root, src) = (top.join("slot"), top.join("slot/src"));
    for path in ["slot/src", "slot/build", "slot/build/_deps", "installed"] {
        std::fs::create_dir_all(top.join(path)).unwrap();
    }
    let compile = |words: &[&str]| {
        let call = Invocation::new("cc").args(words).cwd(&top);
        assert!(tool(&call).unwrap().ended.is_success());
    };
    std::fs::write(top.join("lib.c"), "int eng(void) { return 1; }\n").unwrap();
    std::fs::write(top.join("main.c"), "int eng(void);\nint main(void) { return eng(); }\n")
        .unwrap();
    for path in ["slot/build/libeng.so", "slot/build/_deps/libeng.so", "installed/libeng.so"] {
        compile(&["-shared", "-fPIC", "-o", path, "lib.c"]);
    }
    compile(&["-o", "slot/build/ppl", "main.c", "-Lslot/build", "-leng"]);
    let built = [root.join("build/libeng.so")];
    let copy = top.join("installed/libeng.so");
    let found = |own: &[&str], built: &[PathBuf], mapped: &[PathBuf], path: Option<&Path>| {
        let own: BTreeSet<PathBuf> = own.iter().map(|path| root.join(path)).collect();
        let from = LoadedFrom { root: &root, src: &src, own: &own };
        from.libraries(built, mapped, path.map(Path::as_os_str))
    };
    let mapped = [copy.clone()];
    let installed = top.join("installed");
    let hidden = HiddenFile { path: built[0].clone(), is_alike: true };
    let told = BTreeMap::from([(copy.clone(), hidden)]);
    assert_eq!(found(&["build/ppl"], &built, &mapped, None), told);
    assert_eq!(found(&["build/ppl"], &built, &[], Some(&installed)), told);
    let none = BTreeMap::new();
    assert_eq!(found(&["build/ppl"], &built, &[], None), none);
    assert_eq!(found(&["build/ppl"], &built, &[], Some(&root.join("build"))), none);
    assert_eq!(found(&["build/ppl", "build/libeng.so"], &built, &mapped, None), none);
    // A script opens it by its name, or by a longer one.
    for (text, is_it) in [("CDLL('libeng.so')", true), ("CDLL('mylibeng.so')", false)] {
        std::fs::write(root.join("src/bench.py"), text).unwrap();
        let found = found(&["src/bench.py"], &built, &mapped, None);
        assert_eq!(found == told, is_it, "{text}");
        assert_eq!(found.is_empty(), !is_it, "{text}");
    }
    // No program of the commit asks for it, or it is another project's.
    assert_eq!(found(&["build/libother.so"], &built, &mapped, None), none);
    let vendored = [root.join("build/_deps/libeng.so")];
    assert_eq!(found(&["build/ppl"], &vendored, &mapped, None), none);
}
