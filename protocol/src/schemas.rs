//! Both message sets as JSON Schemas (draft 2020-12), for programs that do not use these types.
//!
//! The schemas of the messages of bots are generated from the types; a test checks that they are up to date.

/// Every message from the referee.
pub const FROM_REFEREE: &str = include_str!("../schemas/from_referee.json");

/// The HTTP API for spectators (OpenAPI 3.1), served by `--watch`.
pub const WATCH_API: &str = include_str!("../api/openapi.json");

/// The HTTP API for owners of bots (OpenAPI 3.1), served by `referee serve`.
pub const OWNERS_API: &str = include_str!("../api/owners.json");

/// Every message from a bot.
pub const FROM_BOT: &str = include_str!("../schemas/from_bot.json");

/// Every request to `referee imagine`.
pub const IMAGINE_REQUEST: &str = include_str!("../schemas/imagine_request.json");

/// Every answer of `referee imagine`.
pub const IMAGINE_ANSWER: &str = include_str!("../schemas/imagine_answer.json");

/// Every request to the rules of a game that are a program.
pub const RULES_REQUEST: &str = include_str!("../schemas/rules_request.json");

/// Every answer of such rules.
pub const RULES_ANSWER: &str = include_str!("../schemas/rules_answer.json");
