//! Counts with singular and plural.

use std::fmt::Display;

/// Formats a count with the singular or plural noun: `1 match`, `2 matches`.
pub fn counted<N: Display + PartialEq + From<u8>>(count: N, one: &str, many: &str) -> String {
    let word = if count == N::from(1) { one } else { many };
    format!("{count} {word}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_is_singular() {
        assert_eq!(counted(0_u32, "match", "matches"), "0 matches");
        assert_eq!(counted(1_usize, "match", "matches"), "1 match");
        assert_eq!(counted(2_u64, "match", "matches"), "2 matches");
    }
}
