//! One Lua state: all libraries, the table `wrk`, and the script in it.

use mlua::{Function, Lua, LuaOptions, StdLib, Table, Value};

use crate::address::{self, Refusal};
use crate::error::message;
use crate::modules;
use crate::settings::Settings;

/// A state with a script in it.
pub(crate) struct State {
    pub(crate) lua: Lua,
    /// Makes a thread as scripts hold it.
    pub(crate) thread_of: Function,
    /// Why the script is not in it.
    pub(crate) message: Option<String>,
}

/// Makes a state and runs the script in it. What is wrong with the script is a message, and no end:
/// the test goes on without it.
pub(crate) fn load(settings: &Settings, refusal: &Refusal) -> mlua::Result<State> {
    let lua = new_state();
    modules::admit(&lua)?;
    let wrk = lua.create_table()?;
    wrk.set("scheme", settings.scheme.as_str())?;
    wrk.set("host", settings.host.as_str())?;
    wrk.set("port", settings.port.as_deref())?;
    wrk.set("path", settings.path.as_str())?;
    let headers = lua.create_table()?;
    for (name, value) in &settings.headers {
        headers.set(name.as_str(), value.as_str())?;
    }
    wrk.set("headers", headers)?;
    address::offer(&lua, &wrk, settings, refusal)?;
    let thread_of = lua
        .load(include_str!("prelude.lua"))
        .set_name("=wrk")
        .call(&wrk)?;
    lua.globals().set("wrk", &wrk)?;
    let loaded: Table = lua.globals().get::<Table>("package")?.get("loaded")?;
    loaded.set("wrk", wrk)?;
    let message = run_file(&lua, &settings.file)?;
    Ok(State {
        lua,
        thread_of,
        message,
    })
}

fn new_state() -> Lua {
    // Scripts are promised the whole of LuaJIT: `ffi`, `debug`, modules in C. It is the user's own
    // program, as free as any other that is started from the same shell. What we call of it runs clean under
    // the address sanitizer: RUSTFLAGS=-Zsanitizer=address cargo +nightly test -p assay-engine-lua --target HOST
    #[allow(unsafe_code)]
    unsafe {
        Lua::unsafe_new_with(StdLib::ALL, LuaOptions::default())
    }
}

fn run_file(lua: &Lua, file: &str) -> mlua::Result<Option<String>> {
    let loadfile: Function = lua.globals().get("loadfile")?;
    let (chunk, problem): (Option<Function>, Option<String>) = loadfile.call(file)?;
    let problem = match chunk {
        None => problem,
        Some(chunk) => chunk.call::<()>(()).err().map(|error| message(&error)),
    };
    Ok(problem.map(|problem| format!("{file}: {problem}")))
}

/// Whether the script defines this function.
pub(crate) fn defines(lua: &Lua, name: &str) -> mlua::Result<bool> {
    let value: Value = lua.globals().get(name)?;
    Ok(value.is_function())
}

/// A function of the table `wrk`.
pub(crate) fn own(lua: &Lua, name: &str) -> mlua::Result<Function> {
    lua.globals().get::<Table>("wrk")?.get(name)
}
