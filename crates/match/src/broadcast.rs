//! Writes events and errors to bots, spectators and the record.

use std::collections::VecDeque;

use referee_game::erased::MoveMade;
use referee_game::json;
use referee_game::seat::{Seat, Viewer};
use referee_protocol::referee as message;
use referee_protocol::words::ErrorCode;
use serde::Serialize;

use crate::common::Common;
use crate::event::{MatchEvent, Stamp};
use crate::log::Log;
use crate::player::Player;
use crate::setup::{Setup, Wants};
use crate::starting::write_start;

/// An event of the match itself, not of the game.
#[derive(Serialize)]
pub(super) struct RefereeEvent {
    pub(super) kind: &'static str,
    pub(super) seat: Seat,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<&'static str>,
}

impl Common {
    /// Writes the first messages of a bot's next connection: `start`, and the events that the bot may not
    /// have received. A `ready` that answers it has no effect if the seat `is_ready`.
    pub(super) fn resume(&mut self, seat: Seat, wants: Wants, is_ready: bool) {
        self.setup.wants[seat.index()] = wants;
        let player = self.player(seat);
        if player.gone {
            return;
        }
        (player.refused, player.received) = (None, None);
        player.may_be_ready = is_ready;
        player.outbox.clear();
        write_start(self, seat, true);
        let player = self.player(seat);
        player.outbox.extend_from_slice(&player.repeat);
    }

    pub(super) fn broadcast_facts(&mut self, stamp: Stamp) {
        for index in 0..self.table.event_count() {
            // Borrow the fields separately: the closure borrows the table.
            let Common { setup, players, table, log, news, events, moves, .. } = self;
            if let Some(MoveMade { seat, text, is_opening: false, .. }) = table.move_made(index) {
                moves[seat.index()].push('\n');
                moves[seat.index()].push_str(text);
            }
            let write = |viewer, out: &mut Vec<u8>| table.write_event(index, viewer, out);
            broadcast(setup, players, log, news, events, stamp, write);
        }
        self.table.forget();
    }

    pub(super) fn broadcast_event(&mut self, stamp: Stamp, write: impl Fn(Viewer, &mut Vec<u8>)) {
        let Common { setup, players, log, news, events, .. } = self;
        broadcast(setup, players, log, news, events, stamp, write);
    }

    pub(super) fn send_error(
        &mut self,
        seat: Seat,
        turn: Option<u64>,
        code: ErrorCode,
        message: String,
        forms: Option<Vec<String>>,
    ) {
        if self.player(seat).gone {
            return;
        }
        let error = message::Error {
            code,
            message,
            id: None,
            r#match: Some(self.setup.header.r#match.clone()),
            seat: Some(seat.0),
            turn,
            legal_forms: forms,
        };
        self.events.push_back(MatchEvent::Error(Box::new(error.clone())));
        json::write_line(&mut self.player(seat).outbox, &message::FromReferee::<()>::Error(error));
    }
}

/// Writes an event to the record, the spectator and the seats, each as it may see it.
fn broadcast(
    setup: &Setup,
    players: &mut [Player],
    log: &mut Log,
    news: &mut Vec<u8>,
    events: &mut VecDeque<MatchEvent>,
    stamp: Stamp,
    write: impl Fn(Viewer, &mut Vec<u8>),
) {
    log.event(stamp.at, |out| write(Viewer::Omniscient, out));
    if let Some(viewer) = setup.watched {
        let before = news.len();
        write(viewer, news);
        if news.len() > before {
            if before == 0 {
                events.push_back(MatchEvent::News);
            }
            news.push(b'\n');
        }
    }
    for player in players {
        let wants = setup.wants[player.seat.index()];
        if !wants.event || player.gone {
            continue;
        }
        let out = &mut player.held;
        let before = out.len();
        out.extend_from_slice(&player.event_head);
        json::decimal(out, player.next_event.into());
        out.extend_from_slice(b",\"event\":");
        let head = out.len();
        write(Viewer::Seat(player.seat), out);
        if out.len() == head {
            // The seat does not see it.
            out.truncate(before);
            continue;
        }
        out.extend_from_slice(b"}\n");
        player.next_event += 1;
        if wants.push {
            player.release_events(wants.repeat);
        }
    }
}
