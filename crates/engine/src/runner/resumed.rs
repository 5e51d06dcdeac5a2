//! Matches of an earlier process that go on.

use std::collections::{BTreeMap, HashSet};
use std::error::Error;

use referee_files::RunningMatch;
use referee_game::chance::Seed;
use referee_game::erased::Rules;
use referee_game::seat::{Seat, Seating};
use referee_game::{Catalog, Viewer, Wrong};
use referee_match::record::Resume;
use referee_match::{Header, Match, Outage, Wants};

use crate::driver::{BotInstance, JournalWriter, JournaledSeat, MatchJournal};

/// A match of an earlier process, from its journal. It continues when its bots have connected again.
#[derive(Debug)]
pub struct ResumedMatch {
    pub(super) play: Match,
    /// By seat; `None` if the bot has left the match.
    pub(super) bots: Vec<Option<BotInstance>>,
    /// By seat: the times without a connection.
    pub(super) outages: Vec<Vec<Outage>>,
    pub(super) journal: MatchJournal,
    /// The time since its last event, in microseconds.
    pub(super) paused_us: u64,
}

impl JournalWriter for RunningMatch {
    fn append(&mut self, lines: &[u8]) {
        RunningMatch::append(self, lines);
    }

    fn close(&mut self) {
        RunningMatch::close(self);
    }

    fn discard(&mut self) {
        RunningMatch::discard(self);
    }
}

impl ResumedMatch {
    /// Repeats the lines of the journal of a match of the run with this seed. `None` if the match had not begun.
    ///
    /// # Errors
    /// Why they are not the journal of this match.
    pub fn read(
        id: &str,
        journal: RunningMatch,
        lines: &[u8],
        paused_us: u64,
        run: &Seed,
        watched: Option<Viewer>,
        catalog: &Catalog,
    ) -> Result<Option<ResumedMatch>, Wrong> {
        let mut bots: BTreeMap<Seat, JournaledSeat> = BTreeMap::new();
        let mut resume: Option<Resume> = None;
        for (text, number) in lines.split_inclusive(|&byte| byte == b'\n').zip(2..) {
            let at_line = |why: Box<dyn Error + Send + Sync>| Wrong::at(format!("line {number}"), why);
            let text = text.strip_suffix(b"\n").unwrap_or(text);
            if text.starts_with(b"{\"type\":\"seat\"") {
                let seat: JournaledSeat =
                    serde_json::from_slice(text).map_err(|error| at_line(error.into()))?;
                if let Some(resume) = &mut resume {
                    if !bots.contains_key(&seat.seat) {
                        return Err(at_line("a match has no such seat".into()));
                    }
                    let is_lost = seat.outages.last().is_some_and(|outage| outage.back_us.is_none());
                    if !is_lost {
                        resume.seat(seat.seat, seat.wants);
                    }
                }
                bots.insert(seat.seat, seat);
                continue;
            }
            match &mut resume {
                Some(resume) => resume.line(text).map_err(|error| at_line(error.into()))?,
                None => {
                    let wants: Vec<Wants> = bots.values().map(|seat| seat.wants).collect();
                    let secrets = |header: &Header| (run.of_deal(&header.deal), run.salt(&header.r#match));
                    let opened = Resume::open(text, secrets, wants, watched, catalog);
                    resume = Some(opened.map_err(|error| at_line(error.into()))?);
                }
            }
        }
        let Some((play, written)) = resume.map(Resume::into_match) else { return Ok(None) };
        if play.setup().header.r#match != *id {
            return Err(format!("it is the journal of {}", play.setup().header.r#match).into());
        }
        if !bots.keys().copied().eq(play.setup().seating.all().iter()) {
            return Err("a seat has no bot".into());
        }
        let (bots, outages) =
            bots.into_values().map(|of| ((!play.is_gone(of.seat)).then_some(of.bot), of.outages)).unzip();
        let journal = MatchJournal::of(Box::new(journal), written);
        Ok(Some(ResumedMatch { play, bots, outages, journal, paused_us }))
    }

    /// Lets each bot return to one match. A bot with another match has left those that have ended, whose results were not
    /// stored before the process was killed.
    pub(super) fn leave_ended(resumed: &mut [ResumedMatch]) {
        let has_ended = |resumed: &ResumedMatch| resumed.play.ending().is_some();
        let in_progress = resumed.iter().filter(|resumed| !has_ended(resumed));
        let mut returning: HashSet<BotInstance> =
            in_progress.flat_map(|resumed| resumed.bots.iter().flatten().cloned()).collect();
        let mut ended: Vec<_> = resumed.iter_mut().filter(|resumed| has_ended(resumed)).collect();
        // The last one first: its bots may not have received its end.
        ended.sort_by_key(|ended| ended.paused_us);
        for bot in ended.into_iter().flat_map(|ended| &mut ended.bots) {
            bot.take_if(|bot| !returning.insert(bot.clone()));
        }
    }

    pub fn header(&self) -> &Header {
        &self.play.setup().header
    }

    /// Returns whether it is a match of this game with these seats.
    pub fn is_of(&self, rules: &dyn Rules, seating: Seating) -> bool {
        let setup = self.play.setup();
        setup.header.game == rules.meta().id && setup.seating == seating
    }
}
