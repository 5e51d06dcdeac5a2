//! The file of a grading, and the tournaments that it makes.

use std::path::Path;

use referee_bots::sandbox::{Mode, Sandbox};
use referee_game::name::NameSet;
use referee_game::{Wrong, hex, keys};
use referee_workers::archive::ArchiveId;
use sha2::{Digest, Sha256};

use crate::RunError;
use crate::config::{PublishConfig, SandboxConfig, defaults};
use crate::submissions::BotFile;
use crate::tournament::config::{EntrantConfig, TournamentConfig};

impl TournamentConfig {
    /// Sets the sandbox of all bots: this one, if it is given, or that of the file, or `strict`. Returns it.
    ///
    /// # Errors
    /// If it is not `strict`, or this machine does not have it.
    pub fn strict_sandbox(&mut self, given: Option<SandboxConfig>) -> Result<Sandbox, RunError> {
        let config = given.or(self.sandbox.take()).unwrap_or_else(SandboxConfig::strict);
        if config.mode != Mode::Strict {
            let what =
                format!("a bot that was handed in is graded in the sandbox `strict`, not `{}`", config.mode);
            return Err(RunError::from(Wrong::at("format", what)));
        }
        let sandbox = config.sandbox(|path| self.resolve(path), keys)?;
        self.sandbox = Some(config);
        Ok(sandbox)
    }

    /// The tournament that grades the bot in this directory.
    pub fn with_graded(&self, bot: &BotFile, files: &Path) -> TournamentConfig {
        let mut names = NameSet::default();
        let anchors = self.entrants.iter().filter_map(|anchor| anchor.name.as_ref());
        let is_free = anchors.chain([&bot.name]).all(|name| names.add(name).is_ok());
        let name = if is_free { &bot.name } else { "graded" };
        let graded = EntrantConfig {
            name: Some(name.to_owned()),
            command: Some(bot.command.clone()),
            files: Some(files.to_owned()),
            ..EntrantConfig::blank()
        };
        let mut config = self.clone();
        config.entrants.insert(0, graded);
        config
    }

    /// Identifies the measurement of a bot: its archive, the anchors, and all settings that matter.
    ///
    /// # Errors
    /// If the file has no scale.
    pub fn grading_key(&self, bot: &ArchiveId) -> Result<String, RunError> {
        let (_, terms) = self.scale()?;
        let measured = TournamentConfig {
            name: None,
            jobs: defaults::one(),
            processes: None,
            slots: defaults::SLOTS,
            pin: false,
            max_cost: None,
            seed: None,
            seed_file: None,
            workers: None,
            publish: PublishConfig::default(),
            grades: None,
            ..self.clone()
        };
        let text = format!("{bot}\n{terms:?}\n{}", measured.to_toml()?);
        Ok(hex::encode(&Sha256::digest(text))[..16].to_owned())
    }
}
