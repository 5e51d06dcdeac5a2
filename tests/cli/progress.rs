//! Progress on standard error that is not a terminal.

use crate::common::{Folder, Referee, SEED};

/// Checks that lines like `5/8 matches after 6s` report the progress: not for each match, but every few seconds.
fn assert_tells(stderr: &str, of: &str) {
    let lines: Vec<&str> = stderr.lines().filter(|line| line.contains(of)).collect();
    assert!((1..=4).contains(&lines.len()), "{of}: {stderr}");
    for line in lines {
        let (position, _) = line.split_once(of).expect("it is in the line");
        assert!((1..=8).contains(&position.parse().unwrap_or(0)), "{stderr}");
    }
}

#[test]
fn long_runs_without_a_terminal_print_progress_every_few_seconds() {
    let folder = Folder::new();
    let slow = folder.bot("slow", "import time\nplay(turn=lambda t: (time.sleep(0.1), first(t)))");
    let config = format!(
        "game = 'checkers'\nseed = '{SEED}'\noptions = {{ turn_limit = 10 }}\n[format]\nkind = 'round_robin'\n\
         cycles = 4\n[[entrants]]\nname = 'one'\ncommand = \"{slow}\"\n[[entrants]]\nname = 'other'\ncommand = \"{slow}\"\n"
    );
    let config = folder.write("cup.toml", config);
    let short = ["--set", "turn_limit=10", "--seed", SEED];
    let play = ["play", "checkers", &slow, &slow, "-n", "8"];
    let regress = ["regress", "checkers", "--new", &slow, "--base", &slow, "--fixed", "8"];
    let runs = [
        Referee::start(play.iter().chain(&short)),
        Referee::start(["tournament", "run", &config, "--dir", &folder.text("cup")]),
        Referee::start(regress.iter().chain(&short)),
    ];
    let words = ["/8 matches after ", "/8 matches after ", " of at most 8 sets after "];
    for (run, of) in runs.into_iter().zip(words) {
        assert_tells(&run.wait().stderr, of);
    }
}
