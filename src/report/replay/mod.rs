//! Recorded matches as pictures and as a page that plays them.

mod live;
mod motion;
mod names;
mod pack;
mod reel;
mod svg;

use std::io::Write;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use pack::Packed;
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::core::{Scene, Viewer, json};

pub use live::{FrameText, LiveFrame, LiveReel, head};
pub use reel::Reel;
pub use svg::svg;

/// The player.
pub(crate) const SCRIPT: &str = include_str!("player.js");
/// What the player fills.
pub(crate) const BODY: &str = include_str!("player.html");

/// The style sheet of the player.
pub(crate) fn style() -> String {
    format!("{}{}", svg::colours(), include_str!("player.css"))
}

/// A source expression of a content security policy that allows exactly this inline script or style.
pub(crate) fn hash_of(text: &str) -> String {
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

/// Bytes as digits from `#` to `~` except `<`: two digits are 13 bits, the lower ones first. Base64 is 8% longer.
fn base91(bytes: &[u8]) -> String {
    let digit = |digit: u32| char::from(digit as u8 + if digit < 25 { b'#' } else { b'$' });
    let mut text = String::with_capacity(bytes.len() * 16 / 13 + 2);
    let (mut bits, mut count) = (0, 0);
    for &byte in bytes {
        bits |= u32::from(byte) << count;
        count += 8;
        if count >= 13 {
            text.extend([digit(bits % 8192 % 91), digit(bits % 8192 / 91)]);
            bits >>= 13;
            count -= 13;
        }
    }
    match count {
        0 => {}
        // One digit has room for these, and does not decode to another byte.
        1..=5 => text.push(digit(bits)),
        _ => text.extend([digit(bits % 91), digit(bits / 91)]),
    }
    text
}

#[derive(Serialize)]
struct Data<'a> {
    view: usize,
    turn: u32,
    matches: Vec<Packed<'a>>,
}

/// The data of a page with these matches: JSON that is compressed (RFC 1950) and encoded, so that it cannot contain
/// markup. `view` is the initial view, `turn` the number of moves after which it begins.
pub(super) fn data(reels: &[&Reel], view: usize, turn: u32) -> String {
    let matches = reels.iter().map(|reel| Packed::of(reel)).collect();
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    let written = encoder.write_all(json::text(&Data { view, turn, matches }).as_bytes());
    let bytes = written.and_then(|()| encoder.finish());
    base91(&bytes.unwrap_or_else(|error| unreachable!("memory takes all bytes: {error}")))
}

/// A page that plays these matches, as this viewer sees them at first, after this many moves. It needs no other file and makes no
/// request. Its policy allows only its own script and style, and no text of a match becomes markup.
pub fn page(reels: &[Reel], viewer: Viewer, turn: u32) -> String {
    let view = match viewer {
        Viewer::Omniscient => 0,
        Viewer::Public => 1,
        Viewer::Seat(seat) => 2 + seat.index(),
    };
    let style = style();
    let policy = format!(
        "default-src 'none'; script-src {}; style-src {}; base-uri 'none'; form-action 'none'",
        hash_of(SCRIPT),
        hash_of(&style)
    );
    let data = data(&reels.iter().collect::<Vec<_>>(), view, turn);
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>referee</title>\n\
         <style>{style}</style>\n</head>\n<body>\n{BODY}\
         <script type=\"text/plain\" id=\"data\">{data}</script>\n\
         <script>{SCRIPT}</script>\n</body>\n</html>\n"
    )
}

/// A scene in which what moved since the scene before is marked.
pub fn marked(before: Option<&Scene>, mut after: Scene) -> Scene {
    if let Some(before) = before {
        let marks = motion::marks(before, &after);
        marks.into_iter().for_each(|mark| after.add(mark));
    }
    after
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_pads() {
        let texts = [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")];
        for (text, encoded) in texts {
            assert_eq!(base64(text.as_bytes()), encoded);
        }
    }

    #[test]
    fn base91_has_13_bits_in_two_digits() {
        let lengths: Vec<usize> = (0..=13).map(|bytes| base91(&vec![0xff; bytes]).len()).collect();
        assert_eq!(lengths, [0, 2, 3, 4, 6, 7, 8, 9, 10, 12, 13, 14, 15, 16]);
        assert_eq!((base91(&[0; 13]), base91(&[0xff; 13])), ("#".repeat(16), "$~".repeat(8)));
        let all: Vec<u8> =
            (0..=255).flat_map(|first| (0..=255).flat_map(move |next| [first, next])).collect();
        assert!(base91(&all).bytes().all(|digit| matches!(digit, b'#'..=b'~') && digit != b'<'));
    }
}
