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
use crate::hub::{EndedBoard, Hub, MatchAccess, SealedRecord};

/// The file of a picture beside its page.
pub(super) const PICTURE: &str = "card.png";

/// The maximum number of pictures that are kept. None has more than 100 KB.
const MOST: usize = 64;

/// Pictures that were drawn; the most recently used last.
#[derive(Debug, Default)]
pub(super) struct RecentPreviews {
    drawn: Mutex<VecDeque<(Shown, Bytes)>>,
    /// The lock of drawing: one picture is drawn at a time, and requests for the same one get it from the list.
    drawing: tokio::sync::Mutex<()>,
}

/// The contents of a picture.
#[derive(Clone, Debug, PartialEq)]
struct Shown {
    /// The contents, with the board of a match in progress.
    preview: Preview,
    /// Whether the picture shows the last position of the match's record.
    is_of_record: bool,
}

impl RecentPreviews {
    /// The picture that shows this, if it is kept.
    fn get(&self, shown: &Shown) -> Option<Bytes> {
        let mut drawn = self.drawn.lock().unwrap_or_else(PoisonError::into_inner);
        let at = drawn.iter().position(|(own, _)| own == shown)?;
        let found = drawn.remove(at)?;
        let picture = found.1.clone();
        drawn.push_back(found);
        Some(picture)
    }

    fn keep(&self, shown: Shown, picture: Bytes) {
        let mut drawn = self.drawn.lock().unwrap_or_else(PoisonError::into_inner);
        drawn.push_back((shown, picture));
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

/// The picture of a match, with the board that spectators see of it.
pub(super) async fn of_match(State(hub): HubState, PathMatchId(id): PathMatchId) -> Response {
    let access = hub.access(&id);
    let Some(entry) = hub.entry(&id) else { return unknown(&id) };
    let mut preview = entry.preview(hub.game, &hub.name());
    let record = match access {
        Some(MatchAccess::Board(board)) => {
            preview.board = board.lock().unwrap_or_else(PoisonError::into_inner).scene();
            None
        }
        Some(MatchAccess::Replay(EndedBoard { record, .. })) => Some(record),
        Some(MatchAccess::Nothing(_)) | None => None,
    };
    respond(&hub, preview, record).await
}

/// The last position of a match that has ended, as spectators saw it; `None` without a valid record. Blocks.
fn last_board(record: SealedRecord, hub: &Hub) -> Option<Scene> {
    let record = record.read().ok()?;
    let mut playback = Playback::open(&record, &hub.catalog).ok()?;
    let mut last = None;
    while let Some(step) = playback.step().ok()? {
        last = Some(step.table.scene(Viewer::Public));
    }
    last
}

/// Answers with a picture, which has the last board of this record.
async fn respond(hub: &Arc<Hub>, preview: Preview, record: Option<SealedRecord>) -> Response {
    let shown = Shown { preview, is_of_record: record.is_some() };
    match kept(hub, shown, record).await {
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
async fn kept(hub: &Arc<Hub>, shown: Shown, record: Option<SealedRecord>) -> Option<Bytes> {
    let previews = &hub.previews;
    if let Some(kept) = previews.get(&shown) {
        return Some(kept);
    }
    let _turn = previews.drawing.lock().await;
    // A request for the same may have been answered meanwhile.
    if let Some(kept) = previews.get(&shown) {
        return Some(kept);
    }
    let (of, mut full) = (hub.clone(), shown.preview.clone());
    let draw = move || {
        if let Some(record) = record {
            full.board = last_board(record, &of);
        }
        Bytes::from(full.png())
    };
    let picture = tokio::task::spawn_blocking(draw).await.ok()?;
    previews.keep(shown, picture.clone());
    Some(picture)
}
