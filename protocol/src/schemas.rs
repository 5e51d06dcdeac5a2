//! Both message sets as JSON Schemas (draft 2020-12), for programs that do not use these types.
//!
//! They are generated from the types. A test checks that they are up to date.

/// Every message from the referee.
pub const FROM_REFEREE: &str = include_str!("../schemas/from_referee.json");

/// The HTTP API for spectators (OpenAPI 3.1), served by `--watch`.
pub const WATCH_API: &str = include_str!("../api/openapi.json");

/// Every message from a bot.
pub const FROM_BOT: &str = include_str!("../schemas/from_bot.json");

/// Every request to `referee imagine`.
pub const IMAGINE_REQUEST: &str = include_str!("../schemas/imagine_request.json");

/// Every answer of `referee imagine`.
pub const IMAGINE_ANSWER: &str = include_str!("../schemas/imagine_answer.json");
