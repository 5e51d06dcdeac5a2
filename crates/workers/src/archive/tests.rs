//! Archives and hostile archives.

use std::fs;
use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::os::fd::AsFd;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use sha2::{Digest, Sha256};
use tar::{EntryType, Header};
use tempfile::{TempDir, tempdir};

use super::*;

use referee_game::Chain;

/// A bot with a program, a module and a link.
fn bot() -> TempDir {
    let folder = tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::create_dir_all(path("lib/deep")).unwrap();
    fs::write(path("bot.sh"), "#!/bin/sh\n").unwrap();
    fs::set_permissions(path("bot.sh"), fs::Permissions::from_mode(0o700)).unwrap();
    fs::write(path("lib/deep/data"), vec![7; 100_000]).unwrap();
    fs::write(path("empty"), "").unwrap();
    symlink("../lib/deep/data", path("lib/link")).unwrap();
    folder
}

fn packed(folder: &Path) -> (PackedArchive, Vec<u8>) {
    let mut archive = Vec::new();
    let packed = pack_folder(folder, ArchiveLimits::BOT, &mut archive).unwrap();
    (packed, archive)
}

fn id_of(archive: &[u8]) -> ArchiveId {
    ArchiveId::of(Sha256::new_with_prefix(archive))
}

#[test]
fn the_same_files_give_the_same_archive() {
    let (one, other) = (bot(), bot());
    // Neither the time nor permissions of others matter, nor caches of Python.
    fs::write(other.path().join("empty"), "").unwrap();
    fs::set_permissions(other.path().join("empty"), fs::Permissions::from_mode(0o666)).unwrap();
    fs::create_dir(other.path().join("lib/__pycache__")).unwrap();
    fs::write(other.path().join("lib/__pycache__/bot.pyc"), "x").unwrap();
    let ((first, bytes), (second, _)) = (packed(one.path()), packed(other.path()));
    assert_eq!(first, second);
    assert_eq!((first.size, first.entries, first.id), (bytes.len() as u64, 4, id_of(&bytes)));
    fs::write(other.path().join("empty"), "x").unwrap();
    assert_ne!(packed(other.path()).0.id, first.id);
}

#[test]
fn an_unpacked_bot_has_its_files_modes_and_links() {
    let (first, archive) = packed(bot().path());
    let copy = tempdir().unwrap();
    unpack(Cursor::new(&archive), &first.id, copy.path(), ArchiveLimits::BOT).unwrap();
    assert_eq!(packed(copy.path()).1, archive);
    let mode = |name: &str| fs::metadata(copy.path().join(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("bot.sh") & 0o100, mode("empty") & 0o111), (0o100, 0));
    assert_eq!(fs::read(copy.path().join("lib/link")).unwrap(), vec![7; 100_000]);
}

#[test]
fn other_programs_read_an_archive() {
    let (_, archive) = packed(bot().path());
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("bot.tar"), archive).unwrap();
    let listed =
        std::process::Command::new("tar").args(["-tvf", "bot.tar"]).current_dir(&folder).output().unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    assert!(listed.contains("-rwxr-xr-x") && listed.contains("lib/link -> deep/data"), "{listed}");
}

#[test]
fn files_that_no_archive_may_have_are_named() {
    let pack = |prepare: &dyn Fn(&Path)| {
        let folder = bot();
        prepare(folder.path());
        Chain(&pack_folder(folder.path(), ArchiveLimits::BOT, io::sink()).unwrap_err()).to_string()
    };
    let error = pack(&|folder| symlink("/etc/passwd", folder.join("lib/out")).unwrap());
    assert_eq!(error, "`lib/out`: it links to /etc/passwd, which is outside the directory");
    let error = pack(&|folder| symlink("nowhere", folder.join("broken")).unwrap());
    assert!(error.starts_with("`broken`: the link leads nowhere"), "{error}");
    let error = pack(&|folder| {
        assert!(std::process::Command::new("mkfifo").arg(folder.join("fifo")).status().unwrap().success());
    });
    assert!(error.starts_with("`fifo`: it is not a regular file"), "{error}");
    let error = pack(&|folder| fs::write(folder.join("EMPTY"), "").unwrap());
    assert_eq!(error, "`empty`: `empty` differs only in case or Unicode normalisation from `EMPTY`");
    let error = pack(&|folder| fs::write(folder.join("n".repeat(120)), "").unwrap());
    assert!(error.contains("the path is too long"), "{error}");
    assert!(
        Chain(&pack_folder(Path::new("/nowhere"), ArchiveLimits::BOT, io::sink()).unwrap_err())
            .to_string()
            .starts_with("/nowhere: ")
    );
}

