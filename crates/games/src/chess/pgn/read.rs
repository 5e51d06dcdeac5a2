//! Reads a collection, game by game.

use cozy_chess::Board;
use cozy_chess::util::{display_san_move, parse_san_move};

use super::super::openings::start;
use super::super::{Fen, Move, Variant, name, on_board, spelled};
use super::Score;
use super::scan::{Scanner, Token};
use crate::collection::{Cursor, excerpt};
use referee_game::{CheckedGame, Flaw, GivenOpening, Validity};

/// Maximum number of legal moves listed in an error.
const NAMED: usize = 8;

/// Iterates over the games of a collection.
pub(super) struct Games<'a> {
    scanner: Scanner<'a>,
    number: usize,
}

/// A game as far as it could be read.
pub(super) struct Game {
    number: usize,
    /// The line on which it begins.
    line: usize,
    start: Fen,
    variant: Variant,
    board: Board,
    moves: Vec<cozy_chess::Move>,
    remarks: Vec<Flaw>,
    /// The result of its tags and the result after its moves, each with its line.
    results: [Option<(Score, usize)>; 2],
    verdict: Validity,
}

/// The tags that matter, each with its line. If one occurs twice, the last one counts.
#[derive(Default)]
struct Tags {
    any: bool,
    event: bool,
    variant: Option<(Vec<u8>, usize)>,
    fen: Option<(Vec<u8>, usize)>,
    result: Option<(Vec<u8>, usize)>,
}

impl<'a> Games<'a> {
    pub(super) fn new(text: &'a [u8]) -> Games<'a> {
        Games { scanner: Scanner(Cursor::new(text)), number: 0 }
    }

    /// Skips to the start of the next game.
    fn skip_game(&mut self) {
        loop {
            let before = self.scanner;
            match self.scanner.next() {
                Token::Result(_) | Token::End => return,
                Token::Tag { .. } => {
                    self.scanner = before;
                    return;
                }
                Token::Word(_) | Token::Bad(_) => {}
            }
        }
    }

    /// Reads the tags before the moves. Returns the error of the first invalid one.
    fn tags(&mut self, tags: &mut Tags) -> Result<(), (String, usize)> {
        loop {
            let before = self.scanner;
            match self.scanner.next() {
                // A game without moves and result: the next game begins here.
                Token::Tag { name: b"Event", .. } if tags.event => {
                    self.scanner = before;
                    return Ok(());
                }
                Token::Tag { name, value } => {
                    tags.any = true;
                    let value = Some((value, self.scanner.0.line));
                    match name {
                        b"Event" => tags.event = true,
                        b"Variant" => tags.variant = value,
                        b"FEN" => tags.fen = value,
                        b"Result" => tags.result = value,
                        _ => {}
                    }
                }
                Token::Bad(what) => return Err((what, self.scanner.0.line)),
                Token::Word(_) | Token::Result(_) | Token::End => {
                    self.scanner = before;
                    return Ok(());
                }
            }
        }
    }
}

impl Iterator for Games<'_> {
    type Item = Game;

    fn next(&mut self) -> Option<Game> {
        let mut ahead = self.scanner;
        if matches!(ahead.next(), Token::End) {
            return None;
        }
        self.number += 1;
        let line = ahead.0.line;
        let mut tags = Tags::default();
        let read = self.tags(&mut tags);
        let mut game = Game {
            number: self.number,
            line,
            start: Fen::default(),
            variant: Variant::Standard,
            board: Board::startpos(),
            moves: Vec::new(),
            remarks: Vec::new(),
            results: [None; 2],
            verdict: Validity::Sound,
        };
        let end = read.map_err(|(what, line)| game.wrong(line, what));
        game.verdict = match end.and_then(|()| game.begin(&tags)).and_then(|()| game.read_moves(self)) {
            Ok(()) if !tags.any && game.moves.is_empty() => {
                game.wrong(line, "a result without a game: neither tags nor moves stand before it".to_owned())
            }
            Ok(()) => Validity::Sound,
            Err(verdict) => {
                match verdict {
                    // Results do not reliably delimit games of another variant: only a tag begins the next game.
                    Validity::Skipped(_) => self.scanner.0.skip_to_tag(),
                    _ => self.skip_game(),
                }
                verdict
            }
        };
        Some(game)
    }
}

