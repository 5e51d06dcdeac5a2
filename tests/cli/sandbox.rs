//! The options of sandboxes, and what runs, records and reports say about them.
#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::sync::OnceLock;

use crate::common::{Ended, Folder, Referee, SEED, WON, referee, the};
use ::referee::bot::sandbox::{Layer, Mode};
use Layer::{Bubblewrap, LandlockScope};
use serde_json::{Value, json};

/// The layers that the referee lacks here.
pub(crate) fn missing() -> Vec<Layer> {
    static MISSING: OnceLock<Vec<Layer>> = OnceLock::new();
    let check = || {
        let checked = referee(["sandbox", "check", "--json"]).one("sandbox_check");
        let layers = checked["layers"].as_array().expect("layers").iter();
        let missing = layers.filter(|row| row["holds"] == false);
        missing.map(|row| row["layer"].as_str().expect("a name").parse().expect("a layer")).collect()
    };
    MISSING.get_or_init(check).clone()
}

/// The options of a sandbox that does without the layers that this machine lacks.
pub(crate) fn options(mode: Mode) -> Vec<String> {
    let mut options = vec!["--sandbox".to_owned(), mode.to_string()];
    for layer in missing() {
        options.extend(["--sandbox-allow-missing".to_owned(), layer.to_string()]);
    }
    options
}

/// A directory of links to all programs of the search path but bubblewrap: a search path for the referee.
pub(crate) fn programs_without_bubblewrap(folder: &Folder) -> String {
    let programs = folder.path("programs");
    fs::create_dir_all(&programs).expect("a directory");
    let path = std::env::var_os("PATH").expect("a path");
    for program in std::env::split_paths(&path).filter_map(|place| fs::read_dir(place).ok()).flatten() {
        let program = program.expect("a program");
        if program.file_name() != "bwrap" {
            // The first one of a name counts.
            let _ = std::os::unix::fs::symlink(program.path(), programs.join(program.file_name()));
        }
    }
    folder.text("programs")
}

/// The options of a sandbox for the referee whose search path is this directory.
pub(crate) fn options_without_bubblewrap(mode: Mode, programs: &str) -> Vec<String> {
    let mut options = options(mode);
    options.extend(["--sandbox-allow-missing", "bubblewrap", "--sandbox-read", programs].map(str::to_owned));
    options
}

/// Writes a bot in a directory of its own, which its sandbox shows it. Returns its command line.
pub(crate) fn own_bot(folder: &Folder, name: &str, script: &str) -> String {
    fs::create_dir_all(folder.path(name)).expect("a directory");
    fs::copy(folder.path("testbot.py"), folder.path(name).join("testbot.py")).expect("a copy");
    folder.bot(&format!("{name}/{name}"), script)
}

/// The program of an honest bot.
pub(crate) fn victim(folder: &Folder) -> String {
    own_bot(folder, "victim", "play()");
    folder.text("victim/victim.py")
}

#[test]
fn strict_refuses_to_start_where_a_layer_is_missing() {
    let folder = Folder::new();
    let bot = folder.plain_bot("bot");
    // A search path without bubblewrap.
    let mut play = Command::new(env!("CARGO_BIN_EXE_referee"));
    play.env("PATH", folder.text("")).args(["play", "checkers", &bot, &bot, "--sandbox", "strict"]);
    let ended = Referee::start_as(&mut play).end().with_code(5);
    ended.says(&[
        "the sandbox `strict` is not available",
        "bubblewrap is not installed",
        "--sandbox-allow-missing",
    ]);
}

/// Returns whether the machine lacks bubblewrap or the user namespaces that it needs. Reports that.
fn lacks_bubblewrap() -> bool {
    let problem = Bubblewrap.probe().err();
    if let Some(problem) = &problem {
        eprintln!("not enforced here: {problem}");
    }
    problem.is_some()
}

/// A search path on which `bwrap` is this script.
fn path_with_bwrap(folder: &Folder, script: &str) -> String {
    fs::create_dir_all(folder.path("bin")).expect("a directory");
    let bwrap = folder.write("bin/bwrap", format!("#!/bin/sh\n{script}\n"));
    fs::set_permissions(bwrap, PermissionsExt::from_mode(0o755)).expect("its own file");
    format!("{}:{}", folder.text("bin"), std::env::var("PATH").expect("a path"))
}

/// A bot that leaves a file beside its program, where a confined bot cannot write.
fn marking_bot(folder: &Folder) -> String {
    let mark = "def mark():
    try:
        open(__file__ + '.mark', 'w').close()
    except OSError:
        pass
mark()
play()";
    own_bot(folder, "bot", mark)
}

