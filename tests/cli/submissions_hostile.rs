//! More than a hundred hostile submissions: archives, `bot.toml` files, builds, bots and names.

use std::fs;
use std::io::{Read, Write};
use std::path::Path;
use std::process::Command;

use ::referee::bot::sandbox::Mode;
use tar::{EntryType, Header};

use crate::common::http::{Answer, Site};
use crate::common::league::drain;
use crate::common::{Folder, Referee};
use crate::sandbox::{missing, options_without_bubblewrap, programs_without_bubblewrap};
use crate::submissions::{BUILD, bot, league, log, owner, receive_match_of, serve, spared, submit};

/// Sends bytes as an archive. The server may answer before it has read all of them.
fn post(url: &str, token: &str, length: u64, bytes: &[u8]) -> Answer {
    let site =
        Site(url.strip_prefix("http://").and_then(|url| url.strip_suffix('/')).expect("a URL").to_owned());
    let mut stream = site.send(&format!(
        "POST /api/v1/owner/submissions HTTP/1.0\r\nHost: localhost\r\nAuthorization: Bearer {}\r\nContent-Length: \
         {length}\r\n\r\n",
        token.trim()
    ));
    // It is refused in the middle.
    let _ = stream.write_all(bytes);
    let mut text = String::new();
    let _ = stream.read_to_string(&mut text);
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no head: {text}"));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
    Answer { status, head: head.to_lowercase(), body: body.to_owned() }
}

/// A header of an archive, in normal form unless a test changes it.
struct Block(Header);

impl Block {
    fn file(path: impl AsRef<[u8]>) -> Block {
        let mut header = Header::new_ustar();
        let path = path.as_ref();
        match std::str::from_utf8(path).ok().filter(|path| path.len() > 100) {
            Some(path) => header.set_path(path).expect("a path"),
            None => header.as_mut_bytes()[..path.len()].copy_from_slice(path),
        }
        header.set_mode(0o644);
        header.set_size(0);
        header.set_uid(0);
        header.set_gid(0);
        header.set_mtime(0);
        header.set_entry_type(EntryType::Regular);
        Block(header)
    }

    fn link(path: &str, target: &str) -> Block {
        let mut block = Block::file(path);
        block.0.set_entry_type(EntryType::Symlink);
        block.0.as_mut_bytes()[157..157 + target.len()].copy_from_slice(target.as_bytes());
        block
    }

    fn typed(path: &str, kind: u8) -> Block {
        Block::file(path).with(|header| header.as_mut_bytes()[156] = kind)
    }

    fn with(mut self, change: impl FnOnce(&mut Header)) -> Block {
        change(&mut self.0);
        self
    }

    fn bytes(mut self) -> Vec<u8> {
        self.0.set_cksum();
        self.0.as_bytes().to_vec()
    }
}

/// An archive of empty files and links.
fn archive(blocks: impl IntoIterator<Item = Block>) -> Vec<u8> {
    let mut bytes: Vec<u8> = blocks.into_iter().flat_map(Block::bytes).collect();
    bytes.extend([0; 1024]);
    bytes
}

/// An archive with one file.
fn with_file(path: &str, contents: &[u8]) -> Vec<u8> {
    let size = contents.len() as u64;
    let padding = size.next_multiple_of(512) - size;
    let mut bytes = Block::file(path).with(|header| header.set_size(size)).bytes();
    bytes.extend(contents);
    bytes.extend(vec![0; padding as usize + 1024]);
    bytes
}

/// An archive with this bot.toml.
fn with_bot_file(text: &str) -> Vec<u8> {
    with_file("bot.toml", text.as_bytes())
}

/// A submission that is refused: the name of the case, the archive, and a part of its log.
type Refused = (&'static str, Vec<u8>, &'static str);

