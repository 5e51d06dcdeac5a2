//! The parsers of untrusted input, one function per fuzz target of `fuzz/`. Each takes arbitrary bytes, must
//! neither panic nor hang, and asserts invariants of all input.

use std::cell::RefCell;
use std::future::Future;
use std::io::Cursor;
use std::pin::pin;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use referee_protocol::limits;
use referee_protocol::referee::{Auth, Clock};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::bot::EngineCommand;
use crate::driver::{
    BotFault, Lane, LaneClock, MatchKey, MatchPlan, Notice, PlannedSeat, Role, Run, SessionKey, Terms,
    incoming,
};
use crate::game::chance::Draw;
use crate::game::erased::{BoardText, Rules, RulesFailed, RulesWait, Table};
use crate::game::json_scanner::JsonScanner;
use crate::game::{Catalog, Chain, Seat, Turn, Viewer, Wrong};
use crate::games::checkers::Board;
use crate::games::chess::Fen;
use crate::program::{Carrier, MOST_DEPTH, MOST_EVENT, MOST_VIEW, Manifest, ProgramRules, Restarts};
use crate::record;
use crate::report::EventText;
use crate::report::replay::{check_packed_record, record_of_page};
use crate::transport::{Line, Lines, MemoryPeer, MemoryStream, memory_stream};
use crate::workers::archive::{ArchiveLimits, check, pack_folder, unpack};
use crate::workers::unit::UnitOutcome;

/// A line of an engine, in each dialect, and the command line of one: a parsed value is written in the same
/// way.
pub fn engine(data: &[u8]) {
    let line = String::from_utf8_lossy(data);
    crate::bridge::read_line(&line);
    let argv: Vec<String> = line.split(' ').map(str::to_owned).collect();
    if let Ok(Some(engine)) = EngineCommand::of(&argv) {
        assert_eq!(EngineCommand::of(&engine.to_argv()), Ok(Some(engine)));
    }
}

/// Splits bytes into lines, with the same result however many bytes a read returns.
pub fn lines(data: &[u8]) {
    let [longest, chunk, bytes @ ..] = data else { return };
    let read = |chunk: usize| {
        let (mut lines, mut all) = (Lines::new((*longest).into()), Vec::new());
        for mut part in bytes.chunks(chunk) {
            while !part.is_empty() {
                let filled = lines.fill(|buffer| std::io::Read::read(&mut part, buffer));
                assert!(filled.is_ok_and(|(read, _)| read > 0));
            }
            while let Some(line) = lines.next_line() {
                all.push(match line {
                    Line::Text(text) => Some(text.to_vec()),
                    Line::TooLong => None,
                });
            }
            let most_held = usize::from(*longest) + 4;
            assert!(lines.held() <= most_held, "{} bytes of an unfinished line", lines.held());
        }
        all
    };
    let all = read(usize::from(*chunk).max(1));
    for line in all.iter().flatten() {
        assert!(line.len() <= (*longest).into() && !line.contains(&b'\n'));
    }
    assert_eq!(all, read(bytes.len().max(1)));
}

/// Parses a line from a bot. A message that can be read is written as a line that means the same.
pub fn message(data: &[u8]) {
    for may_open in [false, true] {
        match incoming::read(data, may_open) {
            (_, Ok(message)) => {
                let written = serde_json::to_string(&message).unwrap_or_else(|error| panic!("{error}"));
                let again = incoming::read(written.as_bytes(), may_open).1;
                let again = again.unwrap_or_else(|error| panic!("{written}: {error:?}"));
                assert_eq!(serde_json::to_string(&again).ok(), Some(written));
            }
            (_, Err(unreadable)) => {
                let message = unreadable.refusal().1;
                assert!(message.len() < 2_000, "{message}");
            }
        }
    }
}

