//! Appends to lists of moves without a loop whose end is hard to predict.

/// Appends `count` items, `BLOCK` at a time.
///
/// A processor that predicts the end of a short loop wrongly loses the time of some twenty items. `next` is called up to
/// `BLOCK - 1` times after the last item; what it then returns is dropped.
#[inline(always)]
pub fn extend_in_blocks<const BLOCK: usize, T>(out: &mut Vec<T>, count: u32, mut next: impl FnMut() -> T) {
    let all = out.len() + count as usize;
    while out.len() < all {
        out.extend([(); BLOCK].map(|()| next()));
    }
    out.truncate(all);
}

#[cfg(test)]
mod tests {
    use super::extend_in_blocks;

    #[test]
    fn appends_as_many_as_asked_for() {
        for count in 0..10 {
            let mut list = vec![Some(7)];
            let mut numbers = 0..;
            extend_in_blocks::<4, _>(&mut list, count, || numbers.next());
            let expected = [Some(7)].into_iter().chain((0..count).map(Some));
            assert_eq!(list, expected.collect::<Vec<_>>());
        }
    }
}
