//! Checks a collection, game by game.

use super::super::board::Board;
use super::super::moves::Move;
use super::super::openings::start;
use super::scan::{Piece, Scanner, WrittenMove, no_part_of_a_game};
use super::{ENGLISH, Score};
use crate::collection::excerpt;
use referee_game::{CheckedGame, Flaw, GivenOpening, Validity, Wrong};

/// Maximum number of legal moves listed in an error.
const NAMED: usize = 8;

/// Maximum number of readings of a game with ambiguous captures.
const READINGS: usize = 64;

/// Iterates over the games of a collection and checks them lazily.
pub(super) struct Games<'a> {
    scanner: Scanner<'a>,
    /// The number of the current game, counted from 1.
    number: usize,
    /// The line on which it begins.
    line: usize,
    start: Board,
    /// The moves read so far; those of `lines` while an ambiguous capture leaves several readings.
    plies: usize,
    /// The possible readings of the moves so far: one, unless a capture is ambiguous.
    lines: Vec<Line>,
    /// The first capture that is still ambiguous.
    ambiguous: Option<Flaw>,
    remarks: Vec<Flaw>,
    legal: Vec<Move>,
}

/// A reading of the moves of a game; an ambiguous text has several.
#[derive(Clone)]
struct Line {
    board: Board,
    moves: Vec<Move>,
}

/// The relevant tags of a game. If a tag occurs twice, the last one counts.
#[derive(Default)]
struct Tags {
    any: bool,
    event: bool,
    game_type: Option<Located<Vec<u8>>>,
    fen: Option<Located<Vec<u8>>>,
    result: Option<Located<Vec<u8>>>,
    /// The error of the first invalid tag.
    bad: Option<Located<String>>,
}

/// A game that is not valid.
enum BadGame {
    /// The tag `GameType` is that of other draughts.
    Skipped(Flaw),
    Wrong(Flaw),
}

/// The tags of a game, and the result that ends it.
type TagsAndEnd = (Tags, Option<Located<Score>>);

