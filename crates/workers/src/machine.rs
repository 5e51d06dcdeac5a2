//! The description of a worker's machine.

use std::thread;

use rustix::system::uname;
use serde::{Deserialize, Serialize};

use referee_game::Wrong;

/// A machine, as its worker describes it. The coordinator verifies only its own measurements.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// The name, unique among the workers of a run: by default the name of the host.
    pub name: String,
    /// The name and version of the referee.
    pub referee: String,
    /// The number of processors that the worker may use.
    pub cores: u32,
    /// The model of the processor, for people.
    pub processor: String,
    /// The number of sets that it plays concurrently.
    pub slots: u32,
    /// Whether other programs disturb the clocks of the worker, so that it plays no matches with a clock.
    #[serde(default)]
    pub noisy: bool,
    /// The median time of a round trip between the referee and a program, in microseconds; `None` if it was not measured.
    #[serde(default)]
    pub round_trip_us: Option<f64>,
    /// Whether the worker builds and checks programs that were handed in to a league: it has all layers of the sandbox
    /// `strict`.
    #[serde(default)]
    pub builds: bool,
}

/// The maximum number of sets that a worker may play concurrently.
pub const MOST_SLOTS: u32 = 1024;
/// The maximum length of a name in bytes.
const NAME_BYTES: usize = 64;
/// The maximum length of the other texts in bytes.
const TEXT_BYTES: usize = 200;

/// Returns whether a text can name a machine.
pub fn is_name(text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    (1..=NAME_BYTES).contains(&text.len()) && text.chars().all(is_plain)
}

impl Machine {
    /// Checks the statements of a worker.
    ///
    /// # Errors
    /// What is wrong.
    pub fn check(&self) -> Result<(), Wrong> {
        let is_text = |text: &str| text.len() <= TEXT_BYTES && !text.chars().any(char::is_control);
        if !is_name(&self.name) {
            Err(format!("the name of the machine is not 1 to {NAME_BYTES} letters, digits, `.`, `_` and `-`")
                .into())
        } else if !(1..=MOST_SLOTS).contains(&self.slots) {
            Err(format!("{} slots are not from 1 to {MOST_SLOTS}", self.slots).into())
        } else if !is_text(&self.referee) || !is_text(&self.processor) {
            Err(format!(
                "the description of the machine has a text of more than {TEXT_BYTES} bytes or with control characters"
            )
            .into())
        } else {
            Ok(())
        }
    }

    /// Describes this machine, with this name instead of that of the host. A figure that was not measured is empty.
    pub fn here(name: Option<String>, slots: u32) -> Machine {
        let host = || {
            let host = uname().nodename().to_string_lossy().into_owned();
            let plain = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '-' };
            host.chars().map(plain).take(NAME_BYTES).collect()
        };
        Machine {
            name: name.unwrap_or_else(host),
            referee: referee_match::SERVER.to_owned(),
            cores: thread::available_parallelism().map_or(1, |cores| cores.get() as u32),
            processor: processor().unwrap_or_default(),
            slots,
            noisy: false,
            round_trip_us: None,
            builds: false,
        }
    }
}

/// The model of the processor, where the system reports it.
pub fn processor() -> Option<String> {
    let info = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let model = info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    model.map(|(_, name)| name.trim().to_owned())
}

/// A worker's state on the coordinator's list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MachineState {
    #[default]
    Active,
    /// The worker finishes the sets that it has and gets no others.
    Drained,
    /// The worker gets no sets, and results that it still sends are verified as usual.
    Aside,
    /// The worker gets no sets, since other programs disturb its clocks and the matches have clocks.
    Noisy,
    /// The worker gets no sets, since it speaks another version of the messages.
    Incompatible,
}

/// A state of a worker, as requested from the process that plays the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestedState {
    pub worker: String,
    pub state: MachineState,
}

impl MachineState {
    /// The name in the database and in messages.
    pub fn as_str(self) -> &'static str {
        match self {
            MachineState::Active => "active",
            MachineState::Drained => "drained",
            MachineState::Aside => "aside",
            MachineState::Noisy => "noisy",
            MachineState::Incompatible => "incompatible",
        }
    }

    /// The state with this name.
    pub fn parse(text: &str) -> Option<MachineState> {
        let all = [
            MachineState::Active,
            MachineState::Drained,
            MachineState::Aside,
            MachineState::Noisy,
            MachineState::Incompatible,
        ];
        all.into_iter().find(|state| state.as_str() == text)
    }
}
