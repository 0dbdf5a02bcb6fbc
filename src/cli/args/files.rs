//! The arguments of the commands that compare files.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand, ValueEnum};

use crate::cli::help;

/// `diff`.
#[derive(Debug, ClapArgs)]
#[command(arg_required_else_help = true, disable_help_subcommand = true)]
pub(crate) struct Diff {
    /// What to compare.
    #[command(subcommand)]
    pub command: DiffCommand,
}

/// What can be compared.
#[derive(Debug, Subcommand)]
pub(crate) enum DiffCommand {
    /// Compare the logits of the same tokens in two files
    #[command(after_help = help::DIFF_LOGITS)]
    Logits(DiffLogits),
    /// Compare the tensors of two dumps in the order of computation, and find the first different
    /// one
    #[command(after_help = help::DIFF_TENSORS)]
    Tensors(DiffTensors),
    /// Any other word
    #[command(external_subcommand)]
    Unknown(Vec<String>),
}

/// `diff tensors`.
#[derive(Debug, ClapArgs)]
pub(crate) struct DiffTensors {
    /// The base: a folder of .npy or .safetensors files, one .safetensors file, or the output of
    /// llama-eval-callback
    #[arg(value_name = "A")]
    pub base: PathBuf,
    /// The candidate, in any of these formats
    #[arg(value_name = "B")]
    pub candidate: PathBuf,
    /// Another dump of A's build, or of a commit without an effect: a tensor may differ from A four
    /// times as much as in this dump. Can be given more than once
    #[arg(long, value_name = "C")]
    pub noise: Vec<PathBuf>,
    /// Show all tensors, not only those near the first different one
    #[arg(long)]
    pub all: bool,
    /// Threads; the figures do not depend on them [default: the usable cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Print JSON, for programs
    #[arg(long)]
    pub json: bool,
}

/// `diff logits`.
#[derive(Debug, ClapArgs)]
pub(crate) struct DiffLogits {
    /// The base: [positions, vocab] as .npy, .safetensors, or llama.cpp's KL-divergence base file
    #[arg(value_name = "A")]
    pub base: PathBuf,
    /// The candidate, in any of these formats
    #[arg(value_name = "B")]
    pub candidate: PathBuf,
    /// The tensor to compare, in each .safetensors file [default: the only one]
    #[arg(long, value_name = "NAME")]
    pub tensor: Option<String>,
    /// Exit with 1 if the difference is larger
    #[arg(long, value_enum, value_name = "PRESET")]
    pub guard: Option<Preset>,
    /// Threads; the figures do not depend on them [default: the usable cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Print JSON, for programs
    #[arg(long)]
    pub json: bool,
}

/// The tolerances of `diff logits`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Preset {
    /// All bits are the same
    Bitwise,
    /// No difference above 1e-5
    LosslessF32,
    /// No difference above 1e-3
    LosslessF16,
    /// Every cosine at least 0.999, and mean KL at most 0.01 nats
    Lossy,
}
