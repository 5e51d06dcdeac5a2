//! The lines of `--json` of all subcommands.
//!
//! Each is a JSON object; `type` states its kind, where there are several. Fields may be added; none is renamed or removed
//! without a change of the major version. Types that the library has as well stay there:
//!
//! | subcommand | lines |
//! |---|---|
//! | `play` | [`Listening`], [`Watching`], [`MatchLine`], [`SetReport`](crate::report::SetReport), [`RunSummary`](crate::report::RunSummary) |
//! | `regress` | [`Listening`], [`Watching`], [`RegressionSet`](crate::runs::regression::RegressionSet), [`RegressionReport`](crate::report::RegressionReport) |
//! | `regress merge` | [`RegressionReport`](crate::report::RegressionReport) |
//! | `sprt` | [`SprtReport`] |
//! | `tournament run`, `resume`, `best` | [`Listening`], [`Watching`], [`MatchLine`], [`EliminatedVersion`], [`StandingsLine`] |
//! | `grade` | [`GradeLine`] |
//! | `tournament watch` | [`Watching`] |
//! | `tournament check` | [`TournamentCheck`] |
//! | `tournament status` | [`TournamentStatus`] |
//! | `tournament standings` | [`StandingsLine`] |
//! | `tournament report` | [`TournamentReport`](crate::report::tournament::TournamentReport) |
//! | `tournament export` | [`ExportedMatch`] |
//! | `tournament verify` | [`AuditLine`] |
//! | `worker` | [`WorkerLine`] |
//! | `workshop run`, `resume`, `status` | [`WorkshopLine`](crate::runs::workshop::WorkshopLine) |
//! | `workshop verify` | [`WorkshopAudit`](crate::runs::workshop::WorkshopAudit) |
//! | `serve` | [`LadderListening`], [`LadderWatching`], [`OwnersAt`], [`LeagueMatchLine`] |
//! | `league owners`, `league owner` | [`LeagueOwnerLine`] |
//! | `league invite`, `league invitations` | [`InvitationLine`] |
//! | `league organiser add`, `league organiser list` | [`OrganiserLine`] |
//! | `league submissions`, `league submission show` | [`SubmissionLine`] |
//! | `submit` | [`SubmitLine`] |
//! | `league add` | [`AddedBot`] |
//! | `league list` | [`LeagueBotLine`] |
//! | `league standings` | [`LadderStandings`] |
//! | `league matches` | [`LeagueMatchLine`] |
//! | `league log` | [`LeagueLogLine`] |
//! | `tournament rulings`, `league rulings` | [`RulingLine`] |
//! | `league verify` | [`LeagueAuditLine`] |
//! | `check` | [`StepResult`](crate::check::StepResult), [`CheckSummary`] |
//! | `game check` | [`GameStep`](crate::program::GameStep), [`GameFigures`](crate::program::GameFigures) |
//! | `verify` | [`VerifyLine`] |
//! | `luck` | [`LuckLine`] |
//! | `publish` | [`PublishedRecord`] |
//! | `games` | [`ListedGame`] |
//! | `perft` | [`PerftLine`] |
//! | `sandbox check` | [`SandboxCheck`] |
//! | `worker check` | [`WorkerCheck`] |

#[cfg(feature = "http")]
mod league;
mod machine;
mod ruling;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use referee_protocol::referee::Fault;
use referee_protocol::words::EndedBy;
use serde::Serialize;
use serde_json::Value;

use crate::game::Flaw;
use crate::record::Difference;
use crate::referee::{Ending, Faults, InfoTotals};
use crate::report::tournament::{ListedMatch, StandingsReport};
use crate::results::{Evidence, FinishedMatch, SharedFault};
use crate::runs::tournament::AuditSummary;
use crate::stats::Cause;
use crate::stats::estimates::Basis;
use crate::stats::race::RaceState;
use crate::stats::rating::Estimate;
use crate::stats::schedule::Balance;
use crate::stats::sprt::EloModel;
use crate::store::WorkerRow;
use crate::workers::WorkerEvent;
use crate::workers::carrier::OutcomeVerdict;
use crate::workers::machine::{Machine, MachineState};
use crate::workers::trial::TrialVerdict;

