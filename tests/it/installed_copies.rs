//! The runs load an installed copy of the engine, and the commits change only what uses it.

use std::path::Path;

use crate::kit::planted::{commit, put};
use crate::kit::{Hunt, TestEnvironment};

/// A file of the repository with its text at the first, the third and the fourth of five commits.
type Texts = (&'static str, [&'static str; 3]);

/// Installs the package into the last folder of `PYTHONPATH`.
const INSTALL: &str = "to=${PYTHONPATH##*:}/eng\nrm -rf \"$to\"\ncp -r src/eng \"$to\"\n";

/// The third commit makes the engine worse. The fourth changes the engine and its caller together:
/// harmless, unless the caller meets an older engine.
fn history(recipe: &str, engine: &Texts, caller: &Texts) -> TestEnvironment {
    let env = TestEnvironment::new();
    put(&env.repo().join(".gitignore"), b"oracle.toml\n__pycache__\n");
    let text = format!(
        "version = 1\n{recipe}\nparser = \"regex\"\npattern = '^e = ([0-9.]+)'\n\
         [[guard]]\nmetric = \"e\"\nmax_increase = 0.1\n"
    );
    put(&env.repo().join("oracle.toml"), text.as_bytes());
    put(&env.repo().join("tools/install.sh"), INSTALL.as_bytes());
    for (number, at) in [0, 0, 1, 2, 2].into_iter().enumerate() {
        for (path, texts) in [engine, caller] {
            put(&env.repo().join(path), texts[at].as_bytes());
        }
        put(&env.repo().join("number"), number.to_string().as_bytes());
        commit(&env, &format!("change {number}"));
        if number == 0 {
            env.git(&["tag", "v1"]);
        }
    }
    env
}

fn hunt(env: &TestEnvironment, variable: &str, folder: &Path) -> Hunt {
    let words = ["start", "--good", "v1", "--bad", "main"];
    Hunt::of(env, env.run_with(&env.repo(), &words, &[(variable, folder)]))
}

/// A package of the commit that has the name of an installed one of another project, with which the
/// caller works on purpose.
#[test]
fn a_foreign_package_with_the_name_of_the_commits_is_no_copy() {
    let [one, two] = ["def make():\n    return 1\n", "def make():\n    return 2\n"];
    let [old, new] = [
        "from datasets import load\nprint('e =', load(7.0))\n",
        "from datasets import load\nprint('e =', load(7.5))\n",
    ];
    let recipe = "[build]\ncommands = []\n[[measure]]\nname = \"e\"\n\
                  command = \"python3 {src}/tools/bench.py\"";
    let env = history(
        recipe,
        &("src/datasets/__init__.py", [one, one, two]),
        &("tools/bench.py", [old, new, new]),
    );
    let installed = env.path("installed");
    put(&installed.join("datasets/__init__.py"), b"def load(value):\n    return value\n");
    hunt(&env, "PYTHONPATH", &installed).expect(0, "culprit").output.says(&["change 2"]);
}

/// A package in `src`, its caller in `tools`, and an older release in a folder of `PYTHONPATH`.
fn package(env_of_measure: &str) -> Hunt {
    package_with("commands = []", "{src}/tools/bench.py", env_of_measure)
}

fn package_with(build: &str, script: &str, env_of_measure: &str) -> Hunt {
    let engine = [
        "def e():\n    return 7.0\n",
        "def e():\n    return 7.5\n",
        "def e(more=0.0):\n    return 7.2 + more\n",
    ];
    let old = "from eng import e\nprint('e =', e())\n";
    let new = "from eng import e\nprint('e =', e(more=0.3))\n";
    let recipe = format!(
        "[build]\n{build}\n[[measure]]\nname = \"e\"\n\
         command = \"python3 {script}\"\n{env_of_measure}"
    );
    let engine: Texts = ("src/eng/__init__.py", engine);
    let env = history(&recipe, &engine, &("tools/bench.py", [old, old, new]));
    let installed = env.path("installed");
    put(&installed.join("eng/__init__.py"), engine.1[0].as_bytes());
    hunt(&env, "PYTHONPATH", &installed)
}

#[test]
fn an_installed_package_in_place_of_the_commits_is_told() {
    let hunt = package("").expect(4, "endpoint-unmeasurable");
    let words = [
        "installed/eng/__init__.py, and not the commit's {src}/src/eng/__init__.py",
        "PYTHONPATH = \"{src}/src\"",
    ];
    hunt.output.says(&words);
}

