//! The sentences of the specification that bots can violate.

use referee_protocol::words::ErrorCode;

/// A sentence of the specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The page and its section, below `protocol/spec`.
    pub section: &'static str,
    /// The sentence, or the relevant part of it.
    pub says: &'static str,
}

/// Defines the rules and the list of all of them.
macro_rules! rules {
    ($($name:ident = $section:literal, $says:literal;)*) => {
        impl Rule {
            $(pub(super) const $name: Rule = Rule { section: $section, says: $says };)*

            #[cfg(test)]
            const ALL: &[Rule] = &[$(Rule::$name),*];
        }
    };
}

rules! {
    HELLO = "match.md#a-connection", "The bot answers with `hello` within 10,000 ms of its start.";
    HELLO_ONCE = "match.md#a-connection", "The referee answers a second `hello` with `error` `out_of_state`.";
    HELLO_FIRST = "messages.md#hello-from-a-bot",
        "Before it, the referee accepts only `pong` and `bye`.";
    PROTOCOL = "messages.md#hello-from-a-bot",
        "another number is answered with `error` `unsupported_protocol` and `bye`, and is the fault `no_start`";
    NAME = "messages.md#hello-from-a-bot", "string, 1 to 64 of ASCII letters, digits, `.`, `_`, `-` and space";
    ABOUT = "messages.md#hello-from-a-bot", "string of at most 256 characters";
    GAMES = "messages.md#hello-from-a-bot", "the games that the bot plays; the referee assigns it no matches of other games";
    READY = "messages.md#ready", "Once for each `start`, within the ready limit";
    NONCE = "messages.md#ready", "A `nonce` in any other form is answered with `error` `malformed`.";
    ANSWER = "faults.md#codes", "no complete answer within the limit";
    UNREAD = "faults.md#codes",
        "If the referee has not finished writing a request when its limit expires, the fault is `timeout`, not `stalled`.";
    TURN = "messages.md#turn", "the id of the request: 0, 1, 2, ... within match and seat. The answer repeats it.";
    OLD = "match.md#what-a-message-does", "A message with an old id never counts, and neither does a duplicate answer.";
    LEGAL = "messages.md#move",
        "one of `legal`, byte for byte. Without `legal`, what the rules accept, at most 16,384 bytes.";
    INFO = "messages.md#move", "An `info` that is larger or not an object is dropped with `error` `info_dropped`; the move stands.";
    MALFORMED = "messages.md#framing",
        "A line is `malformed` if it contains bytes that are not UTF-8; text that is not JSON; JSON that is not an object; a duplicate key within an object, at any depth; nesting deeper than 127 levels, including the outermost object; a missing `type`, or one that is not a string; a missing required field; or a field with the wrong type or out of range.";
    TOO_LONG = "messages.md#framing", "A longer line is the fault `line_too_long`.";
    UNKNOWN_TYPE = "messages.md#framing",
        "A `type` that the referee does not know is answered with `error` `unknown_type`.";
    NOT_ALLOWED = "messages.md#open", "Allowed only if the referee's `hello` has `may_open`; otherwise it is answered with `error` `not_allowed`.";
    FLOOD = "faults.md#limits",
        "The limit is 64 lines and 131,072 bytes for each open match, and the same amount if no match is open";
    LEAVES = "match.md#leaving",
        "A bot may leave between two matches: after an `end` and before its next `ready`. A bot that the referee started exits with status 0 or sends `bye`.";
    ENDED = "match.md#leaving", "Any other end is a fault in each match that runs on the connection";
    OUT_OF_STATE = "match.md#what-a-message-does",
        "`*` marks a message sent in the wrong state (an *out-of-state message*): it gets this error, has no other effect, and counts towards the 20 allowed per seat and match.";
    AFTER_END = "match.md#a-match",
        "After `end`, the referee answers any message for the match with `error` `unknown_match`.";
    ELSEWHERE = "match.md#what-a-message-does",
        "A message for a match or seat that the connection does not hold gets `error` `unknown_match` or `unknown_seat`";
    CONNECTS = "connections.md#handshake", "The bot connects.";
    TOKEN = "connections.md#handshake", "with the `token` of that name if tokens are required";
    ACCEPTS = "connections.md#reconnecting",
        "The bot accepts with `reconnect` in its `hello`: a string of its choice, the same on every connection of one process";
    RETURNS = "connections.md#reconnecting",
        "The bot connects again and sends `hello` with the same `name`, `version` and `reconnect`, and a `token` of that name.";
    STAYS = "connections.md#reconnecting",
        "the bot connects again, as after a loss, and exits only if it does not succeed within 60 s";
    NO_OFFER = "match.md#draw-offers",
        "`accept_draw` for a request without `draw_offered` is answered with `error` `no_offer`.";
    PONG = "messages.md#pong", "the id of the `ping`";
    END = "match.md#starting-and-ending-processes",
        "the referee sends `bye` and closes the bot's standard input. The bot then has 2,000 ms to exit.";
    SIGNALS = "match.md#starting-and-ending-processes",
        "After that, the referee sends SIGTERM to its process group, and SIGKILL 1,000 ms later.";
    LEFT = "match.md#starting-and-ending-processes", "This also kills all other processes left in the group.";
}

impl Rule {
    /// Returns whether it says that a bot gets only matches of the games in its `hello`.
    pub fn is_about_games(&self) -> bool {
        *self == Rule::GAMES
    }

    /// The rule violated by a message that the referee rejects with this code.
    pub(super) fn of(code: ErrorCode) -> Rule {
        match code {
            ErrorCode::IllegalMove => Rule::LEGAL,
            ErrorCode::Malformed => Rule::MALFORMED,
            ErrorCode::LineTooLong => Rule::TOO_LONG,
            ErrorCode::Timeout => Rule::ANSWER,
            ErrorCode::Stale => Rule::OLD,
            ErrorCode::UnknownType => Rule::UNKNOWN_TYPE,
            ErrorCode::UnknownMatch | ErrorCode::UnknownSeat => Rule::ELSEWHERE,
            ErrorCode::NotAllowed => Rule::NOT_ALLOWED,
            ErrorCode::NoOffer => Rule::NO_OFFER,
            ErrorCode::InfoDropped => Rule::INFO,
            ErrorCode::Protocol => Rule::FLOOD,
            ErrorCode::UnsupportedProtocol => Rule::PROTOCOL,
            ErrorCode::NoStart => Rule::READY,
            // Other codes concern hosts and connecting bots.
            _ => Rule::OUT_OF_STATE,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> String {
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn every_rule_is_quoted_from_its_section() {
        for rule in Rule::ALL {
            let (page, anchor) = rule.section.split_once('#').unwrap();
            let path = format!("{}/../../protocol/spec/{page}", env!("CARGO_MANIFEST_DIR"));
            let text = std::fs::read_to_string(&path).unwrap();
            let slug = |heading: &str| {
                let plain = |c: char| c.is_ascii_alphanumeric() || " -_".contains(c);
                heading.to_lowercase().chars().filter(|&c| plain(c)).collect::<String>().replace(' ', "-")
            };
            let section = text
                .split("\n#")
                .find(|section| {
                    let heading = section.lines().next().unwrap_or_default().trim_start_matches('#').trim();
                    slug(heading) == anchor
                })
                .unwrap_or_else(|| panic!("{} is no section", rule.section));
            assert!(words(section).contains(&words(rule.says)), "{}: {}", rule.section, rule.says);
        }
    }
}