/// Archives with paths that lead elsewhere or mean something else on another system.
fn paths() -> Vec<Refused> {
    let one = |name, path: &[u8], says| (name, archive([Block::file(path)]), says);
    let two = |name, paths: [&str; 2], says| (name, archive(paths.map(Block::file)), says);
    vec![
        one("parent", b"../x", "the path contains `..`"),
        one("parent within", b"a/../b", "the path contains `..`"),
        one("parent alone", b"..", "the path contains `..`"),
        one("absolute", b"/tmp/x", "the path is absolute"),
        one("no path", b"", "the path has an empty name or `.`"),
        one("empty name", b"a//b", "the path has an empty name or `.`"),
        one("dot", b"./a", "the path has an empty name or `.`"),
        one("slash at the end", b"a/", "the path has an empty name or `.`"),
        one("line feed", b"a\nb", "the path contains a control character"),
        one("escape", b"\x1b[2J", "the path contains a control character"),
        one("NUL", b"a\0b", "its header is not in normal form"),
        one("not UTF-8", b"a\xff", "its path is not UTF-8"),
        two("case", ["A", "a"], "differs only in case"),
        two("case of a directory", ["A/x", "a/y"], "differs only in case"),
        two("normalisation", ["e\u{301}", "\u{e9}"], "differs only in case or Unicode normalisation"),
        two("sharp s", ["SS", "\u{df}"], "differs only in case"),
        two("twice", ["a", "a"], "the archive has it twice"),
        two("unsorted", ["b", "a"], "entries are sorted by path"),
        two("below a file", ["a", "a/b"], "`a` is not a directory in the archive"),
    ]
}

