//! `thread`: how a script's main state and a thread's own state speak of that thread.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use mlua::{AnyUserData, Lua, Table, Value, WeakLua};

use crate::address::Address;
use crate::portable::Portable;

/// What is known of a thread on both sides.
#[derive(Debug, Default)]
pub(crate) struct ThreadFacts {
    address: Mutex<Option<SocketAddr>>,
    is_stopped: AtomicBool,
}

impl ThreadFacts {
    pub(crate) fn address(&self) -> Option<SocketAddr> {
        *self.address.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.is_stopped.load(Relaxed)
    }

    fn set_address(&self, address: SocketAddr) {
        *self.address.lock().unwrap_or_else(PoisonError::into_inner) = Some(address);
    }
}

/// What a state holds of a thread. It does not keep the thread's state alive: that state holds one of
/// its own.
#[derive(Clone)]
pub(crate) struct Thread {
    pub(crate) state: WeakLua,
    pub(crate) facts: Arc<ThreadFacts>,
}

impl Thread {
    /// The functions out of which the prelude makes the userdata that scripts see. What can go wrong is
    /// returned: only an error raised in Lua is a string, and has the place of the script.
    pub(crate) fn host(self, lua: &Lua) -> mlua::Result<Table> {
        let host = lua.create_table()?;
        let thread = self.clone();
        let get = move |lua: &Lua, name: Value| thread.get(lua, &name);
        host.set("get", lua.create_function(get)?)?;
        let thread = self.clone();
        let set = move |_: &Lua, (name, value): (Value, Value)| thread.set(&name, &value);
        host.set("set", lua.create_function(set)?)?;
        let facts = Arc::clone(&self.facts);
        let stop = move |_: &Lua, ()| {
            facts.is_stopped.store(true, Relaxed);
            Ok(())
        };
        host.set("stop", lua.create_function(stop)?)?;
        let facts = Arc::clone(&self.facts);
        let address = move |_: &Lua, ()| Ok(facts.address().map(Address));
        host.set("address", lua.create_function(address)?)?;
        let go = move |_: &Lua, address: Value| Ok(self.go(&address));
        host.set("go", lua.create_function(go)?)?;
        Ok(host)
    }

    fn state(&self) -> mlua::Result<Lua> {
        let gone = || mlua::Error::runtime("the thread is gone");
        self.state.try_upgrade().ok_or_else(gone)
    }

    /// The value of a global, or the type that cannot be handed over.
    fn get(&self, lua: &Lua, name: &Value) -> mlua::Result<(Value, Option<&'static str>)> {
        let state = self.state()?;
        let name = match Portable::out_of(name) {
            Ok(name) => name.into_state(&state)?,
            Err(kind) => return Ok((Value::Nil, Some(kind))),
        };
        match Portable::out_of(&state.globals().raw_get(name)?) {
            Ok(value) => Ok((value.into_state(lua)?, None)),
            Err(kind) => Ok((Value::Nil, Some(kind))),
        }
    }

    /// Sets a global; the type that cannot be handed over, if there is one.
    fn set(&self, name: &Value, value: &Value) -> mlua::Result<Option<&'static str>> {
        let state = self.state()?;
        match (Portable::out_of(name), Portable::out_of(value)) {
            (Ok(name), Ok(value)) => {
                let (name, value) = (name.into_state(&state)?, value.into_state(&state)?);
                state.globals().raw_set(name, value)?;
                Ok(None)
            }
            (Err(kind), _) | (_, Err(kind)) => Ok(Some(kind)),
        }
    }

    /// Sends the thread to an address; whether it is one.
    fn go(&self, address: &Value) -> bool {
        let given = address.as_userdata().map(AnyUserData::borrow::<Address>);
        match given {
            Some(Ok(address)) => {
                self.facts.set_address(address.0);
                true
            }
            _ => false,
        }
    }
}
