//! The extension module `referee_bot_native`: the backend `native` of `referee_bot.env`.
//!
//! * `Batch`: matches that step together, with observations and action masks as NumPy arrays
//! * `Referee`: what `referee stdio` is to its host, without a process

mod batch;
mod encodings;
mod host;
mod matches;

/// The rules of referee inside Python, for `referee_bot.env`.
#[pyo3::pymodule]
mod referee_bot_native {
    #[pymodule_export]
    use crate::batch::Batch;
    #[pymodule_export]
    use crate::host::Referee;
}