#[cfg(feature = "http")]
pub(super) use league::{
    AbsentFinalist, AddedBot, FinalsLine, FinalsPlace, InvitationLine, LadderListening, LadderOwner,
    LadderStanding, LadderStandings, LadderWatching, LadderWorkers, LastFault, LeagueAuditLine,
    LeagueAuditSummary, LeagueBackup, LeagueBotLine, LeagueLogLine, LeagueMatchLine, LeagueOwnerLine,
    LeaguePlayerSeen, LeagueTokens, OrganiserLine, OwnersAt, SeasonLine, SubmissionLine, SubmitLine,
};
pub(super) use machine::{
    ClockCheck, LayerRow, MachineVerdict, ModeRow, SandboxCheck, SandboxVerdict, SpaceCheck, ThreatRow,
    WorkerCheck,
};
pub(super) use ruling::RulingLine;

#[derive(Serialize)]
#[serde(tag = "type", rename = "match")]
pub(super) struct MatchLine<'a> {
    id: &'a str,
    game: &'a str,
    /// The names of the bots by seat.
    seats: &'a [String],
    /// The command lines by seat.
    bots: &'a [String],
    /// By seat; `None` if aborted.
    ranks: Option<&'a [u8]>,
    /// By seat; `None` if aborted.
    scores: Option<&'a [f64]>,
    /// By seat; omitted if aborted, and in games without amounts.
    #[serde(skip_serializing_if = "Option::is_none")]
    amounts: Option<&'a [f64]>,
    ended_by: EndedBy,
    /// The rule, the fault code, or the value of `ended_by`.
    reason: &'a str,
    /// The reason why it was aborted; omitted if it was not.
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<Cause>,
    /// Whether the match has no result and is not replayed; omitted if false.
    #[serde(rename = "void", skip_serializing_if = "std::ops::Not::not")]
    is_void: bool,
    fault: Option<Fault>,
    /// By seat: code -> count.
    faults: &'a [Faults],
    /// By seat: what the bot reported in `info`; omitted if no bot reported anything.
    #[serde(skip_serializing_if = "InfoTotals::are_empty")]
    totals: &'a [InfoTotals],
    /// Faults that other matches list too; omitted if empty.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    lost: &'a [SharedFault],
    /// Lines that led to the faults; omitted if empty.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    evidence: &'a [Evidence],
    /// The number of moves.
    decisions: u32,
    duration_us: u64,
    lag_ms: u64,
    paused_ms: u64,
    /// The number of times that the rules had to be asked again; omitted if 0.
    #[serde(skip_serializing_if = "is_zero")]
    rules_restarts: u32,
    /// The processor time, by seat.
    cpu_ms: &'a [Option<u64>],
    record: Option<&'a Path>,
    /// The worker that played it; omitted if this process did.
    #[serde(skip_serializing_if = "Option::is_none")]
    worker: Option<&'a str>,
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}

impl<'a> MatchLine<'a> {
    pub(super) fn of(finished: &'a FinishedMatch, game: &'a str) -> MatchLine<'a> {
        let Ending { ended_by, reason, ranks, scores, amounts, fault } = &finished.ending;
        MatchLine {
            id: &finished.id,
            game,
            seats: &finished.seats,
            bots: &finished.commands,
            ranks: ranks.as_deref(),
            scores: scores.as_deref(),
            amounts: amounts.as_deref(),
            ended_by: *ended_by,
            reason,
            cause: finished.cause,
            is_void: finished.is_void,
            fault: fault.as_ref().map(Into::into),
            faults: &finished.faults,
            totals: &finished.totals,
            lost: &finished.shared_faults,
            evidence: &finished.evidence,
            decisions: finished.decisions,
            duration_us: finished.duration_us,
            lag_ms: finished.lag_ms,
            paused_ms: finished.paused_ms,
            rules_restarts: finished.rules_restarts,
            cpu_ms: &finished.cpu_ms,
            record: finished.record.as_deref(),
            worker: finished.worker.as_deref(),
        }
    }
}

#[derive(Serialize)]
#[serde(tag = "type", rename = "listening")]
pub(super) struct Listening {
    pub(super) address: SocketAddr,
}

