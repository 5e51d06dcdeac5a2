//! The rules of a program, as `referee-game` has them.

use std::fmt::Debug;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use referee_game::chance::Uniform;
use referee_game::disguise::Vocabulary;
use referee_game::erased::{Knowledge, Rules, RulesError, RulesFailed, RulesWait, Table};
use referee_game::excerpt::excerpt;
use referee_game::notation::Notation;
use referee_game::openings::{LINES, OpeningFile};
use referee_game::seat::{Seat, Seating, Viewer};
use referee_game::{Meta, OptionMeta, Turn, Wrong};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};

use crate::answer::{self, CheckAnswer, ExportAnswer, OptionsAnswer, ViewAnswer};
use crate::cache::AnswerCache;
use crate::notation::ProgramNotation;
use crate::position::{self, Position, wrong_unit};
use crate::request::RulesRequest;
use crate::shown::{self, Shown};
use crate::table::ProgramTable;
use crate::{Carrier, Manifest};

/// The characters of a reason against a move, options or a view that are passed on.
const QUOTED: usize = 400;
/// The number of random numbers that a program gets for an imagined position.
const RANDOM_NUMBERS: usize = 64;

/// The rules of a game that is a program.
#[derive(Debug)]
pub struct ProgramRules(Arc<SharedProgram>, Vec<ProgramNotation>);

/// The state that the tables of a game share.
#[derive(Debug)]
pub(crate) struct SharedProgram {
    pub(crate) meta: &'static Meta,
    reasons: Vec<&'static str>,
    forms: Vec<&'static str>,
    imagines: bool,
    vocabulary: Option<Vocabulary>,
    defaults: Box<RawValue>,
    schema: Map<String, Value>,
    description: Box<RawValue>,
    carrier: Box<dyn Carrier>,
    starts: Mutex<AnswerCache<Arc<Start>>>,
    positions: Mutex<AnswerCache<Arc<Position>>>,
    checked: Mutex<AnswerCache<Arc<MoveCheck>>>,
    shown: Mutex<AnswerCache<Arc<Shown>>>,
}

/// The answer to `start`.
#[derive(Debug)]
enum Start {
    Opened(Arc<Position>),
    /// The options contradict each other or the seats: why.
    Refused(String),
}

/// The answer to `check`: why the move is refused, if it is.
pub(crate) type MoveCheck = Option<String>;

fn leak(text: &str) -> &'static str {
    Box::leak(text.to_owned().into_boxed_str())
}

fn raw(value: &impl serde::Serialize) -> Box<RawValue> {
    to_raw_value(value).unwrap_or_else(|error| unreachable!("values have string keys: {error}"))
}

