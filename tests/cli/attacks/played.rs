//! A match in which a bot attacks.

use std::collections::BTreeMap;
use std::fs;
use std::net::{Ipv4Addr, TcpListener, TcpStream, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use super::list::{ATTACKS, source};
use crate::common::guest::Guest;
use crate::common::{Folder, ROOT, Referee, SEED, Signal, WON, free_port, the};
use crate::sandbox::{options, options_without_bubblewrap, programs_without_bubblewrap, victim};
use ::referee::bot::sandbox::Layer::Bubblewrap;
use ::referee::bot::sandbox::Mode;
use serde_json::Value;

/// Copies an attack to a folder, because attacks may succeed. Returns its command line. `arguments` are no files of its
/// own for the sandbox.
pub(crate) fn attacker(folder: &Folder, script: &str, arguments: &[String]) -> String {
    let attacks = folder.path("attacks");
    fs::create_dir_all(&attacks).expect("a directory");
    for file in ["_bot.py", "attacks/_attack.py", &format!("attacks/{script}.py")] {
        let source = Path::new(ROOT).join("bots/hostile").join(file);
        fs::copy(&source, attacks.join(source.file_name().expect("a name"))).expect("a copy");
    }
    let arguments: Vec<String> = arguments.iter().map(|argument| format!("'={argument}'")).collect();
    format!("python3 '{}' {}", attacks.join(script).with_extension("py").display(), arguments.join(" "))
}

/// Sockets that an attack tries to reach.
struct Sockets {
    _tcp: TcpListener,
    _unix: [UnixListener; 3],
    arguments: Vec<String>,
}

impl Sockets {
    fn open(folder: &Folder) -> Sockets {
        let tcp = TcpListener::bind("127.0.0.1:0").expect("a port");
        let udp = UdpSocket::bind("127.0.0.1:0").expect("a port");
        let services = ["docker.sock", "bus"].map(|name| folder.text(name));
        let name = format!("referee-test-{}", folder.text("").replace('/', "-"));
        let ports = [tcp.local_addr(), udp.local_addr()].map(|address| address.expect("bound").port());
        let ports = ports.map(|port| port.to_string());
        let arguments = ports.into_iter().chain(services.clone()).chain([name.clone()]).collect();
        thread::spawn(move || {
            let mut query = [0; 512];
            while let Ok((_, from)) = udp.recv_from(&mut query) {
                let _ = udp.send_to(b"!", from);
            }
        });
        let address = SocketAddr::from_abstract_name(&name).expect("a name");
        let [docker, bus] = services.map(|path| UnixListener::bind(path).expect("a socket"));
        let hidden = UnixListener::bind_addr(&address).expect("a socket");
        Sockets { _tcp: tcp, _unix: [docker, bus, hidden], arguments }
    }
}

/// A program with the setuid bit of another user, beside the attack. Only root can create it.
fn write_setuid_program(folder: &Folder) {
    const NOBODY: u32 = 65534;
    if rustix::process::geteuid().is_root() {
        let program = folder.path("attacks/setuid");
        fs::copy("/usr/bin/sleep", &program).expect("a copy");
        std::os::unix::fs::chown(&program, Some(NOBODY), None).expect("root may do that");
        fs::set_permissions(&program, PermissionsExt::from_mode(0o4755)).expect("its own file");
    }
}

/// Puts a seed beside the attack, whose command then leads through a link.
fn write_beside(folder: &Folder, attack: &mut String) {
    folder.write_secret("attacks/seed-of-the-run", SEED);
    std::os::unix::fs::symlink("attacks", folder.path("link")).expect("its own folder");
    *attack = attack.replace("/attacks/", "/link/");
}

/// The options of a match with that seed. The attack needs files beside its program.
fn beside_options(folder: &Folder, mode: Mode) -> Vec<String> {
    let mut options = vec!["--seed-file".to_owned(), folder.text("attacks/seed-of-the-run")];
    if mode == Mode::Strict {
        let read = ["link/_attack.py", "link/_bot.py"];
        options.extend(read.map(|file| format!("--sandbox-read={}", folder.text(file))));
    }
    options
}

/// Links a program into the folder of a test, where every user can run it.
pub(crate) fn shared_program(folder: &Folder, name: &str, program: &Path) -> String {
    let shared = folder.path(name);
    if !shared.exists() {
        // The temporary directory may be on another file system.
        fs::hard_link(program, &shared).or_else(|_| fs::copy(program, &shared).map(drop)).expect("a copy");
    }
    folder.text(name)
}

/// Starts the referee as a user whose number of processes the system limits, unlike root's.
pub(crate) fn as_user(folder: &Folder, args: &[String]) -> Referee {
    Referee::start_as(&mut command_of_user(folder, args))
}

/// The command of a referee that runs as a user that is not root.
fn command_of_user(folder: &Folder, args: &[String]) -> Command {
    if !rustix::process::geteuid().is_root() {
        return command(args);
    }
    const USER: u32 = 61234;
    let own = folder.path("results");
    fs::create_dir_all(&own).expect("a directory");
    std::os::unix::fs::chown(own, Some(USER), None).expect("root may do that");
    fs::set_permissions(folder.path("."), PermissionsExt::from_mode(0o755)).expect("its own folder");
    let program = shared_program(folder, "referee", Path::new(env!("CARGO_BIN_EXE_referee")));
    let mut setpriv = Command::new("setpriv");
    setpriv.args([format!("--reuid={USER}"), "--clear-groups".to_owned()]).arg(program).args(args);
    setpriv
}

/// The command of a referee that lacks the capability to mount, as root does in most containers.
fn without_the_right_to_mount(args: &[String]) -> Command {
    if !rustix::process::geteuid().is_root() {
        return command(args);
    }
    let mut setpriv = Command::new("setpriv");
    setpriv.args(["--bounding-set=-sys_admin", env!("CARGO_BIN_EXE_referee")]).args(args);
    setpriv
}

fn command(args: &[String]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_referee"));
    command.args(args);
    command
}

/// Starts the referee with a secret in its environment, a further descriptor and a terminal.
fn with_a_secret(secret: &str, args: &[String]) -> Referee {
    let script =
        format!("export SECRET='{secret}'; exec 7</dev/null '{}' \"$@\"", env!("CARGO_BIN_EXE_referee"));
    let mut terminal = Command::new("python3");
    terminal.arg(format!("{ROOT}/tests/cli/common/terminal.py")).args(["bash", "-c", &script, "bash"]);
    Referee::start_as(terminal.args(args))
}

/// Plays as the opponent of an attacker over a connection, and connects to the attacker, which listens unless it is in
/// `strict`.
fn play_and_connect([attacker, referee]: [u16; 2], mode: Mode) {
    let connect = |port: u16| {
        let connected = (0..2000).find_map(|_| {
            thread::sleep(Duration::from_millis(5));
            TcpStream::connect((Ipv4Addr::LOCALHOST, port)).ok()
        });
        connected.expect("it listens")
    };
    drop(connect(referee));
    let opponent = Guest::named((Ipv4Addr::LOCALHOST, referee).into(), "victim").play_along();
    if mode != Mode::Strict {
        connect(attacker);
    }
    opponent.join().expect("an opponent");
}

/// An attacker's report on standard error.
pub(super) fn said(record: &[Value], seat: usize) -> BTreeMap<String, String> {
    let said = the("bots", record)["bots"][seat]["stderr"].as_str().expect("text");
    let reports = said.lines().filter_map(|line| line.split_once(": "));
    reports.map(|(tried, outcome)| (tried.to_owned(), outcome.to_owned())).collect()
}

/// Plays an attacker against an honest bot, which must not have a fault in a sandbox. Returns the reports of the attacker.
pub(super) fn reports(script: &str, mode: Mode) -> BTreeMap<String, String> {
    let folder = Folder::new();
    let victim = victim(&folder);
    let token = format!("attack-{}", folder.text("").replace('/', "-"));
    fs::create_dir_all(folder.path("tournament/records")).expect("a directory");
    // An earlier run.
    let [seed, tokens, results, unsealed] = ["seed", "tokens", "results.sqlite", "records/m7.unsealed"]
        .map(|name| folder.write_secret(&format!("tournament/{name}"), "00".repeat(32)));
    let earlier = folder.text("tournament/records/");
    let left = folder.text("left");
    let sockets = Sockets::open(&folder);
    let key = 0x5245_0000 + 4 * i64::from(std::process::id() % 0x3fff) + mode as i64;
    let shared = Path::new("/dev/shm").join(&token);
    let ports = [free_port(), free_port()];
    let mut arguments = match script {
        "peer" | "kills" | "freezer" => vec![victim.clone()],
        // Only its own command line contains the seed.
        "referee" => vec![SEED.to_owned()],
        "files" => vec![seed.clone(), tokens, results, unsealed, earlier, victim.clone()],
        "scratch" => vec![left.clone()],
        "network" => sockets.arguments,
        "kernel" => vec![key.to_string(), token.clone()],
        "port" => vec![ports[1].to_string(), "victim".to_owned(), ports[0].to_string()],
        _ => vec![token.clone()],
    };
    if source(script).0 == "metadata" {
        let records = folder.text("results");
        fs::create_dir_all(&records).expect("a directory");
        arguments = vec![records];
    }
    let is_left_alone = script == "survivor of the referee";
    if is_left_alone {
        arguments.push("hang".to_owned());
    }
    let mut bots = [format!("python3 '{victim}'"), attacker(&folder, source(script).0, &arguments)];
    if script == "beside" {
        write_beside(&folder, &mut bots[1]);
    }
    write_setuid_program(&folder);
    // The one with a turn is the first.
    let seat = if ["stops", "survivor of the referee"].contains(&script) { 0 } else { 1 };
    bots.rotate_right(1 - seat);
    if script == "port" {
        bots[0] = "tcp:victim".to_owned();
    }
    let mut args: Vec<String> = ["play", "checkers", &bots[0], &bots[1]].map(str::to_owned).into();
    args.extend(["--set", WON, "--json", "--record", &folder.text("results")].map(str::to_owned));
    // An attack takes its time before its `hello` on a busy machine.
    args.push("--hello-limit=60s".to_owned());
    let more = match script {
        _ if script == "referee" || script.ends_with("by a user") => {
            ["--seed", SEED].map(str::to_owned).to_vec()
        }
        "stops" => ["--seed-file", &seed, "--clock", "delay=300ms"].map(str::to_owned).to_vec(),
        "beside" => beside_options(&folder, mode),
        "port" => vec![format!("--listen=127.0.0.1:{}", ports[1]), "--ready-limit=500ms".to_owned()],
        _ => ["--seed-file", &seed].map(str::to_owned).to_vec(),
    };
    let programs = script.contains("without bubblewrap").then(|| programs_without_bubblewrap(&folder));
    args.extend(more.into_iter().chain(match &programs {
        Some(programs) => options_without_bubblewrap(mode, programs),
        None => options(mode),
    }));
    if mode == Mode::Strict {
        let limits = ["--sandbox-memory=256MiB", "--sandbox-processes=64", "--sandbox-scratch=32MiB"];
        args.extend(limits.map(str::to_owned));
    }
    if script == "spin" && mode == Mode::Strict {
        args.push("--sandbox-cpus=0.1".to_owned());
    }
    if is_left_alone {
        return outlives_a_killed_referee(&args, &token, mode);
    }
    let opponent = (script == "port").then(|| thread::spawn(move || play_and_connect(ports, mode)));
    let ended = if script == "inherited" {
        with_a_secret(&token, &args).end()
    } else {
        let mut command = match script {
            _ if script.ends_with("by a user") => command_of_user(&folder, &args),
            "metadata without the right to mount" => without_the_right_to_mount(&args),
            _ => command(&args),
        };
        if let Some(programs) = programs {
            command.env("PATH", programs);
        }
        Referee::start_as(&mut command).end()
    };
    if let Some(opponent) = opponent {
        opponent.join().expect("an opponent");
    }
    assert!(folder.path("results/m1.jsonl").exists(), "{script} in {mode}: {ended:#?}");
    let record = folder.record("results/m1.jsonl");
    let faults = |seat: usize| record.iter().find(|line| line["type"] == "fault" && line["seat"] == seat);
    // In `basic` it can delete the program of its opponent.
    if mode == Mode::Strict || mode == Mode::Basic && script != "files" {
        assert!(faults(1 - seat).is_none(), "{script} in {mode}: {ended:#?}");
    }
    let mut reports = said(&record, seat);
    let own = faults(seat);
    if own.is_some_and(|fault| fault["detail"]["kind"] == "memory_limit") {
        for attack in ATTACKS.iter().filter(|attack| attack.script == script) {
            reports.insert(attack.tried.to_owned(), "killed by its memory limit".to_owned());
        }
    }
    // The rest is seen from outside.
    let mut seen = |tried: &str, outcome: &str| reports.insert(tried.to_owned(), outcome.to_owned());
    match script {
        "stops" => {
            let code = own.map_or("done", |fault| fault["code"].as_str().expect("a code"));
            assert_none_left(&token);
            seen("stop itself in its turn", code);
        }
        "survivor" if is_gone(&token) => drop(seen("outlive its match", "ended")),
        "chains" if is_gone(&token) => drop(seen("outlive its match by 30 chains of processes", "ended")),
        "survivor" => {
            kill_all(&token);
            seen("outlive its match", "done");
        }
        "scratch" if !Path::new(&left).join("left").exists() => drop(seen("leave a file", "absent")),
        "kernel" => {
            let list = fs::read_to_string("/proc/sysvipc/shm").unwrap_or_default();
            let is_left = list.lines().any(|line| line.split_whitespace().next() == Some(&key.to_string()));
            if reports["leave shared memory"] == "done" && !is_left {
                reports.insert("leave shared memory".to_owned(), "absent".to_owned());
            }
            if reports["leave POSIX shared memory"] == "done" && fs::remove_file(&shared).is_err() {
                reports.insert("leave POSIX shared memory".to_owned(), "absent".to_owned());
            }
            if is_left {
                let _ = Command::new("ipcrm").args(["-M", &key.to_string()]).status();
            }
        }
        _ => {}
    }
    reports
}

/// Plays a match that its bots do not end, and kills the referee.
fn outlives_a_killed_referee(args: &[String], token: &str, mode: Mode) -> BTreeMap<String, String> {
    let play = Referee::start(args.iter().map(String::as_str).chain(["--clock", "none"]));
    let has_begun = (0..6000).any(|_| {
        thread::sleep(Duration::from_millis(10));
        processes_with(token).len() > 31
    });
    assert!(has_begun, "the attack did not begin");
    play.signal(Signal::KILL);
    play.wait();
    if mode == Mode::Strict && Bubblewrap.probe().is_ok() {
        assert_none_left(token);
    }
    let outcome = if is_gone(token) { "ended" } else { "done" };
    kill_all(token);
    BTreeMap::from([("outlive a killed referee".to_owned(), outcome.to_owned())])
}

/// The processes whose command line contains this text.
fn processes_with(text: &str) -> Vec<u32> {
    let entries = fs::read_dir("/proc").expect("processes");
    let contains = |folder: &Path| {
        let line = fs::read(folder.join("cmdline")).unwrap_or_default();
        line.windows(text.len()).any(|window| window == text.as_bytes())
    };
    let found = entries.filter_map(|entry| Some(entry.ok()?.path())).filter(|folder| contains(folder));
    found.filter_map(|folder| folder.file_name()?.to_str()?.parse().ok()).collect()
}

/// Returns whether all processes with this text in their command lines have ended. A process that has just
/// started may not show its command line yet.
fn is_gone(text: &str) -> bool {
    (0..5).all(|_| {
        thread::sleep(Duration::from_millis(10));
        processes_with(text).is_empty()
    })
}

/// Waits until no process has this text in its command line, far longer than needed on a busy machine.
#[track_caller]
fn assert_none_left(text: &str) {
    let is_gone = (0..100).any(|_| is_gone(text));
    assert!(is_gone, "{:?} are left", processes_with(text));
}

/// Kills all processes with this text in their command lines.
fn kill_all(text: &str) {
    for process in processes_with(text) {
        // It may have ended.
        let _ = Command::new("kill").args(["-9", &process.to_string()]).stderr(Stdio::null()).status();
    }
}
