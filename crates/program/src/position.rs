//! Positions of a game, as far as the referee knows them.

use referee_game::chance::Draw;
use referee_game::excerpt::excerpt;
use referee_game::outcome::Outcome;
use referee_game::seat::{Seat, SeatSet, Seating, Viewer};
use referee_game::{MAX_SEATS, Meta, Turn, counted};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::answer::{DecisionAnswer, DrawAnswer, EventAnswer, OverAnswer, PositionAnswer, TurnAnswer};
use crate::{MOST_EVENTS, MOST_MOVE, MOST_STATE};

/// The reason of a result that the turn limit gave.
const TURN_LIMIT: &str = "turn_limit";
/// The kinds of the referee's own events.
const RESERVED: [&str; 3] = ["move", "draw_offered", "out"];

/// A position that the program has made.
#[derive(Debug)]
pub(crate) struct Position {
    /// Opaque: it goes back to the program.
    pub(crate) state: Box<RawValue>,
    pub(crate) turn: Turn,
    /// What the seats that decide get, in seat order.
    pub(crate) deciders: Vec<DecidingSeat>,
    /// What happened on the way to it.
    pub(crate) events: Vec<PositionEvent>,
    pub(crate) turns_left: Option<u32>,
}

/// What a seat that decides gets.
#[derive(Debug)]
pub(crate) struct DecidingSeat {
    /// Sorted bytewise.
    pub(crate) legal: Vec<String>,
    pub(crate) view: Box<RawValue>,
    /// Whether only the seat may see its move.
    pub(crate) is_secret: bool,
}

/// An event and its forms.
#[derive(Debug)]
pub(crate) struct PositionEvent {
    all: Box<RawValue>,
    /// `None`: the same as `all`.
    public: Option<Box<RawValue>>,
    /// `None`: the same as `public`.
    seats: [Option<Box<RawValue>>; MAX_SEATS],
}

impl PositionEvent {
    /// The form for a viewer.
    pub(crate) fn as_seen_by(&self, viewer: Viewer) -> &RawValue {
        let public = || self.public.as_deref().unwrap_or(&self.all);
        match viewer {
            Viewer::Omniscient => &self.all,
            Viewer::Public => public(),
            Viewer::Seat(seat) => self.seats[seat.index()].as_deref().unwrap_or_else(public),
        }
    }
}

#[derive(Deserialize)]
struct FactKind {
    kind: String,
}

/// Reads and checks a position.
///
/// # Errors
/// What is wrong with it, beginning with the field.
pub(crate) fn read(
    answer: &[u8],
    meta: &Meta,
    reasons: &[&'static str],
    seating: Seating,
) -> Result<Position, String> {
    let answer: PositionAnswer<'_> = serde_json::from_slice(answer).map_err(|error| error.to_string())?;
    let bytes = answer.state.get().len();
    if bytes > MOST_STATE {
        return Err(format!("`state` has {bytes} bytes; it has at most {MOST_STATE}"));
    }
    let mut deciders = Vec::new();
    let turn = match answer.turn {
        TurnAnswer::Decide(decisions) => {
            let mut seats = SeatSet::EMPTY;
            for decision in decisions {
                let seat = Seat(decision.seat);
                if !seating.all().contains(seat) {
                    return Err(format!("`decide`: there is no seat {seat}"));
                }
                if seats.iter().any(|before| before >= seat) {
                    return Err("`decide`: the seats ascend, each once".to_owned());
                }
                seats.insert(seat);
                deciders.push(decider(decision, meta).map_err(|what| format!("seat {seat}: {what}"))?);
            }
            match seats.len() {
                0 => return Err("`decide`: no seat decides".to_owned()),
                1 => {}
                _ if meta.simultaneous => {}
                _ => return Err("`decide`: several seats, but the manifest has no `simultaneous`".to_owned()),
            }
            Turn::Decide(seats)
        }
        TurnAnswer::Draw(draw) if meta.chance => Turn::Draw(read_draw(&draw)?),
        TurnAnswer::Draw(_) => return Err("`draw`: the manifest has no `chance`".to_owned()),
        TurnAnswer::Over(over) => Turn::Over(outcome(&over, reasons, seating)?),
    };
    if answer.events.len() > MOST_EVENTS {
        return Err(format!("`events`: at most {MOST_EVENTS}, not {}", answer.events.len()));
    }
    let events = answer.events.iter().map(|event| read_event(event, meta, seating));
    Ok(Position {
        state: answer.state.to_owned(),
        turn,
        deciders,
        events: events.collect::<Result<_, _>>()?,
        turns_left: answer.turns_left,
    })
}

fn decider(decision: DecisionAnswer<'_>, meta: &Meta) -> Result<DecidingSeat, String> {
    let DecisionAnswer { mut legal, view, secret, .. } = decision;
    if legal.is_empty() {
        return Err("`legal`: it has no move; a seat that decides has one".to_owned());
    }
    let is_plain = |byte: u8| matches!(byte, b' '..=b'~') && byte != b'"' && byte != b'\\';
    if let Some(mv) = legal.iter().find(|mv| !mv.bytes().all(is_plain) || mv.is_empty()) {
        return Err(format!(
            "`legal`: `{}` is not printable ASCII without quote and backslash",
            excerpt(mv, 40).escape_debug()
        ));
    }
    if let Some(mv) = legal.iter().find(|mv| mv.len() > MOST_MOVE) {
        return Err(format!("`legal`: `{}` has more than {MOST_MOVE} bytes", excerpt(mv, 40)));
    }
    legal.sort_unstable();
    if let Some(pair) = legal.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(format!("`legal`: `{}` is there twice", pair[0]));
    }
    if !view.get().starts_with('{') {
        return Err("`view` is not an object".to_owned());
    }
    if secret && !meta.hidden {
        return Err("`secret`: the manifest has no `hidden`".to_owned());
    }
    Ok(DecidingSeat { legal, view: view.to_owned(), is_secret: secret })
}

