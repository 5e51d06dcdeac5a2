//! Configuration that tournaments, leagues and options share: one type for each thing.

mod clock;
mod cost;
pub mod defaults;
mod game;
mod listen;
mod notice;
mod openings;
mod publish;
mod sandbox;
mod seed;
mod setting;
mod shared;
mod suggestion;
mod terms;
mod tls;

pub use clock::{ClockLimits, Milliseconds, ReadyLimits};
pub use cost::Dollars;
pub use game::KnownGames;
pub use listen::{ListenConfig, listen, parse_token, read_tokens};
pub use notice::RunNotice;
pub use openings::{FlawList, OmittedOpenings, OpeningBook, OpeningConfig, OpeningOrder, OpeningSource};
pub use publish::PublishConfig;
pub(crate) use sandbox::unavailable;
pub use sandbox::{SandboxConfig, change_commands, check_files, default_sandbox};
pub use seed::{parse_seed, random_seed, read_seed};
pub use setting::Setting;
pub(crate) use shared::{SharedKeys, from_toml};
pub use suggestion::with_suggestion;
pub use terms::{AdjudicationConfig, TermsConfig, add_syzygy};
pub use tls::{PemFiles, pem_files};