impl Game {
    fn flaw(&self, line: usize, what: String) -> Flaw {
        Flaw { game: self.number, ply: self.moves.len(), line, what }
    }

    fn wrong(&self, line: usize, what: String) -> Validity {
        Validity::Wrong(self.flaw(line, what))
    }

    /// Sets up the start position that the tags give.
    fn begin(&mut self, tags: &Tags) -> Result<(), Validity> {
        if let Some((value, line)) = &tags.variant {
            let word: String =
                String::from_utf8_lossy(value).to_ascii_lowercase().replace([' ', '-', '_'], "");
            self.variant = match &*word {
                "" | "chess" | "standard" | "normal" | "fromposition" => Variant::Standard,
                "chess960" | "960" | "fischerandom" | "fischerrandom" | "fischerrandomchess"
                | "fullchess960" => Variant::Chess960,
                _ => {
                    let what =
                        format!("variant {}; those of this game are Standard and Chess960", excerpt(value));
                    return Err(Validity::Skipped(self.flaw(*line, what)));
                }
            };
        }
        if let Some((value, line)) = &tags.result
            && !matches!(&**value, b"" | b"?")
        {
            let score = Score::read(value.trim_ascii()).ok_or_else(|| {
                let what = format!("`{}` is no result: one is 1-0, 0-1, 1/2-1/2 or *", excerpt(value));
                self.wrong(*line, what)
            })?;
            self.results[0] = Some((score, *line));
        }
        if let Some((value, line)) = &tags.fen
            && !value.trim_ascii().is_empty()
        {
            let fen = String::from_utf8_lossy(value).parse::<Fen>();
            self.start = fen.map_err(|error| self.wrong(*line, error.to_string()))?;
            if self.start.needs_chess960() {
                self.variant = Variant::Chess960;
            }
            self.board = self.start.board.clone();
        }
        Ok(())
    }

    /// Plays the moves, up to and including the result.
    fn read_moves(&mut self, games: &mut Games<'_>) -> Result<(), Validity> {
        loop {
            let before = games.scanner;
            let token = games.scanner.next();
            let line = games.scanner.0.line;
            match token {
                Token::Word(b"e.p." | b"ep") => {}
                Token::Word(text) => self.play(text, line)?,
                Token::Result(score) => {
                    self.results[1] = Some((score, line));
                    return Ok(());
                }
                Token::Bad(what) => return Err(self.wrong(line, what)),
                Token::Tag { .. } => {
                    games.scanner = before;
                    return Ok(());
                }
                Token::End => return Ok(()),
            }
        }
    }

    fn play(&mut self, text: &[u8], line: usize) -> Result<(), Validity> {
        let word = String::from_utf8_lossy(text);
        let bare = word.trim_end_matches(['!', '?']);
        let mv = read_move(&self.board, bare).ok_or_else(|| {
            let Flaw { game, ply, line, what } = self.flaw(line, self.illegal(text));
            Validity::Wrong(Flaw { game, ply: ply + 1, line, what })
        })?;
        let usual = display_san_move(&self.board, mv).to_string();
        self.board.play_unchecked(mv);
        self.moves.push(mv);
        if bare != usual {
            self.remarks.push(self.flaw(line, format!("`{}` is written `{usual}`", excerpt(text))));
        }
        Ok(())
    }

