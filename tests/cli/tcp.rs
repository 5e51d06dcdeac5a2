//! Bots that connect, over real sockets.

use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::time::Duration;

use crate::common::guest::{Guest, listening};
use crate::common::{Ended, Folder, WON, files, referee, the};
use serde_json::{Value, json};

fn kinds(messages: &[Value]) -> Vec<&str> {
    messages.iter().map(|message| message["type"].as_str().expect("text")).collect()
}

/// Checks that a client was rejected with this reason, and disconnected after that.
#[track_caller]
fn assert_turned_away(received: &[Value], code: &str, why: &str) {
    let [.., error, bye] = received else { panic!("{code}: {received:?}") };
    assert_eq!([&error["type"], &error["code"], &bye["type"]], ["error", code, "bye"], "{received:?}");
    assert!(error["message"].as_str().expect("text").contains(why), "{code}: {error}");
    assert_eq!(error["message"], bye["reason"]);
}

#[track_caller]
fn assert_no_faults(ended: &Ended) {
    let summary = ended.one("summary");
    let faults: Vec<&Value> =
        summary["bots"].as_array().expect("a list").iter().map(|bot| &bot["faults"]).collect();
    assert_eq!(faults, [&json!({}), &json!({})], "{ended:#?}");
}

// ---- playing ----

#[test]
fn a_bot_that_connects_plays_like_one_that_is_started() {
    let folder = Folder::new();
    let (plain, records) = (folder.plain_bot("plain"), folder.text("records"));
    let args = ["play", "checkers", "tcp:alice", &plain, "-n", "4", "--record", &records];
    let (referee_, address) = listening(&args);
    let alice = Guest::named(address, "alice").play_along();
    let ended = referee_.wait().with_code(0);
    let received = alice.join().expect("alice plays");
    assert_eq!(received.last().expect("messages")["type"], "bye");
    assert_eq!(
        kinds(&received).iter().filter(|kind| **kind == "end").count(),
        4,
        "one connection plays all matches"
    );
    assert_no_faults(&ended);
    let seats: Vec<Value> = ended.all("match").into_iter().map(|line| line["seats"].clone()).collect();
    assert_eq!(seats[..2], [json!(["alice", "test bot"]), json!(["test bot", "alice"])]);
    assert_eq!(ended.one("summary")["bots"][0]["command"], "tcp:alice");
    let header = &folder.record("records/m1.jsonl")[0];
    let bot = &header["seats"][0]["bot"];
    assert_eq!([&bot["connection"], &bot["name"]], ["tcp:alice", "alice"]);
    assert_eq!([bot.get("command"), header["seats"][1]["bot"].get("connection")], [None, None]);
    referee(["verify", &records]).done();
}

