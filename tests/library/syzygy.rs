//! The Syzygy tables of endgames with three pieces, beside what the rules of chess give by themselves.

use std::collections::BTreeMap;
use std::io::Cursor;
use std::path::Path;

use referee::files::TableFolder;
use referee::game::endgames::{Endgames, TableFile, TableFiles};
use referee::game::test_length::long_or;
use referee::game::{Game, Outcome, Seating};
use referee::games::chess::cozy_chess::{Board, BoardBuilder, Color, Piece, Square, get_king_moves};
use referee::games::chess::{Chess, Options};
use referee::runs::config::add_syzygy;

/// Tables in memory.
#[derive(Debug, Clone)]
struct Files(BTreeMap<String, Vec<u8>>);

impl TableFiles for Files {
    fn names(&self) -> Vec<String> {
        self.0.keys().cloned().collect()
    }

    fn open(&self, name: &str) -> std::io::Result<Box<dyn TableFile>> {
        Ok(Box::new(Cursor::new(self.0[name].clone())))
    }
}

fn fixture() -> Files {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/syzygy");
    let folder = TableFolder::open(&folder).expect("the fixture");
    let read = |name: String| {
        let mut bytes = Vec::new();
        folder.open(&name).expect("a file").read_to_end(&mut bytes).expect("its bytes");
        (name, bytes)
    };
    Files(folder.names().into_iter().filter(|name| name.ends_with(".rtbw")).map(read).collect())
}

#[test]
fn tables_are_opened_again_only_if_their_files_have_changed() {
    let folder = tempfile::tempdir().expect("a directory");
    for (name, bytes) in fixture().0 {
        std::fs::write(folder.path().join(name), bytes).expect("a file");
    }
    let opened = || {
        let mut catalog = referee::games::catalog();
        add_syzygy(&mut catalog, folder.path(), |key, _| key.to_owned()).expect("tables");
        catalog.find("chess").expect("chess")
    };
    let rules = opened();
    assert!(std::ptr::addr_eq(rules, opened()), "a file of a league that is read again adds nothing");
    std::fs::remove_file(folder.path().join("KBvK.rtbw")).expect("the file is there");
    assert!(!std::ptr::addr_eq(rules, opened()));
}

fn open(files: &Files) -> Result<&'static dyn Endgames<Chess>, String> {
    let open = Chess::ENDGAMES.expect("chess has tables");
    open(Box::new(files.clone())).map_err(|why| referee::game::Chain(&why).to_string())
}

fn start(fen: &str, draw_plies: u32) -> Chess {
    let turn_limit = if draw_plies == 0 { 1000 } else { 0 };
    let options = Options { fen: fen.parse().expect("a FEN"), draw_plies, turn_limit, ..Options::default() };
    Chess::start(&options, Seating::new(2, 2)).expect("a position")
}

/// The position of White's king and piece and Black's king.
fn board(squares: [usize; 3], piece: Piece, mover: Color) -> Option<Board> {
    let [king, other, black] = squares.map(Square::index);
    let mut builder = BoardBuilder::empty();
    builder.side_to_move = mover;
    *builder.square_mut(king) = Some((Piece::King, Color::White));
    *builder.square_mut(other) = Some((piece, Color::White));
    *builder.square_mut(black) = Some((Piece::King, Color::Black));
    let are_apart = other != king && other != black && king != black && !get_king_moves(king).has(black);
    are_apart.then(|| builder.build().ok()).flatten()
}

/// The number of a position with three pieces of this kind, or none if the piece was captured.
fn number(board: &Board, piece: Piece) -> Option<usize> {
    let at = board.colored_pieces(Color::White, piece).next_square()? as usize;
    let [white, black] = Color::ALL.map(|color| board.king(color) as usize);
    Some(((white * 64 + at) * 64 + black) * 2 + board.side_to_move() as usize)
}

/// Solves an endgame from the ends backwards: for each position whether White wins; none if it is not legal. `promoted` are the solved
/// endgames of pieces into which a pawn promotes.
fn solve(piece: Piece, promoted: &BTreeMap<Piece, Vec<Option<bool>>>) -> Vec<Option<bool>> {
    let mut wins = vec![None; 64 * 64 * 64 * 2];
    // Positions that may still be won: their numbers, who moves, and the positions that a move reaches.
    let mut open = Vec::new();
    for place in 0..64 * 64 * 64 {
        let squares = [place / 4096, place / 64 % 64, place % 64];
        for mover in Color::ALL {
            let Some(board) = board(squares, piece, mover) else { continue };
            let (mut reached, mut is_won, mut is_drawn, mut moves) = (Vec::new(), false, false, 0);
            board.generate_moves(|of_piece| {
                for mv in of_piece {
                    moves += 1;
                    let mut next = board.clone();
                    next.play_unchecked(mv);
                    match (number(&next, piece), mv.promotion) {
                        (Some(next), _) => reached.push(next as u32),
                        (None, Some(to)) => {
                            let at = number(&next, to).expect("the piece");
                            is_won |= promoted[&to][at] == Some(true);
                        }
                        // Black captures, and two kings are left.
                        (None, None) => is_drawn = true,
                    }
                }
                false
            });
            let at = number(&board, piece).expect("the piece");
            let is_mate = moves == 0 && !board.checkers().is_empty();
            wins[at] = Some(if mover == Color::White { is_won } else { is_mate });
            if wins[at] == Some(false) && moves > 0 && !is_drawn {
                open.push((at, mover, reached));
            }
        }
    }
    loop {
        let before = open.len();
        open.retain(|(at, mover, reached)| {
            let mut won = reached.iter().map(|&next| wins[next as usize] == Some(true));
            let is_won = if *mover == Color::White { won.any(|won| won) } else { won.all(|won| won) };
            if is_won {
                wins[*at] = Some(true);
            }
            !is_won
        });
        if open.len() == before {
            return wins;
        }
    }
}

