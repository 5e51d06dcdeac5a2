//! Attacks of bots on their opponents and on the machine, in every sandbox.
//!
//! The outcome is the table in bots/hostile/attacks/TABLE.md; `UPDATE=1 cargo test --test cli attacks` updates it.
#![cfg(target_os = "linux")]

mod limited;
mod list;
mod played;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::common::{Folder, WON, referee};
use crate::sandbox::{missing, victim};
use ::referee::bot::sandbox::{Layer, Mode};
use limited::{LIMITED, with_control_groups, write_limited};
use list::{ALWAYS, ATTACKS, source};
pub(crate) use played::{as_user, attacker, shared_program};
use played::{reports, said};

const TABLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/bots/hostile/attacks/TABLE.md");

#[test]
fn each_attack_is_stopped_where_its_layer_is_in_force() {
    let scripts: BTreeSet<&str> = ATTACKS.iter().map(|attack| attack.script).collect();
    let modes = [Mode::Strict, Mode::Basic, Mode::None];
    let plan: Vec<(&str, Mode)> =
        scripts.iter().flat_map(|&script| modes.map(|mode| (script, mode))).collect();
    let missing = missing();
    let (next, all) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    let limited = thread::scope(|scope| {
        let limited = scope.spawn(with_control_groups);
        for _ in 0..3 {
            scope.spawn(|| {
                while let Some(&(script, mode)) = plan.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let reports = reports(script, mode);
                    all.lock().expect("no panic").insert((script, mode), reports);
                }
            });
        }
        limited.join().expect("no panic")
    });
    let all = all.into_inner().expect("no panic");
    let (mut complaints, mut cells) = (Vec::new(), BTreeMap::new());
    for (row, attack) in ATTACKS.iter().enumerate() {
        for mode in modes {
            let reports = &all[&(attack.script, mode)];
            let outcome = reports.get(attack.tried).map_or("no report", String::as_str);
            let layers = match mode {
                Mode::Strict => attack.strict,
                Mode::Basic => attack.basic,
                Mode::None if attack.basic == ALWAYS => ALWAYS,
                Mode::None => &[],
            };
            let is_enforced = layers.iter().any(|layer| !missing.contains(layer));
            if outcome == "no report" || is_enforced && outcome == "done" {
                complaints.push(format!("{}: {} in {mode}: {outcome}", attack.script, attack.tried));
            }
            let cell = match outcome {
                "done" if layers.is_empty() => "succeeds",
                "done" => "not enforced here",
                other => other,
            };
            cells.insert((row, mode.as_str()), cell.to_owned());
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    let kept = fs::read_to_string(TABLE).unwrap_or_default();
    // A short run keeps the second table.
    let second = match limited {
        Some(rows) => write_limited(&rows),
        None => kept.find(LIMITED).map_or_else(String::new, |at| kept[at..].to_owned()),
    };
    let written = write(&cells, &missing) + &second;
    if std::env::var_os("UPDATE").is_some() {
        return fs::write(TABLE, &written).expect("the table can be written");
    }
    // Kernels differ in their error codes, and in the layers that they have.
    let layers = |text: &str| text.lines().find(|line| line.starts_with("Layers")).map(str::to_owned);
    let only_strict = |text: &str| -> Vec<String> {
        text.lines().map(|line| line.split(" | ").take(3).collect::<Vec<_>>().join(" | ")).collect()
    };
    if layers(&kept) == layers(&written) {
        assert_eq!(only_strict(&kept), only_strict(&written), "{TABLE} is stale; UPDATE=1 writes it anew");
    }
}

fn write(cells: &BTreeMap<(usize, &str), String>, missing: &[Layer]) -> String {
    let names = |layers: &[Layer]| {
        let names: Vec<&str> = layers.iter().map(|layer| layer.as_str()).collect();
        if names.is_empty() { "none".to_owned() } else { names.join(", ") }
    };
    let has: Vec<Layer> = Layer::ALL.into_iter().filter(|layer| !missing.contains(layer)).collect();
    let mut text = format!(
        "# What attacks achieve in each sandbox\n\n\
         The test `attacks` generates this page from real matches: each script attacks an honest bot, the referee or the\n\
         machine. Where an attack is stopped, the cell has the error that it got. *not enforced here*: the layer that stops it\n\
         was missing on the machine of the test. Calls that `syscalls` makes have invalid arguments: EBADF, EFAULT, EINVAL, ENOTTY\n\
         and ESRCH say that no sandbox stopped them. `UPDATE=1 cargo test --test cli attacks` updates this page.\n\n\
         Layers: {}. Missing: {}.\n\n| attack | script | strict | basic | none |\n| --- | --- | --- | --- | --- |\n",
        names(&has),
        names(missing)
    );
    for (row, attack) in ATTACKS.iter().enumerate() {
        let [strict, basic, none] = ["strict", "basic", "none"].map(|mode| &cells[&(row, mode)]);
        let (script, target) = source(attack.script);
        text += &format!("| {target}{} | `{script}` | {strict} | {basic} | {none} |\n", attack.tried);
    }
    text
}

/// As the recipe in security.md says: `--sandbox none`, and each bot is started as a user of its own.
#[test]
fn a_user_for_each_bot_separates_bots() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("not tested: only root can change users");
        return;
    }
    for script in ["peer", "files"] {
        let folder = Folder::new();
        fs::set_permissions(folder.path("."), PermissionsExt::from_mode(0o755)).expect("its own folder");
        let victim = victim(&folder);
        let seed = folder.write_secret("seed", "00".repeat(32));
        fs::set_permissions(folder.path("victim"), PermissionsExt::from_mode(0o700)).expect("its own folder");
        for file in ["victim", "victim/victim.py", "victim/testbot.py"] {
            std::os::unix::fs::chown(folder.path(file), Some(61236), None).expect("root may do that");
        }
        let arguments =
            if script == "peer" { vec![victim.clone()] } else { vec![seed.clone(), victim.clone()] };
        let bots = [format!("python3 '{victim}'"), attacker(&folder, script, &arguments)];
        let [victim, attacker] = [(61236, &bots[0]), (61235, &bots[1])]
            .map(|(user, bot)| format!("setpriv --reuid={user} --clear-groups env PATH=/usr/bin {bot}"));
        let records = folder.text("records");
        let args =
            ["play", "checkers", &victim, &attacker, "--set", WON, "--sandbox", "none", "--record", &records];
        referee(args.into_iter().chain(["--seed-file", &seed])).done();
        let reports = said(&folder.record("records/m1.jsonl"), 1);
        let done: Vec<&str> = reports
            .iter()
            .filter(|(_, outcome)| *outcome == "done")
            .map(|(tried, _)| tried.as_str())
            .collect();
        let expected: &[&str] = if script == "peer" { &["read its command line"] } else { &[] };
        assert_eq!(done, expected, "{script}: {reports:?}");
        assert!(reports.len() > 8, "{reports:?}");
    }
}
