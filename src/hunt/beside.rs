//! How displays name what a worker does beside the driver.

use crate::store::HuntDir;

/// `slot 2`, or in a hunt of jobs, whose users know no slots, `at the same time`.
pub(crate) fn place_beside(hunt: &HuntDir, slot: usize) -> String {
    if hunt.jobs().is_dir() { "at the same time".to_owned() } else { format!("slot {}", slot + 1) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Store;

    #[test]
    fn a_hunt_of_jobs_names_no_slots() {
        let folder = tempfile::tempdir().unwrap();
        let hunt = Store::open_to_measure(folder.path()).unwrap().new_hunt().unwrap();
        assert_eq!(place_beside(&hunt, 1), "slot 2");
        hunt.make_jobs().unwrap();
        assert_eq!(place_beside(&hunt, 1), "at the same time");
    }
}
