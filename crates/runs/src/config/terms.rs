//! The terms of matches.

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::{Mutex, PoisonError};

use clap::Args;
use clap::builder::TypedValueParser as _;
use referee_engine::driver::Terms;
use referee_files::TableFolder;
use referee_game::erased::Rules;
use referee_game::{Catalog, Meta, Seating, SettingNames, Wrong};
use referee_match::{Adjudication, DrawRule, ResignRule, SyzygyRule, check_policy};
use referee_protocol::limits;
use referee_protocol::referee::Clock;
use referee_protocol::words::OnFault;
use serde::{Deserialize, Serialize};
use toml::Table;

use super::shared::SharedKeys;
use super::{ClockLimits, Milliseconds, ReadyLimits, Setting};

#[derive(Clone, Debug, Serialize, Deserialize, Args)]
#[serde(default, deny_unknown_fields)]
pub struct TermsConfig {
    /// The clock of each bot: `none`, or a list of delay=TIME (free for every move), bank=TIME (for time beyond the
    /// delay), increment=TIME (added after a move); tc=10+0.1 is bank=10s,increment=100ms
    #[arg(long, value_name = "CLOCK", default_value_t = TermsConfig::default().clock)]
    pub clock: Setting<ClockLimits>,
    /// Grace period beyond the limit; still deducted from the bank
    #[arg(long, value_name = "TIME", default_value_t = TermsConfig::default().margin)]
    margin: Setting<Milliseconds>,
    /// The fault policy: forfeit, retry=N or random
    #[arg(long, value_name = "POLICY", default_value_t = OnFault::Forfeit)]
    pub on_fault: OnFault,
    /// A match is void, and played again, if a bot says that what chooses its moves cannot be reached, such as the server of
    /// a language model; otherwise that is a fault
    #[arg(long)]
    trust_outages: bool,
    #[command(flatten)]
    #[serde(rename = "{adjudication}", skip_serializing)]
    pub adjudication: AdjudicationConfig,
    /// The time limit from the start of a bot to its `hello`
    #[arg(long, value_name = "TIME", default_value_t = TermsConfig::default().hello_limit)]
    hello_limit: Setting<Milliseconds>,
    /// The time limits of the first `ready`, in which a bot may load data, and of later ones [default of LATER: 5s, but at
    /// most FIRST]
    #[arg(long, visible_alias = "ready", value_name = "FIRST[,LATER]", default_value_t = TermsConfig::default().ready_limit)]
    ready_limit: Setting<ReadyLimits>,
}

impl Default for TermsConfig {
    fn default() -> Self {
        let clock = Clock { delay_ms: 5_000, bank_ms: 60_000, increment_ms: 0 };
        let ready = ReadyLimits { first_ms: limits::FIRST_READY_MS, later_ms: limits::READY_MS };
        TermsConfig {
            clock: Setting::written("delay=5s,bank=60s", ClockLimits(Some(clock))),
            margin: Milliseconds(limits::MARGIN_MS).into(),
            on_fault: OnFault::default(),
            trust_outages: false,
            adjudication: AdjudicationConfig::default(),
            hello_limit: Setting::written("10s", Milliseconds(limits::HELLO_MS)),
            ready_limit: Setting::written("60s", ready),
        }
    }
}

/// The rules by which the referee ends matches.
#[derive(Clone, Debug, Default, Serialize, Deserialize, Args)]
#[serde(default, deny_unknown_fields)]
#[command(next_help_heading = "Adjudication")]
pub struct AdjudicationConfig {
    /// A side loses when its bot states a score of at most -N, and the bot of the other side one of at least N, for so many moves
    /// in a row each; with `one-sided` the loser's scores suffice: score=N,moves=N[,one-sided]. For two sides; `score` is that
    /// of `info`, in chess centipawns
    #[arg(long, value_name = "RULE")]
    #[serde(skip_serializing_if = "Option::is_none")]
    resign: Option<Setting<ResignRule>>,
    /// A draw when both bots state scores from -N to N for so many moves in a row each, once each side has made so many moves
    /// after the opening: score=N,moves=N[,after=N]
    #[arg(long, value_name = "RULE")]
    #[serde(skip_serializing_if = "Option::is_none")]
    draw: Option<Setting<DrawRule>>,
    /// A draw when each side has made so many moves after the opening
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000).try_map(NonZeroU32::try_from))]
    #[serde(skip_serializing_if = "Option::is_none")]
    max_moves: Option<NonZeroU32>,
    /// A directory of Syzygy tables of chess, KQvK.rtbw and so on: after a capture or a move of a pawn, the result that they give the
    /// position ends the match
    #[arg(long, value_name = "DIR")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) syzygy: Option<PathBuf>,
}