#[test]
fn an_open_directory_is_packed_without_following_links() {
    let opened = |folder: &Path| fs::File::open(folder).unwrap();
    let limits = ArchiveLimits { bytes: 1 << 20, entries: 100 };
    let pack = |folder: &Path| {
        let mut archive = Vec::new();
        let packed = pack_open(opened(folder).as_fd(), limits, &mut archive);
        packed.map(|packed| (packed, archive)).map_err(|error| Chain(&error).to_string())
    };
    let folder = bot();
    let path = |name: &str| folder.path().join(name);
    assert_eq!(pack(folder.path()).unwrap_err(), "`lib/link`: it is neither a regular file nor a directory");
    fs::remove_file(path("lib/link")).unwrap();
    assert_eq!(pack(folder.path()).unwrap(), packed(folder.path()));
    fs::hard_link(path("lib/deep/data"), path("again")).unwrap();
    assert_eq!(pack(folder.path()).unwrap().0.entries, 4);
    type Plant = fn(&Path);
    let planted: [(Plant, &str); 6] = [
        (|at| symlink("lib", at).unwrap(), "`x`: it is neither a regular file nor a directory"),
        (|at| mkfifo(at), "`x`: it is neither a regular file nor a directory"),
        (|at| drop(UnixListener::bind(at).unwrap()), "`x`: it is neither a regular file nor a directory"),
        (|at| fs::File::create(at).unwrap().set_len(1 << 40).unwrap(), "are allowed"),
        (|at| fs::create_dir_all(at.join("deeper/".repeat(200))).unwrap(), "the path is too long"),
        (
            |at| (0..100).for_each(|name| fs::create_dir_all(at.join(name.to_string())).unwrap()),
            "there are more than 100 files and directories",
        ),
    ];
    for (plant, says) in planted {
        plant(&path("x"));
        let refused = pack(folder.path()).unwrap_err();
        assert!(refused.contains(says), "{refused}");
        fs::remove_file(path("x")).or_else(|_| fs::remove_dir_all(path("x"))).unwrap();
    }
}

fn mkfifo(at: &Path) {
    let made = std::process::Command::new("mkfifo").arg(at).status().unwrap();
    assert!(made.success());
}

/// The CPU time of this thread, in nanoseconds.
fn cpu() -> i128 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    i128::from(time.tv_sec) * 1_000_000_000 + i128::from(time.tv_nsec)
}

#[test]
fn many_files_in_deep_directories_take_no_longer() {
    let time = |folder: &str| {
        let file = |at| Raw::file("x").but(|header| header.set_path(format!("{folder}{at:04}")).unwrap());
        let long = archive((0..9800).map(file));
        let began = cpu();
        check(Cursor::new(&long), ArchiveLimits::BOT).unwrap();
        cpu() - began
    };
    let (flat, deep) = (time(""), time(&"d/".repeat(120)));
    assert!(deep < 5 * flat, "{deep} ns in deep directories, {flat} ns without any");
}

#[test]
fn single_files_are_packed_by_their_paths() {
    let folder = bot();
    let mut archive = Vec::new();
    let files: Vec<PathBuf> = vec!["lib/link".into(), "bot.sh".into()];
    let packed = pack_files(folder.path(), &files, ArchiveLimits::BOT, &mut archive).unwrap();
    let copy = tempdir().unwrap();
    unpack(Cursor::new(&archive), &packed.id, copy.path(), ArchiveLimits::BOT).unwrap();
    assert_eq!(fs::read(copy.path().join("lib/link")).unwrap(), vec![7; 100_000]);
    assert!(!copy.path().join("empty").exists());
    let error = Chain(
        &pack_files(folder.path(), &["../no/such/file".into()], ArchiveLimits::BOT, io::sink()).unwrap_err(),
    )
    .to_string();
    assert!(error.contains("No such file") || error.contains("`..`"), "{error}");
}

/// An entry as an attacker writes it.
struct Raw(Header, Vec<u8>);

impl Raw {
    /// A file of `1`.
    fn file(path: &str) -> Raw {
        Raw::of(EntryType::Regular, path, "", 1)
    }

    fn link(path: &str, target: &str) -> Raw {
        Raw::of(EntryType::Symlink, path, target, 0)
    }

