//! `referee show --follow`: a live match in a terminal.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use crate::common::http::Site;
use crate::common::{Folder, Referee, referee};
use crate::watch::{go, go_until, wait_for_moves, watched};

#[test]
fn a_terminal_follows_a_match_to_its_end() {
    let folder = Folder::new();
    let (referee, site) = watched(&folder, "checkers", (0.0, 5), &["--set", "turn_limit=20"]);
    wait_for_moves(&site, "m1", 10);
    let mut shown = Referee::start(["show", "--follow", &site.url("/")]);
    assert_eq!(shown.line().as_deref(), Some("m1 Checkers: one - two"));
    go(&folder, "m1");
    let shown = shown.end().done().stdout;
    for moves in 10..=20 {
        assert!(shown.contains(&format!("\n{moves}. ")), "move {moves}: {shown}");
    }
    assert!(shown.ends_with("one and two drew: turn limit\n"), "{shown}");
    referee.end().with_code(0);
    without_a_server(&site);
}

fn without_a_server(site: &Site) {
    referee(["show", "--follow", &site.url("/")]).with_code(5).says(&[&site.0]);
}

/// A proxy before this server that cuts each of the first streams after its second event. Sends the head of each
/// request.
fn cutting_proxy(server: Site, mut cuts: usize) -> (Site, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let site = Site(listener.local_addr().expect("an address").to_string());
    let (tell, heads) = channel();
    let mut pass_on = move |mut client: TcpStream| -> std::io::Result<()> {
        let mut head = String::new();
        let mut input = BufReader::new(client.try_clone()?);
        while !head.ends_with("\r\n\r\n") && input.read_line(&mut head)? > 0 {}
        let is_cut = head.contains("/events") && cuts > 0;
        cuts -= usize::from(is_cut);
        // The receiver is gone when the test is over.
        let _ = tell.send(head.clone());
        let mut upstream = TcpStream::connect(&server.0)?;
        upstream.write_all(head.replace("keep-alive", "close").as_bytes())?;
        let mut events = 0;
        let mut lines = BufReader::new(upstream);
        if !is_cut {
            thread::spawn(move || std::io::copy(&mut lines, &mut client));
            return Ok(());
        }
        while events < 2 {
            let mut line = Vec::new();
            lines.by_ref().read_until(b'\n', &mut line)?;
            client.write_all(&line)?;
            events += usize::from(line == b"\n");
        }
        Ok(())
    };
    thread::spawn(move || {
        for client in listener.incoming() {
            pass_on(client.expect("a client")).expect("it is passed on");
        }
    });
    (site, heads)
}

#[test]
fn a_terminal_continues_after_a_cut_without_gaps_and_duplicates() {
    let folder = Folder::new();
    let (referee, site) = watched(&folder, "checkers", (0.0, 3), &["--set", "turn_limit=20"]);
    wait_for_moves(&site, "m1", 6);
    let (proxy, heads) = cutting_proxy(site, 3);
    let mut shown = Referee::start(["show", "--follow", &proxy.url("/matches/m1")]);
    let mut text = String::new();
    let mut read_until = |shown: &mut Referee, what: &str| {
        while !text.lines().any(|line| line.starts_with(what)) {
            text += &shown.line().expect("the match goes on");
            text.push('\n');
        }
    };
    // Each stream is cut while the match waits.
    for turn in 4..=7 {
        read_until(&mut shown, &format!("{}. ", 2 * turn - 2));
        go_until(&folder, "m1", turn);
    }
    read_until(&mut shown, "14. ");
    go(&folder, "m1");
    let ended = shown.end().with_code(0);
    text += &ended.stdout;
    let numbers = text.lines().filter_map(|line| line.split_once(". ")?.0.parse::<u32>().ok());
    assert_eq!(numbers.collect::<Vec<_>>(), (6..=20).collect::<Vec<_>>(), "{text}");
    assert!(text.ends_with("one and two drew: turn limit\n"), "{text}");
    assert_eq!(ended.stderr.matches("connecting again").count(), 3, "{}", ended.stderr);
    referee.end().with_code(0);
    let heads: Vec<String> = heads.try_iter().map(|head| head.to_lowercase()).collect();
    assert_eq!(heads.len(), 4, "{heads:?}");
    assert!(
        !heads[0].contains("last-event-id") && heads[1..].iter().all(|head| head.contains("last-event-id: "))
    );
}
