//! The sentences of the specification that a bot may break.

use referee_protocol::words::ErrorCode;

/// A sentence of the specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The page and its section, below `protocol/spec`.
    pub section: &'static str,
    /// The sentence, or the part of it that matters.
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
    HELLO_FIRST = "messages.md#hello-from-a-bot",
        "Until it has come, nothing else is taken but `pong` and `bye`.";
    PROTOCOL = "messages.md#hello-from-a-bot",
        "another number is answered with `error` `unsupported_protocol` and `bye`, and is the fault `no_start`";
    NAME = "messages.md#hello-from-a-bot", "string, 1 to 64 of ASCII letters, digits, `.`, `_`, `-` and space";
    ABOUT = "messages.md#hello-from-a-bot", "string of at most 256 characters";
    GAMES = "messages.md#hello-from-a-bot", "the games that the bot plays; it is seated in no other";
    READY = "messages.md#ready", "Once for each `start`, within the ready limit";
    NONCE = "messages.md#ready", "A `nonce` of another form is answered with `error` `malformed`.";
    ANSWER = "faults.md#codes", "no complete answer within the limit";
    COMPLETE = "match.md#requests",
        "The answer to an open request is the first `move`, `accept_draw` or `resign` for it.";
    LEGAL = "messages.md#move", "one of `legal`, byte for byte.";
    INFO = "messages.md#move", "An `info` that is larger, or is no object, is dropped with `error` `info_dropped`; the move stands.";
    FRAMING = "messages.md#framing", "one JSON object (RFC 8259) on one line";
    TOO_LONG = "messages.md#framing", "A line that is longer is the fault `line_too_long`.";
    UNKNOWN_TYPE = "messages.md#framing",
        "A `type` that the referee does not know is answered with `error` `unknown_type`.";
    NOT_ALLOWED = "messages.md#open", "Only where the referee's `hello` said `may_open`; elsewhere it is answered with";
    FLOOD = "faults.md#limits",
        "The bound is 64 lines and 131,072 bytes for each open match, and as much when no match is open";
    ENDED = "match.md#leaving", "Any other end is a fault in each match that runs on the connection";
    OUT_OF_STATE = "match.md#what-a-message-does", "A star means: the message is *out of its state*.";
    ELSEWHERE = "match.md#what-a-message-does",
        "A message for a match or seat that the connection does not hold gets `error` `unknown_match` or `unknown_seat`";
    NO_OFFER = "match.md#draw-offers",
        "`accept_draw` for a request without `draw_offered` is answered with `error` `no_offer`.";
    PONG = "messages.md#pong", "the id of the `ping`";
    END = "match.md#starting-and-ending-processes",
        "At the end a bot gets `bye` and the end of its input. It then has 2,000 ms to exit.";
    SIGNALS = "match.md#starting-and-ending-processes",
        "Then its process group gets SIGTERM, and 1,000 ms later SIGKILL.";
    LEFT = "match.md#starting-and-ending-processes", "What it left behind in its group is killed with it.";
}

impl Rule {
    /// What is said about a message that the referee refuses with this code.
    pub(super) fn of(code: ErrorCode) -> Rule {
        match code {
            ErrorCode::IllegalMove => Rule::LEGAL,
            ErrorCode::Malformed => Rule::FRAMING,
            ErrorCode::LineTooLong => Rule::TOO_LONG,
            ErrorCode::Timeout => Rule::ANSWER,
            ErrorCode::Stale => Rule::COMPLETE,
            ErrorCode::UnknownType => Rule::UNKNOWN_TYPE,
            ErrorCode::UnknownMatch | ErrorCode::UnknownSeat => Rule::ELSEWHERE,
            ErrorCode::NotAllowed => Rule::NOT_ALLOWED,
            ErrorCode::NoOffer => Rule::NO_OFFER,
            ErrorCode::InfoDropped => Rule::INFO,
            ErrorCode::Protocol => Rule::FLOOD,
            ErrorCode::UnsupportedProtocol => Rule::PROTOCOL,
            ErrorCode::NoStart => Rule::READY,
            // The others are for hosts and for bots that connect.
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
    fn every_rule_stands_in_its_section_of_the_specification() {
        for rule in Rule::ALL {
            let (page, anchor) = rule.section.split_once('#').unwrap();
            let path = format!("{}/protocol/spec/{page}", env!("CARGO_MANIFEST_DIR"));
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
