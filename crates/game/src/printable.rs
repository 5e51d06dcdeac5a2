//! Escapes characters that act on a terminal or that some readers take for a line break.

use std::borrow::Cow;

/// Returns whether a character may act on a terminal, reorder the text around it or end a line: control
/// characters, line and paragraph separators, bidirectional controls.
pub fn is_active(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Escapes every active character, for example as `\u{1b}`.
pub fn printable(text: &str) -> Cow<'_, str> {
    escape(text, is_active)
}

/// Like [`printable`], but keeps line breaks and tabs.
pub fn printable_lines(text: &str) -> Cow<'_, str> {
    escape(text, |c| is_active(c) && !matches!(c, '\n' | '\t'))
}

fn escape(text: &str, is_escaped: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_escaped(c) { shown.extend(c.escape_unicode()) } else { shown.push(c) }
    }
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_active_characters_are_escaped() {
        assert_eq!(printable("\u{1b}[2J\u{7}\r\n"), "\\u{1b}[2J\\u{7}\\u{d}\\u{a}");
        assert_eq!(printable("\u{9b}31m\u{7f}\u{202e}\u{2066}"), "\\u{9b}31m\\u{7f}\\u{202e}\\u{2066}");
        assert_eq!(printable_lines("one\n\ttwo\r\n"), "one\n\ttwo\\u{d}\n");
        for plain in ["", "11-15", "\u{e9}t\u{e9}", "\u{4e2d}\u{6587} \u{1f600}", "\\u{1b}"] {
            assert_eq!(printable(plain), plain);
        }
    }
}