#[test]
fn strict_refuses_to_start_where_bubblewrap_fails() {
    if lacks_bubblewrap() {
        return;
    }
    let folder = Folder::new();
    let bot = marking_bot(&folder);
    let path = path_with_bwrap(&folder, "echo 'bwrap: no permissions to create a new namespace' >&2; exit 1");
    let mut play = Command::new(env!("CARGO_BIN_EXE_referee"));
    play.env("PATH", path).args(["play", "checkers", &bot, &bot]).args(options(Mode::Strict));
    let ended = Referee::start_as(&mut play).end().with_code(5);
    ended.says(&["the sandbox `strict` is not available", "bwrap: no permissions to create a new namespace"]);
    assert!(!folder.path("bot/bot.py.mark").exists(), "the bot ran");
}

#[test]
fn a_bot_whose_sandbox_fails_does_not_run() {
    if lacks_bubblewrap() {
        return;
    }
    let folder = Folder::new();
    let bot = marking_bot(&folder);
    let bwrap = "case \"$*\" in *__exec*) echo 'bwrap: out of namespaces' >&2; exit 1;; esac\nexec /usr/bin/bwrap \"$@\"";
    let path = path_with_bwrap(&folder, bwrap);
    let mut play = Command::new(env!("CARGO_BIN_EXE_referee"));
    play.env("PATH", path).args(["play", "checkers", &bot, &bot]).args(options(Mode::Strict));
    let ended = Referee::start_as(&mut play).end();
    let said = format!("{ended:?}");
    assert!(said.contains("its sandbox cannot be built: bwrap: out of namespaces"), "{ended:#?}");
    assert!(!folder.path("bot/bot.py.mark").exists(), "the bot ran");
}

#[test]
fn check_and_tournament_check_start_bots_inside() {
    let folder = Folder::new();
    let bot = marking_bot(&folder);
    let cup = |mode: Mode| {
        let allowed: Vec<&str> = missing().into_iter().map(Layer::as_str).collect();
        format!(
            "game = 'checkers'\n[format]\nkind = 'round_robin'\n[sandbox]\nmode = '{mode}'\n\
             allow_missing = {allowed:?}\n[[entrants]]\ncommand = \"{bot}\"\n[[entrants]]\ncommand = \"{bot}\"\n"
        )
    };
    for (mode, is_marked) in [(Mode::Strict, false), (Mode::None, true)] {
        let mut check: Vec<String> = ["check", "checkers", &bot].map(str::to_owned).into();
        check.extend(options(mode));
        let toml = folder.write("cup.toml", cup(mode));
        let tournament = ["tournament", "check", &toml].map(str::to_owned);
        for args in [check, tournament.into()] {
            referee(&args).with_code(0);
            assert_eq!(fs::remove_file(folder.path("bot/bot.py.mark")).is_ok(), is_marked, "{args:?}");
        }
    }
}

#[test]
fn a_record_states_the_sandbox_of_each_bot() {
    let folder = Folder::new();
    let victim = format!("python3 '{}'", victim(&folder));
    let records = folder.text("records");
    let mut args: Vec<String> =
        ["play", "checkers", &victim, &victim, "--set", WON, "--record", &records].map(str::to_owned).into();
    args.extend(options(Mode::Strict));
    args.push("--sandbox-memory=512MiB".to_owned());
    referee(&args).done();
    let record = folder.record("records/m1.jsonl");
    let sandbox = &the("record", &record)["seats"][0]["bot"]["sandbox"];
    assert_eq!(sandbox["mode"], "strict");
    assert_eq!(sandbox["limits"]["memory"], "512MiB");
    let layers: Vec<&str> =
        sandbox["layers"].as_array().expect("a list").iter().filter_map(Value::as_str).collect();
    for layer in Layer::ALL {
        assert_eq!(layers.contains(&layer.as_str()), !missing().contains(&layer), "{layer}");
    }
    referee(["verify", &records]).with_code(0);
}

