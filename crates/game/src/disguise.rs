//! Games under other names: the same tree in words that no other text has.
//!
//! [`disguise`] wraps the rules of a game. The words of its moves, events and positions (squares, pieces, cards, keys) get other
//! names, which derive from a text, the *disguise*. The tree of the game, the number of moves, the seats, numbers, the punctuation of
//! moves and the names of the protocol stay as they are.
//!
//! Names begin with a consonant and have syllables of two letters: those that the [`Vocabulary`] of the game lists have two and are
//! distinct; all other words have four.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::{self, Debug};
use std::sync::{Mutex, PoisonError};

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::Wrong;
use crate::chance::{Draw, RandomKey, Uniform};
use crate::erased::{
    Knowledge, MoveError, MoveMade, OpenDecision, Rules, RulesError, RulesFailed, RulesWait, Table,
};
use crate::game::{Meta, Turn};
use crate::hmac::Hmac;
use crate::notation::Notation;
use crate::openings::OpeningFile;
use crate::outcome::{AmountRange, Outcome};
use crate::scene::Scene;
use crate::seat::{Seat, Seating, Viewer};

/// The id of every disguised game.
pub const DISGUISED: &str = "disguised";
/// The rules page of every disguised game.
pub const DISGUISED_RULES: &str = include_str!("disguised.md");
/// The reason of every end by the rules of a disguised game.
const REASON: &str = "rules";
/// Keys and kinds that belong to the protocol.
const KEPT: [&str; 5] = ["kind", "seat", "move", "opening", "to_move"];
/// The longest disguise, in characters.
const LONGEST: usize = 100;

/// The words of a game. All of it is in the notation of its rules page.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Vocabulary {
    /// Squares, pieces and other words. A run of letters and digits that consists of some of them is split, such as `e2e4`.
    pub names: Vec<String>,
    /// By key of a view: the names of places, in the order in which the value has what is there: a string with a character for each,
    /// a list, or a list of such strings. `.` and spaces are empty places.
    pub places: BTreeMap<String, Vec<String>>,
    /// Keys of a view that repeat the position in another notation. They are left out.
    pub repeated: BTreeSet<String>,
}

impl Vocabulary {
    /// Creates a vocabulary of these words, separated by spaces, and these names.
    pub fn of(words: &str, names: impl IntoIterator<Item = String>) -> Vocabulary {
        let names = words.split_whitespace().map(str::to_owned).chain(names).collect();
        Vocabulary { names, ..Vocabulary::default() }
    }

    /// Adds these places under a key of views; they are names, too.
    #[must_use]
    pub fn with_places(mut self, key: &str, names: Vec<String>) -> Vocabulary {
        self.names.extend(names.iter().cloned());
        self.places.insert(key.to_owned(), names);
        self
    }

    /// Leaves out these keys of views, separated by spaces.
    #[must_use]
    pub fn without(mut self, keys: &str) -> Vocabulary {
        self.repeated.extend(keys.split_whitespace().map(str::to_owned));
        self
    }
}

/// The names of squares, such as a1, with the ranks in this order and the files in each.
pub fn squares(files: &str, ranks: impl IntoIterator<Item = u8>) -> Vec<String> {
    ranks.into_iter().flat_map(|rank| files.chars().map(move |file| format!("{file}{rank}"))).collect()
}

