//! Both message sets as JSON Schemas (draft 2020-12), for programs that do not use these types.
//!
//! They are generated from the types. A test checks that they are up to date.

/// Every message from the referee.
pub const FROM_REFEREE: &str = include_str!("../schemas/from_referee.json");

/// Every message from a bot.
pub const FROM_BOT: &str = include_str!("../schemas/from_bot.json");
