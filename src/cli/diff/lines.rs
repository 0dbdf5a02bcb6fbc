//! What `diff logits` prints for people.

use std::fmt::Write;

use crate::evaluation::LogitsGuard;
use crate::tensor::{Breach, Comparison, Dump, Encoding, Extreme, Figure};
use crate::ui::text;

/// The whole output.
pub(super) fn text(
    dumps: &[Dump; 2],
    found: &Comparison,
    guard: Option<LogitsGuard>,
    breaches: &[Breach],
) -> String {
    let mut out = String::new();
    for (name, dump) in ["A", "B"].iter().zip(dumps) {
        let _ = writeln!(out, "{name}  {}", file(dump));
    }
    let positions = text::plural(found.positions, "position");
    let _ = writeln!(out, "{positions} × {} values", found.vocab);
    if found.is_identical() {
        out.push_str("The files are equal, bit for bit.\n");
    }
    out.push_str(&non_finite(found));
    if found.figures.rows > 0 && !found.is_identical() {
        let _ = writeln!(out, "\n{}", table(found));
        out.push_str(&notes(found));
    }
    if let Some(guard) = guard {
        let name = guard.name();
        let _ = match breaches {
            [] => writeln!(out, "\nGuard {name}: holds"),
            _ => writeln!(out, "\nGuard {name}: broken"),
        };
        for breach in breaches {
            let _ = writeln!(out, "  {}", breach_line(*breach, found));
        }
    }
    out
}

fn file(dump: &Dump) -> String {
    let path = text::line(&dump.path().display().to_string());
    let tensor = dump.tensor().map(|name| format!(", tensor `{}`", text::line(name)));
    format!("{path} ({}{}, {})", dump.format(), tensor.unwrap_or_default(), dump.encoding().name())
}

/// The figures, each with the first and the worst position.
fn table(found: &Comparison) -> String {
    let number = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), short);
    let cosine_of = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), cosine);
    let extreme = |figure| Some(found.figures.extreme(figure));
    let agreement = found.top1_agreement().map_or_else(String::new, |part| {
        format!("{} ({} of {})", text::percent(part), found.figures.same_top, found.figures.rows)
    });
    let rows: [(&str, String, Option<Extreme>); 9] = [
        ("max |Δ|", number(found.max_abs()), extreme(Figure::MaxAbs)),
        ("mean |Δ|", number(found.mean_abs()), extreme(Figure::MeanAbs)),
        ("RMS of Δ", number(found.rms()), extreme(Figure::Rms)),
        ("min cosine", cosine_of(found.figures.min_cosine), extreme(Figure::Cosine)),
        ("mean cosine", cosine_of(found.mean_cosine()), None),
        ("max KL(A‖B)", nats(found.max_kl()), extreme(Figure::Kl)),
        ("99 % KL", nats(found.p99_kl), None),
        ("mean KL", nats(found.mean_kl()), None),
        ("same top-1", agreement, extreme(Figure::Top1)),
    ];
    let mut out =
        format!("{:<12}  {:<24}  {:>14}  {:>14}", "", "", "first position", "worst position");
    for (name, value, extreme) in rows {
        let place =
            |position: Option<usize>| position.map_or_else(|| "-".to_owned(), |x| x.to_string());
        let places = extreme.map(|one| [place(one.first), place(one.worst.map(|worst| worst.0))]);
        let [first, worst] = places.unwrap_or_default();
        let _ = write!(
            out,
            "\n{}",
            format!("{name:<12}  {value:<24}  {first:>14}  {worst:>14}").trim_end()
        );
    }
    out
}

/// A number with three significant digits; the JSON has all.
pub(super) fn short(value: f64) -> String {
    text::figure(format!("{value:.2e}").parse().unwrap_or(value))
}

/// A cosine; close to 1, by its distance from 1.
pub(super) fn cosine(value: f64) -> String {
    let distance = 1.0 - value;
    if distance > 0.0 && distance < 1e-3 {
        return format!("1 − {}", short(distance));
    }
    text::figure((value * 1e5).round() / 1e5)
}

fn nats(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{} nats", short(value)))
}

/// What the figures mean, where that is not plain.
fn notes(found: &Comparison) -> String {
    let mut out = String::new();
    if let Some(one) = found.figures.largest_delta {
        let [a, b] = one.values.map(text::figure);
        let _ = writeln!(
            out,
            "Largest difference: {a} → {b}, at index {} of position {}",
            one.index, one.position
        );
    }
    let step = found.storage_step();
    let largest = found.max_abs().unwrap_or(0.0);
    if found.is_beyond_rounding() {
        out.push_str("A difference above 0.01 is beyond rounding.\n");
    } else if largest > 0.0 && largest <= step {
        let step = text::rounded(step);
        let _ = writeln!(
            out,
            "Stored values are {step} apart there, so rounding when they were written explains this."
        );
    }
    if found.is_of_log_probabilities() {
        out.push_str(
            "These are log-probabilities, at most 16 below the largest of their position and rounded\n\
             to 16 bits by llama.cpp. Differences below 0.00025 may come from that.\n",
        );
        if found.encodings.iter().any(|one| *one != Encoding::LogProb16) {
            out.push_str("The logits of the other file were converted to the same form.\n");
        }
    }
    out
}

/// Values that are not finite, and positions without figures.
fn non_finite(found: &Comparison) -> String {
    let mut out = String::new();
    for one in &found.figures.non_finite {
        let name = if one.side == 0 { "A" } else { "B" };
        let kind = one.kind;
        let found = match one.count {
            1 => format!("1 value is {kind},"),
            count => format!("{count} values are {kind}, the first"),
        };
        let (index, position) = (one.index, one.position);
        let _ = writeln!(out, "{name}: {found} at index {index} of position {position}");
    }
    let left_out = found.figures.left_out;
    if left_out > 0 && found.figures.rows > 0 {
        let positions = text::plural(usize::try_from(left_out).unwrap_or(usize::MAX), "position");
        let _ = writeln!(out, "The figures leave out {positions} with such values.");
    } else if left_out > 0 {
        out.push_str("Every position has such a value, so there are no figures.\n");
    }
    if found.figures.masked > 0 {
        let _ = writeln!(
            out,
            "{} values are -inf in both files; they count as equal.",
            found.figures.masked
        );
    }
    out
}

fn breach_line(breach: Breach, found: &Comparison) -> String {
    match breach {
        Breach::Bits { position, index } => {
            format!("the first different value is at index {index} of position {position}")
        }
        Breach::Encoding => {
            let [a, b] = found.encodings.map(Encoding::name);
            format!("the files store different types: {a} and {b}")
        }
        Breach::NonFinite => "some values are not finite, so they cannot be compared".to_owned(),
        Breach::Beyond { figure, value, limit } => {
            let name = match figure {
                Figure::Cosine => "min cosine",
                Figure::Kl => "mean KL",
                _ => "max |Δ|",
            };
            let shown = if figure == Figure::Cosine { cosine(value) } else { short(value) };
            let limit = text::figure(limit);
            let side = if figure == Figure::Cosine { "below" } else { "above" };
            let first = found.figures.extreme(figure).first;
            let first = first.map(|at| format!(", first at position {at}")).unwrap_or_default();
            format!("{name} {shown} is {side} {limit}{first}")
        }
    }
}
