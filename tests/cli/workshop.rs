//! `referee workshop`: agents that write bots, with equal budgets.

use std::fs;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::common::{Ended, Folder, Referee, SEED, in_rust, referee};

/// The start of an agent in Python: `depth(N)` makes the bot search N plies, `ask(TOOL)` calls a tool.
const AGENT: &str = r#"import json, os, pathlib, subprocess, sys, time
ROUND, NAME = int(os.environ["REFEREE_ROUND"]), os.environ["REFEREE_AGENT"]
def depth(plies):
    path = pathlib.Path("bot.sh")
    words = path.read_text().split()
    path.write_text(" ".join([*words[:-1], str(plies)]) + "\n")
def ask(*words, code=0):
    done = subprocess.run(["REFEREE", "workshop", "ask", *words], capture_output=True, text=True)
    assert done.returncode == code, done
    return (json.loads(done.stdout) if done.stdout.startswith("{") else done.stdout) if code == 0 else done.stderr
"#;

/// A workshop of agents by name and script, all of which start with a bot that searches two plies. `keys` are of the file, `more` of the
/// tournament.
fn workshop(agents: &[(&str, &str)], rounds: u32, keys: &str, more: &str) -> (Folder, String) {
    let folder = Folder::new();
    let bot = in_rust("referee-alpha-beta");
    fs::create_dir(folder.path("start")).expect("a directory");
    folder.write("start/bot.toml", "name = 'searcher'\ncommand = 'sh bot.sh'\n");
    folder.write("start/bot.sh", format!("exec '{}' --depth 2\n", bot.display()));
    let mut file = format!(
        "game = 'checkers'\nrounds = {rounds}\nstart = 'start'\n{keys}\n[tournament]\nformat = {{ kind = 'round_robin', cycles = 2 \
         }}\n{more}\n[[opponents]]\nname = 'plain'\ncommand = \"'{}' --depth 1\"\n",
        bot.display()
    );
    for (name, script) in agents {
        let agent = AGENT.replace("REFEREE\"", &format!("{}\"", env!("CARGO_BIN_EXE_referee")));
        folder.write(&format!("{name}.py"), agent + script);
        file += &format!("[[agents]]\nname = '{name}'\ncommand = 'python3 {name}.py'\n");
    }
    let file = folder.write("shop.toml", file);
    (folder, file)
}

fn run(folder: &Folder, file: &str) -> Ended {
    referee(["workshop", "run", file, "--dir", &folder.text("shop"), "--json"])
}

fn edit(ended: &Ended, round: u32, agent: &str) -> Value {
    let edits = ended.all("edit").into_iter();
    let mut edits = edits.filter(|edit| edit["round"] == round && edit["agent"] == agent);
    edits.next().unwrap_or_else(|| panic!("{agent} in round {round}: {ended:#?}"))
}

/// The row of an entrant in the standings of a round.
fn standing(ended: &Ended, round: u32, name: &str) -> Value {
    let rounds = ended.all("round");
    let rows = rounds[round as usize - 1]["standings"]["entrants"].as_array().expect("a table").clone();
    rows.into_iter().find(|row| row["name"] == name).expect("its row")
}

#[test]
fn agents_improve_their_bots_and_the_ranking_shows_it() {
    let improves = "played = ask('play', 'opponent=plain', 'matches=4')\n\
                    assert played['matches'] == 4 and played['matches_left'] == 2, played\n\
                    assert 'checkers' in ask('rules').lower()\ndepth(2 + ROUND)\nassert ask('check')['passed']\n";
    let (folder, file) = workshop(
        &[("lazy", ""), ("keen", improves)],
        2,
        "practice = 6",
        &format!("seed = '{SEED}'\njobs = 2"),
    );
    let ended = run(&folder, &file).with_code(0);
    for round in [1, 2] {
        let (keen, lazy) = (edit(&ended, round, "keen"), edit(&ended, round, "lazy"));
        assert_eq!((&keen["outcome"], &keen["hand_in"]), (&json!("done"), &json!("new")), "{keen}");
        assert_eq!((&keen["matches"], &lazy["matches"]), (&json!(4), &json!(0)));
        assert_eq!(lazy["hand_in"], "unchanged", "{lazy}");
    }
    let elo = |round, name| standing(&ended, round, name)["elo"]["value"].as_f64().expect("a number");
    assert!(elo(2, "keen") > elo(2, "lazy") && elo(2, "lazy") > elo(2, "plain"), "{ended:#?}");
    assert_eq!(standing(&ended, 2, "keen")["place"], 1);
    // A stranger verifies all of it.
    let shop = folder.text("shop");
    let audit = referee(["workshop", "verify", &shop, "--json"]).done().one("audit");
    assert_eq!(audit["rounds"], 2);
    assert_eq!(audit["versions"], 3, "depth 2, 3 and 4: {audit}");
    assert_eq!(audit["records"], 24, "3 pairs, 2 sets of 2, 2 rounds");
    for records in ["rounds/2/records", "practice/keen/1/records"] {
        referee(["verify", &folder.text(&format!("shop/{records}"))]).done();
    }
    referee(["tournament", "verify", &folder.text("shop/rounds/1")]).done();
    let shown = referee(["workshop", "status", &shop]).done().stdout;
    assert!(
        shown.contains("Elo 1")
            && shown.contains("Elo 2")
            && shown.lines().nth(1).is_some_and(|row| row.contains("keen")),
        "{shown}"
    );
    // Nothing is missing.
    referee(["workshop", "resume", &shop, "--json"]).done();
    // A version that was changed later is found.
    let version = edit(&ended, 2, "keen")["version"].as_str().expect("a hash").to_owned();
    let archive = folder.path(&format!("shop/versions/{version}.tar"));
    let text = fs::read(&archive)
        .expect("an archive")
        .iter()
        .map(|&byte| if byte == b'4' { b'9' } else { byte })
        .collect::<Vec<_>>();
    fs::write(&archive, text).expect("its own file");
    referee(["workshop", "verify", &shop]).with_code(1);
}

