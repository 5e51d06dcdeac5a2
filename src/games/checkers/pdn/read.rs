//! Checking a collection, game by game.

use super::super::board::Board;
use super::super::moves::Move;
use super::super::openings::start;
use super::scan::{Piece, Scanner, Written, excerpt};
use super::{ENGLISH, Score};
use crate::core::{Checked, Flaw, GivenOpening, Verdict};

/// The legal moves that an error names at most.
const NAMED: usize = 8;

/// The games of a collection, checked as they are asked for.
pub(super) struct Games<'a> {
    scanner: Scanner<'a>,
    /// Of the game that is being checked, counted from 1.
    number: usize,
    /// The line that it begins in.
    line: usize,
    start: Board,
    moves: Vec<Move>,
    legal: Vec<Move>,
}

/// The tags of a game that matter. Where one stands twice the last counts.
#[derive(Default)]
struct Tags {
    any: bool,
    event: bool,
    game_type: Option<Placed<Vec<u8>>>,
    fen: Option<Placed<Vec<u8>>>,
    result: Option<Placed<Vec<u8>>>,
}

/// Something that was read, and its line.
struct Placed<T> {
    value: T,
    line: usize,
}

impl<'a> Games<'a> {
    pub(super) fn new(text: &'a [u8]) -> Games<'a> {
        Games {
            scanner: Scanner::new(text),
            number: 0,
            line: 0,
            start: Board::default(),
            moves: Vec::new(),
            legal: Vec::new(),
        }
    }

    fn flaw(&self, line: usize, what: String) -> Flaw {
        Flaw { game: self.number, ply: self.moves.len(), line, what }
    }

    fn wrong(&self, line: usize, what: String) -> Verdict {
        Verdict::Wrong(self.flaw(line, what))
    }

    fn game(&mut self) -> Result<(), Verdict> {
        let (tags, end, board) = match self.read() {
            Ok(read) => read,
            Err(verdict) => {
                match verdict {
                    // Another game may have other results and signs: only a tag surely begins the next.
                    Verdict::Skipped(_) => self.scanner.skip_to_tag(),
                    Verdict::Wrong(_) | Verdict::Sound => self.skip_game(),
                }
                return Err(verdict);
            }
        };
        self.judge(&board, tags, end)
    }

    /// Reads tags and moves, up to and with the result. Returns that and the last position.
    fn read(&mut self) -> Result<(Tags, Option<Placed<Score>>, Board), Verdict> {
        let tags = self.tags()?;
        self.start = self.begin(&tags)?;
        let mut board = self.start;
        let end = self.moves(&mut board)?;
        Ok((tags, end, board))
    }

    fn tags(&mut self) -> Result<Tags, Verdict> {
        let mut tags = Tags::default();
        loop {
            let before = self.scanner;
            match self.scanner.next() {
                // A game without moves and result: here begins the next.
                Piece::Tag { name: b"Event", .. } if tags.event => {
                    self.scanner = before;
                    return Ok(tags);
                }
                Piece::Tag { name, value } => {
                    tags.any = true;
                    let value = Some(Placed { value, line: self.scanner.line });
                    match name {
                        b"Event" => tags.event = true,
                        b"GameType" => tags.game_type = value,
                        b"FEN" => tags.fen = value,
                        b"Result" => tags.result = value,
                        _ => {}
                    }
                }
                Piece::Bad { what, line } => return Err(self.wrong(line, what)),
                Piece::Move(_) | Piece::Result(_) | Piece::End => {
                    self.scanner = before;
                    return Ok(tags);
                }
            }
        }
    }

    /// The position that the tags describe.
    fn begin(&self, tags: &Tags) -> Result<Board, Verdict> {
        if let Some(Placed { value, line }) = &tags.game_type {
            let number = value.split(|&byte| byte == b',').next().unwrap_or_default().trim_ascii();
            if !number.is_empty() && number != ENGLISH.as_bytes() {
                let what = format!("game type {}; {ENGLISH} is English draughts", excerpt(value));
                return Err(Verdict::Skipped(self.flaw(*line, what)));
            }
        }
        let Some(Placed { value, line }) = &tags.fen else { return Ok(Board::default()) };
        let fen: String =
            String::from_utf8_lossy(value).chars().filter(|char| !char.is_ascii_whitespace()).collect();
        if fen.is_empty() {
            return Ok(Board::default());
        }
        fen.parse().map_err(|error| self.wrong(*line, format!("{error}")))
    }

    /// Plays the moves. Returns the result that ends them, if one does.
    fn moves(&mut self, board: &mut Board) -> Result<Option<Placed<Score>>, Verdict> {
        loop {
            let before = self.scanner;
            match self.scanner.next() {
                Piece::Move(written) => {
                    self.legal.clear();
                    board.legal_moves(&mut self.legal);
                    let mv = find(&written, board, &self.legal).map_err(|what| {
                        let ply = self.moves.len() + 1;
                        Verdict::Wrong(Flaw { ply, ..self.flaw(written.line, what) })
                    })?;
                    board.play(mv);
                    self.moves.push(mv);
                }
                Piece::Result(value) => return Ok(Some(Placed { value, line: self.scanner.line })),
                Piece::Bad { what, line } => return Err(self.wrong(line, what)),
                Piece::Tag { .. } => {
                    self.scanner = before;
                    return Ok(None);
                }
                Piece::End => return Ok(None),
            }
        }
    }

    /// Goes to where the next game begins.
    fn skip_game(&mut self) {
        loop {
            let before = self.scanner;
            match self.scanner.next() {
                Piece::Result(_) | Piece::End => return,
                Piece::Tag { .. } => {
                    self.scanner = before;
                    return;
                }
                Piece::Move(_) | Piece::Bad { .. } => {}
            }
        }
    }

    /// Compares the results with each other, and with the position where that ends the game. A star says nothing and
    /// agrees with everything: it also merely separates games.
    fn judge(&self, board: &Board, tags: Tags, end: Option<Placed<Score>>) -> Result<(), Verdict> {
        if !tags.any && self.moves.is_empty() {
            let what = "a result without a game: neither tags nor moves stand before it".to_owned();
            return Err(self.wrong(self.scanner.line, what));
        }
        let tag = match tags.result {
            None => None,
            Some(Placed { value, line }) => {
                let read = Score::read(value.trim_ascii());
                let value = read.ok_or_else(|| {
                    let what = format!(
                        "`{}` is no result: one is 1-0 (Black won), 0-1, 1/2-1/2 or *",
                        excerpt(&value)
                    );
                    self.wrong(line, what)
                })?;
                Some(Placed { value, line })
            }
        };
        let says = |said: &Placed<Score>| said.value != Score::Open;
        let (tag, end) = (tag.filter(says), end.filter(says));
        if let (Some(tag), Some(end)) = (&tag, &end)
            && tag.value != end.value
        {
            let what = format!("the moves end with {}, but the Result tag says {}", end.value, tag.value);
            return Err(self.wrong(end.line, what));
        }
        if board.can_move() {
            return Ok(());
        }
        let loser = board.to_move();
        let right = Score::Won(loser.other());
        match tag.or(end) {
            Some(said) if said.value != right => {
                let what = format!("{loser} has no move left and lost: that is {right}, not {}", said.value);
                Err(self.wrong(said.line, what))
            }
            _ => Ok(()),
        }
    }
}

impl Iterator for Games<'_> {
    type Item = Checked;

