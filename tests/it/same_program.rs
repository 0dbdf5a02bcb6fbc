//! Both ends run the same program, although the commits change its source: the answer is not that
//! there is no regression.

use std::fs;
use std::path::Path;

use crate::kit::planted::{commit, put};
use crate::kit::{Hunt, TestEnvironment};

/// A program that prints the constant of a header. The third of five commits changes the constant.
fn history(include: &str, header: &str, build: &str, run: &str) -> TestEnvironment {
    let env = TestEnvironment::new();
    let main = format!(
        "#include <stdio.h>\n#include {include}\nint main(void) {{ puts(\"e = \" E); return 0; }}\n"
    );
    put(&env.repo().join("main.c"), main.as_bytes());
    put(&env.repo().join("run.sh"), b"engine\n");
    put(&env.repo().join(".gitignore"), b"oracle.toml\n");
    let text = format!(
        "version = 1\n[build]\ncommands = [\"{build}\"]\n[[measure]]\nname = \"e\"\n\
         command = \"{run}\"\nparser = \"regex\"\npattern = '^e = ([0-9.]+)'\n\
         [[guard]]\nmetric = \"e\"\nmax_increase = 0.1\n"
    );
    put(&env.repo().join("oracle.toml"), text.as_bytes());
    for (number, e) in ["7.0", "7.0", "7.5", "7.5", "7.5"].iter().enumerate() {
        put(&env.repo().join(header), format!("#define E \"{e}\"\n").as_bytes());
        put(&env.repo().join("number"), number.to_string().as_bytes());
        commit(&env, &format!("change {number}"));
        if number == 0 {
            env.git(&["tag", "v1"]);
        }
    }
    env
}

fn hunt(env: &TestEnvironment, variable: &str, value: &str) -> Hunt {
    let words = ["start", "--good", "v1", "--bad", "main"];
    Hunt::of(env, env.run_with(&env.repo(), &words, &[(variable, value)]))
}

fn compiled(env: &TestEnvironment, folder: &Path) -> String {
    fs::create_dir_all(folder).unwrap();
    let program = folder.join("engine").display().to_string();
    env.git(&["checkout", "--quiet", "v1"]);
    env.tool(&env.repo(), "cc", &["-o", &program, "main.c"]).expect(0);
    env.git(&["checkout", "--quiet", "main"]);
    program
}

#[test]
fn a_script_that_runs_an_installed_program_is_told() {
    let env = history("\"e.h\"", "e.h", "cc -o {build}/engine {src}/main.c", "sh {src}/run.sh");
    let folder = env.path("installed");
    let program = compiled(&env, &folder);
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
    let hunt = hunt(&env, "PATH", &path).expect(4, "endpoint-unmeasurable");
    let program = format!("the same program: {program}, and not build/engine");
    hunt.output.says(&[&program, "name {build}/engine, not engine"]);
}

#[test]
fn a_header_from_elsewhere_is_told() {
    let header = "include/lib/e.h";
    let env = history("<lib/e.h>", header, "cc -o {build}/engine {src}/main.c", "{build}/engine");
    let installed = env.path("installed");
    put(&installed.join("lib/e.h"), b"#define E \"7.0\"\n");
    let hunt = hunt(&env, "CPATH", installed.to_str().unwrap());
    let hunt = hunt.expect(4, "endpoint-unmeasurable");
    hunt.output.says(&["both ends ran the same program: build/engine", header, "CPATH"]);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_program_that_contains_the_time_of_its_build_is_still_the_same() {
    let header = "include/lib/e.h";
    let build = "sleep 1.1\", \"cc -o {build}/engine {src}/main.c";
    let env = history("<lib/e.h>", header, build, "{build}/engine");
    let installed = env.path("installed");
    let text = b"#define E \"7.0\\nbuilt \" __DATE__ \" \" __TIME__\n";
    put(&installed.join("lib/e.h"), text);
    let hunt = hunt(&env, "CPATH", installed.to_str().unwrap());
    let hunt = hunt.expect(4, "endpoint-unmeasurable");
    hunt.output.says(&["both ends ran the same program", "but for the times of the builds"]);
}
