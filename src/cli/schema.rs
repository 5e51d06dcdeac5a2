//! `referee schema`: prints the JSON Schemas of the messages and of the games.

use std::io::Write;

use clap::{Args as ClapArgs, ValueEnum};
use referee_protocol::schemas;
use serde_json::Value;

use crate::cli::exit::{Exit, Failure};
use crate::cli::find_game::find_game;
use crate::cli::output::stdout;
use crate::game::Catalog;

/// Print the JSON Schemas of the messages, or of the views, events, moves and options of a game (draft 2020-12)
///
/// Without a subject: both schemas of messages, as the members `from_referee` and `from_bot` of one object.
///
/// The schema of a game is a document of definitions: `View`, `Event`, `Move` and `Options`. With a part, the document itself
/// validates that part.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee schema
  referee schema from_referee > from_referee.json
  referee schema checkers
  referee schema checkers view > checkers_view.json")]
pub(super) struct Args {
    /// `from_referee`, `from_bot`, `imagine_request`, `imagine_answer`, `rules_request`, `rules_answer`, or a game: see
    /// `referee games`
    #[arg(value_name = "MESSAGES|GAME")]
    subject: Option<String>,
    /// What of the game to validate
    #[arg(value_enum)]
    part: Option<SchemaPart>,
}

/// The sets of messages and their schemas.
const MESSAGES: [(&str, &str); 6] = [
    ("from_referee", schemas::FROM_REFEREE),
    ("from_bot", schemas::FROM_BOT),
    ("imagine_request", schemas::IMAGINE_REQUEST),
    ("imagine_answer", schemas::IMAGINE_ANSWER),
    ("rules_request", schemas::RULES_REQUEST),
    ("rules_answer", schemas::RULES_ANSWER),
];

#[derive(Clone, Copy, Debug, ValueEnum)]
enum SchemaPart {
    View,
    Event,
    Move,
    Options,
}

impl SchemaPart {
    /// The name of its definition.
    fn definition(self) -> &'static str {
        match self {
            SchemaPart::View => "View",
            SchemaPart::Event => "Event",
            SchemaPart::Move => "Move",
            SchemaPart::Options => "Options",
        }
    }
}

pub(super) fn run(args: &Args, catalog: &Catalog) -> Result<Exit, Failure> {
    let [(_, referee), (_, bot), ..] = MESSAGES.map(|(name, schema)| (name, schema.trim_end()));
    let mut out = stdout();
    match args.subject.as_deref() {
        None => writeln!(out, "{{\"from_referee\":{referee},\"from_bot\":{bot}}}")?,
        Some(set) if let Some((_, schema)) = MESSAGES.iter().find(|(name, _)| *name == set) => {
            if let Some(part) = args.part {
                let part = part.definition().to_lowercase();
                return Err(Failure::usage(format!(
                    "`{part}` is part of a game; `{set}` is a set of messages"
                )));
            }
            writeln!(out, "{}", schema.trim_end())?;
        }
        Some(game) => {
            let sets: Vec<&str> = MESSAGES.iter().map(|(name, _)| *name).collect();
            let sets = sets.join(", ");
            let unknown =
                |failure: Failure| Failure::usage(format!("{failure}; or a set of messages: {sets}"));
            let mut schema = find_game(game, catalog).map_err(unknown)?.0.schema();
            if let (Some(part), Value::Object(schema)) = (args.part, &mut schema) {
                schema.insert("$ref".to_owned(), format!("#/$defs/{}", part.definition()).into());
            }
            writeln!(out, "{schema:#}")?;
        }
    }
    Ok(Exit::Done)
}
