//! A spectator: requests to the server of `--watch`, byte by byte.

use std::io::{BufRead, BufReader, Cursor, Read, Write};
use std::net::TcpStream;

use serde_json::Value;

use super::{Referee, TIMEOUT};

#[derive(Clone, Debug)]
pub(crate) struct Site(pub(crate) String);

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// The header fields, in lower case.
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        assert!(self.head.contains("content-type: application/json"), "{}", self.head);
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }
}

impl Site {
    /// The server that a referee with `--json --watch` announces.
    pub(crate) fn of(referee: &mut Referee) -> Site {
        let url = referee.receive_type("watch")["url"].as_str().expect("its URL").to_owned();
        Site(url.strip_prefix("http://").and_then(|url| url.strip_suffix('/')).expect("a URL").to_owned())
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.0)
    }

    /// A connection to which this was written.
    pub(crate) fn send(&self, request: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.0).expect("it listens");
        stream.set_read_timeout(Some(TIMEOUT)).expect("a timeout");
        stream.write_all(request.as_bytes()).expect("it reads");
        stream
    }

    pub(crate) fn ask(&self, method: &str, path: &str, head: &str) -> Answer {
        self.ask_with_body(method, path, head, "")
    }

    /// Sends a request whose length is in its head.
    pub(crate) fn ask_with_body(&self, method: &str, path: &str, head: &str, body: &str) -> Answer {
        let answer = self.answer(&format!("{method} {path}"), head, body);
        let text = String::from_utf8(answer).expect("UTF-8");
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no head: {text}"));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
        Answer { status, head: head.to_lowercase(), body: body.to_owned() }
    }

    /// Sends a request. HTTP/1.0, so that the body ends with the connection.
    fn answer(&self, first: &str, head: &str, body: &str) -> Vec<u8> {
        let host = if head.to_lowercase().contains("host:") { "" } else { "Host: localhost\r\n" };
        let mut stream = self.send(&format!("{first} HTTP/1.0\r\n{host}{head}\r\n{body}"));
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).expect("the whole answer");
        answer
    }

    pub(crate) fn download(&self, path: &str, head: &str) -> Vec<u8> {
        let answer = self.answer(&format!("GET {path}"), head, "");
        let at = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n").expect("a head");
        assert!(answer[..at].split(|&byte| byte == b' ').nth(1) == Some(b"200"), "{path}");
        answer[at + 4..].to_vec()
    }

    #[track_caller]
    pub(crate) fn get(&self, path: &str) -> Answer {
        let answer = self.ask("GET", path, "");
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        answer
    }

    #[track_caller]
    pub(crate) fn picture(&self, path: &str) -> (u32, u32) {
        let mut answer = Vec::new();
        let request = format!("GET {path} HTTP/1.0\r\nHost: localhost\r\n\r\n");
        self.send(&request).read_to_end(&mut answer).expect("the whole answer");
        let end = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n").expect("a head");
        let head = String::from_utf8_lossy(&answer[..end]).to_lowercase();
        assert!(head.contains(" 200 ") && head.contains("content-type: image/png"), "{path}: {head}");
        size_of_picture(&answer[end + 4..])
    }

    /// Opens a stream, after this event.
    pub(crate) fn stream(&self, path: &str, last: Option<&str>) -> Stream {
        let last = last.map_or(String::new(), |id| format!("Last-Event-ID: {id}\r\n"));
        let request =
            format!("GET {path} HTTP/1.0\r\nHost: localhost\r\nAccept: text/event-stream\r\n{last}\r\n");
        let mut input = BufReader::new(self.send(&request));
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            assert_ne!(input.read_line(&mut head).expect("a head"), 0, "{head}");
        }
        // A proxy answers with HTTP/1.1.
        assert!(head.starts_with("HTTP/1.") && head.contains(" 200 "), "{head}");
        assert!(head.contains("text/event-stream"), "{head}");
        Stream(input)
    }
}

#[track_caller]
pub(crate) fn size_of_picture(png: &[u8]) -> (u32, u32) {
    let mut reader = png::Decoder::new(Cursor::new(png)).read_info().expect("a picture");
    let mut pixels = vec![0; reader.output_buffer_size().expect("a size")];
    let frame = reader.next_frame(&mut pixels).expect("a whole picture");
    assert!(pixels.iter().any(|pixel| *pixel != pixels[0]), "it is blank");
    (frame.width, frame.height)
}

/// A page's description of itself for other sites.
pub(crate) fn property<'a>(page: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = page.split_once(&format!("<meta property=\"{name}\" content=\""))?;
    rest.split('"').next()
}

pub(crate) struct Stream(BufReader<TcpStream>);

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct StreamEvent {
    pub(crate) id: String,
    pub(crate) kind: String,
    pub(crate) data: Value,
}

impl StreamEvent {
    pub(crate) fn number(&self) -> u64 {
        self.id.rsplit('-').next().and_then(|number| number.parse().ok()).expect("a number")
    }
}

impl Iterator for Stream {
    type Item = StreamEvent;

    /// The next event; `None` at the end. Comments are skipped.
    fn next(&mut self) -> Option<StreamEvent> {
        let (mut id, mut kind, mut data) = (String::new(), String::new(), None);
        loop {
            let mut line = String::new();
            if self.0.read_line(&mut line).expect("an event in time") == 0 {
                return None;
            }
            match line.trim_end().split_once(": ") {
                Some(("id", value)) => value.clone_into(&mut id),
                Some(("event", value)) => value.clone_into(&mut kind),
                Some(("data", value)) => data = Some(serde_json::from_str(value).expect("JSON")),
                _ if line == "\n" => {
                    if let Some(data) = data.take() {
                        return Some(StreamEvent { id, kind, data });
                    }
                }
                _ => assert!(line.starts_with(':'), "{line}"),
            }
        }
    }
}
