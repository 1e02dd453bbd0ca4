//! A thread's state as the engine's source of requests.

use std::sync::Arc;
use std::time::Duration;

use assay_engine::{Answer, Source, SourceError};
use mlua::{Function, Lua, Table};

use crate::error::ScriptError;
use crate::thread::ThreadFacts;

/// Calls what the script calls `request`, `delay` and `response`, whatever they are at that moment.
pub(crate) struct ThreadSource {
    pub(crate) lua: Lua,
    request: Function,
    delay: Function,
    response: Function,
    facts: Arc<ThreadFacts>,
}

impl ThreadSource {
    pub(crate) fn new(lua: Lua, facts: Arc<ThreadFacts>) -> mlua::Result<Self> {
        let calling = |text: &str| lua.load(text).set_name("=wrk").eval::<Function>();
        Ok(Self {
            request: calling("function() return request() end")?,
            delay: calling("function() return delay() end")?,
            response: calling("function(...) return response(...) end")?,
            lua,
            facts,
        })
    }

    fn give(&self, answer: Answer<'_>) -> mlua::Result<()> {
        let headers = self.headers(answer)?;
        let body = self.lua.create_string(answer.body)?;
        self.response.call((answer.status, headers, body))
    }

    /// Header fields by name, as received; the last of a name wins.
    fn headers(&self, answer: Answer<'_>) -> mlua::Result<Table> {
        let table = self.lua.create_table()?;
        for (name, value) in answer.fields() {
            let name = self.lua.create_string(name)?;
            let value = self.lua.create_string(value)?;
            table.raw_set(name, value)?;
        }
        Ok(table)
    }
}

impl Source for ThreadSource {
    fn next(&mut self, bytes: &mut Vec<u8>) -> Result<(), SourceError> {
        let request: mlua::String = self.request.call(()).map_err(ScriptError::from)?;
        bytes.extend_from_slice(&request.as_bytes());
        Ok(())
    }

    fn delay(&mut self) -> Result<Duration, SourceError> {
        // Whole milliseconds; C's conversion drops the rest, Rust's takes what is below 0 as 0.
        let delay_ms: f64 = self.delay.call(()).map_err(ScriptError::from)?;
        Ok(Duration::from_millis(delay_ms as u64))
    }

    fn answered(&mut self, answer: Answer<'_>) -> Result<(), SourceError> {
        Ok(self.give(answer).map_err(ScriptError::from)?)
    }

    fn is_stopped(&self) -> bool {
        self.facts.is_stopped()
    }
}
