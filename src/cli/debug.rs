//! `referee debug`: plays a match and shows every line.

use std::io::{self, BufRead, Write};
use std::time::Duration;

use clap::Args as ClapArgs;
use referee_protocol::limits;
use referee_protocol::referee as message;
use referee_protocol::words::{ErrorCode, FaultCode};
use tokio::time::Instant;

use crate::bot::Command;
use crate::check::{BotOutput, Encounter, LineOutcome, Talk, handle_line, hello, read_greeting};
use crate::cli::bots::{block_on, launch};
use crate::cli::exit::{Exit, Failure};
use crate::cli::find_game::find_game;
use crate::cli::options::{GameOptions, random_seed};
use crate::cli::output::TolerantStdout;
use crate::cli::sandbox::SandboxOptions;
use crate::cli::screen;
use crate::driver::route::{Rejection, Routed};
use crate::driver::{BotHello, HelloError, MatchPlan, PlannedSeat, Run, Terms};
use crate::game::json;
use crate::game::printable::printable;
use crate::game::seat::{Seat, Seating};
use crate::game::{Catalog, Chain};
use crate::referee::{Detail, Leg, Opening, Received, Wants};
use crate::runs::config::ClockLimits;
use crate::transport::Line;
use anyhow::anyhow;

/// Play a match with a bot and show every line in both directions, with times
///
/// `>` marks lines to the bot, `<` lines from the bot, `!` lines on its standard error. The other seats make random
/// moves, or another bot plays them. Exit code 1 if the bot makes a fault.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee debug checkers 'python3 mybot.py'
  referee debug checkers 'python3 mybot.py' --seat 1 --set fen=W:W18:B12
  referee debug jeex ./bot --against ./other --step --clock none")]
pub(super) struct Args {
    /// The game: see `referee games`; or the directory of a game
    game: String,
    /// The bot: a command line in one argument, split as a shell would and run without a shell
    bot: Command,
    /// Another bot for the next seat; the remaining seats play random moves
    #[arg(long, value_name = "BOT")]
    against: Option<Command>,
    /// The bot's seat
    #[arg(long, value_name = "N", default_value_t = 0)]
    seat: u8,
    /// The number of seats [default: the game's smallest number]
    #[arg(long, value_name = "N")]
    seats: Option<u8>,
    /// Ask on standard error before each line is sent to the bot; Enter sends it
    #[arg(long)]
    step: bool,
    /// The clock of every seat, as for `referee play`
    #[arg(long, default_value = "delay=5s,bank=60s")]
    clock: ClockLimits,
    #[command(flatten)]
    options: GameOptions,
    #[command(flatten)]
    sandbox: SandboxOptions,
}

struct SeatedBot {
    talk: Talk,
    seat: Seat,
    wants: Wants,
    is_shown: bool,
    is_here: bool,
}

struct DebugScreen {
    out: TolerantStdout,
    began: Instant,
    /// Whether to ask before a line is sent.
    is_asking: bool,
}

impl DebugScreen {
    fn show(&mut self, mark: char, line: &[u8]) -> io::Result<()> {
        let time = self.began.elapsed().as_secs_f64();
        writeln!(self.out, "{time:10.6} {mark} {}", printable(String::from_utf8_lossy(line).trim_end()))
    }

    /// Waits until the user confirms the next line.
    fn ask(&mut self) -> io::Result<()> {
        if self.is_asking {
            // If standard error is closed, the prompt is lost; Enter still sends the line.
            let _ = write!(screen::stderr(), "send? [Enter] ");
            // At the end of input there are no more answers.
            self.is_asking = io::stdin().lock().read_line(&mut String::new())? > 0;
        }
        Ok(())
    }

    /// Sends lines to a player and displays them.
    async fn send(&mut self, player: &mut SeatedBot, lines: &[u8]) -> io::Result<()> {
        let timeout = Duration::from_millis(limits::STALLED_MS);
        if !player.is_shown {
            player.talk.send(lines, timeout).await;
        } else if self.is_asking {
            for line in lines.split_inclusive(|&byte| byte == b'\n') {
                self.show('>', line)?;
                self.ask()?;
                player.talk.send(line, timeout).await;
            }
        } else {
            // In one write, as in a real match.
            lines.split_inclusive(|&byte| byte == b'\n').try_for_each(|line| self.show('>', line))?;
            player.talk.send(lines, timeout).await;
        }
        Ok(())
    }

