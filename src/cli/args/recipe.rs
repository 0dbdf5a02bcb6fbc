//! The arguments for an `oracle.toml` that the program writes.

use std::path::PathBuf;

use clap::Args as ClapArgs;

/// What a configuration is written for.
#[derive(Debug, ClapArgs)]
pub(crate) struct Recipe {
    /// The model file [default: the likeliest one in the checkout]
    #[arg(long, value_name = "FILE")]
    pub model: Option<PathBuf>,
    /// The text to measure perplexity on [default: the likeliest one in the checkout]
    #[arg(long, value_name = "FILE")]
    pub text: Option<PathBuf>,
}

impl Recipe {
    /// Whether anything is asked for.
    pub(crate) fn is_given(&self) -> bool {
        self.model.is_some() || self.text.is_some()
    }
}
