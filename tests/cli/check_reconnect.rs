//! `referee check --reconnect`: the SDKs pass, and bots that do not come back, or not as the same bot, fail.
#![cfg(target_os = "linux")]

use crate::common::{Ended, Folder, ROOT, in_java, in_rust, referee, sample};
use serde_json::Value;

fn step(bot: &str) -> (Ended, Value) {
    let ended = referee(["check", "checkers", bot, "--reconnect", "--json"]);
    let steps = ended.all("step");
    let step = steps.iter().find(|step| step["step"] == "reconnect");
    let step = step.unwrap_or_else(|| panic!("{ended:#?}")).clone();
    (ended, step)
}

#[test]
fn the_sample_bots_come_back() {
    let bots = [
        sample("python/random_bot.py"),
        format!("node '{ROOT}/bots/javascript/bots/random.js'"),
        format!("'{}'", in_rust("referee-random").display()),
        format!("'{ROOT}/target/sdks/go/random'"),
        format!("'{ROOT}/target/sdks/c/random_bot'"),
        in_java("samples.RandomBot"),
    ];
    std::thread::scope(|scope| {
        for bot in &bots {
            scope.spawn(move || {
                let (ended, step) = step(bot);
                assert_eq!(step["verdict"], "passed", "{bot}: {step:#}");
                assert!(step["notes"][0].as_str().is_some_and(|note| note.contains("connected again after")));
                ended.with_code(0);
            });
        }
    });
}

/// A bot that plays over standard input and output, and over TCP with this `hello`; it comes back `times` times.
fn connecting(folder: &Folder, name: &str, hello: &str, times: u32) -> String {
    let script = format!(
        "import socket
def connect(number):
    address = sys.argv[sys.argv.index('--connect') + 1].rsplit(':', 1)
    connection = socket.create_connection((address[0], int(address[1])))
    os.dup2(connection.fileno(), 0)
    os.dup2(connection.fileno(), 1)
    sys.stdin = open(0, closefd=False)
    token = os.environ['REFEREE_TOKEN']
    play(hello=lambda _: say(type='hello', protocol=1, name='test bot', {hello}))
if '--connect' in sys.argv:
    for number in range({times} + 1):
        try:
            connect(number)
        except OSError:
            pass
else:
    play()"
    );
    folder.bot(name, &script)
}

#[test]
fn bot_that_returns_incorrectly_fails_with_violated_sentence() {
    let folder = Folder::new();
    let handwritten = connecting(&folder, "handwritten", "token=token, reconnect='a'", 3);
    let (ended, passed) = step(&handwritten);
    assert_eq!(passed["verdict"], "passed", "{passed:#}");
    ended.with_code(0);
    for (name, hello, times, wrong, says) in [
        ("tokenless", "reconnect='a'", 2, "its `token`", "with the `token` of that name"),
        ("once", "token=token", 2, "has no `reconnect`", "The bot accepts with `reconnect`"),
        (
            "gone",
            "token=token, reconnect='a'",
            0,
            "after `start`, and its process ended",
            "The bot connects again",
        ),
        ("later", "token=token, reconnect='a'", 1, "while a request was open", "The bot connects again"),
        (
            "dismissed",
            "token=token, reconnect='a'",
            2,
            "after `bye`",
            "the bot connects again, as after a loss",
        ),
        (
            "other",
            "token=token, reconnect=str(number)",
            2,
            "the `reconnect` of its",
            "The bot connects again",
        ),
    ] {
        let (ended, failed) = step(&connecting(&folder, name, hello, times));
        let violation = &failed["violation"];
        assert_eq!(failed["verdict"], "failed", "{name}: {failed:#}");
        for (text, expected) in [(&violation["wrong"], wrong), (&violation["rule"]["says"], says)] {
            assert!(text.as_str().is_some_and(|text| text.contains(expected)), "{name}: {violation:#}");
        }
        ended.with_code(1);
    }
}

#[test]
fn without_the_option_the_bot_is_not_connected() {
    let bot = sample("python/random_bot.py");
    let ended = referee(["check", "checkers", &bot, "--json"]).with_code(0);
    assert!(ended.all("step").iter().all(|step| step["step"] != "reconnect"));
}
