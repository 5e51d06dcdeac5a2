//! A bot that connects, and loses its connection.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use referee_engine::driver::incoming::{self, Incoming};
use referee_game::Wrong;
use referee_game::hex;
use referee_game::seat::Seat;
use referee_protocol::bot;
use referee_protocol::limits;
use referee_protocol::referee::Auth;
use referee_transport::{Bound, Listener, Stream, Wire};
use tokio::time::{Instant, timeout_at};

use crate::context::Context;
use crate::rule::Rule;
use crate::talk::{BotOutput, Talk, ended, hello_asking};
use crate::verdict::Stop;

/// The number of answers in the match.
const FEW: u32 = 8;

/// Starts the bot with `--connect` and a token, cuts its connection before its `ready` and while a request is open, and
/// plays on when it has connected again. After the match sends `bye` as a restarting league does.
pub(super) async fn reconnect(context: &mut Context<'_>) -> Result<(), Stop> {
    let rules = context.any_game()?;
    let (seating, seat) = (rules.meta().seatings[0], Seat(0));
    context.restart();
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let bound = Bound::listen(address).map_err(no_connection)?;
    let address = bound.address().map_err(no_connection)?;
    let listener = Listener::watch(bound).map_err(no_connection)?;
    let mut token = [0; 16];
    getrandom::fill(&mut token).map_err(|why| Wrong::at("the operating system provides no token", why))?;
    let mut command = context.check.command.clone();
    command.argv.extend(["--connect".to_owned(), address.to_string()]);
    command.env.insert("REFEREE_TOKEN".to_owned(), hex::encode(&token));
    let talk = Talk::start_apart(&command, context.check.launch.clone()).await;
    let mut talk = talk.map_err(|why| Wrong::at("cannot start the bot", why))?;
    let limit = context.check.hello_limit;
    if !connects(&mut talk, &listener, limit).await.map_err(no_connection)? {
        let wrong =
            format!("it did not connect within {} ms to the address of `--connect`", limit.as_millis());
        return Err(talk.violation(wrong, Rule::CONNECTS).into());
    }
    let first = greet(&mut talk, limit).await?;
    if first.token != Some(hex::encode(&token)) {
        let wrong = "its `token` is not the one in the environment variable REFEREE_TOKEN";
        return Err(talk.violation(wrong, Rule::TOKEN).into());
    }
    if first.reconnect.is_none() {
        return Err(talk.violation("its `hello` has no `reconnect`", Rule::ACCEPTS).into());
    }
    context.continue_with(talk);
    let mut matches = [(context.open(rules, seating, seat)?, seat)];
    let mut slowest = Duration::ZERO;
    for is_ready in [false, true] {
        if is_ready {
            context.begin(&mut matches).await?;
        } else {
            context.exchange(&mut matches).await?;
        }
        let cut = if is_ready { "cut while a request was open" } else { "cut after `start`" };
        let away = returns(context.talk().await?, &listener, limit, &first, cut, Rule::RETURNS).await?;
        slowest = slowest.max(away);
        matches[0].0.resume(seat, away);
    }
    context.play_all(&mut matches, FEW).await?;
    let talk = context.talk().await?;
    talk.send(b"{\"type\":\"bye\",\"reason\":\"the server restarts\",\"reconnect\":true}\n", limit).await;
    let away =
        returns(talk, &listener, limit, &first, "closed after `bye` with `\"reconnect\":true`", Rule::STAYS)
            .await?;
    slowest = slowest.max(away);
    context.notes.push(format!("it connected again after {:.1} s at most", slowest.as_secs_f64()));
    Ok(())
}

/// Closes the connection of the bot, and waits for its next one and its `hello`. Returns the time that this takes.
async fn returns(
    talk: &mut Talk,
    listener: &Listener,
    limit: Duration,
    first: &bot::Hello,
    cut: &str,
    rule: Rule,
) -> Result<Duration, Stop> {
    let lost = Instant::now();
    talk.close();
    let timeout = Duration::from_millis(limits::LOST_MS);
    if !connects(talk, listener, timeout).await.map_err(no_connection)? {
        let then = match talk.exited(Duration::ZERO).await {
            Some(how) => ended(Some(&how)),
            None => format!("it did not connect again within {} ms", timeout.as_millis()),
        };
        return Err(talk.violation(format!("its connection was {cut}, and {then}"), rule).into());
    }
    let again = greet(talk, limit).await?;
    let of = |hello: &bot::Hello| {
        [Some(&hello.name), hello.version.as_ref(), hello.reconnect.as_ref(), hello.token.as_ref()]
            .map(|field| field.cloned())
    };
    let fields = ["name", "version", "reconnect", "token"].into_iter();
    let mut differing = fields.zip(of(first).into_iter().zip(of(&again))).filter(|(_, (a, b))| a != b);
    if let Some((field, _)) = differing.next() {
        let wrong = format!("the `{field}` of its `hello` is not that of its first connection");
        return Err(talk.violation(wrong, Rule::RETURNS).into());
    }
    Ok(lost.elapsed())
}

fn no_connection(why: io::Error) -> Wrong {
    Wrong::at("the bot cannot connect", why)
}

/// Waits for a connection of the bot. Returns false if there is none in time.
async fn connects(talk: &mut Talk, listener: &Listener, within: Duration) -> io::Result<bool> {
    let until = Instant::now() + within;
    loop {
        if let Some((socket, _)) = listener.accept()? {
            talk.connect(Stream::watch(Wire::socket(socket, None))?);
            return Ok(true);
        }
        tokio::select! {
            ready = timeout_at(until, listener.ready()) => match ready {
                Ok(ready) => ready?,
                Err(_) => return Ok(false),
            },
            _ = talk.exited(within) => return Ok(false),
        }
    }
}

/// Exchanges `hello` on a new connection.
async fn greet(talk: &mut Talk, limit: Duration) -> Result<bot::Hello, Stop> {
    talk.send(&hello_asking(Auth::Token), limit).await;
    let wrong = match talk.receive(Some(Instant::now() + limit)).await {
        BotOutput::Line(line) => match incoming::read(&line, false).1 {
            Ok(Incoming::Hello(hello)) => return Ok(hello),
            _ => "the first line on its connection is not `hello`".to_owned(),
        },
        BotOutput::TooLong => "its first line has more than 65536 bytes".to_owned(),
        BotOutput::Ended(how) => format!("{} before it said `hello` on its connection", ended(how.as_ref())),
        BotOutput::Timeout => format!("no `hello` within {} ms on its connection", limit.as_millis()),
    };
    Err(talk.violation(wrong, Rule::TOKEN).into())
}