#[test]
fn the_address_and_missing_bots_are_printed() {
    let folder = Folder::new();
    let plain = folder.plain_bot("plain");
    let (referee, address) = listening(&["play", "checkers", "tcp:alice", &plain, "--set", WON]);
    assert_ne!(address.port(), 0);
    let alice = Guest::named(address, "alice").play_along();
    let ended = referee.wait().with_code(0);
    alice.join().expect("alice plays");
    // She may have connected before the match.
    let rest =
        ended.stderr.strip_prefix(&format!("listening on {address}\n")).expect("the address comes first");
    assert!(["", "waiting for `alice` to connect\n"].contains(&rest), "{rest}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_silent_bot_is_probed_with_keepalive_within_15_s() {
    let folder = Folder::new();
    let plain = folder.plain_bot("plain");
    let (referee, address) = listening(&["play", "checkers", "tcp:alice", &plain]);
    let mut alice = Guest::named(address, "alice");
    alice.play_up_to("turn");
    // Lines of `/proc/net/tcp`: number, local and remote address, state, queues, timer and when it goes off, ...
    let port = format!(":{:04X}", address.port());
    let timer = || {
        let connections = std::fs::read_to_string("/proc/net/tcp").expect("the connections of the system");
        let mut lines = connections.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        let line = lines.find(|line| line[1].ends_with(&port) && line[3] == "01").expect("her connection");
        let (timer, ticks) = line[5].split_once(':').expect("a time");
        (timer == "02", u64::from_str_radix(ticks, 16).expect("hundredths of a second"))
    };
    // At first the timer waits for the acknowledgement of written data.
    let asks = (0..2_000).any(|_| {
        std::thread::sleep(Duration::from_millis(5));
        timer().0
    });
    assert!(asks && timer().1 <= 1_500, "{:?}", timer());
    drop(alice);
    referee.wait().with_code(0);
}

#[test]
fn small_writes_are_not_delayed() {
    let folder = Folder::new();
    let (plain, records) = (folder.plain_bot("plain"), folder.text("records"));
    let args = ["play", "checkers", "tcp:alice", &plain, "--set", "turn_limit=100", "--record", &records];
    let (referee, address) = listening(&args);
    // Each of her moves is reported at once, and the next request follows soon: two writes in a row.
    let hello = json!({"type": "hello", "protocol": 1, "name": "alice", "push": true});
    Guest::saying(address, &hello).play();
    assert_no_faults(&referee.wait().with_code(0));
    let mut took: Vec<u64> = folder
        .record("records/m1.jsonl")
        .iter()
        .filter(|line| line["type"] == "answer" && line["seat"] == 0)
        .map(|line| line["took_us"].as_u64().expect("a number"))
        .collect();
    took.sort_unstable();
    // With Nagle's algorithm the kernel would delay the second one by 40 ms.
    assert!(took[took.len() / 2] < 20_000, "{took:?}");
}

#[test]
fn one_name_can_have_both_seats_with_connection_for_each() {
    let folder = Folder::new();
    let records = folder.text("records");
    let args = ["play", "checkers", "tcp:alice", "tcp:alice", "-n", "2", "--record", &records];
    let (referee_, address) = listening(&args);
    let guests = [(); 2].map(|()| Guest::named(address, "alice").play_along());
    let ended = referee_.wait().with_code(0);
    for guest in guests {
        let received = guest.join().expect("it plays");
        assert_eq!(
            kinds(&received).iter().filter(|kind| **kind == "start").count(),
            2,
            "one seat of each match"
        );
    }
    assert_eq!(ended.all("match")[0]["seats"], json!(["alice", "alice-2"]));
    assert_no_faults(&ended);
    referee(["verify", &records]).done();
}

#[test]
fn bot_that_does_not_connect_in_time_ends_run() {
    let folder = Folder::new();
    let plain = folder.plain_bot("plain");
    let args = ["play", "checkers", &plain, "tcp:alice", "--wait", "300ms", "--listen", "127.0.0.1:0"];
    referee(args).with_code(5).says(&["waiting for `alice`", "no bot connected as `alice` within 0.3 s"]);
    let none = ["play", "checkers", "tcp:bob", "tcp:alice", "--wait", "300ms", "--listen", "127.0.0.1:0"];
    referee(none).with_code(5).says(&["waiting for `bob`", "waiting for `alice`", "no bot connected as `"]);
}

#[test]
fn one_connection_is_not_enough_for_both_seats() {
    let args = ["play", "checkers", "tcp:alice", "tcp:alice", "--wait", "500ms"];
    let (referee, address) = listening(&args);
    let alice = Guest::named(address, "alice").play_along();
    referee.wait().with_code(5).says(&["no other bot connected as `alice` within 0.5 s"]);
    alice.join().expect("it plays");
}

// ---- rejected clients ----

#[test]
fn rejected_clients_get_the_reason_and_do_not_affect_matches() {
    let folder = Folder::new();
    let (plain, records) = (folder.plain_bot("plain"), folder.text("records"));
    let tokens = folder.write_secret("tokens", "# of the trial\n\nalice = open sesame\n");
    let args = ["play", "checkers", "tcp:alice", &plain, "--set", "turn_limit=40", "--record", &records];
    let args = [&args[..], &["--token-file", &tokens, "--connections", "1", "--hello-limit", "3s"]].concat();
    let (referee_, address) = listening(&args);
    let hello = |name: &str, token: Option<&str>| {
        let mut hello = json!({"type": "hello", "protocol": 1, "name": name});
        if let Some(token) = token {
            hello["token"] = token.into();
        }
        hello
    };
    let mut alice = Guest::saying(address, &hello("alice", Some("open sesame")));
    assert_eq!(alice.received[0]["auth"], "token");
    let mut next = || {
        let turn = alice.play_up_to("turn");
        alice.answer(&turn);
    };
    for (said, code, why) in [
        (hello("alice", None).to_string() + "\n", "wrong_token", "no `token`"),
        (hello("bob", None).to_string() + "\n", "wrong_token", "no `token`"),
        (
            hello("alice", Some("open sesam")).to_string() + "\n",
            "wrong_token",
            "called `alice` with this token",
        ),
        (hello("alice", Some("")).to_string() + "\n", "wrong_token", "called `alice` with this token"),
        (
            hello("plain", Some("open sesame")).to_string() + "\n",
            "wrong_token",
            "called `plain` with this token",
        ),
        (
            hello("Alice", Some("open sesame")).to_string() + "\n",
            "wrong_token",
            "called `Alice` with this token",
        ),
        (
            hello("alice", Some("open sesame")).to_string() + "\n",
            "too_many_connections",
            "1 connections already",
        ),
        (
            json!({"type": "hello", "protocol": 2, "name": "alice"}).to_string() + "\n",
            "unsupported_protocol",
            "2",
        ),
        ("GET / HTTP/1.1\r\nHost: localhost\r\nUser-Agent: x\r\n\r\n".to_owned(), "malformed", "JSON object"),
        ("\u{16}\u{3}\u{1}\n".to_owned(), "malformed", "connect without TLS"),
        ("x".repeat(70_000), "line_too_long", "65536"),
        ("\n".repeat(100), "protocol", "64 lines"),
        (String::new(), "no_start", "no `hello` within 3000 ms"),
        ("{\"type\":\"hello\",\"proto".to_owned(), "no_start", "no `hello` within 3000 ms"),
        ("{\"type\":\"pong\",\"id\":\"1\"}\n".to_owned(), "no_start", "no `hello` within 3000 ms"),
    ] {
        let mut stranger = Guest::connect(address);
        assert_eq!(stranger.receive()["type"], "hello");
        stranger.write(said);
        assert_turned_away(&stranger.rest(), code, why);
        next();
    }
    // These close their connections.
    drop(Guest::connect(address));
    Guest::connect(address).reset();
    next();
    alice.play();
    let ended = referee_.wait().with_code(0);
    assert_no_faults(&ended);
    assert_eq!(ended.one("match")["ended_by"], "turn_limit");
    referee(["verify", &records]).done();
}

#[test]
fn tokens_may_be_given_on_the_command_line() {
    let args = ["play", "checkers", "tcp:alice", "tcp:bob", "--set", WON];
    let (referee, address) =
        listening(&[&args[..], &["--token", "alice=one", "--token", "bob=two"]].concat());
    let hello =
        |name: &str, token: &str| json!({"type": "hello", "protocol": 1, "name": name, "token": token});
    assert_turned_away(&Guest::saying(address, &hello("bob", "one")).rest(), "wrong_token", "called `bob`");
    let guests = [("alice", "one"), ("bob", "two")]
        .map(|(name, token)| Guest::saying(address, &hello(name, token)).play_along());
    assert_no_faults(&referee.wait().with_code(0));
    guests.into_iter().for_each(|guest| drop(guest.join().expect("it plays")));
}

#[test]
fn a_message_before_hello_is_rejected_and_hello_still_counts() {
    let folder = Folder::new();
    let plain = folder.plain_bot("plain");
    let (referee, address) = listening(&["play", "checkers", "tcp:alice", &plain, "--set", WON]);
    let mut alice = Guest::connect(address);
    alice.send(&json!({"type": "ready", "match": "m1"}));
    assert_eq!(alice.receive_type("error")["code"], "out_of_state");
    alice.send(&json!({"type": "hello", "protocol": 1, "name": "a/b"}));
    assert_eq!(alice.receive_type("error")["code"], "malformed");
    alice.send(&json!({"type": "hello", "protocol": 1, "name": "alice"}));
    alice.play();
    assert_no_faults(&referee.wait().with_code(0));
}

#[test]
fn without_tokens_an_unknown_name_is_reported() {
    let (referee, address) = listening(&["play", "checkers", "tcp:alice", "tcp:bob"]);
    assert_turned_away(&Guest::named(address, "carol").rest(), "unknown_name", "`carol`");
    referee.signal(crate::common::Signal::INT);
    referee.wait().with_code(130);
}

#[test]
fn tokens_are_in_no_log_record_or_error() {
    let folder = Folder::new();
    let (plain, records) = (folder.plain_bot("plain"), folder.text("records"));
    let (right, wrong) = ("open-sesame", "open-barley");
    let tokens = folder.write_secret("tokens", format!("alice={right}\n"));
    let args = ["play", "checkers", "tcp:alice", &plain, "--token-file", &tokens, "--log-level", "trace"];
    let (referee_, address) = listening(&[&args[..], &["--record", &records, "-n", "2"]].concat());
    let hello = |token| json!({"type": "hello", "protocol": 1, "name": "alice", "token": token});
    let turned_away = Guest::saying(address, &hello(wrong)).rest();
    let received = Guest::saying(address, &hello(right)).play();
    let ended = referee_.wait().with_code(0);
    assert!(ended.stderr.contains("connected"), "the log tells what happens: {}", ended.stderr);
    let mut written = format!("{}{}{turned_away:?}{received:?}", ended.stdout, ended.stderr);
    for record in files(records.as_ref()) {
        written.push_str(&folder.read(&format!("records/{record}")));
    }
    for given in ["al*ce=open-sesame", "open-sesame", "=open-sesame", "bob=open-sesame"] {
        let args = ["play", "checkers", "tcp:alice", &plain, "--listen", "127.0.0.1:0", "--token", given];
        written.push_str(&referee(args).with_code(2).stderr);
    }
    let broken = folder.write_secret("broken", "alice=open-sesame\nopen-sesame\n");
    let args = ["play", "checkers", "tcp:alice", &plain, "--listen", "127.0.0.1:0", "--token-file", &broken];
    written.push_str(&referee(args).with_code(2).says(&["line 2"]).stderr);
    for token in [right, wrong] {
        assert!(!written.contains(token), "{token} is in: {written}");
    }
}

/// As containers mount secrets, and as editors on Windows save them.
#[test]
fn token_file_may_have_byte_order_mark_and_group_access() {
    let folder = Folder::new();
    let plain = folder.plain_bot("plain");
    let tokens = folder.write("tokens", "\u{feff}alice=open-sesame\r\n");
    std::fs::set_permissions(&tokens, std::fs::Permissions::from_mode(0o440)).expect("its own file");
    let (referee_, address) = listening(&["play", "checkers", "tcp:alice", &plain, "--token-file", &tokens]);
    let hello = json!({"type": "hello", "protocol": 1, "name": "alice", "token": "open-sesame"});
    Guest::saying(address, &hello).play();
    referee_.wait().with_code(0);
    std::fs::set_permissions(&tokens, std::fs::Permissions::from_mode(0o444)).expect("its own file");
    let args = ["play", "checkers", "tcp:alice", &plain, "--listen", "127.0.0.1:0", "--token-file", &tokens];
    referee(args).with_code(2).says(&[
        "other users can read it (mode 0444): run `chmod 600 ",
        "or mount the secret of a container with mode 0440",
    ]);
}

#[test]
fn rejected_logins_are_logged_once_per_address_without_the_token() {
    let folder = Folder::new();
    let tokens = folder.write_secret("tokens", "alice=open-sesame\nbob=swordfish\n");
    let (referee, address) =
        listening(&["play", "checkers", "tcp:alice", "tcp:bob", "--token-file", &tokens]);
    let login = |source: u8, name: &str, token: &str| {
        let mut guest = Guest::connect_from(std::net::Ipv4Addr::new(127, 0, 0, source), address);
        assert_eq!(guest.receive()["type"], "hello");
        guest.send(&json!({"type": "hello", "protocol": 1, "name": name, "token": token}));
        assert_turned_away(&guest.rest(), "wrong_token", name);
    };
    for _ in 0..2 {
        login(1, "alice", "open-barley");
    }
    login(1, "bob", "open-sesame");
    login(1, "alcie", "open-sesame");
    login(2, "alice", "open-barley");
    let mut scanner = Guest::connect(address);
    scanner.write("open-sesame\n");
    scanner.rest();
    referee.signal(crate::common::Signal::INT);
    let log = referee.wait().with_code(130).stderr;
    for (refused, times) in [
        ("127.0.0.1: the token of `alice` is missing or wrong", 1),
        ("127.0.0.1: the token of `bob` is missing or wrong", 1),
        ("127.0.0.1: no bot called `alcie` takes part", 1),
        ("127.0.0.2: the token of `alice` is missing or wrong", 1),
        ("127.0.0.1: its first line is not a message of the protocol", 1),
        ("open-", 0),
    ] {
        assert_eq!(log.matches(refused).count(), times, "{refused} is not in: {log}");
    }
}

#[test]
fn tls_handshake_on_plain_port_is_rejected_and_logged() {
    let (referee, address) = listening(&["play", "checkers", "tcp:alice", "tcp:bob"]);
    let mut guest = Guest::connect(address);
    assert_eq!(guest.receive()["type"], "hello");
    guest.write(b"\x16\x03\x01\x02\x00\x01\n");
    assert_turned_away(&guest.rest(), "malformed", "connect without TLS");
    referee.signal(crate::common::Signal::INT);
    let warning =
        "rejected a connection from 127.0.0.1: this port uses plain text, but a TLS handshake arrived";
    referee.wait().with_code(130).says(&[warning]);
}

// ---- connections that end ----

#[test]
fn a_lost_connection_costs_only_its_match() {
    type Lose = fn(Guest);
    let lose: [(&str, Lose); 4] = [
        ("reset", Guest::reset),
        ("closed", drop),
        ("half closed", |mut guest| {
            guest.half_close();
            let received = guest.rest();
            assert!(!kinds(&received).contains(&"turn"), "{received:?}");
        }),
        ("bye", |mut guest| guest.send(&json!({"type": "bye"}))),
    ];
    for (how, lose) in lose {
        let folder = Folder::new();
        let (plain, records) = (folder.plain_bot("plain"), folder.text("records"));
        let args = ["play", "checkers", "tcp:alice", &plain, "-n", "3", "--record", &records];
        let (referee_, address) = listening(&args);
        let mut alice = Guest::named(address, "alice");
        alice.play_up_to("end");
        alice.play_up_to("turn");
        lose(alice);
        let received = Guest::named(address, "alice").play();
        assert_eq!(received.iter().filter(|message| message["type"] == "end").count(), 1, "{how}");
        let ended = referee_.wait().with_code(0);
        let played = ended.all("match");
        assert_eq!([&played[0]["faults"], &played[2]["faults"]], [&json!([{}, {}]); 2], "{how}");
        assert_eq!(played[1]["fault"]["code"], "disconnected", "{how}");
        assert_eq!(played[1]["faults"], json!([{}, {"disconnected": 1}]), "{how}");
        let summary = ended.one("summary");
        assert_eq!(
            [&summary["matches"], &summary["bots"][0]["faults"]],
            [&json!(3), &json!({"disconnected": 1})]
        );
        referee(["verify", &records]).done();
    }
}

#[test]
fn a_connection_lost_between_matches_costs_nothing() {
    let folder = Folder::new();
    let (plain, records) = (folder.plain_bot("plain"), folder.text("records"));
    let args = ["play", "checkers", "tcp:alice", &plain, "-n", "4", "--set", WON, "--record", &records];
    // It is away for longer than `ready` may take.
    let (referee_, address) = listening(&[&args[..], &["--ready-limit", "2s"]].concat());
    for _ in 0..4 {
        let mut alice = Guest::named(address, "alice");
        alice.play_up_to("end");
        drop(alice);
        std::thread::sleep(Duration::from_millis(2500));
    }
    let ended = referee_.wait().with_code(0);
    assert_eq!(ended.all("match").len(), 4);
    assert_no_faults(&ended);
    referee(["verify", &records]).done();
}

#[test]
fn bot_that_does_not_reconnect_in_time_ends_run() {
    let folder = Folder::new();
    let plain = folder.plain_bot("plain");
    let args = ["play", "checkers", "tcp:alice", &plain, "-n", "3", "--set", WON, "--wait", "1s"];
    let (referee, address) = listening(&args);
    let mut alice = Guest::named(address, "alice");
    alice.play_up_to("end");
    drop(alice);
    let ended = referee.wait().with_code(5).says(&["no bot connected as `alice` within 1 s"]);
    let played = ended.all("match");
    assert_eq!(
        [&played[0]["faults"], &played[1]["faults"]],
        [&json!([{}, {}]), &json!([{}, {"no_start": 1}])]
    );
}

#[test]
fn waiting_bots_may_disconnect_and_reconnect() {
    let args = ["play", "checkers", "tcp:alice", "tcp:bob", "--set", WON, "--connections", "1"];
    let (referee, address) = listening(&args);
    for _ in 0..3 {
        let mut alice = Guest::named(address, "alice");
        alice.send(&json!({"type": "bye"}));
        assert!(alice.rest().is_empty());
    }
    let [alice, bob] = ["alice", "bob"].map(|name| Guest::named(address, name).play_along());
    assert_no_faults(&referee.wait().with_code(0));
    let received = [alice, bob].map(|guest| guest.join().expect("it plays"));
    assert!(
        received.iter().all(|received| received.last().is_some_and(|bye| bye["reason"] == "the run is over"))
    );
}

// ---- TLS ----

/// Plays over TLS and prints the TLS version; succeeds only if the referee closes the connection properly.
const TLS_BOT: &str = "import json, socket, ssl, sys
host, port, trusted, highest = sys.argv[1:]
context = ssl.create_default_context(cafile=trusted)
context.maximum_version = ssl.TLSVersion[highest]
raw = socket.create_connection((host, int(port)), timeout=60)
stream = context.wrap_socket(raw, server_hostname=host, suppress_ragged_eofs=False)
print(stream.version())
def say(**message):
    stream.sendall(json.dumps(message).encode() + b'\\n')
for line in stream.makefile('rb'):
    message = json.loads(line)
    if message['type'] == 'hello':
        say(type='hello', protocol=1, name='alice', padding='x' * 40_000)
    elif message['type'] == 'start':
        say(type='ready', match=message['match'])
    elif message['type'] == 'turn':
        say(type='move', match=message['match'], turn=message['turn'], move=message['legal'][0])
    print(message['type'])
";

/// Plays two matches over TLS with these options; other clients do not trust the certificate or use plain text.
fn play_over_tls(folder: &Folder, options: &[&str], trusted: &str) {
    let script = folder.write("tls.py", TLS_BOT);
    let plain = folder.plain_bot("plain");
    let records = folder.text("records");
    for version in ["TLSv1_3", "TLSv1_2"] {
        let args = ["play", "checkers", "tcp:alice", &plain, "-n", "2", "--record", &records];
        let (referee_, address) = listening(&[&args[..], options].concat());
        // A stalled handshake does not delay others.
        let stuck: Vec<Guest> = (0..50)
            .map(|_| {
                let mut guest = Guest::connect(address);
                guest.write(b"\x16\x03\x01\x02");
                guest
            })
            .collect();
        // Plain text gets a hint at once, and does no harm.
        for said in
            ["{\"type\":\"hello\",\"protocol\":1,\"name\":\"alice\"}\n", "GET / HTTP/1.1\r\n\r\n", "\n"]
        {
            let mut stranger = std::net::TcpStream::connect(address).expect("it listens");
            std::io::Write::write_all(&mut stranger, said.as_bytes()).expect("it reads");
            let mut received = Vec::new();
            let _ = std::io::Read::read_to_end(&mut stranger, &mut received);
            let received = String::from_utf8(received).expect("plain text");
            assert!(
                received.contains("this port uses TLS") && !received.contains("hello"),
                "{said:?}: {received:?}"
            );
        }
        drop(Guest::connect(address));
        let bot = |trusted: &str| {
            let mut bot = Command::new("python3");
            bot.arg(&script).args([&address.ip().to_string(), &address.port().to_string(), trusted, version]);
            bot.output().expect("python3 runs")
        };
        let distrusts = bot("/etc/ssl/certs/ca-certificates.crt");
        assert!(!distrusts.status.success(), "another certificate is not trusted");
        let output = bot(trusted);
        let (said, errors) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{said}{errors}");
        assert!(said.starts_with(&version.replace('_', ".")), "{said}");
        assert_eq!(said.lines().filter(|line| *line == "end").count(), 2, "{said}");
        assert!(said.ends_with("bye\n"), "{said}");
        let ended = referee_.wait().with_code(0);
        assert_no_faults(&ended);
        let warning = "rejected a connection from 127.0.0.1: this port uses TLS";
        assert_eq!(ended.stderr.matches(warning).count(), 1, "{}", ended.stderr);
        drop(stuck);
        referee(["verify", &records]).done();
        std::fs::remove_dir_all(&records).expect("the records are there");
    }
}

#[test]
fn plain_text_bot_on_tls_port_is_told_so() {
    let folder = Folder::new();
    let (plain, certificate) = (folder.plain_bot("plain"), folder.text("referee.pem"));
    let args = [
        "play",
        "checkers",
        "tcp:alice",
        &plain,
        "--tls-self-signed",
        &certificate,
        "--hello-limit",
        "500ms",
        "--wait",
        "5s",
    ];
    let (referee, address) = listening(&args);
    let mut bot = std::net::TcpStream::connect(address).expect("it listens");
    let mut received = String::new();
    let _ = std::io::Read::read_to_string(&mut bot, &mut received);
    assert!(received.contains("this port uses TLS: connect over TLS"), "{received:?}");
    let ended = referee.wait();
    let warning = "rejected a connection from 127.0.0.1: this port uses TLS: connect over TLS";
    assert!(ended.stderr.contains(warning), "{ended:?}");
}

#[test]
fn connections_are_encrypted_with_a_generated_certificate() {
    let folder = Folder::new();
    let trusted = folder.text("referee.pem");
    play_over_tls(&folder, &["--tls-self-signed", &trusted], &trusted);
}

#[test]
fn connections_are_encrypted_with_a_given_certificate() {
    let folder = Folder::new();
    let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).expect("a certificate");
    let chain = folder.write("chain.pem", made.cert.pem());
    let key = folder.write_secret("key.pem", made.signing_key.serialize_pem());
    play_over_tls(&folder, &["--tls-cert", &chain, "--tls-key", &key], &chain);
}

