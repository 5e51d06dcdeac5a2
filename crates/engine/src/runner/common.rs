//! Context that all matches of a run share.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use referee_files::{Records, RunningMatches};
use referee_game::erased::Rules;
use referee_game::seat::Seating;

use crate::driver::Run;
use crate::runner::live::LiveFeed;
use crate::sources::BotSpec;

/// Context that all matches of a run share.
pub(super) struct RunContext {
    pub(super) run: Run,
    pub(super) rules: &'static dyn Rules,
    pub(super) seating: Seating,
    pub(super) bots: Bots,
    /// The maximum number of concurrent matches per process or connection.
    pub(super) slots: usize,
    /// The time for which the matches of a lost connection wait for another one.
    pub(super) reconnect: Duration,
    pub(super) records: Option<Records>,
    /// Whether records describe the bots.
    pub(super) describes_bots: bool,
    /// The journals of matches whose bots can connect again.
    pub(super) running: Option<RunningMatches>,
    /// The feed of matches for spectators.
    pub(super) live: Option<LiveFeed>,
}

/// The bots of a run. Further bots may join; none is removed.
pub(super) struct Bots(RwLock<Vec<Arc<BotSpec>>>);

impl Bots {
    pub(super) fn new(bots: Vec<BotSpec>) -> Bots {
        Bots(RwLock::new(bots.into_iter().map(Arc::new).collect()))
    }

    pub(super) fn get(&self, index: usize) -> Arc<BotSpec> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)[index].clone()
    }

    pub(super) fn all(&self) -> Vec<Arc<BotSpec>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Names the bots of a match that begins as their `hello` says, if they have not played before. `said` is what they
    /// say, by index.
    pub(super) fn settle_names(&self, said: &BTreeMap<usize, Option<&str>>) {
        if self.all().iter().any(|bot| bot.is_named_by_hello) {
            let mut bots = self.0.write().unwrap_or_else(PoisonError::into_inner);
            if let Some(named) = BotSpec::settle_names(&bots, said) {
                *bots = named;
            }
        }
    }

    /// Removes the last bot, which has not played.
    pub(super) fn pop(&self) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).pop();
    }

    /// Adds a bot after all others.
    pub(super) fn push(&self, bot: BotSpec) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).push(Arc::new(bot));
    }
}
