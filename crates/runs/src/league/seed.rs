//! The seeds of ladders.

use referee_game::chance::Seed;
use referee_game::hex;
use referee_league::League;

use crate::RunError;
use crate::config::random_seed;

#[derive(Debug)]
pub struct LadderSeed {
    pub seed: Seed,
    /// The number of the first match with this seed: a restored backup continues with another one.
    from: u32,
}

impl LadderSeed {
    /// The seed of a ladder, once it has one.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn read(league: &League, ladder: &str) -> Result<Option<LadderSeed>, RunError> {
        let Some(text) = league.value(&format!("seed:{ladder}"))? else { return Ok(None) };
        let seed = hex::decode32(&text).map(Seed);
        let seed = seed.ok_or_else(|| format!("league: the seed of {ladder} cannot be read"))?;
        let from = league.number(&format!("seed-from:{ladder}"))?.unwrap_or(1);
        Ok(Some(LadderSeed { seed, from }))
    }

    /// Draws and stores the seed of a ladder.
    ///
    /// # Errors
    /// If there are no random numbers, or the database cannot be written.
    pub fn draw(league: &mut League, ladder: &str) -> Result<LadderSeed, RunError> {
        let (seed, last) = (random_seed()?, league.last_number(ladder)?);
        let mut store = |key: &str, value: &str| league.set_value(&format!("{key}:{ladder}"), value);
        store("seed-from", &(last + 1).to_string())?;
        store("seed", &seed.to_hex())?;
        Ok(LadderSeed { seed, from: last + 1 })
    }

    /// The seed, if the match with this number was played with it.
    pub fn of(&self, number: u32) -> Option<&Seed> {
        (number >= self.from).then_some(&self.seed)
    }
}
