//! What is to be written: measures with their commands, inputs, and what each was read from.

use super::InitError;
use super::flags::{Options, Role};
use super::inputs::{Input, Kind};
use super::program::{Program, quoted};
use super::programs::{Choice, Purpose, Reading};

/// Chunks measured where a program lets them be chosen: a few hundred tokens each, enough to
/// tell a defect from a whim of the text, and a fraction of a whole text's time.
pub(super) const CHUNKS: u32 = 24;

/// One `[[measure]]` with its guard.
#[derive(Debug)]
pub(super) struct Measured {
    pub(super) name: &'static str,
    pub(super) purpose: Purpose,
    pub(super) program: Program,
    pub(super) command: String,
    /// The inputs its command names.
    pub(super) inputs: Vec<Kind>,
    pub(super) takes_chunks: bool,
    /// Where the options of its command were read.
    pub(super) options_from: Vec<String>,
    pub(super) reading: Reading,
}

/// Puts the program's options and inputs together to a command; where one is `given`, that
/// takes its place.
pub(super) fn measured(
    choice: Choice,
    purpose: Purpose,
    given: bool,
) -> Result<Measured, InitError> {
    let Choice { program, options, reading, .. } = choice;
    let name = match purpose {
        Purpose::Perplexity => "ppl",
        Purpose::Speed => "speed",
    };
    let mut writer = Writer {
        command: program.recipe.path.clone(),
        inputs: Vec::new(),
        from: Vec::new(),
        options: &options,
    };
    if given {
        return Ok(writer.end(name, purpose, program, reading, false));
    }
    for role in options.positions.iter().filter(|role| options.get(**role).is_none()) {
        writer.position(*role);
    }
    let needed: &[Role] = match purpose {
        Purpose::Perplexity => &[Role::Model, Role::Text],
        Purpose::Speed => &[Role::Model],
    };
    for role in needed {
        if !writer.option(*role) && options.looks_at_arguments {
            return Err(unknown(&program, name, *role));
        }
    }
    writer.option(Role::Threads);
    let takes_chunks = purpose == Purpose::Perplexity && writer.option(Role::Chunks);
    if reading == Reading::LlamaBench {
        // One test of each kind, in this order in its output.
        writer.words(&["-p 512 -n 128 -o json"]);
    }
    Ok(writer.end(name, purpose, program, reading, takes_chunks))
}

fn unknown(program: &Program, measure: &'static str, role: Role) -> InitError {
    InitError::NoOption {
        program: program.name.clone(),
        role: if role == Role::Model { "model" } else { "text" },
        measure,
        path: program.recipe.path.clone(),
    }
}

struct Writer<'o> {
    command: String,
    inputs: Vec<Kind>,
    from: Vec<String>,
    options: &'o Options,
}

impl Writer<'_> {
    fn end(
        self,
        name: &'static str,
        purpose: Purpose,
        program: Program,
        reading: Reading,
        takes_chunks: bool,
    ) -> Measured {
        let Self { command, inputs, from: options_from, .. } = self;
        Measured { name, purpose, program, command, inputs, takes_chunks, options_from, reading }
    }

    /// Adds the option for a role; false where the program has none.
    fn option(&mut self, role: Role) -> bool {
        if self.takes(role) {
            return true;
        }
        let Some(flag) = self.options.get(role) else { return false };
        let value = self.value(role);
        self.words(&[&quoted(&flag.name), value]);
        self.from.push(format!("{} {}", flag.name, flag.from));
        true
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
        let from = self.options.positions_from.as_ref().map(ToString::to_string);
        let what = if role == Role::Model { "model" } else { "text" };
        self.from.push(format!("{what} by its place {}", from.unwrap_or_default()));
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
        }
    }
}

/// Everything that is written down.
#[derive(Debug, Default)]
pub(super) struct Draft {
    /// `make, from Makefile`.
    pub(super) build: String,
    pub(super) configure: Vec<String>,
    /// How all is built, where the user names what to run.
    pub(super) whole: Option<String>,
    /// The first is measured; a second is written down as a comment.
    pub(super) measures: Vec<Measured>,
    pub(super) inputs: Vec<Input>,
    /// What builds need of the checkout, and who says so.
    pub(super) links: Vec<(String, String)>,
    /// Options of the build worth knowing, and where they are declared.
    pub(super) options: Vec<(String, String)>,
    pub(super) probes: Vec<&'static str>,
}
