//! Writes a match as PDN.

use super::super::Options;
use super::super::board::{Board, Colour};
use super::super::moves::Move;
use super::{GAME_TYPE, Score};
use crate::collection::{MoveLines, write_place};
use referee_game::notation::tag;
use referee_game::{Sheet, Wrong};

/// Appends a match and an empty line. Data without a PDN equivalent, such as clocks, is only in the record.
pub(super) fn game(sheet: &Sheet, out: &mut String) -> Result<(), Wrong> {
    let options: Options = serde_json::from_str(sheet.options.get())?;
    let score = match sheet.ranks.as_deref() {
        None => Score::Open,
        Some([black, white]) if black < white => Score::Won(Colour::Black),
        Some([black, white]) if black > white => Score::Won(Colour::White),
        Some(_) => Score::Draw,
    };
    let name = |seat: Colour| sheet.names.get(seat.seat().index()).map_or("?", String::as_str);
    write_place(sheet, out);
    tag(out, "Black", name(Colour::Black));
    tag(out, "White", name(Colour::White));
    tag(out, "Result", score.text());
    tag(out, "GameType", GAME_TYPE);
    if options.fen != Board::default() {
        tag(out, "SetUp", "1");
        tag(out, "FEN", &options.fen.to_string());
    }
    tag(out, "Termination", &sheet.ended);
    out.push('\n');
    moves(options.fen, &sheet.moves, score, out)?;
    out.push_str("\n\n");
    Ok(())
}

fn moves(mut board: Board, moves: &[String], score: Score, out: &mut String) -> Result<(), Wrong> {
    let mut line = MoveLines::new(out);
    let mut legal = Vec::new();
    for (ply, text) in moves.iter().enumerate() {
        // The first two moves have number 1, also if White begins: some programs read `1... 23-19 2. 12-16` as three moves.
        let place = if ply % 2 == 0 { format!("{}. ", ply / 2 + 1) } else { String::new() };
        let mv: Move = text.parse().map_err(|why: Wrong| Wrong::at(format!("`{text}`"), why))?;
        legal.clear();
        board.legal_moves(&mut legal);
        if !legal.contains(&mv) {
            return Err(format!("`{text}` is not legal in {board}").into());
        }
        line.add(&(place + &shortest(mv, &legal)));
        board.play(mv);
    }
    line.add(score.text());
    Ok(())
}

/// The text of a capture: its first and last square, or all squares if another capture shares these.
fn shortest(mv: Move, legal: &[Move]) -> String {
    let [from, to] = mv.ends();
    if mv.is_capture() && legal.iter().filter(|other| other.ends() == mv.ends()).count() == 1 {
        format!("{}x{}", from + 1, to + 1)
    } else {
        mv.to_string()
    }
}
