//! Builds of an engine, and damage to one.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::exit;
use std::time::Duration;

use crate::say::unescaped;
use crate::script::Script;
use crate::town::Guest;
use crate::world::{count, log, warn_of_git_variables, world_has};
use crate::{chance, leaks};

pub(crate) fn build_engine(src: &Path, build: &Path) {
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

/// Damages the build folder of one commit, once: alters the engine's script there.
/// `id` is the commit's, `value` the perplexity that its engine prints from then on.
pub(crate) fn poison(id: &str, value: &str) {
    let path = build_folder().join("engine.conf");
    let text = fs::read_to_string(&path).unwrap();
    if Script::read(&text).id() == id && count("poison") == 0 {
        fs::write(path, format!("{text}\nppl = {value}\n")).unwrap();
    }
}

pub(crate) fn build_folder() -> PathBuf {
    let program = PathBuf::from(std::env::args_os().next().unwrap());
    program.parent().unwrap().to_owned()
}
