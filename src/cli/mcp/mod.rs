//! `referee mcp`: offers a seat to an agent through the Model Context Protocol.

mod seat;
mod server;

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread;

use clap::Args as ClapArgs;

use crate::cli::bots::with_bots;
use crate::cli::screen::complain;
use crate::cli::seat::{SeatMatch, SeatOptions};
use crate::cli::signals::interrupted;
use crate::cli::{Exit, Failure};
use crate::game::Catalog;
use crate::report::{evidence_lines, result_line};
use crate::runner::{Evidence, PlayEvent, PlayResult};
use seat::AgentSeat;
use server::SeatServer;

/// Offer a seat in a match to an agent, as a server of the Model Context Protocol (MCP)
///
/// The agent's program starts this command and speaks MCP on its standard input and output. The tools are `rules`,
/// `wait_for_turn`, `move` and `resign`. One process plays one match. An agent that leaves before its end has the fault
/// `exited`.
#[derive(Debug, ClapArgs)]
#[command(mut_arg("seat", |seat| seat.help("The agent's seat; seat 0 is that of the first bot in `referee play`")))]
#[command(after_help = "Examples:
  referee mcp checkers 'python3 bots/python/greedy_bot.py'
  referee mcp jeex ./bot --seat 1 --record records

In the configuration of the agent's program:
  {\"mcpServers\": {\"checkers\": {\"command\": \"referee\", \"args\": [\"mcp\", \"checkers\", \"./bot\"]}}}")]
pub(super) struct Args {
    #[command(flatten)]
    seat: SeatOptions,
}

pub(super) fn run(args: Args, catalog: &Catalog) -> Result<Exit, Failure> {
    let SeatMatch { rules, socket, play, .. } = args.seat.open(catalog, "agent", "the agent")?;
    let seat = Arc::new(AgentSeat::default());
    let listener = socket.listener().map_err(Failure::cannot_run)?;
    let player = Arc::clone(&seat);
    thread::spawn(move || {
        let played = listener.accept().and_then(|(stream, _)| player.play(stream));
        player.lose(played.err());
    });
    let (sender, left) = channel();
    let server = SeatServer::new(rules.meta().rules, Arc::clone(&seat));
    thread::spawn(move || {
        let served = server.serve();
        // The seat has no other source of moves than the agent.
        seat.leave();
        let _ = sender.send(served);
    });
    let mut result = None;
    let PlayResult { summary, stopped } = with_bots(|| {
        let on_event = |step: PlayEvent<'_>| {
            if let PlayEvent::Ended(report) = step {
                result = Some((result_line(report), report.record.clone()));
            }
        };
        play.run(interrupted(), on_event)
    });
    // Standard output belongs to the protocol.
    if let Some((line, record)) = result {
        complain(format_args!("{line}"));
        if let Some(path) = record {
            complain(format_args!("record: {}", path.display()));
        }
        for line in evidence_lines(&summary.first_faults, Evidence::is_quote) {
            complain(format_args!("{line}"));
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
