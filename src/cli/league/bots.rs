//! The bots of a league: adding, revoking, pausing and listing them.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::PathBuf;

use clap::Args as ClapArgs;
use sha2::{Digest, Sha256};

use crate::bot::Command;
use crate::cli::exit::{Exit, Failure};
use crate::cli::json::{AddedBot, LastFault, LeagueBotLine, LeaguePlayerSeen};
use crate::cli::league::log;
use crate::cli::league::which::{LeagueSelector, find_ladder, is_played};
use crate::cli::options::random_seed;
use crate::cli::screen;
use crate::cli::user::user;
use crate::game::json;
use crate::game::name::check_name;
use crate::league::{ActError, League, LeaguePart, LeaguePlayer, MatchFilter, NewBot, OrganiserAct};
use crate::report::table;
use crate::runs::league::LadderMemory;
use crate::runs::league::config::{LadderConfig, LeagueConfig};
use crate::stats::ladder::Name;
use crate::store::{StoreError, now};

/// Admit a bot that connects, and print its token; or add a program that the server starts
///
/// The token is printed once: the league stores only its hash. A bot connects with its name and its token in `hello`. With
/// a `version` in `hello` it plays as NAME@VERSION: a new version is a new player, which starts from the rating of the one
/// before it.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee league add alice --owner 'Alice Liddell'
  referee league add mybot-2 --command './mybot --depth 8'
  referee league add random --command 'python3 random_bot.py' --anchor 0")]
pub(super) struct AddArgs {
    /// The name of the bot
    name: String,
    /// Its owner: bots of the same owner do not meet [default: the one before, or the name]
    #[arg(long)]
    owner: Option<String>,
    /// The command line of a program that the server starts; it runs in the current directory
    #[arg(long)]
    command: Option<String>,
    /// The working directory of the program
    #[arg(long, value_name = "DIR", requires = "command")]
    directory: Option<PathBuf>,
    /// Fix the rating of the program, so that it pins the scale
    #[arg(long, value_name = "ELO", requires = "command", allow_negative_numbers = true)]
    anchor: Option<f64>,
    /// A ladder on which the program plays; may be repeated [default: all]
    #[arg(long, value_name = "NAME", requires = "command")]
    ladder: Vec<String>,
    /// One JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    which: LeagueSelector,
}

pub(super) fn add(args: AddArgs) -> Result<Exit, Failure> {
    let AddArgs { name, owner, command, directory, anchor, ladder, json: is_json, which } = args;
    check_name(&name).map_err(|what| Failure::usage(format!("`{name}`: {what}")))?;
    let (config, mut league) = which.open()?;
    for name in &ladder {
        find_ladder(&config, Some(name))?;
    }
    if config.programs.iter().any(|program| program.name() == name) {
        return Err(Failure::usage(format!("`{name}` is a program in {}", which.league.display())));
    }
    if anchor.is_some_and(|elo| !elo.is_finite() || elo.abs() > 100_000.0) {
        return Err(Failure::usage("--anchor: a rating is from -100000 to 100000"));
    }
    let here = std::path::absolute(directory.unwrap_or_default().join(".")).map_err(Failure::cannot_run)?;
    if let Some(text) = &command {
        let command: Command = text.parse().map_err(|what| Failure::usage(format!("--command: {what}")))?;
        let command = Command { directory: Some(here.clone()), ..command };
        command.check().map_err(|what| Failure::usage(format!("--command: {what}")))?;
        config.sandbox(&name)?;
    }
    let token = match command {
        Some(_) => None,
        None => Some(random_seed()?.to_hex()),
    };
    let ladders = (!ladder.is_empty()).then(|| BTreeSet::from_iter(ladder));
    let bot = NewBot {
        name: &name,
        owner: owner.as_deref(),
        token: token.as_ref().map(|token| Sha256::digest(token).into()),
        command: command.as_deref(),
        directory: command.is_some().then_some(&here),
        anchor,
        ladders: ladders.as_ref(),
        ..NewBot::default()
    };
    league.act(&user(), OrganiserAct::AddBot(&bot), now()).map_err(|refused| {
        let advice = match &refused {
            ActError::BotOfOwner { owner, .. } => format!("choose another name, or say --owner '{owner}'"),
            ActError::NamedAsOwner(owner) => format!("say --owner '{owner}', or name another owner"),
            _ => return refused.into(),
        };
        Failure::usage(format!("{refused}: {advice}"))
    })?;
    let bots = league.bots().map_err(Failure::cannot_run)?;
    let bot = bots.iter().find(|bot| bot.name == name);
    let owner = bot.map_or(&name, |bot| &bot.owner);
    let mut out = screen::stdout();
    if is_json {
        let (token, command) = (token.as_deref(), command.as_deref());
        writeln!(out, "{}", json::text(&AddedBot { name: &name, owner, token, command }))?;
    } else if let Some(token) = token {
        writeln!(out, "{name} may connect with this token, which is not shown again:\n{token}")?;
    } else {
        writeln!(out, "{name} takes part")?;
    }
    Ok(Exit::Done)
}

