//! [`Script`]: a script in all its states, from loading to `done`.

use std::net::SocketAddr;
use std::sync::{Arc, PoisonError};

use assay_engine::Supply;
use mlua::{Function, Lua, Table, Value};

use crate::address::Refusal;
use crate::error::ScriptError;
use crate::settings::Settings;
use crate::source::ThreadSource;
use crate::state::{self, State, defines, own};
use crate::statistics::{Statistics, Summary};
use crate::thread::{Thread, ThreadFacts};

/// What is settled once every thread is initialised, by the first of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ready {
    /// The requests that are sent first.
    pub request: Vec<u8>,
    /// Where each thread's go.
    pub addresses: Vec<SocketAddr>,
}

/// What the script defines, by its first thread's state.
#[derive(Debug, Clone, Copy, Default)]
struct Defined {
    request: bool,
    delay: bool,
    response: bool,
}

struct ThreadState {
    lua: Lua,
    facts: Arc<ThreadFacts>,
    /// What is sent each time where the script defines no `request`.
    same: Vec<u8>,
}

/// A script: the program's state and one for each thread.
pub struct Script {
    settings: Settings,
    main: State,
    refusal: Refusal,
    threads: Vec<ThreadState>,
    defined: Defined,
    messages: Vec<String>,
}

impl Script {
    /// Loads the script into the main state.
    ///
    /// # Errors
    /// Only where LuaJIT itself fails; what is wrong with the script is among [`Self::messages`].
    pub fn load(settings: Settings) -> Result<Self, ScriptError> {
        let refusal = Refusal::default();
        let main = state::load(&settings, &refusal)?;
        Ok(Self {
            messages: main.message.iter().cloned().collect(),
            settings,
            main,
            refusal,
            threads: Vec::new(),
            defined: Defined::default(),
        })
    }

    /// Why the script could not be loaded, once for each state it was tried in.
    #[must_use]
    pub fn messages(&self) -> &[String] {
        &self.messages
    }

    /// Looks the host up, then makes, sets up and initialises a state for each thread.
    ///
    /// # Errors
    /// Where the script fails, or no address of the host can be reached.
    pub fn prepare(&mut self) -> Result<Ready, ScriptError> {
        self.resolve()?;
        for _ in 0..self.settings.threads {
            let thread = self.prepare_thread()?;
            self.threads.push(thread);
        }
        let unreachable = || ScriptError::Unreachable(self.settings.host.clone());
        let addresses = self.threads.iter().map(|thread| thread.facts.address());
        let addresses: Option<Vec<SocketAddr>> = addresses.collect();
        let first = self.threads.first().ok_or_else(unreachable)?;
        self.defined = Defined {
            request: defines(&first.lua, "request")?,
            delay: defines(&first.lua, "delay")?,
            response: defines(&first.lua, "response")?,
        };
        let request = match self.defined.request {
            true => {
                let request: Function = first.lua.globals().get("request")?;
                request.call::<mlua::String>(())?.as_bytes().to_vec()
            }
            false => first.same.clone(),
        };
        Ok(Ready {
            request,
            addresses: addresses.ok_or_else(unreachable)?,
        })
    }

    fn resolve(&self) -> Result<(), ScriptError> {
        let settings = &self.settings;
        let service = settings.service();
        own(&self.main.lua, "resolve")?.call::<()>((settings.host.as_str(), service))?;
        let found: Table = self.main.lua.globals().get::<Table>("wrk")?.get("addrs")?;
        if found.raw_len() == 0 {
            let refusal = self.refusal.lock().unwrap_or_else(PoisonError::into_inner);
            let text = format!("{}:{service} {refusal}", settings.host);
            return Err(ScriptError::Unreachable(text));
        }
        Ok(())
    }

    fn prepare_thread(&mut self) -> Result<ThreadState, ScriptError> {
        let State {
            lua,
            thread_of,
            message,
        } = state::load(&self.settings, &self.refusal)?;
        self.messages.extend(message);
        let facts = Arc::new(ThreadFacts::default());
        let thread = Thread {
            state: lua.weak(),
            facts: Arc::clone(&facts),
        };
        let wrk: Table = lua.globals().get("wrk")?;
        let own_thread: Value = thread_of.call(thread.clone().host(&lua)?)?;
        wrk.set("thread", own_thread)?;
        let main = &self.main;
        let seen_from_main: Value = main.thread_of.call(thread.host(&main.lua)?)?;
        own(&main.lua, "setup")?.call::<()>(seen_from_main)?;
        let arguments = lua.create_table()?;
        for (index, argument) in self.settings.arguments.iter().enumerate() {
            arguments.raw_set(index, argument.as_str())?;
        }
        own(&lua, "init")?.call::<()>(arguments)?;
        let same: mlua::String = own(&lua, "request")?.call(())?;
        let same = same.as_bytes().to_vec();
        Ok(ThreadState { lua, facts, same })
    }

    /// The thread states as what the engine's workers send.
    ///
    /// # Errors
    /// Only where LuaJIT itself fails.
    pub fn supplies(&self) -> Result<Vec<Supply>, ScriptError> {
        let supply = |thread: &ThreadState| {
            let facts = Arc::clone(&thread.facts);
            let source = ThreadSource::new(thread.lua.clone(), Arc::clone(&facts))?;
            Ok(Supply {
                fixed: (!self.defined.request).then(|| thread.same.clone()),
                wants_answers: self.defined.response,
                has_delays: self.defined.delay,
                address: facts.address(),
                source: Box::new(source),
            })
        };
        self.threads.iter().map(supply).collect()
    }

    /// Calls `done`, where the script defines it.
    ///
    /// # Errors
    /// Where the script fails.
    pub fn done(
        &self,
        summary: Summary,
        latency: Statistics,
        requests: Statistics,
    ) -> Result<(), ScriptError> {
        let main = &self.main.lua;
        if defines(main, "done")? {
            let done: Function = main.globals().get("done")?;
            done.call::<()>((summary.to_table(main)?, latency, requests))?;
        }
        Ok(())
    }

    /// Writes out what the script has printed so far: it prints through C's own buffer.
    ///
    /// # Errors
    /// Where the script has taken `io.stdout` away.
    pub fn flush(&self) -> Result<(), ScriptError> {
        Ok(self.main.lua.load("io.stdout:flush()").exec()?)
    }
}
