//! The referee on its own standard input and output: the other end holds all seats.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use referee_protocol::bot::Open;
use referee_protocol::words::{ErrorCode, FaultCode};
use rustix::fs::OFlags;
use serde_json::value::RawValue;

use crate::core::chance::Seed;
use crate::core::erased::Rules;
use crate::core::hex;
use crate::core::seat::Seating;
use crate::games;
use crate::referee::{Leg, Opening};
use crate::server::archive;
use crate::server::lane::{Finished, Lane, Notice};
use crate::server::run::{Plan, PlannedSeat, Run, Terms, check_clock};
use crate::server::session::{Role, SessionKey};
use crate::store::Records;
use crate::transport::{Stream, Wire};

/// What is served on standard input and output.
pub struct HostRun {
    /// The seed and the terms; an `open` may set its own clock and fault policy.
    pub run: Run,
    /// Where records go.
    pub records: Option<Records>,
    /// The matches that the referee opens; none: the host opens them.
    pub matches: Option<HostMatches>,
}

/// Matches that the referee opens.
pub struct HostMatches {
    /// The game.
    pub rules: &'static dyn Rules,
    /// Its options.
    pub options: Box<RawValue>,
    /// How the seats play together.
    pub seating: Seating,
    /// How many.
    pub matches: u32,
}

/// How it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostPlayed {
    /// Matches that ended with a result.
    pub matches: u32,
    /// Matches that were broken off.
    pub aborted: u32,
    /// Whether the run was interrupted.
    pub interrupted: bool,
}

/// Puts the flags of a descriptor back: others may share it, a shell its terminal.
struct Restore(OwnedFd, OFlags);

impl Drop for Restore {
    fn drop(&mut self) {
        let _ = rustix::fs::fcntl_setfl(&self.0, self.1);
    }
}

fn take(fd: impl AsFd) -> io::Result<(OwnedFd, Restore)> {
    let flags = rustix::fs::fcntl_getfl(&fd)?;
    let fd = fd.as_fd();
    Ok((fd.try_clone_to_owned()?, Restore(fd.try_clone_to_owned()?, flags)))
}

/// Serves the host on standard input and output until it leaves or the matches are played.
///
/// # Errors
/// When the descriptors cannot be used or a record cannot be kept.
pub async fn serve_host(host: HostRun, interrupt: impl Future<Output = ()>) -> io::Result<HostPlayed> {
    let (input, _restore_input) = take(io::stdin())?;
    let (output, _restore_output) = take(io::stdout())?;
    let mut lane = Lane::new();
    let role = Role::Host { may_open: host.matches.is_none() };
    let hello = Duration::from_millis(host.run.terms.hello_ms);
    let session = lane.add(role, Stream::watch(Wire::pipes(input, output, None))?, hello);
    let played = HostPlayed { matches: 0, aborted: 0, interrupted: false };
    let mut server = Server { host, lane, session, opened: 0, played };
    let mut interrupt = std::pin::pin!(interrupt);
    let mut served = Ok(());
    while served.is_ok() && !server.is_over() {
        tokio::select! {
            biased;
            () = &mut interrupt, if !server.played.interrupted => {
                server.played.interrupted = true;
                for key in server.lane.running() {
                    server.lane.abort(key, "interrupted");
                }
            }
            notice = server.lane.next() => served = server.take_in(notice),
        }
    }
    // The end of the last match may still be among what it has not got.
    server.lane.dismiss(session, "the run is over");
    server.lane.drained(session, Duration::from_secs(1)).await;
    served.map(|()| server.played)
}

struct Server {
    host: HostRun,
    lane: Lane,
    session: SessionKey,
    /// How many matches were opened.
    opened: u32,
    played: HostPlayed,
}

impl Server {
    fn is_over(&self) -> bool {
        let all_played = self.host.matches.as_ref().is_some_and(|matches| self.opened == matches.matches);
        let has_left = !self.lane.is_live(self.session);
        self.running() == 0 && (all_played || has_left || self.played.interrupted)
    }

    fn take_in(&mut self, notice: Notice) -> io::Result<()> {
        match notice {
            Notice::Greeted(_) => self.open_more(),
            Notice::OpenAsked(_, open) => {
                let id = open.id.clone();
                if let Err((code, what)) = self.open_asked(*open) {
                    self.lane.refuse(self.session, code, what, id);
                }
                Ok(())
            }
            Notice::Ended(finished) => {
                self.keep(*finished)?;
                self.open_more()
            }
            Notice::Gone { code: FaultCode::NoStart, detail, .. } => {
                Err(io::Error::other(format!("the host did not introduce itself: {detail}")))
            }
            Notice::Moved(_) | Notice::Gone { .. } => Ok(()),
        }
    }

