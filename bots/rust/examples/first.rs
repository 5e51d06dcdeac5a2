//! The smallest bot: it always plays the first legal move.

use referee_bot::{Answer, Error, from_fn, hello, run};

fn main() -> Result<(), Error> {
    run(from_fn(hello("first"), |_| Answer::legal(0)))
}