#[derive(Serialize)]
#[serde(tag = "type", rename = "workers_listening")]
pub(super) struct WorkersListening<'a> {
    pub(super) address: SocketAddr,
    /// The file to give to the workers.
    pub(super) token_file: &'a Path,
}

/// The NATS server from which workers can pull sets.
#[derive(Serialize)]
#[serde(tag = "type", rename = "workers_queue")]
pub(super) struct WorkersQueue<'a> {
    pub(super) url: &'a str,
    pub(super) queue: &'a str,
    /// The file with the public key of the coordinator, which workers need.
    pub(super) trust: &'a Path,
}

/// An event of a worker.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum WorkerLine<'a> {
    /// The worker can reach the coordinator.
    Connected,
    /// The worker cannot reach the coordinator, and tries again.
    Disconnected {
        reason: &'a str,
    },
    /// The worker plays a set.
    Took {
        set: String,
        game: &'a str,
        matches: Vec<&'a str>,
        bots: Vec<&'a str>,
    },
    /// The worker cannot play a set.
    Unable {
        set: String,
        reason: &'a str,
    },
    /// The worker builds and checks a program that was handed in to a league.
    Tries {
        archive: String,
    },
    Tried {
        verdict: &'a TrialVerdict,
    },
    Played {
        set: String,
    },
    /// The coordinator's verdict on the result.
    Verdict {
        set: String,
        verdict: &'a OutcomeVerdict,
    },
    /// The worker gets sets of this run, or none, in this state.
    State {
        run: &'a str,
        state: MachineState,
    },
    /// A coordinator speaks another version of the messages.
    Incompatible {
        reason: &'a str,
    },
    Over,
}

impl<'a> WorkerLine<'a> {
    pub(super) fn of(event: &WorkerEvent<'a>) -> WorkerLine<'a> {
        match *event {
            WorkerEvent::Connected => WorkerLine::Connected,
            WorkerEvent::Disconnected(reason) => WorkerLine::Disconnected { reason },
            WorkerEvent::Took(unit) => WorkerLine::Took {
                set: unit.id.to_string(),
                game: &unit.game,
                matches: unit.matches.iter().map(|of| &*of.id).collect(),
                bots: unit.bots.iter().map(|bot| &*bot.name).collect(),
            },
            WorkerEvent::Unable(id, reason) => WorkerLine::Unable { set: id.to_string(), reason },
            WorkerEvent::Tries(job) => WorkerLine::Tries { archive: job.archive.to_string() },
            WorkerEvent::Tried(report) => WorkerLine::Tried { verdict: &report.verdict },
            WorkerEvent::Played(outcome) => WorkerLine::Played { set: outcome.unit.to_string() },
            WorkerEvent::Verdict(id, verdict) => WorkerLine::Verdict { set: id.to_string(), verdict },
            WorkerEvent::State(run, state) => WorkerLine::State { run, state },
            WorkerEvent::Incompatible(reason) => WorkerLine::Incompatible { reason },
            WorkerEvent::Over => WorkerLine::Over,
        }
    }
}

#[derive(Serialize)]
#[serde(tag = "type", rename = "watch")]
pub(super) struct Watching<'a> {
    pub(super) url: &'a str,
}

/// The page on which the operator can reveal matches.
#[cfg(feature = "http")]
#[derive(Serialize)]
#[serde(tag = "type", rename = "operator")]
pub(super) struct OperatorAt<'a> {
    pub(super) url: &'a str,
}

/// A game: a line of `referee games --json`.
#[derive(Serialize)]
#[serde(tag = "type", rename = "game")]
pub(super) struct ListedGame {
    pub(super) id: &'static str,
    pub(super) title: &'static str,
    pub(super) rules_version: u32,
    pub(super) seats: Vec<usize>,
    pub(super) hidden: bool,
    pub(super) chance: bool,
    pub(super) simultaneous: bool,
    pub(super) draws_by_agreement: bool,
    pub(super) openings: bool,
    pub(super) lists_moves: bool,
    /// The unit of amounts; omitted in games without them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) amounts: Option<&'static str>,
    pub(super) options: Vec<ListedOption>,
}

