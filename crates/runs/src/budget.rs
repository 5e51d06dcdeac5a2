//! The limits of the cost of a run's matches, as bots report it in `info`.

use referee_match::InfoTotals;

use crate::config::Dollars;

/// The costs so far, and their limits.
#[derive(Clone, Debug, Default)]
pub(crate) struct Budget {
    most: Option<Dollars>,
    spent: f64,
    bots: Vec<BotBudget>,
}

/// The limit of one bot, and its costs so far.
#[derive(Clone, Debug)]
pub(crate) struct BotBudget {
    pub(crate) name: String,
    pub(crate) most: Option<Dollars>,
    pub(crate) spent: f64,
}

impl Budget {
    pub(crate) fn new(most: Option<Dollars>, bots: Vec<BotBudget>) -> Budget {
        Budget { most, spent: 0.0, bots }
    }

    /// Returns whether anything has a limit.
    pub(crate) fn is_limited(&self) -> bool {
        self.most.is_some() || self.bots.iter().any(|bot| bot.most.is_some())
    }

    /// Adds the costs of a match, whether or not it has a result. `bots` and `totals` are by seat.
    pub(crate) fn charge(&mut self, bots: &[usize], totals: &[InfoTotals]) {
        for (&bot, totals) in bots.iter().zip(totals) {
            let cost = totals.of("cost_usd");
            self.spent += cost;
            if let Some(bot) = self.bots.get_mut(bot) {
                bot.spent += cost;
            }
        }
    }

    /// The reason why the run may not go on; `None` if it may.
    pub(crate) fn exceeded(&self) -> Option<String> {
        let run = ("the run", self.most, self.spent);
        let bots = self.bots.iter().map(|bot| (&*bot.name, bot.most, bot.spent));
        let mut all = std::iter::once(run).chain(bots);
        all.find_map(|(who, most, spent)| {
            let most = most.filter(|most| spent >= most.0)?;
            Some(format!("{who} has cost {}, and may cost {most}", referee_report::cost(spent)))
        })
    }
}
