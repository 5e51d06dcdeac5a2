//! The browser, which `tests/run` installs together with its driver.

use std::path::Path;
use std::process::Command;

use super::ROOT;

pub(crate) fn path() -> String {
    // The first one is the browser without windows, which takes half of the CPU time.
    let names = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"];
    let paths = names.map(|name| format!("/usr/bin/{name}"));
    let found = paths.into_iter().find(|path| Path::new(path).exists());
    found.expect("there is no chromium: tests/run installs it")
}

/// Runs a script of tests/browser.
pub(crate) fn run(script: &str, args: &[&str]) {
    let directory = format!("{ROOT}/tests/browser");
    let is_installed = Path::new(&directory).join("node_modules").exists();
    assert!(is_installed, "tests/browser/node_modules is missing: tests/run installs it");
    let script = format!("{directory}/{script}");
    let output = Command::new("node").args([&script, &path()]).args(args).output().expect("node starts");
    print!("{}", String::from_utf8_lossy(&output.stdout));
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
}
