//! Matches between bots that the referee starts, one after the other.

use std::cmp::Ordering;
use std::collections::HashSet;
use std::io;
use std::time::Duration;

use referee_protocol::referee::Reveal;
use referee_protocol::words::FaultCode;
use serde::Serialize;
use serde_json::value::RawValue;
use tokio::task::JoinSet;

use crate::bot::{Command, Process, Said, Stderr};
use crate::core::erased::Rules;
use crate::core::game::Meta;
use crate::core::seat::{Seat, Seating};
use crate::referee::{Faults, Leg, Match, Wants};
use crate::server::lane::{Finished, Lane, MatchKey, Notice};
use crate::server::results::{BotSummary, MatchReport, SetReport, Sets, Summary};
use crate::server::run::{Plan, PlannedSeat, Run};
use crate::server::session::{Role, SessionKey};
use crate::store::Records;

/// What is to be played.
pub struct Play {
    /// The seed and the terms.
    pub run: Run,
    /// The game.
    pub rules: &'static dyn Rules,
    /// Its options.
    pub options: Box<RawValue>,
    /// How the seats play together.
    pub seating: Seating,
    /// The bots; the first begins in seat 0, and they move on by one seat from match to match.
    pub bots: Vec<Command>,
    /// How many matches.
    pub matches: u32,
    /// How many random moves each match begins with.
    pub opening_plies: u32,
    /// Whether each deal is played from both sides: matches 1 and 2 are a set, 3 and 4, and so on. Only in games that
    /// [`can_mirror`] allows.
    pub mirror: bool,
    /// Where records go.
    pub records: Option<Records>,
    /// Whether somebody looks on.
    pub watched: bool,
}

/// How many matches a mirrored set has: two bots, each once in each seat.
pub const SET: u32 = 2;

/// Refuses mirrored sets where they are not possible.
///
/// # Errors
/// Why not.
pub fn can_mirror(meta: &Meta, seating: Seating) -> Result<(), String> {
    let id = meta.id;
    if meta.chance || meta.hidden {
        return Err(format!(
            "{id} has chance or hidden information: in a mirrored set a bot that remembers the first match would know \
             what is to come in the second"
        ));
    }
    if seating.seats() != SET as usize {
        return Err(format!("mirrored sets are for {SET} seats, not {}", seating.seats()));
    }
    Ok(())
}

/// What is told while playing.
pub enum Step<'a> {
    /// Something happened in the match that is watched: `news` is what spectators may see of it.
    Moved {
        /// The match.
        play: &'a Match,
        /// Events, a JSON object a line.
        news: &'a [u8],
    },
    /// A match has ended.
    Ended(&'a MatchReport),
    /// A mirrored set is complete, or the run ends within it.
    SetEnded(&'a SetReport),
}

/// How a run ended.
pub struct Played {
    /// All results.
    pub summary: Summary,
    /// Why it could not go on to its end.
    pub stopped: Option<String>,
}

struct Entrant {
    name: String,
    command: Command,
    files: Vec<(String, String)>,
    process: Option<Process>,
    session: Option<SessionKey>,
    is_fresh: bool,
    /// Why it cannot play.
    failed: Option<(FaultCode, String)>,
    /// Seats that wait for its next process.
    waiting: Vec<(MatchKey, Seat)>,
    /// Its processor time up to the end of its last match.
    cpu_before: Duration,
    /// The standard error of its processes that are gone since its last match.
    gone: Vec<Stderr>,
    /// What it said on standard error in the match in which it failed.
    said: String,
}

#[derive(Serialize)]
struct BotInHeader<'a> {
    command: &'a [String],
    /// Path -> SHA-256.
    files: std::collections::BTreeMap<&'a str, &'a str>,
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    author: Option<&'a str>,
}

#[derive(Serialize)]
struct BotInRecord {
    seat: usize,
    cpu_ms: Option<u64>,
    stderr: String,
    stderr_dropped: u64,
}

/// A record that waits for its seal, because a match on the same deal is still to be played.
struct Unsealed {
    match_id: String,
    record: Vec<u8>,
    reveal: Reveal,
}

struct Table<F> {
    play: Play,
    lane: Lane,
    entrants: Vec<Entrant>,
    /// Processes that are being ended.
    ending: JoinSet<()>,
    summary: Summary,
    unsealed: Vec<Unsealed>,
    /// The set of which a match has ended.
    set: Option<SetReport>,
    tell: F,
}

