//! Names of settings, as keys of files or as options.

/// The name of a setting where it is given, or with a value how it is given. The key is that of files, with its tables:
/// `listen.address`. Libraries name settings by this; on the command line it returns options.
pub type SettingNames = fn(key: &str, value: Option<&str>) -> String;

/// Names settings by their keys in files.
pub fn keys(key: &str, value: Option<&str>) -> String {
    match (value, key.split_once('.')) {
        (None, _) => key.to_owned(),
        (Some(value), None) => format!("{key} = {value}"),
        (Some(value), Some((table, key))) => format!("[{table}] with {key} = {value}"),
    }
}
