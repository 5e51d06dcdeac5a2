//! Limits of a run's cost.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use referee_game::Wrong;

/// US dollars, from 0 to 10^9.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64")]
pub struct Dollars(pub f64);

impl TryFrom<f64> for Dollars {
    type Error = Wrong;

    fn try_from(number: f64) -> Result<Dollars, Wrong> {
        if (0.0..=1e9).contains(&number) {
            Ok(Dollars(number))
        } else {
            Err(format!("`{number}` is not a number of US dollars from 0 to 1000000000, such as 5.00").into())
        }
    }
}

impl FromStr for Dollars {
    type Err = Wrong;

    fn from_str(text: &str) -> Result<Dollars, Wrong> {
        text.parse().ok().and_then(|number: f64| Dollars::try_from(number).ok()).ok_or_else(|| {
            Wrong::from(format!("`{text}` is not a number of US dollars from 0 to 1000000000, such as 5.00"))
        })
    }
}

impl fmt::Display for Dollars {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&referee_report::cost(self.0))
    }
}