    /// Displays output of a player.
    fn came(&mut self, player: &SeatedBot, came: &BotOutput) -> io::Result<()> {
        if !player.is_shown {
            return Ok(());
        }
        for line in player.talk.stderr().lines() {
            self.show('!', line.as_bytes())?;
        }
        match came {
            BotOutput::Line(line) => self.show('<', line),
            BotOutput::TooLong => self.show('<', b"(a line of more than 65536 bytes)"),
            BotOutput::Ended(how) => {
                let how = how.as_ref().map(|how| format!(", {how}")).unwrap_or_default();
                self.show('<', format!("(end of output{how})").as_bytes())
            }
            BotOutput::Timeout => Ok(()),
        }
    }
}

pub(super) fn run(args: &Args, catalog: &Catalog) -> Result<Exit, Failure> {
    let rules = find_game(&args.game, catalog)?.0;
    let seating = rules.meta().seating(args.seats).map_err(Failure::usage)?;
    if usize::from(args.seat) >= seating.seats() {
        return Err(Failure::usage(format!(
            "--seat {}: the seats are 0 to {}",
            args.seat,
            seating.seats() - 1
        )));
    }
    let options = args.options.to_json()?;
    rules.open(&options, seating).map_err(Failure::usage)?;
    let run = Run { seed: random_seed()?, terms: Terms { clock: args.clock.0, ..Terms::default() } };
    block_on(async {
        let mut screen =
            DebugScreen { out: TolerantStdout::new(), began: Instant::now(), is_asking: args.step };
        let mut players = start(args, rules.meta().id, seating, &mut screen).await?;
        let named = |seat: usize| players.iter().find(|player| player.seat.index() == seat);
        let seats = (0..seating.seats()).map(|seat| PlannedSeat {
            name: named(seat)
                .map_or("random", |player| if player.is_shown { "bot" } else { "other" })
                .to_owned(),
            ready_ms: limits::FIRST_READY_MS,
            clock: None,
            hide_legal: false,
            bot: None,
            wants: named(seat).map_or_else(Wants::default, |player| player.wants),
        });
        let plan = MatchPlan {
            id: "m1".to_owned(),
            deal: None,
            seed: None,
            salt: None,
            rules,
            options: &options,
            seating,
            seats: seats.collect(),
            opening: Opening::None,
            leg: Leg::Only,
            open_id: None,
            auto_ready: false,
            watched: None,
        };
        let chooser = run.seed.match_key(rules.meta().id, "random moves", &[""; 0]).fallback();
        let bots = players.iter().map(|player| player.seat).collect();
        let encounter = Encounter::open(&run, plan, bots, chooser).map_err(Failure::usage)?;
        let exit = play(&mut players, encounter, &mut screen).await?;
        for mut player in players {
            screen.send(&mut player, b"{\"type\":\"bye\",\"reason\":\"the match is over\"}\n").await?;
            player.talk.finish().await;
        }
        screen.out.end(exit)
    })?
}

/// Starts the bots and checks their `hello` as in a real match.
async fn start(
    args: &Args,
    game: &str,
    seating: Seating,
    screen: &mut DebugScreen,
) -> Result<Vec<SeatedBot>, Failure> {
    let mut players = Vec::new();
    let mut commands: Vec<Command> =
        [Some(&args.bot), args.against.as_ref()].into_iter().flatten().cloned().collect();
    args.sandbox.apply(&mut commands)?;
    for (index, command) in commands.iter().enumerate() {
        let seat = Seat((usize::from(args.seat) + index).rem_euclid(seating.seats()) as u8);
        let talk = Talk::start(command, launch()?)
            .await
            .map_err(|error| Failure::cannot_run(format!("cannot start the bot: {}", Chain(&error))))?;
        let mut player =
            SeatedBot { talk, seat, wants: Wants::default(), is_shown: index == 0, is_here: true };
        screen.send(&mut player, &hello()).await?;
        let hello = greet(&mut player, screen).await?.and_then(|hello| {
            hello.check_game(game).map_err(|detail| anyhow!("{}: {detail}", FaultCode::NoStart))?;
            Ok(hello)
        });
        let hello = hello
            .map_err(|why| Failure::cannot_run(format!("the bot `{command}` does not start ({why})")))?;
        player.wants = hello.wants;
        players.push(player);
    }
    Ok(players)
}