fn lock<V>(cache: &Mutex<AnswerCache<V>>) -> MutexGuard<'_, AnswerCache<V>> {
    // A cache is consistent between any two of its operations.
    cache.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ProgramRules {
    /// The rules of a program. `page` is the rules page, in Markdown; `schema` has definitions of JSON Schema; `description` identifies the program in records. The
    /// description of the game is never freed: a process loads a game once.
    pub fn new(
        manifest: &Manifest,
        page: &str,
        schema: Map<String, Value>,
        description: Box<RawValue>,
        carrier: Box<dyn Carrier>,
    ) -> ProgramRules {
        let options = manifest.options.iter().map(|(name, option)| OptionMeta {
            name: leak(name),
            help: leak(&format!("{} [default: {}]", option.help.trim(), option.default)),
        });
        let meta = Meta {
            id: leak(&manifest.id),
            title: leak(&manifest.title),
            rules_version: manifest.version,
            seatings: Vec::leak(manifest.seatings()),
            hidden: manifest.hidden,
            chance: manifest.chance,
            simultaneous: manifest.simultaneous,
            draws_by_agreement: manifest.draws_by_agreement,
            lists_moves: !manifest.check,
            openings: manifest.openings,
            amounts: manifest.amounts.as_deref().map(leak),
            options: Vec::leak(options.collect()),
            reasons: &[],
            rules: leak(page),
        };
        ProgramRules::of(SharedProgram {
            meta: Box::leak(Box::new(meta)),
            reasons: manifest.reasons.iter().map(|reason| leak(reason)).collect(),
            forms: manifest.export.iter().map(|form| leak(form)).collect(),
            imagines: manifest.imagine,
            vocabulary: manifest.disguise.clone(),
            defaults: raw(&manifest.defaults()),
            schema,
            description,
            carrier,
            starts: Mutex::default(),
            positions: Mutex::default(),
            checked: Mutex::default(),
            shown: Mutex::default(),
        })
    }

    /// The same game with another carrier, without the answers that were given before.
    #[must_use]
    pub fn with_carrier(&self, carrier: Box<dyn Carrier>) -> ProgramRules {
        let SharedProgram {
            meta, reasons, forms, imagines, vocabulary, defaults, schema, description, ..
        } = &*self.0;
        ProgramRules::of(SharedProgram {
            meta,
            reasons: reasons.clone(),
            forms: forms.clone(),
            imagines: *imagines,
            vocabulary: vocabulary.clone(),
            defaults: defaults.clone(),
            schema: schema.clone(),
            description: description.clone(),
            carrier,
            starts: Mutex::default(),
            positions: Mutex::default(),
            checked: Mutex::default(),
            shown: Mutex::default(),
        })
    }

    fn of(program: SharedProgram) -> ProgramRules {
        let program = Arc::new(program);
        let notation = |&form| ProgramNotation { program: program.clone(), form };
        let notations = program.forms.iter().map(notation).collect();
        ProgramRules(program, notations)
    }

    /// Fills in the defaults.
    fn complete(&self, options: &RawValue) -> Result<Box<RawValue>, Wrong> {
        let id = self.0.meta.id;
        let wrong = |what: String| Wrong::from(format!("options of {id}: {what}"));
        let Ok(Value::Object(given)) = serde_json::from_str(options.get()) else {
            return Err(wrong("expected a JSON object".to_owned()));
        };
        let Ok(Value::Object(mut complete)) = serde_json::from_str(self.0.defaults.get()) else {
            unreachable!("the defaults are an object")
        };
        for (name, value) in given {
            let names = self.0.meta.options.iter().map(|option| option.name).collect::<Vec<_>>().join("`, `");
            match complete.get_mut(&name) {
                Some(_) if value.to_string().len() > 1024 => {
                    return Err(wrong(format!("`{name}` is too long")));
                }
                Some(default) if kind(default) != kind(&value) => {
                    return Err(wrong(format!("`{name}` is {value}; expected {}", kind(default))));
                }
                Some(default) => *default = value,
                None if names.is_empty() => {
                    return Err(wrong(format!("unknown option `{name}`; there are none")));
                }
                None => return Err(wrong(format!("unknown option `{name}`; expected `{names}`"))),
            }
        }
        Ok(raw(&complete))
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

const EARLY_EVENTS: Wrong = Wrong::new("`events`: nothing has happened before this position");

impl SharedProgram {
    /// Asks, and reads the answer with `read`, unless a cache has the value by this key. Counts the restarts
    /// that it took.
    fn ask<T>(
        &self,
        restarts: &AtomicU32,
        cache: &Mutex<AnswerCache<Arc<T>>>,
        key: &[u8],
        request: &[u8],
        read: impl Fn(&[u8]) -> Result<T, Wrong>,
    ) -> Result<Arc<T>, RulesFailed> {
        if let Some(known) = lock(cache).get(key) {
            return Ok(known);
        }
        let mut accepted = None;
        let asked = self.carrier.ask(request, &mut |answer| {
            let answer = answer::line(answer)?;
            let value = read(answer)?;
            answer::check_portable(answer)?;
            accepted = Some((Arc::new(value), answer.len()));
            Ok(())
        })?;
        restarts.fetch_add(asked.count, Ordering::Relaxed);
        let (value, length) = accepted.ok_or_else(|| RulesFailed::Because("no answer".into()))?;
        lock(cache).insert(key, value.clone(), length);
        Ok(value)
    }

    pub(crate) fn position(
        &self,
        restarts: &AtomicU32,
        request: RulesRequest<'_>,
        seating: Seating,
    ) -> Result<Arc<Position>, RulesFailed> {
        let line = request.line();
        // Validity depends on the seating.
        let key = [&line[..], &[seating.seats() as u8, seating.sides() as u8]].concat();
        self.ask(restarts, &self.positions, &key, &line, |answer| {
            position::read(answer, self.meta, &self.reasons, seating)
        })
    }

    /// Asks whether a move that is not listed is legal.
    pub(crate) fn check(
        &self,
        restarts: &AtomicU32,
        state: &RawValue,
        seat: Seat,
        mv: &str,
    ) -> Result<Arc<MoveCheck>, RulesFailed> {
        let line = RulesRequest::Check { state, seat, r#move: mv }.line();
        self.ask(restarts, &self.checked, &line, &line, |answer| match serde_json::from_slice(answer)? {
            CheckAnswer { ok: true, bad_move: None } => Ok(None),
            CheckAnswer { ok: false, bad_move: Some(why) } => Ok(Some(excerpt(&why, QUOTED).into_owned())),
            CheckAnswer { .. } => Err(Wrong::new("expected `{\"ok\":true}`, or `{\"bad_move\":\"why\"}`")),
        })
    }

    /// Asks for a position as a viewer sees it.
    pub(crate) fn shown(&self, state: &RawValue, viewer: Viewer) -> Result<Arc<Shown>, RulesFailed> {
        // Without hidden information, everyone sees the same.
        let viewer = if self.meta.hidden { viewer } else { Viewer::Omniscient };
        let line = RulesRequest::Show { state, viewer }.line();
        // Restarts for the display do not count for the match.
        self.ask(&AtomicU32::default(), &self.shown, &line, &line, shown::read)
    }

    /// Asks for a match in a notation.
    pub(crate) fn exported(&self, request: &RulesRequest<'_>) -> Result<String, RulesFailed> {
        let mut written = None;
        self.carrier.ask(&request.line(), &mut |answer| {
            let answer = answer::line(answer)?;
            answer::check_portable(answer)?;
            let ExportAnswer { text } = serde_json::from_slice(answer)?;
            written = Some(text);
            Ok(())
        })?;
        written.ok_or_else(|| RulesFailed::Because("no answer".into()))
    }

    /// Asks for a position that agrees with a view.
    fn imagined(
        &self,
        request: &RulesRequest<'_>,
        seat: Seat,
        seating: Seating,
    ) -> Result<Arc<Position>, RulesError> {
        let mut imagined = None;
        self.carrier.ask(&request.line(), &mut |answer| {
            let answer = answer::line(answer)?;
            answer::check_portable(answer)?;
            let ViewAnswer { bad_view } = serde_json::from_slice(answer)?;
            if let Some(why) = bad_view {
                let why = excerpt(&why, QUOTED);
                imagined = Some(Err(Wrong::from(format!("view of {}: {why}", self.meta.id))));
                return Ok(());
            }
            let position = position::read(answer, self.meta, &self.reasons, seating)?;
            if !position.events.is_empty() {
                return Err(EARLY_EVENTS);
            }
            if !matches!(position.turn, Turn::Decide(seats) if seats.contains(seat)) {
                return Err(format!("`decide`: seat {seat}, whose view it was, does not decide").into());
            }
            imagined = Some(Ok(Arc::new(position)));
            Ok(())
        })?;
        Ok(imagined.ok_or_else(|| RulesFailed::Because("no answer".into()))??)
    }

    /// Asks for the initial position.
    fn start(
        &self,
        restarts: &AtomicU32,
        options: &RawValue,
        seating: Seating,
    ) -> Result<Arc<Start>, RulesFailed> {
        let request = RulesRequest::Start { options, seats: seating.seats(), sides: seating.sides() };
        let line = request.line();
        self.ask(restarts, &self.starts, &line, &line, |answer| {
            let OptionsAnswer { bad_options } = serde_json::from_slice(answer)?;
            if let Some(why) = bad_options {
                return Ok(Start::Refused(excerpt(&why, QUOTED).into_owned()));
            }
            let position = position::read(answer, self.meta, &self.reasons, seating)?;
            if !position.events.is_empty() {
                return Err(EARLY_EVENTS);
            }
            if position.amounts.is_some() != self.meta.amounts.is_some() {
                return Err(wrong_unit(position.amounts.is_none()));
            }
            position.check_amounts(position.amounts, seating)?;
            Ok(Start::Opened(position.into()))
        })
    }
}

impl Rules for ProgramRules {
    fn meta(&self) -> &'static Meta {
        self.0.meta
    }

    fn notations(&self) -> Vec<&dyn Notation> {
        self.1.iter().map(|notation| notation as &dyn Notation).collect()
    }

    fn vocabulary(&self) -> Option<Vocabulary> {
        self.0.vocabulary.clone()
    }

    fn opening_files(&self) -> &'static [OpeningFile] {
        if self.0.meta.openings.is_some() { &[LINES] } else { &[] }
    }

    fn default_options(&self) -> Box<RawValue> {
        self.0.defaults.clone()
    }

    #[cfg(feature = "schema")]
    fn schema(&self) -> Value {
        referee_game::schema::untyped(self.0.meta, &self.default_options(), &self.0.schema)
    }

    fn open(&self, options: &RawValue, seating: Seating) -> Result<Box<dyn Table>, RulesError> {
        let options = self.complete(options)?;
        let restarts = Arc::<AtomicU32>::default();
        match &*self.0.start(&restarts, &options, seating)? {
            Start::Opened(position) => {
                let position = position.clone();
                Ok(Box::new(ProgramTable::new(self.0.clone(), seating, options.into(), position, restarts)))
            }
            Start::Refused(why) => Err(Wrong::from(format!("options of {}: {why}", self.0.meta.id)).into()),
        }
    }

    fn program(&self) -> Option<&RawValue> {
        Some(&self.0.description)
    }

    fn wait(&self) -> RulesWait {
        self.0.carrier.wait()
    }

    fn imagine(
        &self,
        knowledge: &Knowledge<'_>,
        count: usize,
        rng: &mut dyn Uniform,
    ) -> Result<Option<Vec<Box<dyn Table>>>, RulesError> {
        if !self.0.imagines {
            return Ok(None);
        }
        let &Knowledge { options, seating, seat, view, turns_left } = knowledge;
        let options: Arc<RawValue> = self.complete(options)?.into();
        let count = if self.0.meta.hidden { count } else { 1 };
        let world = |_| -> Result<Box<dyn Table>, RulesError> {
            let random: [u32; RANDOM_NUMBERS] = std::array::from_fn(|_| rng.uniform(1 << 32) as u32);
            let (seats, sides, random) = (seating.seats(), seating.sides(), &random);
            let request =
                RulesRequest::Imagine { options: &options, seats, sides, seat, view, turns_left, random };
            let position = self.0.imagined(&request, seat, seating)?;
            let restarts = Arc::default();
            Ok(Box::new(ProgramTable::new(self.0.clone(), seating, options.clone(), position, restarts)))
        };
        (0..count).map(world).collect::<Result<_, _>>().map(Some)
    }
}
