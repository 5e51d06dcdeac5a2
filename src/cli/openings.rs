//! The options for openings.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::cli::Failure;
use crate::cli::files::{ends_with, read};
use crate::cli::screen;
use crate::cli::syntax::{OptionName, Syntax, suggest};
use crate::game::chance::Seed;
use crate::game::erased::Rules;
use crate::game::openings::OpeningFile;
use crate::game::{Flaw, Seating, counted, hex};
use crate::referee::Limits;
use crate::referee::opening::{self, Opening};
use crate::runner::Openings;

/// The maximum number of errors of a file that are listed.
const NAMED: usize = 20;

const OPENING_PLIES: OptionName = OptionName { flag: "--opening-plies", key: "opening_plies" };
const OPENINGS: OptionName = OptionName { flag: "--openings", key: "openings" };

/// The openings of matches.
#[derive(Debug, Args)]
pub(super) struct OpeningOptions {
    /// Start each match with this number of random moves, derived from its seed, in games that have openings
    /// [default: 0, in `regress` 6 for checkers and 4 for jeex]; with --openings, cut each game of the file after this
    /// number of moves, and leave out games that are shorter or invalid until then; 0 uses whole games
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=i64::from(opening::MAX_PLIES)))]
    opening_plies: Option<u32>,
    /// Start each match, with --mirror each set, with the next opening of this file; after the last, start again from
    /// the first. `referee rules GAME` describes the formats: .pdn and .fen for checkers, .txt for jeex
    #[arg(long, value_name = "FILE")]
    openings: Option<PathBuf>,
    /// Begin with this opening of the order, counted from 1, for a run that continues where another one ended in a file
    #[arg(long, value_name = "K", requires = "openings", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    opening_start: u32,
    /// The order of the openings; the random order is derived from the run seed
    #[arg(long, value_enum, requires = "openings", default_value_t = OpeningOrder::File)]
    order: OpeningOrder,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum OpeningOrder {
    #[default]
    File,
    Random,
}

impl OpeningOptions {
    /// Where the openings come from. `plies` is the default number of random moves.
    pub(super) fn source(self, plies: u32) -> OpeningSource {
        match self.openings {
            Some(path) => OpeningSource::File(OpeningBook {
                path,
                order: self.order,
                plies: self.opening_plies.unwrap_or(0),
                start: self.opening_start,
            }),
            None => OpeningSource::Random { plies: self.opening_plies.unwrap_or(plies) },
        }
    }
}

/// Where openings come from.
#[derive(Debug)]
pub(super) enum OpeningSource {
    /// The seed of each match.
    Random { plies: u32 },
    /// A file.
    File(OpeningBook),
}

/// The use of an opening file.
#[derive(Debug)]
pub(super) struct OpeningBook {
    pub(super) path: PathBuf,
    pub(super) order: OpeningOrder,
    /// The length to which games are cut; 0 for whole games.
    pub(super) plies: u32,
    /// The first opening to play, counted from 1 in this order.
    pub(super) start: u32,
}

impl OpeningSource {
    /// Identifies the openings as text: equal texts mean equal openings.
    pub(super) fn in_words(&self) -> Result<String, Failure> {
        match self {
            OpeningSource::Random { plies } => Ok(format!("{plies} random moves")),
            OpeningSource::File(OpeningBook { path, order, plies, start }) => {
                let order = match order {
                    OpeningOrder::File => "file",
                    OpeningOrder::Random => "random",
                };
                let mut words =
                    format!("SHA-256 {}, order {order}", hex::encode(&Sha256::digest(read(path)?)));
                if *plies > 0 {
                    words += &format!(", {plies} plies each");
                }
                if *start > 1 {
                    words += &format!(", from opening {start}");
                }
                Ok(words)
            }
        }
    }

    /// Reads and validates the openings of a run of a game with these options. Errors name the options in this syntax.
    pub(super) fn openings(
        &self,
        rules: &dyn Rules,
        seating: Seating,
        set: Map<String, Value>,
        run: &Seed,
        syntax: Syntax,
    ) -> Result<Openings, Failure> {
        let options = serde_json::value::to_raw_value(&set).map_err(Failure::usage)?;
        let table = rules.open(&options, seating);
        let table = table.map_err(|error| Failure::usage(suggest(&error.to_string())))?;
        let OpeningBook { path, order, plies, start } = match self {
            OpeningSource::File(book) => book,
            &OpeningSource::Random { plies } => {
                let opening = if plies == 0 { Opening::None } else { Opening::Random(plies) };
                return match opening::check(&*table, &opening, &Limits::TODAY) {
                    Ok(()) => Ok(Openings::same(options, opening)),
                    Err(what) => {
                        Err(Failure::usage(format!("{}: {what}", syntax.with_value(OPENING_PLIES, plies))))
                    }
                };
            }
        };
        let name = syntax.name(OPENINGS);
        let wrong = |what: String| Failure::usage(format!("{name} {}: {what}", path.display()));
        let plies = (*plies > 0).then_some(*plies as usize);
        let given = (format(rules, path).map_err(wrong)?.read)(&read(path)?, plies);
        let mut starts = given.iter().flatten().flat_map(|opening| opening.options.keys());
        if let Some(option) = starts.find(|&option| set.contains_key(option)) {
            let omit = match syntax {
                Syntax::Flags => format!("--set {option}"),
                Syntax::Keys => format!("options.{option}"),
            };
            return Err(wrong(format!("its openings set `{option}` themselves: omit {omit}")));
        }
        let list = |flaws: &[Flaw]| {
            let more = flaws.len().saturating_sub(NAMED);
            let lines = flaws.iter().take(NAMED).map(|flaw| format!("\n{}: {flaw}", path.display()));
            lines.collect::<String>() + &if more > 0 { format!("\nand {more} more") } else { String::new() }
        };
        let given = Openings::given(rules, seating, &set, given, plies);
        let (mut openings, left_out) = given.map_err(|flaws| {
            let hint = match plies {
                None => {
                    let cut = syntax.with_value(OPENING_PLIES, "N");
                    format!("\n`{cut}` cuts the games of a collection, and leaves out those that are invalid")
                }
                Some(_) => String::new(),
            };
            Failure::usage(format!("{name}:{}{hint}", list(&flaws)))
        })?;
        if !left_out.is_empty() {
            let out = counted(left_out.len() as u64, "opening is", "openings are");
            screen::stderr_line(format_args!(
                "{name}: {out} left out, {} remain:{}",
                openings.len(),
                list(&left_out)
            ));
        }
        if *order == OpeningOrder::Random {
            openings.shuffle(run);
        }
        openings.begin_at(*start);
        Ok(openings)
    }
}

/// The format of an opening file, by its name.
fn format(rules: &dyn Rules, path: &Path) -> Result<&'static OpeningFile, String> {
    let id = rules.meta().id;
    let formats = rules.opening_files();
    if formats.is_empty() {
        return Err(format!("{id} has no openings"));
    }
    formats.iter().find(|format| ends_with(path, format.ending)).ok_or_else(|| {
        let endings: Vec<String> = formats.iter().map(|format| format!(".{}", format.ending)).collect();
        format!("opening files of {id} have the extension {}", endings.join(" or "))
    })
}
