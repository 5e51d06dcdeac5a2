//! Requests of the referee.

use std::borrow::Cow;
use std::error::Error;

use crate::Reader;

/// A state, which a game has written.
pub trait State: Sized {
    /// Reads a state.
    ///
    /// # Errors
    /// If the game has not written it.
    fn read(value: &mut Reader<'_>) -> Result<Self, Box<dyn Error>>;
}

/// A request; each type of it has some of the fields, the others are empty.
#[derive(Clone, Debug)]
pub struct Request<'a, S> {
    /// Its type.
    pub kind: Cow<'a, str>,
    /// The options, as JSON.
    pub options: &'a str,
    pub seats: usize,
    pub sides: usize,
    pub state: Option<S>,
    pub moves: Vec<Made<'a>>,
    pub drawn: Vec<u32>,
    pub seat: usize,
    pub r#move: Cow<'a, str>,
    /// The view, as JSON.
    pub view: &'a str,
    pub turns_left: Option<u32>,
    pub random: Vec<u32>,
    /// The viewer, as JSON.
    pub viewer: &'a str,
    /// The notation of an export.
    pub form: Cow<'a, str>,
    /// The id of a match.
    pub r#match: Cow<'a, str>,
    pub names: Vec<Cow<'a, str>>,
    /// The draws of a match, as JSON.
    pub draws: &'a str,
    pub ranks: Vec<u8>,
    pub ended: Cow<'a, str>,
    /// The names of tags, and what they say.
    pub tags: Vec<(String, Cow<'a, str>)>,
}

/// A move of a seat.
#[derive(Clone, Debug, Default)]
pub struct Made<'a> {
    pub seat: usize,
    pub r#move: Cow<'a, str>,
    /// The time of the bot in microseconds, as far as it is known.
    pub took_us: Option<u64>,
    /// What the bot says of its search, as JSON.
    pub info: &'a str,
}

impl<S> Default for Request<'_, S> {
    fn default() -> Self {
        Request {
            kind: Cow::default(),
            options: "",
            seats: 0,
            sides: 0,
            state: None,
            moves: Vec::new(),
            drawn: Vec::new(),
            seat: 0,
            r#move: Cow::default(),
            view: "",
            turns_left: None,
            random: Vec::new(),
            viewer: "",
            form: Cow::default(),
            r#match: Cow::default(),
            names: Vec::new(),
            draws: "",
            ranks: Vec::new(),
            ended: Cow::default(),
            tags: Vec::new(),
        }
    }
}

impl<'a, S: State> Request<'a, S> {
    /// Reads a request.
    ///
    /// # Errors
    /// If it is none, and those of its state.
    pub fn read(text: &'a str) -> Result<Request<'a, S>, Box<dyn Error>> {
        let mut request = Request::default();
        Reader::new(text).object(|name, value| {
            match name {
                "type" => request.kind = value.string()?,
                "options" => request.options = value.json()?,
                "seats" => request.seats = value.value()?,
                "sides" => request.sides = value.value()?,
                "state" => request.state = Some(S::read(value)?),
                "moves" => request.moves = value.list(Made::read)?,
                "drawn" => request.drawn = value.list(Reader::value)?,
                "seat" => request.seat = value.value()?,
                "move" => request.r#move = value.string()?,
                "view" => request.view = value.json()?,
                "turns_left" => request.turns_left = Some(value.value()?),
                "random" => request.random = value.list(Reader::value)?,
                "viewer" => request.viewer = value.json()?,
                "form" => request.form = value.string()?,
                "match" => request.r#match = value.string()?,
                "names" => request.names = value.list(Reader::string)?,
                "draws" => request.draws = value.json()?,
                "ranks" => request.ranks = value.list(Reader::value)?,
                "ended" => request.ended = value.string()?,
                "tags" => value.object(|name, value| {
                    request.tags.push((name.to_owned(), value.string()?));
                    Ok(())
                })?,
                _ => drop(value.json()?),
            }
            Ok(())
        })?;
        Ok(request)
    }

    /// What a tag of a match says.
    pub fn tag(&self, name: &str) -> Option<&str> {
        self.tags.iter().find(|(known, _)| known == name).map(|(_, text)| &**text)
    }
}

impl<'a> Made<'a> {
    fn read(value: &mut Reader<'a>) -> Result<Made<'a>, Box<dyn Error>> {
        let mut made = Made::default();
        value.object(|name, value| {
            match name {
                "seat" => made.seat = value.value()?,
                "move" => made.r#move = value.string()?,
                "took_us" => made.took_us = Some(value.value()?),
                "info" => made.info = value.json()?,
                _ => drop(value.json()?),
            }
            Ok(())
        })?;
        Ok(made)
    }
}
