//! The pages for spectators behind nginx, at the root and below a path.
#![expect(clippy::disallowed_methods, reason = "nginx does not report when it listens")]

use std::io::Read;
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::common::http::Site;
use crate::common::{Folder, TIMEOUT};
use crate::watch::{go, wait_for_moves, watched};

/// nginx, as a proxy of a server with its default settings.
struct Nginx(Child);

impl Nginx {
    /// Serves a site at `/` and at `/league/`.
    fn start(folder: &Folder, site: &Site) -> (Nginx, Site) {
        let (socket, temporary) = (free_address(), folder.text("nginx"));
        let paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map(|kind| format!("{kind}_temp_path {temporary}-{kind};"))
            .join(" ");
        let server = &site.0;
        let config = format!(
            "daemon off; pid {temporary}.pid; error_log stderr; events {{}}\n\
             http {{ access_log off; {paths}\n\
             server {{ listen {socket};\n\
             location / {{ proxy_pass http://{server}/; }}\n\
             location /league/ {{ proxy_pass http://{server}/; }} }} }}\n"
        );
        let config = folder.write("nginx.conf", config);
        let mut nginx = Command::new("/usr/sbin/nginx");
        nginx.args(["-e", "stderr", "-c", &config, "-p", &temporary]).stdin(Stdio::null());
        let nginx = Nginx(nginx.spawn().expect("nginx, which tests/run installs"));
        let until = Instant::now() + TIMEOUT;
        while TcpStream::connect(&socket).is_err() {
            assert!(Instant::now() < until, "nginx does not listen");
            thread::sleep(Duration::from_millis(20));
        }
        (nginx, Site(socket))
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        // SIGTERM, so that its workers end too.
        let _ = Command::new("kill").arg(self.0.id().to_string()).status();
        let _ = self.0.wait();
    }
}

/// An address on which nothing listens.
fn free_address() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("an address").to_string()
}

/// The value of an attribute in a page.
fn attribute<'a>(page: &'a str, start: &str) -> &'a str {
    let (_, rest) = page.split_once(start).unwrap_or_else(|| panic!("{start} in {page}"));
    rest.split('"').next().expect("a value")
}

#[test]
fn pages_and_streams_work_behind_a_proxy_at_any_path() {
    let folder = Folder::new();
    let (referee, site) = watched(&folder, "checkers", (0.0, 3), &["--set", "turn_limit=10"]);
    let (_nginx, proxy) = Nginx::start(&folder, &site);
    wait_for_moves(&site, "m1", 1);
    for (start, root) in
        [("/", "./"), ("/league/", "./"), ("/matches/m1", "../"), ("/league/matches/m1", "../")]
    {
        let page = proxy.ask("GET", start, "");
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
    }
    for path in ["/api/v1/events", "/league/api/v1/events"] {
        // The events arrive although the stream is open and nginx buffers by default.
        let mut stream = proxy.stream(path, None);
        assert_eq!(stream.next().expect("an event").kind, "snapshot", "{path}");
    }
    go(&folder, "m1");
    referee.end().with_code(0);
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
