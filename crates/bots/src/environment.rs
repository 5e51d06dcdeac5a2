//! The environment variables of bots.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

/// Variables of the referee's environment that every bot inherits: those of a login session, and those that tell common
/// language runtimes where their files are and how many threads to use. None of them is known to hold secrets.
const PASSED_ON: &[&str] = &[
    // Any program.
    "HOME",
    "LANG",
    "LANGUAGE",
    "LD_LIBRARY_PATH",
    "LOGNAME",
    "PATH",
    "REFEREE",
    "SHELL",
    "TERM",
    "TMPDIR",
    "TZ",
    "USER",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    // Language runtimes.
    "CARGO_HOME",
    "CLASSPATH",
    "CONDA_PREFIX",
    "DOTNET_ROOT",
    "GEM_HOME",
    "GEM_PATH",
    "GOCACHE",
    "GODEBUG",
    "GOGC",
    "GOMAXPROCS",
    "GOMEMLIMIT",
    "GOPATH",
    "GOROOT",
    "JAVA_HOME",
    "JAVA_TOOL_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "JULIA_DEPOT_PATH",
    "JULIA_NUM_THREADS",
    "LUA_CPATH",
    "LUA_PATH",
    "NODE_ENV",
    "NODE_OPTIONS",
    "NODE_PATH",
    "PERL5LIB",
    "RUBYLIB",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "RUST_BACKTRACE",
    "RUST_LOG",
    "VIRTUAL_ENV",
    // Computing libraries.
    "CUDA_VISIBLE_DEVICES",
    "MKL_NUM_THREADS",
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
];

/// Prefixes of further names.
const PASSED_ON_FAMILIES: &[&str] = &["LC_", "PYTHON"];

/// Returns whether bots inherit this variable of the referee's environment.
fn is_passed_on(name: &OsStr) -> bool {
    let is_of = |family: &&str| name.as_bytes().starts_with(family.as_bytes());
    PASSED_ON.iter().any(|passed| name == *passed) || PASSED_ON_FAMILIES.iter().any(is_of)
}

/// The complete environment of a bot: what it inherits from `ours`, and its `own` variables.
pub(super) fn of_bot(
    ours: impl IntoIterator<Item = (OsString, OsString)>,
    own: &BTreeMap<String, String>,
) -> BTreeMap<OsString, OsString> {
    let passed_on = ours.into_iter().filter(|(name, _)| is_passed_on(name));
    passed_on.chain(own.iter().map(|(name, value)| (name.into(), value.into()))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bot_gets_listed_variables_and_its_own() {
        let ours = [
            ("PATH", "/bin"),
            ("LC_ALL", "C"),
            ("PYTHONPATH", "lib"),
            ("RUST_LOG", "info"),
            ("GOOGLE_APPLICATION_CREDENTIALS", "key.json"),
            ("CARGO_REGISTRY_TOKEN", "secret"),
            ("NODE_AUTH_TOKEN", "secret"),
            ("SSH_AUTH_SOCK", "/run/agent"),
        ];
        let ours = ours.map(|(name, value)| (name.into(), value.into()));
        let own = [("RUST_LOG", "debug"), ("THREADS", "1")].map(|(name, value)| (name.into(), value.into()));
        let expected = [
            ("LC_ALL", "C"),
            ("PATH", "/bin"),
            ("PYTHONPATH", "lib"),
            ("RUST_LOG", "debug"),
            ("THREADS", "1"),
        ];
        let expected = expected.map(|(name, value)| (name.into(), value.into()));
        assert_eq!(of_bot(ours, &own.into()), expected.into());
    }

    #[test]
    fn the_list_of_the_specification_is_complete() {
        let page = include_str!("../../../protocol/spec/match.md");
        for name in PASSED_ON {
            assert!(page.contains(&format!("`{name}`")), "{name} is not in match.md");
        }
        for family in PASSED_ON_FAMILIES {
            assert!(page.contains(&format!("`{family}*`")), "{family}* is not in match.md");
        }
    }
}