#[test]
fn a_tournament_confines_its_bots_as_its_file_says() {
    let folder = Folder::new();
    let looks = "import pathlib, sys
def is_readable(place):
    try:
        open(place).close()
        return True
    except OSError:
        return False
def look(turn):
    places = ['/etc/shadow', str(pathlib.Path(__file__).parent / '../cup.toml')]
    sys.stderr.write(f'{[is_readable(place) for place in places]} {os.environ[\"HOME\"]}\\n')
    play_first(turn)
play_first = first
play(turn=look)";
    for bot in ["one", "other"] {
        fs::create_dir(folder.path(bot)).expect("a directory");
        fs::copy(folder.path("testbot.py"), folder.path(bot).join("testbot.py")).expect("a copy");
        folder.write(&format!("{bot}/bot.py"), format!("from testbot import *\n{looks}\n"));
    }
    let allowed: Vec<&str> = missing().into_iter().map(Layer::as_str).collect();
    let toml = format!(
        "game = 'checkers'\nmirror = 'none'\n[format]\nkind = 'round_robin'\n[options]\nfen = 'B:W18:B14'\n\
         [sandbox]\nmode = 'strict'\nallow_missing = {allowed:?}\n[sandbox.limits]\nmemory = '1GiB'\n\
         [[entrants]]\nname = 'one'\ncommand = 'python3 one/bot.py'\nlimits = {{ memory = '256MiB', processes = 32 }}\n\
         [[entrants]]\nname = 'other'\ncommand = 'python3 other/bot.py'\n"
    );
    let (toml, dir) = (folder.write("cup.toml", toml), folder.text("cup"));
    referee(["tournament", "check", &toml]).done();
    referee(["tournament", "run", &toml, "--dir", &dir]).with_code(0);
    let record =
        fs::read_dir(folder.path("cup/records")).expect("records").next().expect("one").expect("a file");
    let record = folder.record(record.path().to_str().expect("UTF-8"));
    let limits = |seat: usize| the("record", &record)["seats"][seat]["bot"]["sandbox"]["limits"].clone();
    assert_eq!(limits(0)["memory"], "256MiB");
    assert_eq!(limits(0)["processes"], 32);
    assert_eq!(limits(1)["memory"], "1GiB");
    let said = the("bots", &record)["bots"][0]["stderr"].as_str().expect("text").to_owned();
    assert!(said.starts_with("[False, False] /"), "{said}");

    // Every format of the report names the layers.
    let report = referee(["tournament", "report", &dir, "--format", "json"]).one("report");
    let sandboxes = report["sandboxes"].as_array().expect("a list");
    let [sandbox] = &sandboxes[..] else { panic!("{sandboxes:?}") };
    assert_eq!([&sandbox["mode"], &sandbox["seats"]], [&Value::from("strict"), &Value::from(2)]);
    assert_eq!(sandbox["left_out"], json!(left_out()));
    let site = folder.text("site");
    referee(["tournament", "report", &dir, "--site", &site]).with_code(0);
    let formatted = |format| referee(["tournament", "report", &dir, "--format", format]).done().stdout;
    let page = folder.read("site/index.html");
    for text in ["table", "html", "markdown"].map(formatted).into_iter().chain([page]) {
        // A table may wrap its cells, and Markdown escapes.
        let text = text.replace('\\', "");
        let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
        for layer in sandbox["layers"].as_array().expect("a list") {
            assert!(words.contains(&layer.as_str().expect("a name")), "{layer}: {text}");
        }
    }
}

/// The layers of `strict` that records then lack.
fn left_out() -> Vec<Layer> {
    let is_replaced = |layer: &Layer| *layer == LandlockScope && Bubblewrap.probe().is_ok();
    missing().into_iter().filter(|layer| !is_replaced(layer)).collect()
}

/// A bot that reports which of these files it can read.
pub(crate) fn looking_bot(folder: &Folder, places: &[String]) -> String {
    let look = format!(
        "import sys
for place in {places:?}:
    try:
        open(place).close()
        sys.stderr.write(f'read {{place}}\\n')
    except OSError:
        sys.stderr.write(f'missed {{place}}\\n')
play()"
    );
    own_bot(folder, "looks", &look)
}

#[test]
fn secrets_of_run_stay_hidden_even_where_readable() {
    let folder = Folder::new();
    let plain = own_bot(&folder, "plain", "play()");
    fs::create_dir_all(folder.path("looks")).expect("a directory");
    let seed = folder.write_secret("looks/seed", SEED);
    let looks = looking_bot(&folder, std::slice::from_ref(&seed));
    // The library of the bot is beside the seed.
    let library = format!("--sandbox-read={}", folder.text("looks/testbot.py"));
    let records = folder.text("records");
    let mut args: Vec<String> =
        ["play", "checkers", &plain, &format!("{looks} '{seed}'"), "--set", WON, "--seed-file", &seed]
            .map(str::to_owned)
            .into();
    args.extend(["--record".to_owned(), records, library]);
    args.extend(options(Mode::Strict));
    referee(&args).done();
    let record = folder.record("records/m1.jsonl");
    let said = the("bots", &record)["bots"][1]["stderr"].as_str().expect("text").to_owned();
    assert_eq!(said, format!("missed {seed}\n"));
    // A sandbox that would show them is refused.
    args.push(format!("--sandbox-read={}", folder.text("looks")));
    let ended = referee(&args);
    let what = format!("its sandbox would show {seed}, which no bot may see");
    assert!(format!("{ended:?}").contains(&what), "{ended:#?}");
}

