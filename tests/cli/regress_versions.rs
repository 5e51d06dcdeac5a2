//! The two versions of `referee regress`: their directories, their files and their commits.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::common::{Ended, Folder, SEED, referee};
use serde_json::json;

const PASSED: i32 = 0;
const FAILED: i32 = 1;
const USAGE: i32 = 2;
const UNDECIDED: i32 = 3;

/// Runs the referee in a folder.
fn referee_in(folder: &Folder, args: &[&str]) -> Ended {
    let mut command = Command::new(env!("CARGO_BIN_EXE_referee"));
    let output = command.args(args).current_dir(folder.path("")).output().expect("the referee starts");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    Ended { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

/// Two checkouts with the same program, which reads the number of its move from a file beside it by a relative path.
fn checkouts() -> Folder {
    let folder = Folder::new();
    for (version, number) in [("new", "-1"), ("base", "0")] {
        fs::create_dir(folder.path(version)).expect("a folder");
        fs::copy(folder.path("testbot.py"), folder.path(version).join("testbot.py")).expect("a file");
        let script =
            "number = int(open('weights.txt').read())\nplay(turn=lambda t: move(t, t['legal'][number]))";
        folder.bot(&format!("{version}/bot"), script);
        folder.write(&format!("{version}/weights.txt"), number);
    }
    folder
}

#[test]
fn each_version_reads_the_files_of_its_own_directory() {
    let folder = checkouts();
    let versions = ["--new-dir", "new", "--base-dir", "base"];
    let bots = ["regress", "checkers", "--new", "python3 bot.py", "--base", "python3 bot.py"];
    let terms = ["--fixed", "2", "--set", "turn_limit=20"];
    let args = [&bots[..], &terms, &versions].concat();
    let verdict = referee_in(&folder, &[&args[..], &["--json"]].concat()).with_code(PASSED).one("verdict");
    assert_eq!([&verdict["counted"], &verdict["alike"]], [&json!(2), &json!(0)], "{verdict}");
    assert_eq!(
        [&verdict["new"]["directory"], &verdict["base"]["directory"]],
        [&json!("new"), &json!("base")]
    );
    // The programs are the same, which is a mistake unless files beside them differ.
    let text = referee_in(&folder, &args).with_code(PASSED).stdout;
    assert!(text.contains("new                        python3 bot.py in new\n"), "{text}");
    assert!(text.contains("\nwarning                    both have the same program files: "), "{text}");

    // From the directory of the new version, the base reads the files of the new version.
    let one = ["--new", "python3 new/bot.py", "--base", "python3 base/bot.py", "--new-dir", "."];
    let args = [&["regress", "checkers"][..], &one, &terms].concat();
    fs::copy(folder.path("new/weights.txt"), folder.path("weights.txt")).expect("a file");
    let text = referee_in(&folder, &args).with_code(PASSED).stdout;
    assert!(text.contains("played alike               2 of 2 sets that count"), "{text}");
    assert!(text.contains("\nwarning  "), "{text}");
    // The same command in the same directory is a mistake, too.
    let args =
        [&["regress", "checkers", "--new", "python3 new/bot.py", "--base", "python3 new/bot.py"], &terms[..]];
    let text = referee_in(&folder, &args.concat()).with_code(PASSED).stdout;
    let warning =
        "\nwarning                    both are the same command in the same directory: --base-dir names";
    assert!(text.contains(warning), "{text}");
}

#[test]
fn a_version_with_the_same_files_passes_at_once() {
    let folder = checkouts();
    let bots = ["regress", "checkers", "--new", "python3 bot.py", "--base", "python3 bot.py"];
    let versions =
        ["--new-dir", "new", "--base-dir", "base", "--set", "turn_limit=20", "--max-sets", "1", "--json"];
    let run = |more: &[&str]| referee_in(&folder, &[&bots[..], &versions, more].concat());
    // A file beside the program makes a difference.
    assert_eq!(run(&[]).with_code(UNDECIDED).one("verdict")["sets"], 1);
    folder.write("new/weights.txt", "0");
    folder.write("new/README.md", "Another documentation.\n");
    let junit = folder.text("junit.xml");
    let passed = run(&["--junit", &junit, "--results", "results"]).with_code(PASSED);
    let verdict = passed.one("verdict");
    assert_eq!([&verdict["verdict"], &verdict["sets"]], [&json!("passed"), &json!(0)]);
    let why = "nothing to play: both versions have the same command, program, scripts and other files";
    assert_eq!(verdict["reason"], why);
    assert!(folder.read("junit.xml").contains("failures=\"0\""));
    assert!(passed.all("match").is_empty());
    let merged = referee(["regress", "merge", "--json", &folder.text("results")]).with_code(PASSED);
    assert_eq!(merged.one("verdict")["reason"], why);
    // Other arguments are another version; a measurement plays in any case.
    let other = [&bots[..5], &["python3 bot.py -v"], &versions].concat();
    assert_eq!(referee_in(&folder, &other).with_code(UNDECIDED).one("verdict")["sets"], 1);
    let measured = [&bots[..], &versions[..6], &["--fixed", "1", "--json"]].concat();
    assert_eq!(referee_in(&folder, &measured).with_code(PASSED).one("verdict")["sets"], 1);
    // The message names the file that identifies a version.
    folder.write("new/notes", "x");
    assert_eq!(run(&[]).with_code(UNDECIDED).one("verdict")["sets"], 1);
    let named = ["--new-files", "weights.txt", "--base-files", "weights.txt"];
    assert_eq!(run(&named).with_code(PASSED).one("verdict")["reason"], why);
    run(&["--new-files", "missing"])
        .with_code(USAGE)
        .says(&["--new-files missing: expected a file, or a directory"]);
}

#[test]
fn a_module_that_has_changed_is_another_version() {
    let folder = checkouts();
    let bots = ["regress", "checkers", "--new", "python3 bot.py", "--base", "python3 bot.py"];
    let versions =
        ["--new-dir", "new", "--base-dir", "base", "--set", "turn_limit=20", "--elo0", "-1", "--json"];
    let run = |file: &str, sets: &str, more: &[&str]| {
        let kept = ["--results", file, "--max-sets", sets, "--seed", SEED];
        referee_in(&folder, &[&bots[..], &versions, &kept, more].concat())
    };
    // In a checkout, the commit tells.
    let first = commit(&folder.path("new"));
    let refused = |what: &str| {
        run("results", "3", &["--resume"]).with_code(USAGE).says(&[
            "--resume: `new` has changed: ",
            what,
            "--accept-changed",
        ]);
    };
    run("results", "1", &[]).with_code(UNDECIDED);
    folder.write("new/weights.txt", "-1 ");
    refused(&format!("its commit is {first}-dirty, was {first}"));
    let second = commit(&folder.path("new"));
    refused(&format!("its commit is {second}, was {first}"));
    let resumed = run("results", "3", &["--resume", "--accept-changed"]).with_code(UNDECIDED).one("verdict");
    assert_eq!(resumed["versions"]["new"], json!({ first.as_str(): 1, second.as_str(): 2 }), "{resumed}");
    assert_eq!(resumed["changed"], json!(["new"]));
    let lines = folder.read("results");
    let played: Vec<bool> = lines
        .lines()
        .filter(|line| line.contains("\"type\":\"set\""))
        .map(|line| line.contains(&first))
        .collect();
    assert_eq!(played, [true, false, false]);
    let text = referee(["regress", "merge", &folder.text("results")]).with_code(UNDECIDED).stdout;
    let mut both = [format!("{first}: 1 set"), format!("{second}: 2 sets")];
    both.sort();
    assert!(text.contains(&format!("versions of new            {}\n", both.join(", "))), "{text}");
    // Changes on top of the same commit differ, too.
    folder.write("new/weights.txt", " -1");
    run("dirty", "1", &[]).with_code(UNDECIDED);
    folder.write("new/weights.txt", " -1 ");
    run("dirty", "2", &["--resume"]).with_code(USAGE).says(&["files of its checkout", "are others"]);

    // Elsewhere, named files do.
    let named = ["--base-files", "weights.txt"];
    run("named", "1", &named).with_code(UNDECIDED);
    folder.write("base/weights.txt", "0 ");
    let what = "`base` has changed: SHA-256 of weights.txt is ";
    run("named", "2", &[&named[..], &["--resume"]].concat()).with_code(USAGE).says(&[what]);
}

#[test]
fn results_named_as_arguments_do_not_identify_versions() {
    let folder = Folder::new();
    let [new, base] = [("new", "play()"), ("base", "play()  # base")]
        .map(|(name, script)| folder.bot(name, script) + " 1 2");
    let play = |shard: &str, results: &str, more: &[&str]| {
        let bots = ["regress", "checkers", "--new", &new, "--base", &base, "--set", "turn_limit=20"];
        let of_shard = ["--shard", shard, "--results", results, "--max-sets", "4", "--seed", SEED];
        referee_in(&folder, &[&bots[..], &of_shard, more].concat()).done()
    };
    play("1/2", "1", &[]);
    play("2/2", "2", &[]);
    play("1/2", "1", &["--resume"]);
    let shards = ["1", "2"].map(|name| folder.text(name));
    let merged = referee(["regress", "merge", &shards[0], &shards[1]]).with_code(UNDECIDED).stdout;
    assert!(merged.contains("4 of at most 4"), "{merged}");
}

#[test]
fn shards_in_other_directories_with_the_same_files_merge() {
    let folder = checkouts();
    let merge = ["regress", "merge", &folder.text("1"), &folder.text("2")].map(str::to_owned);
    for number in ["1", "2"] {
        let place = folder.path(&format!("machine{number}"));
        fs::create_dir(&place).expect("a directory");
        for version in ["new", "base"] {
            let to = place.join(version);
            fs::create_dir(&to).expect("a directory");
            for file in ["testbot.py", "bot.py", "weights.txt"] {
                fs::copy(folder.path(version).join(file), to.join(file)).expect("a file");
            }
        }
        let [new, base] = ["new", "base"]
            .map(|version| format!("python3 {}", place.join(version).join("bot.py").display()));
        let [new_dir, base_dir] = ["new", "base"].map(|version| place.join(version).display().to_string());
        let (shard, results) = (format!("{number}/2"), folder.text(number));
        let versions = ["--new", &new, "--base", &base, "--new-dir", &new_dir, "--base-dir", &base_dir];
        let terms = [
            "--shard",
            &shard,
            "--results",
            &results,
            "--max-sets",
            "2",
            "--seed",
            SEED,
            "--set",
            "turn_limit=20",
        ];
        referee([&["regress", "checkers"][..], &versions, &terms].concat()).done();
    }
    let merged = referee(merge.iter().map(String::as_str)).with_code(UNDECIDED).stdout;
    assert!(merged.contains("2 of at most 2"), "{merged}");
}

#[test]
fn a_checkout_of_another_user_keeps_its_commit() {
    let folder = checkouts();
    let new = commit(&folder.path("new"));
    let args =
        ["regress", "checkers", "--new", "python3 bot.py", "--base", "python3 bot.py", "--new-dir", "new"];
    let more = ["--base-dir", "base", "--fixed", "1", "--set", "turn_limit=20"];
    let mut command = Command::new(env!("CARGO_BIN_EXE_referee"));
    command.args(args).args(more).current_dir(folder.path("")).env("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1");
    let text = String::from_utf8(command.output().expect("the referee starts").stdout).expect("UTF-8");
    assert!(text.contains(&format!("python3 bot.py in new, commit {new}-unchecked\n")), "{text}");
}

#[test]
fn play_runs_each_bot_in_the_directory_given() {
    let folder = checkouts();
    let args = ["play", "checkers", "python3 bot.py", "python3 bot.py", "--dir", "new", "--dir", "base"];
    referee_in(&folder, &[&args[..], &["--set", "turn_limit=20", "--strict"]].concat()).done();
    referee_in(&folder, &args[..6])
        .with_code(USAGE)
        .says(&["--dir: 1 given for 2 bots", "expected one for each"]);
    let connects = ["play", "checkers", "tcp:a", "python3 bot.py", "--dir", "new", "--dir", "base"];
    referee_in(&folder, &connects).with_code(USAGE).says(&["--dir: 2 given for 1 bot"]);
    let missing =
        ["play", "checkers", "python3 bot.py", "python3 bot.py", "--dir", "new", "--dir", "missing"];
    referee_in(&folder, &missing).with_code(5).says(&["there is no folder missing"]);
}

/// A comparison with a results file of two bots that play differently, of two sets by default.
struct Run {
    folder: Folder,
    args: Vec<String>,
}

impl Run {
    fn new() -> Run {
        let folder = Folder::new();
        let new = folder.bot("new", "play(turn=lambda t: move(t, t['legal'][-1]))");
        let base = folder.plain_bot("base");
        let args = ["regress", "checkers", "--new", &new, "--base", &base, "--seed", SEED, "--json"];
        let terms = ["--set", "turn_limit=20", "--elo0", "-1"];
        let args = args.into_iter().chain(terms).map(str::to_owned).collect();
        Run { folder, args }
    }

    fn run(&self, more: &[&str]) -> Ended {
        referee(self.args.iter().map(String::as_str).chain(more.iter().copied()))
    }

    /// Plays up to this number of sets with the results file of this name, or continues it.
    fn play(&self, file: &str, max_sets: &str, more: &[&str]) -> Ended {
        let file = self.folder.text(file);
        self.run(&[&["--results", &file, "--max-sets", max_sets], more].concat())
    }

    /// Changes the program of the new version, but not its moves.
    fn change(&self) {
        let script = self.folder.read("new.py") + "# changed\n";
        self.folder.write("new.py", script);
    }
}

const CHANGED: &str = "; the program of `new` changed during the run (--accept-changed)";

#[test]
fn resume_rejects_a_changed_program_unless_it_is_accepted() {
    let run = Run::new();
    let first = run.play("results", "2", &[]).with_code(UNDECIDED).one("verdict");
    let hash = &first["new"]["files"][run.folder.text("new.py")];
    assert_eq!(hash.as_str().map(str::len), Some(64), "{first}");
    run.change();
    let refused = run.play("results", "3", &["--resume"]).with_code(USAGE);
    refused.says(&["--resume: `new` has changed: SHA-256 of ", "new.py is ", ", was ", "--accept-changed"]);
    let resumed = run.play("results", "3", &["--resume", "--accept-changed"]).with_code(UNDECIDED);
    assert_eq!(resumed.all("set").len(), 1);
    let verdict = resumed.one("verdict");
    assert!(verdict["reason"].as_str().is_some_and(|reason| reason.ends_with(CHANGED)), "{verdict}");
    assert_eq!(verdict["changed"], json!(["new"]));
    // The accepted program is now that of the run, and every later verdict says so.
    let again = run.play("results", "4", &["--resume"]).with_code(UNDECIDED);
    assert_eq!(again.one("verdict")["changed"], json!(["new"]));
    let merged = referee(["regress", "merge", "--json", &run.folder.text("results")]).with_code(UNDECIDED);
    assert_eq!(merged.judged(), again.judged());
}

#[test]
fn resume_continues_up_to_a_larger_maximum() {
    let run = Run::new();
    let whole = run.run(&["--max-sets", "4"]).with_code(UNDECIDED);
    run.play("results", "2", &["--max-time", "1h"]).with_code(UNDECIDED);
    let resumed = run.play("results", "4", &["--resume", "--max-time", "2h"]);
    assert_eq!(resumed.all("set").len(), 2);
    assert_eq!(resumed.judged(), whole.judged());
    run.play("results", "3", &["--resume"])
        .with_code(USAGE)
        .says(&["--resume: this run has max_sets 3, not 4"]);
}

#[test]
fn merge_rejects_shards_of_different_programs_unless_they_are_accepted() {
    let run = Run::new();
    for shard in ["1/2", "2/2"] {
        run.play(&shard[..1], "4", &["--shard", shard]).done();
        run.change();
    }
    let files = ["1", "2"].map(|name| run.folder.text(name));
    let merge = ["regress", "merge", "--json", &files[0], &files[1]];
    let refused = referee(merge).with_code(USAGE);
    refused.says(&[" are of different programs: `new` has changed: ", "--accept-changed merges them"]);
    let verdict = referee([&merge[..], &["--accept-changed"]].concat()).with_code(UNDECIDED).one("verdict");
    assert!(verdict["reason"].as_str().is_some_and(|reason| reason.ends_with(CHANGED)), "{verdict}");
}

/// Makes a commit of all files of a directory.
fn commit(directory: &Path) -> String {
    let git = |args: &[&str]| {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=a", "-c", "user.email=a@b"]).args(args).current_dir(directory);
        let output = git.env("GIT_CONFIG_GLOBAL", "/dev/null").output().expect("git starts");
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).expect("UTF-8").trim().to_owned()
    };
    git(&["init", "-q"]);
    git(&["add", "."]);
    git(&["commit", "-qm", "one", "--allow-empty"]);
    git(&["rev-parse", "--short=12", "HEAD"])
}

#[test]
fn report_names_commits_clock_and_record_of_crash() {
    let folder = checkouts();
    // The base runs in the current directory.
    folder.write("weights.txt", "0");
    let base = commit(&folder.path("base"));
    let new = commit(&folder.path("new"));
    folder.bot("new/bot", "play(turn=lambda _: os._exit(7))");
    let args = ["regress", "checkers", "--new-dir", "new", "--new", "python3 bot.py", "--base"];
    let more = ["python3 base/bot.py", "--clock", "delay=90s,bank=500ms", "--record", "records"];
    let text = referee_in(&folder, &[&args[..], &more].concat()).with_code(FAILED).stdout;
    let row = |name: &str| {
        let found = text.lines().find_map(|line| line.strip_prefix(name));
        found.unwrap_or_else(|| panic!("{name} is not in {text}")).trim().to_owned()
    };
    assert!(row("new ").ends_with(&format!("python3 bot.py in new, commit {new}-dirty")), "{text}");
    assert!(row("base ").ends_with(&format!("python3 base/bot.py, commit {base}")), "{text}");
    assert_eq!(row("clock "), "delay=1m30s,bank=500ms");
    assert!(row("duration ").ends_with('s'), "{text}");
    assert_eq!(row("referee "), env!("CARGO_PKG_VERSION"));
    assert_eq!(row("record of the crash "), "records/m1.jsonl");
    referee_in(&folder, &["show", "records/m1.jsonl"]).done();
}
