//! The output of `referee` without arguments.

/// The first steps of a newcomer.
pub(super) const FIRST_STEPS: &str = "referee plays matches between programs that play board games.

  referee init bot --language python mybot         writes a bot that plays every game
  cd mybot
  referee check 'python3 mybot.py'                 tests it against the protocol
  referee play checkers 'python3 mybot.py' 'python3 mybot.py' --record records
                                                   plays a match and writes a record
  referee show records --html -o match.html        writes a page that plays the record
  referee human checkers 'python3 mybot.py'        lets you play against it

  referee --help                                   lists all subcommands
  referee spec                                     lists the pages of the protocol
";
