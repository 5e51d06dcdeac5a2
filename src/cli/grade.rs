//! `referee grade`: grades bots that were handed in, by matches against anchors.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args as ClapArgs;
use serde_json::{Value, json};

use crate::cli::bots::with_bots;
use crate::cli::exit::{Exit, Failure};
use crate::cli::files::OutFile;
use crate::cli::find_game::known_games;
use crate::cli::json::GradeLine;
use crate::cli::options::random_seed;
use crate::cli::output::TolerantStdout;
use crate::cli::progress::{Progress, RunProgress};
use crate::cli::sandbox::SandboxOptions;
use crate::cli::screen::{Screen, stderr_line};
use crate::cli::signals::interrupted_giving_up;
use crate::cli::submitted::Submission;
use crate::files::StorageWait;
use crate::game::printable::{printable, printable_lines};
use crate::game::{Catalog, Chain, counted, json};
use crate::report::table;
use crate::runs::Placement;
use crate::runs::config::KnownGames;
use crate::runs::submissions::BOT_FILE;
use crate::runs::tournament::{
    GRADED_BOT, GradingPlace, Tournament, TournamentConfig, TournamentEvent, find_grading, relative_path,
};
use crate::stats::Entrant;
use crate::stats::grade::GradeScale;
use crate::stats::schedule::Schedule;

/// Grade bots that were handed in, by matches against bots of known strength
///
/// Builds each bot as a league does it to which it is handed in, and plays sets of matches between it and the anchors of a file,
/// those of its own strength most, until two gradings of the same bot would differ by at most the tolerance of the file (2 points)
/// in 95% of all cases. The strength gives points and a grade by the thresholds of the file
/// (`referee spec results` states the method and what was simulated).
///
/// The file is a tournament file of the format `grade`: its entrants are the anchors, each with its strength as `elo`, and
/// [[grades]] has the thresholds. examples/grade.toml explains it.
///
/// Each measurement is a tournament in a directory of its own in --dir, named after the bot's archive, the anchors and the
/// settings. A bot that has been measured is not measured again, an interrupted one is measured on, and `referee tournament
/// report` and `watch` show the matches. Thresholds between the first and the last that leave the steepest part as it is grade anew
/// without matches.
///
/// The exit code is 0 if all are graded, 1 if one was refused, because it cannot be built or has no valid bot.toml, 3 if one is
/// not known within the tolerance after the maximum number of sets, 4 if the anchors make too many faults, 130 interrupted.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee grade mybot --against anchors.toml
  referee grade mybot.tar --against anchors.toml --json
  referee grade submissions --against anchors.toml --dir grades --json > grades.ndjson
  referee grade /autograder/submission --against anchors.toml --gradescope results.json")]
pub(super) struct Args {
    /// The directory of a bot with a `bot.toml`; its archive, as `referee submit --save` writes it, or a zip file or a tar.gz of the
    /// directory; or a directory of these
    #[arg(value_name = "DIR|ARCHIVE")]
    path: PathBuf,
    /// The file with the anchors, the settings of the matches and the grades
    #[arg(long, value_name = "FILE")]
    against: PathBuf,
    /// The directory of the measurements
    #[arg(long, value_name = "DIR", default_value = "grades")]
    dir: PathBuf,
    /// Write the grade of the only bot to this file as `results.json` of an autograder of Gradescope
    #[arg(long, value_name = "FILE")]
    gradescope: Option<PathBuf>,
    /// One JSON object per line: each bot
    #[arg(long)]
    json: bool,
    /// Do not wait until records and results are on the disk: faster, but a power failure may lose them
    #[arg(long)]
    no_fsync: bool,
    #[command(flatten)]
    sandbox: SandboxOptions,
}

/// Extensions of archives.
const ARCHIVES: [&str; 4] = [".tar", ".tar.gz", ".tgz", ".zip"];

