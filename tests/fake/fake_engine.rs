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

mod chance;
mod leaks;
mod shapes;

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, exit};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use chance::Chance;
use rustix::process::{Signal, getpid, kill_process, setsid};

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

// ---- the world ----

fn world() -> PathBuf {
    PathBuf::from(std::env::var_os("FAKE_WORLD").expect("the oracle.toml declares FAKE_WORLD"))
}

/// Appends a line in one write, so that lines of parallel processes do not mix.
fn log(line: &str) {
    let path = world().join("starts.log");
    let mut file = fs::OpenOptions::new().create(true).append(true).open(path).unwrap();
    file.write_all(format!("{line}\n").as_bytes()).unwrap();
}

fn world_has(name: &str) -> bool {
    world().join(name).exists()
}

/// Number of earlier calls for `what`.
fn count(what: &str) -> usize {
    let path = world().join(format!("count-{what}"));
    let before = fs::read_to_string(&path).ok().and_then(|t| t.trim().parse().ok()).unwrap_or(0);
    fs::write(path, (before + 1_usize).to_string()).unwrap();
    before
}

// ---- the script ----

struct Script(BTreeMap<String, String>);

impl Script {
    /// Reads `key = value` lines; a later line overrides an earlier one.
    fn read(text: &str) -> Self {
        let pairs = text.lines().filter_map(|line| line.split_once('='));
        Self(pairs.map(|(k, v)| (k.trim().to_owned(), v.trim().to_owned())).collect())
    }

    fn enter(&mut self, cell: &str) {
        let own: Vec<_> = self
            .0
            .iter()
            .filter_map(|(key, value)| Some((key.strip_suffix(cell)?.strip_suffix('@')?, value)))
            .map(|(key, value)| (key.to_owned(), value.clone()))
            .collect();
        self.0.extend(own);
    }

    fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// The sum of all `KEY+NAME`.
    fn added(&self, key: &str) -> f64 {
        let is_part = |name: &str| name.strip_prefix(key).is_some_and(|rest| rest.starts_with('+'));
        let parts = self.0.iter().filter(|(name, _)| is_part(name));
        parts.map(|(_, value)| value.parse::<f64>().expect("a number")).sum()
    }

    fn number(&self, key: &str) -> Option<u64> {
        self.get(key).map(|value| value.parse().expect("a number"))
    }

    fn id(&self) -> &str {
        self.get("id").unwrap_or("?")
    }

    /// The key's next word, in turn.
    fn turn(&self, key: &str) -> Option<String> {
        let words: Vec<&str> = self.get(key)?.split_whitespace().collect();
        let turn = if words.len() > 1 { count(&format!("{}-{key}", self.id())) } else { 0 };
        Some(words[turn % words.len()].to_owned())
    }
}

fn sources(src: &Path, build: &Path) -> String {
    let mut text = String::new();
    for name in ["version", "engine.conf"] {
        text += &fs::read_to_string(src.join(name)).unwrap_or_default();
        text.push('\n');
    }
    let mut kernels: Vec<PathBuf> = fs::read_dir(src.join("kernels"))
        .map(|entries| entries.map(|e| e.unwrap().path()).collect())
        .unwrap_or_default();
    // A submodule's `.git` holds the checkout's path, which no build may depend on.
    kernels.retain(|path| path.extension().is_some_and(|end| end == "conf"));
    kernels.sort();
    let kept = Script::read(&text);
    for path in kernels {
        text +=
            &leaks::kept(&kept, build, &path).unwrap_or_else(|| fs::read_to_string(path).unwrap());
        text.push('\n');
    }
    text
}

fn warn_of_git_variables() {
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy().into_owned();
        if name.starts_with("GIT_") {
            log(&format!("fault {name} is set"));
        }
    }
}

// ---- build ----

