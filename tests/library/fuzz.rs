//! The seeds of the fuzz targets, and the findings of fuzzing.

use std::fs;
use std::path::PathBuf;

use referee::fuzzing;

/// Runs a target with each of its seeds. Its assertions hold for all of them.
fn run_seeds(target: &str, run: fn(&[u8])) {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds").join(target);
    let seeds: Vec<PathBuf> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(!seeds.is_empty(), "{}", folder.display());
    for seed in seeds {
        println!("{}", seed.display());
        run(&fs::read(&seed).unwrap());
    }
}

macro_rules! targets {
    ($($target:ident),*) => {
        const TARGETS: &[&str] = &[$(stringify!($target)),*];
        $(
            #[test]
            fn $target() {
                run_seeds(stringify!($target), fuzzing::$target);
            }
        )*
    };
}

targets!(
    archive, engine, fen, imagine, lines, message, outcome, page, pdn, record, rules, session, tournament
);

#[test]
fn every_target_has_seeds_and_is_run() {
    for folder in ["seeds", "fuzz_targets"] {
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fuzz").join(folder);
        let names = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path());
        let mut names: Vec<String> =
            names.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect();
        names.sort_unstable();
        assert_eq!(names, TARGETS, "{folder}");
    }
}

/// `cargo build --workspace` builds the targets too.
#[test]
fn every_target_can_be_built_without_cargo_fuzz() {
    for target in TARGETS {
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("fuzz/fuzz_targets/{target}.rs"));
        let text = fs::read_to_string(path).unwrap();
        assert!(text.starts_with("#![cfg_attr(fuzzing, no_main)]\n"), "{target}");
        assert!(text.ends_with("\n#[cfg(not(fuzzing))]\nfn main() {}\n"), "{target}");
    }
}
