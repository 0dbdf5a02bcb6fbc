//! Finds the options of a program in the literals of its sources.

use std::sync::LazyLock;

use regex::Regex;

use super::literals::Literals;
use super::sources::Source;
use super::text::{Fact, Text};
use super::tree::Origin;

/// The purpose of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Model,
    Text,
    Threads,
    Chunks,
    /// The context size in tokens.
    Context,
    /// The batch size: tokens per call.
    Batch,
    /// The micro-batch size: how many tokens of a batch are computed at once.
    MicroBatch,
    /// The type of the KV cache's keys.
    CacheType,
    /// Flash attention, as an option with the value `on` or `off`. An option without a value has
    /// no role.
    FlashAttention,
}

/// All roles.
const ROLES: [Role; 9] = [
    Role::Model,
    Role::Text,
    Role::Threads,
    Role::Chunks,
    Role::Context,
    Role::Batch,
    Role::MicroBatch,
    Role::CacheType,
    Role::FlashAttention,
];

impl Role {
    /// The usual option names of this role, the plainest first.
    fn names(self) -> &'static [&'static str] {
        match self {
            Self::Model => {
                &["--model", "--model-path", "--checkpoint", "--weights", "--gguf", "-m"]
            }
            Self::Text => {
                &["--text", "--file", "--text-file", "--corpus", "--dataset", "--input", "-f"]
            }
            Self::Threads => &["--threads", "--n-threads", "--num-threads", "-t"],
            Self::Chunks => &["--chunks", "--n-chunks", "--max-chunks"],
            Self::Context => {
                &["--ctx-size", "--context-size", "--n-ctx", "--ctx", "--context", "-c"]
            }
            Self::Batch => &["--batch-size", "--n-batch", "-b"],
            Self::MicroBatch => &["--ubatch-size", "--micro-batch-size", "--n-ubatch", "-ub"],
            Self::CacheType => &["--cache-type-k", "-ctk"],
            Self::FlashAttention => &["--flash-attn", "-fa"],
        }
    }

    /// Words of this role. One of them must be near an option with one hyphen, since `-t` means
    /// the temperature as often as the threads.
    fn words(self) -> &'static [&'static str] {
        match self {
            Self::Model => &["model", "checkpoint", "weights"],
            Self::Text => &["text", "file", "corpus"],
            Self::Threads => &["thread"],
            Self::Chunks => &["chunk"],
            Self::Context => &["context", "ctx"],
            Self::Batch | Self::MicroBatch => &["batch"],
            Self::CacheType => &["cache"],
            Self::FlashAttention => &["flash"],
        }
    }
}

/// An option of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Flag {
    pub(super) name: String,
    pub(super) from: Origin,
    /// Whether the option was found where it is compared or declared, not in a help text.
    is_exact: bool,
    /// Whether `on` and `off` are named beside it.
    is_on_or_off: bool,
}

/// The options and positional arguments of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Options {
    found: Vec<Flag>,
    /// The positional arguments, in order, as the usage text has them.
    pub(super) positions: Vec<Role>,
    pub(super) positions_from: Option<Origin>,
    /// Whether the program's own sources parse the command line. Also true if `init` read no source
    /// of the program.
    pub(super) looks_at_arguments: bool,
}

static OPTION: LazyLock<Regex> =
    LazyLock::new(|| regex(r"(?:^|[\s,|(\[<=])(--[A-Za-z][\w-]*|-[A-Za-z]{1,3})(?:$|[\s,|)\]>=])"));
