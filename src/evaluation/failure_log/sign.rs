//! Classifies single lines of output by how much they say about why a program failed.

use std::sync::LazyLock;

use regex::{Regex, RegexSet};

/// How much a line says about the reason, from most to least.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Weight {
    /// An error of a compiler or linker.
    Diagnostic,
    /// A specific reason that other failures hardly share: an exception, an assertion.
    Reason,
    /// An error that programs may survive: `error: …`.
    Error,
    /// A reason in words that unrelated failures share: a corrupted heap.
    Common,
    /// The consequence of another error: `make: *** [all] Error 1`.
    Consequence,
}

/// The kind of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sign<'l> {
    /// A complete message. The text is the part of the line that matters.
    Says(Weight, &'l str),
    /// A Python exception outside a traceback.
    Exception(&'l str),
    /// The message follows in the next line.
    Begins(Weight, &'l str, Next),
    /// The frames of a Python traceback follow. Each line begins with a prefix of this many bytes.
    Traceback(usize),
    /// A sanitizer's message. Stack frames follow; the innermost frame is the place of the failure.
    Sanitizer(&'l str),
    /// A stack frame outside the functions that abort a program.
    Frame(&'l str),
    /// A shell's line about how the program died. The exit status says that already.
    Death,
}

/// What the next line holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// The message itself, unless the line is a `note:`.
    Message,
    /// The message if it begins with these words, ignoring blanks.
    Begins(&'static str),
    /// Up to two indented lines.
    Indented,
    /// A few lines later: the innermost frame of Python's own signal handler.
    PythonFrame,
}

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a pattern of our own")
}

/// A fast first filter: most lines have none of these words and are ignored.
static WORDS: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?i)error|exception|fail|fatal|assert|panic|terminat|traceback|caused by|undefined|unable to|cannot|could not|no rule|no such|not found|permission denied|multiple definition|fault|\*\*\*|corrupt|invalid|smashing|double free|illegal|interrupt|exit: |in function|#\d|\+0x|aborted",
    )
});

/// Lines that are not errors although they contain such a word: warnings, notes, CMake's status
/// lines, echoed commands, and numbers called errors.
static HARMLESS: LazyLock<RegexSet> = LazyLock::new(|| {
    set(&[
        r"(?i)(^|[\s\[(:|])(warn(ing)?|note|hint|info|debug)\b\s*[\]:|)]",
        r"^\s*--\s",
        r"^\s*(\S*/)?[\w.+-]*(cc|gcc|g\+\+|c\+\+|clang|clang\+\+|nvcc|hipcc|rustc|ld|ar)(-[\d.]+)?\s.*\s-[coI]",
        r"(?i)\b(no|zero|without|0) (\w+ )?errors?\b",
        r"(?i)\berrors?\s*[:=]\s*[-+]?[\d.]+(e[-+]?\d+)?\s*%?\s*$",
        r"(?i)\b(mean|max|maximum|min|abs|absolute|rel|relative|rms|l2|standard|std|word|char|quantization|rounding|approximation|squared?) errors?\b",
        r"(?i)\berror (rate|bars?|margin|tolerance|bound|threshold|correction)s?\b",
        r"^\s*\d+ \|",
    ])
});

fn set(patterns: &[&str]) -> RegexSet {
    RegexSet::new(patterns).expect("patterns of our own")
}

static TRACEBACK: &str = "Traceback (most recent call last):";

