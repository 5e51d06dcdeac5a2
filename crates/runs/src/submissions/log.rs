//! What the build and the check of a submission report to its owner.

use std::fmt::{self, Write};
use std::path::Path;

use referee_game::printable::printable_lines;

/// The maximum size of the log, in bytes.
const MOST_BYTES: usize = 64 << 10;
/// The maximum size of a part of it, in bytes: of what one program has written.
const MOST_OF_PART: usize = 24 << 10;

/// The log of a submission. It has no characters that act on a terminal.
#[derive(Clone, Debug, Default)]
pub struct SubmissionLog {
    text: String,
    /// The paths that are not shown.
    hidden: Vec<String>,
}

impl SubmissionLog {
    /// An empty log, which shows this path as `...`: it is the server's.
    pub fn new(hidden: &Path) -> SubmissionLog {
        let resolved = hidden.canonicalize().ok();
        let paths = resolved.as_deref().into_iter().chain([hidden]);
        SubmissionLog {
            text: String::new(),
            hidden: paths.map(|path| path.to_string_lossy().into_owned()).collect(),
        }
    }

    /// Adds a line.
    pub fn line(&mut self, line: impl fmt::Display) {
        self.part(&line.to_string(), 0);
    }

    /// Adds what a program has written, of which this many bytes at the beginning are lost. Of a long text the end is kept.
    pub fn part(&mut self, text: &str, lost: u64) {
        let shown = self.hidden.iter().fold(text.to_owned(), |text, path| text.replace(path, "..."));
        let shown = printable_lines(&shown);
        let shown = shown.trim_end_matches('\n');
        if shown.is_empty() {
            return;
        }
        let kept = end(shown, MOST_OF_PART);
        let lost = lost + (shown.len() - kept.len()) as u64;
        if lost > 0 {
            let _ = writeln!(self.text, "[{lost} bytes left out]");
        }
        let _ = writeln!(self.text, "{kept}");
    }

    /// The text, of which the end is kept if it is too long.
    pub fn text(&self) -> String {
        if self.text.len() <= MOST_BYTES {
            return self.text.clone();
        }
        const NOTE: &str = "[the beginning is left out]\n";
        format!("{NOTE}{}", end(&self.text, MOST_BYTES - NOTE.len()))
    }
}

/// The end of a text, of at most this many bytes.
fn end(text: &str, most: usize) -> &str {
    let mut from = text.len().saturating_sub(most);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    &text[from..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_bounded_and_shows_neither_paths_nor_controls() {
        let league = Path::new("/league");
        let mut log = SubmissionLog::new(league);
        let file = league.join("submissions/bots/bot.py");
        log.part(&format!("File \"{}\"\u{1b}[2J", file.display()), 0);
        assert_eq!(log.text(), "File \".../submissions/bots/bot.py\"\\u{1b}[2J\n");
        for _ in 0..9 {
            log.part(&"é".repeat(40_000), 3);
        }
        let text = log.text();
        assert!(text.len() <= MOST_BYTES && text.starts_with("[the beginning is left out]\n"));
        assert!(text.contains("[55427 bytes left out]\n"), "{}", &text[text.len() - 40..]);
    }
}
