//! The source of a run's openings.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use referee_engine::runner::Openings;
use referee_files::{has_extension, read_regular, unpack};
use referee_game::chance::Seed;
use referee_game::erased::Rules;
use referee_game::openings::OpeningFile;
use referee_game::{Flaw, Seating, Wrong, counted, hex};
use referee_match::Limits;
use referee_match::opening::{NoOpening, Opening, check};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::config::with_suggestion;

/// The maximum number of errors of a file that are listed.
const NAMED: usize = 20;

/// In which order the openings of a file are played.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OpeningOrder {
    #[default]
    File,
    /// One that is derived from the run seed.
    Random,
}

#[derive(Clone, Debug)]
pub enum OpeningSource {
    /// The seed of each match.
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

/// Openings that cannot be used. As text the settings have their names in files.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpeningsError {
    #[error(transparent)]
    Options(Wrong),
    #[error("opening_plies = {plies}")]
    Random {
        plies: u32,
        #[source]
        why: NoOpening,
    },
    #[error("openings {}", path.display())]
    Unreadable {
        path: PathBuf,
        #[source]
        why: io::Error,
    },
    #[error("openings {}", path.display())]
    File {
        path: PathBuf,
        #[source]
        why: Wrong,
    },
    #[error("openings {}: its openings set `{option}` themselves: omit options.{option}", path.display())]
    SetsOption { path: PathBuf, option: String },
    #[error("openings:{flaws}{}", if *.is_cut { "" } else {
        "\n`opening_plies = N` cuts the games of a collection, and leaves out those that are invalid"
    })]
    Flawed {
        flaws: FlawList,
        /// Whether its games are cut, so that it has no valid opening at all.
        is_cut: bool,
    },
}

/// Defects of openings from a file, a line for each.
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

/// Reads an opening file, which may be compressed.
fn read(path: &Path) -> Result<Vec<u8>, OpeningsError> {
    let read = read_regular(path).and_then(unpack);
    read.map_err(|why| OpeningsError::Unreadable { path: path.to_owned(), why })
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
    pub fn in_words(&self) -> Result<String, OpeningsError> {
        match self {
            OpeningSource::Random { plies } => Ok(format!("{plies} random moves")),
            OpeningSource::File(OpeningBook { path, order, plies, start }) => {
                let order = match order {
                    OpeningOrder::File => "file",
                    OpeningOrder::Random => "random",
                };
                let read = read(path)?;
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
    ) -> Result<(Openings, Option<OmittedOpenings>), OpeningsError> {
        let options = serde_json::value::to_raw_value(&set).unwrap_or_default();
        let table = rules.open(&options, seating);
        let table = table.map_err(|error| OpeningsError::Options(with_suggestion(&error)))?;
        let OpeningBook { path, order, plies, start } = match self {
            OpeningSource::File(book) => book,
            &OpeningSource::Random { plies } => {
                let opening = if plies == 0 { Opening::None } else { Opening::Random(plies) };
                return match check(&*table, &opening, &Limits::TODAY) {
                    Ok(()) => Ok((Openings::same(options, opening), None)),
                    Err(why) => Err(OpeningsError::Random { plies, why }),
                };
            }
        };
        let plies = (*plies > 0).then_some(*plies as usize);
        let format = format(rules, path).map_err(|why| OpeningsError::File { path: path.clone(), why })?;
        let given = (format.read)(&read(path)?, plies);
        let mut starts = given.iter().flatten().flat_map(|opening| opening.options.keys());
        if let Some(option) = starts.find(|&option| set.contains_key(option)) {
            return Err(OpeningsError::SetsOption { path: path.clone(), option: option.clone() });
        }
        let list = |flaws| FlawList { path: path.clone(), flaws };
        let given = Openings::given(rules, seating, &set, given, plies);
        let (mut openings, flaws) =
            given.map_err(|flaws| OpeningsError::Flawed { flaws: list(flaws), is_cut: plies.is_some() })?;
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

impl From<OpeningsError> for Wrong {
    fn from(error: OpeningsError) -> Wrong {
        Wrong::of(&error)
    }
}
