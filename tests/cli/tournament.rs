//! `referee tournament`: playing, resuming, joining and withdrawing entrants.
#![expect(clippy::disallowed_methods, reason = "processes are killed after some real time")]

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::{Folder, ROOT, Referee, SEED, Signal, assert_gone, compile, referee};
use crate::watch::wait_until;
use rustix::process::{Pid, kill_process_group};
use serde_json::{Value, json};

/// Writes its process id to a file, and plays a legal move that depends only on the position.
const PLAYER: &str = "with open(__file__ + '.pids', 'a') as pids:
    print(os.getpid(), file=pids, flush=True)
pick = lambda t: move(t, t['legal'][(len(t['view']['fen']) + STEP) % len(t['legal'])])
play(turn=pick)";

/// A tournament of four deterministic bots.
pub(crate) fn cup(folder: &Folder, name: &str, head: &str, format: &str) -> String {
    let mut text = format!("game = 'checkers'\nseed = '{SEED}'\n{head}\n[format]\n{format}\n");
    for step in 0..4 {
        let bot = folder.bot(&format!("bot{step}"), &PLAYER.replace("STEP", &step.to_string()));
        text += &format!("[[entrants]]\nname = 'bot{step}'\ncommand = \"{bot}\"\n");
    }
    folder.write(name, text)
}

const SHORT: &str = "opening_plies = 4\njobs = 2\noptions = { turn_limit = 30 }";

/// By number of the match: the entrants and ranks of its result.
fn results(folder: &Path) -> BTreeMap<u32, (String, String)> {
    let db = rusqlite::Connection::open(folder.join("results.sqlite")).unwrap();
    let sound: String = db.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(sound, "ok");
    let mut query = db.prepare("SELECT number, lineup, ranks FROM matches WHERE ranks IS NOT NULL").unwrap();
    let rows = query.query_map([], |row| Ok((row.get(0)?, (row.get(1)?, row.get(2)?)))).unwrap();
    let mut results = BTreeMap::new();
    for row in rows {
        let (number, result) = row.unwrap();
        assert!(results.insert(number, result).is_none(), "m{number} has two results");
    }
    results
}

/// The sealed records of a directory.
fn records(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let records = folder.join("records");
    let names = if records.exists() { crate::common::files(&records) } else { Vec::new() };
    let sealed = names.into_iter().filter(|name| name.ends_with(".jsonl"));
    let read = |name: String| (name.clone(), std::fs::read(records.join(name)).unwrap());
    sealed.map(read).collect()
}

fn pids(folder: &Folder) -> Vec<u32> {
    (0..4)
        .filter(|step| folder.path(&format!("bot{step}.py.pids")).exists())
        .flat_map(|step| folder.pids(&format!("bot{step}.py.pids")))
        .collect()
}

#[test]
fn a_round_robin_plays_every_pair_from_both_sides() {
    let folder = Folder::new();
    let config = cup(&folder, "cup.toml", SHORT, "kind = 'round_robin'\ncycles = 2");
    let dir = folder.text("cup");
    referee(["tournament", "check", &config]).done().says(&[]);
    let ended = referee(["tournament", "run", &config, "--dir", &dir, "--json"]).done();
    assert_eq!(ended.all("match").len(), 24);
    let standings = ended.one("standings")["entrants"].as_array().unwrap().clone();
    assert_eq!(standings.iter().map(|row| row["points"].as_f64().unwrap()).sum::<f64>(), 24.0);
    referee(["verify", &format!("{dir}/records")]).done();
    let mut pairs: BTreeMap<String, u32> = BTreeMap::new();
    for (lineup, _) in results(&folder.path("cup")).into_values() {
        *pairs.entry(lineup).or_default() += 1;
    }
    assert_eq!(pairs.len(), 12, "every pair in both orders: {pairs:?}");
    assert!(pairs.values().all(|&count| count == 2), "{pairs:?}");
    let status = referee(["tournament", "status", &dir, "--json"]).done().one("status");
    assert_eq!(
        [&status["played"], &status["missing"], &status["is_over"]],
        [&24.into(), &0.into(), &Value::from(true)]
    );
    assert_gone(&pids(&folder));
    // The results are complete: nothing is replayed.
    let again = referee(["tournament", "resume", &dir, "--json"]).done();
    assert!(again.all("match").is_empty());
    referee(["tournament", "run", &config, "--dir", &dir])
        .with_code(2)
        .says(&["contains a tournament", "resume"]);
}