/// The rules of a game under the names of a disguise.
///
/// # Errors
/// If the game has no vocabulary or does not list its moves, or the text is no disguise.
pub fn disguise(rules: &'static dyn Rules, text: &str) -> Result<&'static dyn Rules, Wrong> {
    // Rules live as long as the process. A run has few disguises; each of them is made once.
    static KNOWN: Mutex<Vec<&'static DisguisedRules>> = Mutex::new(Vec::new());
    let game = rules.meta().id;
    if game == DISGUISED {
        return Err(format!("{game} is disguised already").into());
    }
    if !(1..=LONGEST).contains(&text.len()) || !text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return Err(format!("the disguise has 1 to {LONGEST} printable characters of ASCII").into());
    }
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let is_it = |of: &&&DisguisedRules| std::ptr::eq(of.inner.meta(), rules.meta()) && of.text == text;
    if let Some(found) = known.iter().find(is_it) {
        return Ok(*found);
    }
    if !rules.meta().lists_moves {
        return Err(format!("{game} does not list its moves, which a disguise needs").into());
    }
    let vocabulary = rules.vocabulary().ok_or_else(|| {
        format!(
            "{game} does not say which words it has, which a disguise replaces: a directory of a game says it with `[disguise]` in \
             game.toml"
        )
    })?;
    let words = Words::new(game, vocabulary, text)?;
    let Meta {
        rules_version,
        seatings,
        hidden,
        chance,
        simultaneous,
        draws_by_agreement,
        openings,
        amounts,
        ..
    } = *rules.meta();
    let meta = Meta {
        id: DISGUISED,
        title: "A disguised game",
        rules_version,
        seatings,
        hidden,
        chance,
        simultaneous,
        draws_by_agreement,
        lists_moves: true,
        openings,
        amounts: amounts.map(|_| "points"),
        options: &[],
        reasons: &[],
        rules: DISGUISED_RULES,
    };
    // The bytes of its own program are compared.
    let own = rules.program().map_or("null", RawValue::get);
    let program = format!(r#"{{"disguise":{},"game":"{game}","program":{own}}}"#, json!(text));
    let program = RawValue::from_string(program).unwrap_or_else(|error| unreachable!("{error}"));
    let made = DisguisedRules {
        inner: rules,
        meta: Box::leak(Box::new(meta)),
        text: text.to_owned(),
        words: Box::leak(Box::new(words)),
        program,
    };
    let made: &'static DisguisedRules = Box::leak(Box::new(made));
    known.push(made);
    Ok(made)
}

/// Reads the disguise from a record: the text, the id of the game, and the program that its rules are.
pub fn disguise_of(program: &RawValue) -> Option<(String, String, Option<Box<RawValue>>)> {
    #[derive(serde::Deserialize)]
    struct Described {
        disguise: String,
        game: String,
        program: Option<Box<RawValue>>,
    }
    let Described { disguise, game, program } = serde_json::from_str(program.get()).ok()?;
    Some((disguise, game, program))
}

struct DisguisedRules {
    inner: &'static dyn Rules,
    meta: &'static Meta,
    text: String,
    words: &'static Words,
    program: Box<RawValue>,
}

impl Debug for DisguisedRules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DisguisedRules").field("inner", &self.inner).finish_non_exhaustive()
    }
}

impl Rules for DisguisedRules {
    fn meta(&self) -> &'static Meta {
        self.meta
    }

    fn notations(&self) -> Vec<&dyn Notation> {
        Vec::new()
    }

    fn opening_files(&self) -> &'static [OpeningFile] {
        &[]
    }

    fn default_options(&self) -> Box<RawValue> {
        no_options()
    }

    #[cfg(feature = "schema")]
    fn schema(&self) -> Value {
        json!({})
    }

    fn open(&self, options: &RawValue, seating: Seating) -> Result<Box<dyn Table>, RulesError> {
        // Options would say which game it is.
        if serde_json::from_str::<Map<String, Value>>(options.get())
            .map_or(true, |options| !options.is_empty())
        {
            return Err(Wrong::new("a disguised game has no options, which would tell bots what game it is: its own have their defaults")
            .into());
        }
        let inner = self.inner.open(&self.inner.default_options(), seating)?;
        Ok(Box::new(DisguisedTable::new(inner, self.meta, self.words)))
    }

    fn program(&self) -> Option<&RawValue> {
        Some(&self.program)
    }

    fn wait(&self) -> RulesWait {
        self.inner.wait()
    }

    fn imagine(
        &self,
        _: &Knowledge<'_>,
        _: usize,
        _: &mut dyn Uniform,
    ) -> Result<Option<Vec<Box<dyn Table>>>, RulesError> {
        Ok(None)
    }

    fn disguised(&self) -> Option<&'static dyn Rules> {
        Some(self.inner)
    }
}

fn no_options() -> Box<RawValue> {
    RawValue::from_string("{}".to_owned()).unwrap_or_else(|error| unreachable!("{error}"))
}

