//! Attacks on limits of a real tree of control groups, in a guest.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use super::list::ATTACKS;
use super::played::{attacker, said};
use crate::common::{Folder, Referee, WON, the};
use crate::sandbox::victim;
use serde_json::Value;

/// The attacks on resources that control groups limit, with the limits of [`with_control_groups`].
const LIMITED_ATTACKS: [&str; 5] = ["forks", "memory", "memfd", "inodes", "spin"];

/// The memory limit of a bot with this script, in MiB.
fn memory_of(script: &str) -> u32 {
    if script == "inodes" { 32 } else { 64 }
}

/// The heading of the second table.
pub(super) const LIMITED: &str = "\n## With control groups";

/// Plays the attacks in `strict` with control groups, in the kernel of user-mode Linux, which lacks Landlock. None without
/// this kernel and in a short run. Returns attack and outcome.
pub(super) fn with_control_groups() -> Option<Vec<[String; 2]>> {
    std::env::var_os("LONG_TESTS")?;
    if Command::new("linux.uml").arg("--version").output().is_err() {
        eprintln!("not enforced here: there is no user-mode Linux (package user-mode-linux)");
        return None;
    }
    let folder = Folder::new();
    let victim = victim(&folder);
    let mut script = format!(
        "#!/bin/sh
export PATH='{}'
mount -t proc proc /proc && mount -t sysfs sys /sys && mkdir -p /dev/shm && mount -t tmpfs none /dev/shm
mount -t cgroup2 none /sys/fs/cgroup && cd /sys/fs/cgroup || exit
echo '+memory +pids +cpu' >cgroup.subtree_control
",
        std::env::var("PATH").expect("a path")
    );
    for name in LIMITED_ATTACKS {
        let attacker = attacker(&folder, name, &[]).replace('\'', "");
        let (records, output) = (folder.text(name), folder.text("output"));
        let cpus = if name == "spin" { "--sandbox-cpus 0.1" } else { "" };
        let memory = memory_of(name);
        // Each run has a delegated group.
        script += &format!(
            "mkdir {name} && (echo 0 >{name}/cgroup.procs; exec '{}' play checkers \"python3 '{victim}'\" '{attacker}' \
             --set {WON} --json --record '{records}' --sandbox strict --sandbox-allow-missing landlock --hello-limit 60s \
             --sandbox-memory {memory}MiB --sandbox-processes 64 {cpus} >>'{output}' 2>&1)\n",
            env!("CARGO_BIN_EXE_referee"),
        );
    }
    // No group of a bot may be left. The last line ends the kernel.
    script += &format!("find . -name 'referee-*-bot-*' >'{}'\n", folder.text("groups"));
    script += "[ $$ = 1 ] && exec python3 -c 'import ctypes; ctypes.CDLL(None).reboot(0x4321fedc)'\n";
    let init = folder.write("init", &script);
    fs::set_permissions(&init, PermissionsExt::from_mode(0o755)).expect("its own file");
    let mut kernel = Command::new("linux.uml");
    kernel.args(["rootfstype=hostfs", "rootflags=/", "root=/dev/root", "rw", "mem=1G", "quiet"]);
    kernel.args(["con=null", "con0=fd:0,fd:1", &format!("init={init}")]);
    Referee::start_as(kernel.arg(format!("uml_dir={}/", folder.text("uml")))).end();
    let said_all = fs::read_to_string(folder.path("output")).unwrap_or_default();
    assert_eq!(folder.read("groups"), "", "control groups are left: {said_all}");
    let mut rows = Vec::new();
    for name in LIMITED_ATTACKS {
        assert!(folder.path(name).exists(), "{name}: {said_all}");
        let record = folder.record(&format!("{name}/m1.jsonl"));
        let layers = the("record", &record)["seats"][1]["bot"]["sandbox"]["layers"].to_string();
        assert!(layers.contains("cgroup"), "{layers}");
        let faults: Vec<&Value> = record.iter().filter(|line| line["type"] == "fault").collect();
        assert!(faults.iter().all(|fault| fault["seat"] == 1), "{name}: {faults:?}");
        let outcome = match faults.first() {
            Some(fault) => {
                assert_eq!(fault["detail"]["kind"], "memory_limit", "{name}: {fault}");
                let limit = format!("killed by its memory limit of {} MiB", memory_of(name));
                assert!(said_all.contains(&format!("exited: {limit}")), "{said_all}");
                limit
            }
            None => said(&record, 1).into_values().next().unwrap_or_default(),
        };
        assert_ne!(outcome, "done", "{name}");
        let tried = ATTACKS.iter().find(|attack| attack.script == name).expect("an attack").tried;
        rows.push([tried.to_owned(), outcome]);
    }
    Some(rows)
}

pub(super) fn write_limited(rows: &[[String; 2]]) -> String {
    let rows = rows.iter().map(|[tried, outcome]| format!("| {tried} | {outcome} |\n"));
    format!(
        "{LIMITED}\n\nWith few processes and a tenth of a processor, in user-mode Linux, a kernel that runs as a program. `LONG_TESTS=1`\n\
         runs them.\n\n| attack | strict |\n| --- | --- |\n{}",
        rows.collect::<String>()
    )
}