    fn of(kind: EntryType, path: &str, target: &str, size: u64) -> Raw {
        let mut header = Header::new_ustar();
        // `set_path` refuses hostile paths.
        header.as_ustar_mut().unwrap().name[..path.len()].copy_from_slice(path.as_bytes());
        header.as_ustar_mut().unwrap().linkname[..target.len()].copy_from_slice(target.as_bytes());
        header.set_entry_type(kind);
        header.set_mode(0o644);
        header.set_size(size);
        header.set_uid(0);
        header.set_gid(0);
        header.set_mtime(0);
        Raw(header, vec![b'1'; size.min(1) as usize])
    }

    fn but(mut self, change: impl FnOnce(&mut Header)) -> Raw {
        change(&mut self.0);
        self
    }

    fn bytes(mut self) -> Vec<u8> {
        self.0.set_cksum();
        let mut bytes = [self.0.as_bytes().as_slice(), &self.1].concat();
        bytes.resize(bytes.len().next_multiple_of(512), 0);
        bytes
    }
}

fn archive(entries: impl IntoIterator<Item = Raw>) -> Vec<u8> {
    let mut bytes: Vec<u8> = entries.into_iter().flat_map(Raw::bytes).collect();
    bytes.extend([0; 1024]);
    bytes
}

/// Asserts that nothing of an archive is unpacked. Returns the error.
#[track_caller]
fn refused(archive: impl Read + Seek, id: &ArchiveId, limits: ArchiveLimits) -> String {
    let around = tempdir().unwrap();
    let folder = around.path().join("bot");
    fs::create_dir(&folder).unwrap();
    let error = Chain(&unpack(archive, id, &folder, limits).unwrap_err()).to_string();
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0, "{error}: files are left");
    assert_eq!(fs::read_dir(around.path()).unwrap().count(), 1, "{error}: files are left outside");
    error
}

