//! Plays the matches of visitors against the programs of a ladder.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use referee_bots::{Command, Launch};
use referee_engine::driver::{Run, Terms};
use referee_engine::runner::MatchRunner;
use referee_engine::sources::{BotSpec, Source};
use referee_game::{Chain, Wrong};
use referee_web::{VisitorMatch, VisitorRoom};

use crate::RelaySocket;
use crate::config::random_seed;
use crate::league::config::{LadderConfig, LadderGame, LadderVisitors};
use crate::play::Play;

/// The name of visitors in their matches.
const VISITOR: &str = "visitor";

/// The programs of a ladder that the server starts, by player.
#[derive(Clone, Debug, Default)]
pub(super) struct StartedPrograms(Arc<Mutex<BTreeMap<String, Command>>>);

impl StartedPrograms {
    fn get(&self, player: &str) -> Option<Command> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(player).cloned()
    }

    pub(super) fn add(&self, player: &str, command: &Command) {
        let mut programs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        programs.insert(player.to_owned(), command.clone());
    }
}

/// Resources that the matches of visitors share.
struct VisitorTable {
    config: LadderConfig,
    game: LadderGame,
    terms: Terms,
    launch: Launch,
    programs: StartedPrograms,
}

/// A room for the visitors of a ladder.
pub(super) fn room(
    visitors: &LadderVisitors,
    config: &LadderConfig,
    game: &LadderGame,
    launch: &Launch,
    programs: &StartedPrograms,
) -> VisitorRoom {
    let known = programs.clone();
    let table = VisitorTable {
        config: config.clone(),
        game: game.clone(),
        terms: visitors.terms,
        launch: launch.clone(),
        programs: programs.clone(),
    };
    let play = move |visit| {
        if let Err(why) = table.play(visit) {
            tracing::error!("{}: a visitor cannot play: {}", table.config.name, Chain(&why));
        }
    };
    VisitorRoom::new(visitors.matches, visitors.per_address, move |player| known.get(player).is_some(), play)
}

impl VisitorTable {
    fn play(&self, visit: VisitorMatch) -> Result<(), Wrong> {
        let VisitorMatch { bot, seat, client, feed, interrupt } = visit;
        // The bot may have been replaced by another version at this moment.
        let Some(program) = self.programs.get(&bot) else { return Ok(()) };
        let LadderGame { rules, seating, .. } = self.game;
        let seed = random_seed()?;
        let openings = self.config.openings(&self.game, &seed)?;
        let socket = RelaySocket::open(VISITOR)?;
        let program: Arc<dyn Source> = Arc::new(program);
        let mut bots = vec![(program, Some(bot)); seating.seats() - 1];
        bots.insert(seat.index(), (Arc::new(socket.command()), Some(VISITOR.to_owned())));
        let runner = MatchRunner {
            live: Some(feed),
            ..MatchRunner::new(
                Run { seed, terms: self.terms },
                rules,
                seating,
                BotSpec::named_by_hello(bots),
                self.launch.clone(),
            )
        };
        let play = Play { runner, matches: 1, openings, mirror: None, trust_bots: false, max_cost: None };
        let listener = socket.listener()?;
        thread::scope(|scope| {
            scope.spawn(move || {
                let played = listener.accept().and_then(|(stream, _)| client.play(stream));
                client.lose(played.err());
            });
            // An error means that the sender is gone: the visitor's page no longer exists.
            let played = play.run(async { _ = interrupt.await }, |_| {});
            if let Some(why) = played.stopped {
                tracing::error!("{}: the match of a visitor: {}", self.config.name, Chain(&why));
            }
            // The relay may not have connected.
            socket.wake()
        })?;
        Ok(())
    }
}
