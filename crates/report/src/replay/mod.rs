//! Recorded matches as pictures and as a page that plays them.

mod late_info;
mod live;
mod match_replay;
mod moment;
mod motion;
mod record;
mod shown;
mod svg;

use std::io::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use record::PackedRecord;
use referee_files::read_limited;
use referee_game::{Scene, Viewer, counted};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

pub use late_info::{LateInfo, LateNote};
pub use live::{FrameText, LiveFrame, LiveReplay};
pub use match_replay::{MatchReplay, ReplayHead};
pub use moment::{Moment, MomentKind};
pub use shown::ShownPlace;
pub(crate) use svg::colours;
pub use svg::svg;

/// The script that draws shapes.
pub const DRAW: &str = include_str!("draw.js");
/// The player, which includes [`DRAW`].
pub const SCRIPT: &str = concat!(
    include_str!("draw.js"),
    include_str!("record.js"),
    include_str!("plots.js"),
    include_str!("player.js")
);
/// The level of compression: level 9 takes twice the time and saves 1 to 3%.
const LEVEL: u32 = 6;
/// The markup before the data of a page, which are base64 (RFC 4648) and so no markup.
pub(crate) const DATA: &str = "<script type=\"text/plain\" id=\"data\">";
/// The elements that the player fills.
pub const BODY: &str = include_str!("player.html");

/// A source expression of a content security policy that allows exactly this inline script or style.
pub fn hash_of(text: &str) -> String {
    format!("'sha256-{}'", BASE64.encode(Sha256::digest(text.as_bytes())))
}

#[derive(Serialize)]
struct Data<'a> {
    view: usize,
    /// The number of moves after which it begins; `None`: at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    turn: Option<u32>,
    matches: &'a [&'a MatchReplay],
}

/// The data of a page with these matches: JSON that is compressed (RFC 1950) and encoded in base64 (RFC 4648), so that it
/// cannot contain markup. `view` is the initial view, `turn` the number of moves after which it begins; without one it begins at the end.
pub(super) fn data(replays: &[&MatchReplay], view: usize, turn: Option<u32>) -> String {
    // Not escaped further: compressed data is not printed.
    let text = serde_json::to_vec(&Data { view, turn, matches: replays });
    let text = text.unwrap_or_else(|error| unreachable!("the data has keys of text: {error}"));
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::new(LEVEL));
    let bytes = encoder.write_all(&text).and_then(|()| encoder.finish());
    BASE64.encode(bytes.unwrap_or_else(|error| unreachable!("memory takes all bytes: {error}")))
}

/// The record that a page contains, as this text or within `most` bytes; `None` if there is none or it is damaged.
pub fn record_of_page(page: &str, most: u64) -> Option<Vec<u8>> {
    #[derive(Deserialize)]
    struct PageData {
        matches: Vec<MatchData>,
    }
    #[derive(Deserialize)]
    struct MatchData {
        record: PackedRecord,
    }
    let (_, data) = page.split_once(DATA)?;
    let bytes = BASE64.decode(data.split('<').next()?).ok()?;
    let text = read_limited(ZlibDecoder::new(&*bytes), most).ok()?;
    let page: PageData = serde_json::from_slice(&text).ok()?;
    let [MatchData { record }] = &page.matches[..] else { return None };
    record.restore(most as usize)
}

/// Asserts that the packed form of this text restores it, and reads the text itself as a packed record.
#[cfg(feature = "fuzzing")]
pub fn check_packed_record(text: &[u8]) {
    if let Some(packed) = PackedRecord::of(text) {
        let read: Result<PackedRecord, _> = serde_json::from_str(&referee_game::json::text(&packed));
        let restored = read.ok().and_then(|read| read.restore(text.len()));
        assert_eq!(restored.as_deref(), Some(text));
    }
    if let Ok(damaged) = serde_json::from_slice::<PackedRecord>(text) {
        let restored = damaged.restore(1 << 20);
        assert!(restored.is_none_or(|record| record.len() <= 1 << 20));
    }
}

/// A page that plays these matches, as this viewer sees them at first, after this many moves or at the end. It needs no other file and makes no
/// request. Its policy allows only its own script and style, and no text of a match becomes markup.
pub fn page(replays: &[MatchReplay], viewer: Viewer, turn: Option<u32>) -> String {
    let view = match viewer {
        Viewer::Omniscient => 0,
        Viewer::Public => 1,
        Viewer::Seat(seat) => 2 + seat.index(),
    };
    let style = crate::page::style();
    let policy = format!(
        "default-src 'none'; script-src {}; style-src {}; img-src data:; base-uri 'none'; form-action 'none'",
        hash_of(SCRIPT),
        hash_of(&style)
    );
    let data = data(&replays.iter().collect::<Vec<_>>(), view, turn);
    let (title, description) = match replays {
        [only] => (only.heading.clone(), only.why.clone()),
        all => (counted(all.len(), "match", "matches"), "Replays of matches.".to_owned()),
    };
    let head = crate::page::head(&title, &description, None).into_string();
    let sign = crate::page::SIGN;
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n{head}\n\
         <style>{style}</style>\n</head>\n<body>\n\
         <header class=\"top\"><div class=\"wrap\"><span class=\"brand\">{sign}referee</span></div></header>\n\
         <main id=\"main\" class=\"wrap\">\n<h1 id=\"title\"></h1>\n<p id=\"result\" class=\"lede\"></p>\n{BODY}</main>\n\
         {DATA}{data}</script>\n\
         <script>{SCRIPT}</script>\n</body>\n</html>\n"
    )
}

/// A scene in which the moved shapes since the scene before are marked.
pub fn marked(before: Option<&Scene>, mut after: Scene) -> Scene {
    if let Some(before) = before {
        let marks = motion::marks(before, &after);
        marks.into_iter().for_each(|mark| after.add(mark));
    }
    after
}