/// End the participation of a bot: its token is invalid from now on. Its results stand
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee league revoke alice")]
pub(super) struct RevokeArgs {
    /// The name of the bot
    name: String,
    #[command(flatten)]
    which: LeagueSelector,
}

pub(super) fn revoke(args: &RevokeArgs) -> Result<Exit, Failure> {
    let (_, mut league) = args.which.open()?;
    let bot = &Name::parse(&args.name).bot;
    log::act(&mut league, OrganiserAct::Revoke { bot })?;
    writeln!(screen::stdout(), "{bot} does not take part any more; its results stand")?;
    Ok(Exit::Done)
}

/// Begin no match of the league, of one ladder or of one bot, until it is resumed. Matches in progress end
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee league pause
  referee league pause alice
  referee league pause --ladder checkers")]
pub(super) struct PauseArgs {
    /// The name of a bot [default: the whole league]
    name: Option<String>,
    /// A ladder
    #[arg(long, value_name = "NAME", conflicts_with = "name")]
    ladder: Option<String>,
    #[command(flatten)]
    which: LeagueSelector,
}

/// Begin matches again of the league, of one ladder or of one bot
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee league resume
  referee league resume alice
  referee league resume --ladder checkers")]
pub(super) struct ResumeArgs {
    /// The name of a bot [default: the whole league]
    name: Option<String>,
    /// A ladder
    #[arg(long, value_name = "NAME", conflicts_with = "name")]
    ladder: Option<String>,
    #[command(flatten)]
    which: LeagueSelector,
}

pub(super) fn pause(args: &PauseArgs) -> Result<Exit, Failure> {
    set_paused(&args.which, args.name.as_deref(), args.ladder.as_deref(), true)
}

pub(super) fn resume(args: &ResumeArgs) -> Result<Exit, Failure> {
    set_paused(&args.which, args.name.as_deref(), args.ladder.as_deref(), false)
}

fn set_paused(
    which: &LeagueSelector,
    name: Option<&str>,
    ladder: Option<&str>,
    is_paused: bool,
) -> Result<Exit, Failure> {
    let (config, mut league) = which.open()?;
    let bot = name.map(|name| Name::parse(name).bot);
    let part = match (&bot, ladder) {
        (Some(bot), _) => LeaguePart::Bot(bot),
        (None, Some(ladder)) => LeaguePart::Ladder(&find_ladder(&config, Some(ladder))?.name),
        (None, None) => LeaguePart::League,
    };
    log::act(&mut league, OrganiserAct::Pause { part, is_paused })?;
    let what = name.or(ladder).unwrap_or("the league");
    let mut out = screen::stdout();
    writeln!(out, "{what} is {}", if is_paused { "paused" } else { "resumed" })?;
    if !is_paused && bot.is_none() {
        for LadderConfig { name, .. } in
            config.ladders.iter().filter(|of| ladder.is_none_or(|name| of.name == name))
        {
            say_if_closed(&mut out, &league, name)?;
        }
    }
    Ok(Exit::Done)
}

fn say_if_closed(out: &mut impl Write, league: &League, ladder: &str) -> Result<(), Failure> {
    if league.in_force(Some(ladder)).map_err(Failure::cannot_run)?.closed_since.is_some() {
        writeln!(out, "{ladder} is closed by an event: no match begins until another one opens it")?;
    }
    Ok(())
}

/// List the bots of a league
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee league list
  referee league list --json")]
pub(super) struct ListArgs {
    /// One JSON object per line and bot
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    which: LeagueSelector,
}

