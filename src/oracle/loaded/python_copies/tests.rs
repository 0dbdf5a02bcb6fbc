use super::*;

const SITE: &str = "lib/python3.11/site-packages";

/// A folder with a slot, and with what is installed.
struct World {
    folder: tempfile::TempDir,
    sources: Vec<PathBuf>,
    modules: BTreeSet<PathBuf>,
}

impl World {
    /// `tracked`: files of `{src}` with their texts; `imported`: modules from outside with theirs.
    fn of(tracked: &[(&str, &str)], imported: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut world = Self { folder, sources: Vec::new(), modules: BTreeSet::new() };
        for (path, text) in tracked {
            let path = world.put(&format!("slot/src/{path}"), text);
            world.sources.push(path);
        }
        for (path, text) in imported {
            let path = world.put(path, text);
            world.modules.insert(path);
        }
        world
    }

    fn top(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    fn put(&self, path: &str, text: &str) -> PathBuf {
        let path = self.top().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    /// The commit's files that copies hide, below `{src}`, and whether the copies resemble them.
    /// `own`: the files of `{src}` that the run opened.
    fn hidden(&self, own: &[&str]) -> Vec<(String, bool)> {
        let (root, src) = (self.top().join("slot"), self.top().join("slot/src"));
        let own: BTreeSet<PathBuf> = own.iter().map(|path| src.join(path)).collect();
        let from = LoadedFrom { root: &root, src: &src, own: &own };
        let found = from.python(&self.modules, &self.sources);
        let below = |path: &PathBuf| path.strip_prefix(&src).unwrap().display().to_string();
        found.values().map(|hidden| (below(&hidden.path), hidden.is_alike)).collect()
    }
}

fn alike(path: &str) -> Vec<(String, bool)> {
    vec![(path.to_owned(), true)]
}

fn nothing() -> Vec<(String, bool)> {
    Vec::new()
}

#[test]
fn an_installed_package_of_the_commit_is_a_copy_wherever_the_commit_has_it() {
    for folder in ["", "src/", "gguf-py/", "packages/eng/src/", "bindings/python/", "engine/"] {
        let own = format!("{folder}eng/__init__.py");
        for to in [SITE, "elsewhere"] {
            let copy = format!("{to}/eng/__init__.py");
            let world =
                World::of(&[(own.as_str(), "def e(): pass")], &[(copy.as_str(), "def e(): pass")]);
            assert_eq!(world.hidden(&["tools/bench.py"]), alike(&own));
        }
    }
}

#[test]
fn a_file_inside_the_package_is_no_sign_of_a_comparison() {
    let tracked = [("src/eng/__init__.py", "a"), ("src/eng/_version.py", "b")];
    let copy = format!("{SITE}/eng/__init__.py");
    let world = World::of(&tracked, &[(copy.as_str(), "a")]);
    assert_eq!(world.hidden(&["src/eng/_version.py"]), alike("src/eng/__init__.py"));
    assert_eq!(world.hidden(&["src/eng/__init__.py"]), nothing());
}

#[test]
fn an_installed_module_without_a_package_is_a_copy() {
    for name in ["eng.py", "eng/core.py"] {
        let (own, copy) = (format!("src/{name}"), format!("{SITE}/{name}"));
        let world = World::of(&[(own.as_str(), "a")], &[(copy.as_str(), "a")]);
        assert_eq!(world.hidden(&["tools/bench.py"]), alike(&own));
        assert_eq!(world.hidden(&[own.as_str()]), nothing());
        // A script of the user, and what lies beside it.
        let beside = format!("home/bench/{name}");
        assert_eq!(
            World::of(&[(own.as_str(), "a")], &[(beside.as_str(), "a")]).hidden(&[]),
            nothing()
        );
    }
}

#[test]
fn a_foreign_package_with_the_name_of_the_commits_does_not_resemble_it() {
    let site = |name: &str| format!("{SITE}/datasets/{name}");
    let [init, load, utils] = ["__init__.py", "load.py", "utils.py"].map(site);
    let own = [
        ("src/datasets/__init__.py", "from .coco import make"),
        ("src/datasets/utils.py", "import os\n\ndef root():\n    return os.environ['DATA']"),
    ];
    let foreign = [
        (init.as_str(), "from .load import load_dataset\n__version__ = '4.0'"),
        (load.as_str(), "def load_dataset(name):\n    return name"),
        (utils.as_str(), "import os\nimport sys\n\ndef cache():\n    return sys.argv"),
    ];
    let unlike = ("src/datasets/__init__.py".to_owned(), false);
    assert_eq!(World::of(&own, &foreign).hidden(&[]), [unlike]);
    // An earlier release: one file more, and one with other lines.
    let earlier = [
        (init.as_str(), "from .coco import make"),
        (utils.as_str(), "import os\n\ndef root():\n    return os.environ['ROOT']"),
        (load.as_str(), "def load():\n    return 0"),
    ];
    assert_eq!(World::of(&own, &earlier).hidden(&[]), alike("src/datasets/__init__.py"));
}

#[test]
fn the_package_that_the_copy_resembles_is_the_hidden_one() {
    let tracked = [("a/eng/__init__.py", "other"), ("b/eng/__init__.py", "same")];
    let copy = format!("{SITE}/eng/__init__.py");
    assert_eq!(
        World::of(&tracked, &[(copy.as_str(), "same")]).hidden(&[]),
        alike("b/eng/__init__.py")
    );
}

#[test]
fn other_packages_are_no_copies() {
    let none = |tracked: &[(&str, &str)], imported: &[(&str, &str)]| {
        assert_eq!(World::of(tracked, imported).hidden(&[]), nothing(), "{tracked:?} {imported:?}");
    };
    let copy = format!("{SITE}/eng/__init__.py");
    let copy = (copy.as_str(), "a");
    none(&[("third_party/eng/__init__.py", "a")], &[copy]);
    none(&[("other/__init__.py", "a")], &[copy]);
    none(&[("outer/__init__.py", ""), ("outer/eng/__init__.py", "a")], &[copy]);
    none(&[("test/__init__.py", "a")], &[("lib/python3.11/test/__init__.py", "a")]);
    none(&[("eng/__init__.py", "a")], &[("slot/src/lib/eng/__init__.py", "a")]);
}

#[test]
fn a_link_into_the_slot_is_no_copy() {
    let mut world = World::of(&[("eng/__init__.py", "a")], &[]);
    let top = world.top();
    std::fs::create_dir(top.join("site-packages")).unwrap();
    std::os::unix::fs::symlink(top.join("slot/src/eng"), top.join("site-packages/eng")).unwrap();
    world.modules.insert(top.join("site-packages/eng/__init__.py"));
    assert_eq!(world.hidden(&[]), nothing());
}
