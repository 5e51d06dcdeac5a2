//! Plays matches with the library, without the command `referee`: with the state machine alone, under virtual time,
//! between programs that the library starts, and a tournament that can be resumed.
//!
//! `cargo run --example embed -- 'python3 bots/python/random_bot.py' 'python3 bots/python/greedy_bot.py'`
//! `cargo run --example embed -- cup.toml`

use std::error::Error;
use std::path::Path;

use referee::bot::Launch;
use referee::driver::{MatchPlan, PlannedSeat, Run, Terms};
use referee::files::StorageWait;
use referee::game::chance::{RandomStream, Seed};
use referee::game::erased::{BoardText, Rules};
use referee::game::{Uniform, Viewer};
use referee::referee::{Ending, Event, Match, MatchEvent, Opening, Stamp};
use referee::report::tournament::standings_table;
use referee::runner::{MatchRunner, Openings};
use referee::runs::Placement;
use referee::runs::config::KnownGames;
use referee::runs::play::{Play, PlayEvent, seating_for};
use referee::runs::tournament::{Tournament, TournamentConfig, verify};
use referee::sources::{self, BotSpec};
use referee_protocol::Head;
use referee_protocol::referee::Turn;
use serde_json::value::RawValue;

fn main() -> Result<(), Box<dyn Error>> {
    let catalog = referee::games::catalog();
    // The same seed gives the same random numbers on every machine.
    let run = Run { seed: Seed([7; 32]), terms: Terms::default() };
    for rules in catalog.games() {
        let (play, ending) = in_process(rules, &run)?;
        println!("{}", BoardText(play.table(), Viewer::Public));
        println!("{}: {} decisions, {}\n", rules.meta().title, play.decisions(), ending.reason);
    }
    let commands: Vec<String> = std::env::args().skip(1).collect();
    if commands.is_empty() {
        println!("give the command lines of bots to play checkers between them, or the file of a tournament");
        return Ok(());
    }
    if let [file] = &commands[..] {
        return tournament(Path::new(file), &KnownGames::new(&catalog, Launch::Directly), run.seed);
    }
    between_programs(catalog.find("checkers")?, run, &commands)
}

/// Plays a match in this thread, without streams and without a clock: this function is the shell of the state machine.
fn in_process(rules: &'static dyn Rules, run: &Run) -> Result<(Match, Ending), Box<dyn Error>> {
    let seating = rules.meta().seatings[0];
    let seats = (0..seating.seats()).map(|number| PlannedSeat::new(format!("random-{number}"), 1000));
    let options = rules.default_options();
    let plan = MatchPlan { auto_ready: true, ..MatchPlan::new(rules, &options, seating, seats.collect()) };
    let (setup, table) = run.set_up(&run.terms, plan)?;
    let mut play = Match::open(setup, table);
    let mut stamp = Stamp::default();
    let mut rng = run.seed.match_key(rules.meta().id, "bots", &[""; 0]).stream();
    loop {
        while let Some(event) = play.poll_event() {
            if let MatchEvent::Ended(ending) = event {
                return Ok((play, ending));
            }
        }
        let mut answers = Vec::new();
        for seat in seating.all().iter() {
            if let Some(transmit) = play.poll_transmit(seat, stamp) {
                answers.extend(answer(transmit.bytes, &mut rng)?.map(|(turn, text)| (seat, turn, text)));
            }
        }
        // Every bot takes a millisecond.
        stamp.at = stamp.at + 1000;
        for (seat, turn, text) in &answers {
            play.handle(
                stamp,
                Event::Answer { seat: *seat, turn: *turn, text, offer_draw: false, info: None },
            );
        }
        if answers.is_empty() {
            // Nothing happens before the deadline.
            stamp.at = play.next_deadline().ok_or("the match waits for nothing")?;
            play.handle(stamp, Event::Tick);
        }
    }
}

/// A bot: the id of the request among these lines, and a random legal move.
fn answer(lines: &[u8], rng: &mut RandomStream) -> serde_json::Result<Option<(u64, String)>> {
    for line in lines.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
        if serde_json::from_slice::<Head>(line)?.kind == "turn" {
            let turn: Turn<&RawValue> = serde_json::from_slice(line)?;
            let legal = turn.legal.unwrap_or_default();
            let mv = &legal[rng.uniform(legal.len() as u64) as usize];
            return Ok(Some((turn.turn.into(), mv.to_string())));
        }
    }
    Ok(None)
}

/// Plays ten matches between programs, two at a time.
fn between_programs(rules: &'static dyn Rules, run: Run, commands: &[String]) -> Result<(), Box<dyn Error>> {
    let sources: Result<Vec<_>, _> = commands.iter().map(|command| sources::parse(command)).collect();
    let bots = BotSpec::of(sources?);
    let seating = seating_for(rules, bots.len(), None)?;
    let runner = MatchRunner { jobs: 2, ..MatchRunner::new(run, rules, seating, bots, Launch::Directly) };
    let openings = Openings::same(rules.default_options(), Opening::None);
    let play = Play { runner, matches: 10, openings, mirror: None, trust_bots: false, max_cost: None };
    let result = play.run(std::future::pending(), |event| {
        if let PlayEvent::Ended(finished) = event {
            let [one, other] = &finished.seats[..] else { return };
            println!("{}: {one} against {other}: {}", finished.id, finished.ending.reason);
        }
    });
    for bot in &result.summary.bots {
        println!("{}: {} wins, {} draws, {} losses", bot.bot, bot.wdl.wins, bot.wdl.draws, bot.wdl.losses);
    }
    result.stopped.map_or(Ok(()), |why| Err(why.into()))
}

/// Plays the tournament of a file in a directory beside it, or goes on with it, and verifies all of its records.
fn tournament(file: &Path, games: &KnownGames, seed: Seed) -> Result<(), Box<dyn Error>> {
    let directory = file.with_extension("");
    let cup = match directory.exists() {
        true => Tournament::open(&directory, games, true)?,
        false => Tournament::create(&directory, TournamentConfig::read(file)?, seed, games, true)?,
    };
    let wait = StorageWait::new();
    let end = cup.play(Placement::Here, &wait, || None, std::future::pending, &mut |_| ())?;
    let audit = verify(&directory, &end.results, games, |_, _| ())?;
    print!("{}", standings_table(&audit.standings));
    println!("{} records, {} differ", audit.summary.records, audit.summary.differing);
    Ok(())
}
