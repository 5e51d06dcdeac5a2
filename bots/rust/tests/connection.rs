//! The random bot over TCP, to a referee that is played here.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::process::{Child, Command, Output, Stdio};

use referee_bot::serde_json::{Value, json};

/// A bot that is waited for, or killed if the test fails first.
struct Bot(Child);

impl Bot {
    fn start(args: &[&str], token: Option<&str>) -> Bot {
        let mut command = Command::new(env!("CARGO_BIN_EXE_referee-random"));
        command.args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.env_remove("REFEREE_TOKEN");
        if let Some(token) = token {
            command.env("REFEREE_TOKEN", token);
        }
        Bot(command.spawn().expect("the bot starts"))
    }

    /// The exit status, stdout and stderr.
    fn finish(mut self) -> (Option<i32>, String, String) {
        let (mut stdout, mut stderr) = (String::new(), String::new());
        self.0.stdout.take().expect("piped").read_to_string(&mut stdout).expect("text");
        self.0.stderr.take().expect("piped").read_to_string(&mut stderr).expect("text");
        (self.0.wait().expect("it ends").code(), stdout, stderr)
    }
}

impl Drop for Bot {
    fn drop(&mut self) {
        // Both fail only where it has ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn listen() -> (TcpListener, String) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    let address = listener.local_addr().expect("an address").to_string();
    (listener, address)
}

/// A referee's end of a stream.
struct Referee<S: Read + Write>(BufReader<S>);

impl<S: Read + Write> Referee<S> {
    fn send(&mut self, message: &Value) {
        self.0.get_mut().write_all(format!("{message}\n").as_bytes()).expect("it reads");
    }

    fn receive(&mut self) -> Value {
        let mut line = String::new();
        self.0.read_line(&mut line).expect("it answers");
        line.parse().expect("JSON")
    }

    fn ask(&mut self, message: &Value) -> Value {
        self.send(message);
        self.receive()
    }

