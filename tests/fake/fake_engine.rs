//! A scripted engine to hunt with. Each commit's files say what the engine does:
//!
//! ```text
//! fake-engine build SRC BUILD       engine.conf, kernels/*.conf → BUILD/engine.conf, BUILD/engine
//! BUILD/engine convert FOLDER       makes FOLDER/model.conf
//! BUILD/engine run MEASURE [ROOM…] [chunks=N] [cell=NAME] [model=FOLDER] [NAME=NUMBER…]
//!                                   obeys engine.conf;
//!                                   ROOM: a folder that must be fresh; N: most chunks to read;
//!                                   NAME: `KEY@NAME` replaces KEY;
//!                                   FOLDER: its model.conf overrides engine.conf
//! ```
//! Every start is one line of `$FAKE_WORLD/starts.log` (`run 3 ppl 4711`), so that a test counts
//! what really ran. The other files in `$FAKE_WORLD` are the state of the world, that is of the
//! machine: while `broken` exists, every run fails at every commit.
//!
//! | key | meaning |
//! |---|---|
//! | `id` | the commit's label in the log |
//! | `ppl`, `tg`, `launch`, `chunks` | the value of a run; several words: one a run, in turn |
//! | `mem` | the MiB that the measure `json` prints |
//! | `ppl+NAME` | added to `ppl`; each file of `kernels` may set its own |
//! | `checks` | results in the measures `suite`, `junit`: `q:pass:1e-7 k:fail:0.5 v:skip` |
//! | `flaky_checks` | the same, for the first run with this key |
//! | `tests` | which of `pp512 tg128` the measure `bench` prints |
//! | `tensors` | names and first values that the measure `dump` prints: `l_out-0:1.5 y:nan` |
//! | `sums` | `shown`: sums only the shown values, as llama-eval-callback once did |
//! | `shift` | added to token 1 from position 2 on, in the file that the measure `logits` writes |
//! | `wiggle` | standard deviation of noise on all logits |
//! | `vocab` | tokens of a position in that file |
//! | `story` | what the measure `story` prints; `*N` at its end: the text N times |
//! | `noise`, `seed` | standard deviation of normal noise on `ppl` and -ln `tg`; its seed |
//! | `outliers` | share of runs with an added exponential deviate of mean 10 `noise` |
//! | `flake` | `RATE VALUE`: share of runs with VALUE as `ppl`; VALUE may be `LOW..HIGH` |
//! | `flake_fate` | `RATE FATE`: share of `ppl` runs with this fate |
//! | `build_flip` | `RATE VALUE`: share of builds with VALUE as `ppl`; no two builds are equal |
//! | `drift` | `AMPLITUDE RUNS`: adds a sine; its period is RUNS runs of the whole world |
//! | `jump` | `SIZE RUNS`: adds SIZE after so many runs of the whole world |
//! | `fails` | probability that the measure `code` exits with 1 |
//! | `n_ctx`, `chunk_ms` | tokens of a chunk, milliseconds for a chunk |
//! | `nll` | replaces `ppl`, `chunks`: `12x2.0 12x2.4` is 24 chunks, in nats per token |
//! | `wobble` | the first run with this key prints its last chunk 0.001 higher |
//! | `fate` | `crash:SIGNAL`, `exit:N`, `hang`, `hang-hard`, `nan`, `inf`, `silent`, `cut` |
//! | `jit` | variables that name folders for compiled code; the folders must be fresh |
//! | `orphan` | leaves a process behind, in a session of its own |
//! | `backend` | the backend that it reports; `none`: reports none |
//! | `say`, `say_out`, `say_err` | a line for both streams or one; escapes: see `unescaped` |
//! | `flood_mib` | prints a line of so many mebibytes |
//! | `code`, `speed_ms` | exit code of the measure `code`, duration of `speed` |
//! | `break_world` | a switch of the world; the first run with this key turns it on |
//! | `change_input` | the first run with this key overwrites the model |
//! | `program` | name of the built program; `none`: the build makes none |
//! | `needs` | a file of the source; the run exits with 4 if it is missing |
//! | `lacks` | a file of the source; the run exits with 4 if it exists |
//! | `needs_text` | `FILE WORD`: the run exits with 4 if FILE lacks WORD |
//! | `dirty` | a tracked file that the run overwrites |
//! | `town` | a folder in which each engine has a file while it builds or runs |
//! | `alone` | a run logs a fault if another engine is in the town |
//! | `convert_exit`, `convert_ppl` | exit code of `convert`, the `ppl` that it writes |
//! | `convert_none` | `convert` writes nothing |
//! | `where.CELL` | `NAME%M!=0` or `NAME>N`: runs with such a word `NAME=NUMBER` are in CELL |
//! | `build_log` | output of a failing build; replaces `error: engine.c:1: ` and `build_says` |
//! | `build_hides` | `FILE TEXT`: the build writes a tracked file and hides that from git |
//! | `build_keeps` | files of `kernels` that the build takes from an earlier build, if any |
//! | `build_carries` | `FILE NUMBER`: the build adds FILE to `ppl` and writes NUMBER there |
//! | `build_exit`, `build_says`, `build_ms` | exit code, error text, time of the build |
//! | `build_dirty`, `build_in_src` | overwrites this file; leaves a file in SRC |
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::unwrap_used,
    clippy::exit,
    clippy::zombie_processes,
    reason = "a test program: it plays an engine, not a part of the product"
)]

mod build;
mod chance;
mod leaks;
mod processes;
mod results;
mod rooms;
mod run;
mod say;
mod script;
mod shapes;
mod town;
mod world;

use std::fs;
use std::path::Path;
use std::process::exit;
use std::time::Duration;

use rustix::process::setsid;

use build::{build_engine, build_folder, poison};
use run::run;
use script::Script;
use world::{log, world_has};

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["build", src, build] => build_engine(Path::new(src), Path::new(build)),
        ["run", measure, rooms @ ..] => run(measure, rooms),
        ["convert", folder] => convert(Path::new(folder)),
        ["note", text] => log(&format!("note {text}")),
        ["poison", key, value] => poison(key, value),
        ["sleep"] => std::thread::sleep(Duration::from_secs(90)),
        ["orphan"] => {
            setsid().unwrap();
            std::thread::sleep(Duration::from_secs(90));
        }
        _ => {
            eprintln!("usage: fake-engine build SRC BUILD | run MEASURE [ROOM]...");
            exit(64);
        }
    }
}

fn convert(folder: &Path) {
    let script = Script::read(&fs::read_to_string(build_folder().join("engine.conf")).unwrap());
    log(&format!("convert {} - {}", script.id(), std::process::id()));
    if fs::read_dir(folder).unwrap().next().is_some() {
        log(&format!("fault {} is not fresh", folder.display()));
    }
    if world_has("convert-broken") {
        eprintln!("the converter's disk is gone");
        exit(1);
    }
    if let Some(code) = script.number("convert_exit") {
        eprintln!("cannot convert");
        exit(i32::try_from(code).unwrap());
    }
    if script.get("convert_none").is_none() {
        let ppl = script.get("convert_ppl").map_or(String::new(), |ppl| format!("ppl = {ppl}\n"));
        fs::write(folder.join("model.conf"), ppl).unwrap();
    }
}
