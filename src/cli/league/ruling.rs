//! `referee league rule` and `rulings`: decisions of the organiser that replace results.

use std::collections::BTreeSet;
use std::io::{self, IsTerminal, Write};
use std::str::FromStr;
use std::time::{Duration, SystemTime};

use clap::{Args as ClapArgs, Subcommand};

use crate::cli::exit::{Exit, Failure};
use crate::cli::json::RulingLine;
use crate::cli::league::which::{LeagueSelector, find_ladder};
use crate::cli::ruling::{Why, rulings_table};
use crate::cli::screen;
use crate::game::{Wrong, counted, json};
use crate::league::{LadderMatches, League, LeagueMatch};
use crate::runs::league::config::LeagueConfig;
use crate::store::{DisqualifiedFrom, RequestedDecision, StoreError, now, parse_match_id};

/// Rule on matches and bots, also while `referee serve` runs
///
/// Rulings replace results; what was played stays stored, and the standings follow within a second. Every ruling has a reason
/// and can be undone.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee league rule void m17 --reason 'the network was down'
  referee league rule void --from 2026-11-22T18:30:00 --to 2026-11-22T19:00:00 --reason outage
  referee league rule award m17 alice --reason 'power cut at the other site'
  referee league rule replay m17 --reason 'the network was down'
  referee league rule disqualify bob --from-start --reason 'copied program'
  referee league rule rename bob 'Bob the Second' --reason 'asked for it'
  referee league rule undo 3 --reason 'ruled on the wrong match'
  referee league rulings")]
pub(super) struct RuleArgs {
    #[command(subcommand)]
    decision: LeagueDecision,
}

#[derive(Debug, Subcommand)]
enum LeagueDecision {
    /// A match is not rated
    #[command(after_help = "Examples:
  referee league rule void m17 --reason 'the network was down'
  referee league rule void --from m17 --to m42 --reason 'the network was down'
  referee league rule void --from 2026-11-22T18:30:00 --to 2026-11-22T19:00:00 --reason outage")]
    Void {
        #[command(flatten)]
        on: MatchesOfLadder,
        #[command(flatten)]
        why: Why,
        #[command(flatten)]
        which: LeagueSelector,
    },
    /// A match is rated as won by a player, or as drawn
    #[command(after_help = "Examples:
  referee league rule award m17 alice --reason 'power cut at the other site'
  referee league rule award m17 --draw --reason 'power cut at both sites'")]
    Award {
        #[command(flatten)]
        on: MatchOfLadder,
        /// The winner
        #[arg(required_unless_present = "draw", conflicts_with = "draw")]
        winner: Option<String>,
        /// Nobody wins
        #[arg(long)]
        draw: bool,
        #[command(flatten)]
        why: Why,
        #[command(flatten)]
        which: LeagueSelector,
    },
    /// A match is not rated, and its players meet again as after `referee league challenge`
    #[command(after_help = "Examples:
  referee league rule replay m17 --reason 'the network was down'
  referee league rule replay --from m17 --to m42 --reason 'the network was down'
  referee league rule replay --from 2026-11-22T18:30:00 --to 2026-11-22T19:00:00 --reason outage")]
    Replay {
        #[command(flatten)]
        on: MatchesOfLadder,
        #[command(flatten)]
        why: Why,
        #[command(flatten)]
        which: LeagueSelector,
    },
    /// A bot plays no more, or loses a match
    ///
    /// Its results stand, unless it is disqualified from the start: then none of its matches is rated.
    #[command(after_help = "Examples:
  referee league rule disqualify bob --reason 'does not answer'
  referee league rule disqualify bob --from-start --reason 'copied program'
  referee league rule disqualify bob --from-match m17 --reason 'help from outside'")]
    Disqualify {
        /// The bot
        name: String,
        /// None of its matches is rated
        #[arg(long, conflicts_with = "from_match")]
        from_start: bool,
        /// It only loses this match
        #[arg(long, value_name = "MATCH")]
        from_match: Option<String>,
        /// The ladder of the match, if the league has several
        #[arg(long, value_name = "NAME", requires = "from_match")]
        ladder: Option<String>,
        #[command(flatten)]
        why: Why,
        #[command(flatten)]
        which: LeagueSelector,
    },
    /// People see another name of a bot; its id stays
    #[command(after_help = "Examples:
  referee league rule rename bob 'Bob the Second' --reason 'asked for it'
  referee league rule rename bob --reason 'shown by its id again'")]
    Rename {
        /// The bot
        name: String,
        /// What people see: up to 64 characters [default: the id]
        display: Option<String>,
        #[command(flatten)]
        why: Why,
        #[command(flatten)]
        which: LeagueSelector,
    },
    /// A ruling holds no longer
    #[command(after_help = "Examples:\n  referee league rule undo 3 --reason 'ruled on the wrong match'")]
    Undo {
        /// Its number, from `referee league rulings`
        ruling: u32,
        #[command(flatten)]
        why: Why,
        #[command(flatten)]
        which: LeagueSelector,
    },
}

