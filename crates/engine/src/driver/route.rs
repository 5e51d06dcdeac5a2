//! Routes lines of peers to matches. Lanes, `referee check` and `referee debug` use it.

use referee_game::seat::{Seat, SeatSet};
use referee_match::{AbortReason, Detail, Event, Match, RefusedLine};
use referee_protocol::bot;
use referee_protocol::limits;
use referee_protocol::referee as message;
use referee_protocol::words::{ErrorCode, FaultCode};
use referee_transport::Line;
use serde_json::value::RawValue;

use crate::driver::incoming::{self, Address, Incoming, Unreadable};

/// The matches in which the sender of a line has seats.
pub trait Matches {
    type Key: Copy + Eq;

    /// The match with this id, and the seats of the sender in it.
    fn find(&self, id: &str) -> Option<(Self::Key, SeatSet)>;

    fn seats(&self) -> &[(Self::Key, Seat)];

    /// A match in which the sender has a seat.
    fn play(&self, key: Self::Key) -> &Match;
}

/// The matches and seats that a sender may address.
#[derive(Clone, Copy, Debug)]
pub struct Sender {
    /// Whether the sender's `hello` has been accepted.
    pub has_greeted: bool,
    /// Whether the sender may open and abort matches.
    pub may_open: bool,
}

#[derive(Debug)]
pub enum Routed<'a, K> {
    /// An empty line or `pong`: nothing happens.
    Nothing,
    /// The first `hello`; its fields have not been checked.
    Hello(bot::Hello),
    Bye,
    Open(bot::Open<&'a RawValue>),
    Match(K, Input<'a>),
    /// A message that reaches no match, and is answered with `error`.
    Rejected(Rejection<K>),
    /// A line in place of `hello` that is no message at all.
    NoMessage(ErrorCode, Detail),
}

/// The meaning of a line for its match.
#[derive(Debug)]
pub enum Input<'a> {
    Ready(Seat, bot::Ready<'a>),
    /// A move in answer to a request.
    Move(Seat, bot::Move<'a, &'a RawValue>),
    AcceptDraw(Seat, bot::AcceptDraw<'a>),
    Unable(Seat, bot::Unable<'a, &'a RawValue>),
    Resign(Seat),
    /// An invalid line in place of an answer.
    Broken {
        seat: Seat,
        /// The request that the line names, if readable.
        turn: Option<u64>,
        /// [`FaultCode::Malformed`] or [`FaultCode::LineTooLong`].
        code: FaultCode,
        detail: Detail,
        /// The line; `None` if it was too long.
        line: Option<&'a [u8]>,
    },
    /// A message that is not allowed in the current state.
    Stray {
        seat: Seat,
        code: ErrorCode,
        /// The text of the `error`.
        message: String,
    },
    /// The host aborts the match.
    Abort,
}

impl Input<'_> {
    pub fn event(&self) -> Event<'_> {
        match self {
            Input::Ready(seat, ready) => Event::Ready { seat: *seat, nonce: ready.nonce.as_deref() },
            Input::Move(seat, answer) => Event::Answer {
                seat: *seat,
                turn: answer.turn,
                text: &answer.r#move,
                offer_draw: answer.offer_draw,
                info: answer.info.map(RawValue::get),
            },
            Input::AcceptDraw(seat, answer) => Event::AcceptDraw { seat: *seat, turn: answer.turn },
            Input::Unable(seat, answer) => Event::Unable {
                seat: *seat,
                turn: answer.turn,
                because: answer.because,
                info: answer.info.map(RawValue::get),
            },
            Input::Resign(seat) => Event::Resign(*seat),
            Input::Broken { seat, turn, code, detail, .. } => {
                Event::Broken { seat: *seat, turn: *turn, code: *code, detail }
            }
            Input::Stray { seat, code, message } => Event::Stray { seat: *seat, code: *code, message },
            Input::Abort => Event::Abort(&AbortReason::ByHost),
        }
    }
}