#[test]
fn hostile_archives_are_refused_with_the_entry_and_the_reason() {
    let file = Raw::file;
    let mode = |mode: u32| move |header: &mut Header| header.set_mode(mode);
    let of = |kind: EntryType| Raw::of(kind, "bot", "", 0);
    let table: Vec<(&str, Vec<Raw>, &str)> = vec![
        ("..", vec![file("../evil")], "`../evil`: the path contains `..`"),
        (".. inside", vec![file("a/../../evil")], "`a/../../evil`: the path contains `..`"),
        ("absolute", vec![file("/etc/cron.d/evil")], "`/etc/cron.d/evil`: the path is absolute"),
        ("dot", vec![file("./bot")], "`./bot`: the path has an empty name or `.`"),
        ("empty name", vec![file("a//b")], "`a//b`: the path has an empty name or `.`"),
        ("no name", vec![file("")], "``: the path has an empty name or `.`"),
        ("escape", vec![file("a\u{1b}[2J")], "`a\\u{1b}[2J`: the path contains a control character"),
        ("absolute link", vec![Raw::link("l", "/etc/passwd")], "`l`: it links to the absolute path"),
        ("link out", vec![Raw::link("a/l", "../../x")], "`a/l`: it links to `../../x`, which is outside"),
        (
            "link to the top",
            vec![file("a/b"), Raw::link("a/l", "..")],
            "`a/l`: it links to `..`, which is not in",
        ),
        ("link to nothing", vec![Raw::link("l", "x")], "`l`: it links to `x`, which is not in the archive"),
        ("link to itself", vec![Raw::link("l", "l")], "`l`: it links to `l`, which is a link itself"),
        (
            "link by a link",
            vec![file("a/f"), Raw::link("k", "a"), Raw::link("l", "k/../../x")],
            "`l`: it links to `k/../../x`; a target has `..` only at its start",
        ),
        (
            "file below a link",
            vec![file("a/f"), Raw::link("l", "a"), file("l/x")],
            "`l/x`: `l` is not a directory",
        ),
        ("file below a file", vec![file("f"), file("f/x")], "`f/x`: `f` is not a directory in the archive"),
        ("hard link", vec![Raw::of(EntryType::Link, "l", "/etc/passwd", 0)], "`l`: it is a hard link"),
        ("character device", vec![of(EntryType::Char)], "`bot`: it is a device"),
        ("block device", vec![of(EntryType::Block)], "`bot`: it is a device"),
        ("FIFO", vec![of(EntryType::Fifo)], "`bot`: it is a FIFO"),
        ("directory", vec![of(EntryType::Directory)], "`bot`: it is a directory"),
        ("long name", vec![of(EntryType::GNULongName)], "`bot`: it is an extension"),
        ("PAX", vec![of(EntryType::XHeader)], "`bot`: it is an extension"),
        ("sparse", vec![of(EntryType::GNUSparse)], "`bot`: it is a sparse file"),
        ("unknown type", vec![of(EntryType::new(b'Z'))], "`bot`: it is of an unknown type"),
        ("setuid", vec![file("bot").but(mode(0o4755))], "`bot`: its mode is 4755; 0644 and 0755 are allowed"),
        ("setgid", vec![file("bot").but(mode(0o2755))], "`bot`: its mode is 2755"),
        ("writable by all", vec![file("bot").but(mode(0o666))], "`bot`: its mode is 0666"),
        (
            "owner",
            vec![file("bot").but(|header| header.set_uid(1000))],
            "`bot`: its header is not in normal form",
        ),
        (
            "time",
            vec![file("bot").but(|header| header.set_mtime(1))],
            "`bot`: its header is not in normal form",
        ),
        ("twice", vec![file("a"), file("a")], "`a`: the archive has it twice"),
        ("order", vec![file("b"), file("a")], "`a`: it follows `b`; entries are sorted by path"),
        (
            "case",
            vec![file("Bot"), file("bot")],
            "`bot`: `bot` differs only in case or Unicode normalisation from `Bot`",
        ),
        ("case of a directory", vec![file("LIB/a"), file("lib/b")], "`lib/b`: `lib` differs only in case"),
        ("sharp s", vec![file("STRASSE"), file("straße")], "`straße`: `straße` differs only in case"),
        (
            "normalisation",
            vec![file("e\u{301}"), file("\u{e9}")],
            "`\u{e9}`: `\u{e9}` differs only in case or Unicode",
        ),
        (
            "10 GB of zeros",
            vec![Raw::of(EntryType::Regular, "zeros", "", 10_000_000_000)],
            "`zeros`: with it the files have 10000000000 bytes; 2147483648 are allowed",
        ),
        (
            "8 GiB of zeros",
            vec![Raw::of(EntryType::Regular, "zeros", "", (8 << 30) - 1)],
            "`zeros`: with it the files have 8589934591 bytes; 2147483648 are allowed",
        ),
        (
            "size that overflows",
            vec![file("a"), Raw::of(EntryType::Regular, "zeros", "", u64::MAX)],
            "`zeros`: with it the files have 18446744073709551615 bytes",
        ),
    ];
    for (what, entries, expected) in table {
        let bytes = archive(entries);
        let error = refused(Cursor::new(&bytes), &id_of(&bytes), ArchiveLimits::BOT);
        assert!(error.starts_with(expected), "{what}: {error}");
    }
}

#[test]
fn a_damaged_archive_is_refused() {
    let (packed, good) = packed(bot().path());
    let change = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = good.clone();
        change(&mut bytes);
        refused(Cursor::new(&bytes), &id_of(&bytes), ArchiveLimits::BOT)
    };
    assert_eq!(change(&|bytes| bytes.truncate(700)), "the archive is cut off");
    assert_eq!(change(&|bytes| bytes.clear()), "the archive is cut off");
    assert_eq!(change(&|bytes| bytes.truncate(bytes.len() - 1)), "the archive is cut off");
    assert_eq!(change(&|bytes| bytes.push(0)), "the archive does not end with two zero blocks");
    assert!(change(&|bytes| bytes[0] ^= 1).contains("the checksum of its header is wrong"));
    assert_eq!(change(&|bytes| bytes[1023] = 1), "`bot.sh`: the padding after its contents is not zero");
    // A file whose contents were changed is another bot.
    let mut altered = good.clone();
    altered[512] ^= 1;
    let error = refused(Cursor::new(&altered), &packed.id, ArchiveLimits::BOT);
    assert_eq!(error, format!("the archive is {}, but {} was asked for", id_of(&altered), packed.id));
}

/// Entries that are made while they are read.
struct Endless<F> {
    make: F,
    next: u64,
    rest: Cursor<Vec<u8>>,
}

impl<F: Fn(u64) -> Raw> Endless<F> {
    fn new(make: F) -> Endless<F> {
        Endless { make, next: 0, rest: Cursor::default() }
    }
}

impl<F: Fn(u64) -> Raw> Read for Endless<F> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.rest.position() == self.rest.get_ref().len() as u64 {
            self.rest = Cursor::new((self.make)(self.next).bytes());
            self.next += 1;
        }
        self.rest.read(buffer)
    }
}

