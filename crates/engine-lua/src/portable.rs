//! Values that can leave one state for another: nil, booleans, numbers, strings, tables of these.

use mlua::{Lua, Value};

/// A value outside any state.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Portable {
    Nil,
    Boolean(bool),
    Number(f64),
    String(Vec<u8>),
    Table(Vec<(Portable, Portable)>),
}

impl Portable {
    /// Takes a value out of its state; an error of the script where it cannot leave.
    pub(crate) fn out_of(value: &Value) -> mlua::Result<Self> {
        Ok(match value {
            Value::Nil => Self::Nil,
            Value::Boolean(value) => Self::Boolean(*value),
            Value::Integer(value) => Self::Number(*value as f64),
            Value::Number(value) => Self::Number(*value),
            Value::String(value) => Self::String(value.as_bytes().to_vec()),
            Value::Table(table) => {
                let pairs = table.pairs::<Value, Value>().map(|pair| {
                    let (key, value) = pair?;
                    Ok((Self::out_of(&key)?, Self::out_of(&value)?))
                });
                Self::Table(pairs.collect::<mlua::Result<_>>()?)
            }
            other => {
                let text = format!("cannot transfer '{}' to thread", other.type_name());
                return Err(mlua::Error::runtime(text));
            }
        })
    }

    /// Makes it a value of `lua`.
    pub(crate) fn into_state(self, lua: &Lua) -> mlua::Result<Value> {
        Ok(match self {
            Self::Nil => Value::Nil,
            Self::Boolean(value) => Value::Boolean(value),
            Self::Number(value) => Value::Number(value),
            Self::String(bytes) => Value::String(lua.create_string(bytes)?),
            Self::Table(pairs) => {
                let table = lua.create_table()?;
                for (key, value) in pairs {
                    table.raw_set(key.into_state(lua)?, value.into_state(lua)?)?;
                }
                Value::Table(table)
            }
        })
    }
}
