//! Results, endings and faults in words, for readers who know no codes.

use referee_game::{Meta, counted};
use referee_protocol::words::{EndedBy, FaultCode};
use referee_stats::amounts::MeanAmount;

use crate::interval::plain_zero;

/// A fault in a few words: `timed out`.
pub fn fault_in_words(code: FaultCode) -> &'static str {
    match code {
        FaultCode::IllegalMove => "illegal move",
        FaultCode::Malformed => "malformed message",
        FaultCode::LineTooLong => "message too long",
        FaultCode::Timeout => "timed out",
        FaultCode::NoStart => "did not start",
        FaultCode::Disconnected => "connection lost",
        FaultCode::Exited => "program ended",
        FaultCode::Stalled => "stopped reading",
        FaultCode::Protocol => "too many messages",
        FaultCode::NoLegalMove => "found no legal move",
        FaultCode::Unavailable => "could not be reached",
    }
}

/// A fault as what a bot did: `Ann did not answer in time`.
fn fault_of(code: FaultCode) -> &'static str {
    match code {
        FaultCode::IllegalMove => "made an illegal move",
        FaultCode::Malformed => "sent a malformed message",
        FaultCode::LineTooLong => "sent a message that is too long",
        FaultCode::Timeout => "did not answer in time",
        FaultCode::NoStart => "did not start in time",
        FaultCode::Disconnected => "lost the connection",
        FaultCode::Exited => "ended its program during the match",
        FaultCode::Stalled => "stopped reading its messages",
        FaultCode::Protocol => "sent too many messages out of turn",
        FaultCode::NoLegalMove => "found no legal move",
        FaultCode::Unavailable => "said that its source of moves cannot be reached",
    }
}

/// The words for a code that has none of its own.
pub(crate) fn plain(code: &str) -> String {
    code.replace('_', " ")
}

/// The code of a fault in words: `timed out`.
pub fn fault_code_in_words(code: &str) -> String {
    FaultCode::find(code).map_or_else(|| plain(code), |fault| fault_in_words(fault).to_owned())
}

/// The text of a note in a list of events, with words for the code with which it begins, after this.
pub(crate) fn note_in_words(text: &str, before: &str) -> String {
    let Some(rest) = text.strip_prefix(before) else { return text.to_owned() };
    let end = rest.find([',', ':', ' ']).unwrap_or(rest.len());
    let (code, more) = rest.split_at(end);
    format!("{before}{}{}", fault_code_in_words(code), in_seconds(more))
}

/// A text in which times of a second and more, such as `31000 ms`, are in seconds.
fn in_seconds(text: &str) -> String {
    let mut words: Vec<String> = text.split(' ').map(str::to_owned).collect();
    for at in 1..words.len() {
        let Ok(ms @ 1000..) = words[at - 1].parse::<u64>() else { continue };
        let is_unit = words[at].trim_end_matches([',', ';', ':', '.', ')']) == "ms";
        if is_unit {
            words[at - 1] = (ms as f64 / 1000.0).to_string();
            words[at].remove(0);
        }
    }
    words.join(" ")
}

/// The cause of the end of a match, in a few words: `no pieces left`. `ended_by` may be a word that results store and the protocol does
/// not have, such as `cut_off`.
pub fn ending_in_words(game: Option<&Meta>, ended_by: &str, reason: &str) -> String {
    let by = EndedBy::find(ended_by);
    match by {
        Some(EndedBy::Rules) => game.map_or_else(|| plain(reason), |game| game.reason_in_words(reason)),
        Some(EndedBy::Agreement) => "agreement".to_owned(),
        Some(EndedBy::Resignation) => "resignation".to_owned(),
        Some(EndedBy::Fault) => fault_code_in_words(reason),
        Some(EndedBy::TurnLimit) => "turn limit".to_owned(),
        Some(EndedBy::Adjudication) => match reason {
            "max_moves" => "adjudication: most moves".to_owned(),
            _ => format!("adjudication: {}", plain(reason)),
        },
        Some(EndedBy::Aborted) | None => {
            let what = plain(ended_by);
            if reason.is_empty() || reason == ended_by { what } else { format!("{what}: {}", plain(reason)) }
        }
    }
}

