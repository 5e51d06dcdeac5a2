//! Links test builds at fixed addresses.

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|found| found == value);
    // Each bot is started through the referee's own program, and moving its 300,000 addresses takes longer
    // than all else it does then. A release is linked as usual: an attacker does not know where it lies.
    if is("PROFILE", "debug") && is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") {
        println!("cargo::rustc-link-arg=-no-pie");
    }
}
