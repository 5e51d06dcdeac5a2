//! The options for openings.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::cli::Failure;
use crate::cli::files::{ends_with, read};
use crate::core::chance::Seed;
use crate::core::erased::Rules;
use crate::core::openings::OpeningFile;
use crate::core::{Seating, hex};
use crate::referee::Limits;
use crate::referee::opening::{self, Opening};
use crate::server::Openings;

/// The maximum number of errors of a file that are listed.
const NAMED: usize = 20;

/// The openings of matches.
#[derive(Debug, Args)]
pub(super) struct OpeningOptions {
    /// Start each match with this number of random moves, derived from its seed, in games that have openings
    /// [default: 0, in `regress` 6 for checkers and 4 for jeex]
    #[arg(long, value_name = "N", conflicts_with = "openings", value_parser = clap::value_parser!(u32).range(0..=i64::from(opening::MAX_PLIES)))]
    pub(super) opening_plies: Option<u32>,
    /// Start each match, with --mirror each set, with the next opening of this file; after the last, start again from
    /// the first. `referee rules GAME` describes the formats: .pdn and .fen for checkers, .txt for jeex
    #[arg(long, value_name = "FILE")]
    pub(super) openings: Option<PathBuf>,
    /// The order of the openings; the random order is derived from the run seed
    #[arg(long, value_enum, requires = "openings", default_value_t = Order::File)]
    pub(super) order: Order,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Order {
    #[default]
    File,
    Random,
}

impl OpeningOptions {
    /// Identifies the openings as text: equal texts mean equal openings.
    pub(super) fn in_words(&self, plies: u32) -> Result<String, Failure> {
        let Some(path) = &self.openings else {
            return Ok(format!("{} random moves", self.opening_plies.unwrap_or(plies)));
        };
        let order = match self.order {
            Order::File => "file",
            Order::Random => "random",
        };
        Ok(format!("SHA-256 {}, order {order}", hex::encode(&Sha256::digest(read(path)?))))
    }

    /// Reads and validates the openings of a run. `plies` is the default number of random moves.
    pub(super) fn openings(
        &self,
        rules: &dyn Rules,
        seating: Seating,
        set: Map<String, Value>,
        run: &Seed,
        plies: u32,
    ) -> Result<Openings, Failure> {
        let options = serde_json::value::to_raw_value(&set).map_err(Failure::usage)?;
        let table = rules.open(&options, seating).map_err(Failure::usage)?;
        let Some(path) = &self.openings else {
            let plies = self.opening_plies.unwrap_or(plies);
            let opening = match plies {
                0 => Opening::None,
                plies => Opening::Random(plies),
            };
            opening::check(&*table, &opening, &Limits::TODAY)
                .map_err(|what| Failure::usage(format!("--opening-plies {plies}: {what}")))?;
            return Ok(Openings::same(options, opening));
        };
        let refuse = |what| Err(Failure::usage(format!("--openings {}: {what}", path.display())));
        let format = match format(rules, path) {
            Ok(format) => format,
            Err(what) => return refuse(what),
        };
        let given = (format.read)(&read(path)?);
        let mut starts = given.iter().flatten().flat_map(|opening| opening.options.keys());
        if let Some(option) = starts.find(|&option| set.contains_key(option)) {
            return refuse(format!("its openings set `{option}` themselves: omit --set {option}"));
        }
        match Openings::given(rules, seating, &set, given) {
            Ok(mut openings) => {
                if self.order == Order::Random {
                    openings.shuffle(run);
                }
                Ok(openings)
            }
            Err(flaws) => {
                let more = flaws.len().saturating_sub(NAMED);
                let mut lines: Vec<String> =
                    flaws.iter().take(NAMED).map(|flaw| format!("{}: {flaw}", path.display())).collect();
                if more > 0 {
                    lines.push(format!("and {more} more"));
                }
                Err(Failure::usage(format!("--openings:\n{}", lines.join("\n"))))
            }
        }
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
