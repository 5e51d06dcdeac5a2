//! The start of the bot, and its `hello`.

use referee_engine::driver::incoming::{self, Incoming, Unreadable};
use referee_engine::driver::{BotHello, HelloError};
use referee_game::excerpt::excerpt;
use referee_match::{Detail, Field};
use referee_protocol::limits;

use crate::context::Context;
use crate::rule::Rule;
use crate::verdict::Stop;

/// The characters that an error shows of a text.
const SHOWN: usize = 60;

/// Starts the process and waits for a line.
pub(super) async fn start_up(context: &mut Context<'_>) -> Result<(), Stop> {
    context.first_line = context.start().await?;
    Ok(())
}

/// Checks that the first line is an acceptable `hello`.
pub(super) fn hello(context: &mut Context<'_>) -> Result<(), Stop> {
    let line = std::mem::take(&mut context.first_line);
    let Some(talk) = &context.talk else { return Ok(()) };
    let fail = |wrong: String, rule| Err(talk.violation(wrong, rule).into());
    let hello = match incoming::read(&line, false).1 {
        Ok(Incoming::Hello(hello)) => hello,
        Ok(Incoming::Bye(_)) => {
            return fail("it said `bye` in place of `hello`".to_owned(), Rule::HELLO);
        }
        Ok(_) | Err(Unreadable::UnknownType(_) | Unreadable::NotAllowed) => {
            return fail("its first message is not `hello`".to_owned(), Rule::HELLO_FIRST);
        }
        Err(Unreadable::Malformed(what)) => {
            return fail(format!("its first line is no message: {what}"), Rule::MALFORMED);
        }
        Err(Unreadable::MalformedAside { message: what, .. }) => return fail(what, Rule::MALFORMED),
    };
    match BotHello::check(hello.clone()) {
        Err(HelloError::Protocol(detail)) => return fail(detail.to_string(), Rule::PROTOCOL),
        Err(HelloError::Field { refused, message }) => {
            let rule = if refused.field == Some(Field::Name) { Rule::NAME } else { Rule::ABOUT };
            return fail(format!("its `hello` is rejected: {message}"), rule);
        }
        Ok(_) => {}
    }
    let slots = hello.slots.unwrap_or(1);
    if !(1..=limits::SLOTS).contains(&slots) {
        context.warnings.push(format!("`slots` is {slots}; it is read as {}", slots.clamp(1, limits::SLOTS)));
    }
    let unknown = hello.games.iter().flatten().filter_map(|id| context.check.catalog.find(id).err());
    context.warnings.extend(unknown.map(|error| error.to_string()));
    context.notes.push(format!("`{}`, {slots} at once", hello.name));
    let plays: Vec<String> = hello.games.iter().flatten().cloned().collect();
    context.hello = Some(hello);
    if let (Some(text), Some(talk)) = (&context.banner, &context.talk)
        && !context.games().is_empty()
    {
        let text = String::from_utf8_lossy(text);
        let text = excerpt(text.trim(), SHOWN);
        let wrong = format!("it prints `{text}` before its `hello`: print it to standard error");
        return Err(talk.violation(wrong, Rule::MALFORMED).into());
    }
    if context.games().is_empty() {
        let what = match context.check.game {
            Some(rules) => Detail::OtherGames { game: rules.meta().id.to_owned(), plays }.to_string(),
            None => {
                let (plays, known) = (plays.join(", "), context.check.catalog.ids().join(", "));
                format!("none of its `games` is known here: it plays {plays}, known are {known}")
            }
        };
        let Some(talk) = &context.talk else { return Ok(()) };
        return Err(talk.violation(what, Rule::GAMES).into());
    }
    Ok(())
}
