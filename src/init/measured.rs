//! The measures of the new file: their commands, and where each option was read.

use super::InitError;
use super::flags::{Options, Role};
use super::input_candidates::Kind;
use super::program::{Program, quoted};
use super::programs::{Choice, Reading};
use super::tree::Origin;

/// The number of chunks if a program has an option for it. With a few hundred tokens each,
/// this many chunks show a defect and take a fraction of the time of a whole text.
pub(super) const CHUNKS: u32 = 24;

/// What a measure is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    Perplexity,
    /// A suite of tests.
    Suite,
    Speed,
}

impl Purpose {
    /// The name of the measure.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Perplexity => "ppl",
            Self::Suite => "suite",
            Self::Speed => "speed",
        }
    }
}

/// One `[[measure]]` with its guard.
#[derive(Clone, Debug)]
pub(super) struct Measured {
    pub(super) name: &'static str,
    pub(super) purpose: Purpose,
    /// A comment that says how it differs from other measures of the same purpose; may be empty.
    pub(super) about: &'static str,
    pub(super) program: Program,
    pub(super) command: String,
    /// The inputs its command names.
    pub(super) inputs: Vec<Kind>,
    pub(super) takes_chunks: bool,
    /// The options of its command, and where they were read.
    pub(super) options_from: Vec<(String, Origin)>,
    /// Axes of a matrix that the file offers together with this measure.
    pub(super) axes: Vec<Axis>,
    pub(super) reading: Reading,
    /// The program's sources and what they include.
    pub(super) reads: Vec<String>,
}

/// Makes the measure of a program, with a command of its options and inputs. If the user has
/// `given` the command, the options are left out.
pub(super) fn measured(
    choice: &Choice,
    purpose: Purpose,
    given: bool,
) -> Result<Measured, InitError> {
    let name = purpose.name();
    let mut writer = Writer::new(choice);
    if given || purpose == Purpose::Suite {
        return Ok(writer.end(choice, name, purpose));
    }
    writer.inputs(purpose)?;
    writer.option(Role::Threads);
    if purpose == Purpose::Perplexity {
        writer.option(Role::Chunks);
    }
    if choice.reading == Reading::LlamaBench {
        // Its default tests today, written out in case the defaults change.
        writer.words(&["-p 512 -n 128 -o json"]);
    }
    Ok(writer.end(choice, name, purpose))
}

/// A variant of the perplexity measure that uses other code paths of the engine.
struct Variant {
    name: &'static str,
    about: &'static str,
    /// Values of options. Options that the program lacks are left out.
    sets: &'static [(Role, &'static str)],
    /// The program must have at least one of these options.
    needs: &'static [Role],
}

/// The variants. `decode` and `long` read few chunks, since single tokens and long contexts are
/// slow.
const VARIANTS: [Variant; 3] = [
    Variant {
        name: "prefill",
        about: "whole chunks at once, whatever the program's own batch is",
        sets: &[(Role::Batch, "512"), (Role::MicroBatch, "512"), (Role::Chunks, "{chunks}")],
        needs: &[Role::Batch, Role::MicroBatch],
    },
    Variant {
        name: "decode",
        about: "one token at a time, as in generation: other kernels than a prompt's",
        sets: &[(Role::MicroBatch, "1"), (Role::Chunks, "2")],
        needs: &[Role::MicroBatch],
    },
    Variant {
        name: "long",
        about: "a longer context; the model must have been trained for it",
        sets: &[(Role::Context, "2048"), (Role::Chunks, "6")],
        needs: &[Role::Context],
    },
];

/// The variant `decode` for a program without an option for the micro-batch.
const DECODE_BY_BATCH: Variant = Variant {
    name: "decode",
    about: "one token at a time, as in generation: other kernels than a prompt's",
    sets: &[(Role::Batch, "1"), (Role::Chunks, "2")],
    needs: &[Role::Batch],
};

/// An axis of a matrix that the file offers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Axis {
    /// The key in `[matrix]`.
    pub(super) name: &'static str,
    /// The values, as TOML.
    pub(super) values: &'static str,
    pub(super) about: &'static str,
    /// The option that takes the value.
    role: Role,
}

/// The name of the measure that takes the axes.
const SETTINGS: &str = "settings";

/// Settings that make an engine compute the same result with other code.
const AXES: [Axis; 3] = [
    Axis {
        name: "threads",
        values: "[1, 2]",
        about: "{threads}, in every command that names it",
        role: Role::Threads,
    },
    Axis {
        name: "ctk",
        values: "[\"f16\", \"q8_0\"]",
        about: "{matrix.ctk}: the type of the keys in the KV cache",
        role: Role::CacheType,
    },
    Axis {
        name: "fa",
        values: "[\"off\", \"on\"]",
        about: "{matrix.fa}: flash attention",
        role: Role::FlashAttention,
    },
];

/// The axes that a program has options for.
fn axes(choice: &Choice) -> Vec<Axis> {
    AXES.into_iter().filter(|axis| choice.options.get(axis.role).is_some()).collect()
}

/// The axis of threads, if the program has an option for them.
pub(super) fn threads(choice: &Choice) -> Vec<Axis> {
    axes(choice).into_iter().filter(|axis| axis.role == Role::Threads).collect()
}

