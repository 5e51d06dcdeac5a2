//! Bots that join a run in progress.

use std::sync::Arc;

use referee_game::{Chain, Wrong};
use referee_match::Leg;
use tokio::sync::{mpsc, oneshot};

use super::event_loop::EventLoop;
use crate::runner::fixture::{Fixture, Wait};
use crate::runner::lane_messages::LaneOrder;
use crate::runner::resumed::ResumedMatch;
use crate::sources::{BotSpec, BotTokens, Connection, Lobby};

/// A change of a run in progress.
#[derive(Debug)]
pub enum RunChange {
    /// A bot joins that the referee starts.
    Bot(BotSpec),
    /// The bots that may connect from now on, with their tokens. Others play their matches to the end.
    Tokens(BotTokens),
    /// The schedule may have more matches.
    Wake,
    /// Say when all changes before this one are in force.
    Confirm(oneshot::Sender<()>),
    /// Send the ids of the matches in progress with their numbers of moves.
    Progress(mpsc::UnboundedSender<(String, u32)>),
}

/// The next change of the run; pending without changes.
pub(super) async fn next_change(
    changes: &mut Option<mpsc::UnboundedReceiver<RunChange>>,
) -> Option<RunChange> {
    match changes {
        Some(receiver) => receiver.recv().await,
        None => std::future::pending().await,
    }
}

impl EventLoop {
    pub(super) fn apply(&mut self, change: RunChange) {
        match change {
            RunChange::Bot(bot) => self.join(bot).unwrap_or_else(|why| tracing::warn!("{}", Chain(&why))),
            RunChange::Tokens(tokens) => {
                if let Some(lobby) = &mut self.lobby {
                    lobby.set_tokens(tokens);
                }
            }
            RunChange::Wake => self.schedule.wake(),
            RunChange::Confirm(done) => {
                // The receiver may have been dropped.
                let _ = done.send(());
            }
            RunChange::Progress(to) => {
                for lane in 0..self.lanes.len() {
                    self.send(lane, LaneOrder::Progress(to.clone()));
                }
            }
        }
    }

    /// Adds a bot to the run, unless the schedule refuses it.
    fn join(&self, bot: BotSpec) -> Result<(), Wrong> {
        let index = self.common.bots.all().len();
        let name = bot.name.clone();
        // The bot may be paired as soon as the schedule knows it.
        self.common.bots.push(bot);
        self.schedule.join(index, &name).inspect_err(|_| self.common.bots.pop())
    }

    /// The index of a bot that joins by connecting; adds it to the run if it is new.
    fn guest(&mut self, name: &str) -> Result<usize, Wrong> {
        if let Some(&index) = self.guests.get(name) {
            return Ok(index);
        }
        let index = self.common.bots.all().len();
        let source = Arc::new(Connection::of(name));
        BotSpec::of(vec![source]).drain(..).try_for_each(|bot| self.join(bot))?;
        self.guests.insert(name.to_owned(), index);
        Ok(index)
    }

    /// The fixtures of matches of an earlier process, whose bots join the run.
    pub(super) fn fixtures(
        &mut self,
        mut resumed: Vec<ResumedMatch>,
    ) -> Result<Vec<(Fixture, ResumedMatch)>, Wrong> {
        ResumedMatch::leave_ended(&mut resumed);
        let fixture = |resumed: ResumedMatch| {
            let bots: Result<Vec<usize>, Wrong> =
                resumed.header().seats.iter().map(|seat| self.guest(&seat.name)).collect();
            let header = &resumed.play.setup().header;
            let fixture = Fixture {
                id: header.r#match.clone(),
                deal: None,
                leg: Leg::Only,
                options: header.options.clone().into(),
                opening: Arc::new(header.opening.clone()),
                bots: bots?,
                wait: Wait::Always,
                secret: None,
            };
            self.schedule.resumed();
            Ok((fixture, resumed))
        };
        resumed.into_iter().map(fixture).collect()
    }

    /// Tells the schedule how many connections bots have that join by connecting. The first connection of a name adds
    /// its bot to the run.
    pub(super) fn note_guests(&mut self) {
        let changed = self.lobby.as_mut().map(Lobby::take_changed).unwrap_or_default();
        for name in changed {
            let index = match self.guest(&name) {
                Ok(index) => index,
                Err(why) => {
                    let why = Chain(&why).to_string();
                    tracing::warn!(name, "not admitted: {why}");
                    if let Some(lobby) = &mut self.lobby {
                        lobby.dismiss(&name, &why);
                    }
                    continue;
                }
            };
            let connections = self.lobby.as_ref().map_or(0, |lobby| lobby.connections(&name));
            self.schedule.set_connections(index, connections);
        }
    }
}
