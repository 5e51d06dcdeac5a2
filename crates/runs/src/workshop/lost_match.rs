//! A match as a lesson: the board before the mistake, what followed, and what the bot said.

use std::fmt::Write as _;

use referee_game::printable::printable;
use referee_game::{Catalog, Seat, Viewer};
use referee_match::record::{Difference, Playback};
use referee_report::Scoresheet;
use referee_report::replay::MatchReplay;

/// The number of moves shown before and after the mistake.
const BEFORE: u32 = 2;
const AFTER: u32 = 4;
/// The number of lines of standard error that are shown at most, from the end.
const LINES: usize = 100;

/// A recorded match as a seat saw it. The decisive moment of its page is the mistake: the fault that ended
/// it, or the fall of the bots' expectations. Without one, the last moves are shown.
pub(super) fn explain(record: &[u8], seat: Seat, catalog: &Catalog) -> Result<String, Difference> {
    let replay = MatchReplay::of(Playback::open(record, catalog)?)?;
    let mut playback = Playback::open(record, catalog)?;
    let header = playback.setup().header.clone();
    let (viewer, mut steps) = (Viewer::Seat(seat), Vec::new());
    let mut sheet = Scoresheet::new(viewer, false);
    while let Some(step) = playback.step()? {
        let mut text = Vec::new();
        // Writing to memory cannot fail.
        let _ = sheet.step(&mut text, &header, &step);
        steps.push((step.moves, String::from_utf8_lossy(&text).into_owned()));
    }
    let last = steps.last().map_or(0, |(moves, _)| *moves);
    let (from, to, why) = match replay.moment() {
        Some((moves, text)) => (moves.saturating_sub(BEFORE), moves + AFTER, text.to_owned()),
        None => (
            last.saturating_sub(BEFORE + AFTER),
            last,
            "Nothing in the record says where the mistake was: a bot that sends `score` in the `info` of its moves lets this be \
             found. The last moves:"
                .to_owned(),
        ),
    };
    let names: Vec<&str> = header.seats.iter().map(|seat| seat.name.as_str()).collect();
    let mut out = format!(
        "{} {}: {}; the bot has seat {seat}\n{}. {}\n{why}\n\n",
        header.r#match,
        header.game,
        names.join(" - "),
        replay.heading(),
        replay.why(),
    );
    for (_, text) in steps.iter().filter(|(moves, _)| (from..=to).contains(moves)) {
        out.push_str(text);
    }
    let said = playback.bots().bots.iter().find(|bot| bot.seat == seat).map_or("", |bot| &bot.stderr);
    let lines: Vec<&str> = said.lines().collect();
    let _ = match lines.len() {
        0 => writeln!(out, "\nThe bot wrote nothing to standard error."),
        count => writeln!(out, "\nThe last of {count} lines of its standard error:"),
    };
    for line in &lines[lines.len().saturating_sub(LINES)..] {
        let _ = writeln!(out, "  {}", printable(line));
    }
    Ok(out)
}
