//! The causes of faults, for people.

use std::fmt::Write as _;

use referee_game::printable::printable;
use referee_results::{Evidence, FirstFaults};

use crate::words::fault_in_words;

/// The first fault of each bot and code, a line each, indented, with active characters escaped; standard error follows
/// line by line. `is_shown` selects the faults.
pub fn evidence_lines(faults: &FirstFaults, is_shown: impl Fn(&Evidence) -> bool) -> Vec<String> {
    let shown = faults.iter().filter(|(.., evidence)| is_shown(evidence));
    shown.flat_map(|(bot, id, evidence)| lines(bot, id, evidence)).collect()
}

fn lines(bot: &str, id: &str, evidence: &Evidence) -> Vec<String> {
    let Evidence { code, detail, refused_move, line, stderr, .. } = evidence;
    let mut text = format!("  {bot} in {id}: {}", fault_in_words(*code));
    // Writing to a string cannot fail.
    if let Some(detail) = detail {
        let _ = write!(text, "; {detail}");
    }
    if let Some(refused_move) = refused_move {
        let _ = write!(text, "; the move is `{refused_move}`");
    }
    if let Some(line) = line {
        let _ = write!(text, "; the line is `{line}`");
    }
    if stderr.is_some() {
        text += "; its standard error ends with:";
    }
    let first = printable(&text).into_owned();
    let rest = stderr.iter().flat_map(|stderr| stderr.lines());
    let rest = rest.map(|line| format!("    {}", printable(line)));
    std::iter::once(first).chain(rest).collect()
}
