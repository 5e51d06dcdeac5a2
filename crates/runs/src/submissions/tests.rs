//! The archive of a directory.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use referee_game::Chain;
use referee_workers::archive::{ArchiveLimits, unpack};
use tempfile::tempdir;

use super::pack_bot;

const LIMITS: ArchiveLimits = ArchiveLimits { bytes: 1000, entries: 20 };

/// Writes empty files, and a `bot.toml` with this line.
fn directory(line: &str, files: &[&str]) -> tempfile::TempDir {
    let folder = tempdir().unwrap();
    for file in files {
        let path = folder.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    }
    fs::write(folder.path().join("bot.toml"), format!("name = 'm'\ncommand = './m'\n{line}\n")).unwrap();
    folder
}

/// The files of the archive.
fn packed(folder: &Path) -> Result<Vec<String>, String> {
    let mut archive = tempfile::tempfile().unwrap();
    let packed = pack_bot(folder, LIMITS, &mut archive).map_err(|error| Chain(&error).to_string())?.archive;
    let to = tempdir().unwrap();
    std::io::Seek::rewind(&mut archive).unwrap();
    unpack(&mut archive, &packed.id, to.path(), LIMITS).unwrap();
    let mut found = Vec::new();
    let mut folders = vec![to.path().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.push(path.strip_prefix(to.path()).unwrap().to_str().unwrap().to_owned());
            }
        }
    }
    found.sort();
    Ok(found)
}

const FILES: [&str; 8] = [
    "main.py",
    "src/a.py",
    "src/deep/b.py",
    "target/big",
    "node_modules/x/y",
    ".git/config",
    ".venv/z",
    "src/__pycache__/a.pyc",
];

#[test]
fn what_builds_and_tools_write_is_left_out() {
    let folder = directory("", &FILES);
    assert_eq!(packed(folder.path()).unwrap(), ["bot.toml", "main.py", "src/a.py", "src/deep/b.py"]);
}

#[test]
fn files_are_paths_and_globs() {
    let of = |line: &str| packed(directory(line, &FILES).path());
    assert_eq!(of("files = ['*.py']").unwrap(), ["bot.toml", "main.py"]);
    assert_eq!(of("files = ['src/*.py']").unwrap(), ["bot.toml", "src/a.py"]);
    assert_eq!(of("files = ['**/*.py']").unwrap(), ["bot.toml", "main.py", "src/a.py", "src/deep/b.py"]);
    assert_eq!(of("files = ['./src/deep/', 'target']").unwrap(), ["bot.toml", "src/deep/b.py", "target/big"]);
    assert_eq!(of("files = []").unwrap(), ["bot.toml"]);
    assert!(of("files = ['nothing']").unwrap_err().contains("`nothing` matches no file"));
    assert!(of("files = ['a[']").unwrap_err().starts_with("bot.toml: files: `a[`: "));
    assert!(of("files = ['.git']").unwrap_err().contains("matches no file"));
}

#[test]
fn what_is_left_out_is_named() {
    let left_out = |line: &str| {
        let packed = pack_bot(directory(line, &FILES).path(), LIMITS, std::io::sink()).unwrap();
        packed.left_out.iter().map(|path| path.display().to_string()).collect::<Vec<_>>()
    };
    assert_eq!(left_out(""), [".venv", "node_modules", "target"]);
    assert_eq!(left_out("files = ['*.py']"), [""; 0]);
}

#[test]
fn inner_link_stays_and_outer_link_is_refused() {
    let folder = directory("", &["lib/x.py", "data/book"]);
    let path = |name: &str| folder.path().join(name);
    // As `python3 -m venv --copies` makes one.
    fs::create_dir_all(path("venv/lib")).unwrap();
    fs::write(path("venv/lib/y.py"), "").unwrap();
    symlink("lib", path("venv/lib64")).unwrap();
    symlink(path("data/book"), path("book")).unwrap();
    let expected = ["book", "bot.toml", "data/book", "lib/x.py", "venv/lib/y.py", "venv/lib64/y.py"];
    assert_eq!(packed(folder.path()).unwrap(), expected);
    let outside = tempdir().unwrap();
    fs::write(outside.path().join("key"), "secret").unwrap();
    for target in [outside.path().to_owned(), outside.path().join("key"), "/etc/passwd".into()] {
        let link = path("data/out");
        symlink(&target, &link).unwrap();
        let refused = packed(folder.path()).unwrap_err();
        assert!(refused.starts_with("`data/out`: it links to /"), "{refused}");
        assert!(refused.ends_with(", which is outside the directory"), "{refused}");
        fs::remove_file(&link).unwrap();
    }
    // A link that is left out may lead anywhere.
    symlink("/etc/passwd", path(".out")).unwrap();
    assert_eq!(packed(folder.path()).unwrap(), expected);
    fs::write(path("bot.toml"), "name = 'm'\ncommand = './m'\nfiles = ['.out']\n").unwrap();
    assert!(packed(folder.path()).unwrap_err().starts_with("`.out`: it links to /etc/passwd"));
    fs::write(path("bot.toml"), "name = 'm'\ncommand = './m'\nfiles = ['book']\n").unwrap();
    assert!(packed(folder.path()).unwrap_err().contains("links to `data/book`, which is not in the archive"));
    fs::remove_file(path("bot.toml")).unwrap();
    symlink("/etc/passwd", path("bot.toml")).unwrap();
    let refused = packed(folder.path()).unwrap_err();
    assert_eq!(refused, "bot.toml: `bot.toml`: it links to /etc/passwd, which is outside the directory");
}

#[test]
fn a_directory_has_limits() {
    let names: Vec<String> = (0..30).map(|number| number.to_string()).collect();
    let folder = directory("", &names.iter().map(String::as_str).collect::<Vec<_>>());
    assert!(packed(folder.path()).unwrap_err().contains("has more than 20 files"));
    let folder = directory("", &[]);
    fs::write(folder.path().join("big"), [0; 2000]).unwrap();
    assert!(packed(folder.path()).unwrap_err().contains("1000 are allowed"));
}
