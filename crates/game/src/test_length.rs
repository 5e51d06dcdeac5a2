//! The length of tests.

/// `long` if the tests are compiled with the environment variable `LONG_TESTS`, as by `tests/run --long`, else `short`.
pub const fn long_or<T: Copy>(long: T, short: T) -> T {
    if option_env!("LONG_TESTS").is_some() { long } else { short }
}
