//! A list without repetitions.

/// The items without repetitions, each at its first place. For short lists: it compares all pairs.
pub(crate) fn distinct<T: PartialEq>(items: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut all = Vec::new();
    for item in items {
        if !all.contains(&item) {
            all.push(item);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_item_stays_at_its_first_place() {
        assert_eq!(distinct([3, 1, 3, 2, 1]), [3, 1, 2]);
        assert!(distinct(Vec::<u8>::new()).is_empty());
    }
}
