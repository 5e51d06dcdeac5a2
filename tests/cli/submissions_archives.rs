//! Archives of programs, packed and checked by owners at home, or made by other systems.
#![cfg(target_os = "linux")]

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::symlink;
use std::process::Command;

use serde_json::{Value, json};

use crate::common::league::drain;
use crate::common::{Ended, Folder, referee};
use crate::sandbox::missing;
use crate::submissions::{BUILD, bearer, bot, league, owner, receive_match_of, serve, site, submit};
use crate::watch::wait_until;

/// Writes archives of a bot's directory as Windows, macOS and `tar` make them.
const FOREIGN: &str = "import os, sys, tarfile, zipfile
place, root = sys.argv[1:]
os.chmod(root + '/bot.py', 0o755)
names = [name for name in os.listdir(root) if name != '__pycache__']
with zipfile.ZipFile(place + '/windows.zip', 'w', zipfile.ZIP_DEFLATED) as out:
    for name in names:
        entry = zipfile.ZipInfo(name)
        entry.create_system, entry.external_attr = 0, 0x20
        out.writestr(entry, open(os.path.join(root, name), 'rb').read())
with zipfile.ZipFile(place + '/mac.zip', 'w', zipfile.ZIP_DEFLATED) as out:
    for name in names:
        out.write(os.path.join(root, name), 'mouse/' + name)
        out.writestr('__MACOSX/mouse/._' + name, b'attributes')
    out.writestr('mouse/.DS_Store', b'a view')
with tarfile.open(place + '/unix.tar.gz', 'w:gz') as out:
    out.add(root, '.')
with tarfile.open(place + '/out.tar.gz', 'w:gz') as out:
    out.add(root, '.')
    link = tarfile.TarInfo('passwords')
    link.type, link.linkname = tarfile.SYMTYPE, '../../../../../../etc/passwd'
    out.addfile(link)
with zipfile.ZipFile(place + '/case.zip', 'w') as out:
    for name in [*names, 'x', 'X']:
        out.writestr('mouse/' + name, open(os.path.join(root, name), 'rb').read() if name in names else b'')
with zipfile.ZipFile(place + '/two.zip', 'w') as out:
    out.writestr('one/bot.toml', b''), out.writestr('two/x', b'')
";

#[test]
fn archives_of_other_systems_are_packed_anew() {
    let league = league("waiting = 99\nper_day = 99");
    let token = owner(&league, "ada");
    let (mut server, url) = serve(&league);
    let directory = bot(&league.folder, "mouse", "mouse", BUILD);
    league.folder.write("mouse/bot.py", "#!/usr/bin/env python3\nfrom testbot import *\nplay()\n");
    league.folder.write("mouse/bot.toml", "name = 'mouse'\ncommand = './bot.py'\n");
    let root = league.folder.text("");
    let made =
        Command::new("python3").args(["-c", FOREIGN, &root, &directory]).status().expect("python runs");
    assert!(made.success());
    let (site, by) = (site(&url), bearer(&token));
    let hand_in = |file: &str| -> Value {
        let bytes = fs::read(league.folder.path(file)).expect("an archive");
        let head = format!(
            "POST /api/v1/owner/submissions HTTP/1.0\r\nHost: localhost\r\n{by}Content-Length: {}\r\n\r\n",
            bytes.len()
        );
        let mut stream = site.send(&head);
        stream.write_all(&bytes).expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        let (_, body) = answer.split_once("\r\n\r\n").expect("a head");
        let id = serde_json::from_str::<Value>(body).expect("JSON")["id"].clone();
        let show = || site.ask("GET", &format!("/api/v1/owner/submissions/{id}"), &by).json();
        wait_until("it is decided", || ["playing", "failed"].iter().any(|state| show()["state"] == *state));
        show()
    };
    let played: Vec<Value> = ["windows.zip", "mac.zip", "unix.tar.gz"].into_iter().map(hand_in).collect();
    for submission in &played {
        assert_eq!(submission["state"], "playing", "{submission}");
        // The same files are the same archive, and that of the command, which the bot's directory holds.
        assert_eq!(submission["built"], played[0]["built"]);
        assert_ne!(submission["built"], submission["archive"]);
    }
    let packed = submit(&url, &directory, &token).with_code(0).all("submission").pop().expect("a line");
    assert_eq!(packed["built"], played[0]["built"]);
    receive_match_of(&mut server, "mouse@4");
    let kept = site.download("/api/v1/owner/submissions/3/archive", &by);
    assert_eq!(kept, fs::read(league.folder.path("unix.tar.gz")).expect("an archive"), "as it was handed in");
    for (file, says) in [
        ("out.tar.gz", "passwords"),
        ("case.zip", "differs only in case"),
        ("two.zip", "neither at its top nor in its only directory"),
    ] {
        let failed = hand_in(file);
        let log = failed["log"].as_str().expect("a log");
        assert!(
            failed["state"] == "failed" && log.contains(says) && !log.contains(&root),
            "{file}: {failed}"
        );
    }
    drain(server);
    league.verify();
}

/// Checks a directory in `strict`, without the layers that this machine lacks.
fn check_at_home(directory: &str) -> Ended {
    let mut args = ["check", "checkers", directory, "--sandbox", "strict"].map(str::to_owned).to_vec();
    for layer in missing() {
        args.extend(["--sandbox-allow-missing".to_owned(), layer.to_string()]);
    }
    referee(args)
}

