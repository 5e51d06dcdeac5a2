//! A ladder in the file of a league.

use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};

use referee_engine::driver::Terms;
use referee_engine::runner::{Openings, deal_leaks_information};
use referee_engine::sources::Listen;
use referee_game::chance::Seed;
use referee_game::erased::Rules;
use referee_game::{Catalog, Seating, SettingNames, Wrong, keys};
use referee_match::Adjudication;
use referee_protocol::referee::Clock;
use referee_report::page::PublicUrl;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::public_url;
use crate::RunError;
use crate::config::{
    ClockLimits, KnownGames, ListenConfig, Milliseconds, OpeningSource, Setting, TermsConfig, defaults,
    pem_files,
};
use crate::league::LadderLimits;
use referee_league::LadderSeats;

/// The default maximum number of new versions of a bot a day.
const VERSIONS: u32 = 20;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LadderConfig {
    /// Unique in the league.
    pub name: String,
    /// The id of a game, or the directory of one whose rules are a program.
    pub game: String,
    #[serde(default)]
    seats: Option<u8>,
    #[serde(default)]
    options: Map<String, Value>,
    #[serde(default)]
    opening_plies: u32,
    #[serde(rename = "{terms}")]
    pub(in crate::league) terms: TermsConfig,
    #[serde(default = "defaults::one")]
    jobs: u32,
    #[serde(default = "default_rest")]
    rest: Setting<Milliseconds>,
    #[serde(default)]
    quota: Option<u32>,
    #[serde(default = "versions")]
    versions_per_day: u32,
    #[serde(default)]
    rated_challenges: bool,
    #[serde(default)]
    even_out: bool,
    #[serde(default)]
    listen: Option<SocketAddr>,
    #[serde(default = "defaults::connections")]
    connections: u32,
    #[serde(default = "defaults::reconnect")]
    reconnect: Setting<Milliseconds>,
    #[serde(default)]
    tls_cert: Option<PathBuf>,
    #[serde(default)]
    tls_key: Option<PathBuf>,
    /// The address for spectators.
    #[serde(default)]
    pub watch: Option<SocketAddr>,
    /// The number of decisions by which spectators are behind.
    #[serde(default)]
    pub watch_delay: u32,
    /// The names by which spectators may address the server.
    #[serde(default)]
    pub watch_hosts: Vec<String>,
    /// The proxies of spectators that name the address of the client.
    #[serde(default)]
    pub watch_proxies: Vec<IpAddr>,
    /// The URL by which spectators reach the server.
    #[serde(default, deserialize_with = "public_url")]
    pub watch_url: Option<PublicUrl>,
    /// Settings for spectators who play its programs; `None`: they do not.
    #[serde(default)]
    visitors: Option<VisitorsConfig>,
}

/// Matches of spectators against the programs of a ladder.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct VisitorsConfig {
    #[serde(default = "visitor_matches")]
    matches: u32,
    #[serde(default = "defaults::one")]
    per_address: u32,
    #[serde(default = "visitor_clock")]
    clock: Setting<ClockLimits>,
}

fn visitor_matches() -> u32 {
    2
}
fn visitor_clock() -> Setting<ClockLimits> {
    let clock = Clock { delay_ms: 0, bank_ms: 300_000, increment_ms: 10_000 };
    Setting::written("bank=5m,increment=10s", ClockLimits(Some(clock)))
}

/// Finds the tables of ladders in a file, with their default clock.
pub(super) fn tables<'t, 'a>(root: &'t mut DeTable<'a>) -> Vec<&'t mut DeTable<'a>> {
    let Some(DeValue::Array(ladders)) = root.get_mut("ladders").map(Spanned::get_mut) else {
        return Vec::new();
    };
    let with_clock = |ladder: &'t mut Spanned<DeValue<'a>>| {
        let DeValue::Table(ladder) = ladder.get_mut() else { return None };
        let clock = Spanned::new(0..0, DeValue::String("delay=1s,bank=30s".into()));
        ladder.entry(Spanned::new(0..0, "clock".into())).or_insert(clock);
        Some(ladder)
    };
    ladders.iter_mut().filter_map(with_clock).collect()
}
fn default_rest() -> Setting<Milliseconds> {
    Setting::written("1s", Milliseconds(1_000))
}
fn versions() -> u32 {
    VERSIONS
}

#[derive(Clone, Debug)]
pub struct LadderGame {
    pub rules: &'static dyn Rules,
    /// The seats that it is played with.
    pub seating: Seating,
    pub catalog: Catalog,
}

impl LadderGame {
    /// The teams, and whether the ladder is played in mirrored sets. Bots that stay connected would know the
    /// dice and the secrets of the first match in the second one, so that only games without both are.
    pub fn seats(&self) -> LadderSeats {
        let is_mirrored = self.seating.seats() == 2 && !deal_leaks_information(self.rules.meta());
        LadderSeats { seating: self.seating, is_mirrored }
    }
}

#[derive(Debug)]
pub struct PreparedLadder {
    pub game: LadderGame,
    pub terms: Terms,
    /// The limits on the number of matches.
    pub limits: LadderLimits,
    /// The listener for bots, if they connect.
    pub listen: Option<Listen>,
    /// Spectators' matches against its programs, if allowed.
    pub visitors: Option<LadderVisitors>,
}

