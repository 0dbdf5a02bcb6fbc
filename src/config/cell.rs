//! Makes the cells of a measure: copies of it with values in place of some placeholders.

use super::template::Replacement;
use super::{Command, Config, Measure, Placeholder, Sweep, SweepParameter, SweepValue, Template};

impl Measure {
    /// This measure with some placeholders replaced, called `NAME[LABEL,…]`. If the measure is a
    /// cell already, the labels are added to its own.
    pub(super) fn in_cell(
        &self,
        labels: &[String],
        with: &impl Fn(&Placeholder) -> Option<Replacement>,
    ) -> Self {
        let command = |command: &Command| {
            Command::of(command.words.iter().map(|word| word.replaced(with)).collect())
        };
        let env = self.env.iter().map(|(name, value)| (name.clone(), value.replaced(with)));
        let labels = labels.join(",");
        let name = match self.name.strip_suffix(']') {
            Some(cell) => format!("{cell},{labels}]"),
            None => format!("{}[{labels}]", self.name),
        };
        Self {
            name,
            command: command(&self.command),
            before: self.before.iter().map(command).collect(),
            after: self.after.iter().map(command).collect(),
            cwd: self.cwd.as_ref().map(|cwd| cwd.replaced(with)),
            env: env.collect(),
            ..self.clone()
        }
    }
}

impl Measure {
    /// The same measure with this number of threads; `None` if it does not use `{threads}`.
    pub(crate) fn with_threads(&self, threads: u32) -> Option<Self> {
        if !self.templates().flat_map(Template::placeholders).any(|p| *p == Placeholder::Threads) {
            return None;
        }
        let with = |placeholder: &Placeholder| {
            (*placeholder == Placeholder::Threads).then(|| Replacement::Text(threads.to_string()))
        };
        Some(self.in_cell(&[format!("threads={threads}")], &with))
    }
}

impl Config {
    /// This configuration with one more measure: `measure` in a cell of `[sweep]`, with the
    /// requirements of `measure`. Also returns the name of the new measure.
    pub(crate) fn in_sweep_cell(
        &self,
        measure: &Measure,
        cell: &[(&SweepParameter, SweepValue)],
    ) -> (Self, String) {
        let labels: Vec<String> =
            cell.iter().map(|(of, value)| format!("{}={}", of.name, value.label)).collect();
        let own = measure.in_cell(&labels, &|placeholder| {
            let (of, value) = cell.iter().find(|(of, _)| of.is(placeholder))?;
            Some(match placeholder {
                Placeholder::Input(_) => {
                    Replacement::Placeholder(Placeholder::Input(of.input_of(value)))
                }
                _ => Replacement::Text(value.text.clone()),
            })
        });
        let mut config = self.clone();
        for require in self.requires.iter().filter(|require| require.measure == measure.name) {
            let mut require = require.clone();
            require.measure.clone_from(&own.name);
            config.requires.push(require);
        }
        let name = own.name.clone();
        config.measures.push(own);
        (config, name)
    }

    /// The measures that run only to find the cause at a first bad commit, to try them before the
    /// hunt. Returns this configuration with each swept measure in its first cell, and the
    /// measures' names.
    pub(crate) fn to_try_for_cause(&self) -> (Self, Vec<String>) {
        let (mut config, mut names) = (self.clone(), Vec::new());
        for measure in self.measures.iter().filter(|measure| measure.for_cause) {
            let parameters = self.sweep.iter().flat_map(|sweep| sweep.parameters_of(measure));
            let first = |of: &'_ SweepParameter| of.values.first().cloned();
            let cell: Vec<_> = parameters.filter_map(|of| Some((of, first(of)?))).collect();
            if cell.is_empty() {
                names.push(measure.name.clone());
            } else {
                let (with_cell, name) = config.in_sweep_cell(measure, &cell);
                config = with_cell;
                names.push(name);
            }
        }
        (config, names)
    }
}

impl SweepParameter {
    /// Whether the measure names this parameter.
    pub(crate) fn is_named_by(&self, measure: &Measure) -> bool {
        measure.templates().flat_map(Template::placeholders).any(|one| self.is(one))
    }
}

impl Sweep {
    /// The parameters that a measure names, in the order of the file.
    pub(crate) fn parameters_of(&self, measure: &Measure) -> Vec<&SweepParameter> {
        self.parameters.iter().filter(|parameter| parameter.is_named_by(measure)).collect()
    }
}