fn build_engine(src: &Path, build: &Path) {
    let mut text = sources(src, build);
    let script = Script::read(&text);
    log(&format!("build {} - {}", script.id(), std::process::id()));
    text += &leaks::carried(src, &script);
    if let Some((value, _)) = chance::happens(&script, "build_flip", "build-chance") {
        text = format!("{text}shown = {value}\n");
    }
    if script.get("build_flip").is_some() {
        // A stamp, so that no two builds are equal.
        text = format!("{text}built = {}\n", count("build-stamp"));
    }
    warn_of_git_variables();
    if fs::read_dir(build).is_ok_and(|mut entries| entries.next().is_some()) {
        log(&format!("used-build-folder {}", script.id()));
    }
    if src.join("built-in-source").exists() {
        log(&format!("fault a build of another commit left its files in {}", src.display()));
    }
    println!("building {}", script.id());
    let _guest = Guest::of(&script, false);
    if let Some(ms) = script.number("build_ms") {
        std::thread::sleep(Duration::from_millis(ms));
    }
    if world_has("build-broken") {
        eprintln!("the compiler's disk is gone");
        exit(1);
    }
    if let Some(code) = script.number("build_exit") {
        let says = script.get("build_says").unwrap_or("broken");
        let says = format!("error: engine.c:1: {says}");
        let what = unescaped(script.get("build_log").unwrap_or(&says));
        std::io::stderr().write_all(&what).unwrap();
        exit(i32::try_from(code).unwrap());
    }
    if let Some(file) = script.get("build_dirty") {
        fs::write(src.join(file), "overwritten by the build\n").unwrap();
    }
    if script.get("build_in_src").is_some() {
        fs::write(src.join("built-in-source"), script.id()).unwrap();
    }
    leaks::hide(src, &script);
    fs::create_dir_all(build).unwrap();
    if script.get("build_keeps").is_some() {
        leaks::keep(src, build);
    }
    fs::write(build.join("engine.conf"), text).unwrap();
    let name = script.get("program").unwrap_or("engine");
    if name != "none" {
        let program = build.join(name);
        let _ = fs::remove_file(&program);
        let own = std::env::current_exe().unwrap();
        // Some disks have no symbolic links.
        if std::os::unix::fs::symlink(&own, &program).is_err() {
            fs::copy(own, program).unwrap();
        }
    }
}

/// Damages the build folder of one commit, once: alters the engine's script there.
/// `id` is the commit's, `value` the perplexity that its engine prints from then on.
fn poison(id: &str, value: &str) {
    let path = build_folder().join("engine.conf");
    let text = fs::read_to_string(&path).unwrap();
    if Script::read(&text).id() == id && count("poison") == 0 {
        fs::write(path, format!("{text}\nppl = {value}\n")).unwrap();
    }
}

fn build_folder() -> PathBuf {
    let program = PathBuf::from(std::env::args_os().next().unwrap());
    program.parent().unwrap().to_owned()
}

// ---- convert ----

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

// ---- run ----

