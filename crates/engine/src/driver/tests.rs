//! The lane with real sockets and with streams in memory.

use std::collections::BTreeSet;
use std::io::Write;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use referee_match::{AbortReason, Detail};
use referee_protocol::referee::{Auth, Clock as Limits};
use referee_protocol::words::FaultCode;
use referee_transport::{ByteStream, MemoryPeer, MemoryStream, Stream, Wire, memory_stream};

use super::buffered_stream::BufferedStream;
use super::lane::Timer;
use super::*;
use crate::driver::plan::match_of_checkers;

/// A lane with a match for which no seat has to be ready, the other end of its stream, which sends nothing, and a
/// function that pauses the referee.
fn playing(clock: Option<Limits>) -> (Lane, MatchKey, UnixStream, impl Fn(Duration)) {
    let (clock_of_lane, pause) = LaneClock::unwatched();
    let mut lane = Lane::with_clock(clock_of_lane);
    let (near, mut far) = UnixStream::pair().unwrap();
    let wire = Wire::pipes(near.try_clone().unwrap().into(), near.into(), None);
    let host = lane.add(Role::Host { may_open: false }, Stream::watch(wire).unwrap(), Duration::from_secs(9));
    far.write_all(b"{\"type\":\"hello\",\"protocol\":1}\n").unwrap();
    let (setup, table) = match_of_checkers(clock, false);
    let key = lane.open(setup, table, vec![Ok(host); 2]);
    (lane, key, far, pause)
}

const SECOND: Option<Limits> = Some(Limits { delay_ms: 1000, bank_ms: 0, increment_ms: 0 });

/// The result of a match, if it ends within 20 ms.
async fn news<S: ByteStream>(lane: &mut Lane<S>) -> Option<Finished> {
    loop {
        match tokio::time::timeout(Duration::from_millis(20), lane.next()).await {
            Ok(Notice::Ended(finished)) => return Some(*finished),
            Ok(_) => {}
            Err(_) => return None,
        }
    }
}

