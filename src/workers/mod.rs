//! Matches on more than one machine.

pub mod archive;
pub mod calibration;