#[test]
fn a_tls_failure_is_reported_as_such() {
    let folder = Folder::new();
    let (trusted, records, plain) =
        (folder.text("referee.pem"), folder.text("records"), folder.plain_bot("plain"));
    // After its first move, the bot writes plain text into the encrypted stream.
    let script = folder.write(
        "breaks.py",
        TLS_BOT.replace(
            "    print(message['type'])",
            "        socket.fromfd(stream.fileno(), socket.AF_INET, socket.SOCK_STREAM).sendall(b'plain text\\n' * 9)",
        ),
    );
    let args = ["play", "checkers", "tcp:alice", &plain, "--record", &records, "--tls-self-signed", &trusted];
    let (referee_, address) = listening(&args);
    let mut bot = Command::new("python3");
    bot.arg(&script).args([&address.ip().to_string(), &address.port().to_string(), &trusted, "TLSv1_3"]);
    bot.output().expect("python3 runs");
    let fault = referee_.wait().with_code(0).one("match")["fault"].clone();
    assert_eq!(fault["code"], "disconnected");
    let detail = fault["detail"].as_str().expect("text");
    assert!(detail.starts_with("its TLS connection failed: "), "{detail}");
    let record = folder.record("records/m1.jsonl");
    assert_eq!(the("fault", &record)["detail"]["kind"], "tls_failed");
    referee(["verify", &records]).done();
}

