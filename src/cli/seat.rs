//! A seat that something other than a bot takes, in a match against bots: `referee human` and `referee mcp`.

#[cfg(feature = "mcp")]
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args as ClapArgs;

use crate::bot::Command;
use crate::cli::bots::launch;
use crate::cli::exit::Failure;
use crate::cli::find_game::find_game;
#[cfg(feature = "mcp")]
use crate::cli::find_game::known_games;
use crate::cli::options::{GameOptions, MatchOptions};
use crate::cli::sandbox::SandboxOptions;
use crate::game::erased::Rules;
use crate::game::seat::Seating;
use crate::game::{Catalog, Seat, counted};
use crate::referee::Opening;
use crate::runner::{MatchRunner, Openings};
use crate::runs::RelaySocket;
use crate::runs::play::Play;
#[cfg(feature = "mcp")]
use crate::runs::workshop::{Bench, OpponentConfig, WorkshopConfig};
use crate::sources::{BotSpec, Source};

#[derive(Debug, ClapArgs)]
#[command(mut_arg("clock", |clock| clock.default_value("none")))]
pub(super) struct SeatOptions {
    // `None` only without a seat, as in `referee mcp --workshop`.
    /// The game: see `referee games`; or the directory of one
    #[arg(required = true)]
    game: Option<String>,
    /// The bots in the other seats, in order
    #[arg(required = true, value_name = "BOT")]
    bots: Vec<Command>,
    /// Your seat; seat 0 is that of the first bot in `referee play`
    #[arg(long, value_name = "N", default_value_t = 0)]
    seat: u8,
    #[command(flatten)]
    options: GameOptions,
    #[command(flatten)]
    terms: MatchOptions,
    #[command(flatten)]
    sandbox: SandboxOptions,
}

/// A match that can be played once the seat is taken.
pub(super) struct SeatMatch {
    pub(super) rules: &'static dyn Rules,
    pub(super) seating: Seating,
    pub(super) seat: Seat,
    /// The socket on which the player of the seat connects.
    pub(super) socket: RelaySocket,
    pub(super) play: Play,
}

impl SeatOptions {
    fn game(&self) -> Result<&str, Failure> {
        self.game.as_deref().ok_or_else(|| Failure::usage("required: GAME and BOT"))
    }

    /// The bench of a bot in a directory, which meets the bots of the other seats, in the same game and
    /// sandbox. Its versions and records are in `place`.
    #[cfg(feature = "mcp")]
    pub(super) fn bench(
        &self,
        directory: PathBuf,
        place: &Path,
        catalog: &Catalog,
    ) -> Result<Bench, Failure> {
        let mut games = known_games(catalog)?;
        let game = self.game()?;
        let rules = games.find(Path::new(""), game).map_err(Failure::usage)?;
        let mut table = toml::Table::new();
        if let Some(sandbox) = self.sandbox.checked_config()? {
            table.insert("sandbox".to_owned(), toml::Value::try_from(sandbox).map_err(Failure::usage)?);
        }
        table.insert(
            "options".to_owned(),
            toml::Value::try_from(self.options.to_map()?).map_err(Failure::usage)?,
        );
        let here = std::env::current_dir().map_err(Failure::cannot_run)?;
        let opponents =
            BotSpec::of(self.bots.iter().map(|bot| Arc::new(bot.clone()) as Arc<dyn Source>).collect());
        let opponents = opponents.into_iter().zip(&self.bots).map(|(named, bot)| OpponentConfig {
            name: named.name,
            command: bot.to_string(),
            directory: Some(here.clone()),
        });
        let config = WorkshopConfig::of_bench(game, opponents.collect(), table, &here);
        Ok(Bench::open(config, rules, games, here.join(directory), place)?)
    }

    /// Prepares the match. `player` is the name of the seat's player in results, `described` names it in errors.
    pub(super) fn open(
        mut self,
        catalog: &Catalog,
        player: &'static str,
        described: &str,
    ) -> Result<SeatMatch, Failure> {
        let (rules, mut catalog) = find_game(self.game()?, catalog)?;
        let seats = u8::try_from(self.bots.len() + 1).unwrap_or(u8::MAX);
        let seating = rules.meta().seating(Some(seats)).map_err(|what| {
            Failure::usage(format!("{described} and {}: {what}", counted(self.bots.len(), "bot", "bots")))
        })?;
        if self.seat >= seats {
            return Err(Failure::usage(format!("--seat {}: the seats are 0 to {}", self.seat, seats - 1)));
        }
        let options = self.options.to_json()?;
        rules.open(&options, seating).map_err(Failure::usage)?;
        let (rules, run) = self.terms.run_of(rules, seating, &mut catalog)?;
        self.sandbox.apply(&mut self.bots)?;
        let socket = RelaySocket::open(player).map_err(Failure::cannot_run)?;
        let bots = self.bots.into_iter().map(|bot| (Arc::new(bot) as Arc<dyn Source>, None));
        let mut bots: Vec<(Arc<dyn Source>, Option<String>)> = bots.collect();
        bots.insert(self.seat.into(), (Arc::new(socket.command()), Some(player.to_owned())));
        let runner = MatchRunner {
            records: self.terms.records()?,
            ..MatchRunner::new(run, rules, seating, BotSpec::named_by_hello(bots), launch()?)
        };
        let openings = Openings::same(options, Opening::None);
        let play = Play { runner, matches: 1, openings, mirror: None, trust_bots: false, max_cost: None };
        Ok(SeatMatch { rules, seating, seat: Seat(self.seat), socket, play })
    }
}
