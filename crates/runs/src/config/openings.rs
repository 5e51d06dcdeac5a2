//! The source of a run's openings.

use std::fmt;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use referee_engine::runner::Openings;
use referee_files::{has_extension, read_regular, unpack};
use referee_game::chance::Seed;
use referee_game::erased::Rules;
use referee_game::openings::OpeningFile;
use referee_game::{Flaw, Seating, SettingNames, Wrong, counted, hex};
use referee_match::Limits;
use referee_match::opening::{MAX_PLIES, Opening, check};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::RunError;
use crate::config::with_suggestion;

/// The maximum number of errors of a file that are listed.
const NAMED: usize = 20;

/// The order in which the openings of a file are played.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum OpeningOrder {
    #[default]
    File,
    // An order that is derived from the run seed.
    Random,
}

#[derive(Clone, Debug, Serialize, Deserialize, Args)]
#[serde(default, deny_unknown_fields)]
pub struct OpeningConfig {
    /// Start each match with this number of random moves, derived from its seed, in games that have openings
    /// [default: 0, in `regress` 6 for checkers, 8 for chess and 4 for jeex]; with --openings, cut each game of the file after this
    /// number of moves, and leave out games that are shorter or invalid until then; 0 uses whole games
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=i64::from(MAX_PLIES)))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opening_plies: Option<u32>,
    /// Start each match, with --mirror each set, with the next opening of this file; after the last, start again from
    /// the first. `referee rules GAME` describes the formats: .pdn and .fen for checkers, .pgn, .epd
    /// and .fen for chess, .txt for jeex
    #[arg(long, value_name = "FILE")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub openings: Option<PathBuf>,
    /// Begin with this opening of the order, counted from 1, for a run that continues where another one ended in a file
    #[arg(long, value_name = "K", requires = "openings", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) opening_start: u32,
    /// The order of the openings; the random order is derived from the run seed
    #[arg(long, requires = "openings", value_enum, default_value_t)]
    pub(crate) order: OpeningOrder,
}

impl Default for OpeningConfig {
    fn default() -> Self {
        OpeningConfig { opening_plies: None, openings: None, opening_start: 1, order: OpeningOrder::File }
    }
}

impl OpeningConfig {
    /// Returns the source. `plies` is the default number of random moves; `resolve` finds the file.
    pub fn source(&self, plies: u32, resolve: impl Fn(&Path) -> PathBuf) -> OpeningSource {
        match &self.openings {
            Some(path) => OpeningSource::File(OpeningBook {
                path: resolve(path),
                order: self.order,
                plies: self.opening_plies.unwrap_or(0),
                start: self.opening_start,
            }),
            None => OpeningSource::Random { plies: self.opening_plies.unwrap_or(plies) },
        }
    }
}

#[derive(Clone, Debug)]
pub enum OpeningSource {
    /// Random openings from the seed of each match.
    Random {
        /// The number of random moves.
        plies: u32,
    },
    File(OpeningBook),
}

/// The use of an opening file.
#[derive(Clone, Debug)]
pub struct OpeningBook {
    /// The file, which may be compressed with gzip.
    pub path: PathBuf,
    pub order: OpeningOrder,
    /// The length to which games are cut; 0 for whole games.
    pub plies: u32,
    /// The first opening to play, counted from 1 in this order.
    pub start: u32,
}

/// The flaws of the openings of a file, one a line.
#[derive(Clone, Debug)]
pub struct FlawList {
    path: PathBuf,
    flaws: Vec<Flaw>,
}

impl fmt::Display for FlawList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let FlawList { path, flaws } = self;
        for flaw in flaws.iter().take(NAMED) {
            write!(f, "\n{}: {flaw}", path.display())?;
        }
        match flaws.len().saturating_sub(NAMED) {
            0 => Ok(()),
            more => write!(f, "\nand {more} more"),
        }
    }
}

/// Openings of a file that are not played.
#[derive(Clone, Debug)]
pub struct OmittedOpenings {
    flaws: FlawList,
    /// The number of those that are.
    remaining: usize,
}

impl fmt::Display for OmittedOpenings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let out = counted(self.flaws.flaws.len() as u64, "opening is", "openings are");
        write!(f, "{out} left out, {} remain:{}", self.remaining, self.flaws)
    }
}

