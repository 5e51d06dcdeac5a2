//! The descriptors that a thread watches: an epoll instance.

#[cfg(target_os = "linux")]
pub(crate) use with_epoll::{add_edges, add_level, new, ready, remove};
#[cfg(not(target_os = "linux"))]
pub(crate) use without_epoll::{add_edges, add_level, new, ready, remove};

#[cfg(target_os = "linux")]
mod with_epoll {
    use std::io;
    use std::os::fd::{AsFd, OwnedFd};

    use rustix::event::Timespec;
    use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
    use rustix::io::Errno;

    const NO_TIME: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };
    /// The number of events that are taken at once.
    const BATCH: usize = 64;

    pub(crate) fn new() -> io::Result<OwnedFd> {
        Ok(epoll::create(CreateFlags::CLOEXEC)?)
    }

    /// Adds a descriptor that is reported as long as it is readable.
    pub(crate) fn add_level(set: &OwnedFd, of: impl AsFd, number: u64) -> io::Result<()> {
        Ok(epoll::add(set, of, EventData::new_u64(number), EventFlags::IN)?)
    }

    /// Adds a descriptor that is reported once for each write of its peer. Regular files, which are always readable, are left out.
    pub(crate) fn add_edges(set: &OwnedFd, of: impl AsFd, number: u64) -> io::Result<()> {
        match epoll::add(set, of, EventData::new_u64(number), EventFlags::IN | EventFlags::ET) {
            Ok(()) | Err(Errno::PERM) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Removes a descriptor, if it is there.
    pub(crate) fn remove(set: &OwnedFd, of: impl AsFd) -> io::Result<()> {
        match epoll::delete(set, of) {
            Ok(()) | Err(Errno::NOENT | Errno::PERM) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// The numbers of the descriptors that are readable now.
    pub(crate) fn ready(set: &OwnedFd) -> io::Result<Vec<u64>> {
        let (mut numbers, mut events) = (Vec::new(), Vec::with_capacity(BATCH));
        loop {
            events.clear();
            epoll::wait(set, rustix::buffer::spare_capacity(&mut events), Some(&NO_TIME))?;
            numbers.extend(events.iter().map(|event| event.data.u64()));
            if events.len() < BATCH {
                return Ok(numbers);
            }
        }
    }
}

/// Elsewhere no thread watches any: the rules of a program then have lanes with one match.
#[cfg(not(target_os = "linux"))]
mod without_epoll {
    use std::io;
    use std::os::fd::{AsFd, OwnedFd};

    pub(crate) fn new() -> io::Result<OwnedFd> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(crate) fn add_level(_: &OwnedFd, _: impl AsFd, _: u64) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(crate) fn add_edges(_: &OwnedFd, _: impl AsFd, _: u64) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(crate) fn remove(_: &OwnedFd, _: impl AsFd) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(crate) fn ready(_: &OwnedFd) -> io::Result<Vec<u64>> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
