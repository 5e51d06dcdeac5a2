//! Finals: a tournament of the first players of a ladder, with its rules and with their tokens, programs and names.

use std::fmt::Write as _;
use std::io::{Seek, Write};
use std::net::SocketAddr;
use std::path::Path;
use std::time::SystemTime;

use referee_files::Folder;
use referee_game::{Wrong, hex};
use referee_league::{LadderRow, LeagueBot, LeagueOwner};
use referee_stats::ladder::Name;
use referee_workers::archive::{ArchiveLimits, pack_folder, unpack};
use toml::{Table, Value};

use super::config::LeagueConfig;
use super::server::tokens;
use crate::RunError;
use crate::tournament::{TournamentConfig, relative_path};

/// The keys of a ladder that a tournament has, too, besides the terms of matches.
const RULES: [&str; 3] = ["seats", "options", "opening_plies"];
/// The keys about connections of bots that a tournament has, too.
const LISTENING: [&str; 2] = ["connections", "reconnect"];
/// The file names in the directory of finals.
const FILE: &str = "tournament.toml";
const TOKENS: &str = "tokens";
/// The directory of copies of programs that were handed in.
const BOTS: &str = "bots";

/// A player who takes part in finals.
#[derive(Clone, Debug)]
pub struct Finalist {
    pub row: LadderRow,
    bot: LeagueBot,
    /// SHA-256 of the tokens with which it connects; none if it is a program.
    tokens: Vec<[u8; 32]>,
}

impl Finalist {
    /// Returns whether it connects by itself.
    pub fn connects(&self) -> bool {
        self.bot.command.is_none()
    }
}

/// A player with a place that leads to the finals, who cannot take part.
#[derive(Clone, Debug)]
pub struct Absentee {
    pub row: LadderRow,
    pub why: String,
}

/// The first players of the standings of a ladder who can play, the best first, and those before the last of them who cannot.
pub fn finalists(
    standings: Vec<LadderRow>,
    bots: &[LeagueBot],
    owners: &[LeagueOwner],
    top: usize,
    now: SystemTime,
) -> (Vec<Finalist>, Vec<Absentee>) {
    let mut tokens = tokens(bots, owners, now);
    let (mut playing, mut absent) = (Vec::new(), Vec::new());
    for row in standings.into_iter().filter(|row| row.standing.place.is_some()) {
        if playing.len() == top {
            break;
        }
        let name = Name::parse(&row.player).bot;
        let Some(bot) = bots.iter().find(|bot| bot.name == name) else { continue };
        let tokens = tokens.remove(&name).unwrap_or_default();
        let why = match bot {
            LeagueBot { revoked_at: Some(_), .. } => Some("takes part no longer".to_owned()),
            LeagueBot { is_paused: true, .. } => Some("is paused".to_owned()),
            LeagueBot { refused: Some(why), .. } => Some(format!("is a program that is not started: {why}")),
            LeagueBot { command: None, .. } if tokens.is_empty() => Some("has no token".to_owned()),
            _ => None,
        };
        match why {
            Some(why) => absent.push(Absentee { row, why }),
            None => playing.push(Finalist { row, bot: bot.clone(), tokens }),
        }
    }
    (playing, absent)
}

/// The settings of finals that their ladder does not have.
#[derive(Debug)]
pub struct FinalsTerms<'a> {
    pub name: &'a str,
    /// The table `format` of a tournament file.
    pub format: Table,
    /// The address for bots that connect.
    pub listen: Option<SocketAddr>,
}

/// Writes the file of the tournament, the tokens of its bots and copies of the programs that were handed in to a new directory.
/// A ladder whose bots get new versions meanwhile does not change them.
///
/// # Errors
/// If the players cannot play such a tournament; I/O errors, also if there are files in the directory.
pub fn write_finals(
    league: &LeagueConfig,
    ladder: &str,
    players: &[Finalist],
    terms: FinalsTerms<'_>,
    directory: &Path,
) -> Result<TournamentConfig, RunError> {
    let connects = players.iter().find(|player| player.connects());
    if let (Some(player), None) = (connects, terms.listen) {
        return Err(
            format!("{} connects by itself: the finals need an address for bots", player.bot.name).into()
        );
    }
    let folder = Folder::make(directory)?;
    let up = relative_path(folder.path(), &league.folder)?;
    let of_league = |path: &str| Value::from(up.join(path).to_string_lossy().into_owned());
    let written = written_ladder(league, ladder);
    let mut file = Table::new();
    file.insert("name".to_owned(), terms.name.into());
    // Only a path has a slash.
    let game = written.get("game").and_then(Value::as_str).unwrap_or_default();
    let game = match game.contains('/') {
        true => Path::new(".").join(&up).join(game).to_string_lossy().into_owned(),
        false => game.to_owned(),
    };
    file.insert("game".to_owned(), game.into());
    file.extend(RULES.iter().filter_map(|&key| Some((key.to_owned(), written.get(key)?.clone()))));
    for ladder in league.ladders.iter().filter(|config| config.name == ladder) {
        file.extend(ladder.terms.to_table()?);
    }
    if let Some(tables) = written.get("syzygy").and_then(Value::as_str) {
        file.insert("syzygy".to_owned(), of_league(tables));
    }
    file.insert("format".to_owned(), terms.format.into());
    if let Some(publish) = league.text().get("publish") {
        file.insert("publish".to_owned(), publish.clone());
    }
    let programs = league.text().get("programs").and_then(Value::as_array);
    file.insert("sandbox".to_owned(), sandbox(league, programs, players, of_league).into());
    if let Some(address) = terms.listen.filter(|_| connects.is_some()) {
        let mut listen = Table::new();
        listen.insert("address".to_owned(), address.to_string().into());
        listen.insert("token_file".to_owned(), TOKENS.into());
        listen.extend(LISTENING.iter().filter_map(|&key| Some((key.to_owned(), written.get(key)?.clone()))));
        let paths = ["tls_cert", "tls_key"];
        listen.extend(
            paths.iter().filter_map(|&key| Some((key.to_owned(), of_league(written.get(key)?.as_str()?)))),
        );
        file.insert("listen".to_owned(), listen.into());
        let mut tokens = String::from("# SHA-256 of the tokens with which the bots play in the league\n");
        for player in players {
            for token in &player.tokens {
                // Writing to a string does not fail.
                let _ = writeln!(tokens, "{}=sha256:{}", player.bot.name, hex::encode(token));
            }
        }
        folder.create(TOKENS)?.write_all(tokens.as_bytes())?;
    }
    let mut entrants = Vec::new();
    for player in players {
        entrants.push(Value::from(entrant(league, programs, player, &folder)?));
    }
    file.insert("entrants".to_owned(), entrants.into());
    let of_file = |why: Wrong| Wrong::at("the tournament file", why);
    let text = toml::to_string(&file).map_err(|why| of_file(Wrong::of(&why)))?;
    folder.create(FILE)?.write_all(text.as_bytes())?;
    let base = folder.path().canonicalize()?;
    Ok(TournamentConfig::parse(&text).map_err(of_file)?.with_base(&base))
}

