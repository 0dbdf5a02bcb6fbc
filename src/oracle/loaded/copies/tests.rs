use super::*;
use crate::process::{Invocation, tool};

fn put(path: &Path) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, "").unwrap();
}

/// The commit's file for each copy that a run loaded, whose slot has these files and opened the
/// files `own`. Paths below `slot` are the slot's.
fn packages(files: &[&str], own: &[&str], modules: &[&str]) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let top = folder.path().canonicalize().unwrap();
    for path in files.iter().chain(own).chain(modules) {
        put(&top.join(path));
    }
    let all = |paths: &[&str]| paths.iter().map(|path| top.join(path)).collect::<BTreeSet<_>>();
    let (root, src, own) = (top.join("slot"), top.join("slot/src"), all(own));
    let from = LoadedFrom { root: &root, src: &src, own: &own };
    let found = from.packages(&all(modules));
    let below = |path: &PathBuf| path.strip_prefix(&src).unwrap().display().to_string();
    found.values().map(below).collect()
}

#[test]
fn an_installed_package_of_the_commit_is_a_copy() {
    let installed = "lib/python3.11/site-packages/eng/__init__.py";
    for own in ["src/eng/__init__.py", "python/eng/__init__.py", "eng/__init__.py"] {
        let tracked = format!("slot/src/{own}");
        let script = ["slot/src/tools/bench.py"];
        assert_eq!(packages(&[&tracked], &script, &[installed]), [own]);
    }
    let path = "elsewhere/eng/__init__.py";
    assert_eq!(packages(&["slot/src/eng/__init__.py"], &[], &[path]), ["eng/__init__.py"]);
}

#[test]
fn other_packages_are_no_copies() {
    let none = |files: &[&str], own: &[&str], module: &str| {
        assert_eq!(packages(files, own, &[module]), Vec::<String>::new(), "{files:?} {module}");
    };
    let installed = "lib/python3.11/site-packages/eng/__init__.py";
    none(&["slot/src/third_party/eng/__init__.py"], &[], installed);
    none(&["slot/src/other/__init__.py"], &[], installed);
    // The standard library, and a package inside of another one.
    none(&["slot/src/test/__init__.py"], &[], "lib/python3.11/test/__init__.py");
    let outer = ["lib/site-packages/a/__init__.py", "slot/src/eng/__init__.py"];
    none(&outer, &[], "lib/site-packages/a/eng/__init__.py");
    // The commit's was loaded too, or a module of it, or the build's.
    let tracked = "slot/src/src/eng/__init__.py";
    none(&[], &[tracked], installed);
    none(&[tracked], &["slot/src/src/eng/plugin.py"], installed);
    none(&[tracked], &["slot/build/site/eng/__init__.py"], installed);
    none(&[tracked], &[], "slot/src/lib/eng/__init__.py");
    // Data of the package says nothing about its code.
    assert_eq!(packages(&[tracked], &["slot/src/src/eng/a.json"], &[installed]).len(), 1);
}

#[test]
fn a_link_into_the_slot_is_no_copy() {
    let folder = tempfile::tempdir().unwrap();
    let top = folder.path().canonicalize().unwrap();
    let (root, src) = (top.join("slot"), top.join("slot/src"));
    put(&src.join("eng/__init__.py"));
    std::fs::create_dir(top.join("site-packages")).unwrap();
    std::os::unix::fs::symlink(src.join("eng"), top.join("site-packages/eng")).unwrap();
    let from = LoadedFrom { root: &root, src: &src, own: &BTreeSet::new() };
    let modules = BTreeSet::from([top.join("site-packages/eng/__init__.py")]);
    assert_eq!(from.packages(&modules), BTreeMap::new());
}

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
    let told = BTreeMap::from([(copy.clone(), built[0].clone())]);
    assert_eq!(found(&["build/ppl"], &built, &mapped, None), told);
    assert_eq!(found(&["build/ppl"], &built, &[], Some(&installed)), told);
    let none = BTreeMap::new();
    assert_eq!(found(&["build/ppl"], &built, &[], None), none);
    assert_eq!(found(&["build/ppl"], &built, &[], Some(&root.join("build"))), none);
    assert_eq!(found(&["build/ppl", "build/libeng.so"], &built, &mapped, None), none);
    // No program of the commit asks for it, or it is another project's.
    assert_eq!(found(&["build/libother.so"], &built, &mapped, None), none);
    let vendored = [root.join("build/_deps/libeng.so")];
    assert_eq!(found(&["build/ppl"], &vendored, &mapped, None), none);
}
