//! `diff tensors`: compares two dumps of tensors, and says which one differs first.

use serde_json::{Value, json};

use crate::evaluation::TensorComparison;
use crate::process::Stop;
use crate::tensor::{TensorNoise, TensorSet, compare_sets};
use crate::ui::{Ui, plain_json};

use super::super::args::DiffTensors;
use super::super::{Failed, exit};
use super::tensor_lines;

/// `diff tensors`.
pub(super) fn run(args: &DiffTensors, threads: usize, ui: Ui, stop: &Stop) -> Result<u8, Failed> {
    let open = |path: &std::path::PathBuf| TensorSet::open(path).map_err(Failed::dump);
    let (base, candidate) = (open(&args.base)?, open(&args.candidate)?);
    let of_base = args.noise.iter().map(open).collect::<Result<_, _>>()?;
    let noise = TensorNoise { of_base, ..TensorNoise::default() };
    let is_stopped = || stop.is_requested();
    let found =
        compare_sets(&base, &candidate, &noise, threads, &is_stopped).map_err(Failed::dump)?;
    let sets = [&base, &candidate];
    let shown = if args.json {
        plain_json(&format!("{:#}\n", as_json(sets, &noise.of_base, &found)))
    } else {
        tensor_lines::text(sets, &found, args.all)
    };
    ui.out(&shown).map_err(Failed::stdout)?;
    Ok(if found.first.is_none() { exit::DONE } else { exit::FAILED })
}

fn as_json(sets: [&TensorSet; 2], noise: &[TensorSet], found: &TensorComparison) -> Value {
    let set = |set: &TensorSet| {
        json!({
            "path": set.path().to_string_lossy(),
            "tensors": set.count(),
            "order": set.order(),
        })
    };
    let mut all = json!({
        "schema": "bisect-ppl/diff-tensors/1",
        "a": set(sets[0]),
        "b": set(sets[1]),
        "noise": noise.iter().map(set).collect::<Vec<_>>(),
        "first_different": found.first().map(|first| &first.name),
    });
    let rest = serde_json::to_value(found).expect("a comparison has no keys but names");
    if let (Value::Object(all), Value::Object(rest)) = (&mut all, rest) {
        all.extend(rest);
    }
    all
}
