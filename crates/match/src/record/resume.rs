//! Continues a match from the lines that its record has so far.

use referee_game::chance::Seed;
use referee_game::seat::Seat;
use referee_game::{Catalog, Viewer, Wrong, hex};

use crate::record::RecordLine;
use crate::record::line::{check_format, read_header};
use crate::record::replay::{open_match, other_line};
use crate::{Event, Header, Match, Stamp, Wants};

/// A match that repeats the lines of its record, then continues.
#[derive(Debug)]
pub struct Resume {
    play: Match,
    /// Up to which position of its log the match has been compared with the record.
    compared: usize,
}

impl Resume {
    /// Opens the match of this first line, with the wanted parts of messages by seat, and events for `watched`.
    ///
    /// # Errors
    /// When the line is not the set-up of a match with this seed and salt.
    pub fn open(
        first: &[u8],
        secrets: impl FnOnce(&Header) -> (Seed, [u8; 32]),
        wants: Vec<Wants>,
        watched: Option<Viewer>,
        catalog: &Catalog,
    ) -> Result<Resume, Wrong> {
        let header = read_header(first)?;
        check_format(&header)?;
        if header.seats.len() != wants.len() {
            return Err(Wrong::new("a seat has no bot"));
        }
        let (seed, salt) = secrets(&header);
        if hex::encode(&seed.commitment(&salt)) != header.commitment {
            return Err(Wrong::new("the match has another seed"));
        }
        let play = open_match(header, seed, salt, wants, watched, None, catalog)?;
        let mut resume = Resume { play, compared: 0 };
        resume.compare(first)?;
        Ok(resume)
    }

    /// Repeats a line.
    ///
    /// # Errors
    /// When the match writes something else.
    pub fn line(&mut self, text: &[u8]) -> Result<(), Wrong> {
        if self.compared == self.play.log().len() {
            RecordLine::read(text)?.repeat(&mut self.play);
        }
        self.compare(text)
    }

    /// Repeats that another connection of a bot continued the match.
    pub fn seat(&mut self, seat: Seat, wants: Wants) {
        let stamp = Stamp { at: self.play.now(), lag: 0 };
        self.play.handle(stamp, Event::Resumed { seat, wants });
    }

    fn compare(&mut self, text: &[u8]) -> Result<(), Wrong> {
        let mut written = Vec::new();
        let next = self.play.log().line_at(self.compared, &mut written);
        self.compared = next.filter(|_| written == text).ok_or_else(|| other_line(text, &written))?;
        Ok(())
    }

    /// The match, and up to which position of its log it was repeated. The rest are consequences of the last line.
    pub fn into_match(self) -> (Match, usize) {
        (self.play, self.compared)
    }
}
