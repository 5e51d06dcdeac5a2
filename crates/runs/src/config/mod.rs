//! What the files of tournaments and of leagues have in common with each other and with options: one type for each thing.

mod adjudication;
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
mod suggestion;
mod tls;

pub use adjudication::adjudication;
pub use clock::{ClockError, ClockLimits, Milliseconds, ReadyLimits, TimeError};
pub use cost::{Dollars, NoDollars};
pub use game::{GameError, KnownGames};
pub use listen::{ListenError, ListenSettings, TokenError, TokenFileError, listen, parse_token, read_tokens};
pub use notice::RunNotice;
pub use openings::{
    FlawList, LeftOut, OpeningBook, OpeningFileError, OpeningOrder, OpeningSource, OpeningsError,
};
pub use publish::PublishConfig;
pub use sandbox::{FilesError, SandboxConfig, SandboxError, change_commands, check_files, default_sandbox};
pub use seed::{SeedError, parse_seed, random_seed, read_seed};
pub use setting::Setting;
pub use suggestion::WithSuggestion;
pub use tls::{CertificateFile, PemFiles, Unpaired, pem_files};
