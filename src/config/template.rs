//! Words with placeholders, in commands, environments, and paths.

use std::collections::BTreeMap;

use super::placeholder::{MissingValue, Names, PLAIN, Placeholder, Values};
use super::problem::did_you_mean;
use super::reserved_names::PLACEHOLDERS;

#[cfg(test)]
mod tests;

/// A text with a wrong or ambiguous placeholder.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    /// `{word}` with a word that is not a placeholder.
    #[error("unknown placeholder `{{{name}}}`{} Allowed: {}; for braces of your own write `{{{{{name}}}}}`", did_you_mean(name, PLAIN.iter().map(|(n, _)| *n)), allowed())]
    Unknown {
        /// The word.
        name: String,
    },
    /// `{inputs.NAME}` with a name that `[inputs]` does not have.
    #[error("`{{inputs.{name}}}` names no input{} {}", did_you_mean(name, inputs.iter().map(String::as_str)), declared(inputs))]
    UnknownInput {
        /// The name.
        name: String,
        /// The declared inputs.
        inputs: Vec<String>,
    },
    /// `{prepare.NAME}` with a name that no earlier `[[prepare]]` has.
    #[error("`{{prepare.{name}}}` names no [[prepare]] that comes before{} {}", did_you_mean(name, prepares.iter().map(String::as_str)), prepared(prepares))]
    UnknownPrepare {
        /// The name.
        name: String,
        /// The steps declared before.
        prepares: Vec<String>,
    },
    /// A placeholder that only a later version will fill in.
    #[error("placeholder `{{{name}}}` is not available yet")]
    NotYet {
        /// The word.
        name: String,
    },
    /// `${src}`: it could be a shell variable or a placeholder.
    #[error(
        "`${{{name}}}` could be the placeholder or a shell variable: write `{{{name}}}` or `${{{{{name}}}}}`"
    )]
    Ambiguous {
        /// The word.
        name: String,
    },
}

fn allowed() -> String {
    let plain: Vec<_> = PLAIN.iter().map(|(name, _)| format!("{{{name}}}")).collect();
    format!("{} {{inputs.NAME}} {{matrix.NAME}} {{sweep.NAME}} {{prepare.NAME}}", plain.join(" "))
}

fn prepared(names: &[String]) -> String {
    if names.is_empty() {
        "There is none".to_owned()
    } else {
        format!("Those before: {}", names.join(", "))
    }
}

fn declared(inputs: &[String]) -> String {
    if inputs.is_empty() {
        "There are no [inputs]".to_owned()
    } else {
        format!("Declared: {}", inputs.join(", "))
    }
}

/// A part of a [`Template`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// Literal text.
    Text(String),
    /// A placeholder.
    Placeholder(Placeholder),
}

/// The replacement of a placeholder.
#[derive(Clone, Debug)]
pub(super) enum Replacement {
    /// A literal text.
    Text(String),
    /// Another placeholder.
    Placeholder(Placeholder),
}

/// A word with placeholders.
///
/// `{name}` is a placeholder, and an error if the name is unknown. `{{` and `}}` are literal
/// braces. A brace that no name follows (`{"a":{"b":1}}`, `{1..3}`, `{}`) is literal too, with
/// its closing brace. `${NAME}` is also literal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Template {
    text: String,
    parts: Vec<Part>,
}

impl Template {
    /// Parses a text. `names` are the allowed NAMEs of `{inputs.NAME}` and `{prepare.NAME}`.
    ///
    /// # Errors
    /// A placeholder that does not exist, is not available yet, or could be a shell variable.
    pub(crate) fn parse(text: &str, names: &Names) -> Result<Self, TemplateError> {
        Ok(Self { text: text.to_owned(), parts: Scanner::default().scan(text, names)? })
    }

    /// The text with every placeholder replaced by its value. Braces in a value are not
    /// expanded.
    ///
    /// # Errors
    /// A placeholder has no value.
    pub(crate) fn fill(&self, values: &Values) -> Result<String, MissingValue> {
        let mut filled = String::with_capacity(self.text.len());
        for part in &self.parts {
            match part {
                Part::Text(text) => filled.push_str(text),
                Part::Placeholder(placeholder) => match values.get(placeholder) {
                    Some(value) => filled.push_str(value),
                    None => {
                        return Err(MissingValue {
                            placeholder: placeholder.clone(),
                            text: self.text.clone(),
                        });
                    }
                },
            }
        }
        Ok(filled)
    }

    /// The text as written, without values: it does not depend on where folders are.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The text and the placeholders, in order.
    pub(crate) fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// This template with some placeholders replaced.
    #[must_use]
    pub(super) fn replaced(&self, with: &impl Fn(&Placeholder) -> Option<Replacement>) -> Self {
        let part = |part: &Part| match part {
            Part::Text(_) => part.clone(),
            Part::Placeholder(placeholder) => match with(placeholder) {
                None => part.clone(),
                Some(Replacement::Text(text)) => Part::Text(text),
                Some(Replacement::Placeholder(placeholder)) => Part::Placeholder(placeholder),
            },
        };
        let parts: Vec<Part> = self.parts.iter().map(part).collect();
        if parts == self.parts {
            return self.clone();
        }
        let written = |part: &Part| match part {
            Part::Text(text) => text.replace('{', "{{").replace('}', "}}"),
            Part::Placeholder(placeholder) => placeholder.to_string(),
        };
        Self { text: parts.iter().map(written).collect(), parts }
    }

