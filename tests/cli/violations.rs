//! `referee check`: the sentence of the specification that it quotes for each violation.
#![cfg(target_os = "linux")]

use serde_json::Value;

use crate::check::side_by_side;
use crate::common::{Folder, referee};

/// A bot that stops reading at a line of more than 128 KiB.
const STOPS_READING: &str = "import time
class Input:
    rest = b''
    def readline(self):
        while b'\\n' not in self.rest:
            data = os.read(0, 65536)
            if not data:
                return ''
            self.rest += data
            if len(self.rest) > 131072:
                time.sleep(60)
        line, self.rest = self.rest.split(b'\\n', 1)
        return line.decode() + '\\n'
sys.stdin = Input()
play()";

/// Violations: the name and script of a bot, the expected complaint, and the section and start of the violated sentence.
type Violation = (&'static str, &'static str, &'static str, &'static str, &'static str);

const VIOLATIONS: &[Violation] = &[
    (
        "first-too-long",
        "os.write(1, b'x' * 70000 + b'\\n')\nplay()",
        "its first line has more than 65536 bytes",
        "messages.md#framing",
        "A longer line",
    ),
    (
        "exit-before-hello",
        "sys.exit(3)",
        "its process ended: status 3 before it said `hello`",
        "match.md#a-connection",
        "The bot answers with `hello`",
    ),
    (
        "silent",
        "import time\ntime.sleep(60)",
        "no `hello` within 8000 ms; is stdout flushed? Some programs buffer their input too, such as mawk without `-W interactive`",
        "match.md#a-connection",
        "The bot answers with `hello`",
    ),
    (
        "half-hello",
        "import time\nos.write(1, b'{\"type\":\"hel')\ntime.sleep(60)",
        "only an unfinished line of 12 bytes; a line ends with a line break",
        "match.md#a-connection",
        "The bot answers with `hello`",
    ),
    (
        "chatty",
        "print('loading the book', flush=True)\nplay()",
        "it prints `loading the book` before its `hello`: print it to standard error",
        "messages.md#framing",
        "A line is `malformed` if",
    ),
    (
        "ready-first",
        "play(hello=lambda m: say(type='ready', match='m1'))",
        "its first message is not `hello`",
        "messages.md#hello-from-a-bot",
        "Before it, the referee accepts only `pong` and `bye`.",
    ),
    (
        "unknown-first",
        "play(hello=lambda m: say(type='helo', protocol=1, name='x'))",
        "its first message is not `hello`",
        "messages.md#hello-from-a-bot",
        "Before it, the referee accepts only `pong` and `bye`.",
    ),
    (
        "bye-first",
        "play(hello=lambda m: say(type='bye'))",
        "it said `bye` in place of `hello`",
        "match.md#a-connection",
        "The bot answers with `hello`",
    ),
    (
        "hello-no-name",
        "play(hello=lambda m: say(type='hello', protocol=1))",
        "`hello` cannot be read: missing field `name` at line 1 column 32; `name` has 1 to 64 characters",
        "messages.md#framing",
        "A line is `malformed` if",
    ),
    (
        "pong-without-id",
        "play(hello=lambda m: say(type='pong', id='x'))",
        "`pong` cannot be read: invalid type: string",
        "messages.md#framing",
        "A line is `malformed` if",
    ),
    (
        "protocol-2",
        "play(hello=lambda m: say(type='hello', protocol=2, name='a'))",
        "protocol 2 is not spoken here, only 1",
        "messages.md#hello-from-a-bot",
        "another number is answered with `error` `unsupported_protocol`",
    ),
    (
        "bad-name",
        "play(hello=lambda m: say(type='hello', protocol=1, name='a/b'))",
        "a name has 1 to 64 characters: ASCII letters",
        "messages.md#hello-from-a-bot",
        "string, 1 to 64 of ASCII letters",
    ),
    (
        "long-version",
        "play(hello=lambda m: say(type='hello', protocol=1, name='a', version='x' * 257))",
        "`version` is a string of at most 256 characters",
        "messages.md#hello-from-a-bot",
        "string of at most 256 characters",
    ),
    (
        "other-game",
        "play(hello=lambda m: say(type='hello', protocol=1, name='a', games=['chess', 'go']))",
        "it does not play checkers: it plays chess, go",
        "messages.md#hello-from-a-bot",
        "the games that the bot plays",
    ),
    (
        "flood-of-empty-lines",
        "os.write(1, b'\\n' * 100)\nplay()",
        "it says more than 64 lines or 128 KiB",
        "faults.md#limits",
        "The limit is 64 lines",
    ),
    (
        "flood",
        "play(turn=lambda t: (os.write(1, b'{\"type\":\"pong\",\"id\":1}\\n' * 100), first(t)))",
        "it says more than 64 lines or 128 KiB between two requests",
        "faults.md#limits",
        "The limit is 64 lines",
    ),
    (
        "too-long",
        "play(turn=lambda t: os.write(1, b'x' * 70000 + b'\\n'))",
        "a line has more than 65536 bytes",
        "messages.md#framing",
        "A longer line",
    ),
    (
        "exit",
        "play(turn=lambda t: sys.exit(3))",
        "its process ended: status 3",
        "match.md#leaving",
        "Any other end is a fault",
    ),
    (
        "bye",
        "play(turn=lambda t: say(type='bye'))",
        "it said `bye` in a match",
        "match.md#leaving",
        "Any other end is a fault",
    ),
    (
        "closes-stdout",
        "import time\nplay(turn=lambda t: (os.close(1), time.sleep(60)))",
        "its output ended",
        "match.md#leaving",
        "Any other end is a fault",
    ),
    (
        "other-pong",
        "play(ping=lambda m: say(type='pong', id=m['id'] + 1000))",
        "which no `ping` had",
        "messages.md#pong",
        "the id of the `ping`",
    ),
    (
        "text",
        "play(turn=lambda t: os.write(1, b'e4\\n'))",
        "the line is not a JSON object",
        "messages.md#framing",
        "A line is `malformed` if",
    ),
    (
        "duplicate-key",
        "play(turn=lambda t: os.write(1, b'{\"type\":\"move\",\"type\":\"move\"}\\n'))",
        "duplicate key `type`",
        "messages.md#framing",
        "A line is `malformed` if",
    ),
    (
        "no-turn",
        "play(turn=lambda t: say(type='move', match=t['match'], move=t['legal'][0]))",
        "missing field `turn`",
        "messages.md#framing",
        "A line is `malformed` if",
    ),
    (
        "no-ready",
        "play(start=lambda s: None)",
        "no `ready` within 2000 ms; is stdout flushed? Some programs buffer their input too, such as mawk without `-W interactive`",
        "messages.md#ready",
        "Once for each `start`",
    ),
    (
        "half-ready",
        "play(start=lambda s: os.write(1, b'{\"type\":\"rea'))",
        "no `ready` within 2000 ms, only an unfinished line of 12 bytes",
        "messages.md#ready",
        "Once for each `start`",
    ),
    (
        "bad-nonce",
        "play(start=lambda s: ready(s, nonce='XY'))",
        "`nonce` is lower-case hex of at most 64 bytes",
        "messages.md#ready",
        "A `nonce` in any other form",
    ),
    (
        "ready-for-another",
        "play(start=lambda s: ready({**s, 'match': 'zz'}))",
        "there is no match `zz` on this connection, or it has ended; `m1` is played",
        "match.md#what-a-message-does",
        "A message for a match or seat that the connection does not hold",
    ),
    (
        "ready-twice",
        "play(start=lambda s: (ready(s), ready(s)))",
        "`ready` answers `start`, once",
        "messages.md#ready",
        "Once for each `start`",
    ),
    (
        "hello-twice",
        "play(start=lambda s: (ready(s), hello(s)))",
        "`hello` comes once",
        "match.md#a-connection",
        "The referee answers a second `hello`",
    ),
    (
        "move-before-ready",
        "play(start=lambda s: say(type='move', match=s['match'], turn=0, move='11-15'))",
        "it answers a request before `ready`",
        "messages.md#ready",
        "Once for each `start`",
    ),
    (
        "no-answer",
        "play(turn=lambda t: None)",
        "no answer within 2000 ms; is stdout flushed? Some programs buffer their input too, such as mawk without `-W interactive`",
        "faults.md#codes",
        "no complete answer within the limit",
    ),
    (
        "half",
        "play(turn=lambda t: os.write(1, b'{\"type\":\"mo'))",
        "no answer within 2000 ms, only an unfinished line of 11 bytes",
        "faults.md#codes",
        "no complete answer within the limit",
    ),
    (
        "future-turn",
        "play(turn=lambda t: move({**t, 'turn': t['turn'] + 9}, t['legal'][0]))",
        "there is no request 9 yet: request 0 is open",
        "messages.md#turn",
        "the id of the request: 0, 1, 2, ...",
    ),
    (
        "old-turn",
        "play(turn=lambda t: move({**t, 'turn': 0}, t['legal'][0]))",
        "request 0 is closed; request 1 waits for an answer",
        "match.md#what-a-message-does",
        "A message with an old id never counts",
    ),
    (
        "answers-twice",
        "play(turn=lambda t: (first(t), first(t)))",
        "request 0 is closed",
        "match.md#what-a-message-does",
        "A message with an old id never counts, and neither does a duplicate answer.",
    ),
    (
        "other-match",
        "play(turn=lambda t: move({**t, 'match': 'zz'}, t['legal'][0]))",
        "there is no match `zz`",
        "match.md#what-a-message-does",
        "A message for a match or seat that the connection does not hold",
    ),
    (
        "other-seat",
        "play(turn=lambda t: move({**t, 'seat': 1 - t['seat']}, t['legal'][0]))",
        "seat 1 of this match is not yours; seat 0 of `m1` is",
        "match.md#what-a-message-does",
        "A message for a match or seat that the connection does not hold",
    ),
    (
        "unknown-type",
        "play(turn=lambda t: say(type='mov', match=t['match'], turn=t['turn'], move=t['legal'][0]))",
        "unknown message type `mov`: an answer is a `move`, `accept_draw` or `resign`",
        "messages.md#framing",
        "A `type` that the referee does not know",
    ),
    (
        "opens",
        "play(turn=lambda t: say(type='open', game='checkers'))",
        "`open` and `abort` are only allowed if the referee's `hello` says `may_open`",
        "messages.md#open",
        "Allowed only if the referee's `hello` has `may_open`",
    ),
    (
        "no-offer",
        "play(turn=lambda t: say(type='accept_draw', match=t['match'], turn=t['turn']))",
        "no draw is offered: `accept_draw` answers a request with `draw_offered`",
        "match.md#draw-offers",
        "`accept_draw` for a request without `draw_offered`",
    ),
    (
        "illegal",
        "play(turn=lambda t: move(t, '1-32'))",
        "`1-32` is not legal: send one of the strings in `legal`",
        "messages.md#move",
        "one of `legal`, byte for byte. Without `legal`, what the rules accept, at most 16,384 bytes.",
    ),
    (
        "move-after-end",
        "play(end=lambda e: say(type='move', match=e['match'], seat=0, turn=1, move='1-5'))",
        "asked for nothing: no match is open",
        "match.md#a-match",
        "After `end`, the referee answers any message",
    ),
    (
        "text-after-end",
        "play(end=lambda e: print('good game', flush=True))",
        "asked for nothing: the line is not a JSON object",
        "messages.md#framing",
        "A line is `malformed` if",
    ),
    (
        "hello-after-end",
        "play(end=lambda e: hello(e))",
        "asked for nothing: `hello` comes once",
        "match.md#a-connection",
        "The referee answers a second `hello`",
    ),
    (
        "unknown-after-end",
        "play(end=lambda e: say(type='gg'))",
        "asked for nothing: unknown message type `gg`",
        "messages.md#framing",
        "A `type` that the referee does not know",
    ),
    (
        "fails-after-end",
        "import os\nplay(end=lambda e: os._exit(1))",
        "its process ended: status 1 although no `bye` was said",
        "match.md#leaving",
        "A bot may leave between two matches",
    ),
    (
        "old-turn-of-a-retry",
        "play(turn=lambda t: move({**t, 'turn': t['retry']['of'] if 'retry' in t else t['turn']}, t['legal'][0]))",
        "it answers request 0: request 1 is open",
        "match.md#what-a-message-does",
        "A message with an old id never counts",
    ),
    (
        "stays",
        "import time\ntry:\n    play()\nfinally:\n    time.sleep(60)",
        "it was still there 2000 ms after the end of its input",
        "match.md#starting-and-ending-processes",
        "the referee sends `bye` and closes the bot's standard input.",
    ),
    (
        "leaves-a-child",
        "import subprocess\nsubprocess.Popen(['sleep', '60'])\nplay()",
        "it ended and left 1 of its processes behind",
        "match.md#starting-and-ending-processes",
        "This also kills all other processes",
    ),
    (
        "stops-reading",
        STOPS_READING,
        "it did not read what it was sent within 2000 ms",
        "faults.md#codes",
        "If the referee has not finished writing a request",
    ),
];

#[test]
fn a_failure_names_the_problem_and_quotes_the_violated_sentence() {
    let folder = Folder::new();
    let limits = ["--move-limit", "2s", "--hello-limit", "8s", "--ready-limit", "2s"];
    // It is among the last tests: nothing else would run while it waits.
    side_by_side(20, VIOLATIONS, |(name, script, wrong, section, says)| {
        let ended =
            referee(["check", "checkers", &folder.bot(name, script), "--json"].into_iter().chain(limits));
        let steps = ended.all("step");
        let complaint = steps.iter().map(|step| &step["violation"]).find(|complaint| !complaint.is_null());
        let complaint = complaint.cloned().unwrap_or_default();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let rule = &complaint["rule"];
        let is_right = text(&complaint["wrong"]).contains(wrong)
            && text(&rule["section"]) == *section
            && text(&rule["says"]).starts_with(says);
        (!is_right).then(|| format!("{name}: {complaint:#}"))
    });
}
