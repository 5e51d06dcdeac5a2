//! Checks a game whose rules are a program, for its author.

mod imagined;
mod moves;
#[cfg(feature = "validate")]
mod schemas;
mod secrets;

use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::time::Instant;

use crate::check::moves::any_move;
#[cfg(feature = "validate")]
use crate::check::schemas::GameSchemas;
use crate::load::{ReadGame, read};
use crate::{Carrier, MOST_STEPS, ProgramRules, Restarts};
use referee_bots::Launch;
use referee_game::chance::{RandomKey, RandomStream, Uniform};
use referee_game::erased::{Rules, RulesError, RulesFailed, RulesWait, Table};
use referee_game::excerpt::excerpt;
use referee_game::notation::{MatchTags, Sheet, SheetDraw};
use referee_game::seat::{MAX_SEATS, Seating, Viewer};
use referee_game::{Chain, Turn, Wrong, counted};

/// The maximum number of requests that are repeated.
const MOST_REPEATED: usize = 500;
/// The maximum number of positions that are shown to every viewer.
const MOST_SHOWN: usize = 100;
/// The maximum number of matches that are written in each notation.
const MOST_EXPORTED: usize = 20;
/// The names of the seats in them, with characters that notations escape.
const NAMES: [&str; MAX_SEATS] = ["a \"b\"", "c]d\\", "{e}; f", "gr\u{fc}n", "", "f"];
/// The characters of a request or an answer that a failure quotes.
const QUOTED: usize = 1000;

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename = "step")]
pub struct GameStep {
    /// `manifest`, `start`, `matches`, `schema`, `moves`, `check`, `show`, `export`, `secrets`, `imagine` or `purity`.
    pub name: &'static str,
    pub ok: bool,
    /// The subject of the check, or the defect.
    pub what: String,
    /// The section of the page `games` of the specification that it checks.
    pub section: &'static str,
}

/// Statistics of random matches of a game.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename = "figures")]
pub struct GameFigures {
    pub matches: u32,
    /// Decisions and draws per match.
    pub length: f64,
    /// Legal moves per decision of a seat.
    pub branching: f64,
    /// The mean score of each seat of the default seating.
    pub scores: Vec<f64>,
    /// The number of random matches per second.
    pub matches_per_second: f64,
    /// The mean time until an answer, in microseconds.
    pub answer_us: f64,
    /// The longest time until an answer, in milliseconds. The first one includes the start of the program.
    pub slowest_answer_ms: f64,
    /// The mean size of an answer, in bytes.
    pub answer_bytes: f64,
    /// The size of the largest answer, in bytes.
    pub most_answer_bytes: usize,
}

/// Passes requests on, and keeps requests and answers.
#[derive(Clone, Debug)]
struct Witness(Arc<Witnessed>);

#[derive(Debug)]
struct Witnessed {
    carrier: Box<dyn Carrier>,
    kept: Mutex<KeptAnswers>,
}

#[derive(Debug, Default)]
struct KeptAnswers {
    /// Requests and their answers.
    answered: Vec<(Vec<u8>, Vec<u8>)>,
    latest: Vec<u8>,
    /// The number of answers, and their sums.
    count: u32,
    took: Duration,
    bytes: usize,
    slowest: Duration,
    most_answer_bytes: usize,
}

impl Witness {
    fn kept(&self) -> MutexGuard<'_, KeptAnswers> {
        self.0.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A failure with the request that led to it.
    fn failure(&self, what: impl Display) -> Wrong {
        failure(what, &self.kept().latest)
    }
}

fn failure(what: impl Display, request: &[u8]) -> Wrong {
    format!("{what}; the request was {}", quote(request)).into()
}

/// The beginning of a request or an answer.
fn quote(bytes: &[u8]) -> String {
    excerpt(&String::from_utf8_lossy(bytes), QUOTED).into_owned()
}

impl Carrier for Witness {
    fn wait(&self) -> RulesWait {
        self.0.carrier.wait()
    }