fn in_file(path: &Path, names: SettingNames) -> String {
    format!("{} {}", names("openings", None), path.display())
}

/// Reads an opening file, which may be compressed.
fn read(path: &Path, names: SettingNames) -> Result<Vec<u8>, RunError> {
    let read = read_regular(path).and_then(unpack);
    read.map_err(|why| RunError::unreadable(in_file(path, names), why))
}

impl OpeningSource {
    /// Returns whether each match or set draws its opening, independently of others.
    pub fn are_drawn(&self) -> bool {
        matches!(self, OpeningSource::Random { plies: 1.. })
    }

    /// Identifies the openings as text: equal texts mean equal openings.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn in_words(&self, names: SettingNames) -> Result<String, RunError> {
        match self {
            OpeningSource::Random { plies } => Ok(format!("{plies} random moves")),
            OpeningSource::File(OpeningBook { path, order, plies, start }) => {
                let order = match order {
                    OpeningOrder::File => "file",
                    OpeningOrder::Random => "random",
                };
                let read = read(path, names)?;
                let mut words = format!("SHA-256 {}, order {order}", hex::encode(&Sha256::digest(read)));
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

    /// Reads and validates the openings of a run of a game with these options.
    ///
    /// # Errors
    /// If the options or the openings are not valid.
    pub fn openings(
        &self,
        rules: &dyn Rules,
        seating: Seating,
        set: Map<String, Value>,
        run: &Seed,
        names: SettingNames,
    ) -> Result<(Openings, Option<OmittedOpenings>), RunError> {
        let options = serde_json::value::to_raw_value(&set).unwrap_or_default();
        let table = rules.open(&options, seating);
        let table = table.map_err(|error| with_suggestion(&error))?;
        let OpeningBook { path, order, plies, start } = match self {
            OpeningSource::File(book) => book,
            &OpeningSource::Random { plies } => {
                let opening = if plies == 0 { Opening::None } else { Opening::Random(plies) };
                return match check(&*table, &opening, &Limits::TODAY) {
                    Ok(()) => Ok((Openings::same(options, opening), None)),
                    Err(why) => Err(Wrong::at(names("opening_plies", Some(&plies.to_string())), why).into()),
                };
            }
        };
        let plies = (*plies > 0).then_some(*plies as usize);
        let format = format(rules, path).map_err(|why| Wrong::at(in_file(path, names), why))?;
        let given = (format.read)(&read(path, names)?, plies);
        let mut starts = given.iter().flatten().flat_map(|opening| opening.options.keys());
        if let Some(option) = starts.find(|&option| set.contains_key(option)) {
            let (file, setting) = (in_file(path, names), names(&format!("options.{option}"), None));
            return Err(format!("{file}: its openings set `{option}` themselves: omit {setting}").into());
        }
        let list = |flaws| FlawList { path: path.clone(), flaws };
        let given = Openings::given(rules, seating, &set, given, plies);
        let (mut openings, flaws) = given.map_err(|flaws| {
            let mut what = format!("{}:{}", names("openings", None), list(flaws));
            if plies.is_none() {
                let cut = names("opening_plies", Some("N"));
                what += &format!(
                    "\n`{cut}` cuts the games of a collection, and leaves out those that are invalid"
                );
            }
            RunError::from(what)
        })?;
        let remaining = openings.len();
        let left_out = (!flaws.is_empty()).then(|| OmittedOpenings { flaws: list(flaws), remaining });
        if *order == OpeningOrder::Random {
            openings.shuffle(run);
        }
        openings.begin_at(*start);
        Ok((openings, left_out))
    }
}

/// The format of an opening file, by its name.
fn format(rules: &dyn Rules, path: &Path) -> Result<&'static OpeningFile, Wrong> {
    let game = rules.meta().id;
    let formats = rules.opening_files();
    if rules.disguised().is_some() {
        return Err(
            "a disguised game has none, which would be in the words of the game itself: `opening_plies` draws openings"
                .into(),
        );
    }
    if formats.is_empty() {
        return Err(format!("{game} has no openings").into());
    }
    formats.iter().find(|format| has_extension(path, format.ending)).ok_or_else(|| {
        let endings: Vec<String> = formats.iter().map(|format| format!(".{}", format.ending)).collect();
        format!("opening files of {game} have the extension {}", endings.join(" or ")).into()
    })
}
