//! As much of a text as is worth repeating.

use std::borrow::Cow;

/// The text, or its beginning and `...` where it has more than `most` characters.
pub fn excerpt(text: &str, most: usize) -> Cow<'_, str> {
    if text.len() <= most {
        return Cow::Borrowed(text);
    }
    match text.char_indices().nth(most) {
        Some((end, _)) => Cow::Owned(format!("{}...", &text[..end])),
        None => Cow::Borrowed(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_longer_than_allowed_ends_with_dots() {
        assert_eq!(excerpt("\u{e9}t\u{e9}", 3), "\u{e9}t\u{e9}");
        assert_eq!(excerpt("\u{e9}t\u{e9}s", 3), "\u{e9}t\u{e9}...");
        assert_eq!(excerpt("", 0), "");
    }
}
