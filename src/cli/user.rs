//! The user who runs the command.

use std::{env, fs};

/// The user of this process, and who became it with sudo.
pub(super) fn user() -> String {
    let uid = rustix::process::getuid().as_raw();
    let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let name = users.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)?.parse() == Ok(uid)).then(|| name.to_owned())
    });
    let name = name.unwrap_or_else(|| format!("uid {uid}"));
    match env::var("SUDO_USER") {
        Ok(from) => format!("{name} (sudo by {from})"),
        Err(_) => name,
    }
}