impl TermsConfig {
    /// Returns the keys of files.
    pub(crate) fn keys() -> [SharedKeys; 2] {
        [SharedKeys::of::<AdjudicationConfig>("{adjudication}"), SharedKeys::of::<TermsConfig>("{terms}")]
    }

    /// Writes the keys with their values.
    pub(crate) fn to_table(&self) -> Result<Table, toml::ser::Error> {
        let mut table = Table::try_from(self)?;
        table.extend(Table::try_from(&self.adjudication)?);
        Ok(table)
    }

    /// Returns the terms of matches, without tables of endgames.
    pub fn terms(&self) -> Terms {
        let AdjudicationConfig { resign, draw, max_moves, syzygy: _ } = &self.adjudication;
        Terms {
            clock: self.clock.0,
            margin_ms: self.margin.0,
            on_fault: self.on_fault,
            hello_ms: self.hello_limit.0,
            first_ready_ms: self.ready_limit.first_ms,
            later_ready_ms: self.ready_limit.later_ms,
            trust_outages: self.trust_outages,
            adjudication: Adjudication {
                resign: resign.as_deref().copied(),
                draw: draw.as_deref().copied(),
                max_moves: max_moves.map(NonZeroU32::get),
                syzygy: None,
            },
        }
    }

    /// Returns the terms of matches of a game, and its rules, which have the tables of endgames then. `resolve` finds their directory.
    ///
    /// # Errors
    /// If the game cannot be played on such terms, or its tables cannot be read.
    pub fn of_game(
        &self,
        mut rules: &'static dyn Rules,
        seating: Seating,
        resolve: impl Fn(&Path) -> PathBuf,
        names: SettingNames,
    ) -> Result<(&'static dyn Rules, Terms), Wrong> {
        let mut terms = self.terms();
        if let Some(directory) = &self.adjudication.syzygy {
            rules = with_syzygy(rules, &resolve(directory), names)?;
            let pieces = rules.endgame_pieces().unwrap_or_default();
            terms.adjudication.syzygy = Some(SyzygyRule { pieces });
        }
        terms.adjudication.check(rules.meta(), seating)?;
        check_policy(rules.meta(), terms.on_fault)?;
        Ok((rules, terms))
    }
}

/// Rules with the tables of a directory, which stay in memory until the program ends.
struct OpenedTables {
    game: &'static Meta,
    files: TableFolder,
    rules: &'static dyn Rules,
}

static OPENED: Mutex<Vec<OpenedTables>> = Mutex::new(Vec::new());

/// Opens the Syzygy tables in a directory for a game, whose rules then have them. A directory that has not changed since is not
/// opened again.
fn with_syzygy(
    rules: &'static dyn Rules,
    directory: &Path,
    names: SettingNames,
) -> Result<&'static dyn Rules, Wrong> {
    let at = |why: Wrong| Wrong::at(format!("{} {}", names("syzygy", None), directory.display()), why);
    let files = TableFolder::open(directory).map_err(|why| at(why.into()))?;
    let game = rules.meta();
    let mut all = OPENED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = all.iter().find(|known| ptr::eq(known.game, game) && known.files == files) {
        return Ok(known.rules);
    }
    let rules = rules
        .with_endgames(Box::new(files.clone()))
        .unwrap_or_else(|| Err(Wrong::from(format!("{} has no Syzygy tables; only chess has", game.id))));
    let rules = rules.map_err(at)?;
    all.push(OpenedTables { game, files, rules });
    Ok(rules)
}

/// Opens the Syzygy tables in a directory for chess, as matches and records of this catalog need them.
///
/// # Errors
/// If they cannot be read.
pub fn add_syzygy(catalog: &mut Catalog, directory: &Path, names: SettingNames) -> Result<(), Wrong> {
    catalog.replace(with_syzygy(catalog.find("chess")?, directory, names)?);
    Ok(())
}