fn run(measure: &str, rooms: &[&str]) {
    let mut text = fs::read_to_string(build_folder().join("engine.conf")).unwrap();
    if let Some(folder) = rooms.iter().find_map(|word| word.strip_prefix("model=")) {
        text.push('\n');
        text += &fs::read_to_string(Path::new(folder).join("model.conf")).expect("a model");
    }
    let mut script = Script::read(&text);
    if let Some(cell) = rooms.iter().find_map(|word| word.strip_prefix("cell=")) {
        script.enter(cell);
    }
    for cell in shapes::cells(&script, rooms) {
        script.enter(&cell);
    }
    log(&format!("run {} {measure} {}", script.id(), std::process::id()));
    warn_of_git_variables();
    let words = rooms;
    let rooms = rooms.iter().filter(|room| ROOMS.iter().any(|kind| room.starts_with(kind)));
    let leaked = rooms.filter(|room| !is_fresh(room, script.id())).count() > 0;
    let kept = script.get("jit").unwrap_or_default().split_whitespace();
    for folder in kept.map(|name| std::env::var(name).expect("a variable that is set")) {
        fs::create_dir_all(&folder).unwrap();
        is_fresh(&format!("cache={folder}"), script.id());
    }
    if let Some(switch) = script.get("break_world")
        && count("break-world") == 0
    {
        fs::write(world().join(switch), "").unwrap();
    }
    play_the_world();
    if script.get("change_input").is_some() && count("change-input") == 0 {
        fs::write(world().join("../inputs/model.bin"), "other weights\n").unwrap();
    }
    if let Some(file) = script.get("needs")
        && !Path::new(file).exists()
    {
        eprintln!("cannot find {file}");
        exit(4);
    }
    if let Some(file) = script.get("lacks")
        && Path::new(file).exists()
    {
        eprintln!("{file} should be gone");
        exit(4);
    }
    if let Some((file, word)) = script.get("needs_text").and_then(|value| value.split_once(' '))
        && !fs::read_to_string(file).is_ok_and(|text| text.contains(word))
    {
        eprintln!("{file} does not say {word}");
        exit(4);
    }
    if script.get("orphan").is_some() {
        spawn("orphan");
    }
    if let Some(file) = script.get("dirty") {
        fs::write(file, "overwritten by the run\n").unwrap();
    }
    if let Some(backend) = Some(script.get("backend").unwrap_or("cpu")).filter(|b| *b != "none") {
        eprintln!("backend: {backend}");
    }
    let _guest = Guest::of(&script, script.get("alone").is_some());
    say(&script);
    let mut fate = if measure == "ppl" { script.turn("fate") } else { None };
    if let Some((flake, _)) = chance::happens(&script, "flake_fate", "chance")
        && measure == "ppl"
    {
        fate = Some(flake.to_owned());
    }
    speak(&script, measure, fate.as_deref().unwrap_or("well"), leaked, words);
}

/// An engine's file in the town; removed on drop.
struct Guest {
    file: PathBuf,
    wants_to_be_alone: bool,
}

impl Guest {
    fn of(script: &Script, wants_to_be_alone: bool) -> Option<Self> {
        let file = Path::new(script.get("town")?).join(std::process::id().to_string());
        fs::write(&file, script.id()).unwrap();
        let guest = Self { file, wants_to_be_alone };
        guest.look("comes");
        Some(guest)
    }

    fn look(&self, when: &str) {
        let town = self.file.parent().unwrap();
        let there = fs::read_dir(town).unwrap().map(|entry| entry.unwrap().path());
        // A killed engine leaves its file behind.
        let lives = |file: &PathBuf| Path::new("/proc").join(file.file_name().unwrap()).exists();
        let others: Vec<PathBuf> = there.filter(|file| *file != self.file && lives(file)).collect();
        if self.wants_to_be_alone && !others.is_empty() {
            log(&format!("fault not alone when it {when}: {others:?}"));
        }
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        self.look("goes");
        fs::remove_file(&self.file).unwrap();
    }
}

fn say(script: &Script) {
    for (key, is_out, is_err) in
        [("say", true, true), ("say_out", true, false), ("say_err", false, true)]
    {
        let Some(line) = script.get(key).map(unescaped) else { continue };
        if is_out {
            std::io::stdout().write_all(&line).unwrap();
        }
        if is_err {
            std::io::stderr().write_all(&line).unwrap();
        }
    }
    if let Some(mib) = script.number("flood_mib") {
        let (mut out, piece) = (std::io::stdout(), vec![b'x'; 1 << 20]);
        (0..mib).for_each(|_| out.write_all(&piece).unwrap());
        out.write_all(b"\n").unwrap();
    }
}

/// A line of the script as bytes: `\e` is escape, `\a` bell, `\n` a line break, `\xff` any byte.
fn unescaped(line: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = line;
    while let Some((before, after)) = rest.split_once('\\') {
        bytes.extend(before.bytes());
        let (byte, length) = match after.as_bytes() {
            [b'e', ..] => (0x1b, 1),
            [b'a', ..] => (0x07, 1),
            [b'n', ..] => (b'\n', 1),
            [b'x', _, _, ..] => (u8::from_str_radix(&after[1..3], 16).expect("two digits"), 3),
            _ => (b'\\', 0),
        };
        bytes.push(byte);
        rest = &after[length..];
    }
    bytes.extend(rest.bytes());
    bytes.push(b'\n');
    bytes
}