impl<F> Seek for Endless<F> {
    fn seek(&mut self, _: SeekFrom) -> io::Result<u64> {
        panic!("it has no end")
    }
}

#[test]
fn too_many_files_or_directories_are_refused() {
    let id = id_of(&[]);
    let many = Endless::new(|n| Raw::of(EntryType::Regular, &format!("f{n:09}"), "", 0));
    assert_eq!(ArchiveLimits::BOT.entries, 100_000);
    let error = refused(many, &id, ArchiveLimits { entries: 10_000, ..ArchiveLimits::BOT });
    assert_eq!(error, "`f000010000`: the archive has more than 10000 files, links and directories");
    let deep = Endless::new(|n| Raw::of(EntryType::Regular, &format!("d{n:09}{}f", "/d".repeat(40)), "", 0));
    let error = refused(deep, &id, ArchiveLimits { entries: 1000, ..ArchiveLimits::BOT });
    assert!(error.ends_with("the archive has more than 1000 files, links and directories"), "{error}");
    let zeros = Endless::new(|n| Raw::of(EntryType::Regular, &format!("f{n:09}"), "", 1));
    let error = refused(zeros, &id, ArchiveLimits { bytes: 1000, ..ArchiveLimits::BOT });
    assert_eq!(error, "`f000001000`: with it the files have 1001 bytes; 1000 are allowed");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    /// After any change of an archive: it is refused, or it is a valid archive of other files.
    #[test]
    fn changed_archive_unpacks_to_own_files_or_not(
        at in 0usize..4096, byte in any::<u8>(), cut in any::<bool>(), block in 0usize..8, with in 0usize..8,
    ) {
        let entries = [Raw::file("a/b"), Raw::file("a/c"), Raw::link("d", "a/b")];
        let mut bytes = archive(entries);
        let length = bytes.len();
        match (cut, block == with) {
            (true, _) => bytes.truncate(at % length),
            (false, true) => bytes[at % length] = byte,
            (false, false) => {
                let (from, to) = (block * 512 % length, with * 512 % length);
                bytes.copy_within(from..from + 512, to);
            }
        }
        let folder = tempdir().unwrap();
        match unpack(Cursor::new(&bytes), &id_of(&bytes), folder.path(), ArchiveLimits::BOT) {
            Ok(()) => prop_assert_eq!(packed(folder.path()).1, bytes),
            Err(error) => {
                prop_assert!(!matches!(error, ArchiveError::Io(_)), "{}", Chain(&error));
                prop_assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
            }
        }
    }
}

#[test]
fn cache_follows_no_planted_link_and_waits_for_no_fifo() {
    let place = tempfile::tempdir().unwrap();
    let path = |name: &str| place.path().join(name);
    let fifo = |path: PathBuf| {
        assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
    };
    fs::write(path("victim"), "precious").unwrap();
    // The directory in which the cache unpacks.
    let work = path("cache").join("work");
    fs::create_dir_all(&work).unwrap();
    std::os::unix::fs::symlink(path("victim"), path("cache/lock")).unwrap();
    let error = Cache::open(&path("cache"), 1 << 20).unwrap_err().to_string();
    assert!(error.contains("lock: expected a file, found a symbolic link"), "{error}");
    assert_eq!(fs::read(path("victim")).unwrap(), b"precious");
    fs::remove_file(path("cache/lock")).unwrap();
    fifo(path("cache/lock"));
    let error = Cache::open(&path("cache"), 1 << 20).unwrap_err().to_string();
    assert!(error.contains("lock: expected a file, found a FIFO"), "{error}");
    fs::remove_file(path("cache/lock")).unwrap();
    fifo(work.join("bot-1"));
    std::os::unix::fs::symlink(place.path(), work.join("bot-2")).unwrap();
    let cache = Cache::open(&path("cache"), 1 << 20).unwrap();
    assert_eq!(fs::read_dir(&work).unwrap().count(), 0);
    assert!(path("victim").exists());
    let id: ArchiveId = "07".repeat(32).parse().unwrap();
    fifo(path("cache").join(format!("{id}.tar")));
    let error = Chain(&cache.get(&id).unwrap_err()).to_string();
    assert!(error.contains("found a FIFO"), "{error}");
}

