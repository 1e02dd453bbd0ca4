//! What `done(summary, latency, requests)` is given.

use mlua::{Lua, MetaMethod, Table, UserData, UserDataMethods, Value};
use serde::Deserialize;

/// Failures, by wrk's kinds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Errors {
    /// Connections that could not be opened.
    pub connect: u64,
    /// Answers that did not come whole.
    pub read: u64,
    /// Requests that could not be sent.
    pub write: u64,
    /// Answers with a status above 399.
    pub status: u64,
    /// Answers that took too long.
    pub timeout: u64,
}

/// The first argument of `done`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Summary {
    /// Length of the run.
    pub duration_us: u64,
    /// Complete answers.
    pub requests: u64,
    /// Bytes received.
    pub bytes: u64,
    /// What failed.
    pub errors: Errors,
}

impl Summary {
    pub(crate) fn to_table(self, lua: &Lua) -> mlua::Result<Table> {
        let errors = lua.create_table()?;
        errors.set("connect", self.errors.connect)?;
        errors.set("read", self.errors.read)?;
        errors.set("write", self.errors.write)?;
        errors.set("status", self.errors.status)?;
        errors.set("timeout", self.errors.timeout)?;
        let summary = lua.create_table()?;
        summary.set("duration", self.duration_us)?;
        summary.set("requests", self.requests)?;
        summary.set("bytes", self.bytes)?;
        summary.set("errors", errors)?;
        Ok(summary)
    }
}

/// The other two: distinct values, ascending, each with its count, and what they amount to.
///
/// In a script: fields `min`, `max`, `mean`, `stdev`; `percentile(p)`; `stats(i)` is the i-th value
/// with its count; `#stats` how many there are.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Statistics {
    /// Distinct values with their counts.
    pub counts: Vec<(u64, u64)>,
    /// The smallest value seen.
    pub min: u64,
    /// The largest value seen.
    pub max: u64,
    /// The arithmetic mean.
    pub mean: f64,
    /// The standard deviation.
    pub stdev: f64,
    /// Ranks as wrk counts them, half a rank above the true one, so that p = 100 gives 0.
    pub is_strict: bool,
}

impl Statistics {
    fn percentile(&self, p: f64) -> u64 {
        let total: u64 = self.counts.iter().map(|(_, count)| count).sum();
        let rank = p / 100.0 * total as f64;
        let rank = match self.is_strict {
            true => (rank + 0.5).round(),
            false => rank.ceil().max(1.0),
        } as u64;
        let mut below = 0;
        let reaches = |(_, count): &&(u64, u64)| {
            below += count;
            below >= rank
        };
        self.counts
            .iter()
            .find(reaches)
            .map_or(0, |(value, _)| *value)
    }

    fn nth(&self, number: i64) -> (u64, u64) {
        usize::try_from(number - 1)
            .ok()
            .and_then(|index| self.counts.get(index).copied())
            .unwrap_or((0, self.counts.len() as u64))
    }
}

impl UserData for Statistics {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_method("percentile", |_, this, p: f64| Ok(this.percentile(p)));
        methods.add_meta_method(MetaMethod::Len, |_, this, ()| Ok(this.counts.len()));
        methods.add_meta_method(MetaMethod::Call, |_, this, number: f64| {
            Ok(this.nth(number as i64))
        });
        methods.add_meta_method(MetaMethod::Index, |_, this, key: Value| {
            let name = key.as_string().map(|name| name.to_string_lossy());
            Ok(match name.as_deref() {
                Some("min") => Value::Number(this.min as f64),
                Some("max") => Value::Number(this.max as f64),
                Some("mean") => Value::Number(this.mean),
                Some("stdev") => Value::Number(this.stdev),
                // wrk leaves what it does not know where it found it.
                _ => key,
            })
        });
    }
}