const ROOMS: [&str; 3] = ["src=", "cache=", "out="];

/// Whether `out` is empty, or `src` or `cache` holds no mark of another commit.
fn is_fresh(room: &str, id: &str) -> bool {
    let (kind, folder) = room.split_once('=').expect("KIND=FOLDER");
    let folder = Path::new(folder);
    let mark = folder.join("left-behind");
    let old = fs::read_to_string(&mark).ok();
    let fresh = match kind {
        "out" => fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none()),
        // A run on a full disk may leave an empty mark.
        _ => folder.is_dir() && old.as_deref().is_none_or(|old| old.is_empty() || old == id),
    };
    if !fresh {
        log(&format!("fault {kind} is not fresh for {id}: {old:?}"));
    }
    // A rename is atomic; the engine may be killed at any moment.
    let made = world().join(format!("mark-{}", std::process::id()));
    fs::write(&made, id).unwrap();
    if fs::rename(&made, &mark).is_err() {
        // The folder is on another disk than the world.
        fs::copy(made, mark).unwrap();
    }
    fresh
}

fn play_the_world() {
    if world_has("broken") {
        eprintln!("cannot allocate");
        exit(9);
    }
    if world_has("transient") {
        eprintln!("error: no CUDA-capable device is detected");
        exit(1);
    }
    if world_has("killer") {
        die(9);
    }
}

