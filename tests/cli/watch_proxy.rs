//! The pages for spectators behind nginx and Caddy, at the root and below a path.
#![expect(clippy::disallowed_methods, reason = "a proxy does not report when it listens")]

use std::io::Read;
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::common::http::{Site, property};
use crate::common::league::{League, drain};
use crate::common::{Folder, ROOT, TIMEOUT, free_port};
use crate::watch::{go, wait_for_moves, watched};

/// A proxy of a server, configured by an example. SIGTERM ends it with its workers.
struct Proxy(Child);

impl Proxy {
    /// Serves a site at `/`, `/keezen/` and `/owners/`.
    fn nginx(folder: &Folder, site: &Site) -> (Proxy, Site) {
        let (socket, temporary) = (free_address(), folder.text("nginx"));
        let paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map(|kind| format!("{kind}_temp_path {temporary}-{kind};"))
            .join(" ");
        let server = example("nginx.conf", site)
            .replace("listen 80;", &format!("listen {socket};"))
            .replace("server_name league.example;", "");
        let config = format!(
            "daemon off; pid {temporary}.pid; error_log stderr; events {{}}\n\
             http {{ access_log off; {paths}\n{server} }}\n"
        );
        let config = folder.write("nginx.conf", config);
        let mut nginx = Command::new("/usr/sbin/nginx");
        nginx.args(["-e", "stderr", "-c", &config, "-p", &temporary]);
        (Proxy::start(&mut nginx, &socket), Site(socket))
    }

    /// The same with Caddy.
    fn caddy(folder: &Folder, site: &Site) -> (Proxy, Site) {
        let socket = free_address();
        let server = example("Caddyfile", site)
            .replace("\nleague.example {", &format!("\nhttp://:{} {{", port(&socket)));
        let config = folder.write("Caddyfile", format!("{{\n\tadmin off\n}}\n{server}"));
        let mut caddy = Command::new("caddy");
        caddy.args(["run", "--adapter", "caddyfile", "--config", &config]);
        caddy.env("XDG_DATA_HOME", folder.text("data")).env("XDG_CONFIG_HOME", folder.text("config"));
        (Proxy::start(caddy.stderr(Stdio::null()), &socket), Site(socket))
    }

    fn start(command: &mut Command, socket: &str) -> Proxy {
        let proxy = Proxy(command.stdin(Stdio::null()).spawn().expect("a proxy, which tests/run installs"));
        let until = Instant::now() + TIMEOUT;
        while TcpStream::connect(socket).is_err() {
            assert!(Instant::now() < until, "the proxy does not listen");
            thread::sleep(Duration::from_millis(20));
        }
        proxy
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let _ = Command::new("kill").arg(self.0.id().to_string()).status();
        let _ = self.0.wait();
    }
}

/// An example of the configuration of a proxy, for this site.
fn example(name: &str, site: &Site) -> String {
    let text = std::fs::read_to_string(format!("{ROOT}/examples/proxy/{name}")).expect("an example");
    text.replace("127.0.0.1:8080", &site.0)
        .replace("127.0.0.1:8081", &site.0)
        .replace("127.0.0.1:8090", &site.0)
}

fn port(address: &str) -> &str {
    address.rsplit(':').next().expect("a port")
}

/// An address on which nothing listens.
fn free_address() -> String {
    format!("127.0.0.1:{}", free_port())
}

/// The value of an attribute in a page.
fn attribute<'a>(page: &'a str, start: &str) -> &'a str {
    let (_, rest) = page.split_once(start).unwrap_or_else(|| panic!("{start} in {page}"));
    rest.split('"').next().expect("a value")
}

/// Asserts that pages and streams of a site work behind a proxy.
fn work_behind(proxy: &Site) {
    for (start, root, prefix) in [
        ("/", "./", ""),
        ("/keezen/", "./", "keezen/"),
        ("/matches/m1", "../", ""),
        ("/keezen/matches/m1", "../", "keezen/"),
    ] {
        let page = proxy.ask("GET", start, "X-Forwarded-Prefix: /evil\r\n");
        assert_eq!(page.status, 200, "{start}");
        assert_eq!(attribute(&page.body, "data-root=\""), root, "{start}");
        // Everything else is relative to that.
        for absolute in [
            "href=\"/",
            "fetch(\"/",
            "fetch(`/",
            "EventSource(\"/",
            "EventSource(`/",
            "`/matches",
            "`/players",
        ] {
            assert!(!page.body.contains(absolute), "{start}: {absolute}");
        }
        let picture = property(&page.body, "og:image").expect("a picture");
        let rest = if start.contains("m1") { "matches/m1/card.png" } else { "card.png" };
        assert_eq!(picture, format!("http://localhost/{prefix}{rest}"), "{start}");
        assert_eq!(proxy.picture(&format!("/{prefix}{rest}")), (1200, 630));
    }
    for path in ["/api/v1/events", "/keezen/api/v1/events"] {
        // The events arrive although the stream is open and nginx buffers by default.
        let mut stream = proxy.stream(path, None);
        assert_eq!(stream.next().expect("an event").kind, "snapshot", "{path}");
    }
}

