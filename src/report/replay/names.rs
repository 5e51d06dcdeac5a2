//! References of texts to what moves in their step: `8 t16` names a card and a square whose names the player knows.

use rustc_hash::FxHashMap;
use serde_json::Value;

use super::column::SEPARATOR;
use super::reel::Reel;
use super::shown::{Change, ThingState};

/// Stands for the first name of the step, the characters that follow for the others. Texts hardly ever contain these
/// characters (C1 controls).
const FIRST: char = '\u{80}';
/// Stands for [`SEPARATOR`].
const SEPARATES: char = '\u{9e}';
/// Stands for the character after it.
const LITERAL: char = '\u{9f}';

/// The most names of a step.
const NAMES: usize = SEPARATES as usize - FIRST as usize;

/// The number of lists that the texts of events may refer to; what follows them are the names of the step.
const LISTS: usize = 16;

/// The names that the texts of a step may refer to. Empty ones are not referred to.
pub(super) type Names<'a> = Vec<&'a str>;

/// The first text of a look.
fn text(look: &[Value]) -> &str {
    let text = look.iter().filter_map(Value::as_array).find(|part| part[0] == "t");
    text.and_then(|part| part.last()?.as_str()).unwrap_or_default()
}

/// The names of each step: of every thing that moves in the first view, in order, the text of the board where it was,
/// where it is, and its own text.
pub(super) fn of_steps(reel: &Reel) -> Vec<Names<'_>> {
    let (mut board, mut places) = (FxHashMap::default(), FxHashMap::default());
    let texts: Vec<&str> = reel.looks.iter().map(|look| text(look)).collect();
    let of_look = |look: u32| texts[look as usize];
    for Change { state, .. } in reel.steps.first().iter().flat_map(|step| &step.c) {
        if let &Some(ThingState { x, y, look, layer: 0, .. }) = state
            && !of_look(look).is_empty()
        {
            board.entry((x, y)).or_insert(of_look(look));
        }
    }
    let of_step = |changes: &[Change]| {
        let mut names = Vec::new();
        for change in changes {
            let Some(ThingState { x, y, look, views, .. }) = change.state else {
                places.remove(&change.thing);
                continue;
            };
            if views.mask & 1 == 0 {
                continue;
            }
            let before = places.insert(change.thing, (x, y));
            if change.has_moved {
                let at = |place: Option<(i16, i16)>| place.and_then(|place| board.get(&place)).copied();
                names.extend([
                    at(before).unwrap_or_default(),
                    at(Some((x, y))).unwrap_or_default(),
                    of_look(look),
                ]);
            }
        }
        names.truncate(NAMES);
        names
    };
    reel.steps.iter().map(|step| &step.c[..]).map(of_step).collect()
}

/// The character that stands for a name.
fn reference(names: &[&str], name: &str) -> Option<char> {
    let index = names.iter().position(|other| *other == name && !name.is_empty())?;
    char::from_u32(FIRST as u32 + index as u32)
}

/// A text with references instead of names: of whole words, or of the number at the end of a word.
pub(super) fn refer(text: &str, names: &[&str]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        let letters = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
        let digits = rest[letters..].find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len() - letters);
        let (word, after) = rest.split_at((letters + digits).max(next.len_utf8()));
        rest = after;
        let number = word.get(letters..).unwrap_or_default();
        if let Some(reference) = reference(names, word) {
            out.push(reference);
        } else if let Some(reference) = reference(names, number) {
            out.push_str(&word[..letters]);
            out.push(reference);
        } else if next == SEPARATOR {
            out.push(SEPARATES);
        } else {
            out.extend((FIRST..=LITERAL).contains(&next).then_some(LITERAL));
            out.push_str(word);
        }
    }
    out
}

/// The text of an event with references to lists of words as well, such as the cards of a hand, at the end of it or
/// before a semicolon. Returns how many of the lists precede those that events of later steps may refer to.
pub(super) fn refer_to_lists(text: &str, lists: &[String], names: &[&str]) -> (String, usize) {
    let lists = &lists[..lists.len().min(LISTS)];
    let names: Names<'_> = [""; LISTS].into_iter().chain(names.iter().copied()).take(NAMES).collect();
    let (mut out, mut used) = (String::with_capacity(text.len()), 0);
    for (index, part) in text.split("; ").enumerate() {
        if index > 0 {
            out.push_str("; ");
        }
        let is_end = |list: &str| part.strip_suffix(list).is_some_and(|head| head.ends_with(' '));
        let ends = (0_u8..).zip(lists).filter(|(_, list)| is_end(list));
        match ends.min_by_key(|(_, list)| std::cmp::Reverse(list.len())) {
            Some((at, list)) => {
                out.push_str(&refer(&part[..part.len() - list.len()], &names));
                out.push(char::from(FIRST as u8 + at));
                used = used.max(usize::from(at) + 1);
            }
            None => out.push_str(&refer(part, &names)),
        }
    }
    (out, used)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_referred_to_as_words_and_as_numbers_at_their_ends() {
        let names = ["16", "", "8", "A", "h3"];
        assert_eq!(refer("8 t16, A h3 AA 168 1.8", &names), "\u{82} t\u{80}, \u{83} \u{84} AA 168 1.\u{82}");
    }

    #[test]
    fn characters_that_look_like_references_are_literal() {
        assert_eq!(refer("é\u{80}x\u{9f}8", &["8"]), "é\u{9f}\u{80}x\u{9f}\u{9f}\u{80}");
        assert_eq!(refer("\u{7f}\u{9e}", &[]), "\u{9e}\u{9f}\u{9e}");
    }

    #[test]
    fn events_refer_to_the_longest_list_at_the_end_of_a_part() {
        let lists = ["3 K", "K", "5", "9 K"].map(str::to_owned);
        let refer = |text| refer_to_lists(text, &lists, &["16", "7"]);
        assert_eq!(refer("hands seat 5: 3 K; seat 7: 9"), ("hands seat 5: \u{80}; seat \u{91}: 9".into(), 1));
        assert_eq!(refer("cards 9 K"), ("cards \u{83}".into(), 4));
        assert_eq!(refer("5"), ("5".into(), 0));
    }
}
