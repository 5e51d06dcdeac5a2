//! Positions of a game, as far as the referee knows them.

use referee_game::chance::Draw;
use referee_game::excerpt::excerpt;
use referee_game::outcome::Outcome;
use referee_game::seat::{Seat, SeatSet, Seating, Viewer};
use referee_game::{AmountRange, MAX_SEATS, Meta, Turn, Wrong, counted};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::answer::{
    DecisionAnswer, DrawAnswer, EventAnswer, OverAnswer, PositionAnswer, RangeAnswer, TurnAnswer, escaped,
    read_view,
};
use crate::{MOST_AMOUNT, MOST_EVENT, MOST_EVENTS, MOST_LEGAL, MOST_MOVE, MOST_STATE};

/// The characters of a text that an error quotes.
const QUOTED: usize = 40;
/// The reason of a result that the turn limit gave.
const TURN_LIMIT: &str = "turn_limit";
/// The kinds of the referee's own events.
const RESERVED: [&str; 3] = ["move", "draw_offered", "out"];
/// The form of an event for those who do not see it.
const UNSEEN: &str = "null";

/// A position that the program has made.
#[derive(Debug)]
pub(crate) struct Position {
    /// Opaque: it goes back to the program.
    pub(crate) state: Box<RawValue>,
    pub(crate) turn: Turn,
    /// The seats that decide, in seat order.
    pub(crate) deciders: Vec<DecidingSeat>,
    /// The events on the way to it.
    pub(crate) events: Vec<PositionEvent>,
    pub(crate) turns_left: Option<u32>,
    /// The amounts that a side can get; only of an initial position.
    pub(crate) amounts: Option<AmountRange>,
}

impl Position {
    /// Checks that its amounts, if it has any, are in this range.
    ///
    /// # Errors
    /// Names the amount that is not.
    pub(crate) fn check_amounts(&self, range: Option<AmountRange>, seating: Seating) -> Result<(), Wrong> {
        let (Turn::Over(outcome), Some(range)) = (self.turn, range) else { return Ok(()) };
        let mut amounts = (0..seating.sides()).filter_map(|side| outcome.amount(side));
        match amounts.find(|amount| !(range.least..=range.most).contains(amount)) {
            Some(amount) => {
                let AmountRange { least, most } = range;
                let expected = format!("expected {least} to {most}, as in the answer to `start`");
                Err(format!("`amounts`: {amount}; {expected}").into())
            }
            None => Ok(()),
        }
    }
}

/// A seat that decides, with its legal moves.
#[derive(Debug)]
pub(crate) struct DecidingSeat {
    /// Sorted bytewise; `None` if they are not listed.
    pub(crate) legal: Option<Vec<String>>,
    pub(crate) view: Box<RawValue>,
    pub(crate) secrecy: MoveSecrecy,
}

/// The part of a move that others may see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MoveSecrecy {
    Open,
    /// The fact that the seat has moved.
    Secret,
    Unseen,
}

#[derive(Debug)]
pub(crate) struct PositionEvent {
    all: Box<RawValue>,
    /// `None`: the same as `all`.
    public: Option<Box<RawValue>>,
    /// `None`: the same as `public`.
    seats: [Option<Box<RawValue>>; MAX_SEATS],
}

impl PositionEvent {
    /// The form for a viewer; `None` if the viewer does not see the event.
    pub(crate) fn as_seen_by(&self, viewer: Viewer) -> Option<&RawValue> {
        let public = || self.public.as_deref().unwrap_or(&self.all);
        let form = match viewer {
            Viewer::Omniscient => &self.all,
            Viewer::Public => public(),
            Viewer::Seat(seat) => self.seats[seat.index()].as_deref().unwrap_or_else(public),
        };
        (form.get() != UNSEEN).then_some(form)
    }

    /// The length of its longest form, in bytes.
    pub(crate) fn longest(&self) -> usize {
        let others = self.public.iter().chain(self.seats.iter().flatten());
        others.chain([&self.all]).map(|form| form.get().len()).max().unwrap_or_default()
    }
}

#[derive(Deserialize)]
struct FactKind {
    kind: String,
}

