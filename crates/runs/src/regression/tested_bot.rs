//! A bot under test.

use std::path::Path;
use std::process::{Command, Stdio};

use referee_engine::sources::Source;
use referee_report::TestedBot;

/// Identifies a bot by its files and, in a checkout, by its commit.
pub fn tested_bot(bot: &dyn Source) -> TestedBot {
    let command = bot.command();
    TestedBot {
        command: bot.to_string(),
        directory: command.and_then(|command| command.directory.clone()),
        commit: command.and_then(|command| commit(&command.home())),
        files: bot.fingerprints().into_iter().collect(),
    }
}

/// The commit that git has checked out in a directory, with `-dirty` if tracked files differ from it; `None` without git
/// or outside a checkout.
fn commit(directory: &Path) -> Option<String> {
    let mut git = Command::new("git");
    git.arg("--no-optional-locks").arg("-C").arg(directory);
    // Every tag is excluded, which leaves the hash.
    git.args(["describe", "--always", "--dirty", "--exclude", "*", "--abbrev=12"]);
    // A hook of git sets these for its own repository.
    for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR"] {
        git.env_remove(name);
    }
    let output = git.stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    let commit = String::from_utf8(output.stdout).ok()?;
    let commit = commit.trim();
    (output.status.success() && !commit.is_empty()).then(|| commit.to_owned())
}
