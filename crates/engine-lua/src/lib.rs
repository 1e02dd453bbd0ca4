//! wrk's Lua scripts as a source of requests for the load engine, on LuaJIT.
//!
//! A script runs in one state for the program and one for each thread, as in wrk:
//!
//! ```text
//!   main state    load ─▶ wrk.resolve ─▶ setup(thread) ×n ─────────────────────────▶ done(…)
//!   thread state                 load ─▶ wrk.init(args) ─▶ delay, request, response …
//! ```
//!
//! [`Script`] is all of them; [`Script::supplies`] hands the thread states to the engine's workers.
//! Nothing here prints, except for what the script itself prints through C's standard output.

mod address;
mod error;
mod modules;
mod portable;
mod script;
mod settings;
mod source;
mod state;
mod statistics;
mod thread;

pub use error::ScriptError;
pub use script::{Ready, Script};
pub use settings::Settings;
pub use statistics::{Errors, Statistics, Summary};
