//! `referee init bot`: writes a bot that plays every game.

use std::io::Write;
use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum};

use crate::cli::exit::{Exit, Failure};
use crate::cli::init::project::{Project, WORKFLOW, name_of};
use crate::cli::output::stdout;
use crate::runs::submissions::BOT_FILE;

/// Write a bot that plays random legal moves in every game, with its test, a CI workflow, the `bot.toml` for leagues
/// and an AGENTS.md that tells a coding agent how to work on it
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee init bot --language python mybot
  referee init bot --language rust rusty")]
pub(super) struct Args {
    /// The directory to write, which does not exist or is empty; its name becomes the bot's
    directory: PathBuf,
    /// The language of the bot
    #[arg(long, short, value_enum)]
    language: Language,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Language {
    Python,
    Javascript,
    Rust,
    Go,
    Java,
    C,
    Shell,
    Ruby,
}

/// The template of a language.
struct Template {
    language: &'static str,
    /// The files, of which the first one has the function `choose`.
    files: &'static [(&'static str, &'static str)],
    needs: &'static str,
    /// The command that builds the bot, and its output.
    build: Option<(&'static str, &'static str)>,
    command: &'static str,
}

/// The template of a language, whose files are in `templates/`.
macro_rules! template {
    ($language:literal, $folder:literal, [$($file:literal),+], $needs:literal, $build:expr, $command:literal) => {
        Template {
            language: $language,
            files: &[$(($file, include_str!(concat!("templates/", $folder, "/", $file)))),+],
            needs: $needs,
            build: $build,
            command: $command,
        }
    };
}

impl Language {
    fn template(self) -> Template {
        match self {
            Language::Python => {
                template!("Python", "python", ["mybot.py"], "Python 3", None, "python3 mybot.py")
            }
            Language::Javascript => {
                template!("JavaScript", "javascript", ["mybot.mjs"], "Node.js 18", None, "node mybot.mjs")
            }
            // The templates are no sources of this package: Cargo would leave out their directory.
            Language::Rust => Template {
                language: "Rust",
                files: &[
                    ("src/main.rs", include_str!("templates/rust/main.rs.in")),
                    ("Cargo.toml", include_str!("templates/rust/Cargo.toml.in")),
                ],
                needs: "Rust",
                build: Some(("cargo build --quiet --release", "target/")),
                command: "target/release/mybot",
            },
            Language::Go => template!(
                "Go",
                "go",
                ["main.go", "go.mod"],
                "Go 1.19",
                Some(("go build -o mybot .", "mybot")),
                "./mybot"
            ),
            Language::Java => template!(
                "Java",
                "java",
                ["MyBot.java"],
                "Java 17",
                Some(("javac -d build MyBot.java", "build/")),
                "java -cp build MyBot"
            ),
            Language::C => template!(
                "C",
                "c",
                ["mybot.c", "Makefile"],
                "a C compiler and make",
                Some(("make -s mybot", "mybot")),
                "./mybot"
            ),
            Language::Shell => {
                template!("shell", "shell", ["mybot.sh"], "a shell and jq", None, "sh mybot.sh")
            }
            Language::Ruby => {
                template!("Ruby", "ruby", ["mybot.rb"], "Ruby 2.7", None, "ruby mybot.rb")
            }
        }
    }
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let template = args.language.template();
    let name = name_of(&args.directory);
    let (build, ignored) = template.build.unzip();
    let build_line = build.map(|build| format!("{build}\n")).unwrap_or_default();
    let steps = format!(
        "{build_line}referee play checkers '{0}' '{0}' --set turn_limit=100\n./test.sh\n",
        template.command
    );
    let build_key = build.map(|build| format!("build = \"{build}\"\n")).unwrap_or_default();
    let fill = |text: &str| {
        text.replace("@BUILD@\n", &build_line)
            .replace("@BUILD_KEY@\n", &build_key)
            .replace("@STEPS@", &steps)
            .replace("@COMMAND@", template.command)
            .replace("@LANGUAGE@", template.language)
            .replace("@NEEDS@", template.needs)
            .replace("@FILE@", template.files[0].0)
            .replace("@WHAT@", "bot")
            .replace("@NAME@", &name)
    };
    let mut project = Project::default();
    for (path, text) in template.files {
        project.add(path, fill(text));
    }
    project.add(BOT_FILE, fill(include_str!("templates/bot.toml")));
    project.add("test.sh", fill(include_str!("templates/test.sh")));
    project.add("README.md", fill(include_str!("templates/bot.md")));
    project.add("AGENTS.md", fill(include_str!("templates/agents.md")));
    project.add(WORKFLOW, fill(include_str!("templates/workflow.yml")));
    if let Some(ignored) = ignored {
        project.add(".gitignore", format!("{ignored}\n"));
    }
    project.write(&args.directory)?;
    let mut out = stdout();
    write!(out, "{} plays every game. Next:\n\ncd {}\n{steps}", name, quoted(&args.directory))?;
    out.flush()?;
    Ok(Exit::Done)
}

/// A path as a word of a shell.
pub(in crate::cli) fn quoted(path: &std::path::Path) -> String {
    let path = path.to_string_lossy();
    shlex::try_quote(&path).map_or_else(|_| path.clone().into_owned(), |word| word.into_owned())
}
