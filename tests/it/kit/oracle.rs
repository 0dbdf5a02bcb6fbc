//! An oracle.toml to vary.

use std::fs;
use std::path::Path;

use super::TestEnvironment;

/// An oracle.toml; by default one measure `ppl` and a tolerance of 0.2.
#[derive(Clone, Debug)]
pub(crate) struct Oracle {
    world: String,
    top: String,
    build: String,
    build_command: String,
    ppl: String,
    command: String,
    timeout: String,
    guards: Vec<String>,
    sections: Vec<String>,
}

impl Oracle {
    pub(crate) fn new(env: &TestEnvironment) -> Self {
        Self {
            world: env.path("world").display().to_string(),
            top: String::new(),
            build: String::new(),
            build_command: format!("{} build {{src}} {{build}}", TestEnvironment::fake()),
            ppl: String::new(),
            command: engine("ppl"),
            timeout: "60s".to_owned(),
            guards: vec!["metric = \"ppl\"\nmax_increase = 0.2".to_owned()],
            sections: Vec::new(),
        }
    }

    /// The folder with the state of the world.
    pub(crate) fn world(&self) -> String {
        self.world.clone()
    }

    /// Keys of `[build]`.
    #[must_use]
    pub(crate) fn build(mut self, keys: &str) -> Self {
        self.build += keys;
        self.build.push('\n');
        self
    }

    #[must_use]
    pub(crate) fn build_command(mut self, command: &str) -> Self {
        command.clone_into(&mut self.build_command);
        self
    }

    /// Keys of the measure `ppl`.
    #[must_use]
    pub(crate) fn ppl(mut self, keys: &str) -> Self {
        self.ppl += keys;
        self.ppl.push('\n');
        self
    }

    #[must_use]
    pub(crate) fn ppl_command(mut self, command: &str) -> Self {
        command.clone_into(&mut self.command);
        self
    }

    /// The time-out of `ppl`.
    #[must_use]
    pub(crate) fn timeout(mut self, timeout: &str) -> Self {
        timeout.clone_into(&mut self.timeout);
        self
    }

    /// Adds a measure `name` with these keys. It runs the engine's measure `of`.
    #[must_use]
    pub(crate) fn measure(self, name: &str, of: &str, keys: &str) -> Self {
        let (command, world) = (engine(of), self.world.clone());
        self.section(&format!(
            "[[measure]]\nname = \"{name}\"\ncommand = '{command}'\n\
             env = {{ FAKE_WORLD = '{world}' }}\n{keys}"
        ))
    }

    /// Measures the engine's speed as `speed`, and guards it alone: it may fall by 5 %.
    #[must_use]
    pub(crate) fn only_speed(self) -> Self {
        let keys = "parser = \"regex\"\npattern = 'decode: ([0-9.]+) tokens'";
        let guard = "metric = \"speed\"\nmax_decrease_percent = 5.0";
        self.measure("speed", "speed", keys).only_guard(guard)
    }

    /// Replaces all guards with this one.
    #[must_use]
    pub(crate) fn only_guard(mut self, keys: &str) -> Self {
        self.guards = vec![keys.to_owned()];
        self
    }

    #[must_use]
    pub(crate) fn guard(mut self, keys: &str) -> Self {
        self.guards.push(keys.to_owned());
        self
    }

    /// Appends any text.
    #[must_use]
    pub(crate) fn section(mut self, text: &str) -> Self {
        self.sections.push(text.to_owned());
        self
    }

    pub(crate) fn text(&self) -> String {
        let Self { world, build, build_command, ppl, command, timeout, top, .. } = self;
        let mut text = format!(
            "version = 1\n{top}\n\
             [inputs]\nmodel = \"../inputs/model.bin\"\n\n\
             [build]\ncommands = ['{build_command}']\nenv = {{ FAKE_WORLD = '{world}' }}\n{build}\n\
             [[measure]]\nname = \"ppl\"\ncommand = '{command}'\nparser = \"llama-perplexity\"\n\
             timeout = \"{timeout}\"\nenv = {{ FAKE_WORLD = '{world}' }}\n{ppl}\n"
        );
        for guard in &self.guards {
            text = text + "[[guard]]\n" + guard + "\n\n";
        }
        // Tests wait for nothing, unless they say so.
        let pauses = "[failures]\npauses = []\n";
        let sections = self.sections.join("\n\n");
        if sections.contains("pauses =") {
            return text + &sections + "\n";
        }
        if sections.contains("[failures]\n") {
            return text + &sections.replacen("[failures]\n", pauses, 1) + "\n";
        }
        text + &sections + "\n\n" + pauses
    }

    /// Writes oracle.toml to the top of the user's checkout.
    pub(crate) fn write(&self, env: &TestEnvironment) {
        self.write_to(&env.repo().join("oracle.toml"));
    }

    pub(crate) fn write_to(&self, path: &Path) {
        fs::write(path, self.text()).unwrap();
    }
}

fn engine(measure: &str) -> String {
    format!("{{build}}/engine run {measure} src={{src}} cache={{cache}} out={{out}}")
}
