//! The content of the new file: measures, inputs, the build, and the origin of each.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::rc::Rc;

use super::inputs::Input;
use super::measured::Measured;
use super::program::OptionToDisable;

/// Everything that the file will contain.
#[derive(Clone, Debug, Default)]
pub(super) struct Draft {
    /// `make, from Makefile`.
    pub(super) build: String,
    pub(super) configure: Option<String>,
    /// The command that builds everything, if the user names the command to run.
    pub(super) whole: Option<String>,
    /// The first one is measured. The others become comments.
    pub(super) measures: Vec<Measured>,
    pub(super) inputs: Vec<Input>,
    /// Untracked paths of the checkout that builds need, and the place that names them.
    pub(super) links: Vec<(String, String)>,
    /// Build options that choose a backend, and where they are declared.
    pub(super) options: Vec<(String, String)>,
    /// Options to switch off.
    pub(super) offs: Vec<OptionToDisable>,
    /// Options that the user names and that this tree does not have under any name.
    pub(super) undeclared: Vec<String>,
    /// Why submodules are not checked out; `None` if they are.
    pub(super) no_submodules: Option<String>,
    pub(super) probes: Vec<&'static str>,
    /// Files that the commands were read from, the most important first.
    pub(super) rests_on: Vec<String>,
    /// The files that the measured programs are built from, as far as they are known.
    pub(super) reads: Rc<BTreeSet<String>>,
    /// Patterns for files that the measured programs do not read.
    pub(super) unread: Vec<String>,
}

impl Draft {
    /// The commands that build the measured program, in order.
    pub(super) fn commands(&self) -> Vec<String> {
        let mut commands = self.own_commands();
        if self.configure.is_some() {
            for off in &self.offs {
                let _ = write!(commands[0], " -D{}=OFF", off.option);
            }
        }
        commands
    }

    /// The same commands without the options that are switched off for all commits.
    pub(super) fn own_commands(&self) -> Vec<String> {
        let program = self.measures.first().map(|first| first.program.recipe.build.clone());
        let all = [self.configure.clone(), self.whole.clone(), program];
        all.into_iter().flatten().collect()
    }

    /// The commands that build the offered measures, each with its measure.
    pub(super) fn other_commands(&self) -> Vec<(&str, &Measured)> {
        let mut known: Vec<&str> = Vec::new();
        let mut others = Vec::new();
        for (index, measured) in self.measures.iter().enumerate() {
            let command = measured.program.recipe.build.as_str();
            if !known.contains(&command) {
                known.push(command);
                if index > 0 {
                    others.push((command, measured));
                }
            }
        }
        others
    }
}
