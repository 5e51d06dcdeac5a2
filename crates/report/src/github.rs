//! Output for GitHub: Markdown, and the workflow commands that annotate a job.

use referee_game::printable::{is_active, printable_lines};

/// Escapes characters with a meaning in Markdown or HTML.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            c if is_active(c) => out.push(' '),
            '\\' | '|' | '`' | '*' | '_' | '[' | ']' | '~' | '#' | '!' | '@' | '$' => out.extend(['\\', c]),
            c => out.push(c),
        }
    }
    out
}

/// A line that annotates the job; `level` is error, warning or notice.
pub(super) fn annotation(level: &str, title: &str, message: &str) -> String {
    let data =
        |text: &str| printable_lines(text).replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
    let property = data(title).replace(':', "%3A").replace(',', "%2C");
    format!("::{level} title={property}::{}\n", data(message))
}
