//! `bot.toml`: what a directory says of its bot.

use std::borrow::Cow;
use std::io;
use std::path::{Component, Path};

use referee_bots::Command;
use referee_bots::sandbox::Sandbox;
use referee_files::{NotInFolder, ResolvedFolder, open_regular, read_limited};
use referee_game::Wrong;
use referee_game::name::check_name;
use serde::Deserialize;

pub const BOT_FILE: &str = "bot.toml";

/// The maximum size of the file, in bytes.
const MOST_BYTES: u64 = 64 << 10;
/// The maximum length of the language, in bytes.
const MOST_LANGUAGE: usize = 64;
/// Words that only a shell understands.
const SHELL_WORDS: [&str; 7] = ["&&", "||", "|", ";", "&", ">", "<"];

/// The contents of `bot.toml`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BotFile {
    pub name: String,
    /// The command line that starts it in its directory, split as a shell would and run without a shell.
    #[serde(alias = "engine", deserialize_with = "referee_bots::command_line")]
    pub command: String,
    /// The command line that builds it, of the same form.
    #[serde(default)]
    pub build: Option<String>,
    /// The programming language, for display.
    #[serde(default)]
    pub language: Option<String>,
    /// The files of the archive: paths of files and directories, and globs.
    #[serde(default)]
    pub files: Option<Vec<String>>,
}

impl BotFile {
    /// Reads the file in a directory.
    ///
    /// # Errors
    /// If it is missing, or not valid.
    pub fn read(directory: &Path) -> Result<BotFile, Wrong> {
        let place = |why: Wrong| Wrong::at(BOT_FILE, why);
        let path = ResolvedFolder::open(directory).and_then(|folder| folder.resolve(Path::new(BOT_FILE)));
        let path = path.map_err(|error| match error {
            NotInFolder::Unreadable { error, .. } if error.kind() == io::ErrorKind::NotFound => place(
                "there is no bot.toml at the top of the directory; `referee init bot` writes one".into(),
            ),
            NotInFolder::Unreadable { error, .. } => place(reason(&error)),
            error => place(error.into()),
        })?;
        let file = open_regular(&path, std::fs::OpenOptions::new().read(true));
        let text = file.and_then(|file| read_limited(file, MOST_BYTES));
        BotFile::parse(&String::from_utf8_lossy(&text.map_err(|error| place(reason(&error)))?))
    }

    /// Parses the file.
    ///
    /// # Errors
    /// If it is not valid.
    pub fn parse(text: &str) -> Result<BotFile, Wrong> {
        let place = |why: Wrong| Wrong::at(BOT_FILE, why);
        let file: BotFile = toml::from_str(text).map_err(|error| place(error.to_string().into()))?;
        check_name(&file.name).map_err(|why| place(Wrong::at("name", why)))?;
        file.command()?;
        file.build()?;
        let is_plain = |text: &String| text.len() <= MOST_LANGUAGE && !text.chars().any(char::is_control);
        if !file.language.as_ref().is_none_or(is_plain) {
            return Err(place(format!("language: at most {MOST_LANGUAGE} printable characters").into()));
        }
        Ok(file)
    }

    /// The command that starts the bot.
    ///
    /// # Errors
    /// If the command line is not allowed.
    pub fn command(&self) -> Result<Command, Wrong> {
        command_line(&self.command).map_err(|why| Wrong::at(BOT_FILE, Wrong::at("command", why)))
    }

    /// The command that starts the bot in this directory, which has its files.
    ///
    /// # Errors
    /// If the command line is not allowed.
    pub fn command_in(&self, directory: &Path, sandbox: &Sandbox) -> Result<Command, Wrong> {
        let (directory, files) = (Some(directory.to_owned()), Some(directory.to_owned()));
        Ok(Command { directory, files, sandbox: sandbox.clone(), ..self.command()? })
    }

    /// The command that builds the bot.
    ///
    /// # Errors
    /// If the command line is not allowed.
    pub fn build(&self) -> Result<Option<Command>, Wrong> {
        let command = self.build.as_deref().map(command_line).transpose();
        command.map_err(|why| Wrong::at(BOT_FILE, Wrong::at("build", why)))
    }
}

/// The error without a path, which may be that of a temporary directory.
fn reason(error: &io::Error) -> Wrong {
    error.to_string().rsplit(": ").next().unwrap_or_default().to_owned().into()
}

fn command_line(line: &str) -> Result<Command, Wrong> {
    let command: Command = line.parse()?;
    if let Some(word) = command.argv.iter().find(|word| SHELL_WORDS.contains(&word.as_str())) {
        return Err(format!(
            "`{word}` needs a shell, and the command line is run without one: write `sh -c '...'`, \
             or a script"
        )
        .into());
    }
    // The sandbox shows a bot the files that its command line names.
    let outside = command.words().find(|word| leads_out(word)).map(Cow::into_owned);
    if let Some(word) = outside {
        return Err(format!(
            "`{word}` is not in the directory of the bot: name files relative to it, without `..`, \
             and programs of the system without their directory"
        )
        .into());
    }
    Ok(command)
}

/// Returns whether a word is the path of something outside of the directory of the bot.
fn leads_out(word: &str) -> bool {
    word.starts_with('/') || Path::new(word).components().any(|part| part == Component::ParentDir)
}

#[cfg(test)]
mod tests {
    use referee_game::Chain;

    use super::*;

    fn error(text: &str) -> String {
        let error = Chain(&BotFile::parse(text).unwrap_err()).to_string();
        error.strip_prefix("bot.toml: ").unwrap().to_owned()
    }

    #[test]
    fn a_command_line_names_nothing_outside_of_the_directory() {
        for line in [
            "cat /etc/passwd",
            "python3 bot.py ../../../league.sqlite",
            "python3 a/../../x",
            "/usr/bin/python3 bot.py",
            "../bot",
            "..",
        ] {
            let text = format!("name = 'mouse'\ncommand = {line:?}\n");
            assert!(error(&text).contains("is not in the directory of the bot"), "{line}");
            let text = format!("name = 'mouse'\ncommand = './bot'\nbuild = {line:?}\n");
            assert!(error(&text).starts_with("build: "), "{line}");
        }
        for line in
            ["python3 -u bot.py --name=/x a..b", "target/release/mouse", "./bot", "sh -c 'exec ./bot'"]
        {
            BotFile::parse(&format!("name = 'mouse'\ncommand = {line:?}\n")).unwrap();
        }
    }

    #[test]
    fn errors_name_the_key() {
        assert!(error("name = 'm'\ncommand = './bot'\nbiuld = 'make'\n").contains("biuld"));
        assert!(error("name = '.m'\ncommand = './bot'\n").starts_with("name: "));
        assert!(error("name = 'm'\ncommand = ''\n").starts_with("command: "));
        assert!(error("name = 'm'\ncommand = './bot > log'\n").contains("`>` needs a shell"));
        let control = "name = 'm'\ncommand = './bot'\nlanguage = \"a\\u0007\"\n";
        assert!(error(control).starts_with("language: "));
    }
}
