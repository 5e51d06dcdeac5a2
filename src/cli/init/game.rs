//! `referee init game`: writes a game whose rules are a program.

use std::io::Write;
use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum};

use crate::cli::exit::{Exit, Failure};
use crate::cli::init::bot::quoted;
use crate::cli::init::project::{Project, WORKFLOW, name_of};
use crate::cli::output::stdout;
use crate::game::Catalog;

/// The longest id of a game, in characters.
const LONGEST_ID: usize = 40;

/// Write a game whose rules are a program, with a bot, its test and a CI workflow
///
/// The game is played with a heap of sticks and plays at once. In Python and JavaScript, a copy of the SDK is written beside
/// it, so that it needs nothing to be installed.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee init game --language python mygame
  referee init game --language c sticks")]
pub(super) struct Args {
    /// The directory to write, which does not exist or is empty; its name becomes that of the game
    directory: PathBuf,
    /// The language of the rules and of the bot
    #[arg(long, short, value_enum)]
    language: GameLanguage,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum GameLanguage {
    Python,
    Javascript,
    C,
    Rust,
}

/// The template of a language.
struct GameTemplate {
    language: &'static str,
    /// The files, of which the first one has the rules.
    files: &'static [(&'static str, &'static str)],
    /// The files that a record identifies, beside the rules page.
    identified: &'static [&'static str],
    needs: &'static str,
    /// The command that builds the game and the bot, and its output.
    build: Option<(&'static str, &'static str)>,
    command: &'static str,
    bot: &'static str,
}

impl GameLanguage {
    fn template(self) -> GameTemplate {
        match self {
            GameLanguage::Python => GameTemplate {
                language: "Python",
                files: &[
                    ("game.py", include_str!("templates/game/python/game.py")),
                    ("referee_game.py", include_str!("../../../bots/python/referee_game/__init__.py")),
                    ("bot.py", include_str!("templates/python/mybot.py")),
                ],
                identified: &["game.py", "referee_game.py"],
                needs: "Python 3.9",
                build: None,
                command: "python3 game.py",
                bot: "python3 bot.py",
            },
            GameLanguage::Javascript => GameTemplate {
                language: "JavaScript",
                files: &[
                    ("game.mjs", include_str!("templates/game/javascript/game.mjs")),
                    ("referee_game.mjs", include_str!("../../../bots/javascript/src/game.js")),
                    ("bot.mjs", include_str!("templates/javascript/mybot.mjs")),
                ],
                identified: &["game.mjs", "referee_game.mjs"],
                needs: "Node.js 18",
                build: None,
                command: "node game.mjs",
                bot: "node bot.mjs",
            },
            GameLanguage::C => GameTemplate {
                language: "C",
                files: &[
                    ("game.c", include_str!("templates/game/c/game.c")),
                    ("Makefile", include_str!("templates/game/c/Makefile")),
                    ("bot.c", include_str!("templates/c/mybot.c")),
                ],
                identified: &["game.c", "Makefile"],
                needs: "a C compiler, make, pkg-config and cJSON (Debian: gcc make pkg-config libcjson-dev)",
                build: Some(("make -s", "/game\n/bot\n")),
                command: "./game",
                bot: "./bot",
            },
            // The templates are no sources of this package: Cargo would leave out their directory.
            GameLanguage::Rust => GameTemplate {
                language: "Rust",
                files: &[
                    ("src/main.rs", include_str!("templates/game/rust/main.rs.in")),
                    ("Cargo.toml", include_str!("templates/game/rust/Cargo.toml.in")),
                    ("src/bin/bot.rs", include_str!("templates/rust/main.rs.in")),
                ],
                identified: &["src", "Cargo.toml"],
                needs: "Rust",
                build: Some(("cargo build --quiet --release", "/target/\n")),
                command: "target/release/game",
                bot: "target/release/bot",
            },
        }
    }
}

/// The id of a game with this name.
fn id_of(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
    let id: String =
        name.chars().map(plain).skip_while(|c| !c.is_ascii_lowercase()).take(LONGEST_ID).collect();
    if id.is_empty() { "mygame".to_owned() } else { id }
}

pub(super) fn run(args: &Args, catalog: &Catalog) -> Result<Exit, Failure> {
    let template = args.language.template();
    let name = name_of(&args.directory);
    let id = id_of(&name);
    if catalog.find(&id).is_ok() {
        return Err(Failure::usage(format!("{id} is a game of the referee: name another directory")));
    }
    let (build, ignored) = template.build.unzip();
    let build_line = build.map(|build| format!("{build}\n")).unwrap_or_default();
    let steps = format!(
        "{build_line}referee game check .\nreferee play . '{0}' '{0}' --record records\nreferee show records --game . --html -o \
         match.html\n",
        template.bot
    );
    let files: Vec<String> = template.identified.iter().map(|file| format!("{file:?}")).collect();
    let fill = |text: &str| {
        text.replace("@BUILD@\n", &build_line)
            .replace("@STEPS@", &steps)
            .replace("@COMMAND@", template.command)
            .replace("@FILES@", &files.join(", "))
            .replace("@LANGUAGE@", template.language)
            .replace("@NEEDS@", template.needs)
            .replace("@FILE@", template.files[0].0)
            .replace("@WHAT@", "game")
            .replace("@ID@", &id)
            .replace("@NAME@", &name)
    };
    let mut project = Project::default();
    for (path, text) in template.files {
        project.add(path, fill(text));
    }
    for (path, text) in [
        ("game.toml", include_str!("templates/game/game.toml")),
        ("rules.md", include_str!("templates/game/rules.md")),
        ("README.md", include_str!("templates/game/README.md")),
        ("test.sh", include_str!("templates/game/test.sh")),
        (WORKFLOW, include_str!("templates/workflow.yml")),
    ] {
        project.add(path, fill(text));
    }
    project.add(".gitignore", format!("/records/\n/match.html\n{}", ignored.unwrap_or("__pycache__/\n")));
    project.write(&args.directory)?;
    let mut out = stdout();
    write!(out, "{} is a game that plays at once. Next:\n\ncd {}\n{steps}", name, quoted(&args.directory))?;
    out.flush()?;
    Ok(Exit::Done)
}
