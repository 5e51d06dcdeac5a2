//! The results file of `referee regress`, in JSON Lines: first the setup of the run, then one line per complete set. A
//! resumed run whose setup differs, in its programs or in `max_sets`, adds its setup.
//! An interrupted run continues from it, and `referee regress merge` merges those of shards.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use referee_protocol::limits;
use referee_protocol::referee::Clock;
use referee_protocol::words::OnFault;
use serde::{Deserialize, Serialize};
use serde_json::value::to_raw_value;
use serde_json::{Map, Value};

use crate::bot::sandbox::Sandbox;
use crate::cli::Failure;
use crate::cli::files::read;
use crate::cli::options::Hypotheses;
use crate::files::{keep_private, open_regular};
use crate::game::erased::Rules;
use crate::game::{Catalog, Seating, json};
use crate::record::{OtherRules, check_program};
use crate::report::{RegressionSetting, TestedBot};
use crate::runner::{RegressionRun, ResultLine, Roster, Scoring};
use crate::stats::Deals;
use crate::stats::regression::{Regression, Shard, StoppingRules};
use crate::stats::schedule::{Format, MatchId, Plan, Schedule};

/// The version of the format.
const FORMAT: u32 = 2;

/// The setup of a run: the first line of the file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "regress")]
pub(super) struct TestSetup {
    pub(super) format: u32,
    pub(super) game: String,
    pub(super) rules_version: u32,
    /// The program that the rules are, as in records; `None` if they are part of the referee.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) program: Option<Value>,
    pub(super) seats: usize,
    pub(super) new: TestedBot,
    pub(super) base: TestedBot,
    pub(super) options: Map<String, Value>,
    /// The openings, as text.
    pub(super) openings: String,
    pub(super) trust_bots: bool,
    /// `None` in a run of fixed length.
    pub(super) test: Option<Hypotheses>,
    pub(super) max_sets: u32,
    pub(super) max_fault_rate: f64,
    pub(super) recover: bool,
    pub(super) clock: Option<Clock>,
    pub(super) margin_ms: u64,
    pub(super) on_fault: OnFault,
    pub(super) hello_ms: u64,
    pub(super) ready_ms: u64,
    #[serde(default = "later_ready_ms")]
    pub(super) later_ready_ms: u64,
    pub(super) shard: Option<Shard>,
    /// `None` if the bots connect.
    pub(super) sandbox: Option<Sandbox>,
    pub(super) seed: String,
}

fn later_ready_ms() -> u64 {
    limits::READY_MS
}

impl TestSetup {
    pub(super) const FORMAT: u32 = FORMAT;

