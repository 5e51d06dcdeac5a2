#![cfg_attr(fuzzing, no_main)]

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| referee::fuzzing::engine(data));

/// A target runs under cargo-fuzz only.
#[cfg(not(fuzzing))]
fn main() {}
