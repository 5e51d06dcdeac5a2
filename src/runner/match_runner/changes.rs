//! Bots that join a run in progress.

use std::collections::BTreeMap;
use std::sync::Arc;

use tokio::sync::mpsc;

use super::EventLoop;
use crate::sources::{BotSpec, Connection, Lobby, TokenHash};

/// A change of a run in progress.
#[derive(Debug)]
pub enum RunChange {
    /// A bot joins that the referee starts.
    Bot(BotSpec),
    /// The bots that may connect from now on, with SHA-256 of their tokens. Others play their matches to the end.
    Tokens(BTreeMap<String, TokenHash>),
    /// The schedule may have more matches.
    Wake,
}

pub(super) type Changes = Option<mpsc::UnboundedReceiver<RunChange>>;

/// The next change of the run; pending without changes.
pub(super) async fn next_change(changes: &mut Changes) -> Option<RunChange> {
    match changes {
        Some(receiver) => receiver.recv().await,
        None => std::future::pending().await,
    }
}

impl EventLoop {
    /// Changes the run.
    pub(super) fn apply(&mut self, change: RunChange) {
        match change {
            RunChange::Bot(bot) => self.join(bot).unwrap_or_else(|why| tracing::warn!("{why}")),
            RunChange::Tokens(tokens) => {
                if let Some(lobby) = &mut self.lobby {
                    lobby.set_tokens(tokens);
                }
                self.note_guests();
            }
            RunChange::Wake => self.schedule.wake(),
        }
    }

    /// Adds a bot to the run, unless the schedule refuses it.
    fn join(&self, bot: BotSpec) -> Result<(), String> {
        let index = self.common.bots.all().len();
        let name = bot.name.clone();
        // It may be paired as soon as the schedule knows it.
        self.common.bots.push(bot);
        self.schedule.join(index, &name).inspect_err(|_| self.common.bots.pop())
    }

    /// Tells the schedule how many connections bots have that join by connecting. The first connection of a name adds
    /// its bot to the run.
    pub(super) fn note_guests(&mut self) {
        let changed = self.lobby.as_mut().map(Lobby::take_changed).unwrap_or_default();
        for name in changed {
            let index = match self.guests.get(&name) {
                Some(&index) => index,
                None => {
                    let index = self.common.bots.all().len();
                    let source = Arc::new(Connection::of(&name));
                    let mut spec = BotSpec::of(vec![source]);
                    if let Err(why) = spec.drain(..).try_for_each(|bot| self.join(bot)) {
                        tracing::warn!(name, "not admitted: {why}");
                        if let Some(lobby) = &mut self.lobby {
                            lobby.dismiss(&name, &why);
                        }
                        continue;
                    }
                    self.guests.insert(name.clone(), index);
                    index
                }
            };
            let connections = self.lobby.as_ref().map_or(0, |lobby| lobby.connections(&name));
            self.schedule.set_connections(index, connections);
        }
    }
}