fn read_draw(draw: &DrawAnswer) -> Result<Draw, String> {
    match *draw {
        DrawAnswer::Dice { count, sides } if count > 0 && sides > 1 => Ok(Draw::Dice { count, sides }),
        DrawAnswer::Dice { .. } => Err("`dice`: at least one die with at least 2 sides".to_owned()),
        DrawAnswer::Pick(0) | DrawAnswer::Shuffle(0) => Err("`draw`: at least 1".to_owned()),
        DrawAnswer::Pick(of) => Ok(Draw::Pick { of }),
        DrawAnswer::Shuffle(len) => Ok(Draw::Shuffle { len }),
    }
}

fn outcome(over: &OverAnswer, reasons: &[&'static str], seating: Seating) -> Result<Outcome, String> {
    let OverAnswer { ranks, reason } = over;
    let sides = seating.sides();
    if ranks.len() != sides {
        return Err(format!(
            "`ranks`: one for each of {}, not {}",
            counted(sides, "side", "sides"),
            ranks.len()
        ));
    }
    let expected = |rank: &u8| 1 + ranks.iter().filter(|other| *other < rank).count();
    if ranks.iter().any(|rank| usize::from(*rank) != expected(rank)) {
        return Err("`ranks`: each is one more than the number of better sides".to_owned());
    }
    let known = reasons.iter().copied().chain([TURN_LIMIT]).find(|known| known == reason);
    let Some(reason) = known else {
        return Err(format!("`reason`: `{}` is not among those of the manifest", excerpt(reason, 40)));
    };
    let mut outcome = Outcome::places(ranks, reason);
    outcome.turn_limit = reason == TURN_LIMIT;
    Ok(outcome)
}

fn read_event(event: &EventAnswer<'_>, meta: &Meta, seating: Seating) -> Result<PositionEvent, String> {
    let wrong = |what: &str| format!("`events`: {what}");
    for form in [Some(event.all), event.public].into_iter().flatten().chain(event.seats.values().copied()) {
        let kind = serde_json::from_str::<FactKind>(form.get());
        let FactKind { kind } = kind.map_err(|_| wrong("an event is an object with a text `kind`"))?;
        if RESERVED.contains(&kind.as_str()) {
            return Err(wrong(&format!("only the referee makes events of kind `{kind}`")));
        }
    }
    if meta.hidden && event.public.is_none() {
        return Err(wrong("`public` is missing, which a game with `hidden` has in every event"));
    }
    let mut seats = [const { None }; MAX_SEATS];
    for (name, form) in &event.seats {
        let seat = name.parse().map(Seat).ok().filter(|&seat| seating.all().contains(seat));
        let seat = seat.ok_or_else(|| wrong(&format!("there is no seat `{}`", excerpt(name, 40))))?;
        seats[seat.index()] = Some((*form).to_owned());
    }
    Ok(PositionEvent { all: event.all.to_owned(), public: event.public.map(ToOwned::to_owned), seats })
}

#[cfg(test)]
mod tests {
    use super::*;

    const META: Meta = Meta {
        id: "toy",
        title: "Toy",
        rules_version: 1,
        seatings: &[Seating::new(2, 2)],
        hidden: false,
        chance: false,
        simultaneous: false,
        draws_by_agreement: false,
        openings: None,
        options: &[],
        rules: "",
    };

    fn refusal_under(meta: &Meta, answer: &str) -> String {
        read(answer.as_bytes(), meta, &["won"], Seating::new(2, 2)).unwrap_err()
    }

    fn refusal(turn: &str) -> String {
        refusal_under(&META, &format!(r#"{{"state":0,"turn":{turn}}}"#))
    }

    #[test]
    fn legal_moves_are_sorted() {
        let answer =
            r#"{"state":[7],"turn":{"decide":[{"seat":1,"legal":["b","a","C"],"view":{"x":1}}]},"later":1}"#;
        let position = read(answer.as_bytes(), &META, &[], Seating::new(2, 2)).unwrap();
        assert_eq!(position.turn, Turn::Decide(SeatSet::one(Seat(1))));
        assert_eq!(position.deciders[0].legal, ["C", "a", "b"]);
        assert_eq!((position.state.get(), position.deciders[0].view.get()), ("[7]", r#"{"x":1}"#));
    }

    #[test]
    fn what_contradicts_the_rules_of_answers_is_refused_by_name() {
        let decide =
            |legal: &str| refusal(&format!(r#"{{"decide":[{{"seat":0,"legal":{legal},"view":{{}}}}]}}"#));
        assert!(decide("[]").contains("no move"));
        assert!(decide(r#"["a","b","a"]"#).contains("`a` is there twice"));
        assert!(decide(r#"["a\"b"]"#).contains("printable ASCII"));
        assert!(decide(r#"[""]"#).contains("printable ASCII"));
        assert!(decide(&format!(r#"["{}"]"#, "a".repeat(257))).contains("256 bytes"));
        assert!(refusal(r#"{"decide":[]}"#).contains("no seat decides"));
        assert!(refusal(r#"{"decide":[{"seat":2,"legal":["a"],"view":{}}]}"#).contains("no seat 2"));
        assert!(refusal(r#"{"decide":[{"seat":0,"legal":["a"],"view":1}]}"#).contains("`view`"));
        assert!(
            refusal(r#"{"decide":[{"seat":0,"legal":["a"],"view":{},"secret":true}]}"#).contains("`hidden`")
        );
        let both = r#"{"decide":[{"seat":0,"legal":["a"],"view":{}},{"seat":1,"legal":["a"],"view":{}}]}"#;
        assert!(refusal(both).contains("`simultaneous`"));
        assert!(refusal(r#"{"draw":{"pick":6}}"#).contains("`chance`"));
        assert!(refusal(r#"{"over":{"ranks":[1],"reason":"won"}}"#).contains("each of 2 sides"));
        for ranks in ["[0,1]", "[2,2]", "[1,3]", "[2,3]"] {
            assert!(
                refusal(&format!(r#"{{"over":{{"ranks":{ranks},"reason":"won"}}}}"#)).contains("`ranks`")
            );
        }
        assert!(refusal(r#"{"over":{"ranks":[1,2],"reason":"luck"}}"#).contains("`luck`"));
        let large = format!(
            r#"{{"state":"{}","turn":{{"over":{{"ranks":[1,1],"reason":"won"}}}}}}"#,
            "a".repeat(MOST_STATE)
        );
        assert!(refusal_under(&META, &large).contains("at most 65536"));
    }

    #[test]
    fn events_with_secrets_need_a_public_form() {
        let answer = |events: &str| {
            format!(r#"{{"state":0,"turn":{{"over":{{"ranks":[1,1],"reason":"won"}}}},"events":[{events}]}}"#)
        };
        let hidden = Meta { hidden: true, ..META };
        assert!(refusal_under(&hidden, &answer(r#"{"all":{"kind":"dealt"}}"#)).contains("`public`"));
        assert!(refusal_under(&META, &answer(r#"{"all":{"kind":"move"}}"#)).contains("`move`"));
        assert!(refusal_under(&META, &answer(r#"{"all":{"card":3}}"#)).contains("`kind`"));
        let event = r#"{"all":{"kind":"dealt","card":3},"public":{"kind":"dealt"},"seats":{"1":{"kind":"dealt","card":3}}}"#;
        let position = read(answer(event).as_bytes(), &hidden, &["won"], Seating::new(2, 2)).unwrap();
        let seen = |viewer| position.events[0].as_seen_by(viewer).get().contains("card");
        let viewers = [Viewer::Omniscient, Viewer::Public, Viewer::Seat(Seat(0)), Viewer::Seat(Seat(1))];
        assert_eq!(viewers.map(seen), [true, false, false, true]);
    }
}