#[derive(Debug)]
struct Words {
    key: [u8; 32],
    names: HashMap<String, String>,
    /// The longest name that the game lists, in bytes.
    longest: usize,
    places: BTreeMap<String, Vec<String>>,
    repeated: BTreeSet<String>,
}

const CONSONANTS: &[u8] = b"bdfghklmnprstvz";
const VOWELS: &[u8] = b"aeiou";
const SYLLABLES: usize = CONSONANTS.len() * VOWELS.len();

/// A name of this number of syllables.
fn spell(mut number: u64, syllables: usize) -> String {
    let mut name = String::new();
    for _ in 0..syllables {
        let syllable = (number % SYLLABLES as u64) as usize;
        number /= SYLLABLES as u64;
        name.push(CONSONANTS[syllable / VOWELS.len()].into());
        name.push(VOWELS[syllable % VOWELS.len()].into());
    }
    name
}

impl Words {
    fn new(game: &'static str, vocabulary: Vocabulary, text: &str) -> Result<Words, Wrong> {
        let Vocabulary { names: listed, places, repeated } = vocabulary;
        let key: [u8; 32] = Sha256::digest(format!("disguise\0{text}")).into();
        let most = SYLLABLES * SYLLABLES;
        if listed.len() > most {
            return Err(format!("{game} has {} names, and there are {most} others", listed.len()).into());
        }
        let mut free: Vec<u64> = (0..most as u64).collect();
        let mut stream = RandomKey(key).stream();
        let mut names = HashMap::new();
        for name in listed {
            let at = stream.uniform(free.len() as u64) as usize;
            let other = spell(free.swap_remove(at), 2);
            if names.insert(name.clone(), other).is_some() {
                return Err(format!("{game}: `{name}` is listed twice in `[disguise]`").into());
            }
        }
        let longest = names.keys().map(String::len).max().unwrap_or(0);
        Ok(Words { key, names, longest, places, repeated })
    }

    /// A word that the game does not list.
    fn other(&self, word: &str) -> String {
        let bytes = Hmac::new(&self.key).digest(&[word.as_bytes()]);
        let number = bytes.iter().take(8).fold(0, |number: u64, &byte| (number << 8) | u64::from(byte));
        spell(number, 4)
    }

    /// A run of letters and digits, split into listed names if it consists of them. Numbers that are not listed stay.
    fn run(&self, run: &str, out: &mut String) {
        let (before, mut rest) = (out.len(), run);
        while !rest.is_empty() {
            let most = self.longest.min(rest.len());
            let found = (1..=most).rev().filter(|&end| rest.is_char_boundary(end));
            let Some((end, name)) = found.filter_map(|end| Some((end, self.names.get(&rest[..end])?))).next()
            else {
                out.truncate(before);
                let is_number = run.bytes().all(|byte| byte.is_ascii_digit());
                if is_number {
                    out.push_str(run);
                } else {
                    out.push_str(&self.other(run));
                }
                return;
            };
            out.push_str(name);
            rest = &rest[end..];
        }
    }

