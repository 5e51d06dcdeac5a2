//! A search as a bot.

use std::collections::HashMap;
use std::time::Duration;

use referee::core::{Game, Known, Seat, Seating};
use referee_bot::{Answer, Bot, End, Hello, Move, Start, Turn, Want, hello};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::deadline::Deadline;

/// What a search is asked.
#[derive(Debug)]
pub struct Question<'a, G: Game> {
    /// What the seat knows beside the view.
    pub known: Known<'a, G::Options>,
    /// The view.
    pub seen: G::Seen,
    /// When to answer.
    pub deadline: Deadline,
}

/// What a search found.
#[derive(Clone, Debug)]
pub struct Found<M> {
    /// The move; none only where there is no legal one.
    pub best: Option<M>,
    /// Whether a draw would be better.
    pub is_behind: bool,
    /// For the record: score, depth, nodes.
    pub info: Map<String, Value>,
}

/// Finds moves of a game.
pub trait Search<G: Game> {
    /// The best move that it finds.
    fn search(&mut self, question: &Question<'_, G>) -> Found<G::Move>;
}

/// A kind of search, for some games.
pub trait Searcher {
    /// How the bot is called.
    const NAME: &'static str;

    /// The games, by id.
    fn games() -> Vec<&'static str>;

    /// What plays a match that begins.
    ///
    /// # Errors
    /// When it cannot play this match.
    fn sit(&mut self, start: &Start<'_>) -> Result<Box<dyn Player>, String>;
}

/// What plays one seat of one match.
pub trait Player {
    /// Decides on a turn, in the bot's own time at most.
    ///
    /// # Errors
    /// When the view is not the game's.
    fn choose(&mut self, turn: &Turn<'_>, own: Option<Duration>) -> Result<Answer, String>;
}

struct Seated<G: Game, S> {
    options: G::Options,
    seating: Seating,
    search: S,
}

/// A search at the seat of a match that begins.
///
/// # Errors
/// When the options or the number of seats are not the game's.
pub fn seated<G: Game, S: Search<G> + 'static>(
    start: &Start<'_>,
    search: S,
) -> Result<Box<dyn Player>, String> {
    let options = G::Options::deserialize(start.options).map_err(|error| format!("options: {error}"))?;
    let seating = G::META.seatings.iter().find(|seating| seating.seats() == start.seats.len());
    let seating = *seating.ok_or_else(|| format!("{} seats", start.seats.len()))?;
    Ok(Box::new(Seated::<G, S> { options, seating, search }))
}

impl<G: Game, S: Search<G>> Player for Seated<G, S> {
    fn choose(&mut self, turn: &Turn<'_>, own: Option<Duration>) -> Result<Answer, String> {
        let deadline = Deadline::new(own, turn.clock);
        let Seated { options, seating, search } = self;
        let known = Known { options, seating: *seating, seat: Seat(turn.seat), turns_left: turn.turns_left };
        let seen = turn.view().map_err(|error| format!("view: {error}"))?;
        let found = search.search(&Question { known, seen, deadline });
        if turn.draw_offered && found.is_behind {
            return Ok(Answer::AcceptDraw);
        }
        let best = found.best.ok_or("a turn without a legal move")?;
        Ok(Move::text(best.to_string()).with_info(found.info.into()).into())
    }
}

/// A searcher as a bot.
pub struct Opponent<S> {
    searcher: S,
    own: Option<Duration>,
    players: HashMap<(String, u8), Result<Box<dyn Player>, String>>,
}

impl<S: Searcher> Opponent<S> {
    /// A bot that takes its own time for a move at most.
    pub fn new(searcher: S, own: Option<Duration>) -> Opponent<S> {
        Opponent { searcher, own, players: HashMap::new() }
    }
}

impl<S: Searcher> Bot for Opponent<S> {
    fn hello(&self) -> Hello {
        Hello {
            version: Some(env!("CARGO_PKG_VERSION").to_owned()),
            games: Some(S::games().into_iter().map(str::to_owned).collect()),
            // The rules tell the legal moves, and a view all that events told.
            wants: Some(vec![Want::View]),
            ..hello(S::NAME)
        }
    }

    fn start(&mut self, start: &Start<'_>) {
        self.players.insert((start.r#match.clone(), start.seat), self.searcher.sit(start));
    }

    fn choose(&mut self, turn: &Turn<'_>) -> Answer {
        let player = match self.players.get_mut(&(turn.r#match.to_string(), turn.seat)) {
            Some(Ok(player)) => player.choose(turn, self.own),
            Some(Err(why)) => Err(why.clone()),
            None => Err("this match has not started".to_owned()),
        };
        // Nothing to search is nothing to play with.
        player.unwrap_or_else(|why| {
            eprintln!("{}: resigns {}: {why}", S::NAME, turn.r#match);
            Answer::Resign
        })
    }

    fn end(&mut self, end: &End) {
        self.players.remove(&(end.r#match.clone(), end.seat));
    }
}