    fn next(&mut self) -> Option<Checked> {
        let before = self.scanner;
        if matches!(self.scanner.next(), Piece::End) {
            return None;
        }
        self.line = self.scanner.line;
        self.scanner = before;
        self.number += 1;
        self.moves.clear();
        let verdict = self.game().err().unwrap_or(Verdict::Sound);
        Some(Checked { plies: self.moves.len(), verdict })
    }
}

/// Reads a collection as openings: each game is one, whatever came of it.
pub(in super::super) fn openings(collection: &[u8]) -> impl Iterator<Item = Result<GivenOpening, Flaw>> {
    let mut games = Games::new(collection);
    std::iter::from_fn(move || match games.next()?.verdict {
        Verdict::Sound => Some(Ok(GivenOpening {
            game: games.number,
            line: games.line,
            options: start(&games.start),
            moves: games.moves.iter().map(ToString::to_string).collect(),
        })),
        // A game that is passed over in silence would be missed in every set.
        Verdict::Skipped(flaw) | Verdict::Wrong(flaw) => Some(Err(flaw)),
    })
}

/// Finds the legal move that is meant.
///
/// A capture may name all squares, the first and the last, or these and some between, as long as all captures that fit
/// lead to one position. A step may not be written as a capture; but `-` stands for a capture too, as long as that is
/// clear, for many files write it so and nothing else could be meant: who can capture may not step.
fn find(written: &Written<'_>, board: &Board, legal: &[Move]) -> Result<Move, String> {
    let text = excerpt(written.text);
    let squares = written.squares().unwrap_or_default();
    let fits = |mv: &&Move| {
        let mut path = mv.squares().map(u32::from);
        let ends = [mv.first() + 1, mv.last() + 1];
        (mv.is_capture() || !written.captures)
            && squares.len() > 1
            && [squares[0], squares[squares.len() - 1]] == ends
            && squares.iter().all(|&square| path.any(|visited| visited == square))
    };
    let is_whole = |mv: &&Move| mv.squares().map(u32::from).eq(squares.iter().copied());
    let mut fitting: Vec<&Move> = legal.iter().filter(fits).collect();
    if let Some(&mv) = fitting.iter().find(|mv| is_whole(mv)) {
        fitting = vec![mv];
    }
    let after = |mv: &Move| {
        let mut board = *board;
        board.play(*mv);
        board
    };
    match fitting[..] {
        [] if legal.is_empty() => {
            Err(format!("`{text}` comes after the end: {} has no move", board.to_move()))
        }
        [] => Err(format!("`{text}` is not legal for {}, who may play {}", board.to_move(), named(legal))),
        [mv] => Ok(*mv),
        [first, ref others @ ..] if others.iter().all(|mv| after(mv) == after(first)) => Ok(*first),
        _ => {
            let fitting: Vec<Move> = fitting.into_iter().copied().collect();
            Err(format!("`{text}` is ambiguous: it may be {}", named(&fitting)))
        }
    }
}

/// The texts of moves, the first few of them.
fn named(moves: &[Move]) -> String {
    let mut texts: Vec<String> = moves.iter().map(ToString::to_string).collect();
    texts.sort();
    let more = texts.len().saturating_sub(NAMED);
    texts.truncate(NAMED);
    let more = if more > 0 { format!(" or {more} more") } else { String::new() };
    texts.join(", ") + &more
}