/// Matches of spectators against the programs of a ladder.
#[derive(Debug)]
pub struct LadderVisitors {
    /// The maximum number of matches at once, and of those of one address.
    pub matches: usize,
    pub per_address: usize,
    pub terms: Terms,
}

impl LadderConfig {
    fn wrong(&self, why: impl Into<Wrong>) -> RunError {
        RunError::from(Wrong::at(format!("ladder {}", self.name), why.into()))
    }

    /// Finds the game. `folder`: the base of its path, if its rules are a program.
    ///
    /// # Errors
    /// If there is none, or it has other seats.
    pub fn game(&self, games: &KnownGames, folder: &Path) -> Result<LadderGame, RunError> {
        let mut games = games.clone();
        let rules = games.find(folder, &self.game).map_err(|error| self.wrong(error))?;
        let mut catalog = games.catalog().clone();
        let kept = referee_program::kept(&folder.join("ladders").join(&self.name), games.launch());
        let is_other =
            |kept: &&dyn Rules| kept.program().map(RawValue::get) != rules.program().map(RawValue::get);
        for version in kept
            .map_err(|why| self.wrong(Wrong::at("its directory `games`", why)))?
            .into_iter()
            .filter(is_other)
        {
            catalog.add_version(version);
        }
        let seating = rules.meta().seating(self.seats);
        let seating = seating.map_err(|what| self.wrong(Wrong::at("seats", what)))?;
        Ok(LadderGame { rules, seating, catalog })
    }

    /// Opens the tables that the ladder names, if it does, for its matches and records. Returns the terms of matches.
    ///
    /// # Errors
    /// If the game cannot be played on such terms, or its tables cannot be read.
    pub fn add_tables(&self, game: &mut LadderGame, folder: &Path) -> Result<Terms, Wrong> {
        let resolve = |path: &Path| folder.join(path);
        let (rules, terms) = self.terms.of_game(game.rules, game.seating, resolve, keys)?;
        game.catalog.replace(rules);
        game.rules = rules;
        Ok(terms)
    }

    /// Validates the ladder. `folder`: the base of paths.
    ///
    /// # Errors
    /// If it cannot be played.
    pub fn prepare(&self, games: &KnownGames, folder: &Path) -> Result<PreparedLadder, RunError> {
        let game = self.game(games, folder)?;
        self.prepare_game(game, folder).map_err(|why| self.wrong(why))
    }

    fn prepare_game(&self, mut game: LadderGame, folder: &Path) -> Result<PreparedLadder, Wrong> {
        let terms = self.add_tables(&mut game, folder)?;
        for (key, value, most) in [
            ("jobs", self.jobs, 10_000),
            ("connections", self.connections, 100_000),
            ("quota", self.quota.unwrap_or(1), u32::MAX),
            ("visitors.matches", self.visitors.as_ref().map_or(1, |visitors| visitors.matches), 64),
            ("visitors.per_address", self.visitors.as_ref().map_or(1, |visitors| visitors.per_address), 64),
        ] {
            if !(1..=most).contains(&value) {
                return Err(format!("{key}: {value} is not from 1 to {most}").into());
            }
        }
        // Any seed will do to validate the openings.
        self.openings(&game, &Seed([0; 32]))?;
        let listen = self.listener(folder)?;
        let limits = LadderLimits {
            jobs: self.jobs as usize,
            quota: self.quota,
            versions: self.versions_per_day,
            rest_ms: self.rest.0,
            rated_challenges: self.rated_challenges,
            evens_out: self.even_out,
            keep: None,
        };
        let visitors = self.visitors.as_ref().map(|visitors| {
            let terms = Terms { clock: visitors.clock.0, adjudication: Adjudication::default(), ..terms };
            let (matches, per_address) = (visitors.matches as usize, visitors.per_address as usize);
            LadderVisitors { matches, per_address, terms }
        });
        if visitors.is_some() && self.watch.is_none() {
            return Err("visitors needs `watch`".into());
        }
        Ok(PreparedLadder { game, terms, limits, listen, visitors })
    }

    /// The listener for bots, still without their tokens; `None` if they do not connect.
    fn listener(&self, folder: &Path) -> Result<Option<Listen>, Wrong> {
        let names: SettingNames = |key, value| keys(key.trim_start_matches("listen."), value);
        let (tls_cert, tls_key) = (self.tls_cert.clone(), self.tls_key.clone());
        let files = pem_files(tls_cert.clone(), tls_key.clone(), names)?;
        let Some(address) = self.listen else {
            return if files.is_none() { Ok(None) } else { Err("tls_cert needs `listen`".into()) };
        };
        let config = ListenConfig {
            connections: self.connections,
            // Matches are between bots that are connected.
            wait: Milliseconds(0).into(),
            reconnect: self.reconnect.clone(),
            tls_cert,
            tls_key,
            ..ListenConfig::new(address)
        };
        let listen = config.listener(None, |path| folder.join(path), names)?;
        Ok(Some(Listen { is_open: true, ..listen }))
    }

    /// The openings of its matches.
    ///
    /// # Errors
    /// If the game has no such openings.
    pub fn openings(&self, game: &LadderGame, seed: &Seed) -> Result<Openings, Wrong> {
        let source = OpeningSource::Random { plies: self.opening_plies };
        // Only files have openings that are left out.
        let (openings, _) = source.openings(game.rules, game.seating, self.options.clone(), seed, keys)?;
        Ok(openings)
    }
}