    /// How many matches run.
    fn running(&self) -> usize {
        (self.opened - self.played.matches - self.played.aborted) as usize
    }

    fn slots(&self) -> usize {
        self.lane.hello(self.session).map_or(1, |hello| hello.slots)
    }

    /// Opens matches of the referee's own while there are slots.
    fn open_more(&mut self) -> io::Result<()> {
        while let Some(own) = &self.host.matches
            && self.opened < own.matches
            && self.running() < self.slots()
            && self.lane.is_live(self.session)
            && !self.played.interrupted
        {
            let (rules, seating) = (own.rules, own.seating);
            let options = own.options.clone();
            let open = Open {
                id: None,
                game: rules.meta().id.to_owned(),
                seats: Some(seating.seats() as u64),
                options: Some(options),
                seed: None,
                deal: None,
                clock: None,
                on_fault: None,
                auto_ready: false,
            };
            self.open_asked(open).map_err(|(_, what)| io::Error::other(what))?;
        }
        Ok(())
    }

    fn open_asked(&mut self, open: Open<Box<RawValue>>) -> Result<(), (ErrorCode, String)> {
        let bad = |what: String| (ErrorCode::BadSetup, what);
        if self.running() >= self.slots() {
            let what = format!("all {} slots are in use: say more `slots` in `hello`, or wait", self.slots());
            return Err((ErrorCode::NoSlot, what));
        }
        let rules = games::find(&open.game).ok_or_else(|| bad(games::unknown(&open.game)))?;
        let seating = games::seating(rules, open.seats).map_err(bad)?;
        let seed = open.seed.as_deref().map(|seed| {
            let digits = hex::decode32(seed).map(Seed);
            digits.ok_or_else(|| bad("`seed` is exactly 64 lower-case hex digits".to_owned()))
        });
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        if open
            .deal
            .as_ref()
            .is_some_and(|deal| !(1..=64).contains(&deal.len()) || !deal.chars().all(is_plain))
        {
            return Err(bad("`deal` is 1 to 64 of ASCII letters, digits, `.`, `_` and `-`".to_owned()));
        }
        let terms = Terms {
            clock: open.clock.unwrap_or(self.host.run.terms.clock),
            on_fault: open.on_fault.unwrap_or(self.host.run.terms.on_fault),
            ..self.host.run.terms
        };
        if let Some(clock) = terms.clock {
            check_clock(clock).map_err(bad)?;
        }
        let hello = self.lane.hello(self.session);
        let name = hello.map_or("host", |hello| &hello.name);
        let wants = hello.map(|hello| hello.wants).unwrap_or_default();
        let seats = (0..seating.seats()).map(|seat| PlannedSeat {
            name: if seating.seats() == 1 { name.to_owned() } else { format!("{name}-{}", seat + 1) },
            ready_ms: terms.ready_ms(!self.lane.has_played(self.session)),
            clock: None,
            bot: None,
            wants,
        });
        let none = rules.default_options();
        let plan = Plan {
            id: format!("m{}", self.opened + 1),
            deal: open.deal,
            seed: seed.transpose()?,
            rules,
            options: open.options.as_deref().unwrap_or(&none),
            seating,
            seats: seats.collect(),
            opening: Opening::None,
            leg: Leg::Only,
            open_id: open.id,
            auto_ready: open.auto_ready,
            watched: false,
        };
        let (setup, table) = self.host.run.set_up(&terms, plan).map_err(|error| bad(error.to_string()))?;
        self.lane.open(setup, table, vec![Ok(self.session); seating.seats()]);
        self.opened += 1;
        Ok(())
    }

    fn keep(&mut self, Finished { mut play, ending, .. }: Finished) -> io::Result<()> {
        match ending.ranks {
            Some(_) => self.played.matches += 1,
            None => self.played.aborted += 1,
        }
        let Some(records) = &self.host.records else { return Ok(()) };
        let (mut record, reveal) = (play.take_log(), play.reveal());
        archive::seal(records, &play.setup().header.r#match, &mut record, reveal).map_err(io::Error::other)
    }
}
