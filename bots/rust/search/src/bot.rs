//! Adapts a search to the bot interface.

use std::collections::HashMap;
use std::fmt;
use std::time::Duration;

use referee_bot::{Answer, Bot, End, Hello, Move, Start, Turn, Want, hello};
use referee_game::{Imagine, Known, Seat, Seating};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::deadline::Deadline;

#[derive(Debug)]
pub struct Question<'a, G: Imagine> {
    /// Knowledge of the seat in addition to the view.
    pub known: Known<'a, G::Options>,
    pub seen: G::Seen,
    /// When the search must answer.
    pub deadline: Deadline,
}

#[derive(Clone, Debug)]
pub struct Found<M> {
    /// The best move; `None` only without legal moves.
    pub best: Option<M>,
    /// Whether a draw would be better than the expected result.
    pub is_behind: bool,
    /// Search info for the record: score, depth, nodes.
    pub info: Map<String, Value>,
}

/// Searches for moves in a game.
pub trait Search<G: Imagine> {
    /// Returns the best move found.
    fn search(&mut self, question: &Question<'_, G>) -> Found<G::Move>;
}

/// A search algorithm, for some games.
pub trait Searcher {
    const NAME: &'static str;

    /// The games, by id.
    fn games() -> Vec<&'static str>;

    /// Creates the player for a new match.
    ///
    /// # Errors
    /// When the match is not supported.
    fn sit(&mut self, start: &Start<'_>) -> Result<Box<dyn Player>, NoPlayer>;
}

/// Reasons why a match is not played.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NoPlayer {
    #[error("unknown game `{0}`")]
    Game(String),
    #[error("options: {0}")]
    Options(serde_json::Error),
    #[error("{0} seats")]
    Seats(usize),
}

/// Reasons why a turn has no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NoMove {
    #[error("view: {0}")]
    View(serde_json::Error),
    #[error("a turn without a legal move")]
    NoLegalMove,
}

/// Plays one seat of one match.
pub trait Player {
    /// Chooses the answer to a turn, within the bot's own time limit.
    ///
    /// # Errors
    /// When the view does not fit the game.
    fn choose(&mut self, turn: &Turn<'_>, own: Option<Duration>) -> Result<Answer, NoMove>;
}

struct Seated<G: Imagine, S> {
    options: G::Options,
    seating: Seating,
    search: S,
}

/// Creates the player of a search for one seat of a new match.
///
/// # Errors
/// When the options or the number of seats do not fit the game.
pub fn seated<G: Imagine, S: Search<G> + 'static>(
    start: &Start<'_>,
    search: S,
) -> Result<Box<dyn Player>, NoPlayer> {
    let options = G::Options::deserialize(start.options).map_err(NoPlayer::Options)?;
    let seating = G::META.seatings.iter().find(|seating| seating.seats() == start.seats.len());
    let seating = *seating.ok_or(NoPlayer::Seats(start.seats.len()))?;
    Ok(Box::new(Seated::<G, S> { options, seating, search }))
}

impl<G: Imagine, S: Search<G>> Player for Seated<G, S> {
    fn choose(&mut self, turn: &Turn<'_>, own: Option<Duration>) -> Result<Answer, NoMove> {
        let deadline = Deadline::new(own, turn.clock);
        let Seated { options, seating, search } = self;
        let known = Known { options, seating: *seating, seat: Seat(turn.seat), turns_left: turn.turns_left };
        let seen = turn.view().map_err(NoMove::View)?;
        let found = search.search(&Question { known, seen, deadline });
        if turn.draw_offered && found.is_behind {
            return Ok(Answer::AcceptDraw);
        }
        let best = found.best.ok_or(NoMove::NoLegalMove)?;
        Ok(Move::text(best.to_string()).with_info(found.info.into()).into())
    }
}

/// A bot that answers by searching.
pub struct Opponent<S> {
    searcher: S,
    own: Option<Duration>,
    players: HashMap<(String, u8), Result<Box<dyn Player>, NoPlayer>>,
}

impl<S> fmt::Debug for Opponent<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Opponent").field("players", &self.players.keys()).finish_non_exhaustive()
    }
}

impl<S: Searcher> Opponent<S> {
    /// Creates a bot with its own time limit per move.
    pub fn new(searcher: S, own: Option<Duration>) -> Opponent<S> {
        Opponent { searcher, own, players: HashMap::new() }
    }
}

impl<S: Searcher> Bot for Opponent<S> {
    fn hello(&self) -> Hello {
        Hello {
            version: Some(env!("CARGO_PKG_VERSION").to_owned()),
            games: Some(S::games().into_iter().map(str::to_owned).collect()),
            // The bot generates legal moves itself, and views contain everything that events report.
            wants: Some(vec![Want::View]),
            ..hello(S::NAME)
        }
    }

    fn start(&mut self, start: &Start<'_>) {
        self.players.insert((start.r#match.clone(), start.seat), self.searcher.sit(start));
    }

    fn choose(&mut self, turn: &Turn<'_>) -> Answer {
        let why = match self.players.get_mut(&(turn.r#match.to_string(), turn.seat)) {
            Some(Ok(player)) => match player.choose(turn, self.own) {
                Ok(answer) => return answer,
                Err(why) => why.to_string(),
            },
            Some(Err(why)) => why.to_string(),
            None => "this match has not started".to_owned(),
        };
        // Without a position to search, resign.
        eprintln!("{}: resigns {}: {why}", S::NAME, turn.r#match);
        Answer::Resign
    }

    fn end(&mut self, end: &End) {
        self.players.remove(&(end.r#match.clone(), end.seat));
    }
}
