//! Splits a byte stream into lines of bounded length.

use std::io;

use memchr::{memchr, memchr_iter};

/// Bytes requested per read: initial and maximum. The size doubles while reads fill the buffer.
const READ: std::ops::RangeInclusive<usize> = 1024..=64 * 1024;

/// Ignored at the start of a stream.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// A line without its line break.
#[derive(Debug, PartialEq, Eq)]
pub enum Line<'a> {
    Text(&'a [u8]),
    /// A line longer than the limit. Its bytes were discarded.
    TooLong,
}

/// Buffers for streams that are about to be read. Most streams have no input most of the time, and need none.
#[derive(Debug, Default)]
pub struct ReadBuffers(Vec<Vec<u8>>);

/// The maximum number of spare buffers.
const SPARE: usize = 64;

/// Buffers bytes and splits them into lines. Memory is bounded: an overlong line is discarded as soon as a read
/// takes it past the limit.
#[derive(Debug)]
pub struct Lines {
    /// Received bytes up to `end`, then zeroed space for further reads.
    buffer: Vec<u8>,
    end: usize,
    /// The start of the next line.
    start: usize,
    /// The end of the part without a line break, which begins at `start`.
    scanned: usize,
    /// Whether the rest of an overlong line is being discarded, and how many bytes of it have been so far.
    skipping: bool,
    skipped: usize,
    /// Whether no line has been returned yet.
    fresh: bool,
    longest: usize,
    read: usize,
}

impl Lines {
    /// Creates a buffer for lines of at most `longest` bytes, without the line break.
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

    /// Calls `read` once. Returns the number of bytes read and whether more may be available immediately.
    ///
    /// # Errors
    /// Errors of `read`.
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

    /// Takes a spare buffer, unless it has one.
    pub fn take_buffer(&mut self, spare: &mut ReadBuffers) {
        if self.buffer.is_empty()
            && let Some(buffer) = spare.0.pop()
        {
            self.buffer = buffer;
        }
    }

    /// Gives back the buffer, unless it holds bytes.
    pub fn return_buffer(&mut self, spare: &mut ReadBuffers) {
        let buffer = self.free_buffer();
        if !buffer.is_empty() && buffer.len() <= *READ.end() && spare.0.len() < SPARE {
            spare.0.push(buffer);
        }
    }

    /// Takes the buffer, unless it holds bytes.
    pub fn free_buffer(&mut self) -> Vec<u8> {
        if self.start < self.end {
            return Vec::new();
        }
        (self.start, self.end, self.scanned) = (0, 0, 0);
        std::mem::take(&mut self.buffer)
    }

    /// Bytes discarded so far of an overlong line that has not ended yet.
    pub fn skipped(&self) -> usize {
        self.skipped
    }

    /// Number of received bytes that have not been returned as lines.
    pub fn held(&self) -> usize {
        self.end - self.start
    }

    /// Received bytes that have not been returned as lines.
    pub fn pending(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// Number of received lines that have not been returned.
    pub fn complete(&self) -> usize {
        memchr_iter(b'\n', self.pending()).count()
    }

    /// The number of bytes at the start of the next line that may not count: a byte order mark.
    fn most_ignored(&self) -> usize {
        if self.fresh { BYTE_ORDER_MARK.len() } else { 0 }
    }

    fn compact(&mut self) {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.scanned -= self.start;
        self.start = 0;
        // Free the memory of a burst once the stream is quiet again.
        if self.end == 0 && self.buffer.len() > 2 * *READ.end() {
            self.buffer = Vec::new();
            self.read = *READ.start();
        }
    }

    /// Returns the next complete line.
    pub fn next_line(&mut self) -> Option<Line<'_>> {
        loop {
            let Some(offset) = memchr(b'\n', &self.buffer[self.scanned..self.end]) else {
                self.scanned = self.end;
                if self.skipping {
                    self.skipped += self.scanned - self.start;
                    self.start = self.scanned;
                } else if self.scanned - self.start > self.longest + 1 + self.most_ignored() {
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
                line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line);
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
    fn lines_do_not_depend_on_split_into_reads() {
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
    fn byte_order_mark_does_not_count_however_line_arrives() {
        for chunk in [1, 100] {
            let mut lines = Lines::new(4);
            let mut got = Vec::new();
            for part in "\u{feff}1234\r\n\u{feff}12\n".as_bytes().chunks(chunk) {
                feed(&mut lines, part);
                got.extend(all(&mut lines));
            }
            assert_eq!(got, ["1234", "TOO LONG"]);
        }
    }

    #[test]
    fn only_streams_with_input_keep_a_buffer() {
        let mut spare = ReadBuffers::default();
        let mut streams = [Lines::new(10), Lines::new(10)];
        for (bytes, whole, spares) in [("one\n", vec!["one"], 1), ("two\nthr", vec!["two"], 0)] {
            for lines in &mut streams {
                lines.take_buffer(&mut spare);
                feed(lines, bytes.as_bytes());
                assert_eq!(all(lines), whole);
                lines.return_buffer(&mut spare);
            }
            assert_eq!(spare.0.len(), spares);
        }
        for lines in &mut streams {
            feed(lines, b"ee\n");
            assert_eq!(all(lines), ["three"]);
        }
    }

    #[test]
    fn an_overlong_line_is_reported_once_and_discarded() {
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
    fn a_line_of_exactly_the_limit_is_accepted() {
        let mut lines = Lines::new(4);
        feed(&mut lines, b"1234\n1234\r\n12345\n");
        assert_eq!(all(&mut lines), ["1234", "1234", "TOO LONG"]);
    }
}
