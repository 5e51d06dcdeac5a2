//! The parent, the session and the descendants of a process.

use std::fmt;

use rustix::process::Pid;

/// The parent and the session of a process, from `/proc/PID/stat`.
///
/// `getsid` returns 0 if the leader of the session is outside the PID namespace, for example in a container that was
/// entered from outside, and 0 is not a valid process ID.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lineage {
    /// `None` for a process whose parent is outside the namespace, and for the first of a namespace.
    pub(super) parent: Option<Pid>,
    /// The process id of the session's leader; 0 where that is outside the namespace.
    pub(super) session: i32,
}

impl Lineage {
    /// Reads the lineage of a process; `None` if the process has exited, and on systems without `/proc`.
    pub(super) fn of(process: Pid) -> Option<Lineage> {
        Lineage::parse(&std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?)
    }

    /// Parses a line of proc_pid_stat(5): ID, name in parentheses, state, parent, group, session.
    fn parse(stat: &str) -> Option<Lineage> {
        // The name may contain any character, including parentheses and spaces.
        let mut fields = stat.rsplit_once(") ")?.1.split_whitespace().skip(1);
        let parent = Pid::from_raw(fields.next()?.parse().ok()?);
        Some(Lineage { parent, session: fields.nth(1)?.parse().ok()? })
    }
}

/// The children of a process, by its name in `/proc`. Empty if it has exited, and on systems without `/proc`.
pub(super) fn children_of(process: impl fmt::Display) -> impl Iterator<Item = Pid> {
    let threads = std::fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten();
    let lists =
        threads.filter_map(|thread| std::fs::read_to_string(thread.ok()?.path().join("children")).ok());
    let pids = |list: String| -> Vec<Pid> {
        list.split_whitespace().filter_map(|id| Pid::from_raw(id.parse().ok()?)).collect()
    };
    lists.flat_map(pids)
}

/// The processes below a process, as far as their parents have not exited; at most `most`.
pub(super) fn descendants(process: Pid, most: usize) -> Vec<Pid> {
    let mut found: Vec<Pid> = children_of(process).take(most).collect();
    let mut at = 0;
    while at < found.len() && found.len() < most {
        found.extend(children_of(found[at]).take(most - found.len()));
        at += 1;
    }
    found
}

/// The oldest child of a process. None if it has none, and on kernels that do not list children.
pub(super) fn first_child(process: Pid) -> Option<Pid> {
    let list = std::fs::read_to_string(format!("/proc/{process}/task/{process}/children")).ok()?;
    Pid::from_raw(list.split_whitespace().next()?.parse().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_whose_leader_is_outside_the_namespace_is_0() {
        let lineage = Lineage::parse("7 (a) b) S 3 7 0 0 -1 4194304 1 2");
        assert_eq!(lineage, Some(Lineage { parent: Pid::from_raw(3), session: 0 }));
        let first = Lineage::parse("1 (init) S 0 1 1 0 -1");
        assert_eq!(first, Some(Lineage { parent: None, session: 1 }));
    }

    #[test]
    fn an_unfinished_line_is_no_lineage() {
        for line in ["", "7 (sh", "7 (sh) S", "7 (sh) S 3 7", "7 (sh) S x 7 7"] {
            assert_eq!(Lineage::parse(line), None, "{line}");
        }
    }
}
