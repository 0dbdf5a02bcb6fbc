//! What llama-perplexity prints with `--kl-divergence`, of any year: a table with a row for each
//! chunk, and since 2024-01-23 statistics below it.
//!
//! Until 2024-04-30 the statistics are a few of the divergence alone, called `Average:` or
//! `KLD_99 :`; perplexity and the share of equal first choices stand in the last row of the table
//! only, where they are taken from then. Shares are percents, as they are printed since.

use std::collections::BTreeMap;

use crate::evaluation::{Failure, FailureKind, Metric, Reading};

use super::value::{finite, parse_number, reading, unreadable};

/// What stands before a figure, blanks left out, and what the figure is called.
const LABELS: [(&str, &str); 47] = [
    ("MeanPPL(Q)", "ppl"),
    ("MeanPPL(base)", "ppl_base"),
    ("Cor(ln(PPL(Q)),ln(PPL(base)))", "ppl_correlation"),
    ("Meanln(PPL(Q)/PPL(base))", LN_RATIO),
    ("MeanPPL(Q)/PPL(base)", "mean_ppl_ratio"),
    ("MeanPPL(Q)-PPL(base)", "mean_ppl_diff"),
    ("MeanKLD", "mean_kld"),
    ("MaximumKLD", "max_kld"),
    ("99.9%KLD", "kld_99_9"),
    ("99.0%KLD", "kld_99"),
    ("95.0%KLD", "kld_95"),
    ("90.0%KLD", "kld_90"),
    ("MedianKLD", "median_kld"),
    ("10.0%KLD", "kld_10"),
    ("5.0%KLD", "kld_5"),
    ("1.0%KLD", "kld_1"),
    ("0.1%KLD", "kld_0_1"),
    ("MinimumKLD", "min_kld"),
    ("MeanΔp", "mean_dp"),
    ("MaximumΔp", "max_dp"),
    ("99.9%Δp", "dp_99_9"),
    ("99.0%Δp", "dp_99"),
    ("95.0%Δp", "dp_95"),
    ("90.0%Δp", "dp_90"),
    ("75.0%Δp", "dp_75"),
    ("MedianΔp", "median_dp"),
    ("25.0%Δp", "dp_25"),
    ("10.0%Δp", "dp_10"),
    ("5.0%Δp", "dp_5"),
    ("1.0%Δp", "dp_1"),
    ("0.1%Δp", "dp_0_1"),
    ("MinimumΔp", "min_dp"),
    ("RMSΔp", "rms_dp"),
    ("Sametopp", SAME_TOP),
    // Until 2024-04-30.
    ("Average", "mean_kld"),
    ("Median", "median_kld"),
    ("Maximum", "max_kld"),
    ("KLD_99", "kld_99"),
    ("KLD_95", "kld_95"),
    ("KLD_90", "kld_90"),
    ("Minimum", "min_kld"),
    ("KLD_01", "kld_1"),
    ("KLD_05", "kld_5"),
    ("KLD_10", OLD_LAST),
    // What some builds print for Δp.
    ("Meandp", "mean_dp"),
    ("Maximumdp", "max_dp"),
    ("RMSdp", "rms_dp"),
];
const LN_RATIO: &str = "mean_ln_ppl_ratio";
const SAME_TOP: &str = "same_top_p";
const OLD_LAST: &str = "kld_10";

/// Every name that there may be.
pub(crate) fn names() -> Vec<&'static str> {
    let mut names: Vec<_> = LABELS.iter().map(|(_, name)| *name).collect();
    names.sort_unstable();
    names.dedup();
    names
}