// ---- options ----

#[test]
fn invalid_options_are_rejected_with_the_reason() {
    let folder = Folder::new();
    let plain = folder.plain_bot("plain");
    let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).expect("a certificate");
    let other = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).expect("a certificate");
    let chain = folder.write("chain.pem", made.cert.pem());
    let key = folder.write_secret("key.pem", other.signing_key.serialize_pem());
    let empty = folder.write("empty.pem", "");
    let missing = folder.text("missing");
    let listen = ["--listen", "127.0.0.1:0"];
    let encrypted =
        |begin: &str, rest: &str| format!("-----BEGIN {begin}-----\n{rest}MIIB\n-----END {begin}-----\n");
    let pkcs8 = folder.write_secret("pkcs8.pem", encrypted("ENCRYPTED PRIVATE KEY", ""));
    let legacy = "Proc-Type: 4,ENCRYPTED\r\nDEK-Info: AES-256-CBC,00\r\n\r\n";
    let legacy = folder.write_secret("legacy.pem", encrypted("RSA PRIVATE KEY", legacy));
    let decrypt =
        "the private key is encrypted, and a server cannot ask for its passphrase: decrypt it with `openssl";
    let no_key = folder.write_secret("chain_as_key.pem", made.cert.pem());
    let cases: [(&[&str], &[&str]); 16] = [
        (&["tcp:alice", &plain], &["`tcp:alice`", "--listen"]),
        (&["tcp:", &plain], &["1 to 64"]),
        (&["tcp:a/b", &plain], &["`tcp:a/b`", "1 to 64"]),
        (&[&plain, &plain, "--listen", "127.0.0.1:0"], &["no bot connects", "tcp:"]),
        (&["tcp:alice", &plain, "--listen", "localhost"], &["localhost"]),
        (&["tcp:alice", &plain, "--token", "alice=x"], &["--listen"]),
        (&["tcp:alice", "tcp:bob", "--token", "alice=x"], &["missing token for `bob`"]),
        (
            &["tcp:alice", &plain, "--token", "alice=x", "--token", "alice=y"],
            &["duplicate token for `alice`"],
        ),
        (&["tcp:alice", &plain, "--token-file", &missing], &["--token-file", "missing"]),
        (&["tcp:alice", &plain, "--tls-cert", &chain], &["--tls-key"]),
        (&["tcp:alice", &plain, "--tls-cert", &chain, "--tls-key", &key], &["--tls-cert"]),
        (&["tcp:alice", &plain, "--tls-cert", &empty, "--tls-key", &key], &["empty.pem", "no certificate"]),
        (&["tcp:alice", &plain, "--tls-cert", &chain, "--tls-key", &missing], &["missing"]),
        (&["tcp:alice", &plain, "--tls-cert", &chain, "--tls-key", &pkcs8], &["pkcs8.pem: ", decrypt]),
        (&["tcp:alice", &plain, "--tls-cert", &chain, "--tls-key", &legacy], &["legacy.pem: ", decrypt]),
        (
            &["tcp:alice", &plain, "--tls-cert", &chain, "--tls-key", &no_key],
            &["contains no private key in PEM"],
        ),
    ];
    for (index, (args, says)) in cases.into_iter().enumerate() {
        let listen = if index >= 6 { &listen[..] } else { &[] };
        referee([&["play", "checkers"], args, listen].concat()).with_code(2).says(says);
    }
}

