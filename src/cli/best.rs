//! `referee best`: picks the best of several versions of a bot by a race.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::Args as ClapArgs;
use referee_protocol::words::OnFault;
use serde_json::{Value, json};

use crate::cli::exit::{Exit, Failure};
use crate::cli::find_game::known_games;
use crate::cli::listen::ListenOptions;
use crate::cli::options::{GameOptions, LaneOptions};
use crate::cli::sandbox::SandboxOptions;
use crate::cli::tournament::{PlayOptions, begin};
use crate::game::Catalog;
use crate::runs::config::{self, AdjudicationConfig, ClockLimits, Setting};
use crate::runs::tournament::TournamentConfig;
use crate::sources::{self, Source};
use crate::stats::race::RaceTerms;

/// Pick the best of several versions of a bot, with a limit on the error
///
/// Plays sets of matches, each deal or opening from both sides, until one version is known to be at most --within Elo weaker than
/// the best. A race errs in at most --alpha of all runs, however many versions there are and however often
/// it looks at the results: the test is a betting martingale (`referee spec results` states the theorem). Each new set
/// is played where it tells most, and versions that are not the best are eliminated meanwhile. Close versions take most sets:
/// in simulations of 16 versions with 40% draws, some 1,000 matches with strengths that spread by 200 Elo, 4,000 with 50 Elo,
/// and 27,000 if all are equally strong.
///
/// The best is the version that no other one beats on average. If every version loses to another one, nothing is
/// promised. A fault loses the match.
///
/// A BOT is a command line in one argument, or tcp:NAME. --matrix writes several: each {KEY} in a command line is replaced by each of the
/// values.
///
/// The race is a tournament of the format `race` in the directory --dir, with records and results in SQLite: `referee tournament
/// resume`, `status`, `standings`, `report`, `verify` and `watch` take it, and a tournament file may set what has no option here. Several
/// machines share it as workers; there are no shards, since each round of sets depends on the results of earlier ones.
///
/// The exit code is 0 with a pick, 3 undecided after --max-sets, 5 could not run, 130 interrupted.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee best checkers ./v1 ./v2 ./v3 --dir race --jobs 2
  referee best jeex './bot --depth {depth}' --matrix depth=2,4,6 --within 30
  referee best saxum './bot --net {net} --c {c}' --matrix net=a.onnx,b.onnx --matrix c=1.0,1.4,2.0 --dir race
  referee best checkers ./v1 ./v2 ./v3 --openings book.pdn --clock delay=100ms,bank=10s --json
  referee best checkers ./v1 ./v2 tcp:v3 --dir race --listen 127.0.0.1:4700 --token-file tokens
  referee best checkers ./v1 ./v2 ./v3 --dir race --sandbox strict --sandbox-memory 1GiB
  referee best checkers ./v1 ./v2 ./v3 --dir race --workers-listen 0.0.0.0:4711
  referee tournament resume race")]
pub(super) struct Args {
    /// The game: see `referee games`; or the directory of one
    game: String,
    /// The versions: command lines in one argument each, or tcp:NAME
    #[arg(required = true, value_name = "BOT")]
    bots: Vec<String>,
    /// Replace {KEY} in the command lines by each of these values; with several keys, by all combinations
    #[arg(long, value_name = "KEY=VALUE,...")]
    matrix: Vec<Parameter>,
    /// How much weaker than the best the pick may be, in logistic Elo
    #[arg(long, value_name = "ELO", default_value_t = RaceTerms::default().within)]
    within: f64,
    /// The probability of a pick that is weaker, at most
    #[arg(long, value_name = "P", default_value_t = RaceTerms::default().alpha)]
    alpha: f64,
    /// The maximum number of sets; then the race ends undecided
    #[arg(long, value_name = "N", default_value_t = RaceTerms::default().max_sets,
          value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    max_sets: u32,
    /// A new directory for results and records [default: best-GAME in the current directory]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// The number of seats, if the game allows several [default: the game's]
    #[arg(long, value_name = "N")]
    seats: Option<u8>,
    /// Draw the opening of each set from this file, see `referee rules GAME`
    #[arg(long, value_name = "FILE")]
    openings: Option<PathBuf>,
    /// Start each set with this number of random moves [default: 6 for checkers, 4 for jeex]; with --openings, cut each game
    /// of the file after this number of moves
    #[arg(long, value_name = "N")]
    opening_plies: Option<u32>,
    /// Trust that the bots remember nothing of earlier matches, so that in games with chance or secrets they are not
    /// restarted for each match, and bots that connect may play them
    #[arg(long)]
    trust_bots: bool,
    /// The clock of each bot, as of `referee play`
    #[arg(long, value_name = "CLOCK", default_value = "delay=5s,bank=60s")]
    clock: Setting<ClockLimits>,
    /// The fault policy: forfeit, retry=N or random
    #[arg(long, value_name = "POLICY", default_value_t = OnFault::Forfeit)]
    on_fault: OnFault,
    #[command(flatten)]
    adjudication: AdjudicationConfig,
    /// The run seed, from which all randomness derives: 64 hex digits [default: from the operating system]
    #[arg(long, value_name = "HEX", conflicts_with = "seed_file", value_parser = config::parse_seed)]
    seed: Option<crate::game::chance::Seed>,
    /// A file with the run seed; unlike the command line, other users cannot see it
    #[arg(long, value_name = "FILE")]
    seed_file: Option<PathBuf>,
    #[command(flatten)]
    lanes: LaneOptions,
    #[command(flatten)]
    options: GameOptions,
    #[command(flatten)]
    listen: ListenOptions,
    #[command(flatten)]
    sandbox: SandboxOptions,
    #[command(flatten)]
    play: PlayOptions,
}

