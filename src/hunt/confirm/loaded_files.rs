//! Compares the files that runs of a first bad commit and of its parent loaded.

use std::collections::{BTreeMap, BTreeSet};

use crate::evaluation::{Loaded, LoadedFilesComparison, Target};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::oracle::{Observation, measures_of};

impl Driver<'_> {
    /// Compares the files that the first fresh run of each measure loaded on both sides. That run
    /// is the first of its build, so no earlier run changed the build's files. `None` if a side has
    /// no run, or its files are not known.
    pub(crate) fn compare_loaded_files(
        &self,
        parent: &Observation,
        commit: &Observation,
        targets: &[Target],
    ) -> Result<Option<LoadedFilesComparison>, HuntError> {
        let mut pairs = Vec::new();
        for name in measures_of(targets) {
            let [Some(before), Some(now)] =
                [self.loaded(parent, &name)?, self.loaded(commit, &name)?]
            else {
                return Ok(None);
            };
            pairs.push((before, now));
        }
        Ok(together(&pairs))
    }

    fn loaded(&self, seen: &Observation, measure: &str) -> Result<Option<Loaded>, HuntError> {
        let recipe = self.oracle.recipes.at(&seen.commit)?;
        let (Some(sample), Some(measure)) = (seen.of(measure).first(), recipe.measure(measure))
        else {
            return Ok(None);
        };
        let key = self.oracle.recipes.run_key_of(&seen.commit, &recipe, measure)?;
        let run = self.oracle.store.run(key.as_str(), &sample.attempt)?;
        Ok(run.and_then(|run| run.record.loaded.clone()))
    }
}

/// Joins the comparisons of all pairs of runs; `None` if no files were compared.
fn together(pairs: &[(Loaded, Loaded)]) -> Option<LoadedFilesComparison> {
    let mut unlike = BTreeMap::new();
    let mut alike = BTreeSet::new();
    for (before, now) in pairs {
        let found = now.unlike(before);
        unlike.extend(
            found.into_iter().map(|one| ((one.path.starts_with('/'), one.path.clone()), one)),
        );
        alike.extend(now.identical_files(before));
    }
    let is_whole = pairs.iter().all(|(before, now)| before.is_whole && now.is_whole);
    let ran = LoadedFilesComparison {
        alike: alike.len(),
        unlike: unlike.into_values().collect(),
        is_whole,
    };
    (!ran.unlike.is_empty() || ran.alike > 0).then_some(ran)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loaded(own: &[(&str, &str)], is_whole: bool) -> Loaded {
        let own = own.iter().map(|(path, sha)| ((*path).to_owned(), (*sha).to_owned())).collect();
        let elsewhere = BTreeMap::from([("/lib/libm.so.6".to_owned(), "m".to_owned())]);
        Loaded { own, elsewhere, is_whole, ..Loaded::default() }
    }

    #[test]
    fn two_measures_are_told_together() {
        let ppl = (loaded(&[("build/ppl", "1")], true), loaded(&[("build/ppl", "2")], true));
        let bench = (loaded(&[("build/bench", "1")], true), loaded(&[("build/bench", "1")], true));
        let ran = together(&[ppl.clone(), bench.clone()]).unwrap();
        assert_eq!((ran.unlike.len(), ran.alike, ran.is_whole), (1, 2, true));
        assert!(!ran.is_same());
        assert!(together(&[bench]).unwrap().is_same());
        assert_eq!(together(&[]), None);
        let partly = loaded(&[("build/ppl", "1")], false);
        assert!(!together(&[(partly.clone(), partly)]).unwrap().is_same());
    }
}
