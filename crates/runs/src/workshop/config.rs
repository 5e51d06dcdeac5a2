//! The file of a workshop.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use referee_bots::Command;
use referee_bots::sandbox::{Mode, Sandbox};
use referee_files::read_regular;
use referee_game::disguise::disguise;
use referee_game::erased::Rules;
use referee_game::name::NameSet;
use referee_game::{Chain, Wrong, keys};
use serde::Deserialize;
use toml::{Table, Value};

use crate::RunError;
use crate::config::{
    KnownGames, Milliseconds, SandboxConfig, Setting, default_sandbox, unavailable, with_suggestion,
};
use crate::submissions::{BOT_FILE, SubmissionTerms, SubmissionsConfig, untested_layers};
use crate::tournament::{TournamentConfig, relative_path};
use crate::workshop::Version;
use crate::workshop::bench::BASE;

/// The keys of a tournament file that a workshop sets itself.
const OWN_KEYS: [&str; 4] = ["name", "game", "entrants", "workers"];

/// The contents of the file; `guide/workshop.md` explains all keys.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkshopConfig {
    /// The id of its game, or the directory of one that is a program.
    pub game: String,
    pub rounds: u32,
    /// The limit of an agent's time for its bot in each round.
    #[serde(default = "edit_time")]
    pub edit_time: Setting<Milliseconds>,
    /// The number of practice matches of an agent in each round.
    #[serde(default = "practice")]
    pub practice: u32,
    /// The limit of an agent's cost in all rounds, by its own report.
    pub max_cost: Option<f64>,
    /// The directory with which each agent begins.
    start: Option<PathBuf>,
    /// The sandbox of the agents.
    sandbox: Option<SandboxConfig>,
    /// The keys of the tournament of each round.
    #[serde(default)]
    tournament: Table,
    pub agents: Vec<AgentConfig>,
    /// Bots that do not change: all agents practise against them, and they play in each tournament.
    #[serde(default)]
    pub opponents: Vec<OpponentConfig>,
    /// The base of relative paths.
    #[serde(skip)]
    folder: PathBuf,
}

/// A program that edits a bot.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentConfig {
    pub name: String,
    command: String,
    /// Instead of that of the workshop.
    start: Option<PathBuf>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    /// Variables of the referee's environment that it gets, such as those with keys of an API.
    #[serde(default)]
    pass_env: Vec<String>,
}

/// A bot that does not change.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpponentConfig {
    pub name: String,
    pub command: String,
    pub directory: Option<PathBuf>,
}

fn edit_time() -> Setting<Milliseconds> {
    Setting::written("30m", Milliseconds(1_800_000))
}

fn practice() -> u32 {
    100
}

impl WorkshopConfig {
    /// Parses the text of a file, whose relative paths are seen from this directory.
    ///
    /// # Errors
    /// If it is not valid.
    pub fn parse(text: &str, folder: &Path) -> Result<WorkshopConfig, RunError> {
        let config: WorkshopConfig = toml::from_str(text).map_err(|error| with_suggestion(&error))?;
        let config = WorkshopConfig { folder: folder.to_owned(), ..config };
        config.check()?;
        Ok(config)
    }

