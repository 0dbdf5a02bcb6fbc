//! `[sweep]`: the parameters over which a first bad commit is compared with its parent.

use std::collections::BTreeSet;

use crate::evaluation::{Properties, Property};

use super::Placeholder;

/// `[sweep]`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sweep {
    /// The measures that are swept, by name.
    pub measures: Vec<String>,
    /// Maximum number of cells of all measures together; default 64.
    pub budget: usize,
    /// How far a figure may differ between parent and commit, in its own unit; `None` if only
    /// guards, failed checks, facts and failures count.
    pub tolerance: Option<f64>,
    /// The parameters, in the order of the file.
    pub parameters: Vec<SweepParameter>,
}

/// One parameter: a name and its values.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SweepParameter {
    /// Its name: `{sweep.NAME}`. `threads` and `chunks` also stand for {threads} and {chunks}.
    pub name: String,
    /// The values of the grid, at least one.
    pub values: Vec<SweepValue>,
    /// Whole numbers that may be tried too, from the first to the second.
    pub range: Option<[u64; 2]>,
}

/// One value of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SweepValue {
    /// Its name in a cell, unique among the parameter's values.
    pub label: String,
    /// The text that replaces the placeholder.
    pub text: String,
    /// What a rule may say about it.
    pub properties: Properties,
}

impl SweepParameter {
    /// A whole number of the range as a value.
    pub(crate) fn number(&self, number: u64) -> SweepValue {
        let text = number.to_string();
        let property = Property::Number(number as f64);
        let properties = Properties::from([(self.name.clone(), property)]);
        SweepValue { label: text.clone(), text, properties }
    }

    /// The whole numbers among the values.
    pub(crate) fn numbers(&self) -> BTreeSet<u64> {
        self.values.iter().filter_map(|value| value.text.parse().ok()).collect()
    }

    /// Whether a placeholder stands for this parameter.
    pub(super) fn is(&self, placeholder: &Placeholder) -> bool {
        match placeholder {
            Placeholder::Threads => self.name == "threads",
            Placeholder::Chunks => self.name == "chunks",
            Placeholder::Sweep(name) | Placeholder::Input(name) => self.name == *name,
            _ => false,
        }
    }

    /// The name of a value as an input: `PARAMETER[VALUE]`.
    pub(super) fn input_of(&self, value: &SweepValue) -> String {
        format!("{}[{}]", self.name, value.label)
    }
}