/// Reads a record in all ways there are. A record that verifies can be read in all of them.
pub fn record(data: &[u8]) {
    let catalog = crate::games::catalog();
    let is_valid = record::verify(data, &catalog).is_empty();
    assert_eq!(record::summarize(data, &catalog).is_ok(), is_valid);
    assert_eq!(record::sheet(data, &catalog).is_ok(), is_valid);
    let times = record::times(data).is_ok();
    let playback = record::Playback::verified(data, &catalog).and_then(|mut playback| {
        while let Some(step) = playback.step()? {
            step.table.scene(crate::game::seat::Viewer::Public);
        }
        Ok(())
    });
    assert_eq!(playback.is_ok(), is_valid);
    let lines = record::lines(data).all(|line| line.is_ok());
    record::is_sealed(data);
    assert!(!is_valid || (times && lines));
}

/// Packs text as the record of a page, which restores it, and reads damaged data of a page.
pub fn page(data: &[u8]) {
    check_packed_record(data);
    if let Ok(page) = std::str::from_utf8(data) {
        let restored = record_of_page(page, 1 << 20);
        assert!(restored.is_none_or(|record| record.len() <= 1 << 20));
    }
}

/// Reads a collection of games in every notation, as games and as openings.
pub fn pdn(data: &[u8]) {
    for rules in crate::games::catalog().games() {
        for games in rules.notations().into_iter().filter_map(|notation| notation.check(data)) {
            let games = games.count();
            assert!(games <= data.len());
        }
        for format in rules.opening_files() {
            for opening in [None, Some(4)].into_iter().flat_map(|plies| (format.read)(data, plies)).flatten()
            {
                assert!(opening.line >= 1);
            }
        }
    }
}

/// Reads a position of checkers and of chess. It is written as a FEN of the same position; a game that starts from it has
/// legal moves.
pub fn fen(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let Ok(board) = text.parse::<Board>() {
        start_from(&board, "checkers", serde_json::json!({ "fen": board }));
    }
    if let Ok(fen) = text.parse::<Fen>() {
        start_from(&fen, "chess", serde_json::json!({ "fen": fen, "variant": "chess960" }));
    }
}

fn start_from<P: std::str::FromStr + std::fmt::Display>(position: &P, game: &str, options: Value) {
    let written = position.to_string();
    assert_eq!(written.parse::<P>().ok().map(|position| position.to_string()), Some(written));
    let rules = crate::games::catalog().find(game).unwrap_or_else(|error| panic!("{error}"));
    let options = serde_json::value::to_raw_value(&options);
    let options = options.unwrap_or_else(|error| panic!("{error}"));
    let Ok(mut table) = rules.open(&options, rules.meta().seatings[0]) else { return };
    let mut legal = Vec::new();
    for _ in 0..8 {
        let Turn::Decide(decision) = table.ask() else { return };
        let Some(seat) = decision.seats().iter().next() else { panic!("a decision without a seat") };
        legal.clear();
        table.write_legal(&decision, seat, &mut legal);
        assert!(table.count(&decision, seat) > 0 && serde_json::from_slice::<Vec<String>>(&legal).is_ok());
        if table.play(decision, &[0]).is_err() {
            return;
        }
    }
}

/// Unpacks an archive. A valid one unpacks to files that give the same archive.
pub fn archive(data: &[u8]) {
    let limits = ArchiveLimits { bytes: 1 << 16, entries: 100 };
    let Ok(id) = check(data, limits) else { return };
    let folder = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
    unpack(Cursor::new(data), &id, folder.path(), limits).unwrap_or_else(|error| panic!("{}", Chain(&error)));
    // Packing leaves these out.
    if ![&b".git"[..], b"__pycache__"].iter().any(|name| data.windows(name.len()).any(|part| part == *name)) {
        let mut again = Vec::new();
        let packed = pack_folder(folder.path(), ArchiveLimits::BOT, &mut again)
            .unwrap_or_else(|error| panic!("{}", Chain(&error)));
        assert!(again == data && packed.id == id);
    }
}

/// Decodes the outcome of a worker. A decoded outcome survives another round.
pub fn outcome(data: &[u8]) {
    let Ok(outcome) = UnitOutcome::decode(data) else { return };
    let encoded = outcome.encode().unwrap_or_else(|error| panic!("{}", Chain(&error)));
    assert_eq!(UnitOutcome::decode(&encoded).ok(), Some(outcome));
}

