//! Pictures that other sites show of the pages, as PNG.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use axum::body::Bytes;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName};
use axum::response::{IntoResponse, Response};
use referee_report::preview::Preview;

use crate::api::{HubState, PathMatchId, refused, unknown};
use crate::hub::Hub;

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
    respond(&hub, preview).await
}

/// The picture of a match.
pub(super) async fn of_match(State(hub): HubState, PathMatchId(id): PathMatchId) -> Response {
    match hub.entry(&id) {
        Some(entry) => {
            let preview = entry.preview(hub.game(), &hub.name());
            respond(&hub, preview).await
        }
        None => unknown(&id),
    }
}

async fn respond(hub: &Arc<Hub>, preview: Preview) -> Response {
    match kept(hub, preview).await {
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
async fn kept(hub: &Arc<Hub>, preview: Preview) -> Option<Bytes> {
    let previews = hub.previews();
    if let Some(kept) = previews.get(&preview) {
        return Some(kept);
    }
    let _turn = previews.drawing.lock().await;
    // Another spectator may have asked for the same.
    if let Some(kept) = previews.get(&preview) {
        return Some(kept);
    }
    let drawing = tokio::task::spawn_blocking(move || (Bytes::from(preview.png()), preview));
    let (picture, preview) = drawing.await.ok()?;
    previews.keep(preview, picture.clone());
    Some(picture)
}
