//! The rules by which matches end before the rules of the game end them.

use std::num::NonZeroU32;

use referee_match::{Adjudication, DrawRule, ResignRule};

use super::Setting;

/// The rules of these settings of a file.
pub fn adjudication(
    resign: Option<&Setting<ResignRule>>,
    draw: Option<&Setting<DrawRule>>,
    max_moves: Option<NonZeroU32>,
) -> Adjudication {
    Adjudication {
        resign: resign.map(|rule| **rule),
        draw: draw.map(|rule| **rule),
        max_moves: max_moves.map(NonZeroU32::get),
    }
}