    fn ask(
        &self,
        request: &[u8],
        accept: &mut dyn FnMut(&[u8]) -> Result<(), Wrong>,
    ) -> Result<Restarts, RulesFailed> {
        self.kept().latest = request.to_owned();
        let mut answer = Vec::new();
        let began = Instant::now();
        let restarts = self.0.carrier.ask(request, &mut |bytes| {
            answer = bytes.to_owned();
            accept(bytes)
        })?;
        check_restarts(&restarts)?;
        let took = began.elapsed();
        let mut kept = self.kept();
        kept.count += 1;
        kept.took += took;
        kept.bytes += answer.len();
        kept.slowest = kept.slowest.max(took);
        kept.most_answer_bytes = kept.most_answer_bytes.max(answer.len());
        if kept.answered.len() < MOST_REPEATED {
            kept.answered.push((request.to_owned(), answer));
        }
        Ok(restarts)
    }
}

/// Random matches of a game.
struct RandomMatches<'a> {
    /// The moves of the manifest, for decisions without a list.
    samples: &'a [String],
    #[cfg(feature = "validate")]
    schemas: GameSchemas,
    matches: u32,
    /// The number of matches that ended at a decision in which no sample is legal.
    unlisted: u32,
    steps: usize,
    decisions: usize,
    moves: usize,
    /// The sums of the scores of the default seating.
    scores: [f64; MAX_SEATS],
    positions: Vec<(Box<dyn Table>, Seating)>,
    sheets: Vec<Sheet>,
}