#[test]
fn a_directory_is_tested_at_home_as_a_league_does() {
    let folder = Folder::new();
    let directory = bot(&folder, "mouse", "mouse", BUILD);
    let mut options = vec!["--sandbox".to_owned(), "strict".to_owned()];
    for layer in missing() {
        options.extend(["--sandbox-allow-missing".to_owned(), layer.to_string()]);
    }
    let check = |more: &[&str]| {
        let args = ["check", "checkers", &directory].into_iter().chain(more.iter().copied());
        referee(args.map(str::to_owned).chain(options.clone()))
    };
    let summary = check(&["--json"]).with_code(0).one("summary");
    assert_eq!((&summary["failed"], &summary["bot"]), (&json!(0), &json!("python3 bot.py")));
    // Without options it leaves out the layers that this machine lacks.
    let plain = referee(["check", "checkers", &directory]).with_code(0);
    for layer in missing() {
        let says = format!("tested without `{layer}`, which a league has: ");
        assert!(plain.stderr.contains(&says), "{plain:?}");
    }
    // Nothing was built in the directory itself.
    assert!(!folder.path("mouse/book.py").exists());
    folder.write("mouse/build.py", "raise SystemExit('no book')");
    check(&[]).with_code(1).says(&["no book", "the build failed"]);
    folder.write("mouse/build.py", BUILD);
    folder.write("mouse/bot.toml", "name = 'mouse'\ncommand = 'python3 bot.py'\nbuild = 'cd src && make'\n");
    check(&[]).with_code(2).says(&["bot.toml: build: `&&` needs a shell"]);
    folder
        .write("mouse/bot.toml", "name = 'mouse'\ncommand = 'python3 bot.py'\nfiles = ['*.py', 'weights']\n");
    check(&[]).with_code(2).says(&["bot.toml: files: `weights` matches no file"]);
    referee(["check", &directory, "--sandbox", "basic"]).with_code(2).says(&["is tested in `strict`"]);
}

#[test]
fn link_out_of_directory_is_neither_packed_nor_read() {
    let folder = Folder::new();
    let directory = bot(&folder, "mouse", "mouse", BUILD);
    let key = folder.write_secret("key", "the key");
    let archive = folder.text("mouse.tar");
    let save = || referee(["submit", "--save", &archive, &directory]);
    symlink(&key, folder.path("mouse/data")).expect("a link");
    let says = format!("`data`: it links to {key}, which is outside the directory");
    save().with_code(2).says(&[&says]);
    check_at_home(&directory).with_code(2).says(&[&says]);
    assert!(!folder.path("mouse.tar").exists());
    fs::remove_file(folder.path("mouse/data")).expect("a link");
    let bot_file = folder.path("mouse/bot.toml");
    fs::rename(&bot_file, folder.path("mouse/other.toml")).expect("a file");
    symlink(&key, &bot_file).expect("a link");
    let refused = save().with_code(2);
    assert!(!refused.stderr.contains("the key"), "{refused:?}");
    // A link within the directory stays one.
    fs::remove_file(&bot_file).expect("a link");
    symlink("other.toml", &bot_file).expect("a link");
    fs::create_dir(folder.path("mouse/lib")).expect("a directory");
    folder.write("mouse/lib/data", "1");
    symlink("lib", folder.path("mouse/lib64")).expect("a link");
    save().done();
    let listed = Command::new("tar").args(["-tvf", &archive]).output().expect("it runs");
    let listed = String::from_utf8(listed.stdout).expect("UTF-8");
    assert!(listed.contains("lib64 -> lib") && listed.contains("bot.toml -> other.toml"), "{listed}");
}

#[test]
fn what_an_archive_leaves_out_is_said() {
    let folder = Folder::new();
    let directory = bot(&folder, "mouse", "mouse", BUILD);
    for name in [".cargo", "target", ".git", "__pycache__"] {
        fs::create_dir(folder.path(&format!("mouse/{name}"))).expect("a directory");
        folder.write(&format!("mouse/{name}/x"), "");
    }
    let says = "left out: .cargo, target; `files` in bot.toml names what the bot needs of them";
    referee(["submit", "--save", &folder.text("mouse.tar"), &directory]).with_code(0).says(&[says]);
    folder.write("mouse/build.py", "raise SystemExit('no book')");
    check_at_home(&directory).with_code(1).says(&[says]);
}

#[test]
fn a_script_with_windows_line_endings_is_named_in_strict() {
    let folder = Folder::new();
    let directory = bot(&folder, "mouse", "mouse", BUILD);
    let script = |name: &str| {
        let path = folder.write(&format!("mouse/{name}"), "#!/bin/sh\r\nexit 1\r\n");
        fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("a file");
    };
    script("run.sh");
    let says = |name: &str| format!("the script `./{name}` has a Windows line ending in its first line");
    folder.write("mouse/bot.toml", "name = 'mouse'\ncommand = './run.sh'\n");
    check_at_home(&directory).with_code(5).says(&[&says("run.sh")]);
    folder.write("mouse/bot.toml", "name = 'mouse'\ncommand = './run.sh'\nbuild = './run.sh'\n");
    check_at_home(&directory).with_code(1).says(&["bot.toml: build: ", &says("run.sh")]);
}
