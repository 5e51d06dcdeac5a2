//! Writes a match as PGN.

use cozy_chess::Color;
use cozy_chess::util::display_san_move;
use referee_protocol::referee::Clock;
use serde::Deserialize;

use super::super::{Fen, Move, Options, Variant, on_board, seat};
use super::Score;
use crate::collection::{MoveLines, write_place};
use referee_game::notation::{MoveNote, tag};
use referee_game::{Seat, Sheet, Wrong};

/// Appends a match and an empty line. Data without a PGN equivalent, such as faults and options, is only in the record.
pub(super) fn game(sheet: &Sheet, out: &mut String) -> Result<(), Wrong> {
    let options: Options = serde_json::from_str(sheet.options.get())?;
    let score = match sheet.ranks.as_deref() {
        None => Score::Open,
        Some([white, black]) if white < black => Score::Won(Color::White),
        Some([white, black]) if white > black => Score::Won(Color::Black),
        Some(_) => Score::Draw,
    };
    let player = |color: Color| sheet.names.get(seat(color).index()).map_or("?", String::as_str);
    write_place(sheet, out);
    tag(out, "White", player(Color::White));
    tag(out, "Black", player(Color::Black));
    tag(out, "Result", score.text());
    let is_usual = options.variant == Variant::Standard;
    if !is_usual {
        tag(out, "Variant", "Chess960");
    }
    if !is_usual || options.fen != Fen::default() {
        tag(out, "SetUp", "1");
        tag(out, "FEN", &options.fen.to_string());
    }
    tag(out, "PlyCount", &sheet.moves.len().to_string());
    tag(out, "Termination", termination(&sheet.ended));
    match sheet.clocks[..] {
        [white, black] if white == black => time_control(out, "TimeControl", white),
        [white, black] => {
            time_control(out, "WhiteTimeControl", white);
            time_control(out, "BlackTimeControl", black);
        }
        _ => {}
    }
    out.push('\n');
    moves(options.fen, sheet, score, out)?;
    out.push_str("\n\n");
    Ok(())
}

/// The word of PGN's standard for the end of the match, and `illegal move`, which the standard does not have: Cute Chess and
/// fastchess write it, and what reads their files looks for it.
fn termination(ended: &str) -> &'static str {
    match ended {
        "fault (timeout)" | "fault (no_start)" => "time forfeit",
        "fault (disconnected)" | "fault (exited)" | "fault (stalled)" => "abandoned",
        "fault (illegal_move)" => "illegal move",
        ended if ended.starts_with("adjudication") => "adjudication",
        ended if ended.starts_with("aborted") => "unterminated",
        ended if ended.starts_with("fault") => "rules infraction",
        _ => "normal",
    }
}

/// Appends a clock in seconds, as other programs for matches do: `10+0.1`, `-` without a limit, `2/move`. There is no text for a
/// delay beside a bank.
fn time_control(out: &mut String, name: &str, clock: Option<Clock>) {
    let seconds = |ms: u64| ms as f64 / 1e3;
    let text = match clock {
        None => "-".to_owned(),
        Some(Clock { delay_ms, bank_ms: 0, increment_ms: 0 }) => format!("{}/move", seconds(delay_ms)),
        Some(Clock { delay_ms: 0, bank_ms, increment_ms: 0 }) => seconds(bank_ms).to_string(),
        Some(Clock { delay_ms: 0, bank_ms, increment_ms }) => {
            format!("{}+{}", seconds(bank_ms), seconds(increment_ms))
        }
        Some(_) => return,
    };
    tag(out, name, &text);
}

fn moves(start: Fen, sheet: &Sheet, score: Score, out: &mut String) -> Result<(), Wrong> {
    let mut line = MoveLines::new(out);
    let Fen { mut board, .. } = start;
    let mut after_comment = true;
    let mut notes = sheet.notes.iter();
    for text in &sheet.moves {
        let mv: Move = text.parse().map_err(|why: Wrong| Wrong::at(format!("`{text}`"), why))?;
        let legal = Some(on_board(&board, mv)).filter(|mv| board.is_legal(*mv));
        let Some(mv) = legal else {
            let position = Fen { board, quiet_plies: 0 };
            return Err(format!("`{text}` is not legal in {position}").into());
        };
        let mover = board.side_to_move();
        // Black's move has a number if something stands between it and White's.
        match mover {
            Color::White => line.add(&format!("{}.", board.fullmove_number())),
            Color::Black if after_comment => line.add(&format!("{}...", board.fullmove_number())),
            Color::Black => {}
        }
        line.add(&display_san_move(&board, mv).to_string());
        let comment = notes.next().and_then(|note| comment(note, seat(mover)));
        after_comment = comment.is_some();
        // A comment may be broken between its words.
        comment.iter().flat_map(|comment| comment.split(' ')).for_each(|word| line.add(word));
        board.play_unchecked(mv);
    }
    if board.status() != cozy_chess::GameStatus::Won || score != Score::Won(!board.side_to_move()) {
        format!("{{{}}}", sheet.ended.replace('}', "")).split(' ').for_each(|word| line.add(word));
    }
    line.add(score.text());
    Ok(())
}

/// The comment of a bot on its move, as engines' programs write it: `{+0.34/18 1.200s}`, which is the score in pawns for the
/// mover, the depth, and the time; `+M3` is a mate in three moves. Without score or depth it is the time alone.
fn comment(note: &MoveNote, mover: Seat) -> Option<String> {
    #[derive(Deserialize)]
    struct Info {
        /// Centipawns.
        score: f64,
        score_side: Option<u8>,
        depth: u32,
        /// Moves until mate.
        mate: Option<i64>,
    }
    let seconds = format!("{:.3}s", note.took_us? as f64 / 1e6);
    let info = note.info.as_ref().and_then(|info| serde_json::from_str::<Info>(info.get()).ok());
    Some(match info {
        None => format!("{{{seconds}}}"),
        Some(Info { score, score_side, depth, mate }) => {
            let score = if score_side.is_none_or(|side| side == mover.0) { score } else { -score };
            let score = match mate {
                Some(moves) => format!("{}M{}", if score < 0.0 { '-' } else { '+' }, moves.unsigned_abs()),
                None => format!("{:+.2}", score / 100.0),
            };
            format!("{{{score}/{depth} {seconds}}}")
        }
    })
}
