//! `referee league rule` and `rulings`: decisions of the organiser that replace results.

use std::io::Write;

use clap::{Args as ClapArgs, Subcommand};

use crate::cli::json::RulingLine;
use crate::cli::league::which::{LeagueSelector, find_ladder};
use crate::cli::ruling::{Why, rulings_table};
use crate::cli::{Exit, Failure, screen};
use crate::game::json;
use crate::league::LadderMatch;
use crate::runs::league::config::LeagueConfig;
use crate::store::{DisqualifiedFrom, RequestedDecision, now};

/// Rule on matches and bots, also while `referee serve` runs
///
/// Rulings replace results; what was played stays stored, and the standings follow within a second. Every ruling has a reason
/// and can be undone.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee league rule void m17 --reason 'the network was down'
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
    #[command(after_help = "Examples:\n  referee league rule void m17 --reason 'the network was down'")]
    Void {
        #[command(flatten)]
        on: MatchOfLadder,
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
    #[command(after_help = "Examples:\n  referee league rule replay m17 --reason 'the network was down'")]
    Replay {
        #[command(flatten)]
        on: MatchOfLadder,
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
    fn find(self, config: &LeagueConfig) -> Result<LadderMatch, Failure> {
        let ladder = find_ladder(config, self.ladder.as_deref())?.name.clone();
        Ok(LadderMatch { ladder, id: self.id })
    }
}

pub(super) fn rule(args: RuleArgs) -> Result<Exit, Failure> {
    let (config, mut league) = args.decision.which().open()?;
    let (why, decision) = match args.decision {
        LeagueDecision::Void { on, why, .. } => (why, RequestedDecision::Void(on.find(&config)?)),
        LeagueDecision::Award { on, winner, why, .. } => {
            (why, RequestedDecision::Award { id: on.find(&config)?, winner })
        }
        LeagueDecision::Replay { on, why, .. } => (why, RequestedDecision::Replay(on.find(&config)?)),
        LeagueDecision::Disqualify { name, from_start, from_match, ladder, why, .. } => {
            let on = from_match.map(|id| MatchOfLadder { id, ladder }.find(&config)).transpose()?;
            (why, RequestedDecision::Disqualify { name, from: DisqualifiedFrom::of(on, from_start) })
        }
        LeagueDecision::Rename { name, display, why, .. } => {
            (why, RequestedDecision::Rename { name, display })
        }
        LeagueDecision::Undo { ruling, why, .. } => (why, RequestedDecision::Undo(ruling)),
    };
    let words = league.rule(&why.ruling(decision)?, now())?;
    writeln!(screen::stdout(), "{words}")?;
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
