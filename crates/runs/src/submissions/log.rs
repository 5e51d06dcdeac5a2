//! The report on the build and the check of a submission for its owner.

use std::fmt::{self, Write};
use std::path::Path;

use referee_game::printable::printable_lines;

/// The maximum size of the log, in bytes.
const MOST_BYTES: usize = 64 << 10;
/// The bytes kept of the beginning of a part of it: of what one program has written.
const START_OF_PART: usize = 8 << 10;
/// The bytes kept of its end.
const END_OF_PART: usize = 16 << 10;

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

    pub fn line(&mut self, line: impl fmt::Display) {
        self.part("", 0, &line.to_string());
    }

    /// Adds the output of a program: the beginning, the number of bytes after it that are lost, and the end.
    /// Of a long text the beginning and the end are kept.
    pub fn part(&mut self, first: &str, mut lost: u64, last: &str) {
        let (mut first, mut last) = (self.shown(first), self.shown(last));
        last.truncate(last.trim_end_matches('\n').len());
        if lost == 0 {
            last.insert_str(0, &first);
            if last.len() > START_OF_PART + END_OF_PART {
                first.clone_from(&last);
            } else {
                first.clear();
            }
        }
        let kept = (start(&first, START_OF_PART), end(&last, END_OF_PART));
        if first.is_empty() && lost == 0 {
            if !last.is_empty() {
                let _ = writeln!(self.text, "{last}");
            }
            return;
        }
        lost += match lost {
            // The first and the last part are both the whole text.
            0 => last.len() - kept.0.len() - kept.1.len(),
            _ => first.len() - kept.0.len() + last.len() - kept.1.len(),
        } as u64;
        let _ = writeln!(self.text, "{}\n[{lost} bytes left out]\n{}", kept.0, kept.1);
    }

    /// The text without paths of the server and control characters.
    fn shown(&self, text: &str) -> String {
        let shown = self.hidden.iter().fold(text.to_owned(), |text, path| text.replace(path, "..."));
        printable_lines(&shown).into_owned()
    }

    /// The text, of which the beginning and the end are kept if it is too long.
    pub fn text(&self) -> String {
        if self.text.len() <= MOST_BYTES {
            return self.text.clone();
        }
        const NOTE: &str = "\n[a part is left out]\n";
        let first = start(&self.text, START_OF_PART);
        format!("{first}{NOTE}{}", end(&self.text, MOST_BYTES - START_OF_PART - NOTE.len()))
    }
}

/// The beginning of a text, of at most this many bytes.
fn start(text: &str, most: usize) -> &str {
    let mut to = text.len().min(most);
    while !text.is_char_boundary(to) {
        to -= 1;
    }
    &text[..to]
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
        log.part("", 0, &format!("File \"{}\"\u{1b}[2J", file.display()));
        assert_eq!(log.text(), "File \".../submissions/bots/bot.py\"\\u{1b}[2J\n");
        for _ in 0..9 {
            log.part("", 0, &"é".repeat(40_000));
        }
        let text = log.text();
        assert!(text.len() <= MOST_BYTES && text.starts_with("File \"..."));
        assert!(text.contains("\n[a part is left out]\n"));
        assert!(text.contains("\n[55424 bytes left out]\n"), "{}", &text[text.len() - 40..]);
    }

    #[test]
    fn first_8_kib_and_last_16_of_output_are_kept() {
        let text = |first: &str, lost, last: &str| {
            let mut log = SubmissionLog::default();
            log.part(first, lost, last);
            log.text()
        };
        assert_eq!(text("one ", 0, "two\n"), "one two\n");
        assert_eq!(text("", 0, ""), "");
        let most = "x".repeat(24 << 10);
        assert_eq!(text("", 0, &most), format!("{most}\n"));
        let (a, b) = ("a".repeat(8 << 10), "b".repeat(16 << 10));
        let expected = |lost| format!("{a}\n[{lost} bytes left out]\n{b}\n");
        assert_eq!(text(&a, 0, &format!("-{b}\n")), expected(1));
        assert_eq!(text("", 0, &format!("{a}---{b}")), expected(3));
        assert_eq!(text(&a, 100, &format!("--{b}")), expected(102));
    }
}
