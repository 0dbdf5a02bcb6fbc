//! Measures the program's start-up time, and the time that supervision adds to a run.
#![expect(clippy::disallowed_methods, reason = "it measures programs, so it starts them")]

use std::process::{Command, Stdio};

use bisect_ppl::process::{self, Invocation, Keep, LogFile, Stop};
use criterion::{Criterion, criterion_group, criterion_main};

const PROGRAM: &str = env!("CARGO_BIN_EXE_bisect-ppl");

/// Start-up with `--help`. Target: under 15 ms.
fn help(criterion: &mut Criterion) {
    criterion.bench_function("start-up: --help", |bencher| {
        bencher.iter(|| {
            let mut command = Command::new(PROGRAM);
            let status = command.arg("--help").stdout(Stdio::null()).status();
            assert!(status.expect("the program can be started").success());
        });
    });
}

/// The same program with and without supervision.
fn run(criterion: &mut Criterion) {
    process::shim::use_program(PROGRAM);
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let log = folder.path().join("log");
    let mut group = criterion.benchmark_group("run of `true`");
    group.bench_function("plain spawn", |bencher| {
        bencher.iter(|| {
            let output = Command::new("true").output();
            assert!(output.expect("`true` can be started").status.success());
        });
    });
    group.bench_function("supervised", |bencher| {
        let invocation = Invocation::new("true").cwd(folder.path());
        let stop = Stop::never();
        bencher.iter(|| {
            let file = LogFile { path: &log, header: &[], sync: false };
            let done = process::run(&invocation, &stop, &file, &mut |_, _| Keep::No);
            assert!(done.expect("`true` can be supervised").ended.is_success());
        });
    });
    group.finish();
}

criterion_group!(benches, help, run);
criterion_main!(benches);