/// Waits for the `hello` of a bot. A rejected line gets an `error`, and the bot may try again.
async fn greet(player: &mut SeatedBot, screen: &mut DebugScreen) -> io::Result<anyhow::Result<BotHello>> {
    let until = Instant::now() + Duration::from_millis(limits::HELLO_MS);
    let mut received = Received::Nothing;
    loop {
        let came = player.talk.receive(Some(until)).await;
        screen.came(player, &came)?;
        let line = match came {
            BotOutput::Line(ref line) => Line::Text(line),
            BotOutput::TooLong => Line::TooLong,
            BotOutput::Ended(how) => {
                let code = if how.is_some() { FaultCode::Exited } else { FaultCode::Disconnected };
                let how = how.unwrap_or(Detail::OutputEnded);
                return Ok(Err(anyhow!("{code}: {how}")));
            }
            BotOutput::Timeout => {
                let received = match player.talk.received() {
                    Received::Nothing => received,
                    unfinished => unfinished,
                };
                let detail = Detail::NoHello { limit_ms: limits::HELLO_MS, received: Some(received) };
                return Ok(Err(anyhow!("{}: {detail}", FaultCode::NoStart)));
            }
        };
        let rejection = match read_greeting(line) {
            Routed::Hello(hello) => match BotHello::check(hello) {
                Ok(hello) => return Ok(Ok(hello)),
                Err(HelloError::Protocol(detail)) => {
                    let rejection =
                        Rejection::of_hello(ErrorCode::UnsupportedProtocol.into(), detail.to_string());
                    screen.send(player, &error(rejection)).await?;
                    return Ok(Err(anyhow!("{}: {detail}", FaultCode::NoStart)));
                }
                Err(HelloError::Field { refused, message }) => Rejection::of_hello(refused, message),
            },
            Routed::Bye => return Ok(Err(anyhow!("{}: {}", FaultCode::Disconnected, Detail::SaidBye))),
            Routed::NoMessage(code, detail) => Rejection::of_hello(code.into(), detail.to_string()),
            Routed::Rejected(rejection) => rejection,
            // The bot has no matches and may open none.
            Routed::Nothing | Routed::Open(_) | Routed::Match(..) => continue,
        };
        received = Received::Refused(rejection.refused);
        screen.send(player, &error(rejection)).await?;
    }
}

/// The `error` for a line that reaches no match, as a line.
fn error(rejection: Rejection<usize>) -> Vec<u8> {
    let mut line = Vec::new();
    json::write_line(&mut line, &message::FromReferee::<()>::Error(rejection.into_error()));
    line
}

/// Plays the match to its end.
async fn play(
    players: &mut [SeatedBot],
    mut encounter: Encounter,
    screen: &mut DebugScreen,
) -> Result<Exit, Failure> {
    loop {
        encounter.play_others();
        for player in players.iter_mut() {
            let lines = encounter.take_outbox(player.seat);
            if !lines.is_empty() && player.is_here {
                screen.send(player, &lines).await?;
            }
        }
        if encounter.ending().is_some() {
            let mut shown = players.iter().filter(|player| player.is_shown);
            let has_faults = shown.any(|player| encounter.faults(player.seat) > 0);
            return Ok(if has_faults { Exit::No } else { Exit::Done });
        }
        let (index, came) = next(players, encounter.deadline()).await;
        screen.came(&players[index], &came)?;
        let line = match &came {
            BotOutput::Line(line) => Line::Text(line),
            BotOutput::TooLong => Line::TooLong,
            BotOutput::Ended(how) => {
                players[index].is_here = false;
                let code = if how.is_some() { FaultCode::Exited } else { FaultCode::Disconnected };
                encounter.lose(players[index].seat, code, how.as_ref().unwrap_or(&Detail::OutputEnded));
                continue;
            }
            BotOutput::Timeout => {
                encounter.tick(players.iter().map(|player| (player.seat, player.talk.received())));
                continue;
            }
        };
        let player = &mut players[index];
        if let LineOutcome::Rejected(rejection) = handle_line(&mut [(&mut encounter, player.seat)], line) {
            screen.send(player, &error(rejection)).await?;
        }
    }
}

/// Waits for the next output of any player, or for the deadline.
async fn next(players: &mut [SeatedBot], until: Option<Instant>) -> (usize, BotOutput) {
    match players {
        [one] if one.is_here => (0, one.talk.receive(until).await),
        [one, two] => tokio::select! {
            came = one.talk.receive(until), if one.is_here => (0, came),
            came = two.talk.receive(until), if two.is_here => (1, came),
            else => (0, BotOutput::Timeout),
        },
        _ => (0, BotOutput::Timeout),
    }
}