#[derive(Serialize)]
pub(super) struct ListedOption {
    pub(super) name: &'static str,
    pub(super) default: Value,
    pub(super) help: &'static str,
}

/// A line of `referee perft --json`: a depth, or with `--divide` a move, then the summary.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum PerftLine<'a> {
    Perft {
        #[serde(skip_serializing_if = "Option::is_none")]
        depth: Option<u32>,
        #[serde(skip_serializing_if = "Option::is_none")]
        r#move: Option<&'a str>,
        leaves: u64,
        #[serde(skip_serializing_if = "Option::is_none")]
        took_us: Option<u64>,
    },
    Summary {
        depth: u32,
        leaves: u64,
    },
}

/// A record that was published, and the files.
#[derive(Serialize)]
#[serde(tag = "type", rename = "published")]
pub(super) struct PublishedRecord<'a> {
    pub(super) file: &'a Path,
    /// The file with the public form.
    pub(super) public: &'a Path,
    /// The private lines by seat; none without `--private`.
    pub(super) private: &'a [PathBuf],
}

/// A line of `referee luck`, and of `--luck`.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub(super) enum LuckLine<'a> {
    Match {
        id: &'a str,
        file: &'a Path,
        game: &'a str,
        /// The number of draws of the referee.
        draws: u32,
        /// `None` if it was aborted.
        sides: Option<Vec<SideLuck<'a>>>,
    },
    /// The findings of `--luck auto` in the first sets.
    Trial {
        sets: usize,
        playouts: u32,
        /// The bot whose values took the place of playouts.
        #[serde(skip_serializing_if = "Option::is_none")]
        value_bot: Option<String>,
        /// The amount by which the variance fell; `None` if it is unknown.
        factor: Option<Estimate>,
        /// Whether the remaining sets follow.
        pays: bool,
    },
    /// The matches of two bots.
    Pair {
        game: &'a str,
        bots: &'a [String; 2],
        /// With three or more sides, the number of comparisons.
        matches: usize,
        units: usize,
        /// The mean score of the first bot; `None` from a single deal, as all below.
        score: Option<Estimate>,
        /// The score less its luck.
        adjusted: Option<Estimate>,
        /// The variance of the score over that of the adjusted one.
        factor: Option<Estimate>,
    },
}

/// The luck of a side in a match.
#[derive(Serialize)]
pub(super) struct SideLuck<'a> {
    pub(super) seats: Vec<u8>,
    /// The names of its bots, each once.
    pub(super) bots: Vec<&'a str>,
    /// The score, from 0 to 1.
    pub(super) score: f64,
    /// The value of the draws, in the unit of scores.
    pub(super) luck: f64,
    /// The score less the luck, which may be outside 0 to 1.
    pub(super) adjusted: f64,
}

/// A line of `referee verify --json`: a file, or a game of a collection that differs or was skipped; then the summary.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum VerifyLine<'a> {
    Record {
        file: &'a Path,
        ok: bool,
        differences: &'a [Difference],
        /// Files of the rules that are not those of the record, which `--accept-changed` accepts.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        changed_files: Vec<String>,
        /// Whether values of Syzygy tables were taken from the record, since there are no tables here.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        tables_trusted: bool,
    },
    Flaw {
        file: &'a Path,
        #[serde(flatten)]
        flaw: &'a Flaw,
    },
    Skipped {
        file: &'a Path,
        #[serde(flatten)]
        flaw: &'a Flaw,
    },
    Collection {
        file: &'a Path,
        ok: bool,
        differing: usize,
        #[serde(flatten)]
        count: CollectionCount,
    },
    Private {
        file: &'a Path,
        ok: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        what: Option<String>,
    },
    /// The totals; without `games` if there were no collections.
    Summary {
        records: usize,
        differing: usize,
        #[serde(flatten)]
        games: Option<CollectionCount>,
    },
}

/// The contents of collections: games, skipped games, legal plies, and deviations from the notation.
#[derive(Clone, Copy, Default, Serialize)]
pub(super) struct CollectionCount {
    pub(super) games: usize,
    pub(super) plies: usize,
    pub(super) skipped: usize,
    pub(super) remarks: usize,
}

