//! Disguised games: the same tree under other names, and nothing that says which game it is.

use referee::game::chance::{RandomKey, Uniform};
use referee::game::disguise::{DISGUISED, DISGUISED_RULES, disguise};
use referee::game::{Seat, Turn, Viewer};

fn words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_ascii_alphabetic()).filter(|word| word.len() > 1);
    words.map(str::to_owned).collect()
}

/// Names of the protocol that every game shares.
const OF_PROTOCOL: [&str; 9] = ["kind", "seat", "move", "opening", "to", "null", "true", "false", "to_move"];

#[test]
fn every_game_has_the_same_tree_under_other_names() {
    for rules in referee::games::catalog().games() {
        let (game, seating) = (rules.meta().id, rules.meta().seatings[0]);
        let other = disguise(rules, "a text").expect("it has a vocabulary");
        assert_eq!((other.meta().id, other.meta().rules), (DISGUISED, DISGUISED_RULES));
        assert!(std::ptr::eq(other.meta(), disguise(rules, "a text").expect("it is known").meta()));
        let mut plain = rules.open(&rules.default_options(), seating).expect("it opens");
        let mut table = other.open(&other.default_options(), seating).expect("it opens");
        let mut stream = RandomKey([7; 32]).stream();
        for _ in 0..120 {
            match (plain.ask(), table.ask()) {
                (Turn::Decide(decision), Turn::Decide(disguised)) => {
                    assert_eq!(decision.seats(), disguised.seats(), "{game}");
                    let mut moves = (Vec::new(), Vec::new());
                    for seat in decision.seats().iter() {
                        let count = plain.count(&decision, seat);
                        assert_eq!(count, table.count(&disguised, seat), "{game}");
                        let (mut own, mut renamed) = (Vec::new(), Vec::new());
                        plain.write_legal(&decision, seat, &mut own);
                        table.write_legal(&disguised, seat, &mut renamed);
                        plain.write_view(&decision, seat, &mut own);
                        table.write_view(&disguised, seat, &mut renamed);
                        let own = words(&String::from_utf8(own).expect("UTF-8"));
                        let renamed = words(&String::from_utf8(renamed).expect("UTF-8"));
                        let kept = renamed
                            .iter()
                            .find(|word| own.contains(word) && !OF_PROTOCOL.contains(&word.as_str()));
                        assert_eq!(kept, None, "{game}");
                        let texts: Vec<String> =
                            (0..count).map(|index| table.text(&disguised, seat, index).to_owned()).collect();
                        assert!(texts.is_sorted_by(|one, other| one < other), "{game}: {texts:?}");
                        let chosen = stream.uniform(count as u64) as usize;
                        assert_eq!(table.find(&disguised, seat, &texts[chosen]), Ok(chosen));
                        moves.1.push(chosen);
                        moves.0.push(texts[chosen].clone());
                    }
                    // The event tells the move under its name.
                    table.play(disguised, &moves.1).expect("the rules work");
                    let made =
                        (0..table.event_count()).find_map(|index| table.move_made(index)).expect("a move");
                    assert!(moves.0.iter().any(|text| text == made.text), "{game}");
                    // The same move of the plain game is the one that leads to the same position.
                    let after = table.scene(Viewer::Omniscient);
                    let seats: Vec<Seat> = decision.seats().iter().collect();
                    let counts: Vec<usize> = seats.iter().map(|&seat| plain.count(&decision, seat)).collect();
                    let decode = |mut number: usize| -> Vec<usize> {
                        counts.iter().map(|&count| (number % count, number /= count).0).collect()
                    };
                    let leads_there = |number: &usize| {
                        let mut fork = plain.fork();
                        let Turn::Decide(decision) = fork.ask() else { return false };
                        fork.play(decision, &decode(*number)).expect("the rules work");
                        fork.scene(Viewer::Omniscient) == after
                    };
                    let same = (0..counts.iter().product()).find(leads_there);
                    let same = decode(same.unwrap_or_else(|| panic!("{game}: no move leads there")));
                    plain.play(decision, &same).expect("the rules work");
                }
                (Turn::Draw(draw), Turn::Draw(other)) => {
                    assert_eq!(draw, other);
                    let mut drawn = Vec::new();
                    stream.draw(draw, &mut drawn);
                    plain.settle(&drawn).expect("the rules work");
                    table.settle(&drawn).expect("the rules work");
                }
                (Turn::Over(_), Turn::Over(outcome)) => {
                    assert!(outcome.turn_limit || outcome.reason == "rules", "{game}");
                    break;
                }
                other => panic!("{game}: {other:?}"),
            }
            plain.forget();
            table.forget();
        }
    }
}

#[test]
fn disguises_differ_and_wrong_ones_are_refused() {
    let rules = referee::games::catalog().find("chess").expect("a game");
    let legal = |text: &str| {
        let other = disguise(rules, text).expect("a disguise");
        let mut table = other.open(&other.default_options(), other.meta().seatings[0]).expect("it opens");
        let Turn::Decide(decision) = table.ask() else { panic!("a seat decides") };
        let mut out = Vec::new();
        table.write_legal(&decision, Seat(0), &mut out);
        out
    };
    assert_eq!(legal("one"), legal("one"));
    assert_ne!(legal("one"), legal("two"));
    for text in ["", "a\n", &"x".repeat(101)] {
        let refused = disguise(rules, text).unwrap_err().to_string();
        assert_eq!(refused, "the disguise has 1 to 100 printable characters of ASCII");
    }
    let other = disguise(rules, "one").expect("a disguise");
    assert_eq!(disguise(other, "two").unwrap_err().to_string(), "disguised is disguised already");
    let options = serde_json::value::RawValue::from_string("{\"turn_limit\":9}".to_owned()).expect("JSON");
    assert!(other.open(&options, other.meta().seatings[0]).is_err());
}