    /// The reason why a text is not a move in the position.
    fn illegal(&self, text: &[u8]) -> String {
        let mut legal = Vec::new();
        self.board.generate_moves(|moves| {
            legal.extend(moves.into_iter().map(|mv| display_san_move(&self.board, mv).to_string()));
            false
        });
        legal.sort();
        let (text, mover) = (excerpt(text), name(self.board.side_to_move()));
        let more = legal.len().saturating_sub(NAMED);
        legal.truncate(NAMED);
        match (legal.is_empty(), more) {
            (true, _) => format!("`{text}` comes after the end: {mover} has no move"),
            (false, 0) => {
                format!("`{text}` is no legal move of {mover}, or an ambiguous one: {}", legal.join(", "))
            }
            (false, more) => {
                format!(
                    "`{text}` is no legal move of {mover}, or an ambiguous one: {} or {more} more",
                    legal.join(", ")
                )
            }
        }
    }

    /// Compares the results with each other, and with the position if it ends the game. `*` agrees with every result,
    /// because it is also used as a mere separator.
    pub(super) fn judged(self) -> CheckedGame {
        let [tag, end] = self.results.map(|result| result.filter(|(score, _)| *score != Score::Open));
        let is_over = !self.board.generate_moves(|_| true);
        let right = match (is_over, self.board.checkers().is_empty()) {
            (false, _) => None,
            (true, true) => Some((Score::Draw, "stalemate")),
            (true, false) => Some((Score::Won(!self.board.side_to_move()), "checkmate")),
        };
        let verdict = match (&self.verdict, tag, end, right) {
            (Validity::Sound, Some((tag, _)), Some((end, line)), _) if tag != end => {
                let what =
                    format!("the moves end with {}, but the Result tag says {}", end.text(), tag.text());
                self.wrong(line, what)
            }
            (Validity::Sound, tag, end, Some((right, why))) => match tag.or(end) {
                Some((said, line)) if said != right => self.wrong(
                    line,
                    format!("the game ends with {why}: that is {}, not {}", right.text(), said.text()),
                ),
                _ => Validity::Sound,
            },
            _ => self.verdict,
        };
        CheckedGame { plies: self.moves.len(), remarks: self.remarks, verdict }
    }

    /// The game as an opening. If it is cut after some plies, what follows may be invalid.
    fn opening(self, plies: Option<usize>) -> Result<GivenOpening, Flaw> {
        let (number, line) = (self.number, self.line);
        let cut = match (self.verdict, plies) {
            (Validity::Sound, plies) => plies.unwrap_or(usize::MAX).min(self.moves.len()),
            (Validity::Wrong(_), Some(plies)) if plies <= self.moves.len() => plies,
            // Skipped games are reported: a silently skipped opening would be missing without notice.
            (Validity::Skipped(flaw) | Validity::Wrong(flaw), _) => return Err(flaw),
        };
        let mut board = self.start.board.clone();
        let spell = |&mv: &cozy_chess::Move| {
            let text = spelled(&board, mv, self.variant).to_string();
            board.play_unchecked(mv);
            text
        };
        let moves = self.moves[..cut].iter().map(spell).collect();
        let mut options = start(&self.start);
        options.insert("variant".to_owned(), serde_json::json!(self.variant));
        Ok(GivenOpening { game: number, line, options, moves })
    }
}

/// Reads a move in SAN or long algebraic notation. Accepts zeros in castling, signs of captures and checks that are
/// missing or superfluous, and promotions such as `e8Q`.
fn read_move(board: &Board, text: &str) -> Option<cozy_chess::Move> {
    let text = text.trim_end_matches("e.p.");
    let castling = text.trim_end_matches(['+', '#']).replace('0', "O");
    let san = match &*castling {
        "O-O" | "O-O-O" => castling,
        _ => text.chars().filter(|char| !"+#-x:=".contains(*char)).collect(),
    };
    parse_san_move(board, &san).ok().or_else(|| {
        // Moves such as g1f3 have no letter for a piece.
        let mv: Move = san.parse().ok()?;
        Some(on_board(board, mv)).filter(|mv| board.is_legal(*mv))
    })
}

/// Reads a collection as openings: each game is one, regardless of its result.
pub(in super::super) fn openings(collection: &[u8], plies: Option<usize>) -> Vec<Result<GivenOpening, Flaw>> {
    Games::new(collection).map(|game| game.opening(plies)).collect()
}
