//! The log of a workshop, line by line.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::RunError;
use referee_files::Folder;
use referee_game::Wrong;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The file in the directory of a workshop.
const NAME: &str = "events.jsonl";

/// A line of the journal, in the format of `--json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum WorkshopLine {
    /// The first line.
    Workshop {
        format: u32,
        /// The SHA-256 of the file.
        file: String,
        /// The directory from which relative paths in the file are seen, relative to the directory of the workshop.
        base: PathBuf,
    },
    /// A bot has passed with which an agent begins.
    Start {
        agent: String,
        version: String,
    },
    /// An agent let its bot practise.
    Practice {
        round: u32,
        agent: String,
        tool: String,
        folder: String,
        /// Omitted if the agent took a seat itself.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        version: Option<String>,
        matches: u32,
    },
    Edit(EditReport),
    Round(RoundReport),
}

/// The result of an agent's round.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EditReport {
    pub round: u32,
    pub agent: String,
    #[serde(flatten)]
    pub outcome: EditOutcome,
    /// The time for which it edited, in milliseconds.
    pub took_ms: u64,
    /// The practice matches that it used.
    pub matches: u32,
    /// The cost in this round, by its own report.
    pub cost: f64,
    #[serde(flatten)]
    pub hand_in: HandIn,
    /// The version that plays in the tournament of the round.
    pub version: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum EditOutcome {
    /// The agent exited with status 0.
    Done,
    /// The agent ended in another way.
    Failed {
        why: String,
    },
    /// The agent was ended when its time was over.
    TimedOut,
    /// The agent reported that it had spent more than it may, and was ended.
    OverCost,
    /// The agent was not started, since it has nothing left to spend.
    NoBudget,
    NotStarted {
        why: String,
    },
    /// The agent changed files of the workshop outside of its directory.
    WroteOutside {
        paths: Vec<PathBuf>,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "hand_in", rename_all = "snake_case")]
pub enum HandIn {
    /// A new version passed.
    New,
    Unchanged,
    /// The version before plays on. `log` says why.
    Refused {
        log: String,
    },
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RoundReport {
    pub round: u32,
    /// The standings, in the format of `referee tournament standings --json`.
    pub standings: Value,
}

/// The journal, to which this process appends.
#[derive(Debug)]
pub(super) struct WorkshopJournal {
    file: File,
}

impl WorkshopJournal {
    /// Returns whether a directory has one.
    pub(super) fn is_in(folder: &Folder) -> io::Result<bool> {
        folder.has_file(NAME)
    }

    /// Opens it for appending. An incomplete last line, which a killed process left, is removed.
    pub(super) fn open(folder: &Folder) -> io::Result<WorkshopJournal> {
        let file = folder.open_file(NAME, true)?;
        let text = folder.read(NAME)?;
        let whole = text.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        file.set_len(whole as u64)?;
        Ok(WorkshopJournal { file })
    }

    /// Appends a line, which is on the disk when this returns.
    pub(super) fn add(&self, line: &WorkshopLine) -> Result<(), RunError> {
        let text = serde_json::to_string(line).map_err(io::Error::from)? + "\n";
        (&self.file).write_all(text.as_bytes())?;
        Ok(self.file.sync_data()?)
    }

    pub(super) fn read(folder: &Path) -> Result<Vec<WorkshopLine>, RunError> {
        let path = folder.join(NAME);
        let no_workshop = |why| {
            let what = format!("{} is not the directory of a workshop", folder.display());
            RunError::from(Wrong::at(what, why))
        };
        let text = referee_files::read_regular(&path).map_err(no_workshop)?;
        let text = String::from_utf8_lossy(&text);
        let whole = &text[..text.rfind('\n').map_or(0, |at| at + 1)];
        let read = |(at, line): (usize, &str)| {
            let place = || format!("{}, line {}", path.display(), at + 1);
            serde_json::from_str(line).map_err(|why| RunError::machine(Wrong::at(place(), why)))
        };
        whole.lines().enumerate().map(read).collect()
    }
}
