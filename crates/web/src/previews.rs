//! Pictures that other sites show of the pages, as PNG.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use axum::body::Bytes;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName};
use axum::response::{IntoResponse, Response};
use referee_game::{Scene, Viewer};
use referee_match::record::Playback;
use referee_report::preview::Preview;

use crate::api::{HubState, PathMatchId, refused, unknown};
use crate::hub::{EndedBoard, Hub, MatchAccess};

/// The file of a picture beside its page.
pub(super) const PICTURE: &str = "card.png";

/// The maximum number of pictures that are kept. None has more than 100 KB.
const MOST: usize = 64;

/// Pictures that were drawn; the most recently used last.
#[derive(Debug, Default)]
pub(super) struct RecentPreviews {
    drawn: Mutex<VecDeque<(Preview, Bytes)>>,
    /// One picture is drawn at a time: others who want the same get it from the list.
    drawing: tokio::sync::Mutex<()>,
}

impl RecentPreviews {
    /// The picture that says this, if it is kept.
    fn get(&self, preview: &Preview) -> Option<Bytes> {
        let mut drawn = self.drawn.lock().unwrap_or_else(PoisonError::into_inner);
        let at = drawn.iter().position(|(own, _)| own == preview)?;
        let found = drawn.remove(at)?;
        let picture = found.1.clone();
        drawn.push_back(found);
        Some(picture)
    }

    fn keep(&self, preview: Preview, picture: Bytes) {
        let mut drawn = self.drawn.lock().unwrap_or_else(PoisonError::into_inner);
        drawn.push_back((preview, picture));
        if drawn.len() > MOST {
            drawn.pop_front();
        }
    }
}

/// The picture of the standings.
pub(super) async fn of_run(State(hub): HubState) -> Response {
    let preview = hub.preview();
    respond(&hub, preview, None).await
}

pub(super) async fn of_match(State(hub): HubState, PathMatchId(id): PathMatchId) -> Response {
    match hub.entry(&id) {
        Some(entry) => {
            let preview = entry.preview(hub.game, &hub.name());
            respond(&hub, preview, Some(&id)).await
        }
        None => unknown(&id),
    }
}

/// The last position of a match that has ended, as spectators saw it; `None` without a valid record.
async fn last_board(hub: &Arc<Hub>, id: &str) -> Option<Scene> {
    let Some(MatchAccess::Replay(EndedBoard { record, .. })) = hub.access(id) else { return None };
    let of = hub.clone();
    let read = move || {
        let record = record.read().ok()?;
        let mut playback = Playback::open(&record, &of.catalog).ok()?;
        let mut last = None;
        while let Some(step) = playback.step().ok()? {
            last = Some(step.table.scene(Viewer::Public));
        }
        last
    };
    tokio::task::spawn_blocking(read).await.ok()?
}

/// Answers with a picture, which has the board of this match.
async fn respond(hub: &Arc<Hub>, preview: Preview, of_match: Option<&str>) -> Response {
    match kept(hub, preview, of_match).await {
        Some(picture) => {
            // Unlike the data of this server, it is made to be shown by others.
            let headers = [
                (CONTENT_TYPE, "image/png"),
                (CACHE_CONTROL, "public, max-age=60"),
                (HeaderName::from_static("cross-origin-resource-policy"), "cross-origin"),
            ];
            (headers, picture).into_response()
        }
        None => refused(StatusCode::INTERNAL_SERVER_ERROR, "the picture cannot be drawn"),
    }
}

/// The picture, which is drawn unless it is kept.
async fn kept(hub: &Arc<Hub>, preview: Preview, of_match: Option<&str>) -> Option<Bytes> {
    let previews = &hub.previews;
    if let Some(kept) = previews.get(&preview) {
        return Some(kept);
    }
    let _turn = previews.drawing.lock().await;
    // Another spectator may have asked for the same.
    if let Some(kept) = previews.get(&preview) {
        return Some(kept);
    }
    let board = match of_match {
        Some(id) => last_board(hub, id).await,
        None => None,
    };
    let full = Preview { board, ..preview.clone() };
    let picture = tokio::task::spawn_blocking(move || Bytes::from(full.png())).await.ok()?;
    previews.keep(preview, picture.clone());
    Some(picture)
}