/// Reads a tournament file. A valid one round-trips: it is equal after writing and reading.
pub fn tournament(data: &[u8]) {
    if let Ok(text) = std::str::from_utf8(data) {
        crate::cli::read_tournament(text, &crate::games::catalog());
    }
}

/// Answers requests about imagined positions. Each line but an empty one has one answer, and none changes the
/// meaning of the next.
pub fn imagine(data: &[u8]) {
    let mut server = crate::cli::ImagineServer::new(crate::games::catalog());
    for line in data.split(|&byte| byte == b'\n').take(20) {
        // Many playouts take long, as they should.
        let count =
            serde_json::from_slice::<Value>(line).map_or(0, |request| request["count"].as_u64().unwrap_or(0));
        if count > 4 {
            continue;
        }
        let mut answer = Vec::new();
        server.answer(line, &mut answer);
        let text = answer.strip_suffix(b"\n").unwrap_or_default();
        assert_eq!(text.is_empty(), line.is_empty());
        if !line.is_empty() {
            let answer: Value = serde_json::from_slice(text).unwrap_or_else(|error| panic!("{error}"));
            assert!(answer["type"].is_string());
        }
    }
}

/// Gives each line as the answer to one request, in turn.
#[derive(Debug)]
struct Answers {
    lines: Vec<Vec<u8>>,
    asked: AtomicUsize,
}

impl Carrier for Answers {
    fn wait(&self) -> RulesWait {
        RulesWait::None
    }

    fn ask(
        &self,
        _: &[u8],
        accept: &mut dyn FnMut(&[u8]) -> Result<(), Wrong>,
    ) -> Result<Restarts, RulesFailed> {
        let asked = self.asked.fetch_add(1, Ordering::Relaxed);
        let bad = |what: Wrong| RulesFailed::Because(Chain(&what).to_string().into());
        accept(&self.lines[asked % self.lines.len()]).map_err(bad)?;
        Ok(Restarts::default())
    }
}

/// The game whose rules give these answers. Its description is never freed.
static GAME: LazyLock<ProgramRules> = LazyLock::new(|| {
    let manifest = "protocol = 1\nid = \"fuzzed\"\ntitle = \"Fuzzed\"\nversion = 1\ncommand = \"./fuzzed\"\nseats = 2\n\
                    hidden = true\nchance = true\nsimultaneous = true\nreasons = [\"won\"]\n";
    let manifest = Manifest::read(manifest).unwrap_or_else(|error| panic!("{error}"));
    let answers = Box::new(Answers { lines: vec![Vec::new()], asked: AtomicUsize::default() });
    ProgramRules::new(&manifest, "", serde_json::Map::new(), RawValue::NULL.to_owned(), answers)
});

