//! `referee debug`: a match with every line that passes.

use std::io::{self, BufRead, Write};
use std::time::Duration;

use clap::Args as ClapArgs;
use referee_protocol::limits;
use referee_protocol::referee as message;
use referee_protocol::words::FaultCode;
use tokio::time::Instant;

use crate::bot::Command;
use crate::check::{Came, Encounter, Talk, hello};
use crate::cli::options::{ClockOption, GameOptions, clock, game, random_seed};
use crate::cli::{Exit, Failure, block_on};
use crate::core::json;
use crate::core::seat::{Seat, Seating};
use crate::games;
use crate::referee::{Leg, Opening, Wants};
use crate::server::incoming::{self, Incoming};
use crate::server::{Plan, PlannedSeat, Run, Terms};

/// Play a match with a bot and show every line both ways, with the time
///
/// `>` is what the bot is sent, `<` what it says, `!` what it writes to standard error. The other seats make random moves,
/// or another bot plays them. Exit code 1 if the bot has a fault.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee debug 'python3 mybot.py' checkers
  referee debug 'python3 mybot.py' checkers --seat 1 --set fen=W:W18:B12
  referee debug ./bot jeex --against ./other --step --clock none")]
pub(super) struct Args {
    /// The bot: a command line in one argument, split as a shell would and run without a shell
    bot: Command,
    /// The game: see `referee games`
    game: String,
    /// Another bot for the next seat; what is left is random
    #[arg(long, value_name = "BOT")]
    against: Option<Command>,
    /// The bot's seat
    #[arg(long, value_name = "N", default_value_t = 0)]
    seat: u8,
    /// How many seats [default: the game's smallest number]
    #[arg(long, value_name = "N")]
    seats: Option<u8>,
    /// Ask on standard error before each line is sent to the bot: Enter sends it
    #[arg(long)]
    step: bool,
    /// The clock of every seat, as for `referee play`
    #[arg(long, default_value = "delay=5s,bank=60s", value_parser = clock)]
    clock: ClockOption,
    #[command(flatten)]
    options: GameOptions,
}

/// A bot and its seat.
struct Player {
    talk: Talk,
    seat: Seat,
    wants: Wants,
    is_shown: bool,
    is_here: bool,
}

/// Shows what passes.
struct Screen {
    began: Instant,
    /// Whether to ask before a line is sent.
    is_asking: bool,
}

impl Screen {
    fn show(&self, mark: char, line: &[u8]) -> io::Result<()> {
        let time = self.began.elapsed().as_secs_f64();
        writeln!(io::stdout(), "{time:10.6} {mark} {}", String::from_utf8_lossy(line).trim_end())
    }

    /// Waits until the person wants the next line to be sent.
    fn ask(&mut self) -> io::Result<()> {
        if self.is_asking {
            eprint!("send? [Enter] ");
            // At the end of the input nobody is there to ask any more.
            self.is_asking = io::stdin().lock().read_line(&mut String::new())? > 0;
        }
        Ok(())
    }

    /// Sends lines to a player and shows them.
    async fn send(&mut self, player: &mut Player, lines: &[u8]) -> io::Result<()> {
        let patience = Duration::from_millis(limits::STALLED_MS);
        if !player.is_shown {
            player.talk.say(lines, patience).await;
        } else if self.is_asking {
            for line in lines.split_inclusive(|&byte| byte == b'\n') {
                self.show('>', line)?;
                self.ask()?;
                player.talk.say(line, patience).await;
            }
        } else {
            // In one write, as in any match.
            lines.split_inclusive(|&byte| byte == b'\n').try_for_each(|line| self.show('>', line))?;
            player.talk.say(lines, patience).await;
        }
        Ok(())
    }

