//! The match under virtual time.

mod answers;
mod chance;
mod clocks;
mod draws;
mod fallback;
mod faults;
mod info;
mod keezen;
mod lag;
mod life;
mod openings;
mod pause;
mod polling;
mod ready;
mod retries;
mod rig;
mod secrets;
mod simultaneous;
mod storm;
mod three_sides;
mod toy;
