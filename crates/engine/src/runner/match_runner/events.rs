//! Inputs of the event loop of a run.

use super::event_loop::EventLoop;
use super::supply::BotRequest;
use slotmap::Key;

use crate::runner::lane_messages::LaneEvent;
use crate::runner::run_event::Halt;
use crate::sources::{Holder, Lobby};

impl EventLoop {
    /// Handles an event of a lane.
    pub(super) fn handle_event(
        &mut self,
        lane: usize,
        event: LaneEvent,
        is_stopping: bool,
    ) -> Result<(), Halt> {
        match event {
            LaneEvent::NeedsBots(..) if is_stopping => {}
            LaneEvent::NeedsBots(bots, wait) => {
                self.needs.push(BotRequest::new(lane, bots, wait));
                self.is_supply_due = true;
            }
            LaneEvent::EndProcess(process) => {
                self.ending.spawn(process.end());
            }
            LaneEvent::ReturnsConnection(moving) => {
                if let Some(lobby) = &mut self.lobby {
                    lobby.put_back(*moving);
                }
                self.is_supply_due = true;
            }
            LaneEvent::ConnectionEnded(entrant) => {
                let entrant = self.common.bots.get(entrant);
                if let Some((lobby, name)) = self.lobby.as_mut().zip(entrant.source.connects_as()) {
                    lobby.left(name);
                }
                self.is_supply_due = true;
            }
            LaneEvent::ExpectsBots(bots) => {
                for (key, bot) in bots {
                    if let Some(lobby) = &mut self.lobby {
                        lobby.expect(bot, Holder { lane, bot: key.data() });
                    }
                }
                self.unplaced = self.unplaced.saturating_sub(1);
                self.pass_on();
            }
            LaneEvent::BotGone(key, unacknowledged) => {
                if let Some(lobby) = &mut self.lobby {
                    lobby.bot_gone(unacknowledged, &Holder { lane, bot: key.data() });
                }
            }
            LaneEvent::Failed(why) => return Err(why.into()),
            LaneEvent::Done => {}
        }
        Ok(())
    }
}

/// Resolves when a bot has connected or left.
pub(super) async fn arrival(lobby: &mut Option<Lobby>) {
    match lobby {
        Some(lobby) => lobby.next().await,
        None => std::future::pending().await,
    }
}
