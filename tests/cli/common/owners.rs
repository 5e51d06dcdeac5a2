//! Leagues whose owners sign up.

use std::net::SocketAddr;

use referee_protocol::schemas::OWNERS_API;
use serde_json::{Value, json};

use crate::common::Referee;
use crate::common::http::{Answer, Site};
use crate::common::league::League;
use crate::watch_api::check_description;

pub(crate) struct Owners(pub(crate) Site);

impl Owners {
    /// The pages that a league announces.
    pub(crate) fn of(server: &mut Referee) -> Owners {
        let url = server.receive_type("owners")["url"].as_str().expect("its URL").to_owned();
        Owners(Site(
            url.strip_prefix("http://").and_then(|url| url.strip_suffix('/')).expect("a URL").to_owned(),
        ))
    }

    pub(crate) fn ask(&self, method: &str, path: &str, head: &str, body: &str) -> Answer {
        let length = body.len();
        let head = format!("{head}Content-Length: {length}\r\n");
        let answer = self.0.ask_with_body(method, &format!("/api/v1/{path}"), &head, body);
        let description: Value = serde_json::from_str(OWNERS_API).expect("JSON");
        let path = described(&description, path);
        check_description(&description, (&method.to_lowercase(), &path), &answer);
        answer
    }

    /// A request of a program with this token, or none.
    pub(crate) fn call(&self, method: &str, path: &str, token: &str, body: &Value) -> Answer {
        let by = if token.is_empty() { String::new() } else { format!("Authorization: Bearer {token}\r\n") };
        let body = if body.is_null() { String::new() } else { body.to_string() };
        self.ask(method, path, &format!("{by}Content-Type: application/json\r\n"), &body)
    }

    pub(crate) fn get(&self, path: &str, token: &str) -> Value {
        let answer = self.call("GET", path, token, &Value::Null);
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        answer.json()
    }

    pub(crate) fn sign_up(&self, id: &str, invitation: Option<&str>) -> Answer {
        let mut body = json!({ "id": id, "contact": format!("{id}@cup.example") });
        if let Some(invitation) = invitation {
            body["invitation"] = json!(invitation);
        }
        self.call("POST", "signup", "", &body)
    }

    /// Signs up, and returns the token.
    pub(crate) fn join(&self, id: &str, invitation: Option<&str>) -> String {
        let answer = self.sign_up(id, invitation);
        assert_eq!(answer.status, 201, "{}", answer.body);
        answer.json()["token"].as_str().expect("a token").to_owned()
    }
}

/// The path in the description that this one is an example of.
fn described(description: &Value, path: &str) -> String {
    let path = format!("/api/v1/{}", path.split('?').next().expect("a path"));
    let segments: Vec<&str> = path.split('/').collect();
    let is_of = |known: &&String| {
        let known: Vec<&str> = known.split('/').collect();
        let fits = |(known, own): (&&str, &&str)| known == own || known.starts_with('{');
        known.len() == segments.len() && known.iter().zip(&segments).all(fits)
    };
    let known = description["paths"].as_object().expect("paths").keys().find(is_of);
    known.unwrap_or_else(|| panic!("{path} is not described")).clone()
}

/// A league whose owners sign up in this way.
pub(crate) fn league(ladder: &str, tables: &str, programs: &[(&str, &str)]) -> League {
    let league = League::calm(ladder, programs);
    let text = league.folder.read("league.toml");
    let tables = format!("[owners]\nlisten = \"127.0.0.1:0\"\nurl = \"http://localhost\"\n{tables}\n{text}");
    league.folder.write("league.toml", tables);
    league
}

/// The pages of the owners of a league that is served.
pub(crate) fn served(league: &League) -> (Referee, Owners) {
    let text = league.folder.read("league.toml").replace("url = \"http://localhost\"\n", "");
    league.folder.write("league.toml", text);
    let mut server = league.serve();
    let owners = Owners::of(&mut server);
    (server, owners)
}

/// The same, with the address for bots.
pub(crate) fn listening(league: &League) -> (Referee, Owners, SocketAddr) {
    let (mut server, owners) = served(league);
    let address =
        server.receive_type("listening")["address"].as_str().expect("text").parse().expect("an address");
    (server, owners, address)
}

/// The secret of an invitation.
pub(crate) fn invite(league: &League, args: &[&str]) -> String {
    let invited = league.run(&[&["invite", "--json"], args].concat()).done().one("invitation");
    let url = invited["url"].as_str().expect("a link");
    url.strip_prefix("http://localhost/#").expect("a link with a secret").to_owned()
}

pub(crate) fn error(answer: &Answer) -> String {
    answer.json()["error"].as_str().expect("an error").to_owned()
}

pub(crate) fn retire(owners: &Owners, name: &str, token: &str) -> Answer {
    owners.call("POST", &format!("owner/bots/{name}/retire"), token, &json!({ "name": name }))
}

/// The number of lines of challenges that wait in the database.
pub(crate) fn challenges(league: &League) -> u32 {
    league.query("SELECT count(*) FROM challenges").parse().expect("a number")
}
