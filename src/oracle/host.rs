//! The computer that this process runs on: its name and its GPUs. Reads files and starts nothing,
//! so that every run can have it.

use std::path::Path;

use crate::evaluation::Host;
use crate::process::node_name;

/// This computer.
pub(crate) fn host() -> Host {
    Host { name: node_name(), gpus: gpus(Path::new("/proc/driver/nvidia/gpus")) }
}

/// Model and UUID of each GPU. `folder`: the driver's folder, with one subfolder for each place on
/// the bus.
fn gpus(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut places: Vec<_> = entries.map(|entry| entry.path()).collect();
    places.sort();
    let texts =
        places.iter().filter_map(|place| std::fs::read_to_string(place.join("information")).ok());
    texts.filter_map(|text| gpu(&text)).collect()
}

/// `NVIDIA H100 80GB HBM3, GPU-6b1c…`, from `Model:` and `GPU UUID:`. The driver prints `?` for a
/// UUID that it may not tell.
fn gpu(text: &str) -> Option<String> {
    let field = |name: &str| {
        let value = text.lines().find_map(|line| line.strip_prefix(name))?.trim();
        (!value.is_empty() && !value.contains('?')).then_some(value)
    };
    let known: Vec<&str> = ["Model:", "GPU UUID:"].into_iter().filter_map(field).collect();
    (!known.is_empty()).then(|| known.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gpus_are_listed_by_their_places_and_only_with_what_the_driver_tells() {
        let folder = tempfile::tempdir().unwrap();
        assert!(gpus(folder.path()).is_empty() && gpus(&folder.path().join("none")).is_empty());
        for (place, text) in [
            ("0000:b1:00.0", "Model: \t\t A100\nIRQ:   \t\t 12\nGPU UUID: \t GPU-2f\n"),
            ("0000:18:00.0", "Model: \t\t H100 80GB\nGPU UUID: \t GPU-????????-????\n"),
            ("0000:c2:00.0", "Bus Type: \t PCIe\n"),
        ] {
            std::fs::create_dir(folder.path().join(place)).unwrap();
            std::fs::write(folder.path().join(place).join("information"), text).unwrap();
        }
        assert_eq!(gpus(folder.path()), ["H100 80GB", "A100, GPU-2f"]);
    }
}
