//! Modules in C (`require "socket"`, `require "cjson"`): where they lie, and the Lua they call.
//!
//! Such a module is linked against nothing: it expects Lua's functions among the global symbols of the
//! process, as the program wrk has them. Our LuaJIT is linked into Python's extension module, which Python
//! opens with local symbols, and from which rustc exports nothing but Rust's own (rust-lang/rfcs#2771). So
//! a library that consists of nothing but these symbols is opened beside it: each is an absolute address,
//! that of the function in our LuaJIT. It is written to memory, and holds in a wheel as in a checkout.

#[cfg(target_os = "linux")]
mod library;
#[cfg(target_os = "linux")]
mod symbols;

use mlua::{Lua, Table};

/// Where Debian's LuaJIT finds modules in Lua, beside where ours does.
const LUA_PLACES: &str =
    ";/usr/share/luajit-2.1/?.lua;/usr/share/lua/5.1/?.lua;/usr/share/lua/5.1/?/init.lua";

/// The same for modules in C, and the folders of other distributions.
#[cfg(target_arch = "aarch64")]
const C_PLACES: &str =
    ";/usr/lib/aarch64-linux-gnu/lua/5.1/?.so;/usr/lib64/lua/5.1/?.so;/usr/lib/lua/5.1/?.so";
#[cfg(not(target_arch = "aarch64"))]
const C_PLACES: &str =
    ";/usr/lib/x86_64-linux-gnu/lua/5.1/?.so;/usr/lib64/lua/5.1/?.so;/usr/lib/lua/5.1/?.so";

/// Lets the state find modules, and the process serve them. Where it cannot serve them, a `require` of one
/// fails in the words of the system's loader, which name the symbol that is missing.
pub(crate) fn admit(lua: &Lua) -> mlua::Result<()> {
    #[cfg(target_os = "linux")]
    {
        static SHOWN: std::sync::Once = std::sync::Once::new();
        SHOWN.call_once(symbols::show);
    }
    let package: Table = lua.globals().get("package")?;
    for (name, places) in [("path", LUA_PLACES), ("cpath", C_PLACES)] {
        let given: String = package.get(name)?;
        package.set(name, given + places)?;
    }
    Ok(())
}