    /// Shows what came from a player.
    fn came(&self, player: &Player, came: &Came) -> io::Result<()> {
        if !player.is_shown {
            return Ok(());
        }
        for line in player.talk.stderr().lines() {
            self.show('!', line.as_bytes())?;
        }
        match came {
            Came::Line(line) => self.show('<', line),
            Came::TooLong => self.show('<', b"(a line of more than 65536 bytes)"),
            Came::Ended(how) => {
                let how = how.as_deref().map(|how| format!(", {how}")).unwrap_or_default();
                self.show('<', format!("(the end of its output{how})").as_bytes())
            }
            Came::Nothing => Ok(()),
        }
    }
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let rules = game(&args.game)?;
    let seating = games::seating(rules, args.seats).map_err(Failure::usage)?;
    if usize::from(args.seat) >= seating.seats() {
        return Err(Failure::usage(format!(
            "--seat {}: there are seats 0 to {}",
            args.seat,
            seating.seats() - 1
        )));
    }
    let options = args.options.to_json()?;
    rules.open(&options, seating).map_err(Failure::usage)?;
    let run = Run { seed: random_seed()?, terms: Terms { clock: args.clock.0, ..Terms::default() } };
    block_on(async {
        let mut screen = Screen { began: Instant::now(), is_asking: args.step };
        let mut players = start(args, seating, &mut screen).await?;
        let named = |seat: usize| players.iter().find(|player| player.seat.index() == seat);
        let seats = (0..seating.seats()).map(|seat| PlannedSeat {
            name: named(seat)
                .map_or("random", |player| if player.is_shown { "bot" } else { "other" })
                .to_owned(),
            ready_ms: limits::FIRST_READY_MS,
            clock: None,
            bot: None,
            wants: named(seat).map_or_else(Wants::default, |player| player.wants),
        });
        let plan = Plan {
            id: "m1".to_owned(),
            deal: None,
            seed: None,
            rules,
            options: &options,
            seating,
            seats: seats.collect(),
            opening: Opening::None,
            leg: Leg::Only,
            open_id: None,
            auto_ready: false,
            watched: false,
        };
        let chooser = run.seed.match_key(rules.meta().id, "random moves", &[""; 0]).fallback();
        let bots = players.iter().map(|player| player.seat).collect();
        let encounter = Encounter::open(&run, plan, bots, chooser).map_err(Failure::usage)?;
        let exit = play(&mut players, encounter, &mut screen).await?;
        for mut player in players {
            screen.send(&mut player, b"{\"type\":\"bye\",\"reason\":\"the match is over\"}\n").await?;
            player.talk.finish().await;
        }
        Ok(exit)
    })?
}

/// Starts the bots and has them introduce themselves.
async fn start(args: &Args, seating: Seating, screen: &mut Screen) -> Result<Vec<Player>, Failure> {
    let mut players = Vec::new();
    for (index, command) in [Some(&args.bot), args.against.as_ref()].into_iter().flatten().enumerate() {
        let seat = Seat((usize::from(args.seat) + index).rem_euclid(seating.seats()) as u8);
        let talk = Talk::start(command)
            .map_err(|error| Failure::cannot_run(format!("the bot cannot be started: {error}")))?;
        let mut player = Player { talk, seat, wants: Wants::default(), is_shown: index == 0, is_here: true };
        screen.send(&mut player, &hello()).await?;
        let until = Instant::now() + Duration::from_millis(limits::HELLO_MS);
        let came = player.talk.come(Some(until)).await;
        screen.came(&player, &came)?;
        let Came::Line(line) = came else {
            return Err(Failure::cannot_run(format!("`{command}` says no `hello`")));
        };
        let Ok(Incoming::Hello(hello)) = incoming::read(&line, false).1 else {
            return Err(Failure::cannot_run(format!("what `{command}` says first is no `hello`")));
        };
        player.wants = Wants::from(&hello);
        players.push(player);
    }
    Ok(players)
}

/// Plays the match to its end.
async fn play(
    players: &mut [Player],
    mut encounter: Encounter,
    screen: &mut Screen,
) -> Result<Exit, Failure> {
    loop {
        encounter.others_act();
        for player in players.iter_mut() {
            let lines = encounter.take_outbox(player.seat);
            if !lines.is_empty() && player.is_here {
                screen.send(player, &lines).await?;
            }
            encounter.sent(player.seat);
        }
        if encounter.ending().is_some() {
            let mut shown = players.iter().filter(|player| player.is_shown);
            let has_faults = shown.any(|player| encounter.faults(player.seat) > 0);
            return Ok(if has_faults { Exit::No } else { Exit::Done });
        }
        let (index, came) = next(players, encounter.deadline()).await;
        let Some(player) = players.get_mut(index) else { continue };
        screen.came(player, &came)?;
        match came {
            Came::Line(line) if line.is_empty() => {}
            Came::Line(line) => {
                if let Err(refused) = encounter.hear(player.seat, &line) {
                    let error = message::Error {
                        code: refused.code,
                        message: refused.message,
                        id: None,
                        r#match: None,
                        seat: None,
                        turn: None,
                        legal_forms: None,
                    };
                    let mut lines = Vec::new();
                    json::write_line(&mut lines, &message::FromReferee::<()>::Error(error));
                    screen.send(player, &lines).await?;
                }
            }
            Came::TooLong => encounter.hear_too_long(player.seat),
            Came::Ended(how) => {
                player.is_here = false;
                let code = if how.is_some() { FaultCode::Exited } else { FaultCode::Disconnected };
                encounter.lose(player.seat, code, how.as_deref().unwrap_or("its output ended"));
            }
            Came::Nothing => encounter.tick(),
        }
    }
}

/// What comes next, and from which player; nothing when the deadline is there.
async fn next(players: &mut [Player], until: Option<Instant>) -> (usize, Came) {
    match players {
        [one] if one.is_here => (0, one.talk.come(until).await),
        [one, two] => tokio::select! {
            came = one.talk.come(until), if one.is_here => (0, came),
            came = two.talk.come(until), if two.is_here => (1, came),
            else => (0, Came::Nothing),
        },
        _ => (0, Came::Nothing),
    }
}