    /// The rules of the game.
    pub(super) fn rules(&self, catalog: &Catalog) -> Result<&'static dyn Rules, Failure> {
        catalog.find(&self.game).map_err(|unknown| match self.program {
            Some(_) => Failure::usage(OtherRules::NoProgram(self.game.clone())),
            None => Failure::usage(unknown),
        })
    }

    /// Checks that a game has the same rules.
    pub(super) fn check_program(&self, rules: &dyn Rules) -> Result<(), OtherRules> {
        let recorded = self.program.as_ref().and_then(|program| to_raw_value(program).ok());
        check_program(rules, recorded.as_deref())
    }

    /// The teams of the game.
    pub(super) fn seating(&self, catalog: &Catalog) -> Result<Seating, Failure> {
        let rules = self.rules(catalog)?;
        let seats = u8::try_from(self.seats).ok();
        rules.meta().seating(seats).map_err(Failure::usage)
    }

    /// The first option in which another run differs, and how. The options in `but` may differ, and so may the program of
    /// the rules, and the files and commits of the bots.
    pub(super) fn difference(&self, other: &TestSetup, but: &[&str]) -> Option<String> {
        let bare = |bot: &TestedBot| TestedBot { commit: None, files: BTreeMap::new(), ..bot.clone() };
        let value = |setup: &TestSetup| {
            let bots = (bare(&setup.new), bare(&setup.base));
            let bare = TestSetup { program: None, new: bots.0, base: bots.1, ..setup.clone() };
            serde_json::to_value(bare).unwrap_or_default()
        };
        let (one, other) = (value(self), value(other));
        let names = one.as_object()?.keys().filter(|name| !but.contains(&name.as_str()));
        let mut differing = names.filter(|name| one[name.as_str()] != other[name.as_str()]);
        differing.next().map(|name| match name.as_str() {
            "seed" => "another seed".to_owned(),
            name => format!("{name} {}, not {}", one[name], other[name]),
        })
    }

    /// The first file of a bot that differs from another run's, and how.
    pub(super) fn changed_file(&self, earlier: &TestSetup) -> Option<String> {
        let bots = [("new", &self.new, &earlier.new), ("base", &self.base, &earlier.base)];
        bots.into_iter().find_map(|(name, bot, earlier)| {
            bot.changed_file(earlier).map(|what| format!("`{name}` has changed: {what}"))
        })
    }

    /// What the report states of it.
    pub(super) fn setting(self) -> RegressionSetting {
        let TestSetup { game, new, base, clock, sandbox, seed, .. } = self;
        RegressionSetting {
            game,
            new,
            base,
            clock,
            sandbox,
            seed,
            changed: Vec::new(),
            duration: Duration::ZERO,
        }
    }

    /// Restores the schedule and the statistics from the lines of a file. `whole`: those of all shards together.
    pub(super) fn begin(
        &self,
        catalog: &Catalog,
        kept: &[ResultLine],
        whole: bool,
    ) -> Result<(Schedule, RegressionRun), Failure> {
        let (seating, deals) = (self.seating(catalog)?, Deals::Mirrored);
        let rules = self.rules(catalog)?;
        let shard = self.shard.filter(|_| !whole);
        let sprt = self.test.as_ref().filter(|_| shard.is_none()).map(Hypotheses::sprt).transpose()?;
        let sets = shard.map_or(self.max_sets, |shard| shard.count(self.max_sets));
        let terms = StoppingRules { max_fault_rate: self.max_fault_rate, ..StoppingRules::new(sprt, sets) };
        let regression = Regression::new(terms, seating, deals).map_err(Failure::usage)?;
        let plan = Plan::new(Format::Duel { sets: self.max_sets }, seating, deals, 2);
        let legs = deals.legs(seating) as u32;

        let (mut results, mut voids) = (Vec::new(), Vec::new());
        let nonsense = |set: u32| Failure::usage(format!("the results of set {set} do not fit the run"));
        for kept in kept {
            let ResultLine::Set { set, matches } = kept else { continue };
            if matches.len() != legs as usize || shard.is_some_and(|shard| !shard.has(*set)) {
                return Err(nonsense(*set));
            }
            for played in matches {
                let id: Option<MatchId> = played.id().parse().ok();
                let (Some(id), Some(result)) = (id, played.result(*set, seating)) else {
                    return Err(nonsense(*set));
                };
                if played.is_void() {
                    voids.push((id.number, result.lineup));
                } else {
                    results.push((id.number, result));
                }
            }
        }
        if let Some(shard) = shard {
            // Sets of other shards are not played here.
            let all = Schedule::new(plan.clone()).map_err(Failure::usage)?;
            for (set, number) in all.sets().iter().zip(1..).filter(|&(_, number)| !shard.has(number)) {
                let matches =
                    (0..legs).map(|leg| (legs * (number - 1) + leg + 1, deals.leg(set.first, leg as usize)));
                voids.extend(matches);
            }
        }
        let (schedule, refused) = Schedule::resume(plan, results, voids).map_err(Failure::usage)?;
        if let Some(refused) = refused.first() {
            return Err(Failure::usage(refused));
        }

        let roster = Arc::new(Roster::alone(2));
        let scoring = Scoring { seating, legs, on_fault: self.on_fault, roster };
        let can_repeat = !rules.meta().chance;
        let mut running = RegressionRun::new(regression, scoring, can_repeat, self.recover, shard);
        let mut in_order: Vec<&ResultLine> = kept.iter().collect();
        // A crash after the set that decides changes nothing: a run without shards would not have played on.
        in_order.sort_by_key(|kept| kept.set());
        for kept in in_order {
            running.restore(kept).ok_or_else(|| nonsense(kept.set()))?;
        }
        Ok((schedule, running))
    }
}

/// The names of the bots whose files are not the same in all of these.
pub(super) fn changed_bots<'a>(setups: impl Iterator<Item = &'a TestSetup> + Clone) -> Vec<&'static str> {
    type Bot = fn(&TestSetup) -> &TestedBot;
    let bots: [(&str, Bot); 2] = [("new", |setup| &setup.new), ("base", |setup| &setup.base)];
    let has_changed = |bot: Bot| {
        let mut files = setups.clone().map(|setup| &bot(setup).files);
        files.next().is_some_and(|first| files.any(|other| other != first))
    };
    bots.into_iter().filter(|&(_, bot)| has_changed(bot)).map(|(name, _)| name).collect()
}

/// A line after a setup.
#[derive(Serialize, Deserialize)]
struct TimedLine<L> {
    #[serde(flatten)]
    line: L,
    /// How long the run had taken when it was written, in milliseconds, including its earlier parts.
    played_ms: u64,
}