/// The bots in a directory, by name; or the only one.
fn submissions(path: &Path) -> Result<Vec<(String, PathBuf)>, Failure> {
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let of_archive =
        |name: &str| ARCHIVES.iter().find_map(|ending| name.strip_suffix(ending)).map(str::to_owned);
    if !path.is_dir() || path.join(BOT_FILE).exists() {
        let full = name(&std::path::absolute(path).map_err(Failure::cannot_run)?);
        let archive = of_archive(&full).filter(|_| !path.is_dir());
        return Ok(vec![(archive.unwrap_or(full), path.to_owned())]);
    }
    let unreadable = |error| Failure::usage(format!("{}: {error}", path.display()));
    let mut found = Vec::new();
    for entry in fs::read_dir(path).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        let full = name(&path);
        let bot = if path.is_dir() { Some(full.clone()) } else { of_archive(&full) };
        found.extend(bot.filter(|_| !full.starts_with('.')).map(|bot| (bot, path)));
    }
    if found.is_empty() {
        let what = format!(
            "{} has neither a bot.toml nor directories or archives ({}) of bots",
            path.display(),
            ARCHIVES.join(", ")
        );
        return Err(Failure::usage(what));
    }
    found.sort();
    Ok(found)
}

pub(super) fn run(args: &Args, catalog: &Catalog) -> Result<Exit, Failure> {
    let games = known_games(catalog)?;
    let mut config = TournamentConfig::read(&args.against)?;
    config.scale()?;
    let sandbox = config.strict_sandbox(args.sandbox.checked_config()?)?;
    let submissions = submissions(&args.path)?;
    if args.gradescope.is_some() && submissions.len() > 1 {
        return Err(Failure::usage("--gradescope: a results.json has the grade of one bot"));
    }
    let gradescope =
        args.gradescope.as_deref().map(|path| OutFile::create("--gradescope", path)).transpose()?;
    fs::create_dir_all(&args.dir)
        .map_err(|error| Failure::cannot_run(format!("--dir {}: {error}", args.dir.display())))?;
    let place = args.dir.canonicalize().map_err(Failure::cannot_run)?;
    let grader = Grader { config, sandbox, games, place, is_durable: !args.no_fsync };
    let mut out = Screen(TolerantStdout::new());
    let all = submissions.len();
    let mut lines = Vec::new();
    let mut exit = Exit::Done;
    for (at, (name, path)) in submissions.into_iter().enumerate() {
        let label = if all == 1 { name.clone() } else { format!("{} of {all}: {name}", at + 1) };
        let line = match grader.grade(&name, &path, &label) {
            Ok(Some(line)) => line,
            Ok(None) => {
                stderr_line("interrupted: the same command continues");
                exit = Exit::Interrupted;
                break;
            }
            Err(failure) => return Err(failure),
        };
        exit = match (&line.grade, line.is_known) {
            (None, _) => Exit::No,
            (_, false) if exit == Exit::Done && line.sets < line.dropped => Exit::Invalid,
            (_, false) if exit == Exit::Done => Exit::Undecided,
            _ => exit,
        };
        if args.json {
            writeln!(out, "{}", json::text(&line))?;
        } else if all > 1 {
            stderr_line(format_args!("{label}: {}", line.in_words()));
        }
        lines.push(line);
    }
    if let (Some(file), [line]) = (gradescope, &lines[..]) {
        let results = json::text(&results_json(line)) + "\n";
        file.write(|file| file.write_all(results.as_bytes()))?;
    }
    if !args.json {
        show(&mut out, &lines)?;
    }
    out.0.end(exit)
}

struct Grader {
    /// The file, with the anchors as its entrants.
    config: TournamentConfig,
    sandbox: crate::bot::sandbox::Sandbox,
    games: KnownGames,
    /// The directory of the measurements.
    place: PathBuf,
    is_durable: bool,
}

