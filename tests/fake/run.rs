//! Runs of an engine.

use std::fs;
use std::path::Path;
use std::process::exit;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::build::build_folder;
use crate::chance::{self, Chance};
use crate::processes::{die, spawn};
use crate::results::{bench, dump, logits, perplexity, suite, tokens_per_second};
use crate::rooms::{ROOMS, is_fresh};
use crate::say::say;
use crate::script::Script;
use crate::shapes;
use crate::town::Guest;
use crate::world::{count, log, play_the_world, warn_of_git_variables, world};

/// Runs a measure as the script of the built engine says.
pub(crate) fn run(measure: &str, rooms: &[&str]) {
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

/// Ends as `fate` says, or prints the result of the measure.
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
