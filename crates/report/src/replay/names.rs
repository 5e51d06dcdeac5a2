//! References of texts to the moves of their step: lines of words name the squares and cards that moves name.

use referee_game::{MAX_SEATS, Seat};

use super::column::SEPARATOR;
use super::match_replay::{MatchReplay, ReplayStep};

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

/// The names that the texts of a step may refer to.
pub(super) type StepNames<'a> = Vec<&'a str>;

/// The letters and digits at the beginning of a text, and the digits alone.
fn first_word(text: &str) -> (&str, &str) {
    let letters = text.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(text.len());
    let digits = text[letters..].find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len() - letters);
    (&text[..letters + digits], &text[letters..letters + digits])
}

/// Adds the words of a text and the numbers at the ends of words.
pub(super) fn add_words<'a>(names: &mut StepNames<'a>, mut rest: &'a str) {
    while let Some(next) = rest.chars().next() {
        let (word, number) = first_word(rest);
        names.extend(Some(word).filter(|word| !word.is_empty()));
        names.extend(Some(number).filter(|number| !number.is_empty() && *number != word));
        rest = &rest[word.len().max(next.len_utf8())..];
    }
}

/// The moves of a step as the first view knows them.
pub(super) fn moves_of(step: &ReplayStep) -> impl Iterator<Item = (Seat, &str)> {
    let known = step.s.iter().filter(|(mask, kind, ..)| mask & 1 == 1 && *kind == "move");
    known.filter_map(|(_, _, seat, text)| Some(((*seat)?, text.as_str())))
}

/// The numbers of seats.
const SEATS: [&str; MAX_SEATS] = ["0", "1", "2", "3", "4", "5"];

/// The names of each step: the seats of the moves of the next step, and the words of its own moves.
pub(super) fn of_steps(replay: &MatchReplay) -> Vec<StepNames<'_>> {
    let of_step = |(index, step)| {
        let next = replay.steps.get(index + 1).into_iter().flat_map(moves_of);
        let mut names: StepNames<'_> = next.map(|(seat, _)| SEATS[seat.index()]).collect();
        moves_of(step).for_each(|(_, text)| add_words(&mut names, text));
        names.truncate(NAMES);
        names
    };
    replay.steps.iter().enumerate().map(of_step).collect()
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
        let (word, number) = first_word(rest);
        let (word, after) = rest.split_at(word.len().max(next.len_utf8()));
        rest = after;
        if let Some(reference) = reference(names, word) {
            out.push(reference);
        } else if let Some(reference) = reference(names, number) {
            out.push_str(&word[..word.len() - number.len()]);
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
    let names: StepNames<'_> = [""; LISTS].into_iter().chain(names.iter().copied()).take(NAMES).collect();
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
