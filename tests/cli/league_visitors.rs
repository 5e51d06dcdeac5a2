//! Visitors of the pages of a ladder, who play its programs.

use crate::common::browser;
use crate::common::http::{Answer, Site};
use crate::common::league::{League, drain, receive_matches};
use crate::watch::wait_until;

fn post(site: &Site, path: &str, head: &str, body: &str) -> Answer {
    site.ask_with_body("POST", path, &format!("{head}Content-Length: {}\r\n", body.len()), body)
}

#[test]
fn visitors_play_programs_of_a_ladder_within_limits_and_unrated() {
    let keys = "watch = '127.0.0.1:0'\nwatch_proxies = ['127.0.0.1']\nvisitors = { matches = 2 }";
    let league = League::calm(keys, &[("one", "display_name = 'Number <1>'"), ("two", "")]);
    let nice = "import os\nopen(os.path.join(os.path.dirname(__file__), f'nice-{os.nice(0)}'), 'w').write('1\\n')\nplay()";
    league.folder.bot("bot-one", nice);
    let mut server = league.serve();
    let site = Site::of(&mut server);
    receive_matches(&mut server, 1);
    wait_until("the programs are there", || site.get("/play").body.contains("<option value=\"two\">"));
    let page = site.get("/play").body;
    assert!(page.contains("<option value=\"one\">Number &lt;1&gt;</option>"), "{page}");
    assert!(site.get("/").body.contains("href=\"./play\""));
    browser::run("person.mjs", &[&site.url("/play"), "visit"]);
    // The programs of rated matches come first.
    league.folder.wait_for("nice-19");

    let ask = |head: &str, body: &str| post(&site, "/play", head, body);
    let of = |client: u8| format!("X-Forwarded-For: 192.0.2.{client}\r\n");
    assert_eq!(ask("Origin: http://evil.example\r\n", "{\"bot\":\"one\"}").status, 403);
    assert_eq!(ask("", "{").status, 400);
    assert_eq!(ask("", "{\"bot\":\"three\"}").status, 404);
    assert_eq!(ask("", "{\"bot\":\"one\",\"seat\":2}").status, 400);
    assert_eq!(post(&site, "/", "", "{}").status, 405);
    assert_eq!(post(&site, "/play/0123/answer", "", "\"resign\"").status, 404);
    let begin = |client: u8| {
        let begun = ask(&of(client), "{\"bot\":\"two\",\"seat\":0}");
        assert_eq!(begun.status, 201, "{}", begun.body);
        format!("/{}", begun.json()["path"].as_str().expect("a path"))
    };
    let first = begin(1);
    assert_eq!(ask(&of(1), "{\"bot\":\"one\"}").status, 429, "one match of an address");
    let other = begin(2);
    assert_ne!(first, other);
    assert_eq!(ask(&of(3), "{\"bot\":\"one\"}").status, 503, "two matches at once");
    let page = site.get(&first);
    assert!(page.head.contains("x-frame-options: deny"), "{}", page.head);
    let mut events = site.stream(&format!("{first}events"), None);
    assert!(events.any(|event| event.kind == "seat" && !event.data["turn"].is_null()), "it begins");
    assert_eq!(post(&site, &format!("{first}answer"), &of(1), "\"resign\"").status, 204);
    let end = events.last().expect("an event");
    assert_eq!(end.kind, "end", "{end:?}");
    wait_until("the place is free", || ask(&of(3), "{\"bot\":\"one\"}").status == 201);

    let seen = site.get("/api/v1/matches").body + &site.get("/api/v1/standings").body;
    assert!(!seen.contains("visitor"), "{seen}");
    // Matches of visitors do not delay the end.
    drain(server);
    let players = league.standings(&["--all"])["standings"].as_array().expect("rows").len();
    assert_eq!(players, 2);
    league.verify();
}

#[test]
fn visitors_need_pages() {
    let league = League::new("visitors = {}", &[("one", ""), ("two", "")]);
    league.run(&["check"]).with_code(2).says(&["visitors needs `watch`"]);
    let league = League::new("watch = '127.0.0.1:0'\nvisitors = { matches = 65 }", &[("one", "")]);
    league.run(&["check"]).with_code(2).says(&["visitors.matches: 65 is not from 1 to 64"]);
}