/// Stores an archive with this many bytes in a cache.
fn stored(cache: &Cache, size: usize, with: u8) -> ArchiveId {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("data"), vec![with; size]).unwrap();
    let mut file = cache.incoming().unwrap();
    let packed = pack_folder(folder.path(), ArchiveLimits::BOT, &mut file).unwrap();
    cache.insert(&packed.id, file).unwrap();
    packed.id
}

fn names(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

#[test]
fn each_user_of_cached_bot_has_files_of_its_own() {
    let folder = tempdir().unwrap();
    let cache = Cache::open(&folder.path().join("cache"), 1 << 20).unwrap();
    let id = stored(&cache, 1000, 1);
    let one = cache.get(&id).unwrap().unwrap();
    fs::write(one.path().join("data"), "changed").unwrap();
    let other = cache.get(&id).unwrap().unwrap();
    assert_eq!(fs::read(other.path().join("data")).unwrap(), vec![1; 1000]);
    drop((one, other));
    assert_eq!(names(&folder.path().join("cache/work")), [""; 0], "their files are removed");
    assert!(cache.get(&id_of(b"another")).unwrap().is_none());
}

#[test]
fn damaged_archive_in_cache_is_removed_and_stored_again() {
    let folder = tempdir().unwrap();
    let cache = Cache::open(folder.path(), 1 << 20).unwrap();
    let id = stored(&cache, 1000, 1);
    let path = folder.path().join(format!("{id}.tar"));
    let mut bytes = fs::read(&path).unwrap();
    bytes[600] ^= 1;
    fs::write(&path, bytes).unwrap();
    assert!(cache.get(&id).unwrap().is_none());
    assert!(!path.exists());
    assert_eq!(stored(&cache, 1000, 1), id);
    assert!(cache.get(&id).unwrap().is_some());
}

#[test]
fn an_altered_archive_is_not_stored() {
    let folder = tempdir().unwrap();
    let cache = Cache::open(folder.path(), 1 << 20).unwrap();
    let mut file = cache.incoming().unwrap();
    pack_folder(bot().path(), ArchiveLimits::BOT, &mut file).unwrap();
    let error = Chain(&cache.insert(&id_of(b"another"), file).unwrap_err()).to_string();
    assert!(error.contains("was asked for"), "{error}");
    assert_eq!(names(folder.path()), ["lock", "work"]);
    assert_eq!(names(&folder.path().join("work")), [""; 0]);
}

#[test]
fn least_recently_used_archive_leaves_full_cache() {
    let folder = tempdir().unwrap();
    // An archive has 512 bytes of header, 1,024 of contents and 1,024 at its end.
    let cache = Cache::open(folder.path(), 3 * 2560).unwrap();
    let ids: Vec<ArchiveId> = (0..3).map(|with| stored(&cache, 1000, with)).collect();
    let has = |id: &ArchiveId| folder.path().join(format!("{id}.tar")).exists();
    assert!(ids.iter().all(has));
    let held = cache.get(&ids[1]).unwrap().unwrap();
    drop(cache.get(&ids[0]).unwrap());
    let fourth = stored(&cache, 1000, 3);
    assert_eq!([&ids[0], &ids[1], &ids[2], &fourth].map(has), [true, true, false, true]);
    // The oldest one is in use.
    let fifth = stored(&cache, 1000, 4);
    assert_eq!([&ids[0], &ids[1], &fourth, &fifth].map(has), [false, true, true, true]);
    assert_eq!(fs::read(held.path().join("data")).unwrap(), vec![1; 1000]);
    // One that is larger than the cache is usable.
    let id = stored(&cache, 10_000, 5);
    assert!(cache.get(&id).unwrap().is_some());
}

#[test]
fn a_cache_is_cleaned_of_what_killed_workers_left() {
    let folder = tempdir().unwrap();
    let cache = Cache::open(folder.path(), 1 << 20).unwrap();
    let id = stored(&cache, 1000, 1);
    let in_use = cache.get(&id).unwrap().unwrap();
    let arriving = cache.incoming().unwrap();
    fs::create_dir_all(folder.path().join("work/bot-killed/lib")).unwrap();
    fs::write(folder.path().join("work/incoming-killed"), "half").unwrap();
    let again = Cache::open(folder.path(), 1 << 20).unwrap();
    let left = names(&folder.path().join("work"));
    assert!(left.len() == 2 && !left.iter().any(|name| name.ends_with("killed")), "{left:?}");
    assert!(in_use.path().join("data").exists() && arriving.path().exists());
    assert!(again.get(&id).unwrap().is_some());
}

#[test]
fn a_seed_of_the_fuzz_target_is_a_valid_archive() {
    let seed = fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/seeds/archive/bot")).unwrap();
    let folder = tempdir().unwrap();
    unpack(Cursor::new(&seed), &id_of(&seed), folder.path(), ArchiveLimits::BOT).unwrap();
    assert_eq!(packed(folder.path()).1, seed);
}

const SMALL: ArchiveLimits = ArchiveLimits { bytes: 1 << 20, entries: 50 };

/// A zip file with these files, as Unix writes it.
fn zipped(files: &[(&str, u32, &[u8])]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, mode, contents) in files {
        let options = zip::write::SimpleFileOptions::default().unix_permissions(*mode);
        match mode & 0o170_000 {
            0o120_000 => zip.add_symlink(*name, std::str::from_utf8(contents).unwrap(), options).unwrap(),
            _ => {
                zip.start_file(*name, options).unwrap();
                io::Write::write_all(&mut zip, contents).unwrap();
            }
        }
    }
    zip.finish().unwrap().into_inner()
}

