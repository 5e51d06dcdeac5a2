//! Writes events and errors to bots, spectators and the record.

use referee_protocol::referee as message;
use referee_protocol::words::ErrorCode;
use serde::Serialize;

use crate::core::json::{self, key, opening};
use crate::core::seat::{Seat, Viewer};
use crate::referee::event::Stamp;
use crate::referee::log::Log;
use crate::referee::match_::Match;
use crate::referee::player::Player;
use crate::referee::setup::Setup;

/// An event of the match itself, not of the game.
#[derive(Serialize)]
pub(super) struct Happened {
    pub(super) kind: &'static str,
    pub(super) seat: Seat,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<&'static str>,
}

impl Match {
    pub(super) fn tell_facts(&mut self, stamp: Stamp) {
        for index in 0..self.table.told() {
            // Borrow the fields separately: the closure borrows the table.
            let Match { setup, players, table, log, news, .. } = self;
            tell(setup, players, log, news, stamp, |viewer, out| table.write_event(index, viewer, out));
        }
        self.table.forget();
    }

    pub(super) fn tell_event(&mut self, stamp: Stamp, write: impl Fn(Viewer, &mut Vec<u8>)) {
        tell(&self.setup, &mut self.players, &mut self.log, &mut self.news, stamp, write);
    }

    pub(super) fn tell_error(
        &mut self,
        seat: Seat,
        turn: Option<u64>,
        code: ErrorCode,
        message: String,
        forms: Option<Vec<String>>,
    ) {
        let error = message::FromReferee::<()>::Error(message::Error {
            code,
            message,
            id: None,
            r#match: Some(self.setup.header.r#match.clone()),
            seat: Some(seat.0),
            turn,
            legal_forms: forms,
        });
        let player = self.player(seat);
        if !player.gone {
            json::write_line(&mut player.outbox, &error);
        }
    }
}

/// Writes an event to the record, the spectator and the seats, each as it may see it.
fn tell(
    setup: &Setup,
    players: &mut [Player],
    log: &mut Log,
    news: &mut Vec<u8>,
    stamp: Stamp,
    write: impl Fn(Viewer, &mut Vec<u8>),
) {
    log.line(opening!("event"), stamp.at)
        .with(key!("event"), |out| write(Viewer::Omniscient, out))
        .end_line();
    if let Some(viewer) = setup.watched {
        write(viewer, news);
        news.push(b'\n');
    }
    for player in players {
        let wants = setup.wants[player.seat.index()];
        if !wants.event || player.gone {
            continue;
        }
        let out = if wants.push { &mut player.outbox } else { &mut player.held };
        out.extend_from_slice(&player.event_head);
        json::decimal(out, player.next_event.into());
        out.extend_from_slice(b",\"event\":");
        write(Viewer::Seat(player.seat), out);
        out.extend_from_slice(b"}\n");
        player.next_event += 1;
    }
}