#[test]
fn misbehaving_agent_stops_no_other() {
    let breaks = "pathlib.Path('bot.sh').write_text('exit 3\\n')\n";
    let spends =
        "depth(9)\nfor _ in range(9): print(json.dumps({'cost': 0.4}), flush=True)\ntime.sleep(600)\n";
    let agents = [
        ("breaks", breaks),
        ("hangs", "depth(3)\ntime.sleep(600)\n"),
        ("spends", spends),
        ("meddles", "pathlib.Path('../good/bot.sh').write_text('exit 3\\n') if ROUND == 1 else depth(3)\n"),
        ("absent", "sys.exit('no idea')\n"),
        (
            "good",
            "for name in ['bot.sh', 'bot.toml']: pathlib.Path(name).write_text(pathlib.Path('START', name).read_text())\ndepth(4)\n",
        ),
    ];
    let (folder, file) =
        workshop(&agents, 1, "edit_time = '10s'\nmax_cost = 1.0", "options = { turn_limit = 10 }");
    let good = folder.read("good.py").replace("START", &folder.text("start"));
    folder.write("good.py", good);
    let text = folder.read("shop.toml").replace("cycles = 2", "cycles = 1");
    folder.write("shop.toml", text);
    let ended = run(&folder, &file).with_code(0);
    let outcome = |agent| edit(&ended, 1, agent)["outcome"].as_str().expect("a word").to_owned();
    let hand_in = |agent| edit(&ended, 1, agent)["hand_in"].as_str().expect("a word").to_owned();
    assert_eq!((outcome("breaks"), hand_in("breaks")), ("done".into(), "refused".into()));
    assert!(
        edit(&ended, 1, "breaks")["log"].as_str().is_some_and(|log| log.contains("status 3")),
        "{ended:#?}"
    );
    assert_eq!((outcome("hangs"), hand_in("hangs")), ("timed_out".into(), "new".into()));
    assert_eq!((outcome("spends"), hand_in("spends")), ("over_cost".into(), "refused".into()));
    assert_eq!((outcome("meddles"), hand_in("meddles")), ("wrote_outside".into(), "refused".into()));
    assert_eq!(edit(&ended, 1, "meddles")["paths"], json!(["work/good/bot.sh"]));
    assert_eq!((outcome("absent"), hand_in("absent")), ("failed".into(), "unchanged".into()));
    assert_eq!((outcome("good"), hand_in("good")), ("done".into(), "new".into()));
    assert!(folder.read("shop/logs/1-absent.err").contains("no idea"));
    let first = ended.all("start").remove(0)["version"].clone();
    assert_eq!(edit(&ended, 1, "breaks")["version"], first);
    // All play, without a fault.
    let rows = ended.all("round").remove(0)["standings"]["entrants"].as_array().expect("a table").len();
    assert_eq!(rows, 7);
}

#[test]
fn the_budget_of_matches_is_enforced_across_a_kill() {
    let practises = "import signal\nif not pathlib.Path('begun').exists():\n    pathlib.Path('begun').write_text('')\n    \
                     ask('play', 'opponent=plain', 'matches=4')\n    print('ready', flush=True)\n    time.sleep(600)\n\
                     assert 'budget' in ask('play', 'opponent=plain', 'matches=4', code=1)\n\
                     assert 'unknown opponent `nobody`; available: plain' in ask('play', 'opponent=nobody', 'matches=2', code=1)\n\
                     assert ask('play', 'opponent=base', 'matches=2')['matches_left'] == 0\n\
                     depth(3)\n";
    let (folder, file) = workshop(&[("keen", practises)], 1, "practice = 6", "options = { turn_limit = 20 }");
    let shop = folder.text("shop");
    let mut killed = Referee::start(["workshop", "run", &file, "--dir", &shop, "--json"]);
    let practice = killed.receive_type("practice");
    assert_eq!((&practice["matches"], &practice["tool"]), (&json!(4), &json!("play")));
    killed.signal(Signal::KILL);
    killed.wait();
    let ended = referee(["workshop", "resume", &shop, "--json"]).with_code(0);
    let keen = edit(&ended, 1, "keen");
    assert_eq!(
        (&keen["outcome"], &keen["matches"], &keen["hand_in"]),
        (&json!("done"), &json!(6), &json!("new")),
        "{ended:#?}"
    );
    referee(["workshop", "verify", &shop]).done();
    referee(["workshop", "run", &file, "--dir", &shop]).with_code(2).says(&["contains a workshop"]);
}