/// Complete messages and their weight. The group `it`, if any, is the part that matters.
static SAYS: LazyLock<Vec<(Regex, Weight)>> = LazyLock::new(|| {
    use Weight::{Common, Consequence, Diagnostic, Error, Reason};
    [
        // Linkers. The place that uses a missing symbol varies from run to run, so it is cut.
        (r"(?P<it>undefined (reference to|symbol).*)", Diagnostic),
        (r"(?P<it>multiple definition of [`'‘][^`'’]*['’]).*", Diagnostic),
        (r"(?P<it>cannot find -l[^\s:]+)", Diagnostic),
        (r"^(\S*/)?(\S+-)?ld(\.\w+)?: (?P<it>(error: |fatal: )?(cannot find|library|unable to find|duplicate symbol|file not recognized).*)", Diagnostic),
        // rustc quotes the linker's error in a note.
        (r"ld: error: (?P<it>unable to find library -l[^\s:]+)", Diagnostic),
        // Follow-up messages of compilers, and compilers' messages about the linker.
        (r"(collect2|cc1\w*|clang(\+\+)?): (fatal )?(error: )?(ld returned|linker command failed|all warnings being|unable to execute)", Consequence),
        (r"error: (could not compile|aborting due to|too many errors|linking with|build failed)|error: .* failed due to \d+ previous|too many errors emitted", Consequence),
        (r"^\d+ errors? (detected|generated)", Consequence),
        // Compilers: gcc, clang, nvcc, hipcc, Microsoft's, rustc.
        (r"^\s*(?P<it>\S[^:]*\.\w+:\d+(:\d+)?: (fatal |internal compiler )?error:.*)", Diagnostic),
        (r"^\s*(?P<it>\S[^(]*\.\w+\(\d+(,\d+)?\): (catastrophic |fatal )?error\b.*)", Diagnostic),
        (r"^(\S*/)?(?P<it>[\w.+-]*(gcc|g\+\+|cc|c\+\+|clang(\+\+)?|cc1\w*|nvcc|hipcc|rustc|ptxas|as|nvlink)(-[\d.]+)?\s*:? (fatal )?(error|fatal)\s*:.*)", Diagnostic),
        // make, ninja, meson, and the shells that they start.
        (r"^\S*make(\[\d+\])?: (?P<it>\*\*\* No rule to make target.*)", Diagnostic),
        (r"^(?P<it>[^\s:]+:\d+: \*\*\* .*)\s+Stop\.", Diagnostic),
        (r"^\S*make(\[\d+\])?: \*\*\* |^ninja: build stopped|^FAILED: ", Consequence),
        (r"^\S*make(\[\d+\])?: (?P<it>\S+: (No such file or directory|Command not found|Permission denied))", Reason),
        (r"^(\S*/)?(ba|da|z|k)?sh: (line )?(\d+: )?(?P<it>\S+: (command )?not found)", Reason),
        (r"^ninja: (?P<it>error: .*)", Reason),
        (r"^(\S*/)?meson\.build:\d+:\d+: (?P<it>ERROR: .*)", Reason),
        // Programs that abort themselves.
        (r"(?P<it>\S+:\d+: .*[Aa]ssertion [`'‘].*['’] failed.*)", Reason),
        (r"(?P<it>(\S+:\d+: )?\b\w*ASSERT\w*(\(.*\) failed.*|: .*))", Reason),
        (r"(?P<it>\b[Aa]ssertion failed: .*)", Reason),
        (r"(?P<it>\bterminate called without an active exception|\bterminate called recursively|libc\+\+abi: terminating.*)", Reason),
        (r"(?P<it>\S+:\d+(:\d+)?: runtime error: .*)", Reason),
        (r"^(?P<it>panic: .*)", Reason),
        (r"(?P<it>symbol lookup error: .*|error while loading shared libraries: .*)", Reason),
        (r"(?P<it>\S+\.(c|cc|cpp|cu|cuh|h|hpp|m|mm|cl|comp|metal):\d+: .*\b(fatal error|not implemented|unsupported|failed).*)", Reason),
        // Messages of the C library and of drivers.
        (r"(?P<it>(double free or corruption|corrupted (size vs|double-linked|unsorted)|(free|malloc|realloc|calloc|munmap_chunk|malloc_consolidate)\(\): \w+|\*\*\* (stack smashing|buffer overflow) detected).*)", Common),
        (r"(?i)(?P<it>an illegal (memory access|instruction) was encountered|unspecified launch failure|misaligned address|device-side assert triggered|memory access fault by gpu)", Common),
        // Any other line that calls itself an error.
        (r"(?P<it>\b(FATAL|Fatal|fatal|CRITICAL|ERROR|Error|error)(\s*\[[^\]]*\])?\s*:\s*\S.*)", Error),
        (r"(?P<it>(^|[\s\[|(-])(FATAL|CRITICAL|ERROR)[\]|)]?(\s+-)?\s+\S.*)", Error),
        (r"(?P<it>\S*:? ?\berror (loading|while|opening|reading|writing|allocating|creating|initiali[sz]ing|parsing|during|occurred|in|at) .*)", Error),
        (r"(?i)(?P<it>\S*:? ?\b(failed to|unable to|cannot|could not) \w.*)", Error),
    ]
    .into_iter()
    .map(|(pattern, weight)| (regex(pattern), weight))
    .collect()
});

/// An exception at the end of a Python traceback, or without one.
static EXCEPTION: LazyLock<Regex> = LazyLock::new(|| {
    regex(r"^([A-Za-z_]\w*\.)*[A-Z]\w*(Error|Exception|Interrupt|Exit|Failure|Warning)\b(:|$)")
});

/// The line that ends a traceback: any class name.
static RAISED: LazyLock<Regex> = LazyLock::new(|| regex(r"^[A-Za-z_][\w.]*(: .*)?$"));