#[test]
fn pages_and_streams_work_behind_nginx_at_any_path() {
    let folder = Folder::new();
    let (referee, site) = watched(&folder, "checkers", (0.0, 3), &["--set", "turn_limit=10"]);
    wait_for_moves(&site, "m1", 1);
    let (_nginx, proxy) = Proxy::nginx(&folder, &site);
    work_behind(&proxy);
    go(&folder, "m1");
    referee.end().with_code(0);
}

#[test]
fn pages_and_streams_work_behind_caddy_at_any_path() {
    let folder = Folder::new();
    let (referee, site) = watched(&folder, "checkers", (0.0, 3), &["--set", "turn_limit=10"]);
    wait_for_moves(&site, "m1", 1);
    let (_caddy, proxy) = Proxy::caddy(&folder, &site);
    work_behind(&proxy);
    go(&folder, "m1");
    referee.end().with_code(0);
}

/// Asserts that an owner signs up and changes something behind a proxy.
fn owners_work_behind(start: impl Fn(&Folder, &Site) -> (Proxy, Site)) {
    let league = League::calm("", &[]);
    let text = league.folder.read("league.toml");
    let tables = "[owners]\nlisten = '127.0.0.1:0'\nurl = 'http://localhost/owners/'\ntrusted_proxies = ['127.0.0.1']\n\
                  trusted_user_header = 'X-Remote-User'\n[signup]\nmode = 'open'\n";
    // The URL that it prints is that of the file.
    let address = free_address();
    let tables = tables.replace("127.0.0.1:0", &address);
    league.folder.write("league.toml", format!("{tables}{text}"));
    let mut server = league.serve();
    assert_eq!(server.receive_type("owners")["url"], "http://localhost/owners/");
    let (_proxy, site) = start(&league.folder, &Site(address));
    let page = site.get("/owners/");
    assert_eq!(attribute(&page.body, "data-root=\""), "./");
    let ask = |method: &str, path: &str, head: &str, body: &str| {
        let head = format!("Content-Type: application/json\r\nContent-Length: {}\r\n{head}", body.len());
        site.ask_with_body(method, &format!("/owners/api/v1/{path}"), &head, body)
    };
    // Nobody gets past the login of a proxy by naming a user.
    let signed =
        ask("POST", "signup", "X-Remote-User: eve\r\nOrigin: http://localhost\r\n", "{\"id\": \"ada\"}");
    assert_eq!(signed.status, 201, "{}", signed.body);
    assert!(signed.head.contains("path=/owners/"), "{}", signed.head);
    let token = signed.json()["token"].as_str().expect("a token").to_owned();
    let by = format!("Cookie: referee_owner={token}\r\nOrigin: http://localhost\r\n");
    assert_eq!(ask("PATCH", "owner", &by, "{\"affiliation\": \"Lab\"}").status, 200);
    let evil = format!("Cookie: referee_owner={token}\r\nOrigin: http://evil.example\r\n");
    assert_eq!(ask("PATCH", "owner", &evil, "{}").status, 403);
    // A large archive is for the referee to refuse.
    let large = ask("POST", "owner/submissions", &by, &"x".repeat(3 << 20));
    assert!(large.status == 404 && large.json()["error"].is_string(), "{}", large.body);
    drain(server);
}

#[test]
fn owners_sign_up_behind_nginx_and_caddy() {
    owners_work_behind(Proxy::nginx);
    owners_work_behind(Proxy::caddy);
}

#[test]
fn bodies_that_do_not_come_are_no_burden_behind_nginx() {
    let league = League::calm("", &[]);
    let text = league.folder.read("league.toml");
    let address = free_address();
    let tables = format!(
        "[owners]\nlisten = '{address}'\nurl = 'http://localhost/owners/'\ntrusted_proxies = ['127.0.0.1']\n[signup]\nmode = 'open'\n"
    );
    league.folder.write("league.toml", format!("{tables}{text}"));
    let mut server = league.serve();
    server.receive_type("owners");
    let (_proxy, site) = Proxy::nginx(&league.folder, &Site(address));
    // More than the server takes from one address.
    let withheld: Vec<TcpStream> = ["signup", "session", "owner/submissions"]
        .iter()
        .flat_map(|path| std::iter::repeat_n(path, 100))
        .map(|path| {
            let head = "Host: localhost\r\nContent-Type: application/json\r\nContent-Length: 40\r\n";
            site.send(&format!("POST /owners/api/v1/{path} HTTP/1.1\r\n{head}\r\n{{"))
        })
        .collect();
    let body = "{\"id\": \"ada\"}";
    let head = format!("Content-Type: application/json\r\nContent-Length: {}\r\n", body.len());
    assert_eq!(site.ask_with_body("POST", "/owners/api/v1/signup", &head, body).status, 201);
    drop(withheld);
    drain(server);
}

#[test]
fn a_request_without_a_host_is_answered() {
    let folder = Folder::new();
    let (referee, site) = watched(&folder, "checkers", (0.0, 3), &["--set", "turn_limit=10"]);
    // As load balancers check whether a server lives.
    let mut text = String::new();
    site.send("GET /healthz HTTP/1.0\r\n\r\n").read_to_string(&mut text).expect("an answer");
    assert!(text.starts_with("HTTP/1.0 200 ") && text.ends_with("\r\n\r\nok\n"), "{text}");
    go(&folder, "m1");
    referee.end().with_code(0);
}