#[test]
fn an_address_in_use_is_an_error() {
    let folder = Folder::new();
    let plain = folder.plain_bot("plain");
    let (_holds, address) = listening(&["play", "checkers", "tcp:alice", &plain]);
    let address = address.to_string();
    let args = ["play", "checkers", "tcp:alice", &plain, "--listen", &address];
    referee(args).with_code(5).says(&[&format!("cannot listen at {address}"), "in use"]);
}

#[test]
fn a_signal_while_waiting_for_bots_ends_the_run() {
    let (referee, address) = listening(&["play", "checkers", "tcp:alice", "tcp:bob"]);
    let alice = Guest::named(address, "alice");
    referee.signal(crate::common::Signal::INT);
    let ended = referee.wait().with_code(130);
    assert_eq!(ended.one("summary")["interrupted"], true);
    // Messages to `alice` may still be on their way.
    assert!(alice.rest().last().is_none_or(|bye| bye["type"] == "bye"));
}

#[test]
fn an_endless_line_is_rejected_before_the_connection_is_closed() {
    let folder = Folder::new();
    let plain = folder.plain_bot("plain");
    let (referee, address) = listening(&["play", "checkers", "tcp:alice", &plain]);
    let mut alice = Guest::named(address, "alice");
    alice.receive_type("start");
    alice.write(vec![b'x'; (16 << 20) + 1]);
    let rest = alice.rest();
    let types: Vec<&str> = rest.iter().filter_map(|message| message["type"].as_str()).collect();
    assert!(types.ends_with(&["error", "bye"]), "{rest:?}");
    let ended = referee.wait().with_code(0);
    assert_eq!(ended.one("match")["fault"]["code"], "protocol");
}

#[test]
fn a_record_mentions_processes_only_if_there_were_some() {
    let folder = Folder::new();
    let plain = folder.plain_bot("plain");
    for (opponent, has_processes) in [("tcp:bob", false), (&*plain, true)] {
        let records = folder.text(if has_processes { "with" } else { "without" });
        let args = ["play", "checkers", "tcp:alice", opponent, "--set", WON, "--record", &records];
        let (referee, address) = listening(&args);
        let alice = std::thread::spawn(move || Guest::named(address, "alice").play());
        if !has_processes {
            Guest::named(address, "bob").play();
        }
        alice.join().expect("it plays");
        referee.wait().with_code(0);
        let record = folder.record(&format!("{records}/m1.jsonl"));
        assert_eq!(record.iter().any(|line| line["type"] == "bots"), has_processes);
        assert_eq!(record[0]["seats"][0]["bot"]["connection"], "tcp:alice");
    }
}
