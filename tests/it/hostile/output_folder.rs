//! What an engine leaves in `{out}`: links out of it, circles, FIFOs.

use std::fs;
use std::time::{Duration, Instant};

use rustix::fs::{CWD, Mode, mkfifoat};

use crate::kit::{Oracle, TestEnvironment, line};

/// A hunt whose engine also runs `script` in `{out}`; the measure reads `file`.
fn with_output(script: &str, file: &str) -> (TestEnvironment, String) {
    let env = TestEnvironment::new();
    line("g b").build(&env);
    fs::write(env.path("secret"), "Final estimate: PPL = 1.0 +/- 0.0\n").unwrap();
    let script = script.replace("SECRET", env.path("secret").to_str().unwrap());
    let oracle = Oracle::new(&env)
        .ppl_command(&format!("sh -c \"cd {{out}} && {script}\""))
        .ppl(&format!("file = \"{{out}}/{file}\""));
    oracle.write(&env);
    let begun = Instant::now();
    let output = env.start(&["--good", "v1"]).output;
    assert!(begun.elapsed() < Duration::from_mins(1), "{:?}", begun.elapsed());
    assert_eq!(output.code(), Some(4), "{}", output.stderr);
    let text = format!("{}{}", output.stdout, output.stderr);
    assert!(!text.contains("PPL = 1.0"), "{text}");
    (env, text)
}

#[test]
fn a_link_is_not_the_file_that_a_measure_reads() {
    for (script, file) in [
        ("ln -s SECRET result.txt", "result.txt"),
        ("ln -s SECRET result.txt", "*.txt"),
        ("mkdir a && ln -s SECRET a/result.txt", "**/result.txt"),
        ("ln -s .. up && cp SECRET ../result.txt", "up/result.txt"),
        ("ln -s .. up && cp SECRET ../result.txt", "*/result.txt"),
        (
            "cd .. && rm -rf out && mkdir -p other && cp SECRET other/r.txt && ln -s other out",
            "r.txt",
        ),
        (
            "cd .. && rm -rf out && mkdir -p other && cp SECRET other/r.txt && ln -s other out",
            "*.txt",
        ),
        ("mkfifo result.txt", "result.txt"),
        ("mkfifo result.txt", "*.txt"),
    ] {
        with_output(script, file);
    }
}

#[test]
fn a_circle_of_links_does_not_keep_a_pattern_busy() {
    let circles = "mkdir a b && ln -s .. a/u && ln -s .. a/v && ln -s .. b/u && ln -s .. b/v && \
                   ln -s / root";
    with_output(circles, "**/no-such-file-*.txt");
}

#[test]
fn a_dump_with_a_fifo_is_refused_at_once() {
    let env = TestEnvironment::new();
    for name in ["a.npy", "a.safetensors", "index.txt"] {
        let folder = env.path("tmp").join(format!("dump-{name}"));
        fs::create_dir(&folder).unwrap();
        mkfifoat(CWD, folder.join(name), Mode::RWXU).unwrap();
        for path in [&folder, &folder.join(name)] {
            let path = path.to_str().unwrap();
            let words = ["-s", "KILL", "10", TestEnvironment::product(), "diff", "tensors"];
            let words = [&words[..], &[path, path]].concat();
            env.tool(&env.repo(), "timeout", &words).expect(2).says(&["not a regular file"]);
        }
    }
}