    /// A text, with its punctuation.
    fn text(&self, text: &str) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let is_word = |c: char| c.is_alphanumeric();
            let end = rest.find(|c: char| is_word(c) != is_word(first)).unwrap_or(rest.len());
            if is_word(first) {
                self.run(&rest[..end], &mut out);
            } else {
                out.push_str(&rest[..end]);
            }
            rest = &rest[end..];
        }
        out
    }

    fn value(&self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.text(&text)),
            Value::Array(values) => Value::Array(values.into_iter().map(|value| self.value(value)).collect()),
            Value::Object(fields) => Value::Object(self.fields(fields)),
            value => value,
        }
    }

    fn fields(&self, fields: Map<String, Value>) -> Map<String, Value> {
        let field = |(key, value): (String, Value)| {
            if self.repeated.contains(&key) {
                return None;
            }
            let value = match self.places.get(&key) {
                Some(names) => self.places(names, value),
                None if key == "kind" && value == "move" => value,
                None => self.value(value),
            };
            // Keys that are numbers are seats.
            let is_kept = KEPT.contains(&key.as_str()) || key.parse::<u32>().is_ok();
            Some((if is_kept { key } else { self.text(&key) }, value))
        };
        // The order of the keys would say what they mean.
        let sorted: BTreeMap<String, Value> = fields.into_iter().filter_map(field).collect();
        sorted.into_iter().collect()
    }

    /// Renames the content of places by their names. A value of another form is treated as any other.
    fn places(&self, names: &[String], value: Value) -> Value {
        let characters = |text: &str| text.chars().map(|c| Value::from(c.to_string())).collect::<Vec<_>>();
        let found = match &value {
            Value::String(text) => characters(text),
            Value::Array(values) if values.len() == names.len() => values.clone(),
            Value::Array(rows) => rows.iter().filter_map(Value::as_str).flat_map(characters).collect(),
            _ => Vec::new(),
        };
        if found.len() != names.len() {
            return self.value(value);
        }
        let is_empty = |value: &Value| [".", " ", ""].iter().any(|empty| *value == *empty) || value.is_null();
        let placed = names.iter().zip(found).filter(|(_, value)| !is_empty(value));
        let placed: BTreeMap<String, Value> =
            placed.map(|(name, value)| (self.text(name), self.stack(value))).collect();
        Value::Object(placed.into_iter().collect())
    }

    /// Renames the content of one place: a name, or characters that stand for several things.
    fn stack(&self, value: Value) -> Value {
        match value {
            Value::String(text) if text.chars().count() > 1 && !self.names.contains_key(&text) => {
                Value::Array(text.chars().map(|c| self.text(&c.to_string()).into()).collect())
            }
            value => self.value(value),
        }
    }
}

/// The moves of a seat that decides: their names in order, each with its index in the list of the game.
type NamedMoves = Vec<(String, usize)>;

struct DisguisedTable {
    inner: Box<dyn Table>,
    meta: &'static Meta,
    words: &'static Words,
    options: Box<RawValue>,
    /// By seat.
    moves: Vec<NamedMoves>,
    /// The moves among the events.
    events: Vec<Option<String>>,
}

impl Debug for DisguisedTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DisguisedTable").field("inner", &self.inner).finish_non_exhaustive()
    }
}

impl DisguisedTable {
    fn new(inner: Box<dyn Table>, meta: &'static Meta, words: &'static Words) -> DisguisedTable {
        let mut table = DisguisedTable {
            inner,
            meta,
            words,
            options: no_options(),
            moves: Vec::new(),
            events: Vec::new(),
        };
        table.name_events();
        table
    }

    fn name_events(&mut self) {
        for index in self.events.len()..self.inner.event_count() {
            let made = self.inner.move_made(index).map(|made| self.words.text(made.text));
            self.events.push(made);
        }
    }

    fn of_seat(&self, seat: Seat) -> &[(String, usize)] {
        self.moves.get(seat.index()).map_or(&[], Vec::as_slice)
    }

    /// The indices in the list of the game, by the seats that decide.
    fn indices(&self, decision: &OpenDecision, indices: &[usize]) -> Vec<usize> {
        decision.seats().iter().zip(indices).map(|(seat, &index)| self.of_seat(seat)[index].1).collect()
    }

    fn renamed(&self, json: &[u8]) -> Vec<u8> {
        let value = serde_json::from_slice(json).unwrap_or(Value::Null);
        self.words.value(value).to_string().into_bytes()
    }
}

fn over<D, S>(turn: Turn<D, S>) -> Turn<D, S> {
    match turn {
        Turn::Over(mut outcome) if !outcome.turn_limit => {
            outcome.reason = REASON;
            Turn::Over(outcome)
        }
        turn => turn,
    }
}

