//! Variations in how lines are delivered to a bot.

use std::time::Duration;

use referee_protocol::limits;

/// Ways of writing lines. A bot has to handle all variations except [`Variation::Crlf`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Variation {
    /// Lines unchanged, in one write.
    #[default]
    Plain,
    /// Lines with an unknown field each.
    UnknownFields,
    /// Interspersed with messages of an unknown type.
    UnknownMessages,
    /// Lines after a `ping` each, in separate writes.
    Pings,
    /// In one write, with pings and an unknown message around them.
    Joined,
    /// In small pieces of a few bytes.
    Split,
    /// The last line in two halves, with a long pause between.
    Slow,
    /// With CR LF line breaks, which a relay may produce.
    Crlf,
    /// Requests padded to the maximum line length.
    Large,
}

/// Bytes for one write, and the pause after it.
pub(super) type Chunk = (Vec<u8>, Duration);

/// A short pause, after which a bot probably reads the next piece separately.
const PIECE_INTERVAL: Duration = Duration::from_millis(2);
/// A pause longer than the timeout of most buffers.
const PAUSE: Duration = Duration::from_millis(250);
const PIECE: usize = 24;
const WEATHER: &str = r#"{"type":"weather","sky":"grey","wind":{"from":["N","NE"],"knots":12.5}}"#;

impl Variation {
    /// Returns whether it sends pings, so that pongs are checked.
    pub(super) fn has_pings(self) -> bool {
        matches!(self, Variation::Pings | Variation::Joined)
    }

    /// Splits lines into writes. `ping` creates a `ping` message.
    pub(super) fn pieces(self, lines: &[u8], mut ping: impl FnMut() -> String) -> Vec<Chunk> {
        let each = || lines.split_inclusive(|&byte| byte == b'\n');
        let at_once = |bytes: Vec<u8>| vec![(bytes, Duration::ZERO)];
        let strange = format!("{WEATHER}\n");
        match self {
            Variation::Plain => at_once(lines.to_vec()),
            Variation::UnknownFields => {
                at_once(each().flat_map(|line| with_field(line, r#"{"sky":["grey",null]}"#)).collect())
            }
            Variation::UnknownMessages => {
                at_once(each().flat_map(|line| [strange.as_bytes(), line].concat()).collect())
            }
            Variation::Pings => each()
                .flat_map(|line| [(ping().into_bytes(), PIECE_INTERVAL), (line.to_vec(), Duration::ZERO)])
                .collect(),
            Variation::Joined => {
                let (before, after) = (ping(), ping());
                at_once([before.as_bytes(), strange.as_bytes(), lines, after.as_bytes()].concat())
            }
            Variation::Split => lines.chunks(PIECE).map(|piece| (piece.to_vec(), PIECE_INTERVAL)).collect(),
            Variation::Slow => {
                let last = each().next_back().map_or(0, <[u8]>::len);
                let (first, second) = lines.split_at(lines.len() - last / 2);
                vec![(first.to_vec(), PAUSE), (second.to_vec(), Duration::ZERO)]
            }
            Variation::Crlf => {
                let end = |line: &[u8]| [line.strip_suffix(b"\n").unwrap_or(line), b"\r\n"].concat();
                at_once(each().flat_map(end).collect())
            }
            Variation::Large => at_once(each().flat_map(padded).collect()),
        }
    }
}

fn with_field(line: &[u8], value: &str) -> Vec<u8> {
    let head = line.strip_suffix(b"}\n").unwrap_or(line);
    [head, b",\"weather\":", value.as_bytes(), b"}\n"].concat()
}

/// Pads a request to the maximum line length.
fn padded(line: &[u8]) -> Vec<u8> {
    if !line.starts_with(br#"{"type":"turn""#) {
        return line.to_vec();
    }
    let bare = with_field(line, r#""""#).len() - 1;
    with_field(line, &format!("\"{}\"", "x".repeat(limits::LINE_FROM_REFEREE.saturating_sub(bare))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_request_has_the_maximum_line_length() {
        let pieces = Variation::Large.pieces(b"{\"type\":\"turn\"}\n", String::new);
        assert_eq!(pieces[0].0.len(), limits::LINE_FROM_REFEREE + 1);
        let read: serde_json::Value = serde_json::from_slice(&pieces[0].0).unwrap();
        assert_eq!(read["type"], "turn");
    }

    #[test]
    fn split_and_slow_delivery_preserve_all_bytes() {
        let lines = b"{\"type\":\"ping\",\"id\":1}\n{\"type\":\"turn\",\"match\":\"m1\",\"seat\":0}\n";
        for delivery in [Variation::Split, Variation::Slow, Variation::Plain] {
            let pieces = delivery.pieces(lines, String::new);
            let all: Vec<u8> = pieces.into_iter().flat_map(|(bytes, _)| bytes).collect();
            assert_eq!(all, lines, "{delivery:?}");
        }
    }
}
