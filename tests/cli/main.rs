//! The command line, from outside: real processes, sockets, files and terminals.
//!
//! All files are one program, because each program takes seconds to link. `crowd`, `isolation` and
//! `pause` need the CPUs exclusively: `tests/run` runs them last.

mod common;

mod check;
mod command_line;
mod crowd;
mod debug;
mod dice;
mod evidence;
mod examples;
mod faults;
mod games;
mod guide;
mod hostile;
mod human;
mod interrupt;
mod isolation;
mod jobs;
mod launcher;
mod openings;
mod output;
mod pause;
mod pdn;
mod pipes;
mod play;
mod processes;
mod progress;
mod readme;
mod records;
mod regress;
mod regress_results;
mod replay;
mod sdks;
mod seats;
mod secrets;
mod sprt;
mod stdio;
mod tcp;
mod tournament;
mod tournament_changes;
mod tournament_entrants;
mod tournament_files;
mod tournament_reports;
mod tournament_teams;
mod transcripts;
mod violations;