/// Reads and checks a position.
///
/// # Errors
/// If it is invalid.
pub(crate) fn read(
    answer: &[u8],
    meta: &Meta,
    reasons: &[&'static str],
    seating: Seating,
) -> Result<Position, Wrong> {
    let answer: PositionAnswer<'_> = serde_json::from_slice(answer)?;
    let bytes = answer.state.get().len();
    if bytes > MOST_STATE {
        return Err(format!("`state` has {bytes} bytes; it has at most {MOST_STATE}").into());
    }
    let mut deciders = Vec::new();
    let turn = match answer.turn {
        TurnAnswer::Decide(decisions) => {
            let mut seats = SeatSet::EMPTY;
            for decision in decisions {
                let seat = Seat(decision.seat);
                if !seating.all().contains(seat) {
                    return Err(format!("`decide`: there is no seat {seat}").into());
                }
                if seats.iter().any(|before| before >= seat) {
                    return Err("`decide`: the seats ascend, each once".into());
                }
                seats.insert(seat);
                let decider = decider(decision, meta);
                deciders.push(decider.map_err(|what| Wrong::at(format!("seat {seat}"), what))?);
            }
            match seats.len() {
                0 => return Err("`decide`: no seat decides".into()),
                1 => {}
                _ if meta.simultaneous => {}
                _ => return Err("`decide`: several seats, but the manifest has no `simultaneous`".into()),
            }
            Turn::Decide(seats)
        }
        TurnAnswer::Draw(draw) if meta.chance => Turn::Draw(read_draw(&draw)?),
        TurnAnswer::Draw(_) => return Err("`draw`: the manifest has no `chance`".into()),
        TurnAnswer::Over(over) => Turn::Over(outcome(&over, meta, reasons, seating)?),
    };
    if answer.events.len() > MOST_EVENTS {
        return Err(format!("`events`: at most {MOST_EVENTS}, not {}", answer.events.len()).into());
    }
    let events = answer
        .events
        .iter()
        .map(|event| read_event(event, meta, seating).map_err(|why| Wrong::at("`events`", why)));
    Ok(Position {
        state: answer.state.to_owned(),
        turn,
        deciders,
        events: events.collect::<Result<_, _>>()?,
        turns_left: answer.turns_left,
        amounts: answer.amounts.map(read_range).transpose()?,
    })
}

fn decider(decision: DecisionAnswer<'_>, meta: &Meta) -> Result<DecidingSeat, Wrong> {
    let DecisionAnswer { legal, view, secret, unseen, .. } = decision;
    if legal.is_none() && meta.lists_moves {
        return Err("`legal` is missing, but the manifest has no `check`".into());
    }
    let legal = legal.map(read_legal).transpose()?;
    if (secret || unseen) && !meta.hidden {
        return Err("`secret` and `unseen`: the manifest has no `hidden`".into());
    }
    let secrecy = match (secret, unseen) {
        (_, true) => MoveSecrecy::Unseen,
        (true, false) => MoveSecrecy::Secret,
        (false, false) => MoveSecrecy::Open,
    };
    Ok(DecidingSeat { legal, view: read_view(view)?, secrecy })
}

/// Returns whether a text can be a move.
pub(crate) fn is_plain(text: &str) -> bool {
    let is_plain = |byte: u8| matches!(byte, b' '..=b'~') && byte != b'"' && byte != b'\\';
    !text.is_empty() && text.bytes().all(is_plain)
}

fn read_legal(mut legal: Vec<String>) -> Result<Vec<String>, Wrong> {
    if legal.is_empty() {
        return Err("`legal`: it has no move; a seat that decides has one".into());
    }
    if let Some(mv) = legal.iter().find(|mv| !is_plain(mv)) {
        let mv = excerpt(mv, QUOTED);
        let mv = mv.escape_debug();
        return Err(format!("`legal`: `{mv}` is not printable ASCII without quote and backslash").into());
    }
    if let Some(mv) = legal.iter().find(|mv| mv.len() > MOST_MOVE) {
        let mv = excerpt(mv, QUOTED);
        return Err(format!("`legal`: `{mv}` has more than {MOST_MOVE} bytes").into());
    }
    // A move has its quotes, and a comma or a bracket.
    let bytes = 1 + legal.iter().map(|mv| mv.len() + 3).sum::<usize>();
    if bytes > MOST_LEGAL {
        return Err(format!("`legal` has {bytes} bytes; it has at most {MOST_LEGAL}").into());
    }
    legal.sort_unstable();
    if let Some(pair) = legal.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(format!("`legal`: `{}` is there twice", pair[0]).into());
    }
    Ok(legal)
}

fn read_draw(draw: &DrawAnswer) -> Result<Draw, Wrong> {
    match *draw {
        DrawAnswer::Dice { count, sides } if count > 0 && sides > 1 => Ok(Draw::Dice { count, sides }),
        DrawAnswer::Dice { .. } => Err("`dice`: at least one die with at least 2 sides".into()),
        DrawAnswer::Pick(0) | DrawAnswer::Shuffle(0) => Err("`draw`: at least 1".into()),
        DrawAnswer::Pick(of) => Ok(Draw::Pick { of }),
        DrawAnswer::Shuffle(len) => Ok(Draw::Shuffle { len }),
    }
}

