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
    /// Takes a value out of its state; the name of the type that cannot leave it.
    pub(crate) fn out_of(value: &Value) -> Result<Self, &'static str> {
        Ok(match value {
            Value::Nil => Self::Nil,
            Value::Boolean(value) => Self::Boolean(*value),
            Value::Integer(value) => Self::Number(*value as f64),
            Value::Number(value) => Self::Number(*value),
            Value::String(value) => Self::String(value.as_bytes().to_vec()),
            Value::Table(table) => {
                // Raw pairs of a table are always what they are.
                let pairs = table.pairs::<Value, Value>().flatten();
                let out = |(key, value)| -> Result<_, &'static str> {
                    Ok((Self::out_of(&key)?, Self::out_of(&value)?))
                };
                Self::Table(pairs.map(out).collect::<Result<_, _>>()?)
            }
            other => return Err(other.type_name()),
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
