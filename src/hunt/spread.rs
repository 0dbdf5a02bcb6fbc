//! Chooses some items of a list.

/// At most `most` of these items, with the same distance between any two and to both ends of the
/// list. All of them if there are no more.
pub(crate) fn spread<T: Clone>(all: &[T], most: usize) -> Vec<T> {
    if all.len() <= most {
        return all.to_vec();
    }
    (1..=most).map(|part| all[part * all.len() / (most + 1)].clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_chosen_at_equal_distances() {
        let of = |length: usize, most: usize| spread(&(0..length).collect::<Vec<_>>(), most);
        assert!(of(0, 4).is_empty() && of(9, 0).is_empty());
        assert_eq!(of(4, 4), [0, 1, 2, 3]);
        assert_eq!(of(5, 4), [1, 2, 3, 4]);
        assert_eq!(of(10, 4), [2, 4, 6, 8]);
    }
}
