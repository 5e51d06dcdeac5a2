//! `referee mcp`, with the official Python client of the Model Context Protocol, which tests/run installs.

use std::process::{Command, Stdio};

use serde_json::Value;

use crate::common::{Ended, Folder, ROOT, Referee, WON, in_rust, referee, sample};

/// Runs an agent with a plan against a server with these arguments.
fn agent(plan: &str, args: &[&str]) -> Ended {
    let python = format!("{ROOT}/target/python/bin/python");
    assert!(std::fs::exists(&python).unwrap_or(false), "tests/run installs {python}");
    let mut command = Command::new(python);
    command.arg(format!("{ROOT}/tests/cli/common/agent.py")).arg(plan);
    Referee::start_as(command.args([env!("CARGO_BIN_EXE_referee"), "mcp"]).args(args)).end()
}

fn errors(lines: &[Value]) -> Vec<&str> {
    lines.iter().filter_map(|line| line["error"].as_str()).collect()
}

#[test]
fn an_agent_plays_a_match_of_every_game() {
    for game in referee(["games", "--json"]).json() {
        let id = game["id"].as_str().expect("an id");
        let others = game["seats"][0].as_u64().expect("a number") - 1;
        let bots = vec![format!("'{}' --seed 1", in_rust("referee-random").display()); others as usize];
        let folder = Folder::new();
        let records = folder.text("records");
        let mut args = vec![id, "--record", &records, "--seat", "1"];
        args.extend(bots.iter().map(String::as_str));
        let ended = agent("play", &args).with_code(0);
        let lines = ended.json();
        let end = lines.last().expect("the end");
        assert!(end["scores"].is_array() && end["seat"] == 1, "{id}: {end}");
        assert_eq!(end["fault"], Value::Null, "{id}");
        let rules = lines.iter().find_map(|line| line["rules"].as_str()).expect("the rules");
        assert_eq!(rules, referee(["rules", id]).done().stdout);
        let record = folder.record("records/m1.jsonl");
        assert_eq!(record[0]["seats"][1]["name"], "agent", "{}", record[0]);
        referee(["verify", &records]).done();
    }
}

#[test]
fn the_tools_are_described() {
    let ended = agent("play", &["checkers", "--set", WON, &sample("python/random_bot.py")]).with_code(0);
    let lines = ended.json();
    let tools = lines[0]["tools"].as_object().expect("the tools");
    let names: Vec<&String> = tools.keys().collect();
    assert_eq!(names, ["move", "resign", "rules", "wait_for_turn"]);
    assert_eq!(tools["move"]["required"], serde_json::json!(["move"]));
    assert!(lines[0]["instructions"].as_str().is_some_and(|text| text.contains("wait_for_turn")));
    assert!(ended.stderr.contains("m1: agent wins (no pieces left)"), "{}", ended.stderr);
}

#[test]
fn wrong_moves_are_explained_and_not_sent() {
    let folder = Folder::new();
    let records = folder.text("records");
    let bot = sample("python/random_bot.py");
    let ended = agent("err", &["checkers", "--set", WON, "--record", &records, &bot]).with_code(0);
    let lines = ended.json();
    let turn = lines.iter().find(|line| line["state"] == "your_turn").expect("a turn");
    assert_eq!(turn["view"]["board"], ".............b...w..............");
    let errors = errors(&lines);
    assert_eq!(errors[0], "`1-32` is not a legal move; the legal moves are: 14x23");
    assert_eq!(errors[1], "no draw is offered");
    for (error, part) in errors[2..].iter().zip([
        "missing field `move`; `move` is a string",
        "`move` is a string, one of `legal`",
        "`offer_draw`, optional, is true or false",
        "unknown field `offers_draw`, expected `move` or `offer_draw`",
        "invalid value: integer `-1`",
        "`timeout_s` is 3601; `timeout_s`, optional, is a whole number of seconds from 0 to 3600",
        "unknown field `reason`, there are no fields",
        "the match is over",
        "no match is running",
    ]) {
        assert!(error.contains(part), "{error}");
    }
    assert_eq!(errors.len(), 11, "{errors:?}");
    let record = folder.record("records/m1.jsonl");
    assert!(record.iter().all(|line| line["type"] != "fault"), "{record:?}");
}

#[test]
fn an_agent_that_leaves_or_resigns_loses() {
    for (plan, result) in [("leave", "m1: random wins (agent: "), ("resign", "m1: random wins (resignation")]
    {
        let ended = agent(plan, &["checkers", &sample("python/random_bot.py")]).with_code(0);
        assert!(ended.stderr.contains(result), "{ended:#?}");
    }
}

