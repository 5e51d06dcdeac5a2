//! Lines of leagues and their ladders, and of rulings.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::cli::json::WorkersStatus;
use crate::league::{
    BotEnd, Invitation, KeptOnLadder, LadderRow, LeagueBot, LeagueChange, LeagueMatch, LeagueOwner, Season,
    Submission,
};
use crate::runs::league::Finalist;
use crate::stats::rating::Rating;

/// The address at which bots can connect to a ladder.
#[derive(Serialize)]
#[serde(tag = "type", rename = "listening")]
pub(in crate::cli) struct LadderListening<'a> {
    pub(in crate::cli) ladder: &'a str,
    pub(in crate::cli) address: SocketAddr,
}

/// The URL at which spectators can watch a ladder.
#[derive(Serialize)]
#[serde(tag = "type", rename = "watch")]
pub(in crate::cli) struct LadderWatching<'a> {
    pub(in crate::cli) ladder: &'a str,
    pub(in crate::cli) url: &'a str,
}

/// The URL at which owners can manage their bots.
#[derive(Serialize)]
#[serde(tag = "type", rename = "owners")]
pub(in crate::cli) struct OwnersAt<'a> {
    pub(in crate::cli) url: &'a str,
}

/// An owner of bots who has signed up, or was added.
#[derive(Serialize)]
#[serde(tag = "type", rename = "owner")]
pub(in crate::cli) struct LeagueOwnerLine<'a> {
    #[serde(flatten)]
    pub(in crate::cli) owner: &'a LeagueOwner,
    /// The names of the bots that take part.
    pub(in crate::cli) bots: Vec<&'a str>,
    /// The names of its further tokens.
    pub(in crate::cli) tokens: Vec<&'a str>,
    /// A new token. It is shown only here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::cli) token: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename = "organiser")]
pub(in crate::cli) struct OrganiserLine<'a> {
    pub(in crate::cli) name: &'a str,
    /// A new token. It is shown only here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::cli) token: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename = "invitation")]
pub(in crate::cli) struct InvitationLine<'a> {
    /// The number; omitted where it is made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::cli) id: Option<u32>,
    /// The link. It is shown only where it is made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::cli) url: Option<&'a str>,
    #[serde(flatten)]
    pub(in crate::cli) invitation: &'a Invitation,
}

/// A backup of a league that is up to date.
#[derive(Serialize)]
#[serde(tag = "type", rename = "backup")]
pub(in crate::cli) struct LeagueBackup<'a> {
    pub(in crate::cli) dir: &'a Path,
    pub(in crate::cli) records: usize,
    /// The records that were copied now.
    pub(in crate::cli) new: usize,
    /// Records of matches that were not found.
    pub(in crate::cli) missing: usize,
}

/// New tokens of a league, which are in a file.
#[derive(Serialize)]
#[serde(tag = "type", rename = "tokens")]
pub(in crate::cli) struct LeagueTokens<'a> {
    pub(in crate::cli) file: &'a Path,
    /// The number of owners who have one.
    pub(in crate::cli) owners: usize,
    /// The number of bots with a token of their own.
    pub(in crate::cli) bots: usize,
}

#[derive(Serialize)]
#[serde(tag = "type", rename = "match")]
pub(in crate::cli) struct LeagueMatchLine<'a> {
    pub(in crate::cli) ladder: &'a str,
    /// The id: m17; c17 or, if it is rated, r17 for a challenge.
    pub(in crate::cli) id: String,
    #[serde(flatten)]
    pub(in crate::cli) row: &'a LeagueMatch,
}

/// A bot that was added to a league.
#[derive(Serialize)]
#[serde(tag = "type", rename = "added")]
pub(in crate::cli) struct AddedBot<'a> {
    pub(in crate::cli) name: &'a str,
    pub(in crate::cli) owner: &'a str,
    /// The token of a bot that connects. It is shown only here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::cli) token: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::cli) command: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename = "bot")]
pub(in crate::cli) struct LeagueBotLine<'a> {
    #[serde(flatten)]
    pub(in crate::cli) bot: &'a LeagueBot,
    /// `connects` or `program`.
    pub(in crate::cli) kind: &'a str,
    /// Whether a server runs and the bot is connected, or a program.
    pub(in crate::cli) online: bool,
    /// The reason why it takes part no longer.
    pub(in crate::cli) ended: Option<BotEnd>,
    /// The last match with a fault of it.
    pub(in crate::cli) last_fault: Option<LastFault>,
    /// The versions with matches, by ladder.
    pub(in crate::cli) players: Vec<LeaguePlayerSeen>,
}

#[derive(Serialize)]
pub(in crate::cli) struct LastFault {
    pub(in crate::cli) ladder: String,
    pub(in crate::cli) id: String,
    pub(in crate::cli) fault: &'static str,
    /// In UTC.
    pub(in crate::cli) ended_at: String,
}

#[derive(Serialize)]
#[serde(tag = "type", rename = "log")]
pub(in crate::cli) struct LeagueLogLine<'a> {
    #[serde(flatten)]
    pub(in crate::cli) change: &'a LeagueChange,
}

/// A program that an owner has handed in.
#[derive(Serialize)]
#[serde(tag = "type", rename = "submission")]
pub(in crate::cli) struct SubmissionLine<'a> {
    pub(in crate::cli) owner: &'a str,
    #[serde(flatten)]
    pub(in crate::cli) submission: &'a Submission,
    /// The log; only of a single submission.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::cli) log: Option<&'a str>,
    /// The data that the program keeps between matches; only of a single submission.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::cli) kept_data: Option<&'a [KeptOnLadder]>,
}

