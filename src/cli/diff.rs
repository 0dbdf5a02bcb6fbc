//! `diff`: compares two dumps by hand, without a repository.

mod lines;
mod tensor_lines;
mod tensors;

use anyhow::anyhow;
use serde_json::{Value, json};

use crate::evaluation::LogitsGuard;
use crate::process::Stop;
use crate::tensor::{Breach, Comparison, Dump, Figure, Settings, compare};
use crate::ui::{Ui, plain_json};

use super::args::{DiffCommand, DiffLogits, Preset};
use super::{Failed, exit, unavailable};

/// `diff`.
pub(crate) fn run(command: &DiffCommand, ui: Ui, stop: &Stop) -> Result<u8, Failed> {
    match command {
        DiffCommand::Logits(args) => logits(args, ui, stop),
        DiffCommand::Tensors(args) => tensors::run(args, threads(args.threads), ui, stop),
        DiffCommand::Unknown(words) => Err(unavailable::diff(words)),
    }
}

/// `diff logits`.
fn logits(args: &DiffLogits, ui: Ui, stop: &Stop) -> Result<u8, Failed> {
    let tensor = args.tensor.as_deref();
    let dumps = [&args.base, &args.candidate].map(|path| Dump::open(path, tensor));
    let [base, candidate] = dumps;
    let dumps = [base.map_err(Failed::dump)?, candidate.map_err(Failed::dump)?];
    if tensor.is_some() && dumps.iter().all(|dump| dump.tensor().is_none()) {
        let error = anyhow!("neither file has tensors with names");
        return Err(Failed::usage(error, Some("leave --tensor out".to_owned())));
    }
    let guard = args.guard.map(guard);
    let settings = Settings { threads: threads(args.threads), guard };
    let [base, candidate] = &dumps;
    let found =
        compare(base, candidate, &settings, &|| stop.is_requested()).map_err(Failed::dump)?;
    let breaches = guard.map(|guard| found.breaches(guard)).unwrap_or_default();
    let shown = if args.json {
        plain_json(&format!("{:#}\n", as_json(&dumps, &found, guard, &breaches)))
    } else {
        lines::text(&dumps, &found, guard, &breaches)
    };
    ui.out(&shown).map_err(Failed::stdout)?;
    Ok(if breaches.is_empty() { exit::DONE } else { exit::FAILED })
}

/// The given number of threads, or one for each usable core.
fn threads(given: Option<u16>) -> usize {
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    given.map_or_else(cores, usize::from)
}

fn guard(preset: Preset) -> LogitsGuard {
    match preset {
        Preset::Bitwise => LogitsGuard::Bitwise,
        Preset::LosslessF32 => LogitsGuard::LosslessF32,
        Preset::LosslessF16 => LogitsGuard::LosslessF16,
        Preset::Lossy => LogitsGuard::Lossy,
    }
}

fn as_json(
    dumps: &[Dump; 2],
    found: &Comparison,
    guard: Option<LogitsGuard>,
    breaches: &[Breach],
) -> Value {
    let [a, b] = dumps.each_ref().map(|dump| {
        json!({
            "path": dump.path().to_string_lossy(),
            "format": dump.format(),
            "tensor": dump.tensor(),
            "values": dump.encoding().name(),
            "shape": dump.shape(),
        })
    });
    let mut out = json!({
        "schema": "bisect-ppl/diff-logits/1",
        "a": a,
        "b": b,
        "guard": guard.map(|guard| json!({
            "name": guard.name(),
            "holds": breaches.is_empty(),
            "breaches": breaches.iter().map(|breach| breach_json(*breach)).collect::<Vec<_>>(),
        })),
    });
    let figures = serde_json::to_value(found.difference()).expect("figures are plain data");
    if let (Value::Object(out), Value::Object(figures)) = (&mut out, figures) {
        out.extend(figures);
    }
    out
}

/// The key of a figure that each row has.
fn figure_key(figure: Figure) -> &'static str {
    match figure {
        Figure::MaxAbs => "max_abs",
        Figure::MeanAbs => "mean_abs",
        Figure::Rms => "rms",
        Figure::Cosine => "cosine",
        Figure::Kl => "kl",
        Figure::Top1 => "top1",
    }
}

fn breach_json(breach: Breach) -> Value {
    match breach {
        Breach::Bits { position, index } => {
            json!({"what": "bits", "position": position, "index": index})
        }
        Breach::Encoding => json!({"what": "type"}),
        Breach::NonFinite => json!({"what": "non_finite"}),
        Breach::Beyond { figure, value, limit } => {
            json!({"what": whole_key(figure), "value": value, "limit": limit})
        }
    }
}

/// The key of the figure over all rows that a guard limits.
fn whole_key(figure: Figure) -> &'static str {
    match figure {
        Figure::Cosine => "min_cosine",
        Figure::Kl => "mean_kl",
        Figure::Top1 => "top1_agreement",
        Figure::MaxAbs | Figure::MeanAbs | Figure::Rms => figure_key(figure),
    }
}