/// Why a run stops early.
enum Stop {
    Interrupted,
    CannotRun(String),
}

impl Play {
    /// Plays. `interrupt` breaks it off; `tell` is told what happens.
    pub async fn run(self, interrupt: impl Future<Output = ()>, tell: impl FnMut(Step<'_>)) -> Played {
        let mut names = HashSet::new();
        let entrants: Vec<Entrant> = self
            .bots
            .iter()
            .map(|command| {
                let label = command.label();
                let numbered = (2..).map(|n| format!("{label}-{n}"));
                let free =
                    std::iter::once(label.clone()).chain(numbered).find(|name| names.insert(name.clone()));
                Entrant {
                    name: free.unwrap_or(label),
                    files: command.fingerprints(),
                    command: command.clone(),
                    process: None,
                    session: None,
                    is_fresh: true,
                    failed: None,
                    waiting: Vec::new(),
                    cpu_before: Duration::ZERO,
                    gone: Vec::new(),
                    said: String::new(),
                }
            })
            .collect();
        let bots = entrants.iter().map(|entrant| BotSummary {
            bot: entrant.name.clone(),
            command: entrant.command.to_string(),
            matches: 0,
            wins: 0,
            draws: 0,
            losses: 0,
            score: 0.0,
            sets: self.mirror.then(Sets::default),
            faults: Faults::default(),
            cpu_ms: 0,
        });
        let summary = Summary {
            game: self.rules.meta().id.to_owned(),
            matches: 0,
            aborted: 0,
            bots: bots.collect(),
            seed: self.run.seed.to_hex(),
            interrupted: false,
        };
        let mut table = Table {
            play: self,
            lane: Lane::new(),
            entrants,
            ending: JoinSet::new(),
            summary,
            unsealed: Vec::new(),
            set: None,
            tell,
        };
        let mut interrupt = std::pin::pin!(interrupt);
        let mut stopped = None;
        for number in 1..=table.play.matches {
            match table.play_match(number, interrupt.as_mut()).await {
                Ok(()) => {}
                Err(Stop::Interrupted) => {
                    table.summary.interrupted = true;
                    break;
                }
                Err(Stop::CannotRun(why)) => {
                    stopped = Some(why);
                    break;
                }
            }
        }
        // What the run leaves of a set is not played any more.
        if let Err(Stop::CannotRun(why)) = table.seal_records() {
            stopped.get_or_insert(why);
        }
        table.end_set();
        table.end_all().await;
        Played { summary: table.summary, stopped }
    }
}

impl<F: FnMut(Step<'_>)> Table<F> {
    /// Which bot sits in a seat of a match.
    fn bot_in(&self, number: u32, seat: usize) -> usize {
        (seat + number as usize - 1) % self.entrants.len()
    }

    /// Which match of its deal a match is.
    fn leg(&self, number: u32) -> Leg {
        match self.play.mirror {
            false => Leg::Only,
            true if number.is_multiple_of(SET) => Leg::Last,
            true => Leg::Earlier,
        }
    }

    async fn play_match(
        &mut self,
        number: u32,
        mut interrupt: std::pin::Pin<&mut impl Future<Output = ()>>,
    ) -> Result<(), Stop> {
        self.start_missing()?;
        while self.entrants.iter().any(|entrant| !entrant.has_come(&self.lane)) {
            let notice = tokio::select! {
                biased;
                () = &mut interrupt => return Err(Stop::Interrupted),
                notice = self.lane.next() => notice,
            };
            // Nothing runs yet, so nothing can end.
            let _ = self.take_in(notice)?;
        }
        self.check_games()?;
        let key = self.open(number)?;
        let finished = loop {
            let notice = tokio::select! {
                biased;
                () = &mut interrupt => {
                    self.lane.abort(key, "interrupted");
                    loop {
                        let notice = self.lane.next().await;
                        if let Some(finished) = self.take_in(notice)? {
                            self.report(number, *finished)?;
                            return Err(Stop::Interrupted);
                        }
                    }
                }
                notice = self.lane.next() => notice,
            };
            if let Some(finished) = self.take_in(notice)? {
                break finished;
            }
        };
        self.report(number, *finished)?;
        let never_came = self.entrants.iter().find(|entrant| entrant.is_fresh && entrant.failed.is_some());
        match never_came {
            None => Ok(()),
            Some(entrant) => {
                let (code, detail) =
                    entrant.failed.as_ref().map_or(("", ""), |(code, detail)| (code.as_str(), detail));
                let said = entrant.said.trim_end();
                let said = if said.is_empty() { String::new() } else { format!("\n{said}") };
                Err(Stop::CannotRun(format!(
                    "the bot `{}` does not start ({code}: {detail}): `{}`{said}",
                    entrant.name, entrant.command
                )))
            }
        }
    }

    fn start_missing(&mut self) -> Result<(), Stop> {
        let hello = Duration::from_millis(self.play.run.terms.hello_ms);
        for entrant in self.entrants.iter_mut().filter(|entrant| entrant.session.is_none()) {
            let exits = self.lane.exits();
            let (tell, told) = tokio::sync::oneshot::channel::<SessionKey>();
            // The process may end before its session has a key.
            let on_exit = move |how: String| {
                tokio::spawn(async move {
                    if let Ok(key) = told.await {
                        // A lane that is gone needs no news.
                        let _ = exits.send((key, how));
                    }
                });
            };
            let (process, stream) = Process::start(&entrant.command, on_exit).map_err(|error| {
                let advice = if error.kind() == io::ErrorKind::NotFound {
                    "; is the path right, seen from this folder?"
                } else {
                    ""
                };
                Stop::CannotRun(format!(
                    "the bot `{}` cannot be started: {}: {error}{advice}",
                    entrant.name, entrant.command.argv[0]
                ))
            })?;
            let key = self.lane.add(Role::Process, stream, hello);
            let _ = tell.send(key);
            *entrant = Entrant {
                session: Some(key),
                is_fresh: true,
                failed: None,
                process: Some(process),
                cpu_before: Duration::ZERO,
                name: std::mem::take(&mut entrant.name),
                command: entrant.command.clone(),
                files: std::mem::take(&mut entrant.files),
                waiting: std::mem::take(&mut entrant.waiting),
                gone: std::mem::take(&mut entrant.gone),
                said: String::new(),
            };
        }
        Ok(())
    }

    /// Takes a notice in. Returns the match if one has ended.
    fn take_in(&mut self, notice: Notice) -> Result<Option<Box<Finished>>, Stop> {
        match notice {
            Notice::Ended(finished) => return Ok(Some(finished)),
            Notice::Moved(key) => {
                if let Some(play) = self.lane.match_mut(key) {
                    let news = std::mem::take(play.news());
                    (self.tell)(Step::Moved { play, news: &news });
                }
            }
            Notice::Greeted(session) => {
                let entrant = self.entrants.iter_mut().find(|entrant| entrant.session == Some(session));
                let waiting = entrant.map(|entrant| {
                    entrant.is_fresh &= entrant.waiting.is_empty();
                    std::mem::take(&mut entrant.waiting)
                });
                let ready_ms = self.play.run.terms.first_ready_ms;
                for (key, seat) in waiting.unwrap_or_default() {
                    self.lane.seat(key, seat, Ok(session), ready_ms);
                }
            }
            Notice::Gone { session, code, detail, waiting } => {
                let Some(entrant) = self.entrants.iter_mut().find(|entrant| entrant.session == Some(session))
                else {
                    return Ok(None);
                };
                tracing::debug!(bot = entrant.name, %code, detail, "gone");
                let had_come = self.lane.hello(session).is_some();
                self.lane.forget(session);
                entrant.session = None;
                entrant.is_fresh = !had_come;
                if !had_come {
                    // It stays: its standard error tells why.
                    entrant.failed = Some((code, detail));
                    entrant.session = Some(session);
                    for (key, seat) in std::mem::take(&mut entrant.waiting) {
                        self.lane.seat(
                            key,
                            seat,
                            Err(entrant.failed.clone().unwrap_or((code, String::new()))),
                            0,
                        );
                    }
                } else if let Some(process) = entrant.process.take() {
                    entrant.gone.push(process.stderr().clone());
                    self.ending.spawn(process.end());
                }
                entrant.waiting.extend(waiting);
                if !entrant.waiting.is_empty() {
                    self.start_missing()?;
                }
            }
            Notice::OpenAsked(..) => {}
        }
        Ok(None)
    }

    fn check_games(&self) -> Result<(), Stop> {
        let id = self.play.rules.meta().id;
        for entrant in &self.entrants {
            let hello = entrant.session.and_then(|session| self.lane.hello(session));
            let games = hello.and_then(|hello| hello.games.as_ref());
            if let Some(games) = games.filter(|games| !games.iter().any(|game| game == id)) {
                let plays = if games.is_empty() { "nothing".to_owned() } else { games.join(", ") };
                return Err(Stop::CannotRun(format!(
                    "the bot `{}` does not play {id}: it plays {plays}",
                    entrant.name
                )));
            }
        }
        Ok(())
    }

    fn open(&mut self, number: u32) -> Result<MatchKey, Stop> {
        let terms = self.play.run.terms;
        let in_seat: Vec<usize> =
            (0..self.play.seating.seats()).map(|seat| self.bot_in(number, seat)).collect();
        let seats = in_seat.iter().map(|&bot| {
            let entrant = &self.entrants[bot];
            let hello = entrant.session.and_then(|session| self.lane.hello(session));
            let in_header = BotInHeader {
                command: &entrant.command.argv,
                files: entrant.files.iter().map(|(path, hash)| (path.as_str(), hash.as_str())).collect(),
                name: hello.map_or("", |hello| &hello.name),
                version: hello.and_then(|hello| hello.version.as_deref()),
                author: hello.and_then(|hello| hello.author.as_deref()),
            };
            PlannedSeat {
                name: entrant.name.clone(),
                ready_ms: terms.ready_ms(entrant.is_fresh),
                bot: serde_json::value::to_raw_value(&in_header).ok(),
                wants: hello.map_or(Wants::default(), |hello| hello.wants),
            }
        });
        let plan = Plan {
            id: format!("m{number}"),
            deal: self.play.mirror.then(|| format!("s{}", number.div_ceil(SET))),
            seed: None,
            opening_plies: self.play.opening_plies,
            leg: self.leg(number),
            rules: self.play.rules,
            options: &self.play.options,
            seating: self.play.seating,
            seats: seats.collect(),
            open_id: None,
            auto_ready: false,
            watched: self.play.watched,
        };
        let (setup, table) =
            self.play.run.set_up(&terms, plan).map_err(|error| Stop::CannotRun(error.to_string()))?;
        let places = in_seat.iter().map(|&bot| {
            let entrant = &mut self.entrants[bot];
            match (&entrant.failed, entrant.session) {
                (Some(failed), _) => Err(failed.clone()),
                (None, Some(session)) => {
                    entrant.is_fresh = false;
                    Ok(session)
                }
                (None, None) => Err((FaultCode::Exited, "it ended".to_owned())),
            }
        });
        let places = places.collect();
        Ok(self.lane.open(setup, table, places))
    }

    fn report(&mut self, number: u32, finished: Finished) -> Result<(), Stop> {
        let Finished { setup, ending, faults, decisions, duration, lag, mut record, reveal, news, last } =
            finished;
        if !news.is_empty() {
            (self.tell)(Step::Moved { play: &last, news: &news });
        }
        let in_seat: Vec<usize> =
            (0..setup.header.seats.len()).map(|seat| self.bot_in(number, seat)).collect();
        let of_bots: Vec<BotInRecord> = in_seat
            .iter()
            .enumerate()
            .map(|(seat, &bot)| {
                let entrant = &mut self.entrants[bot];
                let process = entrant.process.as_ref();
                let cpu = process.and_then(Process::cpu);
                let before =
                    cpu.map_or(Duration::ZERO, |cpu| std::mem::replace(&mut entrant.cpu_before, cpu));
                let mut said = Said::default();
                for stderr in entrant.gone.drain(..).chain(process.map(Process::stderr).cloned()) {
                    said.append(stderr.take());
                }
                let (stderr, stderr_dropped) = said.into_text();
                if entrant.failed.is_some() {
                    entrant.said.clone_from(&stderr);
                }
                let cpu_ms = cpu.map(|cpu| cpu.saturating_sub(before).as_millis() as u64);
                BotInRecord { seat, cpu_ms, stderr, stderr_dropped }
            })
            .collect();
        let record = match &self.play.records {
            None => None,
            Some(records) => {
                crate::record::add_bots(&mut record, &of_bots);
                let match_id = setup.header.r#match.clone();
                let path = records.path(&match_id);
                self.unsealed.push(Unsealed { match_id, record, reveal });
                Some(path)
            }
        };
        if setup.leg != Leg::Earlier {
            self.seal_records()?;
        }
        let (leg, deal) = (setup.leg, setup.header.deal);
        let report = MatchReport {
            id: setup.header.r#match,
            game: setup.header.game,
            seats: setup.header.seats.into_iter().map(|seat| seat.name).collect(),
            bots: in_seat.iter().map(|&bot| self.summary.bots[bot].command.clone()).collect(),
            ranks: ending.ranks,
            scores: ending.scores,
            ended_by: ending.ended_by,
            reason: ending.reason,
            fault: ending.fault,
            faults,
            decisions,
            duration_us: duration.as_micros() as u64,
            lag_ms: lag.as_millis() as u64,
            cpu_ms: of_bots.iter().map(|bot| bot.cpu_ms).collect(),
            record,
        };
        self.count(&report, &in_seat);
        (self.tell)(Step::Ended(&report));
        if leg != Leg::Only {
            self.add_to_set(&deal, &report, &in_seat);
        }
        if leg == Leg::Last {
            self.end_set();
        }
        Ok(())
    }

    /// Seals the records of a deal and keeps them: nothing is played on it any more.
    fn seal_records(&mut self) -> Result<(), Stop> {
        for Unsealed { match_id, mut record, reveal } in self.unsealed.drain(..) {
            let Some(records) = &self.play.records else { continue };
            crate::record::seal(&mut record, reveal);
            records.keep(&match_id, &record).map_err(|error| {
                Stop::CannotRun(format!("the record of {match_id} cannot be kept: {error}"))
            })?;
        }
        Ok(())
    }

    /// Adds a match to its set.
    fn add_to_set(&mut self, deal: &str, report: &MatchReport, in_seat: &[usize]) {
        let set = self.set.get_or_insert_with(|| SetReport {
            id: deal.to_owned(),
            deal: deal.to_owned(),
            matches: Vec::new(),
            bots: self.entrants.iter().map(|entrant| entrant.name.clone()).collect(),
            scores: Some(vec![0.0; self.entrants.len()]),
        });
        set.matches.push(report.id.clone());
        set.scores = set.scores.take().zip(report.scores.as_ref()).map(|(mut sums, scores)| {
            for (&bot, score) in in_seat.iter().zip(scores) {
                sums[bot] += score;
            }
            sums
        });
    }

    /// Counts and tells the set that is open, if any.
    fn end_set(&mut self) {
        let Some(mut set) = self.set.take() else { return };
        set.scores = set.scores.filter(|_| set.matches.len() == SET as usize);
        if let Some(&[first, second]) = set.scores.as_deref() {
            for (bot, own, other) in [(0, first, second), (1, second, first)] {
                let Some(sets) = &mut self.summary.bots[bot].sets else { continue };
                match own.total_cmp(&other) {
                    Ordering::Greater => sets.wins += 1,
                    Ordering::Equal => sets.draws += 1,
                    Ordering::Less => sets.losses += 1,
                }
            }
        }
        (self.tell)(Step::SetEnded(&set));
    }

    fn count(&mut self, report: &MatchReport, in_seat: &[usize]) {
        match (&report.ranks, &report.scores) {
            (Some(_), Some(_)) => self.summary.matches += 1,
            _ => self.summary.aborted += 1,
        }
        for (seat, &bot) in in_seat.iter().enumerate() {
            let summary = &mut self.summary.bots[bot];
            summary.faults.merge(&report.faults[seat]);
            summary.cpu_ms += report.cpu_ms[seat].unwrap_or(0);
            let (Some(ranks), Some(scores)) = (&report.ranks, &report.scores) else { continue };
            let side = |seat: usize| self.play.seating.side(Seat(seat as u8));
            let shares =
                (0..ranks.len()).any(|other| side(other) != side(seat) && ranks[other] == ranks[seat]);
            summary.matches += 1;
            summary.score += scores[seat];
            match (ranks[seat], shares) {
                (1, false) => summary.wins += 1,
                (1, true) => summary.draws += 1,
                _ => summary.losses += 1,
            }
        }
    }

    /// Ends all bots. None is left when it returns.
    async fn end_all(&mut self) {
        for entrant in &mut self.entrants {
            if let Some(session) = entrant.session.take() {
                self.lane.dismiss(session, "the run is over");
                self.lane.forget(session);
            }
            if let Some(process) = entrant.process.take() {
                self.ending.spawn(process.end());
            }
        }
        while self.ending.join_next().await.is_some() {}
    }
}

impl Entrant {
    /// Whether it has introduced itself, or never will.
    fn has_come(&self, lane: &Lane) -> bool {
        self.failed.is_some() || self.session.is_some_and(|session| lane.hello(session).is_some())
    }
}
