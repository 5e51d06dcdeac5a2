//! In which ways a bot may be sent its lines.

use std::time::Duration;

use referee_protocol::limits;

/// How lines go out. All but [`Manner::Crlf`] are what a bot has to expect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Manner {
    /// In one write, as they are.
    #[default]
    Plain,
    /// Each with a field that nobody knows.
    UnknownFields,
    /// With messages of an unknown type between them.
    UnknownMessages,
    /// Each after a `ping` in a write of its own.
    Pings,
    /// In one write with what belongs to nothing, before and after.
    Joined,
    /// A few bytes at a time.
    Split,
    /// The last line in two halves with a long pause between.
    Slow,
    /// Ended with CR LF, as what stands between a bot and its referee may do.
    Crlf,
    /// Requests as long as lines may be.
    Large,
}

/// Bytes for one write, and how long to rest after it.
pub(super) type Piece = (Vec<u8>, Duration);

/// So short that the bot is likely to read the pieces apart.
const MOMENT: Duration = Duration::from_millis(2);
/// Longer than most buffers wait.
const PAUSE: Duration = Duration::from_millis(250);
const PIECE: usize = 24;
const WEATHER: &str = r#"{"type":"weather","sky":"grey","wind":{"from":["N","NE"],"knots":12.5}}"#;

impl Manner {
    /// Whether it has pings, so that pongs are looked at.
    pub(super) fn has_pings(self) -> bool {
        matches!(self, Manner::Pings | Manner::Joined)
    }

    /// The writes for these lines. `ping` makes one.
    pub(super) fn pieces(self, lines: &[u8], mut ping: impl FnMut() -> String) -> Vec<Piece> {
        let each = || lines.split_inclusive(|&byte| byte == b'\n');
        let at_once = |bytes: Vec<u8>| vec![(bytes, Duration::ZERO)];
        let strange = format!("{WEATHER}\n");
        match self {
            Manner::Plain => at_once(lines.to_vec()),
            Manner::UnknownFields => {
                at_once(each().flat_map(|line| with_field(line, r#"{"sky":["grey",null]}"#)).collect())
            }
            Manner::UnknownMessages => {
                at_once(each().flat_map(|line| [strange.as_bytes(), line].concat()).collect())
            }
            Manner::Pings => each()
                .flat_map(|line| [(ping().into_bytes(), MOMENT), (line.to_vec(), Duration::ZERO)])
                .collect(),
            Manner::Joined => {
                let (before, after) = (ping(), ping());
                at_once([before.as_bytes(), strange.as_bytes(), lines, after.as_bytes()].concat())
            }
            Manner::Split => lines.chunks(PIECE).map(|piece| (piece.to_vec(), MOMENT)).collect(),
            Manner::Slow => {
                let last = each().next_back().map_or(0, <[u8]>::len);
                let (first, second) = lines.split_at(lines.len() - last / 2);
                vec![(first.to_vec(), PAUSE), (second.to_vec(), Duration::ZERO)]
            }
            Manner::Crlf => {
                let end = |line: &[u8]| [line.strip_suffix(b"\n").unwrap_or(line), b"\r\n"].concat();
                at_once(each().flat_map(end).collect())
            }
            Manner::Large => at_once(each().flat_map(padded).collect()),
        }
    }
}

/// The line with one more field.
fn with_field(line: &[u8], value: &str) -> Vec<u8> {
    let head = line.strip_suffix(b"}\n").unwrap_or(line);
    [head, b",\"weather\":", value.as_bytes(), b"}\n"].concat()
}

/// A request, as long as lines may be.
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
    fn a_large_request_is_as_long_as_a_line_may_be() {
        let pieces = Manner::Large.pieces(b"{\"type\":\"turn\"}\n", String::new);
        assert_eq!(pieces[0].0.len(), limits::LINE_FROM_REFEREE + 1);
        let read: serde_json::Value = serde_json::from_slice(&pieces[0].0).unwrap();
        assert_eq!(read["type"], "turn");
    }

    #[test]
    fn what_is_split_or_slow_is_all_the_same_complete() {
        let lines = b"{\"type\":\"ping\",\"id\":1}\n{\"type\":\"turn\",\"match\":\"m1\",\"seat\":0}\n";
        for manner in [Manner::Split, Manner::Slow, Manner::Plain] {
            let pieces = manner.pieces(lines, String::new);
            let all: Vec<u8> = pieces.into_iter().flat_map(|(bytes, _)| bytes).collect();
            assert_eq!(all, lines, "{manner:?}");
        }
    }
}