/// Plays with rules that give these lines as answers. An accepted position can be read by every parser, and
/// drawn.
pub fn rules(data: &[u8]) {
    let lines = data.split(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect();
    let rules = GAME.with_carrier(Box::new(Answers { lines, asked: AtomicUsize::default() }));
    let Ok(mut table) = rules.open(&rules.default_options(), rules.meta().seatings[0]) else { return };
    let portable = |levels: usize, bytes: &[u8], most: usize| {
        let text = std::str::from_utf8(bytes).unwrap_or_else(|error| panic!("{error}"));
        let read = JsonScanner::portable(MOST_DEPTH - levels, text).object(|_, _| ());
        assert!(read.is_ok() && bytes.len() <= most, "{read:?} {text}");
        assert!(!text.contains(['\n', '\r', '\u{2028}']), "{text}");
    };
    for _ in 0..20 {
        for viewer in [Viewer::Omniscient, Viewer::Public, Viewer::Seat(Seat(0)), Viewer::Seat(Seat(1))] {
            let mut events = Vec::new();
            for index in 0..table.event_count() {
                let begin = events.len();
                table.write_event(index, viewer, &mut events);
                portable(2, &events[begin..], MOST_EVENT);
                events.push(b'\n');
            }
            assert_eq!(EventText::events(&events).count(), table.event_count());
            assert!(BoardText(&*table, viewer).to_string().ends_with('\n'));
            drop(table.scene(viewer));
        }
        table.forget();
        if !advance(&mut *table, portable) {
            return;
        }
    }
}

/// Makes the first legal moves or draws. Returns whether the game goes on.
fn advance(table: &mut dyn Table, portable: impl Fn(usize, &[u8], usize)) -> bool {
    let went_on = match table.ask() {
        Turn::Decide(decision) => {
            for seat in decision.seats().iter() {
                let (mut view, mut legal) = (Vec::new(), Vec::new());
                table.write_view(&decision, seat, &mut view);
                portable(3, &view, MOST_VIEW);
                table.write_legal(&decision, seat, &mut legal);
                assert!(serde_json::from_slice::<Vec<String>>(&legal).is_ok_and(|legal| !legal.is_empty()));
            }
            let indices = vec![0; decision.seats().len()];
            table.play(decision, &indices)
        }
        Turn::Draw(Draw::Dice { count, .. }) => table.settle(&vec![1; count.into()]),
        Turn::Draw(Draw::Pick { .. }) => table.settle(&[0]),
        Turn::Draw(Draw::Shuffle { len }) => table.settle(&(0..len.into()).collect::<Vec<u32>>()),
        Turn::Over(_) => return false,
    };
    went_on.is_ok()
}

/// The key of the match, and the peers of a lane.
struct Peers {
    lane: Lane<MemoryStream>,
    peers: Vec<(SessionKey, Option<MemoryPeer>)>,
    key: Option<MatchKey>,
    catalog: Catalog,
}

thread_local! {
    static RUNTIME: RefCell<Option<tokio::runtime::Runtime>> = const { RefCell::new(None) };
}

/// A match between two peers over streams without TLS. The first two bytes choose the game and the roles; each line of the
/// rest is a step, whose first byte selects the event.
pub fn session(data: &[u8]) {
    RUNTIME.with_borrow_mut(|runtime| {
        let runtime = runtime.get_or_insert_with(|| {
            let built = tokio::runtime::Builder::new_current_thread().enable_time().build();
            built.unwrap_or_else(|error| panic!("{error}"))
        });
        let _guard = runtime.enter();
        play_session(data);
    });
}

fn play_session(data: &[u8]) {
    let [game, roles, steps @ ..] = data else { return };
    let (clock, pause) = LaneClock::unwatched();
    let catalog = crate::games::catalog();
    let mut peers = Peers { lane: Lane::with_clock(clock), peers: Vec::new(), key: None, catalog };
    let role = match roles % 4 {
        0 => Role::Host { may_open: roles & 4 == 0 },
        1 => Role::Connection { auth: Auth::Token, reconnects: false },
        _ => Role::Process,
    };
    for _ in 0..2 {
        let (stream, peer) = memory_stream(if roles & 8 == 0 { 1 << 20 } else { 300 });
        peers.peers.push((peers.lane.add(role, stream, Duration::from_secs(3600)), Some(peer)));
    }
    let clock = Clock { delay_ms: 3_600_000, bank_ms: 0, increment_ms: 0 };
    peers.open(*game, (roles & 16 == 0).then_some(clock), roles & 32 == 0);
    peers.run();
    for step in steps.split(|&byte| byte == b'\n').take(200) {
        let Some((&what, rest)) = step.split_first() else { continue };
        let which = usize::from(what & 1);
        match what {
            // A line, and the beginning of one.
            b'0' | b'1' => peers.send(which, &[rest, b"\n"].concat()),
            b'a' | b'b' => peers.send(which, rest),
            b'h' | b'i' => {
                let hello = b"{\"type\":\"hello\",\"protocol\":1,\"name\":\"bot\",\"slots\":4}\n";
                peers.send(which, hello);
            }
            b'y' | b'x' => peers.send(which, b"{\"type\":\"ready\",\"match\":\"m1\"}\n"),
            // An answer to the open request of this seat.
            b'm' => peers.answer(rest.first().copied().unwrap_or_default()),
            b'r' => peers.receive(),
            b'e' | b'd' => {
                if let Some(peer) = &peers.peers[which].1 {
                    peer.end();
                }
            }
            b'z' | b'w' => peers.peers[which].1 = None,
            b'p' => pause(Duration::from_secs(rest.first().copied().unwrap_or_default().into())),
            b'f' => drop(peers.lane.forget(peers.peers[which].0)),
            _ => {}
        }
        peers.run();
    }
    if let Some(key) = peers.key {
        peers.lane.abort(key, &crate::referee::AbortReason::Interrupted);
    }
    peers.run();
    assert!(peers.lane.running().is_empty(), "the match has not ended");
    peers.receive();
}

impl Peers {
    fn open(&mut self, game: u8, clock: Option<Clock>, auto_ready: bool) {
        let games: Vec<_> = self.catalog.games().collect();
        let rules = games[usize::from(game) % games.len()];
        let seating = rules.meta().seatings[0];
        let seats = vec![PlannedSeat::new("bot".to_owned(), 3_600_000); seating.seats()];
        let options = rules.default_options();
        let plan = MatchPlan { auto_ready, ..MatchPlan::new(rules, &options, seating, seats) };
        let terms = Terms { clock, ..Terms::default() };
        let run = Run { seed: crate::game::chance::Seed([7; 32]), terms };
        let (setup, table) = run.set_up(&terms, plan).unwrap_or_else(|error| panic!("{error}"));
        let places = (0..seating.seats()).map(|seat| Ok(self.peers[seat % 2].0)).collect();
        self.key = Some(self.lane.open(setup, table, places));
    }

    /// Runs the lane until it waits for input.
    fn run(&mut self) {
        let mut cx = Context::from_waker(Waker::noop());
        loop {
            let Poll::Ready(notice) = pin!(self.lane.next()).poll(&mut cx) else { return };
            match notice {
                Notice::Gone { session, waiting, .. } => {
                    self.lane.forget(session);
                    for (key, seat) in waiting {
                        let code = referee_protocol::words::FaultCode::Exited;
                        let fault = BotFault { code, detail: crate::referee::Detail::OutputEnded };
                        self.lane.seat(key, seat, Err(fault), 1);
                    }
                }
                Notice::OpenAsked(session, open) => {
                    let code = referee_protocol::words::ErrorCode::BadSetup;
                    self.lane.refuse(session, code, "no".to_owned(), open.id);
                }
                Notice::Ended(mut finished) => {
                    self.key = None;
                    let mut log = finished.play.take_log().text();
                    record::seal(&mut log, finished.play.reveal());
                    let differences = record::verify(&log, &self.catalog);
                    assert!(differences.is_empty(), "{differences:?}\n{}", String::from_utf8_lossy(&log));
                }
                _ => {}
            }
        }
    }

    fn send(&self, which: usize, bytes: &[u8]) {
        if let Some(peer) = &self.peers[which].1 {
            peer.send(bytes);
        }
    }

    /// Answers all open requests with a legal move.
    fn answer(&mut self, choice: u8) {
        let Some(play) = self.key.and_then(|key| self.lane.match_mut(key)) else { return };
        let mut answers = Vec::new();
        for seat in (0..play.setup().header.seats.len() as u8).map(Seat) {
            if let (Some(turn), Some(decision)) = (play.open_request(seat), play.decision()) {
                let index = usize::from(choice) % play.table().count(decision, seat);
                let text = play.table().text(decision, seat, index);
                let seat = seat.0;
                answers.push((
                    usize::from(seat) % 2,
                    serde_json::json!({
                        "type": "move", "match": "m1", "seat": seat, "turn": turn, "move": text,
                    }),
                ));
            }
        }
        for (which, answer) in answers {
            self.send(which, format!("{answer}\n").as_bytes());
        }
    }

    /// Reads the output of the lane: complete lines, each a message.
    fn receive(&self) {
        for peer in self.peers.iter().filter_map(|(_, peer)| peer.as_ref()) {
            let received = peer.receive();
            let mut lines: Vec<&[u8]> = received.split(|&byte| byte == b'\n').collect();
            // The first and the last may be parts of lines, if the peer has accepted no more.
            lines.pop();
            for line in lines.iter().skip(1) {
                let message: Value = serde_json::from_slice(line).unwrap_or_else(|error| panic!("{error}"));
                assert!(message["type"].is_string() && line.len() < limits::LINE_FROM_REFEREE);
            }
        }
    }
}
