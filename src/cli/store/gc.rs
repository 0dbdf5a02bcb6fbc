//! `store gc`: removes data that is not needed and prints the freed space.

use std::fmt::Write as _;
use std::time::Duration;

use anyhow::anyhow;
use jiff::{Span, SpanRelativeTo, Timestamp};

use crate::cli::args::StoreGc;
use crate::cli::{Failed, exit};
use crate::git::Repository;
use crate::hunt::{Leftovers, leftovers, remove_leftovers};
use crate::store::{AgeLimits, Garbage, Store};
use crate::ui::{Ui, text};

/// Age at which data that no hunt refers to is removed. The data may be a recent measurement by
/// hand, or of a hunt that was removed by mistake. Git keeps unreachable objects as long.
const GRACE: Duration = Duration::from_hours(14 * 24);

/// `store gc`.
pub(crate) fn run(
    args: &StoreGc,
    repository: &Repository,
    store: &Store,
    ui: Ui,
) -> Result<u8, Failed> {
    let age = args.older_than.as_deref().map(age).transpose()?;
    if !store.root().exists() {
        ui.out("nothing was ever measured here\n").map_err(Failed::stdout)?;
        return Ok(exit::DONE);
    }
    let tidying = store.tidy().map_err(Failed::store)?;
    let ago = |age: Duration| Timestamp::now().checked_sub(age).unwrap_or(Timestamp::MIN);
    let limits = AgeLimits { hunts: age.map(ago), unreferenced: ago(age.unwrap_or(GRACE)) };
    let before = store.inventory().map_err(Failed::store)?.bytes;
    let waste = tidying.waste(&limits).map_err(Failed::store)?;
    let left = leftovers(repository, store).map_err(Failed::hunt)?;
    if !args.dry_run {
        // Remove git's worktrees first: only the hunt's folder tells which worktrees it has.
        remove_leftovers(repository, store).map_err(Failed::hunt)?;
        tidying.remove(&waste).map_err(Failed::store)?;
    }
    let after = if args.dry_run {
        before.saturating_sub(waste.bytes)
    } else {
        store.inventory().map_err(Failed::store)?.bytes
    };
    let out = told(args.dry_run, &waste, &left) + &sizes(args.dry_run, before, after, store);
    ui.out(&out).map_err(Failed::stdout)?;
    Ok(exit::DONE)
}

/// Parses a duration such as `30d`, `2w` or `12h`.
fn age(text: &str) -> Result<Duration, Failed> {
    let span: Option<Span> = text.parse().ok();
    let time = span.and_then(|span| span.to_duration(SpanRelativeTo::days_are_24_hours()).ok());
    time.and_then(|time| Duration::try_from(time).ok()).ok_or_else(|| {
        Failed::usage(
            anyhow!("--older-than {text}: not a length of time"),
            Some("write it as 30d, 2w or 12h".to_owned()),
        )
    })
}

fn told(is_dry: bool, waste: &Garbage, left: &Leftovers) -> String {
    let verb = if is_dry { "would remove" } else { "removed" };
    let mut out = String::new();
    let mut tell = |count: usize, noun: &str, about: &str| {
        if count > 0 {
            let about = if about.is_empty() { String::new() } else { format!(": {about}") };
            let _ = writeln!(out, "{verb} {}{about}", text::plural(count, noun));
        }
    };
    tell(waste.hunts.len(), "hunt", &waste.hunts.join(", "));
    tell(waste.runs, "run", "no remaining hunt refers to them");
    tell(waste.builds, "build record", "no remaining hunt refers to them");
    let others = "confirmations, controls, build setups and comparisons that nothing needs";
    tell(waste.others, "other record", others);
    tell(waste.verifications, "verification", "`verify` measures again each time");
    tell(waste.dumps, "file", "with tensors that no remaining run wrote");
    tell(waste.leftovers, "leftover", "of processes that are gone");
    tell(left.sessions, "bisect session", "of hunts that nobody drives");
    let size = format!("{} in the cache folder", text::bytes(left.bytes));
    tell(left.slots, "slot", &size);
    if out.is_empty() {
        out.push_str("nothing to remove\n");
    }
    out
}

fn sizes(is_dry: bool, before: u64, after: u64, store: &Store) -> String {
    let verb = if is_dry { "would be freed" } else { "freed" };
    format!(
        "{}: {} before, {} after, {} {verb}\n",
        text::line(&store.root().to_string_lossy()),
        text::bytes(before),
        text::bytes(after),
        text::bytes(before.saturating_sub(after))
    )
}