/// An amount with its sign and at most three decimals: `+2.5`.
pub(crate) fn amount(amount: f64) -> String {
    let text = format!("{:+.3}", plain_zero(amount, 3));
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// The amounts of seats: `+2, -2 chips`.
pub(crate) fn amounts_in_words(amounts: &[f64], unit: &str) -> String {
    let each: Vec<String> = amounts.iter().map(|&of| amount(of)).collect();
    format!("{} {unit}", each.join(", "))
}

/// A mean amount with its 95% interval, as far as it is known: `+0.12 [-0.03, +0.27]`.
pub(crate) fn mean_amount(MeanAmount { mean, low, high, .. }: MeanAmount) -> String {
    let interval = low.zip(high).map(|(low, high)| format!(" [{}, {}]", amount(low), amount(high)));
    amount(mean) + &interval.unwrap_or_default()
}

/// Names of one side: `Ann`, `Ann and Bob`.
fn joined(names: &[&str]) -> String {
    match names {
        [] => "no side".to_owned(),
        [name] => (*name).to_owned(),
        [names @ .., last] => format!("{} and {last}", names.join(", ")),
    }
}

/// A match that has ended, of which sentences are made.
#[derive(Clone, Copy, Debug)]
pub struct ToldMatch<'a> {
    /// The game, if it is known.
    pub game: Option<&'a Meta>,
    pub names: &'a [&'a str],
    /// The ranks of the seats; `None` without a result.
    pub ranks: Option<&'a [u8]>,
    pub ended_by: &'a str,
    pub reason: &'a str,
    /// The seats that made a fault that ended it.
    pub forfeited: &'a [u8],
    /// The number of moves.
    pub moves: u32,
}

impl<'a> ToldMatch<'a> {
    /// The different names of the seats for which this holds.
    fn named(&self, holds: impl Fn(usize) -> bool) -> Vec<&'a str> {
        let mut names: Vec<&str> = Vec::new();
        for (seat, &name) in self.names.iter().enumerate() {
            if holds(seat) && !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    fn winners(&self) -> Vec<&'a str> {
        let ranks = self.ranks.unwrap_or_default();
        self.named(|seat| ranks.get(seat) == Some(&1))
    }