#[test]
fn an_agent_that_thinks_too_long_is_told_so() {
    let bot = sample("python/random_bot.py");
    let mut server = Referee::start_as(
        Command::new(env!("CARGO_BIN_EXE_referee"))
            .args(["mcp", "checkers", &bot, "--clock", "delay=300ms", "--on-fault", "random"])
            .stdin(Stdio::piped()),
    );
    let call = |server: &mut Referee, id: u32, method: &str, params: Value| {
        server.send(serde_json::json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        server.receive()["result"].take()
    };
    let client = serde_json::json!({
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}
    });
    call(&mut server, 1, "initialize", client);
    server.send(serde_json::json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    let wait = serde_json::json!({"name": "wait_for_turn", "arguments": {}});
    let output = (2..).find_map(|id| {
        let seen = call(&mut server, id, "tools/call", wait.clone())["structuredContent"].take();
        (!seen["error"].is_null()).then_some(seen)
    });
    assert_eq!(output.expect("an error")["error"]["code"], "timeout");
    server.end().with_code(0);
}

#[test]
fn wrong_arguments_are_usage_errors() {
    referee(["mcp", "ludo", "bot"]).with_code(2).says(&["unknown game `ludo`"]);
    referee(["mcp", "checkers", "bot", "--seat", "2"]).with_code(2).says(&["--seat 2: the seats are 0 to 1"]);
    referee(["mcp", "checkers", "a", "b"]).with_code(2).says(&["the agent and 2 bots"]);
    referee(["mcp", "checkers", "/no/bot"]).with_code(5).says(&["/no/bot"]);
}

/// The tools of an agent that writes a bot. The seat is one of them.
const BENCH: [&str; 9] =
    ["check", "lost_match", "move", "play", "regress", "resign", "rules", "sit", "wait_for_turn"];

/// Writes a bot that plays at random to a directory, and says so.
fn written_bot(folder: &Folder) -> String {
    std::fs::create_dir(folder.path("mybot")).expect("a directory");
    folder.write("mybot/bot.toml", "name = 'mybot'\ncommand = 'sh bot.sh'\n");
    let bot = in_rust("referee-random");
    folder.write("mybot/bot.sh", format!("echo 'hello from mybot' >&2\nexec '{}' --seed 1\n", bot.display()));
    folder.text("mybot")
}

/// Checks the answers of the tools for a bot.
fn check_answers(lines: &[Value]) {
    let answers: Vec<(&str, &str)> = lines
        .iter()
        .filter_map(|line| Some((line["tool"].as_str()?, line["text"].as_str().expect("text"))))
        .collect();
    let json = |at: usize| -> Value { serde_json::from_str(answers[at].1).expect("JSON") };
    assert_eq!(
        (&json(0)["passed"], json(0)["version"].as_str().map(str::len)),
        (&Value::from(true), Some(64))
    );
    let played = json(1);
    assert_eq!(played["matches"], 2, "{played}");
    assert!(
        played["lost"][0].as_str().is_some_and(|id| id.starts_with("1/m")),
        "a random bot loses: {played}"
    );
    let lost = answers[2].1;
    for part in ["checkers", "the bot has seat", "Black to move", "hello from mybot"] {
        assert!(lost.contains(part), "{part} is not in {lost}");
    }
    let regress = json(3);
    assert!(
        regress["matches"] == 2 && regress["report"].as_str().is_some_and(|text| text.contains("set")),
        "{regress}"
    );
    for (at, part) in
        [(4, "is not a multiple of 2"), (5, "missing field `opponent`"), (6, "there is no match `9/m1`")]
    {
        assert!(answers[at].1.contains(part), "{:?}", answers[at]);
    }
    // It has played a match itself.
    let errors = errors(lines);
    assert_eq!(
        errors[errors.len() - 2..],
        ["no match is running", "you have a seat: call `wait_for_turn`, or `resign` to leave it"]
    );
    let sat = lines.iter().find_map(|line| line["sat"].as_object()).expect("a seat");
    assert_eq!(sat["seat"], 1);
    let end = lines.last().expect("the end");
    assert!(end["state"] == "over" && end["seat"] == 1 && end["scores"].is_array(), "{end}");
}

#[test]
fn an_agent_writes_a_bot_with_the_tools_for_that() {
    let folder = Folder::new();
    let searcher = format!("'{}' --depth 3", in_rust("referee-alpha-beta").display());
    let ended = agent("write", &["checkers", &searcher, "--bot", &written_bot(&folder)]).with_code(0);
    let lines = ended.json();
    let tools: Vec<&String> = lines[0]["tools"].as_object().expect("the tools").keys().collect();
    assert_eq!(tools, BENCH);
    check_answers(&lines);
}

#[test]
fn the_tools_of_a_workshop_come_through_the_same_server() {
    let folder = Folder::new();
    written_bot(&folder);
    let [server, searcher] = [env!("CARGO_BIN_EXE_referee").into(), in_rust("referee-alpha-beta")]
        .map(|path| path.display().to_string());
    let file = folder.write(
        "shop.toml",
        format!(
            "game = 'checkers'\nrounds = 1\nstart = 'mybot'\npractice = 5\n[tournament]\nformat = {{ kind = 'round_robin', cycles = 1 }}\n\
             [[agents]]\nname = 'ada'\ncommand = \"'{ROOT}/target/python/bin/python' '{ROOT}/tests/cli/common/agent.py' write '{server}' mcp \
             --workshop\"\n[[opponents]]\nname = 'searcher'\ncommand = \"'{searcher}' --depth 3\"\n"
        ),
    );
    let shop = folder.text("shop");
    let ended = referee(["workshop", "run", &file, "--dir", &shop, "--json"]).with_code(0);
    assert_eq!(ended.one("edit")["matches"], 5, "{ended:#?}");
    let record = folder.record("shop/practice/ada/3/records/m1.jsonl");
    assert_eq!(record[0]["seats"][1]["name"], "agent", "{}", record[0]);
    referee(["workshop", "verify", &shop]).done();
    let said = folder.read("shop/logs/1-ada.out");
    let lines: Vec<Value> = said.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let tools: Vec<&String> = lines[0]["tools"].as_object().expect("the tools").keys().collect();
    assert_eq!(tools, BENCH);
    check_answers(&lines);
}

#[test]
fn only_an_agent_of_a_workshop_gets_its_tools() {
    referee(["mcp", "--workshop"]).with_code(2).says(&["REFEREE_WORKSHOP is not set"]);
    referee(["mcp", "--workshop", "checkers", "bot"]).with_code(2);
    referee(["mcp"]).with_code(2);
    referee(["mcp", "checkers", "bot", "--bot", "mybot", "--seat", "1"]).with_code(2).says(&["--seat"]);
}