    /// The placeholders of the text in order; a placeholder that occurs twice comes twice.
    pub(crate) fn placeholders(&self) -> impl Iterator<Item = &Placeholder> {
        self.parts.iter().filter_map(|part| match part {
            Part::Placeholder(placeholder) => Some(placeholder),
            Part::Text(_) => None,
        })
    }
}

/// The variables of an environment with placeholders filled in.
///
/// # Errors
/// A placeholder has no value.
pub(crate) fn fill_env(
    env: &BTreeMap<String, Template>,
    values: &Values,
) -> Result<BTreeMap<String, String>, MissingValue> {
    env.iter().map(|(name, value)| Ok((name.clone(), value.fill(values)?))).collect()
}

/// An open brace that is not closed yet.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Open {
    /// `{`, literal.
    Single,
    /// `{{`.
    Double,
}

#[derive(Default)]
struct Scanner {
    parts: Vec<Part>,
    literal: String,
    // The open braces, innermost last. They tell which kind a `}` closes; without them the `}}`
    // at the end of nested JSON would be read as an escape.
    open: Vec<Open>,
}

impl Scanner {
    fn scan(mut self, text: &str, names: &Names) -> Result<Vec<Part>, TemplateError> {
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            rest = match c {
                '$' => self.dollar(rest)?,
                '{' => self.opening(rest, names)?,
                '}' => self.closing(rest),
                _ => self.keep(rest, c.len_utf8()),
            };
        }
        if !self.literal.is_empty() {
            self.parts.push(Part::Text(self.literal));
        }
        Ok(self.parts)
    }

    /// Takes the first `bytes` of `rest` as literal text, and returns what follows.
    fn keep<'t>(&mut self, rest: &'t str, bytes: usize) -> &'t str {
        self.literal.push_str(&rest[..bytes]);
        &rest[bytes..]
    }

    fn dollar<'t>(&mut self, rest: &'t str) -> Result<&'t str, TemplateError> {
        match braced_name(&rest[1..]) {
            Some(name) if PLAIN.iter().any(|(plain, _)| *plain == name) => {
                Err(TemplateError::Ambiguous { name: name.to_owned() })
            }
            Some(name) => Ok(self.keep(rest, name.len() + 3)),
            None => Ok(self.keep(rest, 1)),
        }
    }

    fn opening<'t>(&mut self, rest: &'t str, names: &Names) -> Result<&'t str, TemplateError> {
        if let Some(after) = rest.strip_prefix("{{") {
            self.open.push(Open::Double);
            self.literal.push('{');
            return Ok(after);
        }
        let Some(name) = braced_name(rest) else {
            self.open.push(Open::Single);
            return Ok(self.keep(rest, 1));
        };
        if !self.literal.is_empty() {
            self.parts.push(Part::Text(std::mem::take(&mut self.literal)));
        }
        self.parts.push(Part::Placeholder(named(name, names)?));
        Ok(&rest[name.len() + 2..])
    }

    fn closing<'t>(&mut self, rest: &'t str) -> &'t str {
        self.literal.push('}');
        let closes = self.open.pop();
        match rest.strip_prefix("}}") {
            Some(after) if closes != Some(Open::Single) => after,
            _ => &rest[1..],
        }
    }
}

/// The `name` if the text begins with `{name}`.
fn braced_name(text: &str) -> Option<&str> {
    let inner = text.strip_prefix('{')?;
    let (name, _) = inner.split_once('}')?;
    let first = name.chars().next()?;
    let word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    ((first.is_alphabetic() || first == '_') && name.chars().all(word)).then_some(name)
}

fn named(name: &str, names: &Names) -> Result<Placeholder, TemplateError> {
    if let Some((_, plain)) = PLAIN.iter().find(|(plain, _)| *plain == name) {
        return Ok(plain.clone());
    }
    if let Some(input) = name.strip_prefix("inputs.") {
        return if names.inputs.contains_key(input) {
            Ok(Placeholder::Input(input.to_owned()))
        } else {
            Err(TemplateError::UnknownInput {
                name: input.to_owned(),
                inputs: names.inputs.keys().cloned().collect(),
            })
        };
    }
    // `Matrix::cells` and `SweepReader` check later whether there is such an axis or parameter.
    if let Some(parameter) = name.strip_prefix("sweep.") {
        return Ok(Placeholder::Sweep(parameter.to_owned()));
    }
    if let Some(axis) = name.strip_prefix("matrix.") {
        return Ok(Placeholder::Matrix(axis.to_owned()));
    }
    if let Some(prepare) = name.strip_prefix("prepare.") {
        return if names.prepares.iter().any(|known| known == prepare) {
            Ok(Placeholder::Prepare(prepare.to_owned()))
        } else {
            let prepares = names.prepares.clone();
            Err(TemplateError::UnknownPrepare { name: prepare.to_owned(), prepares })
        };
    }
    let name = name.to_owned();
    Err(if PLACEHOLDERS.contains(&name.as_str()) {
        TemplateError::NotYet { name }
    } else {
        TemplateError::Unknown { name }
    })
}