struct Located<T> {
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
            plies: 0,
            lines: Vec::new(),
            ambiguous: None,
            remarks: Vec::new(),
            legal: Vec::new(),
        }
    }

    fn flaw(&self, line: usize, what: String) -> Flaw {
        Flaw { game: self.number, ply: self.plies, line, what }
    }

    fn wrong(&self, line: usize, what: String) -> BadGame {
        BadGame::Wrong(self.flaw(line, what))
    }

    /// Reads the next game, up to and including its result, without judging that. `None` after the last one.
    fn read(&mut self) -> Option<Result<TagsAndEnd, BadGame>> {
        let before = self.scanner;
        if matches!(self.scanner.next(), Piece::End) {
            return None;
        }
        self.line = self.scanner.cursor.line;
        self.scanner = before;
        self.number += 1;
        self.plies = 0;
        self.lines.clear();
        self.ambiguous = None;
        self.remarks.clear();
        let read = self.tags_and_moves().inspect_err(|verdict| match verdict {
            // Results and signs do not reliably delimit games of another type: only a tag begins the next game.
            BadGame::Skipped(_) => self.scanner.cursor.skip_to_tag(),
            BadGame::Wrong(_) => self.skip_game(),
        });
        Some(read.and_then(|(tags, end)| {
            if let Some(ambiguous) = self.ambiguous.take() {
                return Err(BadGame::Wrong(ambiguous));
            }
            if !tags.any && self.plies == 0 {
                let what = "a result without a game: neither tags nor moves stand before it".to_owned();
                return Err(self.wrong(self.scanner.cursor.line, what));
            }
            Ok((tags, end))
        }))
    }

    fn tags_and_moves(&mut self) -> Result<TagsAndEnd, BadGame> {
        let tags = self.tags();
        self.start = self.begin(&tags)?;
        self.lines.push(Line { board: self.start, moves: Vec::new() });
        let end = self.moves()?;
        Ok((tags, end))
    }

    fn tags(&mut self) -> Tags {
        let mut tags = Tags::default();
        loop {
            let before = self.scanner;
            match self.scanner.next() {
                // A game without moves and result: the next game begins here. Within a header, the tag is a duplicate.
                Piece::Tag { name: b"Event", .. } if tags.event && self.scanner.after_empty_line => {
                    self.scanner = before;
                    return tags;
                }
                Piece::Tag { name, value } => {
                    tags.any = true;
                    let value = Some(Located { value, line: self.scanner.cursor.line });
                    match name {
                        b"Event" => tags.event = true,
                        b"GameType" => tags.game_type = value,
                        b"FEN" => tags.fen = value,
                        b"Result" => tags.result = value,
                        _ => {}
                    }
                }
                Piece::BadTag(value) => {
                    tags.bad.get_or_insert(Located { value, line: self.scanner.cursor.line });
                }
                Piece::Move(_) | Piece::Result(_) | Piece::Word(_) | Piece::Bad(_) | Piece::End => {
                    self.scanner = before;
                    return tags;
                }
            }
        }
    }

    /// The start position given by the tags.
    fn begin(&self, tags: &Tags) -> Result<Board, BadGame> {
        if let Some(Located { value, line }) = &tags.game_type {
            let number = value.split(|&byte| byte == b',').next().unwrap_or_default().trim_ascii();
            if !number.is_empty() && number != ENGLISH.as_bytes() {
                let what = format!("game type {}; {ENGLISH} is English draughts", excerpt(value));
                return Err(BadGame::Skipped(self.flaw(*line, what)));
            }
        }
        if let Some(Located { value, line }) = &tags.bad {
            return Err(self.wrong(*line, value.clone()));
        }
        let Some(Located { value, line }) = &tags.fen else { return Ok(Board::default()) };
        if value.trim_ascii().is_empty() {
            return Ok(Board::default());
        }
        String::from_utf8_lossy(value).parse().map_err(|error| self.wrong(*line, format!("{error}")))
    }

    /// Plays the moves. Returns the result that ends them, if any.
    fn moves(&mut self) -> Result<Option<Located<Score>>, BadGame> {
        loop {
            let before = self.scanner;
            let piece = self.scanner.next();
            let line = self.scanner.cursor.line;
            match piece {
                Piece::Move(written) => self.play(&written)?,
                Piece::Result(value) => return Ok(Some(Located { value, line })),
                Piece::Word(text) if self.plies == 0 => {
                    return Err(self.wrong(line, no_part_of_a_game(text)));
                }
                Piece::Word(text) => {
                    let what = format!("`{}` is text outside a comment", excerpt(text));
                    self.remarks.push(self.flaw(line, what));
                }
                Piece::Bad(what) | Piece::BadTag(what) => {
                    return Err(self.wrong(line, what));
                }
                Piece::Tag { .. } => {
                    self.scanner = before;
                    return Ok(None);
                }
                Piece::End => return Ok(None),
            }
        }
    }

    /// Plays a move in every reading in which it is legal. An ambiguous capture adds readings, which later moves may
    /// rule out.
    fn play(&mut self, written: &WrittenMove<'_>) -> Result<(), BadGame> {
        let before = std::mem::take(&mut self.lines);
        let (mut refuted, mut error) = (Vec::new(), None);
        let mut first = None;
        for line in before {
            self.legal.clear();
            line.board.legal_moves(&mut self.legal);
            match find(written, &line.board, &self.legal) {
                Ok(readings) => {
                    first.get_or_insert(readings[0]);
                    self.extend(line, &readings);
                }
                Err(what) => {
                    refuted.push(line);
                    error.get_or_insert(what);
                }
            }
        }
        let Some(first) = first else {
            self.lines = refuted;
            let mut what = error.map(|error| error.to_string()).unwrap_or_default();
            if let Some(Flaw { ply, .. }) = self.ambiguous {
                what += &format!(", whichever capture was meant at ply {ply}");
            }
            what += &self.other_variant(written).unwrap_or_default();
            return Err(BadGame::Wrong(Flaw {
                ply: self.plies + 1,
                ..self.flaw(self.scanner.cursor.line, what)
            }));
        };
        self.plies += 1;
        self.remark_separator(written, first);
        match (self.lines.len(), &mut self.ambiguous) {
            (1, ambiguous) => {
                if let Some(mut settled) = ambiguous.take() {
                    settled.what += "; the moves that follow settle it";
                    self.remarks.push(settled);
                }
            }
            (2..=READINGS, Some(_)) => {}
            (2..=READINGS, None) => {
                let readings: Vec<Move> =
                    self.lines.iter().filter_map(|line| line.moves.last().copied()).collect();
                let what =
                    format!("`{}` is ambiguous: it may be {}", excerpt(written.text), named(&readings));
                self.ambiguous = Some(self.flaw(self.scanner.cursor.line, what));
            }
            _ => {
                let what = format!("`{}` is one ambiguous capture too many", excerpt(written.text));
                return Err(self.wrong(self.scanner.cursor.line, what));
            }
        }
        Ok(())
    }

    /// The reason to think that a game with this illegal move is not English draughts.
    fn other_variant(&self, written: &WrittenMove<'_>) -> Option<String> {
        let mut scanner = self.scanner;
        let rest = std::iter::from_fn(|| match scanner.next() {
            Piece::Move(written) => Some(written.foreign_square()),
            Piece::Word(_) | Piece::Bad(_) => Some(None),
            Piece::Tag { .. } | Piece::BadTag(_) | Piece::Result(_) | Piece::End => None,
        });
        if let Some(square) = written.foreign_square().or_else(|| rest.flatten().next()) {
            return Some(format!(
                "; it seems to be a game on another board, since this one has 32 squares and no {square}: 10x10 \
                 draughts is [GameType \"20\"]"
            ));
        }
        if self.plies > 0 || self.start != Board::default() {
            return None;
        }
        let board: Board = "W:W21-32:B1-12".parse().ok()?;
        let mut legal = Vec::new();
        board.legal_moves(&mut legal);
        find(written, &board, &legal).is_ok().then(|| {
            "; White may: it seems to be a game of another variant, in which White begins, or to lack a FEN tag"
                .to_owned()
        })
    }

    /// Adds the continuations of a reading. Readings that lead to the same position are merged.
    fn extend(&mut self, line: Line, readings: &[Move]) {
        let (last, others) = readings.split_last().expect("a move that was found has a reading");
        let clones = others.iter().map(|&mv| (line.clone(), mv));
        for (mut line, mv) in clones.collect::<Vec<_>>().into_iter().chain([(line, *last)]) {
            line.board.play(mv);
            line.moves.push(mv);
            if self.lines.iter().all(|other| other.board != line.board) {
                self.lines.push(line);
            }
        }
    }

    fn remark_separator(&mut self, written: &WrittenMove<'_>, mv: Move) {
        if mv.is_capture() != written.captures {
            let (kind, sign) = if mv.is_capture() { ("capture", 'x') } else { ("step", '-') };
            let what = format!("`{}` is a {kind}, which is written with `{sign}`", excerpt(written.text));
            self.remarks.push(self.flaw(self.scanner.cursor.line, what));
        }
    }

    /// The first `plies` moves of the game, if they were read and all readings have them in common.
    fn beginning(&self, plies: usize) -> Option<&[Move]> {
        let mut readings = self.lines.iter().map(|line| line.moves.get(..plies));
        let first = readings.next()??;
        readings.all(|moves| moves == Some(first)).then_some(first)
    }

    /// Skips to the start of the next game.
    fn skip_game(&mut self) {
        loop {
            let before = self.scanner;
            match self.scanner.next() {
                Piece::Result(_) | Piece::End => return,
                Piece::Tag { .. } => {
                    self.scanner = before;
                    return;
                }
                Piece::Move(_) | Piece::Word(_) | Piece::Bad(_) | Piece::BadTag(_) => {}
            }
        }
    }

    /// Compares the results with each other, and with the position if it ends the game. `*` agrees with every
    /// result, because it is also used as a mere separator.
    fn judge(&self, tags: Tags, end: Option<Located<Score>>) -> Result<(), BadGame> {
        let tag = match tags.result {
            None => None,
            Some(Located { value, line }) => {
                let read = Score::read(value.trim_ascii());
                let value = read.ok_or_else(|| {
                    let what = format!(
                        "`{}` is no result: one is 1-0 (Black won), 0-1, 1/2-1/2 or *",
                        excerpt(&value)
                    );
                    self.wrong(line, what)
                })?;
                Some(Located { value, line })
            }
        };
        let says = |said: &Located<Score>| said.value != Score::Open;
        let (tag, end) = (tag.filter(says), end.filter(says));
        if let (Some(tag), Some(end)) = (&tag, &end)
            && tag.value != end.value
        {
            let what = format!("the moves end with {}, but the Result tag says {}", end.value, tag.value);
            return Err(self.wrong(end.line, what));
        }
        let board = self.lines[0].board;
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
    type Item = CheckedGame;

    fn next(&mut self) -> Option<CheckedGame> {
        let verdict = self.read()?.and_then(|(tags, end)| self.judge(tags, end));
        let verdict = match verdict {
            Ok(()) => Validity::Sound,
            Err(BadGame::Skipped(flaw)) => Validity::Skipped(flaw),
            Err(BadGame::Wrong(flaw)) => Validity::Wrong(flaw),
        };
        Some(CheckedGame { plies: self.plies, remarks: std::mem::take(&mut self.remarks), verdict })
    }
}