#[test]
fn a_run_prints_the_layers_of_its_sandbox() {
    let folder = Folder::new();
    let bot = own_bot(&folder, "bot", "play()");
    let run = |args: &[&str]| {
        let args = args.iter().map(|arg| (*arg).to_owned()).chain(options(Mode::Strict));
        referee(args).done()
    };
    let text = run(&["play", "checkers", &bot, &bot, "--set", WON]).stdout;
    assert!(text.contains("\nsandbox strict (no_new_privs, rlimits, seccomp"), "{text}");
    let summary = run(&["play", "checkers", &bot, &bot, "--set", WON, "--json"]).one("summary");
    assert_eq!(summary["bots"][1]["sandbox"]["mode"], "strict");
    let regress =
        ["regress", "checkers", "--new", &bot, "--base", &bot, "--fixed", "2", "--opening-plies", "0"];
    let text = run(&regress).stdout;
    assert!(text.contains("\nsandbox                    strict (no_new_privs"), "{text}");
}

#[test]
fn a_fault_by_the_limit_of_a_file_says_so() {
    let folder = Folder::new();
    // Python ignores the signal by default.
    let fill = "import resource
signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
with open(os.environ.get('TMPDIR', '/tmp') + '/big', 'wb') as file:
    file.write(bytes(2 << 20))
play()";
    let bots = [own_bot(&folder, "fills", fill), own_bot(&folder, "plain", "play()")];
    let mut args: Vec<String> =
        ["play", "checkers", &bots[1], &bots[0], "--record"].map(str::to_owned).into();
    args.push(folder.text("records"));
    args.extend(options(Mode::Strict).into_iter().chain(["--sandbox-scratch=1MiB".to_owned()]));
    let ended = referee(&args);
    assert!(
        format!("{ended:?}").contains("exited: killed by its limit of 1024 KiB for a file"),
        "{ended:#?}"
    );
    let record = folder.record("records/m1.jsonl");
    assert_eq!(the("fault", &record)["detail"], json!({"kind": "file_limit", "most_bytes": 1 << 20}));
}

#[test]
fn sandbox_check_names_missing_layers_and_tries_each_mode() {
    let ended: Ended = referee(["sandbox", "check", "--json"]);
    let checked = ended.one("sandbox_check");
    let missing = missing();
    for row in checked["layers"].as_array().expect("layers") {
        let layer: Layer = row["layer"].as_str().expect("a name").parse().expect("a layer");
        assert_eq!(row["holds"], !missing.contains(&layer), "{row}");
        assert_eq!(row["problem"].is_string(), missing.contains(&layer), "{row}");
    }
    let modes = checked["modes"].as_array().expect("modes");
    assert!(modes.iter().all(|row| row["start_ms"].is_number()), "{checked}");
    assert_eq!(ended.code, Some(if missing.is_empty() { 0 } else { 1 }));
    let text = referee(["sandbox", "check"]).stdout;
    assert!(text.contains("reach into memory and pipes of other processes"), "{text}");
}

#[test]
fn the_cpu_time_of_a_child_that_still_runs_counts() {
    let folder = Folder::new();
    let spin = "import subprocess
child = '''import time
while time.process_time() < 0.3: pass
print('done', flush=True)
time.sleep(1000)'''
subprocess.Popen([sys.executable, '-c', child], stdout=subprocess.PIPE).stdout.readline()
play()";
    let bots = [own_bot(&folder, "spins", spin), own_bot(&folder, "plain", "play()")];
    for mode in [Mode::None, Mode::Strict] {
        let play = ["play", "checkers", &bots[0], &bots[1], "--set", WON, "--json", "--hello-limit=60s"];
        let ended = referee(play.map(str::to_owned).into_iter().chain(options(mode))).done();
        let cpu_ms = ended.all("match")[0]["cpu_ms"].clone();
        let [spins, plain] = [0, 1].map(|seat| cpu_ms[seat].as_u64().expect("a number"));
        assert!(spins >= plain + 200, "in {mode}: {cpu_ms}");
    }
}
