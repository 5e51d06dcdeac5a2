//! Words of bots on their searches, shown some moves late.

use std::collections::VecDeque;

use referee_game::Seat;
use referee_match::GivenInfo;
use serde::Serialize;

use super::match_replay::info_words;

/// Words of a bot on its search at a move that was shown earlier: the number of moves of that step, the seat, and the words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LateNote(pub u32, pub Seat, pub String);

/// Holds back the `info` of bots until enough moves have followed.
#[derive(Debug)]
pub struct LateInfo {
    delay: u32,
    waiting: VecDeque<LateNote>,
}

impl LateInfo {
    /// Holds `info` back for this number of moves.
    pub fn new(delay: u32) -> LateInfo {
        LateInfo { delay, waiting: VecDeque::new() }
    }

    /// Adds the `info` of the step after this number of moves.
    pub fn add(&mut self, moves: u32, infos: &[GivenInfo]) {
        let words = |given: &GivenInfo| Some(LateNote(moves, given.seat, info_words(&given.info)?));
        self.waiting.extend(infos.iter().filter_map(words));
    }

    /// Returns the notes that may be shown after this number of moves, the earliest first; each note is returned once.
    pub fn due(&mut self, moves: u32) -> Vec<LateNote> {
        let is_due = |note: &&LateNote| note.0.saturating_add(self.delay) <= moves;
        let count = self.waiting.iter().take_while(is_due).count();
        self.waiting.drain(..count).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn note_is_due_once_and_only_after_so_many_moves() {
        let said = |info: &str| [GivenInfo { seat: Seat(1), info: info.to_owned() }];
        let mut late = LateInfo::new(2);
        late.add(1, &said(r#"{"depth":3}"#));
        late.add(2, &said(r#"{"unknown":[1]}"#));
        late.add(2, &said(r#"{"text":"winning"}"#));
        assert_eq!(late.due(2), []);
        assert_eq!(late.due(3), [LateNote(1, Seat(1), "depth 3".to_owned())]);
        assert_eq!(late.due(3), []);
        assert_eq!(late.due(9), [LateNote(2, Seat(1), "winning".to_owned())]);
    }
}