    fn losers(&self) -> Vec<&'a str> {
        let ranks = self.ranks.unwrap_or_default();
        self.named(|seat| ranks.get(seat).is_some_and(|&rank| rank > 1))
    }

    /// The result without the number of moves: `Ann beat Bob`.
    pub fn result(&self) -> String {
        let (winners, losers) = (self.winners(), self.losers());
        match (self.ranks, losers.is_empty()) {
            (None, _) => {
                let sides = self.named(|_| true).join(" – ");
                let how = match self.ended_by {
                    "cut_off" => "was interrupted",
                    "void" => "does not count",
                    _ => "was broken off",
                };
                format!("{sides} {how}")
            }
            (Some(_), true) => format!("{} drew", joined(&winners)),
            (Some(_), false) => format!("{} beat {}", joined(&winners), joined(&losers)),
        }
    }

    /// The result and its cause: `Ann beat Bob: no pieces left`.
    pub fn outcome(&self) -> String {
        match (self.ranks, ending_in_words(self.game, self.ended_by, self.reason)) {
            (Some(_), why) => format!("{}: {why}", self.result()),
            (None, why) => why,
        }
    }

    /// The result as a sentence without its full stop: `Ann beat Bob in 80 moves`.
    pub fn heading(&self) -> String {
        let moves = counted(self.moves, "move", "moves");
        match self.ranks {
            None => self.result(),
            Some(_) if self.losers().is_empty() => format!("{} after {moves}", self.result()),
            Some(_) => format!("{} in {moves}", self.result()),
        }
    }

    /// The reason why it ended like this, as a sentence.
    pub fn why(&self) -> String {
        let (winners, losers) = (joined(&self.winners()), joined(&self.losers()));
        let by = EndedBy::find(self.ended_by);
        match by {
            Some(EndedBy::Rules) => match self.game.and_then(|game| game.reason(self.reason)) {
                Some(known) => known.sentence.replace("{winner}", &winners).replace("{loser}", &losers),
                None => format!("By the rules of the game: {}.", plain(self.reason)),
            },
            Some(EndedBy::Agreement) => "The sides agreed on a draw.".to_owned(),
            Some(EndedBy::Resignation) => format!("{losers} resigned."),
            Some(EndedBy::Fault) => {
                let at_fault = self.named(|seat| self.forfeited.contains(&(seat as u8)));
                let who = if at_fault.is_empty() { losers } else { joined(&at_fault) };
                match FaultCode::find(self.reason) {
                    Some(code) => format!("{who} {}, and lost by this fault.", fault_of(code)),
                    None => format!("{who} lost by a fault: {}.", plain(self.reason)),
                }
            }
            Some(EndedBy::TurnLimit) => "The match reached its turn limit.".to_owned(),
            Some(EndedBy::Adjudication) => match self.reason {
                "resign" => format!("The referee ended it: by the scores stated, {losers} had lost."),
                "draw" => "The referee ended it: by the scores stated, it was a draw.".to_owned(),
                "max_moves" => "The referee ended it as a draw after the most moves.".to_owned(),
                _ if losers.is_empty() => {
                    "The referee ended it: by tables of endgames, it was a draw.".to_owned()
                }
                _ => format!("The referee ended it: by tables of endgames, {losers} had lost."),
            },
            Some(EndedBy::Aborted) | None => {
                format!("It has no result: {}.", ending_in_words(self.game, self.ended_by, self.reason))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_told_in_seconds() {
        let told = |text: &str| note_in_words(text, "");
        assert_eq!(
            told("timeout: no answer within 31000 ms; is it on?"),
            "timed out: no answer within 31 s; is it on?"
        );
        assert_eq!(
            told("timeout, answered after 1250 ms, limit 200 ms"),
            "timed out, answered after 1.25 s, limit 200 ms"
        );
    }

    fn ended<'a>(ranks: &'a [u8], ended_by: &'a str, reason: &'a str) -> ToldMatch<'a> {
        ToldMatch {
            game: None,
            names: &["ann", "bob"],
            ranks: Some(ranks),
            ended_by,
            reason,
            forfeited: &[],
            moves: 80,
        }
    }

    #[test]
    fn a_match_is_told_in_sentences() {
        let catalog = referee_games::catalog();
        let game = catalog.find("checkers").map(|rules| rules.meta()).ok();
        let by_rules = ToldMatch { game, ..ended(&[1, 2], "rules", "no_pieces") };
        assert_eq!(by_rules.heading(), "ann beat bob in 80 moves");
        assert_eq!(by_rules.why(), "ann captured the last piece of bob.");
        assert_eq!(ended(&[1, 1], "agreement", "agreement").heading(), "ann and bob drew after 80 moves");
        let late = ToldMatch { forfeited: &[1], ..ended(&[1, 2], "fault", "timeout") };
        assert_eq!(late.why(), "bob did not answer in time, and lost by this fault.");
        assert_eq!(ending_in_words(game, "rules", "quiet_plies"), "no progress");
        assert_eq!(ending_in_words(None, "rules", "last_stick"), "last stick");
        assert_eq!(ending_in_words(game, "cut_off", ""), "cut off");
    }

    #[test]
    fn every_fault_has_words_without_underscores() {
        for &code in FaultCode::ALL {
            assert!(!fault_in_words(code).contains('_') && !fault_of(code).contains('_'), "{code}");
        }
    }
}