/// The last line of `referee check --json`, after the steps ([`StepResult`](crate::check::StepResult)).
#[derive(Serialize)]
#[serde(tag = "type", rename = "summary")]
pub(super) struct CheckSummary {
    pub(super) bot: String,
    pub(super) passed: usize,
    pub(super) warned: usize,
    pub(super) failed: usize,
    pub(super) skipped: usize,
}

/// The output of `referee sprt --json`.
#[derive(Debug, Serialize)]
pub(super) struct SprtReport {
    /// `passed`, `failed` or `undecided`.
    pub(super) verdict: &'static str,
    /// The log-likelihood ratio of H1 to H0.
    pub(super) llr: f64,
    /// The ratio that accepts H0.
    pub(super) lower: f64,
    /// The ratio that accepts H1.
    pub(super) upper: f64,
    pub(super) elo0: f64,
    pub(super) elo1: f64,
    pub(super) alpha: f64,
    pub(super) beta: f64,
    pub(super) elo_model: EloModel,
    pub(super) sets: u64,
    /// The number of sets per score, from 0 to 1 in equal steps.
    pub(super) counts: Vec<u64>,
    /// The assumption of the estimates about the number of sets.
    pub(super) estimates: Basis,
    /// The reason why they are less exact than others.
    pub(super) estimates_caution: Option<String>,
    pub(super) score: Range,
    /// In logistic Elo; infinite values are `null`.
    pub(super) elo: Range,
    /// In normalized Elo.
    pub(super) nelo: Option<Range>,
    /// The reason why there is no normalized Elo.
    pub(super) nelo_unknown: Option<String>,
    /// The probability of being stronger.
    pub(super) superiority: f64,
    pub(super) expected_sets: ExpectedSets,
}

/// A figure with its 95% interval.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Range {
    pub(super) low: f64,
    pub(super) estimate: f64,
    pub(super) high: f64,
}

/// The average number of sets that the test takes from its start.
#[derive(Debug, Serialize)]
pub(super) struct ExpectedSets {
    /// The number if the difference is that of H0.
    pub(super) elo0: Option<u64>,
    /// The number if the difference is that of H1.
    pub(super) elo1: Option<u64>,
    /// The number if the difference is the estimate, if that is known.
    pub(super) estimate: Option<u64>,
}

/// The output of `referee tournament check --json`.
#[derive(Serialize)]
#[serde(tag = "type", rename = "check")]
pub(super) struct TournamentCheck<'a> {
    pub(super) name: &'a str,
    pub(super) game: &'a str,
    /// The number of matches; in a knockout the maximum.
    pub(super) matches: u64,
    /// The balance of rotating partners.
    pub(super) balance: Option<Balance>,
    pub(super) entrants: Vec<EntrantCheck<'a>>,
}

/// The start of an entrant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum StartStatus {
    Starts,
    Fails,
    /// The entrant connects when the tournament runs.
    Awaited,
    NotStarted,
}

/// An entrant, and whether it starts.
#[derive(Serialize)]
pub(super) struct EntrantCheck<'a> {
    pub(super) name: &'a str,
    pub(super) source: String,
    pub(super) verdict: StartStatus,
    /// The name and version, why it fails, or the name with which it connects.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) what: Option<String>,
    /// The end of its standard error, if it fails.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) stderr: String,
}

/// The output of `referee tournament status --json`.
#[derive(Serialize)]
#[serde(tag = "type", rename = "status")]
pub(super) struct TournamentStatus {
    pub(super) name: String,
    pub(super) game: String,
    /// Matches with a result.
    pub(super) played: usize,
    /// The minimum number of missing matches, including those of rounds that are not paired yet.
    pub(super) missing: u64,
    /// The maximum number; in a knockout, results may require more matches.
    pub(super) missing_at_most: u64,
    pub(super) is_over: bool,
    /// Whether a process is playing the tournament.
    pub(super) is_played: bool,
    /// Attempts at matches that were cut off or aborted.
    pub(super) cut_off: usize,
    /// Matches that do not count: those of `void_for`, and those that depended on results that were lost.
    pub(super) void: usize,
    /// Void matches by cause: they have no result and are not replayed.
    pub(super) void_for: BTreeMap<String, u32>,
    pub(super) entrants: Vec<EntrantStatus>,
    /// Omitted if the sets have always been played on one machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) workers: Option<WorkersStatus>,
}

