//! Recorded matches as pictures and as a page that plays them.

mod motion;
mod reel;
mod svg;

use sha2::{Digest, Sha256};

use crate::core::{Scene, Viewer, json};

pub use reel::Reel;
pub use svg::svg;

const SCRIPT: &str = include_str!("player.js");
const STYLE: &str = include_str!("player.css");
const BODY: &str = include_str!("player.html");

/// A source expression of a content security policy that allows exactly this inline script or style.
fn hash_of(text: &str) -> String {
    format!("'sha256-{}'", base64(&Sha256::digest(text.as_bytes())))
}

/// Base64 with padding (RFC 4648).
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let bits = (0..3).fold(0, |bits, at| bits << 8 | u32::from(*group.get(at).unwrap_or(&0)));
        for digit in 0..4 {
            let value = bits >> (18 - 6 * digit) & 63;
            text.push(if digit <= group.len() { char::from(DIGITS[value as usize]) } else { '=' });
        }
    }
    text
}

/// A page that plays these matches, as this viewer sees them at first, after this many moves. It needs no other file and makes no
/// request. Its policy allows only its own script and style, and no text of a match becomes markup.
pub fn page(reels: &[Reel], viewer: Viewer, turn: u32) -> String {
    let view = match viewer {
        Viewer::Omniscient => 0,
        Viewer::Public => 1,
        Viewer::Seat(seat) => 2 + seat.index(),
    };
    let style = format!("{}{STYLE}", svg::colours());
    let policy = format!(
        "default-src 'none'; script-src {}; style-src {}; base-uri 'none'; form-action 'none'",
        hash_of(SCRIPT),
        hash_of(&style)
    );
    // A `<` could end the element or begin a comment.
    let data = json::text(&serde_json::json!({ "view": view, "turn": turn, "matches": reels }))
        .replace('<', "\\u003c");
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>referee</title>\n\
         <style>{style}</style>\n</head>\n<body>\n{BODY}\
         <script type=\"application/json\" id=\"data\">{data}</script>\n\
         <script>{SCRIPT}</script>\n</body>\n</html>\n"
    )
}

/// A scene in which what moved since the scene before is marked.
pub fn marked(before: Option<&Scene>, mut after: Scene) -> Scene {
    if let Some(before) = before {
        motion::mark(before, &mut after);
    }
    after
}

#[cfg(test)]
mod tests {
    #[test]
    fn base64_pads() {
        let texts = [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")];
        for (text, encoded) in texts {
            assert_eq!(super::base64(text.as_bytes()), encoded);
        }
    }
}