#[test]
fn a_copy_beside_files_of_the_build_is_a_doubt() {
    let build = "commands = [\"cp {src}/tools/bench.py {build}/bench.py\"]";
    let hunt = package_with(build, "{build}/bench.py", "").expect(0, "culprit");
    let culprit = &hunt.report["culprit"];
    assert!(culprit["confidence"].as_f64().unwrap() <= 0.98, "{culprit}");
    assert_eq!(culprit["copy_doubt"]["own"], "src/src/eng/__init__.py");
    hunt.output.says(&["and not the commit's {src}/src/eng/__init__.py: no run shows"]);
}

/// A program that the build makes in the checkout, and a script that imports an installed package
/// and starts this program.
#[test]
#[ignore = "long: scripts/test --long"]
fn a_copy_beside_a_program_built_in_the_checkout_is_a_doubt() {
    let [old, new] = ["def read():\n    return 1\n", "def read():\n    return 2\n"];
    let good = "#include <stdio.h>\nint main(void) { puts(\"e = 7.0\"); }\n";
    let bad = "#include <stdio.h>\nint main(void) { puts(\"e = 7.5\"); }\n";
    let recipe = "[build]\ncommands = [\"cc -o {src}/ppl {src}/main.c\"]\n[[measure]]\n\
                  name = \"e\"\n\
                  command = \"python3 -c 'import eng, os, sys; os.execv(sys.argv[1], sys.argv[1:])' \
                  {src}/ppl\"";
    let engine: Texts = ("src/eng/__init__.py", [old, old, new]);
    let env = history(recipe, &engine, &("main.c", [good, bad, bad]));
    let installed = env.path("installed");
    put(&installed.join("eng/__init__.py"), old.as_bytes());
    let hunt = hunt(&env, "PYTHONPATH", &installed).expect(0, "culprit");
    let culprit = &hunt.report["culprit"];
    assert_eq!(culprit["subject"], "change 2");
    assert!(culprit["confidence"].as_f64().unwrap() <= 0.98, "{culprit}");
    assert_eq!(culprit["copy_doubt"]["own"], "src/src/eng/__init__.py");
}

#[test]
fn the_commits_package_is_measured() {
    let hunt = package("env = { PYTHONPATH = \"{src}/src\" }").expect(0, "culprit");
    hunt.output.says(&["change 2"]);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_copy_that_the_run_makes_is_the_commits() {
    let hunt = package("before = [\"sh {src}/tools/install.sh\"]").expect(0, "culprit");
    hunt.output.says(&["change 2"]);
}

/// A program with a library in `{build}`, and an older library in a folder of `LD_LIBRARY_PATH`.
fn library(env_of_measure: &str) -> Hunt {
    let engine = [
        "double e(void) { return 7.0; }\n",
        "double e(void) { return 7.5; }\n",
        "double e(void) { return 7.2; }\n",
    ];
    let old = "#include <stdio.h>\ndouble e(void);\n\
               int main(void) { printf(\"e = %.1f\\n\", e()); return 0; }\n";
    let new = "#include <stdio.h>\ndouble e(void);\n\
               int main(void) { printf(\"e = %.1f\\n\", e() + 0.3); return 0; }\n";
    let recipe = format!(
        "[build]\ncommands = [\n  \"cc -shared -fPIC -o {{build}}/libeng.so {{src}}/eng.c\",\n  \
         \"cc -o {{build}}/ppl {{src}}/main.c -L{{build}} -leng \
         -Wl,--enable-new-dtags,-rpath,{{build}}\",\n]\n\
         [[measure]]\nname = \"e\"\ncommand = \"{{build}}/ppl\"\n{env_of_measure}"
    );
    let env = history(&recipe, &("eng.c", engine), &("main.c", [old, old, new]));
    let installed = env.path("installed");
    put(&installed.join("eng.c"), engine[0].as_bytes());
    env.tool(&installed, "cc", &["-shared", "-fPIC", "-o", "libeng.so", "eng.c"]).expect(0);
    hunt(&env, "LD_LIBRARY_PATH", &installed)
}

#[test]
fn an_installed_library_in_place_of_the_builds_is_told() {
    let hunt = library("").expect(4, "endpoint-unmeasurable");
    let words = [
        "installed/libeng.so, and not the commit's {build}/libeng.so",
        "LD_LIBRARY_PATH = \"{build}\"",
    ];
    hunt.output.says(&words);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn the_builds_library_is_measured() {
    let hunt = library("env = { LD_LIBRARY_PATH = \"{build}\" }").expect(0, "culprit");
    hunt.output.says(&["change 2"]);
}
