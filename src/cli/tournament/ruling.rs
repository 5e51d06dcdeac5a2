//! `referee tournament rule` and `rulings`: decisions of the organiser that replace results.

use std::io::Write;
use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand};

use crate::cli::exit::{Exit, Failure};
use crate::cli::json::RulingLine;
use crate::cli::ruling::{Why, rulings_table};
use crate::cli::screen;
use crate::cli::tournament::change::change;
use crate::game::json;
use crate::runs::config::KnownGames;
use crate::runs::tournament::{RequestedChange, open_results};
use crate::store::{DisqualifiedFrom, RequestedDecision};

/// Rule on matches and entrants, even while the tournament is in progress
///
/// Rulings replace results; what was played stays stored, and `referee tournament verify` replays the rulings into the
/// standings. Rounds that are paired already stay as they are. Every ruling has a reason and can be undone.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee tournament rule void cup m17 --reason 'the network was down'
  referee tournament rule award cup m17 alice --reason 'power cut at the other site'
  referee tournament rule replay cup m17 --reason 'the network was down'
  referee tournament rule disqualify cup bob --from-start --reason 'copied program'
  referee tournament rule rename cup bob 'Bob the Second' --reason 'asked for it'
  referee tournament rule undo cup 3 --reason 'ruled on the wrong match'
  referee tournament rulings cup")]
pub(super) struct RuleArgs {
    #[command(subcommand)]
    decision: TournamentDecision,
}

#[derive(Debug, Subcommand)]
enum TournamentDecision {
    /// A match does not count, and is not played again
    #[command(
        after_help = "Examples:\n  referee tournament rule void cup m17 --reason 'the network was down'"
    )]
    Void {
        #[command(flatten)]
        on: MatchOfTournament,
        #[command(flatten)]
        why: Why,
    },
    /// A match gives an entrant the points of a win, or each of them those of a draw
    ///
    /// They count in the standings, and not for Elo: nobody has played for them.
    #[command(after_help = "Examples:
  referee tournament rule award cup m17 alice --reason 'power cut at the other site'
  referee tournament rule award cup m17 --draw --reason 'power cut at both sites'")]
    Award {
        #[command(flatten)]
        on: MatchOfTournament,
        /// The winner
        #[arg(required_unless_present = "draw", conflicts_with = "draw")]
        winner: Option<String>,
        /// Nobody wins
        #[arg(long)]
        draw: bool,
        #[command(flatten)]
        why: Why,
    },
    /// A match is played again; of a mirrored set all matches are, on a new deal
    #[command(
        after_help = "Examples:\n  referee tournament rule replay cup m17 --reason 'the network was down'"
    )]
    Replay {
        #[command(flatten)]
        on: MatchOfTournament,
        #[command(flatten)]
        why: Why,
    },
    /// An entrant plays no more, or loses a match
    ///
    /// From now on it is treated like an entrant that withdraws. From the start, all its results are annulled; in a Swiss
    /// tournament its opponents win what they have played against it.
    #[command(after_help = "Examples:
  referee tournament rule disqualify cup bob --reason 'does not answer'
  referee tournament rule disqualify cup bob --from-start --reason 'copied program'
  referee tournament rule disqualify cup bob --from-match m17 --reason 'help from outside'")]
    Disqualify {
        /// The tournament's directory
        dir: PathBuf,
        /// The entrant
        name: String,
        /// Its results are annulled
        #[arg(long, conflicts_with = "from_match")]
        from_start: bool,
        /// It only loses this match
        #[arg(long, value_name = "MATCH")]
        from_match: Option<String>,
        #[command(flatten)]
        why: Why,
    },
    /// People see another name of an entrant; its id stays
    #[command(after_help = "Examples:
  referee tournament rule rename cup bob 'Bob the Second' --reason 'asked for it'
  referee tournament rule rename cup bob --reason 'shown by its id again'")]
    Rename {
        /// The tournament's directory
        dir: PathBuf,
        /// The entrant
        name: String,
        /// What people see: up to 64 characters [default: the id]
        display: Option<String>,
        #[command(flatten)]
        why: Why,
    },
    /// A ruling holds no longer
    #[command(
        after_help = "Examples:\n  referee tournament rule undo cup 3 --reason 'ruled on the wrong match'"
    )]
    Undo {
        /// The tournament's directory
        dir: PathBuf,
        /// Its number, from `referee tournament rulings`
        ruling: u32,
        #[command(flatten)]
        why: Why,
    },
}

#[derive(Debug, ClapArgs)]
struct MatchOfTournament {
    /// The tournament's directory
    dir: PathBuf,
    /// The match, e.g. m17
    #[arg(value_name = "MATCH")]
    id: String,
}

pub(super) fn rule(args: RuleArgs, games: &KnownGames) -> Result<Exit, Failure> {
    let (dir, why, decision) = match args.decision {
        TournamentDecision::Void { on, why } => (on.dir, why, RequestedDecision::Void(on.id)),
        TournamentDecision::Award { on, winner, draw: _, why } => {
            (on.dir, why, RequestedDecision::Award { id: on.id, winner })
        }
        TournamentDecision::Replay { on, why } => (on.dir, why, RequestedDecision::Replay(on.id)),
        TournamentDecision::Disqualify { dir, name, from_start, from_match, why } => {
            let from = DisqualifiedFrom::of(from_match, from_start);
            (dir, why, RequestedDecision::Disqualify { name, from })
        }
        TournamentDecision::Rename { dir, name, display, why } => {
            (dir, why, RequestedDecision::Rename { name, display })
        }
        TournamentDecision::Undo { dir, ruling, why } => (dir, why, RequestedDecision::Undo(ruling)),
    };
    change(&dir, games, &RequestedChange::Rule(Box::new(why.ruling(decision)?)))
}

/// List the rulings of a tournament, with who made them and why
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee tournament rulings cup
  referee tournament rulings cup --json")]
pub(super) struct RulingsArgs {
    /// The tournament's directory
    dir: PathBuf,
    /// One JSON object per line and ruling
    #[arg(long)]
    json: bool,
}

pub(super) fn list(args: &RulingsArgs) -> Result<Exit, Failure> {
    let rulings = open_results(&args.dir)?.rulings().map_err(Failure::cannot_run)?;
    let mut out = screen::stdout();
    if args.json {
        for row in &rulings {
            writeln!(out, "{}", json::text(&RulingLine::of(row)))?;
        }
        return Ok(Exit::Done);
    }
    writeln!(out, "{}", rulings_table(&rulings))?;
    Ok(Exit::Done)
}