impl Grader {
    /// Grades a bot; `None` if that is interrupted.
    fn grade(&self, name: &str, path: &Path, label: &str) -> Result<Option<GradeLine>, Failure> {
        // A defect of one bot does not keep the others from their grades.
        let submission = match Submission::open(path) {
            Err(failure) if failure.exit == Exit::Usage => {
                return Ok(Some(GradeLine::refused(name, failure.to_string())));
            }
            submission => submission?,
        };
        let key = self.config.grading_key(&submission.id)?;
        let tournament = match find_grading(&self.place, &key, &self.games, self.is_durable)? {
            GradingPlace::Begun(tournament) => *tournament,
            GradingPlace::New(directory) => {
                // Remains of an interrupted build.
                if directory.exists() {
                    fs::remove_dir_all(&directory).map_err(Failure::cannot_run)?;
                }
                fs::create_dir(&directory).map_err(Failure::cannot_run)?;
                let bot = directory.join(GRADED_BOT);
                let built = match submission.build(&directory, &bot, &self.sandbox) {
                    Err(failure) if failure.exit == Exit::No => {
                        return Ok(Some(GradeLine::refused(name, failure.to_string())));
                    }
                    built => built?,
                };
                if let Err(defect) = built.command.check() {
                    return Ok(Some(GradeLine::refused(name, Chain(&defect).to_string())));
                }
                let files = relative_path(self.config.folder(), &bot).map_err(Failure::cannot_run)?;
                let config = self.config.with_graded(&built.file, &files);
                let seed = config.seed()?.map_or_else(random_seed, Ok)?;
                Tournament::create(&directory, config, seed, &self.games, self.is_durable)?
            }
        };
        let (directory, bot) = (tournament.folder.path.clone(), tournament.config.names().swap_remove(0));
        let (scale, _) = self.config.scale()?;
        let line = |schedule: &Schedule, is_new: bool| {
            let (bot, directory) = (bot.clone(), directory.clone());
            GradeLine {
                submission: name.to_owned(),
                bot: Some(bot),
                directory: Some(directory),
                is_new,
                ..graded(scale, schedule)
            }
        };
        if tournament.schedule.is_over() {
            return Ok(Some(line(&tournament.schedule, false)));
        }
        let wait = StorageWait::new();
        let mut progress = None;
        let on_event = &mut |event: TournamentEvent<'_>| match event {
            TournamentEvent::Notice(notice) => stderr_line(notice),
            TournamentEvent::Begins { scheduler, .. } => {
                let (schedule, label) = (scheduler.live_schedule(), label.to_owned());
                let scale = scale.clone();
                progress =
                    Some(Progress::of_changing(move || run_progress(&schedule.look(), &scale, &label)));
            }
            TournamentEvent::Run(_) | TournamentEvent::Change(_) => {}
        };
        let stop = || interrupted_giving_up(wait.clone());
        let end = with_bots(|| tournament.play(Placement::Here, &wait, || None, stop, on_event));
        if let Some(progress) = progress {
            progress.finish();
        }
        let end = end?;
        if end.is_interrupted {
            return Ok(None);
        }
        let schedule = end.schedule.look();
        Ok(Some(line(&schedule, true)))
    }
}

fn graded(scale: &GradeScale, schedule: &Schedule) -> GradeLine {
    let grading = schedule.grading().unwrap_or_default();
    let faults = schedule.results().filter(|result| result.is_fault_of(Entrant(0))).count();
    GradeLine {
        grade: Some(scale.grade(grading.elo.value).to_owned()),
        points: Some(scale.points_of(&grading.elo)),
        most_points: Some(scale.most_points()),
        elo: Some(grading.elo),
        is_known: grading.is_graded,
        sets: grading.sets,
        dropped: grading.dropped,
        matches: schedule.results().count(),
        faults,
        ..GradeLine::default()
    }
}

fn run_progress(schedule: &Schedule, scale: &GradeScale, label: &str) -> RunProgress {
    let position = (schedule.results().count() + schedule.voids()) as u64;
    let missing = schedule.missing();
    let so_far = graded(scale, schedule);
    let so_far = if so_far.sets == 0 { String::new() } else { format!(": {}", so_far.in_words()) };
    RunProgress {
        position,
        length: position + missing.least,
        is_certain: missing.is_certain(),
        message: printable(&format!("{label}{so_far}")).into_owned(),
    }
}

