//! Where a configuration has its values: for messages about values that are wrong only here, on this
//! machine.

use super::document::Data;
use super::{Config, Location};

impl Config {
    /// The configuration's file, as named on the command line.
    pub(crate) fn file(&self) -> &str {
        &self.source.name
    }

    /// The place of a slot's `cpus` in `[executor]`; the first slot is 0.
    pub(crate) fn place_of_cpus(&self, slot: usize) -> Location {
        let root = self.source.document.table();
        let slots = root.and_then(|root| root.get("executor")?.table()?.get("slots"));
        let slot = slots.and_then(|slots| match &slots.data {
            Data::List(slots) => slots.get(slot),
            _ => None,
        });
        let cpus = slot.and_then(|slot| slot.table()?.get("cpus"));
        cpus.map_or_else(
            || Location { file: self.file().into(), ..Location::default() },
            |cpus| cpus.place.clone(),
        )
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn the_cpus_of_each_slot_have_a_place() {
        let text = "version = 1\n[build]\ncommands = ['a']\n[[measure]]\nname = 'a'\n\
                    command = 'a'\nparser = 'exit-code'\n[[guard]]\nmetric = 'a'\nmax = 0\n\
                    [executor]\nslots = [\n{ cpus = '0' },\n{ cpus = '1' },\n]\n";
        let config = Config::parse(text, Path::new("/"), "other.toml").unwrap();
        let places = [0, 1, 2].map(|slot| config.place_of_cpus(slot).to_string());
        assert_eq!(places, ["other.toml:13:10", "other.toml:14:10", "other.toml"]);
    }
}