/// The `error` for a line that reaches no match.
#[derive(Debug)]
pub struct Rejection<K> {
    /// The code of the `error`, and the invalid field.
    pub refused: RefusedLine,
    /// The text of the `error`.
    pub message: String,
    /// The id of a rejected `open`.
    id: Option<String>,
    /// The match that the line names, truncated.
    match_id: Option<String>,
    /// The match of the sender that the line names; without one, the line may have been for any of its matches.
    of: Option<K>,
}

impl<K: Copy + Eq> Rejection<K> {
    fn new(refused: impl Into<RefusedLine>, message: impl Into<String>) -> Rejection<K> {
        Rejection { refused: refused.into(), message: message.into(), id: None, match_id: None, of: None }
    }

    pub fn of_hello(refused: RefusedLine, message: String) -> Rejection<K> {
        Rejection::new(refused, message)
    }

    fn naming(self, match_id: Option<&str>, matches: &impl Matches<Key = K>) -> Rejection<K> {
        let found = match_id.and_then(|id| matches.find(id));
        let of = found.filter(|(_, seats)| !seats.is_empty()).map(|(key, _)| key);
        Rejection { match_id: match_id.map(shown), of, ..self }
    }

    /// The `error` for the sender.
    pub fn into_error(self) -> message::Error {
        let Rejection { refused, message, id, match_id, .. } = self;
        message::Error {
            code: refused.code,
            message,
            id,
            r#match: match_id,
            seat: None,
            turn: None,
            legal_forms: None,
        }
    }

    /// Returns whether the line may have been for this match of the sender.
    pub fn concerns(&self, key: K) -> bool {
        self.of.is_none_or(|of| of == key)
    }
}

/// Finds out where a line goes.
pub fn route<'a, M: Matches>(line: Line<'a>, sender: Sender, matches: &M) -> Routed<'a, M::Key> {
    match line {
        Line::Text([]) => Routed::Nothing,
        Line::Text(text) => match incoming::read(text, sender.may_open) {
            (_, Ok(message)) => route_message(message, sender, matches).unwrap_or_else(Routed::Rejected),
            (address, Err(Unreadable::Malformed(detail))) => {
                route_broken(&address, FaultCode::Malformed, detail, Some(text), sender, matches)
            }
            (address, Err(unreadable)) => {
                let (refused, message) = unreadable.refusal();
                route_stray(&address, refused, message, matches)
            }
        },
        Line::TooLong => {
            let detail = Detail::LineTooLong { most_bytes: limits::LINE_FROM_BOT as u64 };
            route_broken(&Address::default(), FaultCode::LineTooLong, detail, None, sender, matches)
        }
    }
}

