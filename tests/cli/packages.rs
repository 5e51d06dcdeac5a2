//! The packages that packaging/build makes: each is installed in an environment of its own and plays a match.

use std::path::Path;
use std::process::{Command, Output};

use crate::common::{Folder, ROOT};

const PACKAGES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/target/packages");

/// The script that builds packages, with the programs that it needs.
fn script() -> Command {
    let python = format!("{ROOT}/target/python/bin");
    assert!(std::fs::exists(format!("{python}/maturin")).unwrap_or(false), "tests/run installs maturin");
    let path = format!("{python}:{}", std::env::var("PATH").expect("a path"));
    let mut script = Command::new(format!("{ROOT}/packaging/build"));
    script.env("PATH", path);
    script
}

/// Builds packages into `PACKAGES`.
fn build(packages: &[&str]) {
    let mut build = script();
    build.args(["--program", env!("CARGO_BIN_EXE_referee")]).args(packages);
    // Cargo sets these for the test, and dependencies that read them would be built again.
    let set = |name: &str| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_");
    for (name, _) in std::env::vars().filter(|(name, _)| set(name)) {
        build.env_remove(name);
    }
    done(build.output().expect("it starts"));
}

/// The output of a program that succeeds.
fn done(output: Output) -> String {
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    text
}

fn run(program: &str, args: &[&str], folder: &Folder) -> String {
    done(Command::new(program).args(args).current_dir(folder.text("")).output().expect("it starts"))
}

/// The package whose name begins and ends like this.
fn package(start: &str, end: &str) -> String {
    let entries = std::fs::read_dir(PACKAGES).expect("a directory");
    let names = entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("a name"));
    let found: Vec<String> = names.filter(|name| name.starts_with(start) && name.ends_with(end)).collect();
    assert_eq!(found.len(), 1, "{start}*{end}: {found:?}");
    format!("{PACKAGES}/{}", found[0])
}

/// The program plays a match of its own bot against another, which needs no file of this repository.
fn assert_plays(program: &str, bot: &str, folder: &Folder) {
    assert_eq!(run(program, &["--version"], folder).trim(), concat!("referee ", env!("CARGO_PKG_VERSION")));
    let output = run(program, &["play", "checkers", bot, bot, "-n", "2", "--strict"], folder);
    assert!(output.contains("run seed"), "{output}");
}

/// Runs the commands of a package's README, with the programs of this directory before others.
fn run_readme(page: &str, folder: &Folder, programs: &str) {
    let text = std::fs::read_to_string(format!("{ROOT}/{page}")).expect("a page");
    let script: String =
        text.split("```sh\n").skip(1).filter_map(|rest| rest.split_once("```")).map(|it| it.0).collect();
    assert!(script.contains("referee init") && script.contains("referee play"), "{script}");
    let path = format!("{programs}:{}", std::env::var("PATH").expect("a path"));
    let mut shell = Command::new("sh");
    shell.args(["-eu", "-c", &script]).env("PATH", path).current_dir(folder.path(""));
    let output = done(shell.output().expect("it starts"));
    assert!(output.contains("\nm1: "), "{output}");
}

/// A bot with the SDK for Python.
const IN_PYTHON: &str = "from referee_bot import run\nrun(lambda turn: turn.legal[0], name='first')\n";

/// Installs wheels into a Python of their own, with these options of pip. Returns its path.
fn environment(folder: &Folder, options: &[&str], wheels: &[String]) -> String {
    // Without a pip of its own, which takes most of the time.
    run("python3", &["-m", "venv", "--without-pip", "env"], folder);
    let (pip, python) = (format!("{ROOT}/target/python/bin/python"), folder.text("env/bin/python"));
    let install = ["-m", "pip", "--python", &python, "install", "--quiet", "--no-index"];
    let wheels: Vec<&str> = wheels.iter().map(String::as_str).collect();
    run(&pip, &[&install, options, &wheels].concat(), folder);
    python
}

/// The command line of a bot in a Python of its own with these wheels.
fn installed(folder: &Folder, wheels: &[String]) -> String {
    format!("'{}' '{}'", environment(folder, &[], wheels), folder.write("bot.py", IN_PYTHON))
}

#[test]
#[ignore = "builds the extension module, and packs programs of 100 MB"]
fn every_package_is_installed_and_plays() {
    build(&["tarball", "wheel", "sdk-wheel", "native-wheel", "npm", "deb", "crates"]);
    the_wheel_of_the_sdk_plays();
    the_native_wheel_opens_matches();
    the_wheel_of_the_program_gives_the_command();
    npm_packages_give_the_command_and_the_sdk();
    the_debian_package_and_the_tarball_have_what_a_system_expects();
    every_package_contains_the_licences();
    the_image_is_linted_where_it_cannot_be_built();
}

