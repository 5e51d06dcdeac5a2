#![doc = include_str!("../README.md")]

mod reader;
mod request;

use std::error::Error;
use std::sync::{Mutex, MutexGuard, PoisonError};

pub use reader::{Reader, push_number, quoted};
pub use request::{Made, Request, State};

/// The answer to a request as JSON, or why the rules fail.
pub type Answer = Result<String, Box<dyn Error>>;

/// Exports a function that answers requests, `fn(Request<S>) -> Answer`. Natively, nothing is exported.
#[macro_export]
macro_rules! export {
    ($answer:path) => {
        #[cfg(target_arch = "wasm32")]
        const _: () = {
            #[unsafe(no_mangle)]
            extern "C" fn alloc(length: usize) -> usize {
                $crate::alloc(length)
            }

            #[unsafe(no_mangle)]
            extern "C" fn handle(_: usize, _: usize) -> u64 {
                $crate::handle($answer)
            }

            #[unsafe(no_mangle)]
            extern "C" fn error() -> u64 {
                $crate::error()
            }
        };
        #[cfg(not(target_arch = "wasm32"))]
        const _: () = {
            let _ = $answer;
        };
    };
}

/// The request, then the answer or the reason of a failure. Each request has a fresh instance.
static TEXT: Mutex<Vec<u8>> = Mutex::new(Vec::new());

fn text() -> MutexGuard<'static, Vec<u8>> {
    TEXT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The offset and the length of a text.
fn place(text: &[u8]) -> u64 {
    ((text.as_ptr().addr() as u64) << 32) | text.len() as u64
}

#[doc(hidden)]
pub fn alloc(length: usize) -> usize {
    let mut text = text();
    text.resize(length, 0);
    text.as_ptr().addr()
}

#[doc(hidden)]
pub fn handle<S: State>(answer: fn(Request<'_, S>) -> Answer) -> u64 {
    std::panic::set_hook(Box::new(|panic| fail(panic.to_string())));
    let bytes = std::mem::take(&mut *text());
    let request = std::str::from_utf8(&bytes).map_err(Into::into);
    let answer = request.and_then(|text| answer(Request::read(text)?));
    let answer = answer.unwrap_or_else(|why| fail(why.to_string()));
    let mut text = text();
    *text = answer.into_bytes();
    place(&text)
}

/// Traps.
fn fail(why: String) -> ! {
    *text() = why.into_bytes();
    std::process::abort()
}

#[doc(hidden)]
pub fn error() -> u64 {
    place(&text())
}