impl LeagueDecision {
    fn which(&self) -> &LeagueSelector {
        match self {
            LeagueDecision::Void { which, .. }
            | LeagueDecision::Award { which, .. }
            | LeagueDecision::Replay { which, .. }
            | LeagueDecision::Disqualify { which, .. }
            | LeagueDecision::Rename { which, .. }
            | LeagueDecision::Undo { which, .. } => which,
        }
    }
}

#[derive(Debug, ClapArgs)]
struct MatchOfLadder {
    /// The match, e.g. m17
    #[arg(value_name = "MATCH")]
    id: String,
    /// The ladder, if the league has several
    #[arg(long, value_name = "NAME")]
    ladder: Option<String>,
}

impl MatchOfLadder {
    fn find(self, config: &LeagueConfig) -> Result<LadderMatches, Failure> {
        let ladder = find_ladder(config, self.ladder.as_deref())?.name.clone();
        Ok(LadderMatches { ladder, ids: vec![self.id] })
    }
}

/// A match, or a range of them.
#[derive(Debug, ClapArgs)]
struct MatchesOfLadder {
    /// The match, e.g. m17
    #[arg(value_name = "MATCH", required_unless_present = "from")]
    id: Option<String>,
    /// The first of several matches, e.g. m17, or a time in UTC: all matches that were in progress from then on, such as
    /// 2026-11-22T18:30:00. Matches that are not rated, or on which a ruling is in force, are left out
    #[arg(long, value_name = "MATCH|TIME", requires = "to", conflicts_with = "id")]
    from: Option<RangeEnd>,
    /// The last of them, or the time until which they were in progress
    #[arg(long, value_name = "MATCH|TIME", requires = "from")]
    to: Option<RangeEnd>,
    /// The ladder, if the league has several [default for times: all ladders]
    #[arg(long, value_name = "NAME")]
    ladder: Option<String>,
    /// Rule on a range without asking
    #[arg(long, requires = "from")]
    yes: bool,
}

/// An end of a range of matches.
#[derive(Clone, Copy, Debug)]
enum RangeEnd {
    Number(u32),
    Time(SystemTime),
}

impl FromStr for RangeEnd {
    type Err = Wrong;

    fn from_str(text: &str) -> Result<RangeEnd, Wrong> {
        if let Some((number, _)) = parse_match_id(text) {
            return Ok(RangeEnd::Number(number));
        }
        let time = humantime::parse_rfc3339_weak(text);
        time.map(RangeEnd::Time).map_err(|_| {
            Wrong::from(format!(
                "`{text}` is neither a match, such as m17, nor a time in UTC, such as 2026-11-22T18:30:00"
            ))
        })
    }
}

/// The number of matches that a question lists.
const LISTED: usize = 20;

impl MatchesOfLadder {
    /// The matches, by ladder. A range is shown, and asked about.
    fn find(
        &self,
        config: &LeagueConfig,
        league: &League,
        what: &str,
    ) -> Result<Vec<LadderMatches>, Failure> {
        let MatchesOfLadder { id, from, to, ladder, yes } = self;
        let (Some(from), Some(to)) = (from, to) else {
            let ladder = find_ladder(config, ladder.as_deref())?.name.clone();
            return Ok(vec![LadderMatches { ladder, ids: id.iter().cloned().collect() }]);
        };
        if matches!(from, RangeEnd::Number(_)) != matches!(to, RangeEnd::Number(_)) {
            return Err(Failure::usage("--from and --to: both are matches, or both are times"));
        }
        let ladders: Vec<&str> = match (ladder, from) {
            (None, RangeEnd::Time(_)) => config.ladders.iter().map(|ladder| &*ladder.name).collect(),
            _ => vec![&find_ladder(config, ladder.as_deref())?.name],
        };
        let mut out = screen::stdout();
        let mut found = Vec::new();
        for ladder in ladders {
            let rows = in_range(league, ladder, *from, *to)?;
            if rows.is_empty() {
                continue;
            }
            writeln!(out, "{ladder}: {} {what}", counted(rows.len() as u64, "match", "matches"))?;
            for row in rows.iter().take(LISTED) {
                writeln!(out, "  {}  {}  ended {}", row.id(), row.players.join(", "), row.ended_at)?;
            }
            if let more @ 1.. = rows.len().saturating_sub(LISTED) {
                writeln!(out, "  and {more} more, the last one {}", rows[rows.len() - 1].id())?;
            }
            let ids = rows.iter().map(LeagueMatch::id).collect();
            found.push(LadderMatches { ladder: ladder.to_owned(), ids });
        }
        out.flush()?;
        if found.is_empty() {
            return Err(Failure::usage("no rated match without a ruling is in this range"));
        }
        let is_confirmed = *yes || (io::stdin().is_terminal() && screen::confirmed("Rule so?")?);
        match is_confirmed {
            true => Ok(found),
            false => Err(Failure::usage("nothing was changed; --yes rules without asking")),
        }
    }
}