#[tokio::test]
async fn a_match_that_is_paused_for_too_long_is_aborted() {
    let (mut lane, key, _far, pause) = playing(SECOND);
    assert!(news(&mut lane).await.is_none());
    for _ in 0..2 {
        pause(Duration::from_secs(30));
        assert!(news(&mut lane).await.is_none());
    }
    pause(Duration::from_millis(1));
    let Finished { key: ended, play, ending, .. } = news(&mut lane).await.unwrap();
    assert_eq!((ended, ending.ranks), (key, None));
    assert_eq!(play.paused(), 60_001_000);
    let record = String::from_utf8(play.log().text()).unwrap();
    assert!(record.contains(r#""reason":{"kind":"paused","most_ms":60000}"#), "{record}");
}

#[tokio::test]
async fn a_finished_match_leaves_no_alarm() {
    let day = Limits { delay_ms: 24 * 60 * 60 * 1000, bank_ms: 0, increment_ms: 0 };
    let (mut lane, key, _far, _) = playing(Some(day));
    assert!(news(&mut lane).await.is_none());
    assert!(lane.timers.keys().any(|timer| timer == Timer::Match(key)));
    lane.abort(key, &AbortReason::Interrupted);
    news(&mut lane).await.unwrap();
    assert!(lane.timers.keys().all(|timer| matches!(timer, Timer::Session(_))));
}

#[tokio::test]
async fn a_match_without_a_clock_may_be_paused_indefinitely() {
    let (mut lane, key, _far, pause) = playing(None);
    assert!(news(&mut lane).await.is_none());
    pause(Duration::from_secs(3600));
    assert!(news(&mut lane).await.is_none());
    assert_eq!(lane.match_mut(key).unwrap().paused(), 3_600_000_000);
}

#[tokio::test]
async fn a_pause_postpones_deadlines() {
    let (mut lane, _, _far, pause) = playing(SECOND);
    assert!(news(&mut lane).await.is_none());
    // As if the last 400 ms had been a pause.
    std::thread::sleep(Duration::from_millis(400));
    pause(Duration::from_millis(400));
    let ended =
        tokio::time::timeout(Duration::from_millis(700), async { while news(&mut lane).await.is_none() {} });
    assert!(ended.await.is_err(), "its second is not over");
    let ended = tokio::time::timeout(Duration::from_secs(30), async {
        loop {
            if let Some(finished) = news(&mut lane).await {
                return finished;
            }
        }
    });
    assert_eq!(ended.await.unwrap().ending.reason, "timeout");
}

#[tokio::test]
async fn a_round_reads_all_ready_streams_however_many() {
    const STREAMS: usize = 300;
    let mut lane = Lane::new();
    let mut peers = Vec::new();
    for _ in 0..STREAMS {
        let (near, mut far) = UnixStream::pair().unwrap();
        far.write_all(b"{\"type\":\"hello\",\"protocol\":1,\"name\":\"bot\"}\n").unwrap();
        let stream = Stream::watch(Wire::socket(near.into(), None)).unwrap();
        lane.add(Role::Process, stream, Duration::from_secs(60));
        peers.push(far);
    }
    assert!(matches!(lane.next().await, Notice::Greeted(_)));
    let others = std::iter::from_fn(|| lane.noticed()).filter(|notice| matches!(notice, Notice::Greeted(_)));
    assert_eq!(1 + others.count(), STREAMS);
}

/// Asserts that the answer to the first request counts if it arrives after these lines at once, and the referee reads
/// them after the time limit.
async fn counts_after(lines: &str) {
    let mut lane = Lane::with_clock(LaneClock::unwatched().0);
    let (stream, peer) = memory_stream(1 << 20);
    let host = lane.add(Role::Host { may_open: true }, stream, Duration::from_secs(60));
    peer.send(b"{\"type\":\"hello\",\"protocol\":1,\"name\":\"host\"}\n");
    assert!(matches!(lane.next().await, Notice::Greeted(_)));
    let (setup, table) = match_of_checkers(SECOND, false);
    let key = lane.open(setup, table, vec![Ok(host); 2]);
    run(&mut lane).await;
    let answer = "{\"type\":\"move\",\"match\":\"m1\",\"seat\":0,\"turn\":0,\"move\":\"11-15\"}\n";
    peer.send(format!("{lines}{answer}").as_bytes());
    std::thread::sleep(Duration::from_millis(1_100));
    assert!(news(&mut lane).await.is_none());
    let record = String::from_utf8(lane.match_mut(key).unwrap().log().text()).unwrap();
    assert!(record.contains(r#""move":"11-15""#) && !record.contains(r#""type":"fault""#), "{record}");
}

#[tokio::test]
async fn an_answer_that_the_referee_reads_late_counts() {
    counts_after("").await;
}

#[tokio::test]
async fn answer_behind_open_that_referee_reads_late_counts() {
    counts_after("{\"type\":\"open\",\"game\":\"jeex\"}\n").await;
}

#[tokio::test]
async fn line_waits_until_owner_has_handled_one_before() {
    let mut lane = Lane::new();
    let (stream, peer) = memory_stream(1 << 20);
    lane.add(Role::Host { may_open: true }, stream, Duration::from_secs(60));
    peer.send(b"{\"type\":\"hello\",\"protocol\":1,\"name\":\"host\"}\n");
    assert!(matches!(lane.next().await, Notice::Greeted(_)));
    // More than a round reads.
    let open = format!("{{\"type\":\"open\",{}\"game\":\"jeex\"}}\n", " ".repeat(10_000));
    (0..5).for_each(|_| peer.send(open.as_bytes()));
    for number in 0..5 {
        assert!(matches!(lane.next().await, Notice::OpenAsked(..)));
        assert!(lane.noticed().is_none(), "line {number}");
    }
}

/// A lane with two bots in memory, whose `hello` has been accepted, and a match for which no seat has to be ready.
async fn in_memory(clock: Option<Limits>) -> (Lane<MemoryStream>, [MemoryPeer; 2]) {
    let mut lane = Lane::new();
    let [(a, peer_of_a), (b, peer_of_b)] = [(); 2].map(|()| {
        let (stream, peer) = memory_stream(1 << 20);
        (lane.add(Role::Process, stream, Duration::from_secs(60)), peer)
    });
    for peer in [&peer_of_a, &peer_of_b] {
        peer.send(b"{\"type\":\"hello\",\"protocol\":1,\"name\":\"bot\"}\n");
        assert!(matches!(lane.next().await, Notice::Greeted(_)));
    }
    let (setup, table) = match_of_checkers(clock, false);
    lane.open(setup, table, vec![Ok(a), Ok(b)]);
    (lane, [peer_of_a, peer_of_b])
}

/// The messages of a type that the referee has sent.
fn messages(received: &[u8], kind: &str) -> Vec<serde_json::Value> {
    let lines = received.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    let all = lines.map(|line| serde_json::from_slice(line).unwrap());
    all.filter(|message: &serde_json::Value| message["type"] == kind).collect()
}

/// Runs a lane that reports nothing until all input has been handled.
async fn run(lane: &mut Lane<MemoryStream>) {
    assert!(tokio::time::timeout(Duration::ZERO, lane.next()).await.is_err());
}

#[tokio::test]
async fn sessions_keep_no_output_buffers_while_they_wait() {
    let (mut lane, peers) = in_memory(None).await;
    run(&mut lane).await;
    assert_eq!(peers.iter().flat_map(|peer| messages(&peer.receive(), "turn")).count(), 1);
    let sessions: Vec<SessionKey> = lane.sessions.keys().collect();
    assert_eq!(sessions.len(), 2);
    assert!(sessions.iter().all(|&session| lane.sessions[session].stream().unwrap().out.capacity() == 0));
}

#[tokio::test]
async fn two_bots_play_over_streams_in_memory() {
    let (mut lane, peers) = in_memory(None).await;
    let mut last = [None, None];
    for _ in 0..20 {
        run(&mut lane).await;
        for (peer, last) in peers.iter().zip(&mut last) {
            if let Some(turn) = messages(&peer.receive(), "turn").pop() {
                let answer = serde_json::json!({
                    "type": "move", "match": "m1", "turn": turn["turn"], "move": turn["legal"][0],
                });
                peer.send(format!("{answer}\n").as_bytes());
                *last = turn["turn"].as_u64();
            }
        }
    }
    assert_eq!(last, [Some(9), Some(9)]);
}

#[tokio::test]
async fn a_line_may_arrive_byte_by_byte() {
    let (mut lane, [black, _white]) = in_memory(None).await;
    run(&mut lane).await;
    let turn = messages(&black.receive(), "turn").pop().unwrap();
    let answer =
        format!("{{\"type\":\"move\",\"match\":\"m1\",\"turn\":{},\"move\":\"nonsense\"}}\n", turn["turn"]);
    for byte in answer.bytes() {
        assert!(black.receive().is_empty());
        black.send(&[byte]);
        if byte != b'\n' {
            run(&mut lane).await;
        }
    }
    assert_eq!(news(&mut lane).await.unwrap().ending.reason, "illegal_move");
}

#[tokio::test]
async fn end_of_stream_is_reported_with_lost_seats() {
    let (mut lane, [black, white]) = in_memory(None).await;
    run(&mut lane).await;
    drop(black);
    let mut lost = Vec::new();
    let finished = loop {
        match lane.next().await {
            Notice::Gone { code: FaultCode::Disconnected, lost: seats, session, .. } => {
                lost = seats;
                lane.forget(session);
            }
            Notice::Ended(finished) => break finished,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(lost.len(), 1);
    assert_eq!(finished.ending.ranks, Some(vec![2, 1]));
    run(&mut lane).await;
    assert_eq!(messages(&white.receive(), "end").len(), 1);
}

#[tokio::test]
async fn a_peer_that_reads_late_receives_everything() {
    let mut lane = Lane::new();
    let (stream, peer) = memory_stream(7);
    lane.add(Role::Process, stream, Duration::from_secs(60));
    let mut received = Vec::new();
    while !received.ends_with(b"\n") {
        run(&mut lane).await;
        let more = peer.receive();
        assert!((1..=7).contains(&more.len()));
        received.extend(more);
    }
    assert_eq!(messages(&received, "hello").len(), 1);
}

#[tokio::test]
async fn every_stream_of_a_crowd_is_read() {
    let mut lane = Lane::new();
    let peers = (0..200).map(|_| {
        let (stream, peer) = memory_stream(1 << 20);
        peer.send(b"{\"type\":\"hello\",\"protocol\":1,\"name\":\"bot\"}\n");
        (lane.add(Role::Process, stream, Duration::from_secs(60)), peer)
    });
    let (mut silent, _peers): (BTreeSet<SessionKey>, Vec<MemoryPeer>) = peers.unzip();
    while !silent.is_empty() {
        let notice = lane.next().await;
        assert!(matches!(notice, Notice::Greeted(session) if silent.remove(&session)), "{notice:?}");
    }
}

#[tokio::test]
async fn nothing_is_read_of_a_connection_after_its_hello() {
    let mut lane = Lane::new();
    let (stream, peer) = memory_stream(1 << 20);
    let session =
        lane.add(Role::Connection { auth: Auth::Token, reconnects: true }, stream, Duration::from_secs(60));
    peer.send(
        b"{\"type\":\"hello\",\"protocol\":1,\"name\":\"bot\",\"token\":\"secret\"}\n{\"type\":\"bye\"}\n",
    );
    assert!(matches!(lane.next().await, Notice::Greeted(key) if key == session));
    assert_eq!(lane.token(session), Some("secret"));
    peer.send(&b"x".repeat(100_000));
    run(&mut lane).await;
    assert!(lane.is_live(session) && !peer.is_closed());
    lane.forget(session);
    assert!(peer.is_closed());
}

#[tokio::test]
async fn replacing_stream_is_watched_while_rules_are_asked() {
    let mut lane = Lane::new();
    let (stream, peer) = memory_stream(1 << 20);
    let key = lane.add(Role::Process, stream, Duration::from_secs(60));
    peer.send(b"{\"type\":\"hello\",\"protocol\":1,\"name\":\"bot\"}\n");
    assert!(matches!(lane.next().await, Notice::Greeted(_)));
    let number = peer.watched().expect("the first stream is watched");
    let (another, peer) = memory_stream(1 << 20);
    let hello = lane.hello(key).unwrap().clone();
    lane.sessions[key].lose(0, 0, Detail::OutputEnded);
    let another = BufferedStream::new(key, another, lane.ready.queue.clone());
    lane.resume(key, another, hello);
    assert_eq!(peer.watched(), Some(number));
}

#[tokio::test]
async fn host_that_leaves_while_output_is_pending_ends_its_matches() {
    let mut lane = Lane::new();
    let (stream, peer) = memory_stream(300);
    let host = lane.add(Role::Host { may_open: false }, stream, Duration::from_secs(60));
    peer.send(b"{\"type\":\"hello\",\"protocol\":1,\"name\":\"host\"}\n");
    assert!(matches!(lane.next().await, Notice::Greeted(_)));
    let (setup, table) = match_of_checkers(None, false);
    lane.open(setup, table, vec![Ok(host); 2]);
    run(&mut lane).await;
    peer.end();
    let mut ended = (0, 0);
    while ended != (1, 1) {
        match lane.next().await {
            Notice::Ended(finished) => {
                assert_eq!(finished.ending.ranks, None);
                ended.0 += 1;
            }
            Notice::Gone { .. } => ended.1 += 1,
            other => panic!("{other:?}"),
        }
    }
}

/// The time and the lag of the answer in the record of a match.
fn answer_times(lane: &mut Lane<MemoryStream>) -> [u64; 2] {
    let key = lane.running()[0];
    let record = String::from_utf8(lane.match_mut(key).unwrap().log().text()).unwrap();
    let answer = record.lines().find(|line| line.contains(r#""type":"answer""#)).expect("an answer");
    let answer: serde_json::Value = serde_json::from_str(answer).unwrap();
    ["took_us", "lag_us"].map(|key| answer[key].as_u64().unwrap())
}

/// Keeps the thread busy for 200 ms.
#[expect(clippy::disallowed_methods, reason = "real time")]
fn keep_busy() {
    let begun = std::time::Instant::now();
    while begun.elapsed() < Duration::from_millis(200) {
        std::hint::spin_loop();
    }
}

/// Uses a processor for 200 ms, however long other programs have it meanwhile.
#[cfg(target_os = "linux")]
fn use_processor() {
    let used = || {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
    };
    let until = used() + Duration::from_millis(200);
    while used() < until {
        std::hint::spin_loop();
    }
}

/// Answers the open request of a bot in memory.
fn answer(peer: &MemoryPeer) {
    let turn = messages(&peer.receive(), "turn").pop().unwrap();
    let answer = serde_json::json!({"type": "move", "match": "m1", "turn": 0, "move": turn["legal"][0]});
    peer.send(format!("{answer}\n").as_bytes());
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn answer_that_waits_while_thread_is_busy_is_not_billed() {
    let (mut lane, [black, _white]) = in_memory(SECOND).await;
    run(&mut lane).await;
    answer(&black);
    use_processor();
    run(&mut lane).await;
    let [took, lag] = answer_times(&mut lane);
    assert!(took >= 200_000 && lag >= 190_000, "{took}, {lag}");
}

#[tokio::test]
async fn answer_that_waits_for_owner_of_lane_is_not_billed() {
    let (mut lane, [black, _white]) = in_memory(SECOND).await;
    run(&mut lane).await;
    let (stream, other) = memory_stream(1 << 20);
    lane.add(Role::Process, stream, Duration::from_secs(60));
    other.send(b"{\"type\":\"hello\",\"protocol\":1,\"name\":\"bot\"}\n");
    assert!(matches!(lane.next().await, Notice::Greeted(_)));
    answer(&black);
    std::thread::sleep(Duration::from_millis(200));
    run(&mut lane).await;
    let [took, lag] = answer_times(&mut lane);
    assert!(took >= 200_000 && lag >= 200_000, "{took}, {lag}");
}

#[tokio::test]
async fn the_time_in_which_a_bot_thinks_is_not_lag() {
    let (mut lane, [black, _white]) = in_memory(SECOND).await;
    for _ in 0..40 {
        run(&mut lane).await;
        // The lane is woken up meanwhile, and sends what it is busy with before the bot answers.
        black.send(b"\n");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    run(&mut lane).await;
    answer(&black);
    run(&mut lane).await;
    let [took, lag] = answer_times(&mut lane);
    assert!(took - lag >= 190_000, "{took}, {lag}");
}

#[tokio::test]
async fn lag_while_a_bot_thinks_does_not_prolong_its_time() {
    let (mut lane, [black, _white]) = in_memory(SECOND).await;
    run(&mut lane).await;
    for _ in 0..3 {
        keep_busy();
        run(&mut lane).await;
    }
    answer(&black);
    run(&mut lane).await;
    let [took, lag] = answer_times(&mut lane);
    assert!(took >= 600_000 && took - lag >= 390_000, "{took}, {lag}");
}
