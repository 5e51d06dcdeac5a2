//! Completes the results of a ladder after its server was killed.

use std::time::SystemTime;

use serde::Deserialize;

use crate::RunError;
use crate::league::error::differing;
use referee_engine::runner::EndedMatch;
use referee_files::{Journal, Records, written_at};
use referee_game::chance::Seed;
use referee_game::{Catalog, Wrong};
use referee_league::{League, LeagueMatch};
use referee_match::record::{self, RecordEntry, RecordLine, RecordSummary, lines};
use referee_match::{Ending, Header, SeatHeader};
use referee_results::FinishedMatch;
use referee_stats::sample::MatchMoves;
use referee_store::{MatchKind, parse_match_id, utc};

/// The row of a match, from its sealed record. The time is that of the file.
///
/// # Errors
/// Why it is not the record of this match on this ladder.
pub(super) fn recorded(
    id: &str,
    record: &[u8],
    seed: Option<&Seed>,
    ended_at: SystemTime,
    catalog: &Catalog,
) -> Result<LeagueMatch, Wrong> {
    let (number, kind) =
        parse_match_id(id).ok_or_else(|| Wrong::from(format!("`{id}` is not the id of a match")))?;
    let summary = record::summarize(record, catalog).map_err(differing)?;
    let finished = FinishedMatch::of_record(&summary);
    let RecordSummary { play, seal, .. } = summary;
    let header = &play.setup().header;
    if header.r#match != id {
        return Err(format!("it is the record of {}", finished.id).into());
    }
    if seed.is_some_and(|seed| !seal.is_of(seed, &header.deal, id)) {
        return Err("it was not played with the seed of this ladder".into());
    }
    let can_repeat = catalog.find(&header.game).is_ok_and(|rules| !rules.meta().chance);
    let moves = finished.moves.filter(|_| can_repeat).map(MatchMoves::from);
    let file = Some(format!("{id}.jsonl"));
    let row = row(number, kind, finished, header, Some(seal.sha256), ended_at)?;
    Ok(LeagueMatch { record: file, moves, ..row })
}

/// The number of the first match of the set of a match, if it is the second one.
///
/// # Errors
/// If its deal is neither its own nor that of an earlier match.
pub(super) fn deal_of(header: &Header) -> Result<Option<u32>, Wrong> {
    let number = parse_match_id(&header.r#match).map_or(0, |(number, _)| number);
    if header.deal == header.r#match {
        return Ok(None);
    }
    match parse_match_id(&header.deal) {
        Some((first, MatchKind::Pairing)) if first < number => Ok(Some(first)),
        _ => Err(format!(
            "{id}: its deal is `{deal}`, expected an earlier match",
            id = header.r#match,
            deal = header.deal
        )
        .into()),
    }
}

/// The row of a match that has ended. `can_repeat`: whether the game is without chance, so that matches can be copies.
pub(super) fn row_of(
    EndedMatch { finished, record, seal, .. }: &EndedMatch,
    ended_at: SystemTime,
    can_repeat: bool,
) -> Option<LeagueMatch> {
    let (number, kind) = parse_match_id(&finished.id)?;
    let Some(Ok(RecordLine { entry: RecordEntry::Record(header), .. })) = lines(record).next() else {
        return None;
    };
    let row = row(number, kind, finished.clone(), &header, seal.clone(), ended_at).ok()?;
    let moves = finished.moves.filter(|_| can_repeat).map(MatchMoves::from);
    Some(LeagueMatch { moves, ..row })
}

fn row(
    number: u32,
    kind: MatchKind,
    finished: FinishedMatch,
    header: &Header,
    seal: Option<String>,
    ended_at: SystemTime,
) -> Result<LeagueMatch, Wrong> {
    let FinishedMatch { seats, ending, faults, totals, decisions, duration_us, record, worker, .. } =
        finished;
    let Ending { ended_by, reason, ranks, scores, amounts, .. } = ending;
    let record = record.as_ref().and_then(|path| path.file_name());
    Ok(LeagueMatch {
        number,
        players: seats,
        ranks,
        scores,
        amounts,
        moves: None,
        faults,
        totals,
        ended_by,
        reason,
        is_rated: is_rated(kind, header),
        kind,
        deal: deal_of(header)?,
        decisions,
        duration_us,
        record: record.map(|name| name.to_string_lossy().into_owned()),
        seal,
        ended_at: utc(ended_at),
        worker,
        is_void: false,
    })
}

/// Returns whether a match counts for ratings: not an unrated challenge, and not one with a bot that never
/// said `hello`. A bot that knows its opponents cannot prevent that the match counts.
fn is_rated(kind: MatchKind, header: &Header) -> bool {
    #[derive(Deserialize)]
    struct Greeted {
        name: String,
    }
    let has_greeted = |seat: &SeatHeader| {
        let bot = seat.bot.as_ref().and_then(|bot| serde_json::from_str::<Greeted>(bot.get()).ok());
        bot.is_some_and(|bot| !bot.name.is_empty())
    };
    kind.is_rated() && header.seats.iter().all(has_greeted)
}

/// Adds the matches of a ladder that had ended, with complete records, but are not in the results. Sets incomplete
/// records aside, as a power failure leaves them. Returns the number of the next match: none that began before has it.
///
/// # Errors
/// If a file is not a record of this ladder, or I/O errors.
pub(super) fn recover(
    league: &mut League,
    ladder: &str,
    seed: &Seed,
    records: &Records,
    journal: &mut Journal,
    catalog: &Catalog,
) -> Result<u32, RunError> {
    let (sealed, _) = records.matches()?;
    // Read at once: to ask the database for each of a million records takes much longer.
    let stored = league.numbers(ladder)?;
    let mut rows = Vec::new();
    for id in sealed {
        let Some((number, _)) = parse_match_id(&id) else { continue };
        if stored.binary_search(&number).is_ok() {
            continue;
        }
        let path = records.path(&id);
        let record = records.read(&id)?;
        if !record::is_sealed(&record) {
            let kept = records.set_aside(&id)?;
            tracing::warn!("{}: incomplete, kept as {}", path.display(), kept.display());
            continue;
        }
        let ended_at = written_at(&path)?;
        let row = recorded(&id, &record, Some(seed), ended_at, catalog)
            .map_err(|why| Wrong::from(format!("{}: {why}; move the file away", path.display())))?;
        tracing::info!("{id}: added to the results from its record");
        rows.push(row);
    }
    rows.sort_by_key(|row| row.number);
    league.add_matches(ladder, &rows)?;
    let key = format!("last:{ladder}");
    let begun = journal.read()?;
    let begun = begun.iter().filter_map(|(id, _)| Some(parse_match_id(id)?.0)).max().unwrap_or(0);
    let before = league.number(&key)?.unwrap_or(0);
    let last = league.last_number(ladder)?.max(begun).max(before);
    league.set_value(&key, &last.to_string())?;
    journal.clear()?;
    Ok(last + 1)
}