pub(super) fn list(args: &ListArgs) -> Result<Exit, Failure> {
    let (config, league) = args.which.open()?;
    let bots = league.bots().map_err(Failure::cannot_run)?;
    let ended = league.ended_bots(None).map_err(Failure::cannot_run)?;
    let is_played = is_played(&config)?;
    let mut here = BTreeSet::new();
    let mut played = Vec::new();
    for ladder in &config.ladders {
        let players = league.players(&ladder.name).map_err(Failure::cannot_run)?;
        let memory = LadderMemory::read(&league, &ladder.name).map_err(Failure::cannot_run)?;
        let states = memory.states(now());
        here.extend(memory.here.into_iter().filter(|_| is_played).map(|player| Name::parse(&player).bot));
        let state = |player: &LeaguePlayer| states.get(&player.name).map(ToString::to_string);
        played.extend(players.into_iter().map(|player| (ladder.name.clone(), state(&player), player)));
    }
    let mut out = screen::stdout();
    let mut rows = Vec::new();
    if !args.json {
        let is_paused = league.is_paused().map_err(Failure::cannot_run)?;
        if is_paused {
            writeln!(out, "the league is paused: `referee league resume` resumes it")?;
        }
        for LadderConfig { name, .. } in config.ladders.iter().filter(|_| !is_paused) {
            say_if_closed(&mut out, &league, name)?;
            if league.is_ladder_paused(name).map_err(Failure::cannot_run)? {
                writeln!(out, "{name} is paused: `referee league resume --ladder {name}` resumes it")?;
            }
        }
    }
    for bot in &bots {
        let own = played.iter().filter(|(_, _, player)| Name::parse(&player.name).bot == bot.name);
        let players: Vec<LeaguePlayerSeen> = own
            .map(|(ladder, state, player)| LeaguePlayerSeen {
                ladder: ladder.clone(),
                player: player.name.clone(),
                last_seen: player.last_seen.clone(),
                state: state.clone(),
            })
            .collect();
        let kind = if bot.command.is_some() { "program" } else { "connects" };
        let (online, ended) = (here.contains(&bot.name), ended.get(&bot.name).copied());
        let last_fault = last_fault(&league, &config, &bot.name).map_err(Failure::cannot_run)?;
        let listed = LeagueBotLine { bot, kind, online, ended, last_fault, players };
        if args.json {
            writeln!(out, "{}", json::text(&listed))?;
            continue;
        }
        let state = match (ended, &bot.refused, bot.is_paused, bot.anchor) {
            (Some(ended), ..) => ended.to_string(),
            (_, Some(why), ..) => format!("refused: {why}"),
            (_, _, true, _) => "paused".to_owned(),
            (.., Some(elo)) => format!("anchor at {elo}"),
            _ => String::new(),
        };
        let states = listed.players.iter().filter_map(|player| {
            Some(format!("{} on {}: {}", player.player, player.ladder, player.state.as_ref()?))
        });
        let state: Vec<String> =
            Some(state).filter(|state| !state.is_empty()).into_iter().chain(states).collect();
        let state = state.join("; ");
        let last_seen = listed.players.iter().map(|player| &*player.last_seen).max().unwrap_or("never");
        let how = bot.command.as_deref().unwrap_or("connects");
        let name = match &bot.display_name {
            Some(display) => format!("{display} ({})", bot.name),
            None => bot.name.clone(),
        };
        let fault = listed.last_fault.as_ref().map(|last| format!("{} in {}", last.fault, last.id));
        let online = if online { "yes" } else { "" };
        let cells = [&*name, &bot.owner, how, online, &state, last_seen, fault.as_deref().unwrap_or("")];
        rows.push(cells.map(str::to_owned).to_vec());
    }
    if !args.json {
        writeln!(
            out,
            "{}",
            table(&["bot", "owner", "how", "online", "state", "last match", "last fault"], rows, 0..0)
        )?;
    }
    out.flush()?;
    Ok(Exit::Done)
}

/// The last match on any ladder in which a bot made a fault.
fn last_fault(league: &League, config: &LeagueConfig, bot: &str) -> Result<Option<LastFault>, StoreError> {
    let players = [bot.to_owned()];
    let filter = MatchFilter { players: Some(&players), is_faulted: true, ..MatchFilter::default() };
    let mut last: Option<LastFault> = None;
    for ladder in &config.ladders {
        let found = league.last_matches(&ladder.name, filter, 1)?.pop();
        let Some(row) = found.filter(|row| last.as_ref().is_none_or(|last| last.ended_at < row.ended_at))
        else {
            continue;
        };
        let own = row.players.iter().zip(&row.faults).filter(|(player, _)| Name::parse(player).bot == bot);
        let fault = own.flat_map(|(_, faults)| faults.iter()).last().map_or("", |(code, _)| code.as_str());
        let (ladder, id) = (ladder.name.clone(), row.id());
        last = Some(LastFault { ladder, id, fault, ended_at: row.ended_at });
    }
    Ok(last)
}
