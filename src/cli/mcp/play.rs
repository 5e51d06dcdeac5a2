//! Plays the match of an agent.

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread;

use crate::cli::bots::with_bots;
use crate::cli::exit::{Exit, Failure};
use crate::cli::mcp::server::ToolServer;
use crate::cli::screen::stderr_line;
use crate::cli::seat::{SeatMatch, SeatOptions};
use crate::cli::signals::interrupted;
use crate::client::SeatClient;
use crate::game::Catalog;
use crate::report::{evidence_lines, result_line};
use crate::results::Evidence;
use crate::runs::play::{PlayEvent, PlayResult};

/// Serves the tools of a seat, and plays its match.
pub(super) fn run(options: SeatOptions, catalog: &Catalog) -> Result<Exit, Failure> {
    let SeatMatch { rules, socket, play, .. } = options.open(catalog, "agent", "the agent")?;
    let seat = Arc::new(SeatClient::new("agent"));
    let listener = socket.listener().map_err(Failure::cannot_run)?;
    let player = Arc::clone(&seat);
    thread::spawn(move || {
        let played = listener.accept().and_then(|(stream, _)| player.play(stream));
        player.lose(played.err());
    });
    let (sender, left) = channel();
    let server = ToolServer::of_seat(rules.meta().rules, Arc::clone(&seat));
    thread::spawn(move || {
        let served = server.serve();
        // The seat has no other source of moves than the agent.
        seat.leave();
        let _ = sender.send(served);
    });
    let mut result = None;
    let PlayResult { summary, stopped, .. } = with_bots(|| {
        let on_event = |step: PlayEvent<'_>| {
            if let PlayEvent::Ended(finished) = step {
                result = Some((result_line(finished, rules.meta()), finished.record.clone()));
            }
        };
        play.run(interrupted(), on_event)
    });
    // Standard output belongs to the protocol.
    if let Some((line, record)) = result {
        stderr_line(format_args!("{line}"));
        if let Some(path) = record {
            stderr_line(format_args!("record: {}", path.display()));
        }
        for line in evidence_lines(&summary.first_faults, Evidence::is_quote) {
            stderr_line(format_args!("{line}"));
        }
    }
    if summary.interrupted {
        return Ok(Exit::Interrupted);
    }
    if let Some(why) = stopped {
        return Err(Failure::cannot_run(why));
    }
    // The agent may still ask for the result.
    match left.recv() {
        Ok(Err(error)) => Err(Failure::cannot_run(error)),
        _ => Ok(Exit::Done),
    }
}
