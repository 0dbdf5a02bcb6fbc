//! Classifies paths by their names.

/// Files that tell a build system what to do. A commit that changes one is always built.
pub(crate) fn is_recipe(path: &str) -> bool {
    let name = name(path);
    let is_named = [
        "CMakeLists.txt",
        "CMakePresets.json",
        "CMakeUserPresets.json",
        "Cargo.lock",
        "Cargo.toml",
        "SConscript",
        "SConstruct",
        "build.rs",
        "meson.build",
        "meson.options",
        "meson_options.txt",
        "pyproject.toml",
        "rust-toolchain",
        "rust-toolchain.toml",
        "setup.cfg",
        "setup.py",
        "wscript",
    ]
    .contains(&name);
    is_named
        || is_makefile(path)
        || name.starts_with("configure")
        || path.contains(".cargo/config")
        || ["cmake", "in", "ac", "am", "m4", "ninja", "bzl", "bazel", "gn", "gni", "ld", "lds"]
            .contains(&ending(name))
}

/// Files for make.
pub(super) fn is_makefile(path: &str) -> bool {
    let name = name(path);
    let is_named = ["Makefile", "makefile", "GNUmakefile"].iter().any(|makefile| {
        name.strip_prefix(makefile).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    });
    is_named || ["mk", "mak"].contains(&ending(name))
}

/// Files for CMake.
pub(super) fn is_cmake(path: &str) -> bool {
    name(path) == "CMakeLists.txt" || ending(path) == "cmake" || path.ends_with(".cmake.in")
}

/// Files of git itself, which decide what is checked out.
pub(super) fn is_of_git(path: &str) -> bool {
    [".gitmodules", ".gitattributes"].contains(&name(path))
}

/// Sources of languages whose compilers record what they read.
pub(super) fn is_compiled(path: &str) -> bool {
    const ENDINGS: [&str; 41] = [
        "C", "F", "F90", "H", "S", "asm", "c", "c++", "cc", "cpp", "cppm", "cu", "cuh", "cxx", "f",
        "f03", "f08", "f90", "f95", "for", "h", "h++", "hh", "hip", "hpp", "hxx", "inc", "inl",
        "ipp", "ixx", "m", "metal", "mm", "mpp", "nasm", "rs", "s", "tcc", "tpp", "txx", "yasm",
    ];
    ENDINGS.contains(&ending(path))
}

/// Programs in languages in which people write generators. They may read any file that they name.
/// JavaScript is left out: in most trees it is data for a page.
pub(super) fn is_script(path: &str) -> bool {
    const ENDINGS: [&str; 11] =
        ["awk", "bash", "cmake", "gawk", "lua", "pl", "py", "rb", "sed", "sh", "tcl"];
    ENDINGS.contains(&ending(path))
}

/// Whether a command runs a script, so that the files that it reads are unknown.
pub(crate) fn runs_a_script(words: &[String]) -> bool {
    const PROGRAMS: [&str; 24] = [
        "awk", "bash", "bun", "conda", "dash", "deno", "julia", "ksh", "lua", "luajit", "node",
        "npm", "npx", "perl", "php", "pip", "poetry", "python", "ruby", "sh", "tclsh", "torchrun",
        "uv", "zsh",
    ];
    words.iter().any(|word| PROGRAMS.contains(&without_version(name(word))) || is_script(word))
}

/// Whether a word of a build command starts a tool that copies or compiles files without a record,
/// or that builds elsewhere.
pub(crate) fn keeps_no_records(word: &str) -> bool {
    const PROGRAMS: [&str; 15] = [
        "bazel", "bazelisk", "buck", "buck2", "conda", "docker", "maturin", "nix", "npm", "pip",
        "podman", "poetry", "python", "ssh", "uv",
    ];
    PROGRAMS.contains(&without_version(name(word)))
}

/// `python3.12` and `pip3` without their versions.
fn without_version(program: &str) -> &str {
    program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.')
}

/// The name without folders.
pub(super) fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn ending(path: &str) -> &str {
    name(path).rsplit_once('.').map_or("", |(_, ending)| ending)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recipes_are_known_by_their_names() {
        for path in [
            "CMakeLists.txt",
            "a/GNUmakefile",
            "Makefile.am",
            "cmake/git-vars.cmake",
            "src/version.h.in",
            "sub/configure.py",
            ".cargo/config.toml",
            "rules.mk",
        ] {
            assert!(is_recipe(path), "{path}");
        }
        for path in ["src/cmake.c", "Makefiles.md", "build.rst", "in", "docs/make.txt"] {
            assert!(!is_recipe(path), "{path}");
        }
    }

    #[test]
    fn a_command_that_runs_a_script_is_known_by_any_of_its_words() {
        let runs = |command: &str| {
            runs_a_script(&command.split(' ').map(str::to_owned).collect::<Vec<_>>())
        };
        assert!(runs("python3.12 -m lm_eval") && runs("taskset -c 0 /usr/bin/bash x"));
        assert!(runs("{src}/run.sh") && runs("env A=1 uv run x"));
        assert!(!runs("{build}/ppl --model {inputs.model}") && !runs("{build}/pythonic"));
    }

    #[test]
    fn tools_without_records_are_known_with_and_without_version() {
        for word in ["pip3", "/usr/bin/python3.11", "docker", "buck2"] {
            assert!(keeps_no_records(word), "{word}");
        }
        assert!(!keeps_no_records("make") && !keeps_no_records("-DUSE_PYTHON=ON"));
    }
}
