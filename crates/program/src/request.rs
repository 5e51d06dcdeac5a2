//! Requests to the program of a game.

use referee_game::json;
use referee_game::notation::{MatchTags, SheetDraw};
use referee_game::seat::{Seat, Viewer};
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

/// A request to the program.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum RulesRequest<'a> {
    /// The initial position.
    Start { options: &'a RawValue, seats: usize, sides: usize },
    /// The position after a decision.
    Play {
        state: &'a RawValue,
        /// The moves, one of each seat that decides, in seat order.
        moves: &'a [SeatMove<'a>],
    },
    /// The position after a draw.
    Settle {
        state: &'a RawValue,
        /// The numbers that were drawn.
        drawn: &'a [u32],
    },
    /// Whether a move that is not listed is legal.
    Check { state: &'a RawValue, seat: Seat, r#move: &'a str },
    /// A position that agrees with a seat's knowledge.
    Imagine {
        options: &'a RawValue,
        seats: usize,
        sides: usize,
        seat: Seat,
        view: &'a RawValue,
        /// `turns_left` of its decision.
        #[serde(skip_serializing_if = "Option::is_none")]
        turns_left: Option<u32>,
        /// Random numbers, each from 0 to 4,294,967,295.
        random: &'a [u32],
    },
    /// A match in a notation.
    Export {
        form: &'a str,
        r#match: &'a str,
        options: &'a RawValue,
        seats: usize,
        sides: usize,
        names: &'a [String],
        moves: &'a [ExportedMove<'a>],
        draws: &'a [SheetDraw],
        /// By seat; `None` if the match was aborted.
        #[serde(skip_serializing_if = "Option::is_none")]
        ranks: Option<&'a [u8]>,
        ended: &'a str,
        tags: &'a MatchTags,
    },
    /// The position as a viewer may see it.
    Show {
        state: &'a RawValue,
        #[serde(serialize_with = "write_viewer")]
        viewer: Viewer,
    },
}

#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct SeatMove<'a> {
    pub(crate) seat: u8,
    pub(crate) r#move: &'a str,
}

/// A move, and facts about it.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct ExportedMove<'a> {
    #[serde(flatten)]
    pub(crate) made: SeatMove<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) took_us: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) info: Option<&'a RawValue>,
}

fn write_viewer<S: Serializer>(viewer: &Viewer, serializer: S) -> Result<S::Ok, S::Error> {
    match viewer {
        Viewer::Seat(seat) => seat.serialize(serializer),
        Viewer::Public => "public".serialize(serializer),
        Viewer::Omniscient => "all".serialize(serializer),
    }
}

impl RulesRequest<'_> {
    /// The request as one line of JSON, without its line break.
    pub(crate) fn line(&self) -> Vec<u8> {
        let mut line = Vec::with_capacity(256);
        json::write_value(&mut line, self);
        line
    }
}

#[cfg(test)]
mod tests {
    use serde_json::value::to_raw_value;

    use super::*;

    fn text(request: RulesRequest<'_>) -> String {
        String::from_utf8(request.line()).unwrap()
    }

    #[test]
    fn requests_are_lines_of_json() {
        let state = to_raw_value(&[1, 2]).unwrap();
        let moves = [SeatMove { seat: 1, r#move: "d4" }];
        assert_eq!(
            text(RulesRequest::Play { state: &state, moves: &moves }),
            r#"{"type":"play","state":[1,2],"moves":[{"seat":1,"move":"d4"}]}"#
        );
        let show = |viewer| text(RulesRequest::Show { state: &state, viewer });
        assert_eq!(show(Viewer::Seat(Seat(2))), r#"{"type":"show","state":[1,2],"viewer":2}"#);
        assert_eq!(show(Viewer::Public), r#"{"type":"show","state":[1,2],"viewer":"public"}"#);
        assert_eq!(show(Viewer::Omniscient), r#"{"type":"show","state":[1,2],"viewer":"all"}"#);
    }
}