#[test]
fn a_tournament_survives_a_hundred_kills() {
    let folder = Folder::new();
    let mut random = 1u64;
    for (kind, format, kills) in [
        ("round_robin", "kind = 'round_robin'\ncycles = 12", 60),
        ("swiss", "kind = 'swiss'\nrounds = 5\nsets = 3", 20),
        ("knockout", "kind = 'knockout'\nbest_of = 9", 20),
    ] {
        let config = cup(&folder, &format!("{kind}.toml"), SHORT, format);
        referee(["tournament", "run", &config, "--dir", &folder.text(kind)]).done();
        let whole = results(&folder.path(kind));
        let mut left = kills;
        for round in 1.. {
            if left == 0 {
                break;
            }
            let name = format!("{kind}{round}");
            kill_and_resume(&folder, (&config, &name), &whole, &mut left, &mut random);
            let dir = folder.text(&name);
            referee(["verify", &format!("{dir}/records")]).done();
            let status = referee(["tournament", "status", &dir, "--json"]).done().one("status");
            let ended = results(&folder.path(&name));
            assert_eq!((&status["is_over"], &status["played"]), (&true.into(), &ended.len().into()));
            assert_eq!(ended, whole, "{kind}");
        }
    }
    assert_gone(&pids(&folder));
}