fn die(signal: i32) -> ! {
    let signal = Signal::from_named_raw(signal).expect("a signal");
    loop {
        // The runtime may handle the first signal and restore the default; the second one kills.
        kill_process(getpid(), signal).unwrap();
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn spawn(what: &str) {
    Command::new(std::env::current_exe().unwrap()).arg(what).spawn().unwrap();
}

fn speak(script: &Script, measure: &str, fate: &str, leaked: bool, words: &[&str]) {
    let most = words.iter().find_map(|word| word.strip_prefix("chunks="));
    let most = most.map_or(u64::MAX, |count| count.parse().expect("a number"));
    let out = Path::new(words.iter().find_map(|word| word.strip_prefix("out=")).unwrap_or("."));

    let (verb, number) = fate.split_once(':').unwrap_or((fate, ""));
    match verb {
        "crash" => die(number.parse().unwrap()),
        "exit" => exit(number.parse().unwrap()),
        "hang" => std::thread::sleep(Duration::from_secs(90)),
        "hang-hard" => {
            let ignored = Arc::new(AtomicBool::new(false));
            signal_hook::flag::register(signal_hook::consts::SIGTERM, ignored).unwrap();
            spawn("sleep");
            loop {
                std::thread::sleep(Duration::from_secs(90));
            }
        }
        "silent" => return,
        _ => {}
    }
    match measure {
        "launch" => println!("launch: block=({})", script.turn("launch").unwrap_or_default()),
        "speed" => {
            std::thread::sleep(Duration::from_millis(script.number("speed_ms").unwrap_or(0)));
            println!("decode: {} tokens per second", tokens_per_second(script));
        }
        "json" => {
            let mib = script.get("mem").unwrap_or("64");
            println!("{{\"tg\": {}, \"mem\": {{\"mib\": {mib}}}}}", tokens_per_second(script));
        }
        "bench" => bench(script),
        "story" => {
            let story = script.get("story").unwrap_or_default();
            let (text, times) = story.rsplit_once('*').unwrap_or((story, "1"));
            println!("{}", text.repeat(times.parse().expect("a number")));
        }
        "dump" => dump(script),
        "logits" => {
            let threads = words.iter().find_map(|word| word.strip_prefix("threads="));
            logits(script, threads == Some("1"), &out.join("logits.npy"));
        }
        "suite" => suite(script, None),
        "junit" => suite(script, Some(out)),
        "code" if script.get("fails").is_some() => {
            let rate: f64 = script.get("fails").unwrap().parse().expect("a rate");
            exit(i32::from(Chance::of(script).uniform() < rate))
        }
        "code" => exit(script.number("code").map_or(0, |code| i32::try_from(code).unwrap())),
        _ => perplexity(script, verb, leaked, most),
    }
}

fn tokens_per_second(script: &Script) -> String {
    let plain = script.turn("tg").unwrap_or_else(|| "100".to_owned());
    if script.get("noise").is_none() {
        return plain;
    }
    let level: f64 = plain.parse().expect("tokens per second");
    format!("{:.3}", level * (-Chance::of(script).stray(script)).exp())
}

/// Prints what `llama-bench -o json` prints: three samples a test, with the same median.
fn bench(script: &Script) {
    let tg: f64 = tokens_per_second(script).parse().expect("tokens per second");
    let tests = script.get("tests").unwrap_or("pp512 tg128").split_whitespace().map(|test| {
        let (prompt, generated, speed) = match test.split_at(2) {
            ("pp", count) => (count, "0", 8.0 * tg),
            (_, count) => ("0", count, tg),
        };
        format!(
            "  {{\n    \"build_commit\": \"{}\",\n    \"n_threads\": 2,\n    \"n_prompt\": {prompt},\n    \
             \"n_gen\": {generated},\n    \"avg_ts\": {speed},\n    \"samples_ts\": [ {}, {speed}, {} ]\n  }}",
            script.id(),
            speed - 1.0,
            speed + 2.0
        )
    });
    println!("[\n{}\n]", tests.collect::<Vec<_>>().join(",\n"));
}

/// Prints the script's `tensors` as llama-eval-callback does, up to the first NaN.
/// Each has eight values. Two are not shown, and one of these two is 1.
fn dump(script: &Script) {
    let hidden = if script.get("sums") == Some("shown") { 0.0 } else { 1.0 };
    for tensor in script.get("tensors").unwrap_or_default().split_whitespace() {
        let (name, x) = tensor.split_once(':').expect("a name and a value");
        let x: f64 = x.parse().expect("a number");
        println!(
            "common_debug_cb_eval: {name:>24} = (f32) {:>10}(a{{8, 1, 1, 1}}, }}) = {{8, 1, 1, 1}}",
            "ADD"
        );
        let row = format!("{x:12.4}, 0.0000, 0.0000,    ..., 0.0000, 0.0000, 0.0000");
        println!("    [\n        [\n            [{row}  ],\n        ],\n    ]");
        println!("    sum = {:.6}", x + hidden);
        if x.is_nan() {
            println!("encountered NaN - aborting");
            return;
        }
    }
}

/// Writes the logits of four positions as NumPy does. With one thread they are 1e-6 higher.
fn logits(script: &Script, is_single: bool, path: &Path) {
    let real = |key: &str| script.get(key).map_or(0.0, |text| text.parse::<f64>().expect("real"));
    let (shift, wiggle) = (real("shift"), real("wiggle"));
    let vocab = script.number("vocab").unwrap_or(8);
    let mut chance = Chance::of(script);
    let mut bytes = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    let shape = format!("(4, {vocab})");
    let header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}");
    bytes.extend(format!("{header:<117}\n").bytes());
    for position in 0..4 {
        for token in 0..vocab {
            let mut x = ((position * 7 + token * 3) % 11) as f64;
            x += if is_single { 1e-6 } else { 0.0 };
            x += if position >= 2 && token == 1 { shift } else { 0.0 };
            x += wiggle * (chance.uniform() - 0.5);
            bytes.extend(x.to_le_bytes());
        }
    }
    fs::write(path, bytes).unwrap();
}

/// Prints the script's `checks` as a test program does, or writes them to `junit.xml` in `report`.
/// Exits with 1 if a check fails.
fn suite(script: &Script, report: Option<&Path>) {
    let mut lines = Vec::new();
    let mut cases = Vec::new();
    let is_first = script.get("flaky_checks").is_some() && count("flaky-checks") == 0;
    let checks = script.get(if is_first { "flaky_checks" } else { "checks" });
    for check in checks.unwrap_or_default().split_whitespace() {
        let mut parts = check.split(':');
        let (name, state) = (parts.next().unwrap(), parts.next().unwrap_or("pass"));
        let far = parts.next().map(|far| format!("  max_diff={far}")).unwrap_or_default();
        lines.push(format!("  {name}{far}  [{}]\n", state.to_uppercase()));
        let inner = match state {
            "fail" => "<failure message=\"too far\"/>",
            "skip" => "<skipped/>",
            _ => "",
        };
        cases.push(format!("<testcase classname=\"kernels\" name=\"{name}\">{inner}</testcase>\n"));
    }
    let (lines, cases) = (lines.concat(), cases.concat());
    match report {
        None => print!("{lines}"),
        Some(folder) => {
            println!("tests are done");
            let text = format!("<?xml version=\"1.0\"?>\n<testsuite>\n{cases}</testsuite>\n");
            if !cases.is_empty() {
                fs::write(folder.join("junit.xml"), text).unwrap();
            }
        }
    }
    exit(i32::from(lines.contains("[FAIL]")));
}

/// The cumulative perplexity after each chunk of the whole text.
fn cumulative(script: &Script, leaked: bool) -> Vec<f64> {
    let more = if leaked { 100.0 } else { 0.0 };
    if let Some(nll) = script.get("nll") {
        let parts = nll.split_whitespace().map(|part| part.split_once('x').expect("COUNTxNATS"));
        let each = parts.flat_map(|(count, nats)| {
            let nats: f64 = nats.parse().expect("a number");
            vec![nats; count.parse().expect("a number")]
        });
        let mut sum = 0.0;
        let after = |(count, nats): (u32, f64)| {
            sum += nats;
            (sum / f64::from(count)).exp() + more
        };
        return (1..).zip(each).map(after).collect();
    }
    let chunks: u32 = script.turn("chunks").map_or(4, |word| word.parse().expect("a number"));
    let value: f64 = script.turn("ppl").map_or(7.0, |word| word.parse().expect("a perplexity"));
    let value = chance::disturbed(script).unwrap_or(value + script.added("ppl"));
    let is_moved = ["noise", "jump"].iter().any(|key| script.get(key).is_some());
    let stray = if is_moved { Chance::of(script).stray(script) } else { 0.0 };
    let more = more + stray;
    (1..=chunks).map(|chunk| value + more + f64::from(chunks - chunk) / 16.0).collect()
}

/// Prints the perplexity of the first `most` chunks as llama-perplexity does.
fn perplexity(script: &Script, verb: &str, leaked: bool, most: u64) {
    let mut values = cumulative(script, leaked);
    values.truncate(usize::try_from(most).unwrap_or(usize::MAX));
    let chunks = values.len();
    if script.get("wobble").is_some() && count("wobble") == 0 {
        *values.last_mut().unwrap() += 0.001;
    }
    let context = script.get("n_ctx").unwrap_or("512");
    let pause = Duration::from_millis(script.number("chunk_ms").unwrap_or(0));
    eprintln!(
        "perplexity: calculating perplexity over {chunks} chunks, n_ctx={context}, batch_size=2048, n_seq=4"
    );
    let mut out = std::io::stdout();
    let cut = if verb == "cut" { chunks / 2 } else { chunks };
    for (number, value) in (1..).zip(&values[..cut]) {
        std::thread::sleep(pause);
        match verb {
            "nan" | "inf" => print!("[{number}]{verb},"),
            _ => print!("[{number}]{value:.4},"),
        }
        out.flush().unwrap();
    }
    println!();
    match verb {
        "nan" | "inf" => println!("Unexpected negative standard deviation of log(prob)"),
        "cut" => {}
        _ => println!("Final estimate: PPL = {:.4} +/- 0.04452", values.last().unwrap()),
    }
}