/// A tar.gz of these headers, each with so many zeros.
fn gzipped(entries: &[(&str, EntryType, u64, &str)]) -> Vec<u8> {
    let gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let mut tar = tar::Builder::new(gzip);
    for (name, kind, size, target) in entries {
        let mut header = Header::new_gnu();
        header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
        header.set_entry_type(*kind);
        header.set_size(*size);
        header.set_mode(0o777);
        header.set_link_name_literal(target).unwrap();
        header.set_cksum();
        tar.append(&header, io::repeat(0).take(*size)).unwrap();
    }
    tar.into_inner().unwrap().finish().unwrap()
}

fn replaced(mut bytes: Vec<u8>, from: &[u8], to: &[u8]) -> Vec<u8> {
    let places: Vec<usize> =
        (0..=bytes.len() - from.len()).filter(|&at| bytes[at..].starts_with(from)).collect();
    assert!(!places.is_empty());
    places.into_iter().for_each(|at| bytes[at..at + to.len()].copy_from_slice(to));
    bytes
}

fn unpacked_foreign(archive: &[u8]) -> Result<TempDir, String> {
    let folder = tempdir().unwrap();
    match unpack_foreign(Cursor::new(archive), folder.path(), SMALL) {
        Ok(true) => Ok(folder),
        Ok(false) => Err("not foreign".to_owned()),
        Err(error) => Err(Chain(&error).to_string()),
    }
}

#[test]
fn foreign_archives_are_unpacked_without_files_of_systems() {
    let zip = zipped(&[
        ("bot/bot.toml", 0o644, b"name"),
        ("bot/run", 0o755, b"x"),
        ("bot/script", 0o644, b"#!/bin/sh\n"),
        ("bot/link", 0o120_777, b"run"),
        ("bot/.DS_Store", 0o644, b"x"),
        ("bot/._run", 0o644, b"x"),
        ("__MACOSX/bot/._run", 0o644, b"x"),
        ("bot/.git/HEAD", 0o644, b"x"),
    ]);
    let folder = unpacked_foreign(&zip).unwrap();
    let bot = folder.path().join("bot");
    let mode = |name: &str| bot.join(name).symlink_metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!([mode("bot.toml"), mode("run"), mode("script")], [0o644, 0o755, 0o755]);
    assert_eq!(fs::read_link(bot.join("link")).unwrap(), Path::new("run"));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    assert_eq!(fs::read_dir(&bot).unwrap().count(), 4);
    let tar = gzipped(&[
        ("./", EntryType::Directory, 0, ""),
        ("./bot.toml", EntryType::Regular, 3, ""),
        ("./lib/x", EntryType::Regular, 70_000, ""),
        ("./link", EntryType::Symlink, 0, "./lib/x"),
        ("./._link", EntryType::Regular, 3, ""),
    ]);
    let folder = unpacked_foreign(&tar).unwrap();
    assert_eq!(folder.path().join("link").metadata().unwrap().len(), 70_000);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
    assert_eq!(unpacked_foreign(&packed(&bot).1).unwrap_err(), "not foreign");
}

