//! A bot under test.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use referee_engine::sources::Source;
use referee_game::{Wrong, hex};
use referee_program::content;
use referee_report::TestedBot;
use sha2::{Digest, Sha256};

/// Identifies a bot by its files, by those that are named beside them, and in a checkout by its commit.
///
/// # Errors
/// If a named file cannot be read.
pub fn tested_bot(bot: &dyn Source, named: &[PathBuf]) -> Result<TestedBot, Wrong> {
    let command = bot.command();
    let directory = command.and_then(|command| command.directory.clone());
    let within = directory.as_deref().unwrap_or(Path::new(""));
    let mut files: BTreeMap<String, String> = bot.fingerprints().into_iter().collect();
    // An argument such as `1` may be the name of the results of a shard.
    files.retain(|path, _| !is_results_file(&within.join(path)));
    for path in named {
        let found = content(&within.join(path));
        let found = found.ok_or_else(|| {
            Wrong::from(format!(
                "{}: expected a file, or a directory of at most 1,000 files and 256 MiB",
                path.display()
            ))
        })?;
        let key = |inner: &str| path.join(inner).to_string_lossy().trim_end_matches('/').to_owned();
        files.extend(found.into_iter().map(|(inner, hash)| (key(&inner), hash)));
    }
    let (commit, changes) = command.map(|command| commit(&command.home())).unwrap_or_default();
    Ok(TestedBot { command: bot.to_string(), directory, commit, changes, files })
}

/// Returns whether a file is one that regressions write their results to.
fn is_results_file(path: &Path) -> bool {
    let begins = b"{\"type\":\"regress\",";
    let mut read = Vec::new();
    let found = File::open(path).and_then(|file| file.take(begins.len() as u64).read_to_end(&mut read));
    found.is_ok() && read == begins
}

/// Returns whether two bots are the same version, so that no match can tell them apart: the same words and
/// files in the command line, and the same files otherwise. The compared files are the named ones (`are_named`), or all in
/// the directories of the bots. The same command in the same directory is rather a mistake.
pub fn is_same_version(bots: [&dyn Source; 2], tested: [&TestedBot; 2], are_named: bool) -> bool {
    let [new, base] = tested;
    if new.is_same_command(base)
        || !new.has_same_files(base)
        || arguments(bots[0], new) != arguments(bots[1], base)
    {
        return false;
    }
    let contents = |bot: &dyn Source| {
        let command = bot.command()?;
        let directories = [Some(command.home()), command.directory.clone()].into_iter().flatten();
        directories.map(|directory| content(&directory)).collect::<Option<Vec<_>>>()
    };
    are_named || contents(bots[0]).is_some_and(|new| contents(bots[1]).is_some_and(|base| new == base))
}

/// The words of a command line; files are their hashes.
fn arguments<'a>(bot: &'a dyn Source, tested: &'a TestedBot) -> Vec<&'a String> {
    let words = bot.command().map(|command| &command.argv[..]).unwrap_or_default();
    words.iter().map(|word| tested.files.get(word).unwrap_or(word)).collect()
}

fn git<S: AsRef<OsStr>>(directory: &Path, args: &[S]) -> Option<Output> {
    let mut git = Command::new("git");
    git.arg("--no-optional-locks").arg("-C").arg(directory).args(args);
    // A hook of git sets these for its own repository.
    for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR"] {
        git.env_remove(name);
    }
    git.env("LC_ALL", "C").stdin(Stdio::null()).output().ok()
}

/// The commit that git has checked out in a directory, with `-dirty` if tracked files differ from it, and the hash of how they
/// differ; nothing without git or outside a checkout.
fn commit(directory: &Path) -> (Option<String>, Option<String>) {
    let text = |output: Output| {
        let text = String::from_utf8(output.stdout).ok().filter(|_| output.status.success())?;
        Some(text.trim().to_owned()).filter(|text| !text.is_empty())
    };
    // Every tag is excluded, which leaves the hash.
    let args = ["describe", "--always", "--dirty", "--exclude", "*", "--abbrev=12"];
    let Some(described) = git(directory, &args) else { return (None, None) };
    if String::from_utf8_lossy(&described.stderr).contains("dubious ownership") {
        // To look for changes would run programs that the configuration of another user names.
        let args = ["-c", "safe.directory=*", "rev-parse", "--short=12", "HEAD"];
        let commit = git(directory, &args).and_then(text).map(|commit| format!("{commit}-unchecked"));
        if commit.is_none() {
            let directory = directory.display();
            tracing::warn!(
                "the commit of {directory} is unknown: it belongs to another user; `git config --global --add \
                 safe.directory DIR` trusts it"
            );
        }
        return (commit, None);
    }
    let commit = text(described);
    let is_dirty = commit.as_ref().is_some_and(|commit| commit.ends_with("-dirty"));
    let args = ["diff", "--no-ext-diff", "--no-textconv", "--binary", "HEAD"];
    let changes = is_dirty.then(|| git(directory, &args)).flatten();
    (commit, changes.map(|changes| hex::encode(&Sha256::digest(changes.stdout))))
}