/// A key of command lines with its values.
#[derive(Clone, Debug)]
struct Parameter {
    key: String,
    values: Vec<String>,
}

impl FromStr for Parameter {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Parameter> {
        let (key, values) = text.split_once('=').unwrap_or((text, ""));
        let values: Vec<String> = values.split(',').map(str::to_owned).collect();
        if key.is_empty() || values.iter().any(String::is_empty) {
            anyhow::bail!("`{text}` is not KEY=VALUE,VALUE,...");
        }
        Ok(Parameter { key: key.to_owned(), values })
    }
}

/// A version: its command line, and the values of the matrix in it.
struct Version {
    command: String,
    values: Vec<(String, String)>,
}

/// The versions that the matrix makes of these command lines.
fn versions(bots: &[String], matrix: &[Parameter]) -> Result<Vec<Version>, Failure> {
    let mut versions: Vec<Version> =
        bots.iter().map(|bot| Version { command: bot.clone(), values: Vec::new() }).collect();
    for Parameter { key, values } in matrix {
        let place = format!("{{{key}}}");
        if !versions.iter().any(|version| version.command.contains(&place)) {
            return Err(Failure::usage(format!("--matrix {key}: no BOT contains {place}")));
        }
        let expand = |version: Version| -> Vec<Version> {
            if !version.command.contains(&place) {
                return vec![version];
            }
            let with = |value: &String| Version {
                command: version.command.replace(&place, value),
                values: [&version.values[..], &[(key.clone(), value.clone())]].concat(),
            };
            values.iter().map(with).collect()
        };
        versions = versions.into_iter().flat_map(expand).collect();
    }
    Ok(versions)
}

/// The entrant of a version. Versions of a matrix are named after their values.
fn entrant(version: &Version, bot: &dyn Source) -> Value {
    if let Some(name) = bot.connects_as() {
        return json!({ "tcp": name });
    }
    let mut entrant = json!({ "command": version.command });
    if !version.values.is_empty() {
        let plain = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' };
        let values = version.values.iter().map(|(key, value)| format!("-{key}-{value}"));
        let name = bot.label() + &values.collect::<String>();
        entrant["name"] = name.chars().map(plain).collect::<String>().into();
    }
    entrant
}

pub(super) fn run(args: Args, catalog: &Catalog) -> Result<Exit, Failure> {
    let games = known_games(catalog)?;
    let here = std::env::current_dir().map_err(Failure::cannot_run)?;
    let rules = games.clone().find(&here, &args.game).map_err(Failure::usage)?;
    let plies = rules.meta().openings.filter(|_| args.openings.is_none());
    let versions = versions(&args.bots, &args.matrix)?;
    let bots = versions.iter().map(|version| sources::parse(&version.command).map_err(Failure::usage));
    let bots = bots.collect::<Result<Vec<_>, _>>()?;
    let entrants: Vec<Value> =
        versions.iter().zip(&bots).map(|(version, bot)| entrant(version, &**bot)).collect();
    let mut file = json!({
        "game": args.game,
        "trust_bots": args.trust_bots,
        "jobs": args.lanes.jobs,
        "slots": args.lanes.slots,
        "pin": args.lanes.pin,
        "format": {
            "kind": "race",
            "within": args.within,
            "alpha": args.alpha,
            "max_sets": args.max_sets,
        },
        "options": args.options.to_map()?,
        "entrants": entrants,
    });
    let given = [
        ("seats", args.seats.map(Value::from)),
        ("seed", args.seed.map(|seed| seed.to_hex().into())),
        ("seed_file", args.seed_file.map(|path| Value::from(path.to_string_lossy()))),
        ("listen", args.listen.of_tournament(&bots)?.map(|listen| json!(listen))),
        ("sandbox", args.sandbox.checked_config()?.map(|sandbox| json!(sandbox))),
    ];
    for (key, value) in given {
        if let Some(value) = value {
            file[key] = value;
        }
    }
    let mut config: TournamentConfig = serde_json::from_value(file).map_err(Failure::usage)?;
    config.openings.opening_plies = args.opening_plies.or(plies);
    config.openings.openings = args.openings;
    config.terms.clock = args.clock;
    config.terms.on_fault = args.on_fault;
    config.terms.adjudication = args.adjudication;
    let dir = args.dir.unwrap_or_else(|| Path::new(&format!("best-{}", rules.meta().id)).to_owned());
    begin(&dir, config.with_base(&here), &games, &args.play)
}