/// Checks an amount, and gives 0 no sign.
fn read_amount(amount: f64) -> Result<f64, Wrong> {
    if amount.abs() <= MOST_AMOUNT {
        return Ok(amount + 0.0);
    }
    Err(format!("`amounts`: {amount}; expected -{MOST_AMOUNT} to {MOST_AMOUNT}").into())
}

fn read_range(RangeAnswer { least, most }: RangeAnswer) -> Result<AmountRange, Wrong> {
    let range = AmountRange { least: read_amount(least)?, most: read_amount(most)? };
    if least < most {
        return Ok(range);
    }
    Err(format!("`amounts`: `least` is {least} and `most` {most}; expected less and more").into())
}

/// Reports that amounts are missing, or have no unit.
pub(crate) fn wrong_unit(is_missing: bool) -> Wrong {
    Wrong::new(if is_missing {
        "`amounts`: missing, but the manifest has their unit"
    } else {
        "`amounts`: the manifest has no `amounts`, which names their unit"
    })
}

fn outcome(
    over: &OverAnswer,
    meta: &Meta,
    reasons: &[&'static str],
    seating: Seating,
) -> Result<Outcome, Wrong> {
    let OverAnswer { ranks, amounts, reason } = over;
    let sides = seating.sides();
    if ranks.len() != sides {
        let sides = counted(sides, "side", "sides");
        return Err(format!("`ranks`: one for each of {sides}, not {}", ranks.len()).into());
    }
    let expected = |rank: &u8| 1 + ranks.iter().filter(|other| *other < rank).count();
    if ranks.iter().any(|rank| usize::from(*rank) != expected(rank)) {
        return Err("`ranks`: each is one more than the number of better sides".into());
    }
    let known = reasons.iter().copied().chain([TURN_LIMIT]).find(|known| known == reason);
    let Some(reason) = known else {
        let reason = excerpt(reason, QUOTED);
        return Err(format!("`reason`: `{reason}` is not among those of the manifest").into());
    };
    let mut outcome = Outcome::places(ranks, reason);
    outcome.turn_limit = reason == TURN_LIMIT;
    if outcome.turn_limit && ranks.iter().any(|&rank| rank != 1) {
        let expected = "all sides have rank 1";
        return Err(format!(
            "`ranks`: at the `turn_limit` {expected}, not {ranks:?}; a reason of the manifest may rank them"
        )
        .into());
    }
    if amounts.is_some() != meta.amounts.is_some() {
        return Err(wrong_unit(amounts.is_none()));
    }
    let Some(amounts) = amounts else { return Ok(outcome) };
    if amounts.len() != sides {
        let sides = counted(sides, "side", "sides");
        return Err(format!("`amounts`: one for each of {sides}, not {}", amounts.len()).into());
    }
    let amounts = amounts.iter().map(|&amount| read_amount(amount)).collect::<Result<Vec<_>, _>>()?;
    Ok(outcome.with_amounts(&amounts))
}

/// Reads and checks the form of an event.
fn read_form(form: &RawValue) -> Result<Box<RawValue>, Wrong> {
    let FactKind { kind } =
        serde_json::from_str(form.get()).map_err(|_| "an event is an object with a text `kind`")?;
    if let Some(reserved) = RESERVED.into_iter().find(|reserved| *reserved == kind) {
        return Err(format!("only the referee makes events of kind `{reserved}`").into());
    }
    let form = escaped(form);
    let bytes = form.get().len();
    if bytes > MOST_EVENT {
        return Err(format!("an event has {bytes} bytes; it has at most {MOST_EVENT}").into());
    }
    Ok(form)
}

/// The form of an event for viewers who may not see it.
fn read_form_or_null(form: &RawValue) -> Result<Box<RawValue>, Wrong> {
    if form.get() == UNSEEN { Ok(form.to_owned()) } else { read_form(form) }
}

fn read_event(event: &EventAnswer<'_>, meta: &Meta, seating: Seating) -> Result<PositionEvent, Wrong> {
    if meta.hidden && event.public.is_none() {
        return Err("`public` is missing, which a game with `hidden` has in every event".into());
    }
    if !meta.hidden
        && event.public.into_iter().chain(event.seats.values().copied()).any(|form| form.get() == UNSEEN)
    {
        return Err("a form is `null`: the manifest has no `hidden`".into());
    }
    let mut seats = [const { None }; MAX_SEATS];
    for (name, form) in &event.seats {
        let seat = name.parse().map(Seat).ok().filter(|&seat| seating.all().contains(seat));
        let seat = seat.ok_or_else(|| format!("there is no seat `{}`", excerpt(name, QUOTED)))?;
        seats[seat.index()] = Some(read_form_or_null(form)?);
    }
    Ok(PositionEvent {
        all: read_form(event.all)?,
        public: event.public.map(read_form_or_null).transpose()?,
        seats,
    })
}

#[cfg(test)]
mod tests {
    use referee_game::Chain;

    use super::*;
    use crate::MOST_VIEW;

    const META: Meta = Meta {
        id: "toy",
        title: "Toy",
        rules_version: 1,
        seatings: &[Seating::new(2, 2)],
        hidden: false,
        chance: false,
        simultaneous: false,
        draws_by_agreement: false,
        lists_moves: true,
        openings: None,
        amounts: None,
        options: &[],
        reasons: &[],
        rules: "",
    };

    fn refusal_under(meta: &Meta, answer: &str) -> String {
        Chain(&read(answer.as_bytes(), meta, &["won"], Seating::new(2, 2)).unwrap_err()).to_string()
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
        assert_eq!(position.deciders[0].legal.as_deref().unwrap(), ["C", "a", "b"]);
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
        assert!(
            refusal(r#"{"decide":[{"seat":0,"view":{}}]}"#).contains("`legal` is missing, but the manifest")
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
        let limit = refusal(r#"{"over":{"ranks":[1,2],"reason":"turn_limit"}}"#);
        assert!(limit.contains("at the `turn_limit` all sides have rank 1, not [1, 2]"), "{limit}");
        let large = format!(
            r#"{{"state":"{}","turn":{{"over":{{"ranks":[1,1],"reason":"won"}}}}}}"#,
            "a".repeat(MOST_STATE)
        );
        assert!(refusal_under(&META, &large).contains("at most 65536"));
    }

    #[test]
    fn what_is_too_long_for_line_is_refused_by_name() {
        let long = |length: usize| "a".repeat(length);
        let decide = |legal: &str, view: &str| {
            format!(r#"{{"decide":[{{"seat":0,"legal":[{legal}],"view":{{"x":"{view}"}}}}]}}"#)
        };
        assert!(
            refusal(&decide("\"a\"", &long(MOST_VIEW))).contains("`view` has 131080 bytes; it has at most")
        );
        let moves: Vec<String> = (0..1000).map(|number| format!("\"{number:0>200}\"")).collect();
        assert!(refusal(&decide(&moves.join(","), "")).contains("`legal` has 203001 bytes; it has at most"));
        // A character that lines have as an escape.
        let spaces = "\u{2028}".repeat(MOST_VIEW / 5);
        assert!(refusal(&decide("\"a\"", &spaces)).contains("`view` has 157292 bytes"));
        let over = r#"{"state":0,"turn":{"over":{"ranks":[1,1],"reason":"won"}},"events":[EVENT]}"#;
        let event = format!(r#"{{"all":{{"kind":"a","x":"{}"}}}}"#, long(MOST_EVENT));
        assert!(refusal_under(&META, &over.replace("EVENT", &event)).contains("an event has 65555 bytes"));
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
        let seen = |viewer| position.events[0].as_seen_by(viewer).unwrap().get().contains("card");
        let viewers = [Viewer::Omniscient, Viewer::Public, Viewer::Seat(Seat(0)), Viewer::Seat(Seat(1))];
        assert_eq!(viewers.map(seen), [true, false, false, true]);
    }

    #[test]
    fn viewers_whose_form_is_null_do_not_see_the_event() {
        let answer = |public: &str, seats: &str| {
            format!(
                r#"{{"state":0,"turn":{{"over":{{"ranks":[1,1],"reason":"won"}}}},"events":[{{"all":{{"kind":"tried"}},"public":{public},"seats":{seats}}}]}}"#
            )
        };
        let viewers = [Viewer::Omniscient, Viewer::Public, Viewer::Seat(Seat(0)), Viewer::Seat(Seat(1))];
        let hidden = Meta { hidden: true, ..META };
        let seen = |public: &str, seats: &str| {
            let position =
                read(answer(public, seats).as_bytes(), &hidden, &["won"], Seating::new(2, 2)).unwrap();
            viewers.map(|viewer| position.events[0].as_seen_by(viewer).is_some())
        };
        let form = r#"{"kind":"tried"}"#;
        assert_eq!(seen("null", "{}"), [true, false, false, false]);
        assert_eq!(seen("null", &format!(r#"{{"1":{form}}}"#)), [true, false, false, true]);
        assert_eq!(seen(form, r#"{"1":null}"#), [true, true, true, false]);
        assert!(refusal_under(&META, &answer("null", "{}")).contains("`null`: the manifest has no `hidden`"));
    }
}