#[test]
fn hostile_zip_files_and_compressed_tar_archives_are_refused() {
    let file = |name: &str| zipped(&[(name, 0o644, b"x")]);
    let twice = replaced(zipped(&[("aa", 0o644, b"x"), ("ab", 0o644, b"y")]), b"ab", b"aa");
    let zeros = vec![0; 2 << 20];
    let lies = replaced(zipped(&[("a", 0o644, &zeros)]), &(2_u32 << 20).to_le_bytes(), &9_u32.to_le_bytes());
    let many: Vec<String> = (0..60).map(|at| at.to_string()).collect();
    let many: Vec<(&str, u32, &[u8])> = many.iter().map(|name| (&**name, 0o644, &b""[..])).collect();
    let deep = "d/".repeat(60) + "x";
    let mut encrypted = file("a");
    encrypted[6] |= 1;
    let central = (0..).find(|&at| encrypted[at..].starts_with(b"PK\x01\x02")).unwrap();
    encrypted[central + 8] |= 1;
    let of_type = |kind| gzipped(&[("a", kind, 0, "b")]);
    let whole = file("a");
    let mut wrong = Vec::new();
    for (archive, says) in [
        (file("../x"), "`../x`: the path contains `..`"),
        (file("a/../../x"), "the path contains `..`"),
        (file("/x"), "`/x`: the path is absolute"),
        (file("C:/x"), "`C:/x`: the path is absolute"),
        (replaced(file("a/b"), b"a/b", b"a\\b"), "the path contains a backslash"),
        (replaced(file("a.b"), b"a.b", b"a\nb"), "the path contains a control character"),
        (file(&"x".repeat(300)), "the path is too long"),
        (twice, "has a name twice"),
        (zipped(&[("a", 0o644, b"x"), ("a/b", 0o644, b"x")]), "a part of its path is a file"),
        (encrypted, "`a`: it is encrypted"),
        (zipped(&[("a", 0o644, &zeros)]), "with it the files have 2097152 bytes; 1048576 are allowed"),
        (lies, "the archive is damaged"),
        (zipped(&many), "the archive has more than 50 files, links and directories"),
        (file(&deep), "the archive has more than 50 files, links and directories"),
        (zipped(&[("a", 0o120_777, b"/etc/passwd")]), "it links to the absolute path `/etc/passwd`"),
        (whole[..whole.len() - 22].to_vec(), "the zip file is cut off"),
        (replaced(whole, b"PK\x01\x02", b"PK\x06\x07"), "for more than 65,535 files"),
        (gzipped(&[("../x", EntryType::Regular, 1, "")]), "the path contains `..`"),
        (gzipped(&[("/x", EntryType::Regular, 1, "")]), "the path is absolute"),
        (gzipped(&[("a", EntryType::Regular, 2 << 20, "")]), "1048576 are allowed"),
        (
            gzipped(&[("a", EntryType::Regular, 1, ""), ("a", EntryType::Regular, 1, "")]),
            "the archive has it twice",
        ),
        (
            gzipped(&[("a", EntryType::Symlink, 0, "b"), ("a/b", EntryType::Regular, 1, "")]),
            "the archive has it twice",
        ),
        (gzipped(&[("a", EntryType::GNULongName, 1 << 20, "")]), "its name or attributes have 1048576 bytes"),
        (gzipped(&[("a", EntryType::XHeader, 1 << 20, "")]), "its name or attributes have 1048576 bytes"),
        (of_type(EntryType::Link), "it is a hard link"),
        (of_type(EntryType::Fifo), "it is a FIFO"),
        (of_type(EntryType::Char), "it is a device"),
        (of_type(EntryType::GNUSparse), "it is a sparse file"),
        (b"\x1f\x8b\x08\0\0\0\0\0".to_vec(), "the archive is damaged"),
        (b"PK\x03\x04".to_vec(), "the zip file is cut off"),
    ] {
        let said = unpacked_foreign(&archive).map_or_else(|said| said, |_| "it was unpacked".to_owned());
        wrong.extend((!said.contains(says)).then(|| format!("{says}: {said}")));
    }
    assert_eq!(wrong, [""; 0]);
}

proptest! {
    #[test]
    fn a_damaged_foreign_archive_never_panics(at in 0_usize..600, byte: u8, is_zip: bool) {
        let mut archive = match is_zip {
            true => zipped(&[("a/b", 0o755, b"some text"), ("link", 0o120_777, b"a/b")]),
            false => gzipped(&[("a/b", EntryType::Regular, 9, ""), ("link", EntryType::Symlink, 0, "a/b")]),
        };
        let at = 2 + at % (archive.len() - 2);
        archive[at] = byte;
        let _ = unpacked_foreign(&archive);
    }
}