#[test]
fn the_package_of_the_sdk_is_installed_and_plays() {
    build(&["sdk-wheel"]);
    the_wheel_of_the_sdk_plays();
}

fn the_wheel_of_the_sdk_plays() {
    let folder = Folder::new();
    let bot = installed(&folder, &[package("referee_bot-", ".whl")]);
    assert_plays(env!("CARGO_BIN_EXE_referee"), &bot, &folder);
    run(&folder.text("env/bin/python"), &["-c", "from referee_game import Game, run"], &folder);
}

fn the_native_wheel_opens_matches() {
    let folder = Folder::new();
    // Only its batches need NumPy.
    let python = environment(&folder, &["--no-deps"], &[package("referee_bot_native-", ".whl")]);
    let open = r#"{"type":"open","game":"jeex","seed":"SEED","deal":"e0","auto_ready":true}"#;
    let open = open.replace("SEED", &"0".repeat(64));
    let code = format!("import referee_bot_native\nprint(referee_bot_native.Referee().handle(b'{open}'))");
    let said = run(&python, &["-c", &code], &folder);
    assert!(said.contains("place a1 N"), "{said}");
}

fn the_wheel_of_the_program_gives_the_command() {
    let folder = Folder::new();
    let bot = installed(&folder, &[package("referee-", ".whl"), package("referee_bot-", ".whl")]);
    assert_plays(&folder.text("env/bin/referee"), &bot, &folder);
    run_readme("packaging/python/README.md", &folder, &folder.text("env/bin"));
}

fn npm_packages_give_the_command_and_the_sdk() {
    let folder = Folder::new();
    folder.write("package.json", "{\"private\": true, \"type\": \"module\"}");
    let packages = [
        package("referee-cli-0", ".tgz"),
        package("referee-cli-linux-", ".tgz"),
        package("referee-bot-", ".tgz"),
    ];
    // The packages of other platforms are not published yet.
    let mut args = vec!["install", "--offline", "--no-audit", "--no-fund", "--omit=optional"];
    args.extend(packages.iter().map(String::as_str));
    run("npm", &args, &folder);
    let bot = "import { run } from 'referee-bot';\nawait run((turn) => turn.legal[0], { name: 'first' });\n";
    let bot = format!("node '{}'", folder.write("bot.js", bot));
    run("node", &["--input-type=module", "--eval", "import { run } from 'referee-bot/game';"], &folder);
    let program = folder.text("node_modules/.bin/referee");
    assert_plays(&program, &bot, &folder);
    run_readme("packaging/npm/referee/README.md", &folder, "/usr/bin");
    let wrong = Command::new(&program).arg("nonsense").output().expect("it starts");
    assert_eq!(wrong.status.code(), Some(2), "{wrong:?}");
    std::fs::remove_dir_all(folder.path(&format!("node_modules/{}", platform()))).expect("the program");
    let missing = Command::new(&program).output().expect("it starts");
    let text = String::from_utf8_lossy(&missing.stderr);
    assert!(text.contains(&format!("the package {} is missing", platform())), "{text}");
}

fn platform() -> String {
    let name = package("referee-cli-linux-", ".tgz");
    let name = Path::new(&name).file_name().and_then(|name| name.to_str()).expect("a name");
    name.split_once(concat!("-", env!("CARGO_PKG_VERSION"))).expect("a version").0.to_owned()
}

fn the_debian_package_and_the_tarball_have_what_a_system_expects() {
    let folder = Folder::new();
    let bot = format!("python3 '{ROOT}/bots/python/random_bot.py'");
    run("dpkg-deb", &["--extract", &package("referee_", ".deb"), &folder.text("deb")], &folder);
    run("tar", &["--extract", "--file", &package("referee-", "-linux.tar.gz")], &folder);
    let tree = format!("referee-{}-{}-linux", env!("CARGO_PKG_VERSION"), std::env::consts::ARCH);
    for usr in ["deb/usr", &tree] {
        assert_plays(&folder.text(&format!("{usr}/bin/referee")), &bot, &folder);
        for file in [
            "share/man/man1/referee-play.1.gz",
            "share/bash-completion/completions/referee",
            "share/zsh/site-functions/_referee",
            "share/fish/vendor_completions.d/referee.fish",
            "share/doc/referee/LICENSE-MIT",
        ] {
            let size = std::fs::metadata(folder.path(&format!("{usr}/{file}"))).map_or(0, |file| file.len());
            assert!(size > 200, "{usr}/{file}: {size} bytes");
        }
    }
    let unit =
        std::fs::read_to_string(folder.path("deb/usr/lib/systemd/system/referee.service")).expect("a unit");
    assert!(unit.contains("Type=notify"), "{unit}");
    let info = run("dpkg-deb", &["--field", &package("referee_", ".deb"), "Version", "Recommends"], &folder);
    assert_eq!(info, concat!("Version: ", env!("CARGO_PKG_VERSION"), "\nRecommends: bubblewrap\n"));
    let sums = std::fs::read_to_string(format!("{PACKAGES}/SHA256SUMS")).expect("sums");
    assert!(sums.lines().count() >= 6 && sums.contains("-linux.tar.gz"), "{sums}");
}

