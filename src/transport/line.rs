//! Lines of bounded length out of a stream of bytes.

use std::io;

use memchr::memchr;

/// How much is read at once: at first, and at most.
const READ: std::ops::RangeInclusive<usize> = 4 * 1024..=64 * 1024;

/// A line without its break.
#[derive(Debug, PartialEq, Eq)]
pub enum Line<'a> {
    /// A line.
    Text(&'a [u8]),
    /// A line that was longer than allowed; its bytes were not kept.
    TooLong,
}

/// Collects bytes and hands out lines. It never holds more than one line that is too long by a read.
#[derive(Debug)]
pub struct Lines {
    /// Bytes that have come, up to `end`; behind them room for more, cleared once.
    buffer: Vec<u8>,
    end: usize,
    /// Where the next line begins.
    start: usize,
    /// Up to where there is no line break.
    scanned: usize,
    /// Whether the rest of a line that is too long is being passed over, and how much of it was.
    skipping: bool,
    skipped: usize,
    /// Whether nothing has been handed out yet.
    fresh: bool,
    longest: usize,
    read: usize,
}

impl Lines {
    /// `longest` is the most bytes a line may have, without its break.
    pub fn new(longest: usize) -> Lines {
        Lines {
            buffer: Vec::new(),
            end: 0,
            start: 0,
            scanned: 0,
            skipping: false,
            skipped: 0,
            fresh: true,
            longest,
            read: *READ.start(),
        }
    }

    /// Reads once. Returns how many bytes came and whether there may be more right now.
    ///
    /// # Errors
    /// Those of `read`.
    pub fn fill(&mut self, read: impl FnOnce(&mut [u8]) -> io::Result<usize>) -> io::Result<(usize, bool)> {
        self.compact();
        if self.buffer.len() < self.end + self.read {
            self.buffer.resize(self.end + self.read, 0);
        }
        let got = read(&mut self.buffer[self.end..self.end + self.read])?;
        self.end += got;
        let is_full = got == self.read;
        self.read = if is_full { (self.read * 2).min(*READ.end()) } else { self.read };
        Ok((got, is_full))
    }

    /// How many bytes of a line that is too long, and not yet over, have been passed over.
    pub fn skipped(&self) -> usize {
        self.skipped
    }

    fn compact(&mut self) {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.scanned -= self.start;
        self.start = 0;
        // One burst must not cost a quiet stream its memory for ever.
        if self.end == 0 && self.buffer.len() > 2 * *READ.end() {
            self.buffer = Vec::new();
            self.read = *READ.start();
        }
    }

    /// The next line that is complete.
    pub fn next_line(&mut self) -> Option<Line<'_>> {
        loop {
            let Some(offset) = memchr(b'\n', &self.buffer[self.scanned..self.end]) else {
                self.scanned = self.end;
                if self.skipping {
                    self.skipped += self.scanned - self.start;
                    self.start = self.scanned;
                } else if self.scanned - self.start > self.longest + 1 {
                    self.skipping = true;
                    self.skipped = self.scanned - self.start;
                    self.start = self.scanned;
                    self.fresh = false;
                    return Some(Line::TooLong);
                }
                return None;
            };
            let (start, end) = (self.start, self.scanned + offset);
            self.start = end + 1;
            self.scanned = end + 1;
            if std::mem::take(&mut self.skipping) {
                self.skipped = 0;
                continue;
            }
            let mut line = &self.buffer[start..end];
            if std::mem::take(&mut self.fresh) {
                line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line);
            }
            line = line.strip_suffix(b"\r").unwrap_or(line);
            return Some(if line.len() > self.longest { Line::TooLong } else { Line::Text(line) });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn feed(lines: &mut Lines, bytes: &[u8]) {
        let mut rest = bytes;
        while !rest.is_empty() {
            lines.fill(|buffer| io::Read::read(&mut rest, buffer)).unwrap();
        }
    }

    fn all(lines: &mut Lines) -> Vec<String> {
        std::iter::from_fn(|| match lines.next_line()? {
            Line::Text(text) => Some(String::from_utf8_lossy(text).into_owned()),
            Line::TooLong => Some("TOO LONG".to_owned()),
        })
        .collect()
    }

    #[test]
    fn lines_come_whole_however_the_bytes_arrive() {
        let mut lines = Lines::new(10);
        let mut got = Vec::new();
        for byte in "\u{feff}one\r\n\ntwo\nthr".bytes() {
            feed(&mut lines, &[byte]);
            got.extend(all(&mut lines));
        }
        assert_eq!(got, ["one", "", "two"]);
        feed(&mut lines, b"ee\n\xef\xbb\xbffour\n");
        assert_eq!(all(&mut lines), ["three", "\u{feff}four"]);
    }

    #[test]
    fn a_line_that_is_too_long_is_told_once_and_its_rest_is_passed_over_without_being_kept() {
        let mut lines = Lines::new(10);
        let mut got = Vec::new();
        for _ in 0..1000 {
            feed(&mut lines, &[b'x'; 4096]);
            got.extend(all(&mut lines));
        }
        assert_eq!(got, ["TOO LONG"]);
        assert!(lines.buffer.capacity() < 200_000, "{}", lines.buffer.capacity());
        feed(&mut lines, b"xxx\nnext\n");
        assert_eq!(all(&mut lines), ["next"]);
    }

    #[test]
    fn the_longest_line_is_still_a_line() {
        let mut lines = Lines::new(4);
        feed(&mut lines, b"1234\n1234\r\n12345\n");
        assert_eq!(all(&mut lines), ["1234", "1234", "TOO LONG"]);
    }
}