/// A struct field with an attribute of clap or structopt.
static DERIVED: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"#\[(?:arg|clap|structopt)\(([^\]]*)\)\]\s*(?:///[^\n]*\s*)*(?:pub(?:\([^)]*\))?\s+)?(\w+)\s*:",
    )
});
static LONG_NAME: LazyLock<Regex> = LazyLock::new(|| regex(r#"\blong(?:\s*=\s*"([^"]+)")?"#));
static USAGE: LazyLock<Regex> = LazyLock::new(|| regex(r"(?i)usage:?\s+(\S+)\s+(.*)"));

/// A known option, an option with one hyphen, or the word `usage`.
static ANY: LazyLock<Regex> = LazyLock::new(|| {
    let names = ROLES.iter().flat_map(|role| role.names()).filter(|name| name.starts_with("--"));
    let names: Vec<&str> = names.map(|name| &name[2..]).collect();
    regex(&format!("--(?:{})|[\" ]-[a-zA-Z]{{1,2}}[\" ,=]|usage|Usage", names.join("|")))
});

/// Whether a source may contain an option of a known role. The check is cheap.
pub(super) fn may_name_one(text: &Text) -> bool {
    struct MayName(bool);
    impl Fact for MayName {
        fn read(text: &Text) -> Self {
            Self(ANY.is_match(text))
        }
    }
    text.fact::<MayName>().0
}

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("the patterns of this file are right")
}

/// Reads the options from a program's sources. Its own sources come before shared ones.
pub(super) fn read(sources: &[Source]) -> Options {
    // If no own source was read, the program may read its arguments.
    let unread = !sources.iter().any(|source| source.own);
    let mut options = Options { looks_at_arguments: unread, ..Options::default() };
    for source in sources {
        options.looks_at_arguments |= source.own
            && ["argv", "env::args", "clap", "structopt", "argh", "pico_args", "lexopt"]
                .iter()
                .any(|word| source.text.contains(word));
        if !source.literals.0.is_empty() {
            let named = source.text.fact::<NamedOptions>();
            options.found.extend(named.0.iter().map(|option| Flag {
                name: option.name.clone(),
                from: Origin::new(&source.file, option.line),
                is_exact: option.is_exact,
                is_on_or_off: option.is_on_or_off,
            }));
        }
        if source.is_rust() {
            derived_options(source, &mut options.found);
        }
        if options.positions.is_empty()
            && let Some((roles, from)) = usage(source)
        {
            options.positions = roles;
            options.positions_from = Some(from);
        }
    }
    options
}

/// The options in the literals of a text.
struct NamedOptions(Vec<NamedOption>);

struct NamedOption {
    name: String,
    line: usize,
    is_exact: bool,
    is_on_or_off: bool,
}

impl Fact for NamedOptions {
    fn read(text: &Text) -> Self {
        let mut found = Vec::new();
        let lines: Vec<&str> = text.lines().collect();
        for literal in text.fact::<Literals>().0.iter().filter(|l| l.text.contains('-')) {
            for (index, line) in literal.text.split('\n').enumerate() {
                let mut at = 0;
                // One delimiter may separate two options, so the next search starts at it.
                while let Some(option) = OPTION.captures_at(line, at).and_then(|found| found.get(1))
                {
                    at = option.end();
                    let name = option.as_str();
                    let number = literal.line + index;
                    let is_short = !name.starts_with("--");
                    if is_short && !is_meant(name, line, &lines, number) {
                        continue;
                    }
                    found.push(NamedOption {
                        name: name.to_owned(),
                        line: number.min(lines.len()),
                        is_exact: literal.text == name,
                        is_on_or_off: takes_on_or_off(&lines, number),
                    });
                }
            }
        }
        Self(found)
    }
}

/// Whether an option's line, or one of the two below, names `on` and `off` as its values.
fn takes_on_or_off(lines: &[&str], number: usize) -> bool {
    let from = number.saturating_sub(1).min(lines.len());
    let near = &lines[from..lines.len().min(number + 2)];
    let names = |forms: [&str; 3]| forms.iter().any(|f| near.iter().any(|line| line.contains(f)));
    names(["on|off", "'on'", "\"on\""]) && names(["on|off", "'off'", "\"off\""])
}

/// Whether a word of the option's role is on a line near an option with one hyphen.
fn is_meant(name: &str, line: &str, lines: &[&str], number: usize) -> bool {
    let Some(role) = ROLES.into_iter().find(|role| role.names().contains(&name)) else {
        return false;
    };
    let from = number.saturating_sub(2).min(lines.len());
    let around = &lines[from..lines.len().min(number + 1)];
    std::iter::once(&line).chain(around).any(|line| {
        let line = line.to_lowercase();
        role.words().iter().any(|word| line.contains(word))
    })
}

fn derived_options(source: &Source, found: &mut Vec<Flag>) {
    for field in DERIVED.captures_iter(&source.text) {
        let Some(long) = LONG_NAME.captures(&field[1]) else { continue };
        let name = long.get(1).map_or_else(|| field[2].replace('_', "-"), |m| m.as_str().into());
        let begin = field.get(2).map_or(0, |m| m.start());
        let line = source.text[..begin].matches('\n').count() + 1;
        let from = Origin::new(&source.file, line);
        let name = format!("--{name}");
        found.push(Flag { name, from, is_exact: true, is_on_or_off: false });
    }
}

/// The positional arguments of `usage: NAME MODEL TEXT [options]`: those before the first
/// option.
fn usage(source: &Source) -> Option<(Vec<Role>, Origin)> {
    source.literals.0.iter().filter(|_| source.own).find_map(|literal| {
        let found = USAGE.captures(literal.text.lines().find(|line| USAGE.is_match(line))?)?;
        let mut roles = Vec::new();
        for word in found[2].split_whitespace() {
            if word.starts_with(['-', '[']) {
                break;
            }
            roles.push(positional(word)?);
        }
        (!roles.is_empty()).then(|| (roles, Origin::new(&source.file, literal.line)))
    })
}

fn positional(word: &str) -> Option<Role> {
    let word = word.trim_matches(['<', '>']).to_lowercase();
    let is = |role: Role| role.words().iter().any(|known| word.contains(known));
    [Role::Model, Role::Text].into_iter().find(|role| is(*role))
}

impl Options {
    /// The option for this role with the plainest name. If the name occurs several times, a place
    /// that compares or declares the option comes first.
    pub(super) fn get(&self, role: Role) -> Option<&Flag> {
        role.names().iter().find_map(|name| {
            let fits = |flag: &Flag| role != Role::FlashAttention || flag.is_on_or_off;
            let called = |flag: &&Flag| flag.name == *name && fits(flag);
            let exact = self.found.iter().find(|flag| flag.is_exact && called(flag));
            exact.or_else(|| self.found.iter().find(called))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(file: &str, text: &str) -> Options {
        let text = Text::new(text);
        let source = Source { file: file.into(), literals: text.fact(), text, own: true };
        read(&[source])
    }

    fn name(options: &Options, role: Role) -> Option<&str> {
        options.get(role).map(|option| option.name.as_str())
    }

    #[test]
    fn options_are_found_as_people_write_them() {
        for text in [
            r#"if (!strcmp(argv[1], "--model")) {} else if (!strcmp(argv[1], "-f")) { text = x; }"#,
            r#"{"-m", "--model"}, "FNAME",  {"-f", "--file"}, "FNAME""#,
            r#"puts("  -m, --model FILE    weights\n  -f, --file FILE     text to read");"#,
            r#"printf("usage: %s [--model=FILE] [-f FILE]\n", argv[0]);"#,
        ] {
            let options = options("a.c", text);
            assert_eq!(name(&options, Role::Model), Some("--model"), "{text}");
            let file = name(&options, Role::Text).unwrap_or_else(|| panic!("{text}"));
            assert!(matches!(file, "--file" | "-f"), "{text}");
        }
    }

    #[test]
    fn one_letter_alone_means_nothing() {
        let options =
            options("a.c", "if (argv[i][1] == 't') ...;\nputs(\" -t <float> temperature\");");
        assert_eq!(name(&options, Role::Threads), None);
        assert!(options.looks_at_arguments);
    }

    #[test]
    fn fields_of_clap_are_options() {
        let text = "use clap::Parser;\nstruct Args {\n  /// The weights\n  #[arg(short, long)]\n  model: PathBuf,\n  #[clap(long = \"text-file\", default_value = \"x\")]\n  pub corpus: String,\n  #[arg(long)]\n  num_threads: u32,\n}";
        let options = options("src/main.rs", text);
        assert_eq!(name(&options, Role::Model), Some("--model"));
        assert_eq!(options.get(Role::Model).unwrap().from.line, 5);
        assert_eq!(name(&options, Role::Text), Some("--text-file"));
        assert_eq!(name(&options, Role::Threads), Some("--num-threads"));
    }

    #[test]
    fn flash_attention_is_a_setting_if_it_takes_a_word() {
        let now = "add({\"-fa\", \"--flash-attn\"}, \"[on|off|auto]\",\n \"set Flash Attention\");";
        assert_eq!(name(&options("a.cpp", now), Role::FlashAttention), Some("--flash-attn"));
        let once = "add({\"-fa\", \"--flash-attn\"}, \"enable Flash Attention\");\n\n\n\"on|off\"";
        assert_eq!(name(&options("a.cpp", once), Role::FlashAttention), None);
        let help = "puts(\"  -ctk TYPE   KV cache type of the keys\");";
        assert_eq!(name(&options("a.cpp", help), Role::CacheType), Some("-ctk"));
    }

    #[test]
    fn places_are_read_from_the_usage() {
        let places = |text: &str| options("a.c", text).positions;
        assert_eq!(places(r#""usage: %s MODEL TEXT [--threads N]\n""#), [Role::Model, Role::Text]);
        assert_eq!(places(r#""Usage:   run <checkpoint> [options]\n""#), [Role::Model]);
        assert_eq!(places(r#""usage: ppl [options]""#), []);
        assert_eq!(places(r#""usage: ppl MODEL SOMETHING""#), []);
    }
}
