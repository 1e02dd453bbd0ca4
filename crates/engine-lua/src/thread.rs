//! `thread`: how a script's main state and a thread's own state speak of that thread.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use mlua::{
    AnyUserData, Lua, MetaMethod, UserData, UserDataFields, UserDataMethods, Value, WeakLua,
};

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

/// The userdata. It does not keep the thread's state alive: the state holds one of its own.
#[derive(Clone)]
pub(crate) struct Thread {
    pub(crate) state: WeakLua,
    pub(crate) facts: Arc<ThreadFacts>,
}

impl Thread {
    fn state(&self) -> mlua::Result<Lua> {
        self.state
            .try_upgrade()
            .ok_or_else(|| mlua::Error::runtime("the thread is gone"))
    }
}

impl UserData for Thread {
    fn add_fields<F: UserDataFields<Self>>(fields: &mut F) {
        fields.add_field_method_get("addr", |_, this| Ok(this.facts.address().map(Address)));
    }

    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_method("get", |lua, this, name: Value| {
            let value: Value = this.state()?.globals().raw_get(this.transferred(&name)?)?;
            Portable::out_of(&value)?.into_state(lua)
        });
        methods.add_method("set", |_, this, (name, value): (Value, Value)| {
            let state = this.state()?;
            let value = Portable::out_of(&value)?.into_state(&state)?;
            state.globals().raw_set(this.transferred(&name)?, value)
        });
        methods.add_method("stop", |_, this, ()| {
            this.facts.is_stopped.store(true, Relaxed);
            Ok(())
        });
        methods.add_meta_method(
            MetaMethod::NewIndex,
            |_, this, (key, value): (Value, Value)| {
                if key.as_string().is_none_or(|name| name != "addr") {
                    let text = format!("cannot set '{}' on thread", key.type_name());
                    return Err(mlua::Error::runtime(text));
                }
                let given = value.as_userdata().map(AnyUserData::borrow::<Address>);
                let Some(Ok(address)) = given else {
                    let got = match value {
                        Value::Nil => "no value",
                        _ => value.type_name(),
                    };
                    let text =
                        format!("bad argument #3 to '__newindex' (wrk.addr expected, got {got})");
                    return Err(mlua::Error::runtime(text));
                };
                this.facts.set_address(address.0);
                Ok(())
            },
        );
    }
}

impl Thread {
    /// A name as a value of the thread's state.
    fn transferred(&self, name: &Value) -> mlua::Result<Value> {
        Portable::out_of(name)?.into_state(&self.state()?)
    }
}