#[derive(Serialize)]
pub(super) struct WorkersStatus {
    /// By name.
    pub(super) workers: Vec<WorkerStatus>,
    /// Sets that wait for a worker.
    pub(super) queued: usize,
    /// Whether sets wait and no worker that is connected gets sets.
    pub(super) is_stuck: bool,
    /// Sets that workers have, or whose results are being verified.
    pub(super) out: Vec<AssignedSet>,
}

#[derive(Serialize)]
pub(super) struct WorkerStatus {
    #[serde(flatten)]
    pub(super) row: WorkerRow,
    pub(super) machine: Machine,
    /// Per hour since it first connected.
    pub(super) sets_per_hour: f64,
}

#[derive(Serialize)]
pub(super) struct AssignedSet {
    pub(super) set: String,
    pub(super) worker: String,
    /// The number of times that workers received it.
    pub(super) deliveries: u32,
    /// Seconds since it was received or last made progress.
    pub(super) idle_s: u64,
}

#[derive(Serialize)]
pub(super) struct EntrantStatus {
    pub(super) name: String,
    pub(super) display_name: Option<String>,
    pub(super) source: String,
    /// The number of its matches that were cut off or aborted.
    pub(super) interruptions: u32,
    pub(super) has_left: bool,
    /// Whether matches wait for the entrant to connect.
    pub(super) is_absent: bool,
}

/// The output of `referee tournament standings --json`, and the last line of `run` and `resume`.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "standings")]
pub(super) struct StandingsLine<'a> {
    #[serde(flatten)]
    pub(super) report: &'a StandingsReport,
}

/// A version that is out of a race.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "out")]
pub(super) struct EliminatedVersion {
    pub(super) name: String,
    /// The reason: another version is better, or the version is not better than the one ahead by more than the tolerance.
    pub(super) state: RaceState,
    /// The version that would be picked; `None` before the end of the round robin.
    pub(super) ahead: Option<String>,
    /// The number of sets that had counted.
    pub(super) after: u32,
    /// The evidence against the version.
    pub(super) evidence: f64,
    /// The evidence from which on a version is out, 1 / alpha.
    pub(super) suffices: f64,
}

/// A bot that was graded: a line of `referee grade --json`.
#[derive(Debug, Default, Serialize)]
#[serde(tag = "type", rename = "grade")]
pub(super) struct GradeLine {
    /// The name of its directory or archive.
    pub(super) submission: String,
    /// The name of the bot in the matches.
    pub(super) bot: Option<String>,
    /// The reason why it was not graded: the log of its build, or what is wrong with its files.
    pub(super) refused: Option<String>,
    pub(super) grade: Option<String>,
    /// With the ends of the 95% interval.
    pub(super) points: Option<Estimate>,
    pub(super) most_points: Option<f64>,
    /// On the scale of the anchors.
    pub(super) elo: Option<Estimate>,
    /// Whether the grade is known within the tolerance.
    pub(super) is_known: bool,
    /// Whether the bot was measured now, at least in part.
    pub(super) is_new: bool,
    /// The number of sets that count.
    pub(super) sets: u32,
    /// The number of sets that do not, because an anchor made a fault.
    pub(super) dropped: u32,
    pub(super) matches: usize,
    /// The number of matches with a fault of the bot.
    pub(super) faults: usize,
    /// The measurement: a directory of a tournament.
    pub(super) directory: Option<PathBuf>,
}

/// A match: a line of `referee tournament export --format json`.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "match")]
pub(super) struct ExportedMatch<'a> {
    #[serde(flatten)]
    pub(super) report: &'a ListedMatch,
}

/// A line of `referee tournament verify --json`: the differences, the standings by the records, then the summary.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum AuditLine<'a> {
    Difference {
        #[serde(rename = "match")]
        id: Option<String>,
        what: &'a str,
    },
    Standings {
        #[serde(flatten)]
        report: &'a StandingsReport,
    },
    Summary(&'a AuditSummary),
}