/// The contents of a results file.
pub(super) struct ResultsContents {
    /// The setup of the last part of the run.
    pub(super) setup: TestSetup,
    /// The setups of all parts.
    pub(super) setups: Vec<TestSetup>,
    pub(super) kept: Vec<ResultLine>,
    /// How long the run took up to the last line.
    pub(super) played: Duration,
    /// The size in bytes of the complete lines; a truncated line may follow.
    whole: u64,
}

/// Reads a results file.
pub(super) fn contents(path: &Path) -> Result<ResultsContents, Failure> {
    let bytes = read(path)?;
    let fail = |what: String| Failure::usage(format!("{}: {what}", path.display()));
    let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    let mut lines = bytes[..whole].split_inclusive(|&byte| byte == b'\n');
    let setup = lines.next().and_then(|line| serde_json::from_slice(line).ok());
    let mut setup: TestSetup =
        setup.ok_or_else(|| fail("it is not a results file of `referee regress`".to_owned()))?;
    if setup.format != FORMAT {
        return Err(fail(format!("it has format {}, but this version reads format {FORMAT}", setup.format)));
    }
    let mut setups = vec![setup.clone()];
    let (mut kept, mut played) = (Vec::<ResultLine>::new(), Duration::ZERO);
    for (line, number) in lines.zip(2..) {
        let wrong = |error: serde_json::Error| fail(format!("line {number}: {error}"));
        let is_setup = serde_json::from_slice::<Value>(line).map_err(wrong)?["type"] == "regress";
        if is_setup {
            setup = serde_json::from_slice(line).map_err(wrong)?;
            setups.push(setup.clone());
            continue;
        }
        let timed: TimedLine<ResultLine> = serde_json::from_slice(line).map_err(wrong)?;
        kept.push(timed.line);
        played = played.max(Duration::from_millis(timed.played_ms));
    }
    let mut sets: Vec<u32> =
        kept.iter().filter(|kept| matches!(kept, ResultLine::Set { .. })).map(ResultLine::set).collect();
    sets.sort_unstable();
    if let Some(twice) = sets.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(fail(format!("duplicate set {}", twice[0])));
    }
    Ok(ResultsContents { setup, setups, kept, played, whole: whole as u64 })
}

/// A results file that is being written.
pub(super) struct ResultsFile {
    file: File,
    path: PathBuf,
}

impl ResultsFile {
    /// Creates a new file.
    pub(super) fn create(path: &Path, setup: &TestSetup) -> Result<ResultsFile, Failure> {
        let file = open_regular(path, OpenOptions::new().append(true).create_new(true).mode(0o600));
        let file =
            file.map_err(|error| Failure::cannot_run(format!("--results {}: {error}", path.display())))?;
        let mut results = ResultsFile::locked(file, path)?;
        results.line(setup)?;
        Ok(results)
    }

    /// Continues a file; removes a truncated line at its end, and adds the setup if it differs from the last one.
    pub(super) fn append(
        path: &Path,
        contents: &ResultsContents,
        setup: &TestSetup,
    ) -> Result<ResultsFile, Failure> {
        let file = open_regular(path, OpenOptions::new().append(true));
        let file =
            file.map_err(|error| Failure::cannot_run(format!("--results {}: {error}", path.display())))?;
        let mut results = ResultsFile::locked(file, path)?;
        results.file.set_len(contents.whole).map_err(|error| results.fails(&error))?;
        if *setup != contents.setup {
            results.line(setup)?;
        }
        Ok(results)
    }

    /// Locks the file: only one process may write to it. The lock ends with the process.
    fn locked(file: File, path: &Path) -> Result<ResultsFile, Failure> {
        // It contains the seed.
        keep_private(path);
        let results = ResultsFile { file, path: path.to_owned() };
        match results.file.try_lock() {
            Ok(()) => Ok(results),
            Err(TryLockError::WouldBlock) => {
                Err(Failure::usage(format!("--results {}: another run is writing to it", path.display())))
            }
            Err(TryLockError::Error(error)) => Err(results.fails(&error)),
        }
    }

    fn fails(&self, error: &io::Error) -> Failure {
        Failure::cannot_run(format!("--results {}: {error}", self.path.display()))
    }

    fn line(&mut self, line: &impl Serialize) -> Result<(), Failure> {
        let text = format!("{}\n", json::text(line));
        self.file.write_all(text.as_bytes()).map_err(|error| self.fails(&error))
    }

    /// Appends a line. `played` is how long the run has taken, including its earlier parts.
    pub(super) fn keep(&mut self, kept: &ResultLine, played: Duration) -> Result<(), Failure> {
        self.line(&TimedLine { line: kept, played_ms: played.as_millis() as u64 })
    }
}