/// The same position with the colours exchanged.
fn mirrored(board: &Board) -> Board {
    let mut builder = BoardBuilder::empty();
    builder.side_to_move = !board.side_to_move();
    for square in board.occupied() {
        let (piece, color) =
            (board.piece_on(square).expect("a piece"), board.color_on(square).expect("a color"));
        *builder.square_mut(square.flip_rank()) = Some((piece, !color));
    }
    builder.build().expect("a position")
}

#[test]
fn tables_agree_with_positions_solved_by_rules() {
    let tables = open(&fixture()).expect("tables");
    assert_eq!(tables.pieces(), 3);
    let mut solved = BTreeMap::new();
    for (piece, wins) in
        [(Piece::Knight, 0), (Piece::Bishop, 0), (Piece::Rook, 1), (Piece::Queen, 1), (Piece::Pawn, 1)]
    {
        let values = solve(piece, &solved);
        assert_eq!(u32::from(values.contains(&Some(true))), wins, "{piece}");
        for at in (0..values.len()).step_by(long_or(1, 41)) {
            let Some(is_won) = values[at] else { continue };
            let place = at / 2;
            let mover = if at % 2 == 0 { Color::White } else { Color::Black };
            let board = board([place / 4096, place / 64 % 64, place % 64], piece, mover).expect("a position");
            for (board, winner) in [(mirrored(&board), 1), (board, 0)] {
                let outcome =
                    if is_won { Outcome::win(winner, "tablebases") } else { Outcome::draw("tablebases") };
                let fen = board.to_string();
                assert_eq!(tables.outcome(&start(&fen, 100)), Some(outcome), "{fen}");
            }
        }
        solved.insert(piece, values);
    }
}

#[test]
fn tables_say_nothing_of_what_is_not_in_them() {
    let outcome = |fen: &str, draw_plies| open(&fixture()).expect("tables").outcome(&start(fen, draw_plies));
    let won = Some(Outcome::win(0, "tablebases"));
    // With a limit of fewer moves than the tables know, a win may come too late.
    let queen = "8/8/8/4k3/8/8/8/KQ6 w - - 0 1";
    assert_eq!([100, 0, 200, 99].map(|plies| outcome(queen, plies)), [won, won, won, None]);
    // A capture leads to a table that is there; the position itself has none.
    assert_eq!(outcome("8/8/8/4k3/8/8/1r6/KQ6 b - - 0 1", 100), None);
    // A queen that is captured at once is worth nothing; one that is not wins.
    assert_eq!(outcome("8/8/8/4k3/8/8/1q6/K7 w - - 0 1", 100), Some(Outcome::draw("tablebases")));
    assert_eq!(outcome("8/8/8/4k3/4q3/8/8/K7 w - - 0 1", 100), Some(Outcome::win(1, "tablebases")));
    let pieces = |fen: &str| start(fen, 100).endgame_pieces();
    assert_eq!(pieces(queen), Some(3));
    assert_eq!(pieces("8/8/8/4k3/8/8/8/KQ6 w - - 1 1"), None);
    assert_eq!(pieces("8/8/8/4k3/8/8/8/R3K3 w Q - 0 1"), None);
    assert_eq!(pieces("8/8/8/4k3/8/8/8/R3K3 w - - 0 1"), Some(3));
}

#[test]
fn damaged_tables_are_errors_that_name_the_file() {
    let files = fixture();
    for (name, bytes) in &files.0 {
        for length in (0..bytes.len()).step_by(if bytes.len() > 1000 { 97 } else { 1 }) {
            let mut cut = files.clone();
            cut.0.insert(name.clone(), bytes[..length].to_vec());
            let why = open(&cut).expect_err("a file that is cut off");
            assert!(why.starts_with(&format!("{name}: ")), "{length}: {why}");
        }
    }
    let none = open(&Files(BTreeMap::from([("notes.txt".to_owned(), Vec::new())]))).expect_err("no tables");
    assert!(none.contains("there are no Syzygy tables"), "{none}");
}

/// Whatever is in a file, it is an error, or a value.
#[test]
fn changed_bytes_of_tables_do_not_panic() {
    let files = fixture();
    let boards =
        ["8/8/8/4k3/8/8/1P6/K7 w - - 0 1", "8/5p2/8/4k3/8/8/8/K7 w - - 0 1", "8/8/8/4k3/8/8/8/KQ6 b - - 0 1"];
    let positions = boards.map(|fen| start(fen, 100));
    for name in ["KPvK.rtbw", "KQvK.rtbw"] {
        for at in (0..files.0[name].len()).step_by(long_or(5, 29)) {
            for by in [1, 0x80, 0xff] {
                let mut other = files.clone();
                other.0.get_mut(name).expect("the table")[at] ^= by;
                if let Ok(tables) = open(&other) {
                    for position in &positions {
                        tables.outcome(position);
                    }
                }
            }
        }
    }
}