    /// Greets and returns the bot's `hello`.
    fn greet(&mut self, auth: &str) -> Value {
        self.ask(&json!({ "type": "hello", "protocol": 1, "server": "referee/0.1.0", "auth": auth }))
    }
}

fn start(r#match: &str) -> Value {
    json!({
        "type": "start", "match": r#match, "game": "any", "rules": 1, "options": {}, "seat": 0, "seats": [],
        "clock": null, "deal": null, "commitment": "", "nonce": false,
    })
}

fn turn(r#match: &str) -> Value {
    json!({ "type": "turn", "match": r#match, "seat": 0, "turn": 0, "legal": ["a"], "clock": null })
}

/// Plays two matches at once, and says good bye.
fn play<S: Read + Write>(referee: &mut Referee<S>) {
    for id in ["m1", "m2"] {
        assert_eq!(referee.ask(&start(id)), json!({ "type": "ready", "match": id, "seat": 0 }));
    }
    referee.send(&turn("m2"));
    referee.send(&turn("m1"));
    for id in ["m2", "m1"] {
        let answer = json!({ "type": "move", "match": id, "seat": 0, "turn": 0, "move": "a" });
        assert_eq!(referee.receive(), answer);
    }
    referee.send(&json!({ "type": "bye", "reason": "done" }));
}

#[test]
fn a_bot_plays_over_tcp_and_writes_nothing_to_stdout() {
    let (listener, address) = listen();
    let bot = Bot::start(&["--seed", "7", "--connect", &address], None);
    let (stream, _) = listener.accept().expect("it connects");
    let mut referee = Referee(BufReader::new(stream));
    assert_eq!(referee.greet("none")["name"], "random");
    play(&mut referee);
    let why = "referee_bot: the referee closes the connection: done\n";
    assert_eq!(bot.finish(), (Some(0), String::new(), why.to_owned()));
}

#[test]
fn a_bot_exits_when_the_stream_ends() {
    let (listener, address) = listen();
    let bot = Bot::start(&[&format!("--connect={address}")], None);
    let (stream, _) = listener.accept().expect("it connects");
    let mut referee = Referee(BufReader::new(stream));
    referee.greet("none");
    drop(referee);
    assert_eq!(bot.finish().0, Some(0));
}

#[test]
fn a_name_on_the_command_line_is_used() {
    let (listener, address) = listen();
    let _bot = Bot::start(&["--name", "somebody else", "--connect", &address], None);
    let (stream, _) = listener.accept().expect("it connects");
    assert_eq!(Referee(BufReader::new(stream)).greet("none")["name"], "somebody else");
}

#[test]
fn token_is_sent_only_to_referee_that_requires_it() {
    let file = std::env::temp_dir().join(format!("referee-bot-token-{}", std::process::id()));
    std::fs::write(&file, "from a file\n").expect("a file");
    let file = file.to_str().expect("text").to_owned();
    let cases: [(&[&str], Option<&str>, &str, Value); 4] = [
        (&[], Some("secret"), "token", json!("secret")),
        (&[], Some("secret"), "none", Value::Null),
        (&["--token-file", &file], Some("secret"), "token", json!("from a file")),
        (&[], None, "token", Value::Null),
    ];
    for (args, token, auth, expected) in cases {
        let (listener, address) = listen();
        let args: Vec<&str> = args.iter().copied().chain(["--connect", &address]).collect();
        let _bot = Bot::start(&args, token);
        let (stream, _) = listener.accept().expect("it connects");
        assert_eq!(Referee(BufReader::new(stream)).greet(auth)["token"], expected, "{args:?} {auth}");
    }
    std::fs::remove_file(&file).expect("it is there");
}

fn run(args: &[&str]) -> (Option<i32>, String) {
    let Output { status, stderr, .. } =
        Command::new(env!("CARGO_BIN_EXE_referee-random")).args(args).output().expect("the bot starts");
    (status.code(), String::from_utf8_lossy(&stderr).into_owned())
}

#[test]
fn invalid_options_are_reported() {
    for (args, what) in [
        (&["--connect", "localhost"][..], "`localhost` is not HOST:PORT"),
        (&["--connect"], "--connect needs a value"),
        (&["--token-file", "/nowhere"], "--token-file /nowhere:"),
    ] {
        let (status, stderr) = run(args);
        assert_eq!(status, Some(2), "{args:?}");
        assert!(stderr.contains(what) && stderr.contains("usage:"), "{args:?}: {stderr}");
    }
}

#[test]
fn an_unreachable_referee_is_reported_with_its_address() {
    let (listener, address) = listen();
    drop(listener);
    let (status, stderr) = run(&["--connect", &address]);
    assert_eq!(status, Some(1));
    assert!(stderr.contains(&address), "{stderr}");
}

#[cfg(not(feature = "tls"))]
#[test]
fn bot_without_tls_does_not_fall_back_to_plain_text() {
    let (_listener, address) = listen();
    let (status, stderr) = run(&["--tls", "--connect", &address]);
    assert_eq!(status, Some(1));
    assert!(stderr.contains("--tls"), "{stderr}");
}

#[cfg(feature = "tls")]
mod tls {
    use std::net::TcpStream;
    use std::sync::Arc;

    use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
    use rustls::{ServerConfig, ServerConnection, StreamOwned};

    use super::*;

    /// A certificate for `name` as the bot reads it, and the referee's key for it.
    fn certificate(name: &str) -> (String, Arc<ServerConfig>) {
        let made = rcgen::generate_simple_self_signed([name.to_owned()]).expect("a certificate");
        let key = PrivatePkcs8KeyDer::from(made.signing_key.serialize_der());
        let chain = vec![CertificateDer::from(made.cert.der().to_vec())];
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_no_client_auth()
            .with_single_cert(chain, key.into())
            .expect("a key that fits");
        (made.cert.pem(), Arc::new(config))
    }

    /// The bot, trusting a certificate for `name`, and the stream that it opens to `localhost`.
    fn connect(name: &str) -> (Bot, StreamOwned<ServerConnection, TcpStream>) {
        let (pem, config) = certificate(name);
        let ca = std::env::temp_dir().join(format!("referee-bot-ca-{name}-{}", std::process::id()));
        std::fs::write(&ca, pem).expect("a file");
        let (listener, address) = listen();
        let address = address.replace("127.0.0.1", "localhost");
        let ca = ca.to_str().expect("text");
        let bot = Bot::start(&["--tls", "--ca", ca, "--connect", &address], None);
        let (stream, _) = listener.accept().expect("it connects");
        let connection = ServerConnection::new(config).expect("a connection");
        (bot, StreamOwned::new(connection, stream))
    }

    #[test]
    fn a_bot_plays_over_tls() {
        let (bot, stream) = connect("localhost");
        let mut referee = Referee(BufReader::new(stream));
        assert_eq!(referee.greet("none")["name"], "random");
        play(&mut referee);
        let why = "referee_bot: the referee closes the connection: done\n";
        assert_eq!(bot.finish(), (Some(0), String::new(), why.to_owned()));
    }

    #[test]
    fn nothing_is_sent_to_a_referee_with_another_certificate() {
        let (bot, mut stream) = connect("example.org");
        let hello = b"{\"type\":\"hello\",\"protocol\":1,\"server\":\"referee/0.1.0\",\"auth\":\"token\"}\n";
        let answer = stream.write_all(hello).and_then(|()| stream.read(&mut [0; 100]));
        assert!(!matches!(answer, Ok(1..)), "{answer:?}");
        drop(stream);
        let (status, _, stderr) = bot.finish();
        assert_eq!(status, Some(1));
        assert!(stderr.contains("example.org"), "{stderr}");
    }
}