    /// Reads the text of a file.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn text(path: &Path) -> Result<String, RunError> {
        let read = read_regular(path).map_err(|why| RunError::at(path, why))?;
        String::from_utf8(read).map_err(|_| RunError::from(format!("{}: not UTF-8", path.display())))
    }

    /// The configuration of a bench without a file: matches between a bot and these opponents. Relative paths
    /// are seen from this directory.
    pub fn of_bench(
        game: &str,
        opponents: Vec<OpponentConfig>,
        tournament: Table,
        folder: &Path,
    ) -> WorkshopConfig {
        WorkshopConfig {
            game: game.to_owned(),
            rounds: 1,
            edit_time: edit_time(),
            practice: u32::MAX,
            max_cost: None,
            start: None,
            sandbox: None,
            tournament,
            agents: Vec::new(),
            opponents,
            folder: folder.to_owned(),
        }
    }

    fn check(&self) -> Result<(), RunError> {
        let wrong = |what: String| Err(RunError::from(what));
        if !(1..=10_000).contains(&self.rounds) {
            return wrong(format!("rounds: {} is not from 1 to 10000", self.rounds));
        }
        if *self.edit_time == Milliseconds(0) {
            return wrong("edit_time: 0 leaves no time to edit".to_owned());
        }
        if self.practice > 1_000_000 {
            return wrong(format!("practice: {} is more than 1000000 matches", self.practice));
        }
        if let Some(cost) = self.max_cost.filter(|cost| !cost.is_finite() || *cost <= 0.0) {
            return wrong(format!("max_cost: {cost} is not a number above 0"));
        }
        if let Some(key) = OWN_KEYS.iter().find(|key| self.tournament.contains_key(**key)) {
            return wrong(format!("[tournament] {key}: the workshop sets it; leave it out"));
        }
        if self.agents.is_empty() || self.agents.len() + self.opponents.len() < 2 {
            return wrong("[[agents]]: at least one, and another agent or one of [[opponents]]".to_owned());
        }
        let mut names = NameSet::default();
        // The name `BASE` stands for the last version of each.
        names.add(BASE)?;
        let agents = self.agents.iter().map(|agent| &agent.name);
        for name in agents.chain(self.opponents.iter().map(|opponent| &opponent.name)) {
            names.add(name).map_err(|why| Wrong::at(format!("name `{name}`"), why))?;
        }
        for agent in &self.agents {
            agent
                .command
                .parse::<Command>()
                .map_err(|why| Wrong::at(format!("agent `{}`", agent.name), why))?;
        }
        Ok(())
    }

    /// Checks what has to be on this machine for it to begin.
    pub(super) fn check_here(&self) -> Result<(), RunError> {
        for agent in &self.agents {
            self.command(agent)?;
            let start = self.start(agent)?;
            if !start.join(BOT_FILE).is_file() {
                let (name, start) = (&agent.name, start.display());
                return Err(RunError::from(format!(
                    "`{name}` starts with {start}, which has no {BOT_FILE}: `referee init bot` writes one"
                )));
            }
        }
        Ok(())
    }

    /// The rules of the game, disguised if the tournaments are.
    pub(super) fn find_game(&self, games: &mut KnownGames) -> Result<&'static dyn Rules, RunError> {
        let rules = games.find(&self.folder, &self.game)?;
        let Some(text) = self.tournament.get("disguise").and_then(Value::as_str) else { return Ok(rules) };
        let rules = disguise(rules, text).map_err(|why| Wrong::at("[tournament] disguise", why))?;
        games.add_kept(rules);
        Ok(rules)
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The directory with which an agent begins.
    pub(super) fn start(&self, agent: &AgentConfig) -> Result<PathBuf, RunError> {
        let start = agent.start.as_ref().or(self.start.as_ref());
        let missing =
            || RunError::from(format!("start: `{}` has none, and the workshop neither", agent.name));
        Ok(self.folder.join(start.ok_or_else(missing)?))
    }

    /// The command line of an agent. Words that name files are seen from the directory of the workshop file.
    pub(super) fn command(&self, agent: &AgentConfig) -> Result<Command, RunError> {
        let named = |why: Wrong| Wrong::at(format!("agent `{}`", agent.name), why);
        let mut command: Command = agent.command.parse().map_err(named)?;
        for word in &mut command.argv {
            let path = self.folder.join(&word);
            if word.contains(['/', '.']) && path.is_file() {
                *word = path.to_string_lossy().into_owned();
            }
        }
        command.env.clone_from(&agent.env);
        for name in &agent.pass_env {
            let value =
                std::env::var(name).map_err(|why| named(Wrong::at(format!("pass_env: {name}"), why)))?;
            command.env.insert(name.clone(), value);
        }
        command.sandbox = match &self.sandbox {
            Some(sandbox) => sandbox.sandbox(|path| self.folder.join(path), keys)?,
            None => default_sandbox(keys, &mut Vec::new()),
        };
        Ok(command)
    }

    /// The sandbox of bots, which the tournament has.
    fn bot_sandbox_config(&self) -> Result<Option<SandboxConfig>, RunError> {
        let table = self.tournament.get("sandbox").cloned();
        let config = table.map(Value::try_into::<SandboxConfig>).transpose();
        Ok(config.map_err(|error| with_suggestion(&error))?)
    }

    /// The sandbox of bots that are checked.
    pub(super) fn bot_sandbox(&self) -> Result<Sandbox, RunError> {
        Ok(match self.bot_sandbox_config()? {
            Some(config) => config.sandbox(|path| self.folder.join(path), keys)?,
            None => default_sandbox(keys, &mut Vec::new()),
        })
    }

    /// The sandbox of builds: `strict`, as in leagues, without the layers that the bots may lack.
    pub(super) fn build_sandbox(&self, terms: &SubmissionTerms) -> Result<Sandbox, RunError> {
        let allowed = self.bot_sandbox_config()?.map(|config| config.allow_missing).unwrap_or_default();
        let allowed = allowed.into_iter().chain(untested_layers()).collect();
        Sandbox::new(Mode::Strict, &allowed, terms.build.clone()).map_err(|why| unavailable(why, keys))
    }

    /// The limits of what agents hand in: those of leagues.
    pub(super) fn terms() -> Result<SubmissionTerms, RunError> {
        SubmissionsConfig::default().terms(u32::MAX).map_err(|why| RunError::from(Chain(&why).to_string()))
    }

    /// A tournament between these entrants. With `sets`, each two of them play this number of mirrored sets.
    pub(super) fn tournament(
        &self,
        name: &str,
        rules: &dyn Rules,
        entrants: Vec<Table>,
        sets: Option<u32>,
    ) -> Result<TournamentConfig, RunError> {
        let mut table = self.tournament.clone();
        let round_robin = |cycles: u32| {
            Table::from_iter([
                ("kind".to_owned(), "round_robin".into()),
                ("cycles".to_owned(), i64::from(cycles).into()),
            ])
        };
        if let Some(sets) = sets {
            for key in ["listen", "publish", "rank_by", "seed", "seed_file"] {
                table.remove(key);
            }
            table.insert("format".to_owned(), Value::Table(round_robin(sets)));
            table.insert("mirror".to_owned(), "rotations".into());
        }
        table.entry("format").or_insert_with(|| Value::Table(round_robin(10)));
        if !table.contains_key("openings") {
            // Deterministic bots would repeat one match.
            let plies = i64::from(rules.meta().openings.unwrap_or(0));
            table.entry("opening_plies").or_insert_with(|| plies.into());
        }
        table.insert("name".to_owned(), name.into());
        table.insert("game".to_owned(), self.game.as_str().into());
        table.insert("entrants".to_owned(), Value::Array(entrants.into_iter().map(Value::Table).collect()));
        let text = toml::to_string(&table).map_err(|error| RunError::from(error.to_string()))?;
        Ok(TournamentConfig::parse(&text)?.with_base(&self.folder))
    }

    /// A version of a bot as an entrant.
    pub(super) fn entrant(&self, name: &str, version: &Version) -> Result<Table, RunError> {
        let files =
            relative_path(&self.folder, &version.folder).map_err(|why| RunError::at(&version.folder, why))?;
        let text = |value: &Path| Value::from(value.to_string_lossy().into_owned());
        Ok(Table::from_iter([
            ("name".to_owned(), name.into()),
            ("command".to_owned(), version.command.to_string().into()),
            ("files".to_owned(), text(&files)),
        ]))
    }

    /// The opponent of this name as an entrant.
    ///
    /// # Errors
    /// If there is none.
    pub(super) fn opponent(&self, name: &str) -> Result<Table, Wrong> {
        let Some(opponent) = self.opponents.iter().find(|opponent| opponent.name == name) else {
            let names: Vec<&str> = self.opponents.iter().map(|opponent| opponent.name.as_str()).collect();
            return Err(Wrong::from(format!("unknown opponent `{name}`; available: {}", names.join(", "))));
        };
        let directory = opponent
            .directory
            .as_ref()
            .map(|directory| ("directory".to_owned(), Value::from(directory.to_string_lossy().into_owned())));
        let named =
            [("name".to_owned(), name.into()), ("command".to_owned(), opponent.command.as_str().into())];
        Ok(named.into_iter().chain(directory).collect())
    }
}
