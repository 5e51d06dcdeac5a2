//! The crash of a bot that ends a comparison.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::{Evidence, FirstFaults};

/// The crash of a new version that is compared with its base.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Crash {
    #[serde(rename = "match")]
    pub id: String,
    /// The code of the fault and its detail.
    pub what: String,
    /// The path of the record of the match; omitted if none was kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record: Option<PathBuf>,
    /// The cause; omitted if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Evidence>,
}

impl Crash {
    /// Adds it to the first faults of a run, of which an earlier part has seen it.
    pub fn add_to(&self, first_faults: &mut FirstFaults) {
        if let Some(evidence) = &self.evidence {
            first_faults.add_one("new", &self.id, evidence);
        }
    }
}