/// A ladder as it is in the file.
fn written_ladder(league: &LeagueConfig, ladder: &str) -> Table {
    let ladders = league.text().get("ladders").and_then(Value::as_array);
    let is_it = |table: &&Table| table.get("name").and_then(Value::as_str) == Some(ladder);
    ladders.into_iter().flatten().filter_map(Value::as_table).find(is_it).cloned().unwrap_or_default()
}

/// The sandbox of the programs: that which all of them have in the league, or its own; `strict` without the network if one of them
/// was handed in.
fn sandbox(
    league: &LeagueConfig,
    programs: Option<&Vec<Value>>,
    players: &[Finalist],
    of_league: impl Fn(&str) -> Value,
) -> Table {
    let strict = || Table::from_iter([("mode".to_owned(), Value::from("strict"))]);
    let of_all = league.text().get("sandbox").and_then(Value::as_table).cloned().unwrap_or_else(strict);
    let of_player = |player: &Finalist| {
        let own =
            written_program(programs, &player.bot).and_then(|own| own.get("sandbox")?.as_table().cloned());
        own.unwrap_or_else(|| of_all.clone())
    };
    let mut own = players.iter().filter(|player| !player.connects()).map(of_player);
    let first = own.next();
    let mut sandbox = first.filter(|first| own.all(|other| other == *first)).unwrap_or(of_all);
    if players.iter().any(|player| player.bot.version.is_some()) {
        sandbox.extend(strict());
        sandbox.remove("allow_missing");
        let limits = sandbox.entry("limits").or_insert_with(|| Table::new().into());
        limits.as_table_mut().map(|limits| limits.insert("network".to_owned(), false.into()));
    }
    let read =
        sandbox.get_mut("limits").and_then(|limits| limits.get_mut("read")).and_then(Value::as_array_mut);
    for path in read.into_iter().flatten() {
        *path = of_league(path.as_str().unwrap_or_default());
    }
    sandbox
}

/// A program as it is in the file of the league.
fn written_program<'a>(programs: Option<&'a Vec<Value>>, bot: &LeagueBot) -> Option<&'a Value> {
    let is_it = |program: &&Value| program.get("name").and_then(Value::as_str) == Some(&bot.name);
    programs?.iter().find(is_it).filter(|_| bot.is_of_file)
}

/// A bot in the tournament file. A program that was handed in is copied.
fn entrant(
    league: &LeagueConfig,
    programs: Option<&Vec<Value>>,
    player: &Finalist,
    folder: &Folder,
) -> Result<Table, RunError> {
    let bot = &player.bot;
    let mut entrant = Table::new();
    let mut set = |key: &str, value: &str| drop(entrant.insert(key.to_owned(), value.into()));
    set("name", &bot.name);
    if let Some(display_name) = &bot.display_name {
        set("display_name", display_name);
    }
    let Some(command) = &bot.command else {
        set("tcp", &bot.name);
        return Ok(entrant);
    };
    set("command", command);
    let directory =
        bot.directory.as_deref().map(|directory| league.folder.join(directory)).unwrap_or_default();
    if bot.version.is_some() {
        let copy = folder.make_within(BOTS)?.make_within(&bot.name)?;
        let wrong = |why| RunError::machine(Wrong::at(format!("the files of {}", bot.name), why));
        let mut archive = tempfile::tempfile()?;
        let packed = pack_folder(&directory, ArchiveLimits::BOT, &mut archive).map_err(wrong)?;
        archive.rewind()?;
        unpack(archive, &packed.id, copy.path(), ArchiveLimits::BOT).map_err(wrong)?;
        set("files", &format!("{BOTS}/{}", bot.name));
        return Ok(entrant);
    }
    let relative =
        |path: &Path| Ok::<_, RunError>(relative_path(folder.path(), path)?.to_string_lossy().into_owned());
    set("directory", &relative(&directory)?);
    let own = written_program(programs, bot).and_then(|program| program.get("files")?.as_str());
    if let Some(own) = own {
        set("files", &relative(&league.folder.join(own))?);
    }
    Ok(entrant)
}