/// The rated matches of the season in progress in a range, without those on which a ruling is in force.
fn in_range(
    league: &League,
    ladder: &str,
    from: RangeEnd,
    to: RangeEnd,
) -> Result<Vec<LeagueMatch>, Failure> {
    let rulings = league.rulings().map_err(Failure::cannot_run)?;
    let in_force = rulings.iter().filter(|row| row.is_in_force() && row.ladder.as_deref() == Some(ladder));
    let ruled: BTreeSet<u32> =
        in_force.flat_map(|row| row.matches.iter().map(|ruled| ruled.number)).collect();
    let is_within = |row: &LeagueMatch| match (from, to) {
        (RangeEnd::Number(from), RangeEnd::Number(to)) => (from..=to).contains(&row.number),
        (RangeEnd::Time(from), RangeEnd::Time(to)) => {
            let Ok(ended) = humantime::parse_rfc3339(&row.ended_at) else { return false };
            let began = ended.checked_sub(Duration::from_micros(row.duration_us)).unwrap_or(ended);
            began <= to && ended >= from
        }
        _ => false,
    };
    let season = league.current_season().map_err(Failure::cannot_run)?;
    let mut found = Vec::new();
    let each = |row: LeagueMatch| {
        if row.counts() && row.ranks.is_some() && !ruled.contains(&row.number) && is_within(&row) {
            found.push(row);
        }
        Ok::<_, StoreError>(())
    };
    league.for_each_match(ladder, Some(season), each).map_err(Failure::cannot_run)?;
    Ok(found)
}

pub(super) fn rule(args: RuleArgs) -> Result<Exit, Failure> {
    let (config, mut league) = args.decision.which().open()?;
    let (why, decisions) = match args.decision {
        LeagueDecision::Void { on, why, .. } => {
            let found = on.find(&config, &league, "would not be rated:")?;
            (why, found.into_iter().map(RequestedDecision::Void).collect())
        }
        LeagueDecision::Replay { on, why, .. } => {
            let found =
                on.find(&config, &league, "would not be rated, and their players would meet again:")?;
            (why, found.into_iter().map(RequestedDecision::Replay).collect())
        }
        LeagueDecision::Award { on, winner, why, .. } => {
            (why, vec![RequestedDecision::Award { id: on.find(&config)?, winner }])
        }
        LeagueDecision::Disqualify { name, from_start, from_match, ladder, why, .. } => {
            let on = from_match.map(|id| MatchOfLadder { id, ladder }.find(&config)).transpose()?;
            (why, vec![RequestedDecision::Disqualify { name, from: DisqualifiedFrom::of(on, from_start) }])
        }
        LeagueDecision::Rename { name, display, why, .. } => {
            (why, vec![RequestedDecision::Rename { name, display }])
        }
        LeagueDecision::Undo { ruling, why, .. } => (why, vec![RequestedDecision::Undo(ruling)]),
    };
    for decision in decisions {
        let words = league.rule(&why.ruling(decision)?, now())?;
        writeln!(screen::stdout(), "{words}")?;
    }
    Ok(Exit::Done)
}

/// List the rulings of a league, with who made them and why
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee league rulings
  referee league rulings --json")]
pub(super) struct RulingsArgs {
    /// One JSON object per line and ruling
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    which: LeagueSelector,
}

pub(super) fn list(args: &RulingsArgs) -> Result<Exit, Failure> {
    let (_, league) = args.which.open()?;
    let rulings = league.rulings().map_err(Failure::cannot_run)?;
    let mut out = screen::stdout();
    if args.json {
        for row in &rulings {
            writeln!(out, "{}", json::text(&RulingLine::of(row)))?;
        }
    } else {
        writeln!(out, "{}", rulings_table(&rulings))?;
    }
    out.flush()?;
    Ok(Exit::Done)
}