/// A measure that takes all axes; `None` if `{threads}` is the only one, which is in the main
/// command already.
pub(super) fn settings(choice: &Choice) -> Option<Measured> {
    let axes = axes(choice);
    let mut writer = Writer::new(choice);
    writer.inputs(Purpose::Perplexity).ok()?;
    writer.option(Role::Threads);
    writer.option(Role::Chunks);
    let others: Vec<&Axis> = axes.iter().filter(|axis| axis.role != Role::Threads).collect();
    for axis in &others {
        writer.set(axis.role, &format!("{{matrix.{}}}", axis.name));
    }
    let measured = writer.end(choice, SETTINGS, Purpose::Perplexity);
    (!others.is_empty()).then_some(Measured {
        about: "each combination of settings",
        axes,
        ..measured
    })
}

/// The variants of a program's measure that its options allow.
pub(super) fn variants(choice: &Choice) -> Vec<Measured> {
    let has = |role: &Role| choice.options.get(*role).is_some();
    let mut variants: Vec<Measured> = Vec::new();
    for variant in VARIANTS.iter().chain([&DECODE_BY_BATCH]) {
        let is_known = variants.iter().any(|known| known.name == variant.name);
        if is_known || !variant.needs.iter().any(has) {
            continue;
        }
        let mut writer = Writer::new(choice);
        if writer.inputs(Purpose::Perplexity).is_err() {
            continue;
        }
        writer.option(Role::Threads);
        for (role, value) in variant.sets {
            writer.set(*role, value);
        }
        let measured = writer.end(choice, variant.name, Purpose::Perplexity);
        variants.push(Measured { about: variant.about, ..measured });
    }
    variants
}

/// A command of a program that `init` cannot measure, as far as its options are known; `…` stands
/// for the rest.
pub(super) fn example(program: &Program, options: &Options) -> String {
    let mut command = program.recipe.path.clone();
    let mut add = |word: &str| {
        command.push(' ');
        command.push_str(word);
    };
    for (role, input) in [(Role::Model, "{inputs.model}"), (Role::Text, "{inputs.text}")] {
        if let Some(flag) = options.get(role) {
            add(&quoted(&flag.name));
            add(input);
        } else if options.positions.contains(&role) {
            add(input);
        }
    }
    add("…");
    command
}

fn unknown(program: &Program, purpose: Purpose, role: Role) -> InitError {
    InitError::NoOption {
        program: program.name.clone(),
        role: if role == Role::Model { "model" } else { "text" },
        measure: purpose.name(),
        path: program.recipe.path.clone(),
    }
}

struct Writer<'o> {
    command: String,
    inputs: Vec<Kind>,
    from: Vec<(String, Origin)>,
    takes_chunks: bool,
    program: &'o Program,
    options: &'o Options,
}

impl<'o> Writer<'o> {
    fn new(choice: &'o Choice) -> Self {
        Self {
            command: choice.program.recipe.path.clone(),
            inputs: Vec::new(),
            from: Vec::new(),
            takes_chunks: false,
            program: &choice.program,
            options: &choice.options,
        }
    }

    fn end(self, choice: &Choice, name: &'static str, purpose: Purpose) -> Measured {
        let Self { command, inputs, from: options_from, takes_chunks, .. } = self;
        Measured {
            name,
            purpose,
            about: "",
            program: choice.program.clone(),
            command,
            inputs,
            takes_chunks,
            options_from,
            axes: Vec::new(),
            reading: choice.reading.clone(),
            reads: choice.reads.clone(),
        }
    }

    /// Adds the model and the text, as positional arguments or as options.
    fn inputs(&mut self, purpose: Purpose) -> Result<(), InitError> {
        let options = self.options;
        for role in options.positions.iter().filter(|role| options.get(**role).is_none()) {
            self.position(*role);
        }
        let needed: &[Role] = match purpose {
            Purpose::Perplexity => &[Role::Model, Role::Text],
            Purpose::Speed => &[Role::Model],
            Purpose::Suite => &[],
        };
        for role in needed {
            if !self.option(*role) && options.looks_at_arguments {
                return Err(unknown(self.program, purpose, *role));
            }
        }
        Ok(())
    }

    /// Adds the option for a role with its usual value. Returns false if the program has no such
    /// option.
    fn option(&mut self, role: Role) -> bool {
        if self.takes(role) {
            return true;
        }
        if self.options.get(role).is_none() {
            return false;
        }
        let value = self.value(role);
        self.set(role, value);
        true
    }

    /// Adds the option for a role, if the program has one.
    fn set(&mut self, role: Role, value: &str) {
        let Some(flag) = self.options.get(role) else { return };
        self.takes_chunks |= value == "{chunks}";
        self.words(&[&quoted(&flag.name), value]);
        self.from.push((flag.name.clone(), flag.from.clone()));
    }

    fn words(&mut self, words: &[&str]) {
        for word in words {
            self.command.push(' ');
            self.command.push_str(word);
        }
    }

    fn takes(&self, role: Role) -> bool {
        matches!(role, Role::Model if self.inputs.contains(&Kind::Model))
            || matches!(role, Role::Text if self.inputs.contains(&Kind::Text))
    }

    fn position(&mut self, role: Role) {
        let value = self.value(role);
        self.words(&[value]);
        let what = if role == Role::Model { "model" } else { "text" };
        if let Some(from) = &self.options.positions_from {
            self.from.push((format!("{what} by its place"), from.clone()));
        }
    }

    fn value(&mut self, role: Role) -> &'static str {
        match role {
            Role::Model => {
                self.inputs.push(Kind::Model);
                "{inputs.model}"
            }
            Role::Text => {
                self.inputs.push(Kind::Text);
                "{inputs.text}"
            }
            Role::Threads => "{threads}",
            Role::Chunks => "{chunks}",
            Role::Context | Role::Batch | Role::MicroBatch => "512",
            Role::CacheType => "f16",
            Role::FlashAttention => "off",
        }
    }
}
