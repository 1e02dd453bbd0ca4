//! Lua's functions, shown to every library of the process.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsRawFd;

use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_NOW, Symbol};
use rustix::fs::{MemfdFlags, memfd_create};

use super::library::image;

macro_rules! addresses {
    ($($name:ident)*) => {{
        // Only their addresses are taken: what they take and give is the modules' business.
        unsafe extern "C" {
            $(fn $name();)*
        }
        [$((stringify!($name), $name as *const () as u64)),*]
    }};
}

/// Shows Lua's functions to every library that is opened from now on.
pub(super) fn show() {
    // Without /proc, another C library than glibc, or on a machine that the image is not for, there are
    // no modules in C: the loader then says what they miss.
    let _ = open(&api());
}

fn open(api: &[(&'static str, u64)]) -> io::Result<()> {
    let mut file = File::from(memfd_create("assay-lua", MemfdFlags::CLOEXEC)?);
    file.write_all(&image(api))?;
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    // The library has no code that could run when it is opened.
    #[allow(unsafe_code)]
    let library =
        unsafe { Library::open(Some(path), RTLD_NOW | RTLD_GLOBAL) }.map_err(io::Error::other)?;
    let (name, address) = api[0];
    // The symbol is compared and never called.
    #[allow(unsafe_code)]
    let found: Symbol<*const ()> =
        unsafe { library.get(name.as_bytes()) }.map_err(io::Error::other)?;
    // Before 2.28 glibc added the library's own place to an absolute address (its bug 19818).
    if found.as_raw_ptr() as u64 == address {
        // Modules point into it until the process ends.
        std::mem::forget(library);
    }
    Ok(())
}

/// What lua.h, lauxlib.h, lualib.h and luajit.h of LuaJIT 2.1 declare.
fn api() -> Vec<(&'static str, u64)> {
    addresses! {
    luaJIT_profile_dumpstack luaJIT_profile_start luaJIT_profile_stop luaJIT_setmode
    luaL_addlstring luaL_addstring luaL_addvalue luaL_argerror luaL_buffinit luaL_callmeta
    luaL_checkany luaL_checkinteger luaL_checklstring luaL_checknumber luaL_checkoption
    luaL_checkstack luaL_checktype luaL_checkudata luaL_error luaL_execresult
    luaL_fileresult luaL_findtable luaL_getmetafield luaL_gsub luaL_loadbuffer
    luaL_loadbufferx luaL_loadfile luaL_loadfilex luaL_loadstring luaL_newmetatable
    luaL_newstate luaL_openlib luaL_openlibs luaL_optinteger luaL_optlstring luaL_optnumber
    luaL_prepbuffer luaL_pushmodule luaL_pushresult luaL_ref luaL_register luaL_setfuncs
    luaL_setmetatable luaL_testudata luaL_traceback luaL_typerror luaL_unref luaL_where
    lua_atpanic lua_call lua_checkstack lua_close lua_concat lua_copy lua_cpcall
    lua_createtable lua_dump lua_equal lua_error lua_gc lua_getallocf lua_getfenv
    lua_getfield lua_gethook lua_gethookcount lua_gethookmask lua_getinfo lua_getlocal
    lua_getmetatable lua_getstack lua_gettable lua_gettop lua_getupvalue lua_insert
    lua_iscfunction lua_isnumber lua_isstring lua_isuserdata lua_isyieldable lua_lessthan
    lua_load lua_loadx lua_newstate lua_newthread lua_newuserdata lua_next lua_objlen
    lua_pcall lua_pushboolean lua_pushcclosure lua_pushfstring lua_pushinteger
    lua_pushlightuserdata lua_pushlstring lua_pushnil lua_pushnumber lua_pushstring
    lua_pushthread lua_pushvalue lua_pushvfstring lua_rawequal lua_rawget lua_rawgeti
    lua_rawset lua_rawseti lua_remove lua_replace lua_resume lua_setallocf lua_setfenv
    lua_setfield lua_sethook lua_setlocal lua_setmetatable lua_settable lua_settop
    lua_setupvalue lua_status lua_toboolean lua_tocfunction lua_tointeger lua_tointegerx
    lua_tolstring lua_tonumber lua_tonumberx lua_topointer lua_tothread lua_touserdata
    lua_type lua_typename lua_upvalueid lua_upvaluejoin lua_version lua_xmove lua_yield
    luaopen_base luaopen_bit luaopen_debug luaopen_ffi luaopen_io luaopen_jit luaopen_math
    luaopen_os luaopen_package luaopen_string luaopen_string_buffer luaopen_table        }
    .to_vec()
}