static PYTHON_FRAME: LazyLock<Regex> =
    LazyLock::new(|| regex(r#"^\s+File "(?P<file>[^"]+)", line \d+(,? in (?P<name>.+))?"#));

static BEGINS: LazyLock<Vec<(Regex, Weight, Next)>> = LazyLock::new(|| {
    use Weight::{Common, Diagnostic, Error, Reason};
    [
        // Rust. Before 2023 the message was in the same line.
        (r"(?P<it>\bpanicked at .*:\d+:\d+:)$", Reason, Next::Message),
        (
            r"(?P<it>\bterminate called after throwing an instance of .*)",
            Reason,
            Next::Begins("what():"),
        ),
        (r"^(?P<it>CMake Error( at \S+)?( \(\w+\))?:)\s*$", Reason, Next::Indented),
        (r"^(?P<it>CMake Error( at [^:]+:\d+)? \(\w+\):)\s*$", Reason, Next::Indented),
        (
            r"(?P<it>\b(CUDA|HIP|ROCm|cuBLAS|CUBLAS|cuDNN|NCCL|SYCL|Vulkan|Metal) error\b.*)",
            Common,
            Next::Begins("current device:"),
        ),
        (r"(?P<it>Fatal Python error: .*)", Common, Next::PythonFrame),
        (r"^(?P<it>error\[E\d+\]: .*)", Diagnostic, Next::Begins("-->")),
        (r"^(Caused by:)$", Error, Next::Message),
    ]
    .into_iter()
    .map(|(pattern, weight, next)| (regex(pattern), weight, next))
    .collect()
});

/// A shell's message about a program that died.
static DEATH: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"^(.*: +\d+ )?(Segmentation fault|Aborted|Bus error|Illegal instruction|Floating point exception|Killed)( +\(core dumped\))?(  .*)?$",
    )
});

static PANIC: LazyLock<Regex> = LazyLock::new(|| regex(r"(?P<it>\bpanicked at .*)"));

static SANITIZER: LazyLock<Regex> = LazyLock::new(|| {
    regex(r"(?P<it>(ERROR|WARNING): \w+Sanitizer: .*?)( on (unknown )?address| at pc| \(pid|$)")
});

/// Stack frames of gdb and the sanitizers (`#1 0x… in name`), and of glibc and others
/// (`engine(name+0x1f) [0x…]`).
static FRAMES: LazyLock<[Regex; 2]> = LazyLock::new(|| {
    [
        regex(r"^\s*#\d+ +(0x[0-9a-f]+ +in +)?(?P<it>[A-Za-z_~][\w:~<>, ]*?)\s*(\(|/|\S+:\d+|$)"),
        regex(r"\((?P<it>[A-Za-z_]\w*)\+0x[0-9a-f]+\)\s*\[0x"),
    ]
});

/// Functions that abort a program, print its stack, or are replaced by a sanitizer.
static MACHINERY: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"^(_*interceptor_|_*asan|_*sanitizer|_*ubsan|_+GI_|_*wait(4|pid)|_*raise|_*pthread_kill|_*kill|_*abort|_*assert|ggml_abort|ggml_print_backtrace|ggml_uncaught|_*cxa|_*cxxabi|std::terminate|__gnu_cxx|_*libc_start|_start|_*clone|start_thread|_*select|_*poll|_*read|_*futex|syscall|_*sigaction|_*restore_rt|killpg|gsignal|_*memcpy|_*memset|_*strlen|operator )",
    )
});

fn part<'l>(pattern: &Regex, line: &'l str) -> Option<&'l str> {
    let found = pattern.captures(line)?;
    Some(found.name("it").map_or(line, |it| it.as_str()))
}

/// Classifies one line; `None` for most.
pub(super) fn sign(line: &str) -> Option<Sign<'_>> {
    if !WORDS.is_match(line) {
        return None;
    }
    if let Some(place) = line.find(TRACEBACK) {
        return Some(Sign::Traceback(place));
    }
    if DEATH.is_match(line) {
        return Some(Sign::Death);
    }
    if let Some(it) = part(&SANITIZER, line) {
        return Some(Sign::Sanitizer(it));
    }
    if let Some(frame) = FRAMES.iter().find_map(|pattern| part(pattern, line)) {
        return (!MACHINERY.is_match(frame)).then_some(Sign::Frame(frame));
    }
    let begins = BEGINS.iter().find_map(|(pattern, weight, next)| {
        Some(Sign::Begins(*weight, part(pattern, line)?, *next))
    });
    if begins.is_some() {
        return begins;
    }
    if let Some(it) = part(&PANIC, line) {
        return Some(Sign::Says(Weight::Reason, it));
    }
    if EXCEPTION.is_match(line) && !line.contains("Warning") {
        return Some(Sign::Exception(line));
    }
    // Diagnostics are exempt, because a linker's error may be in a compiler's note.
    let mut says = SAYS.iter().map(|(pattern, weight)| (part(pattern, line), *weight));
    let (it, weight) = says.find_map(|(it, weight)| Some((it?, weight)))?;
    let is_harmless = weight >= Weight::Reason && HARMLESS.is_match(line);
    (!is_harmless).then_some(Sign::Says(weight, it))
}

/// The file and function of a Python frame.
pub(super) fn python_frame(line: &str) -> Option<String> {
    let found = PYTHON_FRAME.captures(line)?;
    let name = found.name("name").map_or("", |name| name.as_str());
    Some(format!("{} {name}", &found["file"]))
}

/// Whether a line may end a Python traceback.
pub(super) fn is_raised(line: &str) -> bool {
    RAISED.is_match(line)
}