impl GradeLine {
    fn refused(name: &str, why: String) -> GradeLine {
        GradeLine { submission: name.to_owned(), refused: Some(why), is_new: true, ..GradeLine::default() }
    }

    /// `B, 78.4 of 100 points (77.1 to 79.8)`.
    fn in_words(&self) -> String {
        let (Some(grade), Some(points), Some(most)) = (&self.grade, &self.points, self.most_points) else {
            let refused = self.refused.as_deref().unwrap_or_default();
            return format!("refused: {}", printable_lines(refused));
        };
        let doubt = if self.is_known { "" } else { ", not within the tolerance" };
        format!(
            "{grade}, {:.1} of {most:.0} points ({:.1} to {:.1}{doubt})",
            points.value, points.low, points.high
        )
    }
}

fn show(out: &mut impl Write, lines: &[GradeLine]) -> std::io::Result<()> {
    let row = |line: &GradeLine| {
        let text = |text: &Option<String>| text.as_deref().map(printable).unwrap_or_default().into_owned();
        let (points, elo) = (line.points.unwrap_or_default(), line.elo.unwrap_or_default());
        let mut row = vec![printable(&line.submission).into_owned(), text(&line.bot)];
        row.extend(match &line.refused {
            Some(_) => {
                ["refused"].map(str::to_owned).into_iter().chain(vec![String::new(); 6]).collect::<Vec<_>>()
            }
            None => vec![
                text(&line.grade),
                format!("{:.1}", points.value),
                format!("{:.1} to {:.1}", points.low, points.high),
                format!("{:.0}", elo.value),
                format!("{:.0}", (elo.high - elo.low) / 2.0),
                line.matches.to_string(),
                line.faults.to_string(),
            ],
        });
        row
    };
    let headings = ["submission", "bot", "grade", "points", "95%", "Elo", "±", "matches", "faulted"];
    write!(out, "{}", table(&headings, lines.iter().map(row).collect(), 3..9).trim_fmt())?;
    writeln!(out)?;
    for line in lines {
        if let Some(refused) = &line.refused {
            writeln!(out, "{}: {}", printable(&line.submission), printable_lines(refused))?;
        } else if !line.is_known {
            let sets = counted(line.sets, "set", "sets");
            writeln!(out, "{}: not known within the tolerance after {sets}", printable(&line.submission))?;
        }
        if line.dropped > 0 {
            let (sets, directory) =
                (counted(line.dropped, "set", "sets"), line.directory.as_deref().unwrap_or(Path::new("")));
            writeln!(
                out,
                "{}: {sets} with a fault of an anchor {} not count: `referee tournament report {}`",
                printable(&line.submission),
                if line.dropped == 1 { "does" } else { "do" },
                directory.display()
            )?;
        }
    }
    Ok(())
}

/// The `results.json` of Gradescope.
fn results_json(line: &GradeLine) -> Value {
    let score = line.points.map_or(0.0, |points| (points.value * 100.0).round() / 100.0);
    let mut results = json!({
        "score": score,
        "output": line.in_words(),
        "output_format": "text",
        "stdout_visibility": "hidden",
        "tests": [{
            "name": "Strength against the anchors",
            "status": if line.refused.is_none() { "passed" } else { "failed" },
            "output": match (&line.elo, line.refused.as_deref()) {
                (Some(elo), None) => format!(
                    "{:.0} Elo (95%: {:.0} to {:.0}) after {}, {} of them with a fault of the bot",
                    elo.value, elo.low, elo.high, counted(line.matches as u64, "match", "matches"), line.faults
                ),
                (_, refused) => refused.unwrap_or_default().to_owned(),
            },
        }],
        "extra_data": line,
    });
    if let Some(most) = line.most_points {
        results["tests"][0]["score"] = score.into();
        results["tests"][0]["max_score"] = most.into();
    }
    if let Some(elo) = &line.elo {
        results["leaderboard"] = json!([
            { "name": "Grade", "value": line.grade },
            { "name": "Elo", "value": elo.value.round(), "order": "desc" },
        ]);
    }
    results
}
