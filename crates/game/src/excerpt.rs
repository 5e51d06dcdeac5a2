//! Truncates text for messages.

use std::borrow::Cow;

/// Truncates text after `most` characters and appends `...`; shorter text is returned as it is.
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
    fn longer_text_is_truncated_and_ends_with_dots() {
        assert_eq!(excerpt("\u{e9}t\u{e9}", 3), "\u{e9}t\u{e9}");
        assert_eq!(excerpt("\u{e9}t\u{e9}s", 3), "\u{e9}t\u{e9}...");
        assert_eq!(excerpt("", 0), "");
    }
}