impl Table for DisguisedTable {
    fn meta(&self) -> &'static Meta {
        self.meta
    }

    fn options(&self) -> &RawValue {
        &self.options
    }

    fn turn(&self) -> Turn {
        over(self.inner.turn())
    }

    fn turns_left(&self) -> Option<u32> {
        self.inner.turns_left()
    }

    fn amount_range(&self) -> Option<AmountRange> {
        self.inner.amount_range()
    }

    fn ask(&mut self) -> Turn<Draw, OpenDecision> {
        let turn = self.inner.ask();
        self.moves.clear();
        if let Turn::Decide(decision) = &turn {
            for seat in decision.seats().iter() {
                let count = self.inner.count(decision, seat);
                let named = |index| (self.words.text(self.inner.text(decision, seat, index)), index);
                let mut named: NamedMoves = (0..count).map(named).collect();
                named.sort_unstable();
                self.moves.resize_with(self.moves.len().max(seat.index() + 1), Vec::new);
                self.moves[seat.index()] = named;
            }
        }
        over(turn)
    }

    fn count(&self, decision: &OpenDecision, seat: Seat) -> usize {
        self.inner.count(decision, seat)
    }

    fn write_legal(&self, _: &OpenDecision, seat: Seat, out: &mut Vec<u8>) {
        let texts: Vec<&str> = self.of_seat(seat).iter().map(|(text, _)| text.as_str()).collect();
        crate::json::write_value(out, &texts);
    }

    fn find(&mut self, _: &OpenDecision, seat: Seat, text: &str) -> Result<usize, MoveError> {
        let found = self.of_seat(seat).binary_search_by(|(named, _)| named.as_str().cmp(text));
        found.map_err(|_| MoveError::Illegal)
    }

    fn text(&self, _: &OpenDecision, seat: Seat, index: usize) -> &str {
        &self.of_seat(seat)[index].0
    }

    fn places(&self, decision: &OpenDecision, seat: Seat, index: usize) -> Vec<String> {
        self.inner.places(decision, seat, self.of_seat(seat)[index].1)
    }

    fn play(&mut self, decision: OpenDecision, indices: &[usize]) -> Result<(), RulesFailed> {
        let indices = self.indices(&decision, indices);
        self.inner.play(decision, &indices)?;
        self.name_events();
        Ok(())
    }

    fn play_opening(&mut self, decision: OpenDecision, indices: &[usize]) -> Result<(), RulesFailed> {
        let indices = self.indices(&decision, indices);
        self.inner.play_opening(decision, &indices)?;
        self.name_events();
        Ok(())
    }

    fn settle(&mut self, drawn: &[u32]) -> Result<(), RulesFailed> {
        self.inner.settle(drawn)?;
        self.name_events();
        Ok(())
    }

    fn fork(&self) -> Box<dyn Table> {
        Box::new(DisguisedTable::new(self.inner.fork(), self.meta, self.words))
    }

    fn playout(&self, seating: Seating, rng: &mut dyn Uniform) -> Result<Option<Outcome>, RulesFailed> {
        self.inner.playout(seating, rng)
    }

    fn event_count(&self) -> usize {
        self.inner.event_count()
    }

    fn move_made(&self, index: usize) -> Option<MoveMade<'_>> {
        let text = self.events.get(index)?.as_deref()?;
        Some(MoveMade { text, ..self.inner.move_made(index)? })
    }

    fn write_event(&self, index: usize, viewer: Viewer, out: &mut Vec<u8>) {
        if let Some(MoveMade { seat, text, is_opening, .. }) = self.move_made(index) {
            // The event of the game says whether the viewer may see the move.
            let mut own = Vec::new();
            self.inner.write_event(index, viewer, &mut own);
            if !own.is_empty() {
                let is_seen = !own.windows(11).any(|part| part == b"\"move\":null");
                crate::erased::write_move_event(out, seat, is_seen.then_some(text), is_opening);
            }
            return;
        }
        let mut own = Vec::new();
        self.inner.write_event(index, viewer, &mut own);
        if !own.is_empty() {
            out.extend(self.renamed(&own));
        }
    }

    fn forget(&mut self) {
        self.inner.forget();
        self.events.clear();
    }

    fn write_view(&self, decision: &OpenDecision, seat: Seat, out: &mut Vec<u8>) {
        let mut own = Vec::new();
        self.inner.write_view(decision, seat, &mut own);
        out.extend(self.renamed(&own));
    }

    fn view(&self, viewer: Viewer) -> Result<Vec<u8>, RulesFailed> {
        Ok(self.renamed(&self.inner.view(viewer)?))
    }

    fn draw_board(&self, viewer: Viewer, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.draw_board(viewer, f)
    }

    fn scene(&self, viewer: Viewer) -> Scene {
        self.inner.scene(viewer)
    }

    fn waits(&self) -> bool {
        self.inner.waits()
    }

    fn restarts(&self) -> u32 {
        self.inner.restarts()
    }
}
