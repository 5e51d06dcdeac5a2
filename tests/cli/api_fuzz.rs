//! The API for owners, in a long run that for spectators as well, as Schemathesis finds them with requests that it makes from
//! their descriptions; tests/run installs it.

use std::process::{Command, Stdio};

use ::referee::game::test_length::long_or;

use crate::common::ROOT;
use crate::common::Referee;
use crate::common::http::Site;
use crate::common::league::{League, drain, receive_matches};
use crate::submissions::spared;

/// Names and archives have rules that a schema cannot state.
const LEFT_OUT: &str = "positive_data_acceptance";

/// The command that tests an API. Its requests are the same each time.
fn schemathesis(description: &str, url: &str) -> Command {
    let program = format!("{ROOT}/target/python/bin/schemathesis");
    assert!(std::fs::exists(&program).unwrap_or(false), "tests/run installs {program}");
    let mut command = Command::new(program);
    command.args(["run", &format!("{ROOT}/protocol/api/{description}"), "--url", url, "--no-color"]);
    let (phases, examples) = long_or(("coverage,fuzzing", "3"), ("fuzzing", "1"));
    command.args(["--seed", "1", "--phases", phases, "--max-examples", examples]);
    command.args(["--exclude-checks", LEFT_OUT]);
    // Nothing of an earlier run, and nothing for the next one.
    command.args(["--generation-database", ":memory:"]).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

#[test]
fn requests_made_from_the_descriptions_get_the_answers_described() {
    let league = League::calm("watch = '127.0.0.1:0'", &[("plain", ""), ("plane", "")]);
    let text = league.folder.read("league.toml");
    let tables = "[owners]\nlisten = '127.0.0.1:0'\nbots = 100\n[signup]\nmode = 'open'\n[submissions]\n";
    league.folder.write("league.toml", format!("{text}\n{tables}"));
    let tokens: Vec<String> = (0..8)
        .map(|number| {
            let added = league.run(&["owner", "add", &format!("own{number}"), "--json"]).done().one("owner");
            added["token"].as_str().expect("a token").to_owned()
        })
        .collect();
    let mut server = Referee::start_as(spared().args(["serve", &league.file, "--json"]));
    let owners = server.receive_type("owners")["url"].as_str().expect("a URL").to_owned();
    let site = Site::of(&mut server);
    receive_matches(&mut server, 2);
    // The tests of `watch_api` send requests to each path of this one.
    let watch = long_or(true, false).then(|| {
        schemathesis("openapi.json", &site.url(""))
            // It is a stream.
            .args(["--exclude-path", "/api/v1/events"])
            .current_dir(league.folder.path(""))
            .spawn()
            .expect("it starts")
    });
    let hooks = format!("{ROOT}/tests/cli/common");
    let owners = schemathesis("owners.json", owners.trim_end_matches('/'))
        .env("TOKENS", tokens.join(" "))
        .env("PYTHONPATH", hooks)
        .env("SCHEMATHESIS_HOOKS", "api_hooks")
        .current_dir(league.folder.path(""))
        .spawn()
        .expect("it starts");
    for child in watch.into_iter().chain([owners]) {
        let ended = child.wait_with_output().expect("an end");
        let said = String::from_utf8_lossy(&ended.stdout);
        assert!(ended.status.success(), "{said}\n{}", String::from_utf8_lossy(&ended.stderr));
    }
    drain(server);
}
