//! The `hello` of a bot.

use std::collections::BTreeMap;

use referee_game::name::check_hello_name;
use referee_match::{Detail, Field, RefusedLine, Wants};
use referee_protocol::bot;
use referee_protocol::limits;
use referee_protocol::words::ErrorCode;

/// The contents of a bot's `hello`.
#[derive(Clone, Debug)]
pub struct BotHello {
    /// The name for display.
    pub name: String,
    pub version: Option<String>,
    pub author: Option<String>,
    /// Details that identify how it plays.
    pub details: BTreeMap<String, String>,
    /// The games that it plays; `None`: any.
    pub games: Option<Vec<String>>,
    /// The maximum number of concurrent matches.
    pub slots: usize,
    /// The optional messages that it wants.
    pub wants: Wants,
    /// Identifies the process across connections; `None` if its matches end with its connection.
    pub reconnect: Option<String>,
}

/// Reasons why a `hello` is rejected.
#[derive(Debug)]
pub enum HelloError {
    /// The bot has another version of the protocol: the connection ends.
    Protocol(Detail),
    /// A field is invalid: the bot may send `hello` again.
    Field {
        /// The rejection, for the detail of a later timeout.
        refused: RefusedLine,
        /// The text of the `error` for the bot.
        message: String,
    },
}

impl BotHello {
    /// Checks the fields of a `hello`.
    pub fn check(hello: bot::Hello) -> Result<BotHello, HelloError> {
        if hello.protocol != referee_protocol::PROTOCOL {
            return Err(HelloError::Protocol(Detail::OtherProtocol { protocol: hello.protocol }));
        }
        let invalid = |field, what: String| {
            let refused = RefusedLine { code: ErrorCode::Malformed, field: Some(field) };
            Err(HelloError::Field { refused, message: format!("{what}; say `hello` again") })
        };
        if let Err(what) = check_hello_name(&hello.name) {
            return invalid(Field::Name, what.to_string());
        }
        for (field, text) in [(Field::Version, &hello.version), (Field::Author, &hello.author)] {
            if text.as_ref().is_some_and(|text| text.chars().count() > limits::ABOUT) {
                return invalid(field, field.to_string());
            }
        }
        let is_detail = |(name, text): (&String, &String)| {
            (1..=limits::NAME).contains(&name.chars().count()) && text.chars().count() <= limits::ABOUT
        };
        if hello.details.len() > limits::DETAILS || !hello.details.iter().all(is_detail) {
            return invalid(Field::Details, Field::Details.to_string());
        }
        let fits = |id: &String| (1..=limits::RECONNECT_ID).contains(&id.chars().count());
        if hello.reconnect.as_ref().is_some_and(|id| !fits(id)) {
            let message =
                format!("`reconnect` has 1 to {} characters; say `hello` again", limits::RECONNECT_ID);
            return Err(HelloError::Field { refused: ErrorCode::Malformed.into(), message });
        }
        Ok(BotHello {
            wants: Wants::from(&hello),
            reconnect: hello.reconnect,
            slots: hello.slots.unwrap_or(1).clamp(1, limits::SLOTS) as usize,
            name: hello.name,
            version: hello.version,
            author: hello.author,
            details: hello.details,
            games: hello.games,
        })
    }

    /// Checks that the bot plays a game.
    ///
    /// # Errors
    /// The detail of the fault `no_start`.
    pub fn check_game(&self, id: &str) -> Result<(), Detail> {
        match &self.games {
            Some(games) if !games.iter().any(|game| game == id) => {
                Err(Detail::OtherGames { game: id.to_owned(), plays: games.clone() })
            }
            _ => Ok(()),
        }
    }
}
