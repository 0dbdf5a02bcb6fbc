//! A clock that shows another time: a library that is loaded before the system's own.

use std::fs;
use std::path::PathBuf;

use super::TestEnvironment;

/// The time of day that programs of a test see. Other clocks go on.
pub(crate) struct Clock {
    library: PathBuf,
    /// A file that is read at each look at the clock: with `=SECONDS` the clock stands still,
    /// `+SECONDS` are added.
    face: PathBuf,
}

impl Clock {
    pub(crate) fn new(env: &TestEnvironment) -> Self {
        let folder = env.path("clock");
        fs::create_dir_all(&folder).unwrap();
        let [source, library, face] = ["clock.c", "clock.so", "face"].map(|name| folder.join(name));
        fs::write(&source, SOURCE).unwrap();
        let words = ["-shared", "-fPIC", "-o", library.to_str().unwrap(), source.to_str().unwrap()];
        env.tool(&env.repo(), "cc", &words).expect(0);
        let clock = Self { library, face };
        clock.advance(0);
        clock
    }

    /// Stops the clock at these seconds since 1970.
    pub(crate) fn stop_at(&self, seconds: u64) {
        self.show(&format!("={seconds}"));
    }

    /// Makes the clock differ by these seconds from the real time.
    pub(crate) fn advance(&self, seconds: i64) {
        self.show(&format!("+{seconds}"));
    }

    /// A reader sees the old text or the new one.
    fn show(&self, text: &str) {
        let new = self.face.with_extension("new");
        fs::write(&new, text).unwrap();
        fs::rename(new, &self.face).unwrap();
    }

    /// The variables of a program that sees this clock.
    pub(crate) fn variables(&self) -> [(&'static str, PathBuf); 2] {
        [("LD_PRELOAD", self.library.clone()), ("CLOCK", self.face.clone())]
    }
}

const SOURCE: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *time)
{
    int (*real)(clockid_t, struct timespec *) =
        (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(clock, time);
    if (clock != CLOCK_REALTIME || !getenv("CLOCK")) return result;
    char text[64] = "";
    int face = open(getenv("CLOCK"), O_RDONLY | O_CLOEXEC);
    if (face < 0) return result;
    if (read(face, text, sizeof text - 1) > 1) {
        long long seconds = atoll(text + 1);
        time->tv_sec = text[0] == '=' ? seconds : time->tv_sec + seconds;
    }
    close(face);
    return result;
}
"#;