fn the_image_is_linted_where_it_cannot_be_built() {
    // No builder answers at these addresses.
    let mut build = script();
    build.arg("image").env("DOCKER_HOST", "unix:///nowhere").env("CONTAINER_HOST", "unix:///nowhere");
    let said = done(build.output().expect("it starts"));
    assert!(said.contains("packaging/Dockerfile is linted, no image is built"), "{said}");
}

#[test]
fn an_unknown_package_is_an_error_that_lists_them() {
    let wrong = Command::new(format!("{ROOT}/packaging/build")).arg("rpm").output().expect("it starts");
    let text = String::from_utf8_lossy(&wrong.stderr);
    assert!(
        text.contains("unknown package `rpm`; available: tarball, wheel, sdk-wheel, native-wheel"),
        "{text}"
    );
    assert_eq!(wrong.status.code(), Some(2));
}

fn every_package_contains_the_licences() {
    let listed = |package: &str| match package.ends_with(".whl") {
        true => Command::new("python3").args(["-m", "zipfile", "-l", package]).output(),
        false => Command::new("tar").args(["-tzf", package]).output(),
    };
    for (start, end) in [
        ("referee-", ".whl"),
        ("referee_bot-", ".whl"),
        ("referee_bot_native-", ".whl"),
        ("referee-cli-0", ".tgz"),
        ("referee-cli-linux-", ".tgz"),
        ("referee-bot-", ".tgz"),
    ] {
        let files = done(listed(&package(start, end)).expect("it starts"));
        for licence in ["LICENSE-APACHE", "LICENSE-MIT"] {
            assert!(files.contains(licence), "{start}*{end} lacks {licence}: {files}");
        }
    }
    for licence in ["LICENSE-APACHE", "LICENSE-MIT"] {
        let text = |folder: &str| std::fs::read(format!("{ROOT}/{folder}/{licence}")).expect("a text");
        for folder in ["bots/python", "bots/python/native", "bots/javascript"] {
            assert!(text(folder) == text("."), "{folder}/{licence} differs");
        }
    }
}

#[test]
fn every_package_has_the_version_of_the_program() {
    for (file, line) in [
        ("bots/python/pyproject.toml", "version = \"VERSION\""),
        ("bots/python/pyproject.toml", "referee-bot-native==VERSION"),
        ("bots/python/native/Cargo.toml", "version = \"VERSION\""),
        ("bots/javascript/package.json", "\"version\": \"VERSION\""),
        ("bots/java/pom.xml", "<version>VERSION</version>"),
        ("Cargo.toml", "referee-protocol = { path = \"protocol\", version = \"VERSION\" }"),
    ] {
        let text = std::fs::read_to_string(format!("{ROOT}/{file}")).expect("a text");
        let line = line.replace("VERSION", env!("CARGO_PKG_VERSION"));
        assert!(text.contains(&line), "{file} lacks {line}");
    }
}

#[test]
fn c_library_is_installed_for_prefix_of_installation() {
    let folder = Folder::new();
    let (build, prefix) = (folder.text("build"), folder.text("prefix"));
    let make = |args: &[&str]| {
        let common = ["-C", &format!("{ROOT}/bots/c"), &format!("BUILD={build}"), "CFLAGS=-O0"];
        let made = Command::new("make").args(common).args(args).output().expect("make");
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    };
    // Without the prefix first, as in `make && make install PREFIX=...`.
    make(&[]);
    make(&["install", &format!("PREFIX={prefix}")]);
    let pc = folder.read("prefix/lib/pkgconfig/refereebot.pc");
    assert!(pc.starts_with(&format!("prefix={prefix}\n")), "{pc}");
    assert!(folder.path("prefix/lib/librefereebot.a").exists());
}
