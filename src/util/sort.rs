//! Sorting with little code: the standard sorts are compiled again for each type, and took 80 KB
//! of the Worker. For lists that are sorted by every request, use the standard ones.

use std::cmp::Ordering;

/// Sorts a list. Equal items keep their order.
pub fn sort_by<T>(items: &mut Vec<T>, compare: impl Fn(&T, &T) -> Ordering) {
    let mut order: Vec<usize> = (0..items.len()).collect();
    sort_indexes(&mut order, &|a, b| match (items.get(a), items.get(b)) {
        (Some(a), Some(b)) => compare(a, b),
        _ => Ordering::Equal,
    });
    let mut unsorted: Vec<Option<T>> = std::mem::take(items).into_iter().map(Some).collect();
    let sorted = order.into_iter().filter_map(|index| unsorted.get_mut(index)?.take());
    *items = sorted.collect();
}

/// Sorts a list by the order of its items. Equal items keep their order.
pub fn sort<T: Ord>(items: &mut Vec<T>) {
    sort_by(items, T::cmp);
}

/// The only instance of the standard sort for all callers.
#[inline(never)]
fn sort_indexes(order: &mut [usize], compare: &dyn Fn(usize, usize) -> Ordering) {
    order.sort_by(|a, b| compare(*a, *b));
}

#[cfg(test)]
mod tests {
    use super::{sort, sort_by};

    #[test]
    fn equal_items_keep_their_order() {
        let mut items = vec![(2, "b"), (1, "x"), (2, "a"), (1, "y"), (0, "z")];
        sort_by(&mut items, |a, b| a.0.cmp(&b.0));
        assert_eq!(items, [(0, "z"), (1, "x"), (1, "y"), (2, "b"), (2, "a")]);
        sort(&mut items);
        assert_eq!(items, [(0, "z"), (1, "x"), (1, "y"), (2, "a"), (2, "b")]);
        sort::<u8>(&mut Vec::new());
    }
}