impl RandomMatches<'_> {
    fn play(
        &mut self,
        mut table: Box<dyn Table>,
        seating: Seating,
        is_default: bool,
        rng: &mut RandomStream,
    ) -> Result<(), RulesFailed> {
        let mut drawn = Vec::new();
        let mut sheet = Sheet {
            match_id: format!("m{}", self.sheets.len() + 1),
            names: NAMES.iter().take(seating.seats()).map(|&name| name.to_owned()).collect(),
            options: table.options().to_owned(),
            moves: Vec::new(),
            seats: Vec::new(),
            draws: Vec::new(),
            notes: Vec::new(),
            clocks: Vec::new(),
            ranks: None,
            ended: "aborted (aborted)".to_owned(),
            tags: MatchTags::default(),
        };
        for step in 0..=MOST_STEPS {
            if self.positions.len() < MOST_SHOWN && (step == 0 || rng.uniform(5) == 0) {
                self.positions.push((table.fork(), seating));
            }
            #[cfg(feature = "validate")]
            self.schemas.compare(&mut *table, seating);
            table.forget();
            match table.ask() {
                Turn::Decide(decision) => {
                    let mut indices = Vec::new();
                    for seat in decision.seats().iter() {
                        if table.lists(&decision, seat) {
                            self.decisions += 1;
                            self.moves += table.count(&decision, seat);
                        }
                        indices.extend(any_move(&mut *table, &decision, seat, self.samples, rng)?);
                    }
                    if indices.len() < decision.seats().len() {
                        self.unlisted += 1;
                        self.positions.push((table, seating));
                        self.keep(sheet);
                        return Ok(());
                    }
                    for (seat, &index) in decision.seats().iter().zip(&indices) {
                        sheet.seats.push(seat);
                        sheet.moves.push(table.text(&decision, seat, index).to_owned());
                    }
                    table.play(decision, &indices)?;
                }
                Turn::Draw(draw) => {
                    rng.draw(draw, &mut drawn);
                    sheet.draws.push(SheetDraw { after: sheet.moves.len(), drawn: drawn.clone() });
                    table.settle(&drawn)?;
                }
                Turn::Over(outcome) => {
                    self.keep(sheet.clone());
                    sheet.ranks = Some(outcome.ranks_and_scores(seating).0);
                    sheet.ended = format!("rules ({})", outcome.reason);
                    self.keep(sheet);
                    self.matches += 1;
                    self.steps += step as usize;
                    if is_default {
                        let (_, scores) = outcome.ranks_and_scores(seating);
                        self.scores.iter_mut().zip(scores).for_each(|(sum, score)| *sum += score);
                    }
                    self.positions.push((table, seating));
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    fn keep(&mut self, sheet: Sheet) {
        if self.sheets.len() < MOST_EXPORTED {
            self.sheets.push(sheet);
        }
    }

    /// Writes the matches in every notation.
    fn export(&self, rules: &ProgramRules, witness: &Witness) -> Result<String, Wrong> {
        let notations = rules.notations();
        for notation in &notations {
            for sheet in &self.sheets {
                let mut text = String::new();
                let form = notation.name();
                match notation.write(sheet, &mut text) {
                    Err(RulesError::RulesFailed(failed)) => return Err(witness.failure(failed)),
                    Err(what) => return Err(format!("{form}: {}", Chain(&what)).into()),
                    Ok(()) if text.trim().is_empty() => return Err(format!("{form}: `text` is empty").into()),
                    Ok(()) => {}
                }
            }
        }
        let names: Vec<&str> = notations.iter().map(|notation| notation.name()).collect();
        Ok(format!("{} as {}", counted(self.sheets.len(), "match", "matches"), names.join(" and as ")))
    }

    /// Says how many matches ended, and why the others did not.
    fn ends(&self) -> String {
        let to_the_end = format!("{} to the end", counted(self.matches, "random match", "random matches"));
        match self.unlisted {
            0 => to_the_end,
            _ => format!(
                "{to_the_end}, {} up to a decision without `legal` for which `sample_moves` has no move",
                self.unlisted
            ),
        }
    }

    /// Shows the positions to every viewer.
    fn show(&self, witness: &Witness) -> Result<String, Wrong> {
        // Matches with other seats may have scenes of another size.
        let mut sizes = BTreeMap::new();
        for (table, seating) in &self.positions {
            for viewer in seating.all().iter().map(Viewer::Seat).chain([Viewer::Public, Viewer::Omniscient]) {
                table.view(viewer).map_err(|failed| witness.failure(failed))?;
                let scene = table.scene(viewer);
                let now = (scene.width, scene.height);
                let first = *sizes.entry(seating.seats()).or_insert(now);
                if first != now {
                    return Err(format!(
                        "`scene`: it is {} by {} and another one {} by {}; all have the same size",
                        now.0, now.1, first.0, first.1
                    )
                    .into());
                }
            }
        }
        Ok(format!("{} as every viewer sees them", counted(self.positions.len(), "position", "positions")))
    }
}

/// Checks a game with these options and this number of random matches of each seating, and calls `on_step`
/// after each step. Ends after the first step that fails; otherwise returns the figures of the matches.
pub fn check(
    directory: &Path,
    launch: &Launch,
    options: &RawValue,
    matches: u32,
    mut on_step: impl FnMut(&GameStep),
) -> Option<GameFigures> {
    let mut step = |name, section, result: Result<String, Wrong>| {
        let ok = result.is_ok();
        let what = result.unwrap_or_else(|failure| Chain(&failure).to_string());
        on_step(&GameStep { name, ok, what, section });
        ok.then_some(())
    };
    let (about, game) = match read(directory, launch) {
        Ok(game) => (Ok(format!("{}, version {}", game.manifest.title, game.manifest.version)), Some(game)),
        Err(why) => (Err(Chain(&why).to_string().into()), None),
    };
    step("manifest", "the-directory", about)?;
    let ReadGame { manifest, page, schema, description, carrier, .. } = game?;
    let witness = Witness(Arc::new(Witnessed { carrier, kept: Mutex::default() }));
    let rules = ProgramRules::new(&manifest, &page, schema, description, Box::new(witness.clone()));
    let seatings = manifest.seatings();
    let opened = seatings.iter().try_for_each(|&seating| rules.open(options, seating).map(drop));
    let with = if options.get() == "{}" {
        "the default options".to_owned()
    } else {
        format!("the options {options}")
    };
    let what = format!("{} with {with}", counted(seatings.len(), "seating", "seatings"));
    step("start", "requests-and-answers", opened.map(|()| what).map_err(|error| witness.failure(error)))?;

    let mut rng = RandomKey([1; 32]).stream();
    #[cfg(feature = "validate")]
    let schemas = match GameSchemas::new(&rules.schema()) {
        Ok(schemas) => schemas,
        Err(invalid) => {
            step("schema", "the-directory", Err(invalid))?;
            return None;
        }
    };
    let samples = &manifest.sample_moves[..];
    let mut played = RandomMatches {
        samples,
        #[cfg(feature = "validate")]
        schemas,
        matches: 0,
        unlisted: 0,
        steps: 0,
        decisions: 0,
        moves: 0,
        scores: [0.0; MAX_SEATS],
        positions: Vec::new(),
        sheets: Vec::new(),
    };
    let began = Instant::now();
    let result = seatings.iter().try_for_each(|&seating| {
        (0..matches).try_for_each(|_| {
            let table = rules.open(options, seating).map_err(|error| witness.failure(error))?;
            let is_default = seating == seatings[0];
            played.play(table, seating, is_default, &mut rng).map_err(|failed| witness.failure(failed))
        })
    });
    let took = began.elapsed();
    step("matches", "positions", result.map(|()| played.ends()))?;
    #[cfg(feature = "validate")]
    {
        let GameSchemas { compared, differs, .. } = &mut played.schemas;
        let compared = counted(*compared, "view, move or event is", "views, moves and events are");
        let what = format!("{compared} as the schemas say");
        step("schema", "the-directory", differs.take().map_or(Ok(what), |differs| Err(differs.into())))?;
    }
    step("moves", "positions", moves::legal(&played.positions, samples, &mut rng, &witness))?;
    if manifest.check {
        let checked = moves::unlisted(&played.positions, samples, &mut rng, &witness);
        step("check", "moves-that-nobody-can-list", checked)?;
    }

    step("show", "what-people-see", played.show(&witness))?;
    if !manifest.export.is_empty() {
        step("export", "notations", played.export(&rules, &witness))?;
    }
    if manifest.hidden {
        step("secrets", "events", secrets::check(&played.positions, samples, &mut rng, &witness))?;
    }
    if manifest.imagine {
        let imagined = imagined::check(&rules, options, &played.positions, &mut rng, &witness);
        step("imagine", "imagined-positions", imagined)?;
    }

    let other = read(directory, launch).map_err(|error| Chain(&error).to_string().into());
    let purity = other.and_then(|other| purity(&witness, &*other.carrier, &mut rng));
    step("purity", "requests-and-answers", purity)?;

    let per = |sum: usize, count: usize| sum as f64 / count.max(1) as f64;
    let scores = &played.scores[..seatings[0].seats()];
    let kept = witness.kept();
    let count = kept.count as usize;
    Some(GameFigures {
        matches: played.matches,
        length: per(played.steps, played.matches as usize),
        branching: per(played.moves, played.decisions),
        scores: scores.iter().map(|sum| sum / f64::from(matches.max(1))).collect(),
        matches_per_second: f64::from(played.matches) / took.as_secs_f64(),
        answer_us: 1e6 * kept.took.as_secs_f64() / f64::from(kept.count.max(1)),
        slowest_answer_ms: 1e3 * kept.slowest.as_secs_f64(),
        answer_bytes: per(kept.bytes, count),
        most_answer_bytes: kept.most_answer_bytes,
    })
}

/// Checks that no process failed before another one answered, other than by a late answer. A match only counts them.
fn check_restarts(restarts: &Restarts) -> Result<(), RulesFailed> {
    match &restarts.failure {
        None => Ok(()),
        Some(why) => Err(RulesFailed::Because(format!("{why}; another process has answered").into())),
    }
}

/// Repeats requests in another order, with the same carrier and with another one. The answers must be the same JSON.
fn purity(witness: &Witness, other: &dyn Carrier, rng: &mut RandomStream) -> Result<String, Wrong> {
    let mut answered = std::mem::take(&mut witness.kept().answered);
    rng.shuffle(&mut answered);
    for (request, expected) in &answered {
        for carrier in [other, &*witness.0.carrier] {
            let mut again = Vec::new();
            let asked = carrier.ask(request, &mut |answer| {
                again = answer.to_owned();
                Ok(())
            });
            let failure = |failed: RulesFailed| failure(failed, request);
            asked.and_then(|restarts| check_restarts(&restarts)).map_err(failure)?;
            // The order of keys is no part of JSON.
            let value = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).ok();
            if again != *expected && value(&again) != value(expected) {
                let [request, expected, again] = [request, expected, &again].map(|bytes| quote(bytes));
                return Err(
                    format!("the request {request} got the answer {expected}, and later {again}").into()
                );
            }
        }
    }
    let requests = counted(answered.len(), "request", "requests");
    Ok(format!("{requests} in another order, with two instances of the program: the same answers"))
}
