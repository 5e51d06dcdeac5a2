//! The object-safe layer over [`Game`](crate::Game): [`Rules`], [`Table`] and [`OpenDecision`].

mod decision;
mod erased_rules;
mod rules;
mod seated;
mod table;

pub use decision::{MoveError, OpenDecision, PositionId};
pub use erased_rules::ErasedRules;
pub use rules::{Knowledge, Rules, RulesError, RulesFailed, RulesWait};
pub use table::{BoardText, MoveMade, Table, write_move_event};