fn route_message<'a, M: Matches>(
    message: Incoming<'a>,
    sender: Sender,
    matches: &M,
) -> Result<Routed<'a, M::Key>, Rejection<M::Key>> {
    let out_of_state = |message| Err(Rejection::new(ErrorCode::OutOfState, message));
    let is_first = matches!(message, Incoming::Hello(_) | Incoming::Bye(_) | Incoming::Pong(_));
    if !sender.has_greeted && !is_first {
        return out_of_state("the first message is `hello`");
    }
    Ok(match message {
        Incoming::Hello(_) if sender.has_greeted => return out_of_state("`hello` comes once"),
        Incoming::Hello(hello) => Routed::Hello(hello),
        Incoming::Bye(_) => Routed::Bye,
        Incoming::Pong(_) => Routed::Nothing,
        Incoming::Ready(ready) => {
            let (key, seat) = find(matches, &ready.r#match, ready.seat)?;
            Routed::Match(key, Input::Ready(seat, ready))
        }
        Incoming::Move(answer) => {
            let (key, seat) = find(matches, &answer.r#match, answer.seat)?;
            Routed::Match(key, Input::Move(seat, answer))
        }
        Incoming::AcceptDraw(answer) => {
            let (key, seat) = find(matches, &answer.r#match, answer.seat)?;
            Routed::Match(key, Input::AcceptDraw(seat, answer))
        }
        Incoming::Unable(answer) => {
            let (key, seat) = find(matches, &answer.r#match, answer.seat)?;
            Routed::Match(key, Input::Unable(seat, answer))
        }
        Incoming::Resign(resign) => {
            let (key, seat) = find(matches, &resign.r#match, resign.seat)?;
            Routed::Match(key, Input::Resign(seat))
        }
        Incoming::Open(open) => Routed::Open(open),
        Incoming::Abort(abort) => match matches.find(&abort.r#match) {
            Some((key, _)) => Routed::Match(key, Input::Abort),
            None => return Err(unknown_match(matches, &abort.r#match)),
        },
    })
}

/// Finds the seat of the sender that a message addresses.
fn find<M: Matches>(
    matches: &M,
    match_id: &str,
    seat: Option<u8>,
) -> Result<(M::Key, Seat), Rejection<M::Key>> {
    let found = matches.find(match_id).filter(|(_, own)| !own.is_empty());
    let (key, own) = found.ok_or_else(|| unknown_match(matches, match_id))?;
    let only = || own.iter().next().filter(|_| own.len() == 1);
    let found = seat.map_or_else(only, |seat| Some(Seat(seat)).filter(|&seat| own.contains(seat)));
    found.map(|seat| (key, seat)).ok_or_else(|| {
        let message = match seat {
            Some(seat) => format!("seat {seat} of this match is not yours"),
            None => "`seat` is missing: several seats of this match are yours".to_owned(),
        };
        Rejection::new(ErrorCode::UnknownSeat, message).naming(Some(match_id), matches)
    })
}

/// The seat of the sender that an address names.
fn addressed<M: Matches>(matches: &M, address: &Address<'_>) -> Option<(M::Key, Seat)> {
    find(matches, address.match_id.as_ref()?, address.seat).ok()
}

/// Routes a malformed line: a fault if it can be attributed to one request, otherwise an out-of-state message. `line` is
/// `None` if it was discarded.
fn route_broken<'a, M: Matches>(
    address: &Address<'_>,
    code: FaultCode,
    detail: Detail,
    line: Option<&'a [u8]>,
    sender: Sender,
    matches: &M,
) -> Routed<'a, M::Key> {
    let error = if code == FaultCode::LineTooLong { ErrorCode::LineTooLong } else { ErrorCode::Malformed };
    if !sender.has_greeted {
        return Routed::NoMessage(error, detail);
    }
    if address.turn.is_some()
        && let Some((key, seat)) = addressed(matches, address)
    {
        return Routed::Match(key, Input::Broken { seat, turn: address.turn, code, detail, line });
    }
    let is_open = |&&(key, seat): &&(M::Key, Seat)| matches.play(key).open_request(seat).is_some();
    let mut open = matches.seats().iter().filter(is_open);
    let only = open.next().filter(|_| open.next().is_none());
    // A line that names another match or seat does not replace this answer.
    let only = only.filter(|&&(key, seat)| {
        let id = &matches.play(key).setup().header.r#match;
        address.match_id.as_ref().is_none_or(|named| **named == **id)
            && address.seat.is_none_or(|named| named == seat.0)
    });
    match only {
        Some(&(key, seat)) => Routed::Match(key, Input::Broken { seat, turn: None, code, detail, line }),
        None => route_stray(address, error.into(), detail.to_string(), matches),
    }
}

/// Routes an out-of-state message. It counts against a match if it can be attributed to one.
fn route_stray<'a, M: Matches>(
    address: &Address<'_>,
    refused: RefusedLine,
    message: String,
    matches: &M,
) -> Routed<'a, M::Key> {
    let only = match matches.seats() {
        [only] => Some(*only),
        _ => None,
    };
    match addressed(matches, address).or(only) {
        Some((key, seat)) => Routed::Match(key, Input::Stray { seat, code: refused.code, message }),
        None => {
            let id = address.id.as_ref().map(ToString::to_string);
            let rejection = Rejection { id, ..Rejection::new(refused, message) };
            Routed::Rejected(rejection.naming(address.match_id.as_deref(), matches))
        }
    }
}

/// Truncates a match id for an error message.
fn shown(match_id: &str) -> String {
    match_id.chars().take(40).collect()
}

fn unknown_match<M: Matches>(matches: &M, match_id: &str) -> Rejection<M::Key> {
    let message = format!("there is no match `{}` on this connection, or it has ended", shown(match_id));
    Rejection::new(ErrorCode::UnknownMatch, message).naming(Some(match_id), matches)
}