/// Archives with something else than files and links, or with more than contents.
fn types_and_fields() -> Vec<Refused> {
    let typed = |name, kind, says| (name, archive([Block::typed("a", kind)]), says);
    let changed =
        |name, change: fn(&mut Header), says| (name, archive([Block::file("a").with(change)]), says);
    const NORMAL: &str = "its header is not in normal form";
    let mut damaged = archive([Block::file("a")]);
    damaged[0] = b'b';
    vec![
        typed("hard link", b'1', "it is a hard link"),
        typed("device", b'3', "it is a device"),
        typed("block device", b'4', "it is a device"),
        typed("directory", b'5', "it is a directory"),
        typed("FIFO", b'6', "it is a FIFO"),
        typed("contiguous", b'7', "it is of an unknown type"),
        typed("sparse", b'S', "it is a sparse file"),
        typed("long name", b'L', "it is an extension for long names"),
        typed("long link", b'K', "it is an extension for long names"),
        typed("PAX", b'x', "it is an extension for long names"),
        typed("global PAX", b'g', "it is an extension for long names"),
        typed("unknown", b'Z', "it is of an unknown type"),
        typed("old", 0, NORMAL),
        changed("setuid", |header| header.set_mode(0o4755), "its mode is 4755"),
        changed("setgid", |header| header.set_mode(0o2755), "its mode is 2755"),
        changed("sticky", |header| header.set_mode(0o1644), "its mode is 1644"),
        changed("writable by all", |header| header.set_mode(0o666), "its mode is 0666"),
        changed("no permissions", |header| header.set_mode(0), "its mode is 0000"),
        changed("no number", |header| header.as_mut_bytes()[124] = b'z', "its size is not a number"),
        changed(
            "binary size",
            |header| {
                header.as_mut_bytes()[124..136].copy_from_slice(&[0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
            },
            NORMAL,
        ),
        changed("owner", |header| header.set_uid(1000), NORMAL),
        changed("group", |header| header.set_gid(1000), NORMAL),
        changed("time", |header| header.set_mtime(1), NORMAL),
        changed("user", |header| header.set_username("root").expect("a name"), NORMAL),
        changed("device number", |header| header.set_device_major(1).expect("a number"), NORMAL),
        ("damaged", damaged, "the checksum of its header is wrong: the archive is damaged"),
    ]
}

/// Archives with links that lead elsewhere.
fn links() -> Vec<Refused> {
    let (file, link) = (|path| Block::file(path), |path, target| Block::link(path, target));
    const FORM: &str = "a target has `..` only at its start";
    vec![
        ("absolute link", archive([link("a", "/etc/passwd")]), "it links to the absolute path"),
        ("link out", archive([link("a", "../../league.sqlite")]), "which is outside the archive"),
        ("link to nothing", archive([link("a", "b")]), "which is not in the archive"),
        ("link to itself", archive([link("a", "a")]), "which is a link itself"),
        ("links in a circle", archive([link("a", "b"), link("b", "a")]), "which is a link itself"),
        ("link to a link", archive([link("a", "b"), link("b", "c"), file("c")]), "which is a link itself"),
        (
            "below a link",
            archive([link("a", "d"), link("b", "a/x"), file("d/x")]),
            "which is not in the archive",
        ),
        (
            "through a link",
            archive([link("a", "b"), file("a/x"), file("b")]),
            "`a` is not a directory in the archive",
        ),
        ("link of another case", archive([link("a", "B"), file("b")]), "which is not in the archive"),
        ("dot in a target", archive([link("a", "./b"), file("b")]), FORM),
        ("parent in a target", archive([link("a", "b/../c"), file("b/x"), file("c")]), FORM),
        ("no target", archive([link("a", "")]), FORM),
        ("bot.toml is a link", archive([link("bot.toml", "x"), file("x")]), "missing field `name`"),
    ]
}

/// Archives that are too large, cut off, or none.
fn sizes() -> Vec<Refused> {
    let cut = |bytes: &[u8], length: usize| bytes[..length].to_vec();
    let with_size = |size| Block::file("zeros").with(|header| header.set_size(size)).bytes();
    let whole = archive([Block::file("a")]);
    let after = |bytes: &[u8]| [&whole[..], bytes].concat();
    let mut unpadded = with_file("a", b"x");
    unpadded[512 + 1] = 1;
    let mut second = whole.clone();
    second[1024] = 1;
    let magic = |magic: &[u8]| [magic, &[0; 1536]].concat();
    let files = (0..10_001).map(|at| Block::file(format!("{at:05}")));
    let deep = (0..100).map(|at| Block::file(format!("{at:02}{}/x", "/a".repeat(110))));
    let mut gnu = Header::new_gnu();
    gnu.set_path("bot.toml").expect("a path");
    gnu.set_mode(0o644);
    gnu.set_size(0);
    let deepest = (0..9800).map(|at| Block::file(format!("{}{at:04}", "a/".repeat(120))));
    vec![
        ("9,800 files 120 directories deep", archive(deepest), "there is no bot.toml"),
        ("8 GiB in a header", with_size((8 << 30) - 1), "are allowed"),
        ("more than the limit", with_file("zeros", &vec![0; (1 << 20) + 1]), "are allowed"),
        ("10,001 files", archive(files), "the archive has more than 10000 files, links and directories"),
        ("11,000 directories", archive(deep), "the archive has more than 10000 files, links and directories"),
        ("no end", cut(&whole, 512), "the archive is cut off"),
        ("half an end", cut(&whole, 1024), "the archive is cut off"),
        ("half a header", cut(&whole, 300), "the archive is cut off"),
        ("half a file", [with_size(600), vec![0; 100]].concat(), "the archive is cut off"),
        ("more after the end", after(&[1; 512]), "the archive does not end with two zero blocks"),
        ("zeros after the end", after(&[0; 512]), "the archive does not end with two zero blocks"),
        ("another second block", second, "the archive does not end with two zero blocks"),
        ("padding", unpadded, "the padding after its contents is not zero"),
        ("nothing", vec![0; 1024], "there is no bot.toml"),
        ("garbage", vec![b'x'; 5000], "the archive is damaged"),
        ("gzip", magic(b"\x1f\x8b\x08\0\0\0\0\0"), "the archive is damaged"),
        (
            "zip",
            magic(b"PK\x03\x04"),
            "the zip file is cut off: its directory is missing; `referee submit DIR` packs",
        ),
        (
            "GNU tar",
            archive([Block(gnu)]),
            "it is in the format of GNU tar, not in normal form; `referee submit DIR`",
        ),
        ("xz", magic(b"\xfd7zXZ\0"), "it is an xz file"),
        ("bzip2", magic(b"BZh9"), "it is a bzip2 file"),
        ("program", magic(b"\x7fELF\x02\x01\x01"), "it is a program, not a tar archive"),
    ]
}

/// Archives without a valid bot.toml.
fn bot_files() -> Vec<Refused> {
    let one = |name, text: &str, says| (name, with_bot_file(text), says);
    const OUTSIDE: &str = "is not in the directory of the bot";
    vec![
        ("no bot.toml", archive([Block::file("a")]), "there is no bot.toml"),
        ("bot.toml elsewhere", archive([Block::file("a/bot.toml")]), "there is no bot.toml"),
        one("no TOML", "name = ", "TOML parse error"),
        one("unknown key", "name = 'x'\ncommand = 'cat'\nshell = true", "unknown field `shell`"),
        one("no command", "name = 'x'", "missing field `command`"),
        one("shell", "name = 'x'\ncommand = 'true && cat'", "`&&` needs a shell"),
        one("open quote", "name = 'x'\ncommand = 'cat \"'", "a quote is not closed"),
        one("empty command", "name = 'x'\ncommand = ''", "an empty command line starts no bot"),
        one("command out", "name = 'x'\ncommand = 'cat ../../../league.sqlite'", OUTSIDE),
        one("absolute command", "name = 'x'\ncommand = '/bin/sh'", OUTSIDE),
        one("build out", "name = 'x'\ncommand = 'cat'\nbuild = '../x'", OUTSIDE),
        one("control character", "name = 'x'\ncommand = 'cat'\nlanguage = \"\\u0007\"", "language: at most"),
        one("name with a path", "name = '../x'\ncommand = 'cat'", "name: "),
        one("no name", "name = ''\ncommand = 'cat'", "name: "),
        one("name that hides", "name = \"x\\u202ey\"\ncommand = 'cat'", "name: "),
        ("large bot.toml", with_file("bot.toml", &vec![b'#'; 70_000]), "it is larger than 64 KiB"),
    ]
}

/// A build that starts processes that do not end. Without control groups, root is not limited.
const STORM: &str = "import os
for at in range(300):
    if os.fork() == 0:
        os.execvp('sleep', ['sleep', '98765'])
raise SystemExit('not enforced here')";

/// A build that leaves a process behind which keeps its streams.
const DAEMON: &str = "import os
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execvp('sleep', ['sleep', '98765'])
    os._exit(0)
raise SystemExit(7)";

/// Returns whether a process of [`STORM`] or [`DAEMON`] runs.
fn has_survivors() -> bool {
    let processes = fs::read_dir("/proc").expect("processes").filter_map(|entry| Some(entry.ok()?.path()));
    processes.filter_map(|path| fs::read(path.join("cmdline")).ok()).any(|line| line == b"sleep\x0098765\0")
}

/// Builds that misbehave, and their logs.
const BUILDS: [(&str, &str, &str); 24] = [
    ("endless", "import time\nwhile True: time.sleep(1)", "it took longer than 30s"),
    ("network", "import socket\nsocket.create_connection(('127.0.0.1', PORT), 3)", "exited with status 1"),
    ("names of hosts", "import socket\nsocket.getaddrinfo('localhost.invalid', 80)", "exited with status 1"),
    ("fork storm", STORM, "Resource temporarily unavailable|not enforced here"),
    ("daemon", DAEMON, "exited with status 7"),
    ("database", "print(open('LEAGUE/league.sqlite', 'rb').read(9))", "No such file or directory"),
    ("archives", "import os\nprint(os.listdir('LEAGUE/submissions/archives'))", "No such file or directory"),
    ("file of the league", "print(open('LEAGUE/league.toml').read())", "No such file or directory"),
    ("file in the league", "open('LEAGUE/x', 'w')", "No such file or directory"),
    ("file of the system", "open('/etc/x', 'w')", "Read-only file system|Permission denied"),
    ("password file", "print(open('/etc/shadow').read())", "exited with status 1"),
    (
        "disk",
        "for at in range(40):\n    with open(str(at), 'wb') as out:\n        out.write(bytes(4 << 20))",
        "No space left on device",
    ),
    ("large result", "open('zeros', 'wb').write(bytes(20 << 20))", "are allowed"),
    ("many files", "for at in range(20001): open(str(at), 'w')", "more than 20000 files"),
    (
        "long path",
        "import os\nos.makedirs('a' * 60 + '/b' * 120)\nopen('a' * 60 + '/b' * 120 + '/c', 'w')",
        "the path is too long",
    ),
    ("case", "open('A', 'w')\nopen('a', 'w')", "differs only in case"),
    ("line feed", "open('a\\nb', 'w')", "control character"),
    ("link", "import os\nos.symlink('/etc/passwd', 'a')", "which is outside the directory"),
    ("FIFO", "import os\nos.mkfifo('a')", "it is not a regular file"),
    ("device", "import os\nos.mknod('a', 0o60666, 2049)", "Operation not permitted"),
    ("other command", "open('bot.toml', 'w').write('no')\nraise SystemExit(3)", "exited with status 3"),
    ("much memory", "a = b'x' * (3 << 30)", "MemoryError|killed by its memory limit"),
    (
        "log with a gap",
        "print('the beginning', flush=True)\nprint('x' * 5_000_000, flush=True)\nraise SystemExit('the end')",
        "the beginning\nxxxx",
    ),
    ("long log", "print('\\x1b[2J\\x07' + 'x' * 5_000_000)\nraise SystemExit(4)", "exited with status 4"),
];

/// Builds that reach for files of the host through their parents and shared files. They set the modes that these have.
const REACHES: [(&str, &str, &str); 8] = [
    (
        "mode of the program of its parent",
        "import os\npath = f'/proc/{os.getppid()}/exe'\nos.chmod(path, os.stat(path).st_mode)",
        REFUSED,
    ),
    ("times of the program of its parent", "import os\nos.utime(f'/proc/{os.getppid()}/exe')", REFUSED),
    (
        "attribute of the archive",
        "import os\nos.setxattr(f'/proc/{os.getppid()}/fd/0', 'user.referee', b'')",
        REFUSED,
    ),
    ("another result", "import os\nopen(f'/proc/{os.getppid()}/fd/1', 'wb', 0).write(b'x' * 2048)", REFUSED),
    ("memory of its parent", "import os\nopen(f'/proc/{os.getppid()}/mem', 'rb')", REFUSED),
    (
        "mode of the first program",
        "import os\nos.chmod('/proc/1/exe', os.stat('/proc/1/exe').st_mode)",
        "No such file or directory|Permission denied",
    ),
    ("mode of a device", "import os\nos.chmod('/dev/null', os.stat('/dev/null').st_mode)", UNCHANGED),
    ("mode of a file of /proc", "import os\nos.chmod('/proc/version', 0o444)", UNCHANGED),
];
const REFUSED: &str = "Permission denied|Operation not permitted";
const UNCHANGED: &str = "Read-only file system|Operation not permitted";

/// Bots that misbehave when they are checked.
const BOTS: [(&str, &str); 7] = [
    ("ends", "raise SystemExit(3)"),
    ("floods", "while True: print('x' * 1000)"),
    ("no JSON", "print('{', flush=True)\nimport time\ntime.sleep(1000)"),
    ("long line", "print('x' * (3 << 20), flush=True)"),
    ("connects", "import socket\nsocket.create_connection(('127.0.0.1', PORT), 3)"),
    ("reads the league", "print(open('LEAGUE/league.sqlite', 'rb').read(9))"),
    ("leaves processes", DAEMON),
];

#[test]
fn hundred_hostile_submissions_have_listed_outcomes_and_league_plays_on() {
    let league = league(
        "waiting = 100\nper_day = 1000\nbuild_time = '30s'\nbuild_space = '64MiB'\nresult = '16MiB'\narchive = '1MiB'\nbuild_processes = 64",
    );
    let file = owner(&league, "eve");
    let token = league.folder.read("eve.token");
    let (mut server, url) = serve(&league);
    let port = url.trim_end_matches('/').rsplit(':').next().expect("a port").to_owned();
    // More than the limit is not even read.
    let flood = post(&url, &token, 10 << 30, &vec![0; 40 << 20]);
    assert_eq!(flood.status, 413, "{}", flood.body);
    assert_eq!(post(&url, &token, 0, b"").status, 400);
    assert_eq!(post(&url, "wrong", 4, b"abcd").status, 401);
    let mut expected: Vec<(String, u64, &str)> = Vec::new();
    let refused = [
        ("paths", paths()),
        ("types", types_and_fields()),
        ("links", links()),
        ("sizes", sizes()),
        ("bot-files", bot_files()),
    ];
    // Each owner may send thirty at once.
    for (who, refused) in refused {
        owner(&league, who);
        let token = league.folder.read(&format!("{who}.token"));
        for (name, bytes, says) in refused {
            let answer = post(&url, &token, bytes.len() as u64, &bytes);
            assert_eq!(answer.status, 201, "{name}: {}", answer.body);
            expected.push((name.to_owned(), answer.json()["id"].as_u64().expect("a number"), says));
        }
    }
    let place = league.folder.text("");
    let filled = |text: &str| text.replace("LEAGUE", place.trim_end_matches('/')).replace("PORT", &port);
    let builds = BUILDS.into_iter().chain(REACHES).map(|(name, build, says)| (name, build, None, says));
    let bots = BOTS.map(|(name, bot)| (name, BUILD, Some(bot), "the bot did not pass the check"));
    for (at, (name, build, program, says)) in builds.chain(bots).enumerate() {
        let directory =
            bot(&league.folder, &format!("hostile-{at}"), &format!("hostile {at}"), &filled(build));
        if let Some(program) = program {
            fs::write(Path::new(&directory).join("bot.py"), filled(program)).expect("it is written");
        }
        let ended = submit(&url, &directory, &file).with_code(1);
        let id = ended.all("submission")[0]["id"].as_u64().expect("a number");
        expected.push((name.to_owned(), id, says));
    }
    let names = [
        ("PLAIN", "which is taken"),
        ("p1ain", "which is taken"),
        ("pl\u{430}in", "name: "),
        ("plain ", "name"),
        ("-x", "name: "),
    ];
    for (at, (name, says)) in names.into_iter().enumerate() {
        let directory = bot(&league.folder, &format!("name-{at}"), name, BUILD);
        let args = ["submit", "--to", &url, &directory, "--token-file", &file, "--json"];
        let ended = Referee::start_as(spared().args(args)).wait();
        match ended.code {
            // Found before it is sent.
            Some(2) => drop(ended.says(&[says])),
            _ => {
                let ended = ended.with_code(1);
                assert!(log(&ended).contains(says), "{name}: {}", log(&ended));
            }
        }
    }
    let count = 3 + expected.len() + names.len();
    assert!(count >= 100, "{count}");
    for (name, id, says) in expected {
        let shown = league.run(&["submission", "show", &id.to_string(), "--json"]).done().one("submission");
        let log = shown["log"].as_str().expect("a log");
        assert!(
            shown["state"] == "failed" && says.split('|').any(|says| log.contains(says)),
            "{name}: {shown}"
        );
        assert!(
            log.len() <= 64 << 10 && !log.contains(|c: char| c.is_control() && c != '\n'),
            "{name}: {log:?}"
        );
        assert!(!log.contains(place.trim_end_matches('/')), "{name}: a path of the server is in {log}");
        // With all layers everything is enforced.
        assert!(!log.contains("not enforced here") || !missing().is_empty(), "{name}: {shown}");
    }
    assert!(!has_survivors());
    // Nothing of them is left, and the league plays on.
    for name in ["incoming", "archives", "work", "bots"] {
        let left = fs::read_dir(league.folder.path("submissions").join(name)).expect("a directory");
        assert_eq!(left.count(), 0, "{name}");
    }
    let good = bot(&league.folder, "mouse", "mouse", BUILD);
    submit(&url, &good, &file).with_code(0);
    receive_match_of(&mut server, "mouse@1");
    drain(server);
    league.verify();
}

#[test]
fn builds_without_bubblewrap_reach_no_file_of_the_host() {
    let folder = Folder::new();
    let programs = programs_without_bubblewrap(&folder);
    for (name, build, says) in REACHES {
        let directory = bot(&folder, "reaching", "reaching", build);
        let mut check = Command::new(env!("CARGO_BIN_EXE_referee"));
        check.env("PATH", &programs).args(["check", "checkers", &directory]);
        check.args(options_without_bubblewrap(Mode::Strict, &programs));
        let ended = Referee::start_as(&mut check).end().with_code(1);
        let said = format!("{ended:?}");
        assert!(
            said.contains("the build failed") && says.split('|').any(|says| said.contains(says)),
            "{name}: {ended:#?}"
        );
    }
}
