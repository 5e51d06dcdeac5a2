//! How the bot starts and introduces itself.

use referee_protocol::limits;

use crate::check::desk::Desk;
use crate::check::rule::Rule;
use crate::check::verdict::Stop;
use crate::games;
use crate::server::check_name;
use crate::server::incoming::{self, Incoming, Unreadable};

/// The process starts and says something.
pub(super) async fn start_up(desk: &mut Desk<'_>) -> Result<(), Stop> {
    desk.first_line = desk.start().await?;
    Ok(())
}

/// What it said is a `hello` that the referee takes.
pub(super) fn hello(desk: &mut Desk<'_>) -> Result<(), Stop> {
    let line = std::mem::take(&mut desk.first_line);
    let Some(talk) = &desk.talk else { return Ok(()) };
    let fail = |wrong: String, rule| Err(talk.complain(wrong, rule).into());
    let hello = match incoming::read(&line, false).1 {
        Ok(Incoming::Hello(hello)) => hello,
        Ok(_) | Err(Unreadable::UnknownType(_) | Unreadable::NotAllowed) => {
            return fail("its first message is no `hello`".to_owned(), Rule::HELLO_FIRST);
        }
        Err(Unreadable::Malformed(what) | Unreadable::MalformedAside(what)) => {
            return fail(format!("its first line is no message: {what}"), Rule::FRAMING);
        }
    };
    if hello.protocol != referee_protocol::PROTOCOL {
        let wrong = format!("it speaks protocol {}, the referee speaks 1", hello.protocol);
        return fail(wrong, Rule::PROTOCOL);
    }
    if check_name(&hello.name).is_err() {
        return fail("its `name` is not allowed".to_owned(), Rule::NAME);
    }
    for (field, text) in [("version", &hello.version), ("author", &hello.author)] {
        if text.as_ref().is_some_and(|text| text.chars().count() > limits::ABOUT) {
            return fail(format!("its `{field}` is too long"), Rule::ABOUT);
        }
    }
    let slots = hello.slots.unwrap_or(1);
    if !(1..=limits::SLOTS).contains(&slots) {
        desk.warnings.push(format!("`slots` is {slots}; it is read as {}", slots.clamp(1, limits::SLOTS)));
    }
    for id in hello.games.iter().flatten().filter(|id| games::find(id).is_none()) {
        desk.warnings.push(games::unknown(id));
    }
    desk.notes.push(format!("`{}`, {slots} at once", hello.name));
    desk.hello = Some(hello);
    if desk.games().is_empty() {
        let what = match desk.check.game {
            Some(rules) => format!("its `games` do not have {}", rules.meta().id),
            None => "none of its `games` is known here".to_owned(),
        };
        let Some(talk) = &desk.talk else { return Ok(()) };
        return Err(talk.complain(what, Rule::GAMES).into());
    }
    Ok(())
}
