//! An owner's data as one archive.

use std::io::{self, Write};
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use flate2::Compression;
use flate2::write::GzEncoder;
use futures_util::stream;
use referee_game::Chain;
use referee_league::{LeagueMatch, LeagueOwner, MatchFilter};
use tar::{Builder, Header};
use tokio::sync::mpsc;

use super::account::own_bots;
use super::error::OwnersError;
use super::matches::private_lines;
use super::session::SignedIn;
use super::{Owners, OwnersState};

/// The number of pieces of an archive that wait for a client.
const PIECES: usize = 4;
/// The number of matches read at once.
const MATCHES: usize = 200;

/// Sends written bytes to a client, and waits while it does not read.
struct Pieces(mpsc::Sender<Bytes>);

impl Write for Pieces {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        let sent = self.0.blocking_send(Bytes::copy_from_slice(piece));
        sent.map(|()| piece.len()).map_err(|_| io::ErrorKind::BrokenPipe.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The profile of an owner, its bots, its matches, and the private lines of them.
pub(super) async fn export(
    State(owners): OwnersState,
    SignedIn { owner, .. }: SignedIn,
) -> Result<Response, OwnersError> {
    let turn = owners.export.clone().try_acquire_owned().map_err(|_| OwnersError::Busy)?;
    let (pieces, received) = mpsc::channel(PIECES);
    let disposition = format!("attachment; filename=\"{}.tar.gz\"", owner.id);
    tokio::task::spawn_blocking(move || {
        let id = owner.id.clone();
        if let Err(error) = write(&owners, &owner, io::BufWriter::new(Pieces(pieces))) {
            tracing::debug!("the archive of the owner {id}: {}", Chain(&error));
        }
        drop(turn);
    });
    let pieces = stream::unfold(received, |mut received| async {
        let piece = received.recv().await?;
        Some((Ok::<_, io::Error>(piece), received))
    });
    let headers = [(CONTENT_TYPE, "application/gzip"), (CONTENT_DISPOSITION, &disposition)];
    Ok((headers, Body::from_stream(pieces)).into_response())
}

fn write(owners: &Arc<Owners>, owner: &LeagueOwner, to: impl Write) -> Result<(), OwnersError> {
    let league = || owners.league.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let mut tar = Builder::new(GzEncoder::new(to, Compression::default()));
    let mut add = |name: &str, contents: &[u8]| {
        let mut header = Header::new_gnu();
        header.set_size(contents.len() as u64);
        header.set_mode(0o600);
        tar.append_data(&mut header, name, contents)
    };
    let bots = own_bots(&league(), &owner.id)?;
    let listed: Vec<_> = bots
        .iter()
        .map(|bot| {
            serde_json::json!({
                "name": bot.name, "display_name": bot.display_name, "added_at": bot.added_at,
                "retired_at": bot.revoked_at,
            })
        })
        .collect();
    let profile = serde_json::json!({
        "id": owner.id, "display_name": owner.display_name, "affiliation": owner.affiliation,
        "contact": owner.contact, "joined_at": owner.joined_at, "bots": listed,
    });
    add("owner.json", referee_game::json::text(&profile).as_bytes())?;
    let names: Vec<String> = bots.iter().map(|bot| bot.name.clone()).collect();
    for ladder in &owners.ladders {
        let mut filter = MatchFilter { players: Some(&names), ..MatchFilter::default() };
        loop {
            // The database is free for others between two lists.
            let rows: Vec<LeagueMatch> = league().last_matches(&ladder.name, filter, MATCHES)?;
            let Some(last) = rows.last() else { break };
            filter.before = Some(last.number);
            for row in &rows {
                let name = format!("{}/{}.json", ladder.name, row.id());
                add(&name, referee_game::json::text(row).as_bytes())?;
                // A record may have been removed.
                if let Ok(lines) = private_lines(ladder, row, &bots) {
                    add(&format!("{}/{}.private.jsonl", ladder.name, row.id()), &lines)?;
                }
            }
        }
    }
    tar.into_inner()?.finish()?.flush()?;
    Ok(())
}