/// Plays a tournament to its end; it is killed and resumed as often as there are kills left.
fn kill_and_resume(
    folder: &Folder,
    (config, name): (&str, &str),
    whole: &BTreeMap<u32, (String, String)>,
    left: &mut u32,
    random: &mut u64,
) {
    let (path, dir) = (folder.path(name), folder.text(name));
    let mut has_begun = false;
    loop {
        let args = if has_begun {
            vec!["tournament", "resume", &dir]
        } else {
            vec!["tournament", "run", config, "--dir", &dir]
        };
        let mut command = Command::new(env!("CARGO_BIN_EXE_referee"));
        command.args(&args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.process_group(0).spawn().unwrap();
        *random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let until = Instant::now() + Duration::from_millis((*random >> 33) % 400);
        while Instant::now() < until && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
        if *left == 0 {
            assert!(child.wait().unwrap().success());
        }
        let status = child.try_wait().unwrap();
        if status.is_none() {
            let group = Pid::from_raw(child.id().cast_signed()).unwrap();
            kill_process_group(group, Signal::KILL).unwrap();
            child.wait().unwrap();
            *left -= 1;
        }
        has_begun = path.join("results.sqlite").exists();
        if !has_begun {
            continue;
        }
        let (now, sealed) = (results(&path), records(&path));
        for (number, result) in &now {
            assert!(whole.get(number).is_none_or(|whole| whole == result), "m{number}");
        }
        if let Some(status) = status {
            let mut errors = String::new();
            std::io::Read::read_to_string(child.stderr.as_mut().unwrap(), &mut errors).unwrap();
            assert!(status.success(), "{args:?}: {errors}");
            return;
        }
        // Existing files are unchanged.
        let check = Command::new(env!("CARGO_BIN_EXE_referee"))
            .args(["tournament", "status", &dir])
            .output()
            .unwrap();
        assert!(check.status.success(), "{check:?}");
        for (name_of_record, bytes) in &sealed {
            assert_eq!(&std::fs::read(path.join("records").join(name_of_record)).unwrap(), bytes);
        }
    }
}

#[test]
fn a_tournament_without_a_complete_directory_starts_again() {
    let folder = Folder::new();
    let config = cup(&folder, "cup.toml", SHORT, "kind = 'round_robin'");
    let dir = folder.text("cup");
    for kibibytes in [0, 8, 16] {
        let limited = format!(
            "trap '' XFSZ; ulimit -f {kibibytes}; exec '{}' tournament run '{config}' --dir '{dir}'",
            env!("CARGO_BIN_EXE_referee")
        );
        Referee::start_as(Command::new("bash").args(["-c", &limited])).end().with_code(5);
        referee(["tournament", "resume", &dir]).with_code(2).says(&["is not the directory of a tournament"]);
    }
    let ended = referee(["tournament", "run", &config, "--dir", &dir, "--json"]).done();
    assert_eq!((ended.all("match").len(), results(&folder.path("cup")).len()), (12, 12));
    let mut files = crate::common::files(&folder.path("cup"));
    files.retain(|name| !name.starts_with("results.sqlite"));
    assert_eq!(files, ["begun", "records"]);
}

#[test]
fn results_can_be_read_without_the_bots() {
    let folder = Folder::new();
    let bots = ["a", "b", "c"].map(|name| (name, folder.plain_bot(name)));
    let entrants = bots.map(|(name, bot)| {
        format!("[[entrants]]\nname = '{name}'\ncommand = \"{bot}\"\ndirectory = 'bots'\n")
    });
    std::fs::create_dir(folder.path("bots")).unwrap();
    let format = "[format]\nkind = 'swiss'\nrounds = 2\n";
    let config = format!("game = 'checkers'\nopening_plies = 4\n{format}{}", entrants.concat());
    let (config, dir) = (folder.write("cup.toml", config), folder.text("cup"));
    let played = referee(["tournament", "run", &config, "--dir", &dir]).done().stdout;
    assert!(played.contains("awarded") && played.contains("Buchholz"), "{played}");
    let output =
        || ["standings", "report", "status"].map(|what| referee(["tournament", what, &dir]).done().stdout);
    let before = output();
    assert_eq!(before[0], played);
    std::fs::remove_dir(folder.path("bots")).unwrap();
    assert_eq!(output(), before);
    referee(["tournament", "resume", &dir]).with_code(2).says(&["entrant a: there is no folder"]);
}

#[test]
fn an_entrant_without_its_directory_can_withdraw() {
    let folder = Folder::new();
    let entrants = ["one", "two", "three"].map(|home| {
        std::fs::create_dir(folder.path(home)).unwrap();
        for file in ["testbot.py", "bot.py"] {
            folder.write(
                &format!("{home}/{file}"),
                include_str!("common/testbot.py").to_owned() + "\nplay()\n",
            );
        }
        format!("[[entrants]]\ncommand = 'python3 bot.py'\ndirectory = '{home}'\n")
    });
    let head = "game = 'checkers'\nopening_plies = 4\noptions = { turn_limit = 30 }";
    let config = format!("{head}\n[format]\nkind = 'round_robin'\n{}", entrants.concat());
    let (config, dir) = (folder.write("cup.toml", config), folder.text("cup"));
    referee(["tournament", "run", &config, "--dir", &dir]).done();
    std::fs::remove_dir_all(folder.path("one")).unwrap();
    referee(["tournament", "withdraw", &dir, "bot"]).done();
    referee(["tournament", "withdraw", &dir, "bot"]).with_code(2).says(&["`bot` has withdrawn already"]);
    let late = folder.plain_bot("late");
    referee(["tournament", "add", &dir, &late, "--name", "bot-2"])
        .with_code(2)
        .says(&["`bot-2` is an entrant already"]);
    referee(["tournament", "add", &dir, &late]).done();
    let ended = referee(["tournament", "resume", &dir, "--json"]).done();
    let sorted = |names: Vec<&Value>| -> Vec<String> {
        let names: BTreeSet<&str> = names.iter().map(|name| name.as_str().unwrap()).collect();
        names.into_iter().map(str::to_owned).collect()
    };
    let (matches, standings) = (ended.all("match"), ended.one("standings"));
    let seats = matches.iter().flat_map(|played| played["seats"].as_array().unwrap());
    assert_eq!(sorted(seats.collect()), ["bot-2", "bot-3", "late"]);
    let rows = standings["entrants"].as_array().unwrap();
    assert_eq!(sorted(rows.iter().map(|row| &row["name"]).collect()), ["bot", "bot-2", "bot-3", "late"]);
}

#[test]
fn a_knockout_pair_plays_no_unnecessary_set() {
    let folder = Folder::new();
    let resigns = "def resign(turn):
    say(type='resign', match=turn['match'], seat=turn['seat'])
play(turn=resign)";
    let (first, second) = (folder.plain_bot("first"), folder.bot("second", resigns));
    let entrants = [("first", first), ("second", second)]
        .map(|(name, bot)| format!("[[entrants]]\nname = '{name}'\ncommand = \"{bot}\"\n"));
    let format = "[format]\nkind = 'knockout'\nbest_of = 3\n";
    let config = format!("game = 'checkers'\njobs = 4\n{format}{}", entrants.concat());
    let (config, dir) = (folder.write("cup.toml", config), folder.text("cup"));
    let ended = referee(["tournament", "run", &config, "--dir", &dir, "--json"]).done();
    let played: BTreeSet<String> = ended.all("match").iter().map(|played| played["id"].to_string()).collect();
    assert_eq!(played.into_iter().collect::<Vec<_>>(), ["\"m1\"", "\"m2\"", "\"m3\"", "\"m4\""]);
    // Results that do not follow from the others do not count.
    let db = rusqlite::Connection::open(folder.path("cup/results.sqlite")).unwrap();
    for (number, set, lineup) in [(5, 3, "[0,1]"), (7, 4, "[0,1]")] {
        let sql = "INSERT INTO matches VALUES (?1, 1, ?2, ?3, '[1,2]', 0, 0, 'rules', 'no_pieces', NULL, NULL, NULL)";
        db.execute(sql, (number, set, lineup)).unwrap();
    }
    let resumed = referee(["tournament", "resume", &dir]).with_code(0);
    resumed.says(&["match m5 is not due", "there is no match m7"]);
    for _ in 0..2 {
        let status = referee(["tournament", "status", &dir, "--json"]).done().one("status");
        let numbers = ["played", "missing", "cut_off", "void"].map(|key| status[key].as_u64().unwrap());
        assert_eq!((numbers, &status["is_over"]), ([4, 0, 0, 2], &Value::from(true)));
        assert_eq!(status["entrants"][1]["interruptions"], 0);
        let again = referee(["tournament", "resume", &dir, "--json"]).done();
        assert!(again.all("match").is_empty());
    }
    let report = referee(["tournament", "report", &dir, "--format", "json"]).done().one("report");
    assert_eq!(["matches", "void", "unfinished"].map(|key| report[key].as_u64().unwrap()), [4, 2, 0]);
}

/// Deterministic by position; the order in which concurrent matches end varies.
const RESIGNS_EARLY: &str = "from random import random
from time import sleep
from zlib import crc32
with open(__file__ + '.pids', 'a') as pids:
    print(os.getpid(), file=pids, flush=True)
def act(t):
    sleep(random() * 0.02 if random() < 0.2 else 0)
    luck = crc32(f\"{t['view']['fen']} STEP\".encode())
    if luck % 6 == 0:
        say(type='resign', match=t['match'], seat=t['seat'])
    else:
        move(t, t['legal'][luck % len(t['legal'])])
play(turn=act)";

#[test]
fn a_seed_determines_a_tournament_with_any_concurrency_and_kills() {
    let folder = Folder::new();
    let standings = |dir: &str| referee(["tournament", "standings", dir, "--json"]).done().one("standings");
    for (kind, format, runs) in [
        ("knockout", "kind = 'knockout'\nbest_of = 9", &[(1, 0), (2, 0), (4, 2)][..]),
        ("swiss", "kind = 'swiss'\nrounds = 3\nsets = 2", &[(1, 0), (4, 2)]),
    ] {
        let mut expected = None;
        for &(jobs, kills) in runs {
            let name = format!("{kind}-{jobs}-{kills}");
            let head = format!("opening_plies = 4\njobs = {jobs}\noptions = {{ turn_limit = 30 }}");
            let config = cup(&folder, &format!("{name}.toml"), &head, format);
            for step in 0..4 {
                folder.bot(&format!("bot{step}"), &RESIGNS_EARLY.replace("STEP", &step.to_string()));
            }
            let config =
                folder.write(&format!("{name}.toml"), format!("name = 'cup'\n{}", folder.read(&config)));
            let whole = expected.as_ref().map_or_else(BTreeMap::new, |(whole, _)| BTreeMap::clone(whole));
            kill_and_resume(&folder, (&config, &name), &whole, &mut { kills }, &mut 7);
            let ended = (results(&folder.path(&name)), standings(&folder.text(&name)));
            assert_eq!(expected.get_or_insert_with(|| ended.clone()), &ended, "{name}");
        }
    }
    assert_gone(&pids(&folder));
}

#[test]
fn a_resumed_tournament_plays_missing_matches_and_counts_interruptions() {
    let folder = Folder::new();
    let config = cup(&folder, "cup.toml", "jobs = 1\nopening_plies = 4", "kind = 'gauntlet'\ncycles = 40");
    let dir = folder.text("cup");
    let mut running = Referee::start(["tournament", "run", &config, "--dir", &dir, "--json"]);
    running.receive_type("match");
    running.receive_type("match");
    // Only one process may play it.
    referee(["tournament", "resume", &dir])
        .with_code(5)
        .says(&["another process is playing this tournament"]);
    running.signal(Signal::INT);
    running.end().with_code(130).says(&["resume"]);
    let before = results(&folder.path("cup"));
    assert!(before.len() >= 2 && before.len() < 240);
    let status = referee(["tournament", "status", &dir, "--json"]).done().one("status");
    let interruptions: u64 =
        status["entrants"].as_array().unwrap().iter().map(|bot| bot["interruptions"].as_u64().unwrap()).sum();
    assert_eq!(interruptions, 2 * status["cut_off"].as_u64().unwrap());
    let ended = referee(["tournament", "resume", &dir, "--json"]).done();
    assert_eq!(ended.all("match").len() + before.len(), 240);
    let after = results(&folder.path("cup"));
    assert!(before.iter().all(|(number, result)| after[number] == *result));
    referee(["verify", &format!("{dir}/records")]).done();
}

#[test]
fn interrupting_a_set_does_not_reveal_its_deal() {
    let folder = Folder::new();
    let config = cup(&folder, "cup.toml", "mirror = 'rotations'\njobs = 1", "kind = 'gauntlet'");
    let dir = folder.text("cup");
    folder.bot(
        "bot0",
        "import time
def turn(t):
    if t['match'] == 'm2':
        time.sleep(0.5)
    first(t)
def received(end):
    print(json.dumps(end), file=open(__file__ + '.received', 'a'), flush=True)
play(turn=turn, end=received)",
    );
    let mut running = Referee::start(["tournament", "run", &config, "--dir", &dir, "--json"]);
    running.receive_type("match");
    running.signal(Signal::INT);
    running.end().with_code(130);
    assert!(!folder.read("bot0.py.received").contains("reveal"), "the deal is still to be played");
    assert!(!folder.path("cup/records/m2.jsonl").exists(), "its seal would tell the deal");
    referee(["tournament", "resume", &dir]).done();
    assert!(folder.read("bot0.py.received").contains("reveal"));
    referee(["verify", &format!("{dir}/records")]).done();
    let mut left = crate::common::files(&folder.path("cup/records"));
    left.retain(|name| !name.ends_with(".jsonl"));
    assert_eq!(left, [""; 0]);
}

#[test]
fn a_changed_bot_prevents_resuming_unless_allowed() {
    let folder = Folder::new();
    let config = cup(&folder, "cup.toml", SHORT, "kind = 'round_robin'");
    let dir = folder.text("cup");
    referee(["tournament", "run", &config, "--dir", &dir]).done();
    let script = folder.read("bot2.py");
    folder.write("bot2.py", format!("{script}\n# another version\n"));
    referee(["tournament", "resume", &dir]).with_code(2).says(&["`bot2` has changed", "--accept-changed"]);
    referee(["tournament", "resume", &dir, "--accept-changed"]).done();
    referee(["tournament", "resume", &dir]).done();
}

#[test]
fn entrants_join_and_withdraw() {
    let folder = Folder::new();
    let config = cup(&folder, "cup.toml", SHORT, "kind = 'round_robin'");
    let dir = folder.text("cup");
    referee(["tournament", "run", &config, "--dir", &dir]).done();
    let late = folder.plain_bot("late");
    let added = referee(["tournament", "add", &dir, &late, "--name", "late"]).done();
    assert_eq!(added.stdout, "late joins: 8 more matches, after all others\n");
    let ended = referee(["tournament", "resume", &dir, "--json"]).done();
    assert_eq!(ended.all("match").len(), 8, "against each of the four from both sides");
    referee(["tournament", "withdraw", &dir, "nobody"])
        .with_code(2)
        .says(&["unknown entrant `nobody`", "bot0"]);
    referee(["tournament", "withdraw", &dir, "bot0"]).done();
    let another = folder.plain_bot("another");
    let added = referee(["tournament", "add", &dir, &another]).done();
    assert_eq!(added.stdout, "another joins: 8 more matches, after all others\n");
    let ended = referee(["tournament", "resume", &dir, "--json"]).done();
    assert_eq!(ended.all("match").len(), 8, "bot0 plays no more");
}

#[test]
fn standings_mark_withdrawn_entrants_and_verify_agrees() {
    let folder = Folder::new();
    let config = cup(&folder, "cup.toml", SHORT, "kind = 'round_robin'");
    let (dir, late) = (folder.text("cup"), folder.plain_bot("late"));
    referee(["tournament", "run", &config, "--dir", &dir]).done();
    let add = |name: &str| referee(["tournament", "add", &dir, &late, "--name", name]).done();
    for name in ["one", "two", "three"] {
        add(name);
    }
    let left = referee(["tournament", "withdraw", &dir, "bot0"]).done();
    assert_eq!(left.stdout, "bot0 has withdrawn: its results count\n", "it has played 6 of 12");
    add("four");
    let left = referee(["tournament", "withdraw", &dir, "bot1"]).done();
    let annulled =
        "bot1 has withdrawn: it has played fewer than half of its matches, so its results are annulled\n";
    assert_eq!(left.stdout, annulled, "it has played 6 of 14");
    let standings = referee(["tournament", "standings", &dir, "--json"]).done().one("standings");
    let rows = standings["entrants"].as_array().unwrap();
    let of = |name: &str| rows.iter().find(|row| row["name"] == name).unwrap();
    assert_eq!(
        ["bot0", "bot1", "bot2"].map(|name| of(name)["withdrawn"].clone()),
        ["counted".into(), "annulled".into(), Value::Null]
    );
    assert_eq!(["one", "four"].map(|name| of(name)["awarded"].as_f64().unwrap()), [2.0, 0.0]);
    assert_eq!((&rows[7]["name"], &rows[7]["points"]), (&"bot1".into(), &0.0.into()));
    let points: f64 = rows.iter().map(|row| row["points"].as_f64().unwrap()).sum();
    assert_eq!(points, 12.0, "6 matches without bot1, 6 awarded ones");
    let verified = referee(["tournament", "verify", &dir, "--json"]).done();
    assert_eq!(verified.one("standings")["entrants"], standings["entrants"]);
    let table = referee(["tournament", "standings", &dir]).done().stdout;
    assert!(["withdrawn", "counted", "annulled"].into_iter().all(|word| table.contains(word)), "{table}");
}

#[test]
fn joining_a_swiss_tournament_after_the_last_pairing_is_rejected() {
    let folder = Folder::new();
    let config = cup(&folder, "cup.toml", SHORT, "kind = 'swiss'\nrounds = 2");
    let (dir, late) = (folder.text("cup"), folder.plain_bot("late"));
    referee(["tournament", "run", &config, "--dir", &dir]).done();
    referee(["tournament", "add", &dir, &late])
        .with_code(2)
        .says(&["no entrant can join any more: round 2, the last one, is paired"]);
    let status = referee(["tournament", "status", &dir, "--json"]).done().one("status");
    assert_eq!(status["entrants"].as_array().unwrap().len(), 4);
}

#[test]
fn every_format_is_played_to_its_end() {
    let folder = Folder::new();
    for (format, least) in [
        ("kind = 'swiss'\nrounds = 3", 12),
        ("kind = 'knockout'\nbest_of = 1\ntie_breaks = 2", 6),
        ("kind = 'gauntlet'", 6),
    ] {
        let name = format.split('\'').nth(1).unwrap();
        let config = cup(&folder, &format!("{name}.toml"), SHORT, format);
        let dir = folder.text(name);
        let ended = referee(["tournament", "run", &config, "--dir", &dir, "--json"]).done();
        assert!(ended.all("match").len() >= least, "{name}: {}", ended.all("match").len());
        let standings = ended.one("standings");
        let rows = standings["entrants"].as_array().unwrap();
        let unranked: Vec<&Value> = rows.iter().filter(|row| row["place"].is_null()).collect();
        assert_eq!((rows.len(), unranked.len()), (4, usize::from(name == "gauntlet")), "{standings}");
        if let [hero] = unranked[..] {
            assert_eq!((&hero["name"], &rows[3]), (&json!("bot0"), hero), "{standings}");
            assert_eq!(standings["rank_by"], "share");
            let table = referee(["tournament", "standings", &dir]).done().stdout;
            assert!(table.contains("the points in relation to the matches order the entrants"), "{table}");
            let page = referee(["tournament", "report", &dir, "--format", "html"]).done().stdout;
            assert!(page.contains(">Best against bot0</span>") && !page.contains("Winner"), "{page}");
        }
    }
}

#[test]
fn teams_and_partners_play_keezenspel() {
    let folder = Folder::new();
    for (name, seats, format, matches) in [
        ("teams", 4, "kind = 'round_robin'", 12),
        ("threes", 6, "kind = 'round_robin'", 12),
        ("partners", 4, "kind = 'partners'", 3),
    ] {
        let head = format!(
            "seats = {seats}\n{}options = {{ turn_limit = 30 }}",
            if name == "partners" { "" } else { "mirror = 'rotations'\n" }
        );
        let config = cup(&folder, &format!("{name}.toml"), &head, format);
        let text = folder.read(&format!("{name}.toml")).replace("checkers", "keezen");
        folder.write(&format!("{name}.toml"), text);
        for step in 0..4 {
            folder.bot(&format!("bot{step}"), "play()");
        }
        let dir = folder.text(name);
        let ended = referee(["tournament", "run", &config, "--dir", &dir, "--json"]).done();
        assert_eq!(ended.all("match").len(), matches, "{name}");
        referee(["verify", &format!("{dir}/records")]).done();
    }
}

#[test]
fn four_sided_matches_are_played_in_formats_allowing_them() {
    let folder = Folder::new();
    let write = |name: &str, kind: &str| {
        let head = format!("seats = 4\noptions = {{ cards = 3 }}\ngame = '{ROOT}/examples/games/goofspiel'");
        let bot = folder.plain_bot("bot4");
        let config = cup(&folder, name, &head, &format!("kind = '{kind}'"));
        let text = folder.read(name).replace("game = 'checkers'\n", "");
        folder.write(name, text + &format!("[[entrants]]\nname = 'bot4'\ncommand = \"{bot}\"\n"));
        config
    };
    for (kind, matches) in [("round_robin", 5), ("gauntlet", 4)] {
        let (config, dir) = (write(&format!("{kind}.toml"), kind), folder.text(kind));
        let ended = referee(["tournament", "run", &config, "--dir", &dir, "--json"]).done();
        assert_eq!(ended.all("match").len(), matches, "{kind}");
        let standings = ended.one("standings");
        let rows = standings["entrants"].as_array().unwrap();
        let points: f64 = rows.iter().map(|row| row["points"].as_f64().unwrap()).sum();
        assert!((points - 2.0 * matches as f64).abs() < 1e-6, "half a point for each side: {standings}");
        assert!(rows.iter().all(|row| row["elo"]["value"].is_number()), "{standings}");
        for format in ["table", "html", "csv", "markdown", "junit"] {
            let report = referee(["tournament", "report", &dir, "--format", format]).done().stdout;
            assert!(["bot0", "bot4"].iter().all(|name| report.contains(name)), "{format}: {report}");
        }
        referee(["tournament", "verify", &dir]).done();
    }
    let (config, dir) = (write("knockout.toml", "knockout"), folder.text("knockout"));
    let refused = referee(["tournament", "run", &config, "--dir", &dir]).with_code(2);
    refused.says(&["a knockout does not support 4 sides: take a round robin or a gauntlet"]);
}

#[test]
fn errors_in_a_tournament_file_are_named_with_the_remedy() {
    let folder = Folder::new();
    let good = cup(&folder, "cup.toml", SHORT, "kind = 'round_robin'");
    let good = std::fs::read_to_string(good).unwrap();
    for (from, to, what) in [
        ("jobs = 2", "job = 2", &["unknown field `job`", "did you mean `jobs`?"][..]),
        ("kind = 'round_robin'", "kind = 'round-robin'", &["round-robin", "did you mean `round_robin`?"]),
        ("name = 'bot1'", "nam = 'bot1'", &["unknown field `nam`", "did you mean `name`?"]),
        ("name = 'bot1'", "name = 'bot2'", &["entrant bot2: the name is not unique"]),
        ("name = 'bot1'", "name = 'BOT-2'", &["entrant bot2: the name looks like `BOT-2`"]),
        ("name = 'bot1'", "name = '-bot'", &["entrant -bot: a name begins with a letter, a digit or `_`"]),
        (
            "turn_limit",
            "turn_limt",
            &["options of checkers", "unknown field `turn_limt`", "did you mean `turn_limit`?"],
        ),
        (
            "command = \"python3",
            "command = \"./nothere",
            &["entrant bot0: there is no program `./nothere` seen from"],
        ),
        (
            "command = \"python3",
            "command = \"nothere",
            &["entrant bot0: there is no program `nothere` in the folders of PATH"],
        ),
        (
            "name = 'bot3'\ncommand = ",
            "tcp = 'alice'\n#",
            &["`tcp:alice` connects by itself", "[listen] with address = "],
        ),
        (
            "[format]",
            "[listen]\naddress = '127.0.0.1:0'\n[format]",
            &["listen: no bot connects; add one, e.g. tcp = \"alice\""],
        ),
        (
            "jobs = 2",
            "jobs = 2\nlisten = { address = '127.0.0.1:0', tls_cert = 'chain.pem' }",
            &["listen.tls_cert needs listen.tls_key"],
        ),
        (
            "jobs = 2",
            "jobs = 2\nlisten = { address = '127.0.0.1:0', tls_key = 'key.pem' }",
            &["listen.tls_key needs listen.tls_cert"],
        ),
        ("opening_plies = 4", "opening_plies = 1000000", &["opening_plies = 1000000: "]),
        ("opening_plies = 4", "openings = 'book.txt'", &["error: openings ", "book.txt: "]),
        ("'checkers'", "'chekers'", &["unknown game `chekers`"]),
        ("jobs = 2", "jobs = 0", &["jobs: 0 is not from 1"]),
        ("jobs = 2", "clock = 'dealy=1s'", &["4 | clock = ", "unknown part `dealy`"]),
        ("jobs = 2", "seats = 3", &["seats: checkers is played with 2 seats, not 3"]),
        ("command = ", "tcp = 'alice'\ncommand = ", &["either a `command` or a `tcp` name"]),
        (
            "kind = 'round_robin'",
            "kind = 'partners'",
            &["format: rotations of partners need sides of two seats"],
        ),
        ("opening_plies = 4", "opening_start = 2", &["opening_start needs `openings`"]),
        ("opening_plies = 4", "opening_start = 0", &["opening_start: 0 is no opening: the first is 1"]),
    ] {
        assert!(good.contains(from), "{from}");
        let bad = folder.write("bad.toml", good.replacen(from, to, 1));
        for command in ["check", "run"] {
            referee(["tournament", command, &bad]).with_code(2).says(what);
        }
    }
    let slow = good.replacen("name = 'bot1'", "name = 'bot1'\nclock_factor = 100.0", 1);
    let slow = folder.write("slow.toml", slow.replacen("jobs = 2", "jobs = 2\nclock = 'bank=1h'", 1));
    referee(["tournament", "check", &slow]).with_code(2).says(&["bot1: clock_factor 100", "at most a day"]);
}

#[test]
fn check_prints_the_number_of_matches() {
    let folder = Folder::new();
    for (format, matches) in [
        ("kind = 'round_robin'", "12 matches"),
        ("kind = 'swiss'\nrounds = 5\nsets = 2", "40 matches"),
        ("kind = 'knockout'\nbest_of = 3\ntie_breaks = 1", "at most 24 matches"),
    ] {
        let config = cup(&folder, "cup.toml", SHORT, format);
        let checked = referee(["tournament", "check", &config, "--no-start"]).done().stdout;
        assert_eq!(checked, format!("checkers: 4 entrants, {matches}\n"));
    }
}

#[test]
fn the_example_can_be_played() {
    let folder = Folder::new();
    let example = format!("{}/examples/tournament.toml", crate::common::ROOT);
    referee(["tournament", "check", &example]).done();
    let ended = referee(["tournament", "run", &example, "--dir", &folder.text("cup"), "--json"]).done();
    assert_eq!(ended.all("match").len(), 6);
}

/// Starts a tournament on a disk that is full while the file `cup.full` exists, and fills the disk after some matches.
fn on_a_full_disk(folder: &Folder) -> Referee {
    let config = cup(folder, "cup.toml", SHORT, "kind = 'round_robin'\ncycles = 40");
    let dir = folder.text("cup");
    let shim = compile(folder, "disk", &["-shared", "-fPIC", "-ldl"]);
    let mut command = Command::new(env!("CARGO_BIN_EXE_referee"));
    command.args(["tournament", "run", &config, "--dir", &dir, "--json"]);
    let mut running = Referee::start_as(command.env("LD_PRELOAD", shim).env("FULL_DISK", &dir));
    running.receive_type("match");
    folder.write("cup.full", "");
    // Matches on their way end, and nothing follows them.
    let mut before = 0;
    wait_until("no match ends any more", || {
        std::thread::sleep(Duration::from_millis(700));
        let now = results(&folder.path("cup")).len();
        std::mem::replace(&mut before, now) == now
    });
    assert!(before < 480, "{before}");
    running
}

#[test]
fn a_tournament_waits_while_the_disk_is_full() {
    let folder = Folder::new();
    let running = on_a_full_disk(&folder);
    std::fs::remove_file(folder.path("cup.full")).expect("it exists");
    let ended = running.wait().with_code(0);
    ended.says(&["cannot be written: ", "no match begins until this succeeds", "matches go on"]);
    assert_eq!(results(&folder.path("cup")).len(), 480);
    let verified = referee(["tournament", "verify", &folder.text("cup")]).done().stdout;
    assert!(verified.contains("480 results, 480 records, 0 differ"), "{verified}");
}

#[test]
fn tournament_with_full_disk_can_be_interrupted_and_resumed() {
    let folder = Folder::new();
    let running = on_a_full_disk(&folder);
    running.signal(Signal::INT);
    running.wait().says(&["no match begins until this succeeds"]);
    std::fs::remove_file(folder.path("cup.full")).expect("it exists");
    let before = results(&folder.path("cup"));
    referee(["tournament", "resume", &folder.text("cup")]).done();
    let after = results(&folder.path("cup"));
    assert_eq!(after.len(), 480);
    assert!(before.iter().all(|(number, result)| after[number] == *result));
}

#[test]
fn a_file_that_cannot_grow_stops_a_tournament_without_loss() {
    let folder = Folder::new();
    let config = cup(&folder, "cup.toml", SHORT, "kind = 'round_robin'\ncycles = 40");
    let dir = folder.text("cup");
    // The maximum file size is 96 KiB.
    let limited = format!(
        "trap '' XFSZ; ulimit -f 96; exec '{}' tournament run '{config}' --dir '{dir}' --json",
        env!("CARGO_BIN_EXE_referee")
    );
    let ended = Referee::start_as(Command::new("bash").args(["-c", &limited])).end().with_code(5);
    assert!(ended.stderr.contains("error: "), "{ended:#?}");
    let before = results(&folder.path("cup"));
    assert!(before.len() < 480, "{}", before.len());
    assert_gone(&pids(&folder));
    referee(["tournament", "resume", &dir]).done();
    let after = results(&folder.path("cup"));
    assert_eq!(after.len(), 480);
    assert!(before.iter().all(|(number, result)| after[number] == *result));
    referee(["verify", &format!("{dir}/records")]).done();
}