/// Reads a collection as openings: each game is one, regardless of its result. If they are cut after some plies, what
/// follows may be invalid.
pub(in super::super) fn openings(
    collection: &[u8],
    plies: Option<usize>,
) -> impl Iterator<Item = Result<GivenOpening, Flaw>> {
    let mut games = Games::new(collection);
    std::iter::from_fn(move || {
        let read = games.read()?;
        let moves = match (read, plies) {
            (Ok(_), plies) => {
                let moves = &games.lines[0].moves;
                &moves[..plies.unwrap_or(moves.len()).min(moves.len())]
            }
            // Report skipped games: a silently skipped opening would be missing without notice.
            (Err(BadGame::Skipped(flaw) | BadGame::Wrong(flaw)), plies) => {
                match plies.and_then(|plies| games.beginning(plies)) {
                    Some(moves) => moves,
                    None => return Some(Err(flaw)),
                }
            }
        };
        Some(Ok(GivenOpening {
            game: games.number,
            line: games.line,
            options: start(&games.start),
            moves: moves.iter().map(ToString::to_string).collect(),
        }))
    })
}

/// The legal moves that a text may denote, at least one.
///
/// A capture may list all squares, the first and the last, or these and some between. The separator is ignored: if a
/// capture is possible, no step is legal, so a wrong separator is unambiguous.
fn find(written: &WrittenMove<'_>, board: &Board, legal: &[Move]) -> Result<Vec<Move>, Wrong> {
    let text = excerpt(written.text);
    let squares = written.squares().unwrap_or_default();
    let fits = |mv: &&Move| {
        let mut path = mv.squares().map(u32::from);
        let ends = mv.ends().map(|index| index + 1);
        squares.len() > 1
            && [squares[0], squares[squares.len() - 1]] == ends
            && squares.iter().all(|&square| path.any(|visited| visited == square))
    };
    let is_whole = |mv: &&Move| mv.squares().map(u32::from).eq(squares.iter().copied());
    if let Some(&mv) = legal.iter().find(is_whole) {
        return Ok(vec![mv]);
    }
    let fitting: Vec<Move> = legal.iter().filter(fits).copied().collect();
    if !fitting.is_empty() {
        Ok(fitting)
    } else if legal.is_empty() {
        Err(format!("`{text}` comes after the end: {} has no move", board.to_move()).into())
    } else {
        Err(format!(
            "`{text}` is not legal for {to_move}, who may play {legal}",
            to_move = board.to_move(),
            legal = named(legal)
        )
        .into())
    }
}

/// Lists the first few moves.
fn named(moves: &[Move]) -> String {
    let mut texts: Vec<String> = moves.iter().map(ToString::to_string).collect();
    texts.sort();
    let more = texts.len().saturating_sub(NAMED);
    texts.truncate(NAMED);
    let more = if more > 0 { format!(" or {more} more") } else { String::new() };
    texts.join(", ") + &more
}