/// A new state of a program that is handed in, as the server of the league says it.
#[derive(Serialize)]
#[serde(tag = "type", rename = "submission")]
pub(in crate::cli) struct SubmitLine<'a> {
    #[serde(flatten)]
    pub(in crate::cli) submission: &'a Map<String, Value>,
}

/// A version of a bot on a ladder.
#[derive(Serialize)]
pub(in crate::cli) struct LeaguePlayerSeen {
    pub(in crate::cli) ladder: String,
    pub(in crate::cli) player: String,
    /// The end of the last match, in UTC.
    pub(in crate::cli) last_seen: String,
    /// The reason why it is not paired now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::cli) state: Option<String>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename = "standings")]
pub(in crate::cli) struct LadderStandings<'a> {
    pub(in crate::cli) ladder: &'a str,
    pub(in crate::cli) game: &'a str,
    /// The season that has ended; omitted for the one in progress.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::cli) season: Option<&'a str>,
    /// Matches with and without a result.
    pub(in crate::cli) matches: u32,
    /// Rated matches that are copies of earlier ones and do not count for ratings; omitted for a season that has ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::cli) copies: Option<u64>,
    pub(in crate::cli) standings: Vec<LadderStanding>,
}

/// A row of the standings of a ladder.
#[derive(Serialize)]
pub(in crate::cli) struct LadderStanding {
    #[serde(flatten)]
    pub(in crate::cli) row: LadderRow,
    /// The Weng-Lin rating and the algorithm's own deviation, if the game has more than two sides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::cli) weng_lin: Option<Rating>,
    /// Whether the player has had no match for 30 days, or none in this season.
    pub(in crate::cli) inactive: bool,
    /// The owner of its bot; null if the league does not have the bot any more.
    pub(in crate::cli) owner: Option<LadderOwner>,
    /// The number of versions of its bot that have come to the ladder.
    pub(in crate::cli) versions: usize,
}

/// The owner of a bot; unknown fields are null.
#[derive(Clone, Serialize)]
pub(in crate::cli) struct LadderOwner {
    pub(in crate::cli) id: String,
    /// The name that people see instead of the id.
    pub(in crate::cli) display_name: Option<String>,
    pub(in crate::cli) affiliation: Option<String>,
    /// The organiser's way to reach it; omitted without `--contacts`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::cli) contact: Option<String>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename = "season")]
pub(in crate::cli) struct SeasonLine<'a> {
    #[serde(flatten)]
    pub(in crate::cli) season: &'a Season,
    /// The bots in the first place, by ladder; without a rated match, null.
    pub(in crate::cli) winners: BTreeMap<&'a str, Option<String>>,
}

/// Finals that were written.
#[derive(Serialize)]
#[serde(tag = "type", rename = "finals")]
pub(in crate::cli) struct FinalsLine<'a> {
    pub(in crate::cli) ladder: &'a str,
    pub(in crate::cli) name: &'a str,
    pub(in crate::cli) file: &'a Path,
    /// In the order of their seeds.
    pub(in crate::cli) players: Vec<FinalsPlace<'a>>,
    /// Players before the last of them who cannot play.
    pub(in crate::cli) absent: Vec<AbsentFinalist<'a>>,
    /// Whether the ladder begins no match meanwhile.
    pub(in crate::cli) paused: bool,
}

#[derive(Serialize)]
pub(in crate::cli) struct FinalsPlace<'a> {
    #[serde(flatten)]
    row: &'a LadderRow,
    connects: bool,
}

impl FinalsPlace<'_> {
    pub(in crate::cli) fn of(player: &Finalist) -> FinalsPlace<'_> {
        FinalsPlace { row: &player.row, connects: player.connects() }
    }
}

#[derive(Serialize)]
pub(in crate::cli) struct AbsentFinalist<'a> {
    pub(in crate::cli) place: Option<usize>,
    pub(in crate::cli) player: &'a str,
    pub(in crate::cli) why: &'a str,
}

/// A line of `league verify`.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(in crate::cli) enum LeagueAuditLine<'a> {
    Difference {
        ladder: &'a str,
        r#match: &'a str,
        what: &'a str,
    },
    /// Files of the rules that have changed, and the number of the first match that was played with the new ones; `null` until
    /// the league is played again.
    Rules {
        ladder: &'a str,
        files: &'a [String],
        since: Option<u32>,
    },
    Summary(&'a LeagueAuditSummary),
}

/// The counts of `league verify`.
#[derive(Default, Serialize)]
pub(in crate::cli) struct LeagueAuditSummary {
    /// Matches in the database.
    pub(in crate::cli) results: usize,
    pub(in crate::cli) records: usize,
    /// Records whose private lines were erased.
    pub(in crate::cli) erased: usize,
    /// Records whose verdicts of tables were not recomputed, because the tables are not here.
    pub(in crate::cli) tables_trusted: usize,
    /// Rulings in force, which were replayed.
    pub(in crate::cli) rulings: usize,
    /// Matches that differ or are missing on one side, and players whose wins, draws and losses differ.
    pub(in crate::cli) differing: usize,
}

/// The workers of a ladder: a line of `referee league workers --json`.
#[derive(Serialize)]
#[serde(tag = "type", rename = "workers")]
pub(in crate::cli) struct LadderWorkers<'a> {
    pub(in crate::cli) ladder: &'a str,
    /// Omitted if it has never had workers.
    #[serde(flatten)]
    pub(in crate::cli) status: Option<WorkersStatus>,
}
