//! The JSON Schema of what crosses to Python and into records: the Rust structs are its source, and Python's types are
//! written from it (`make schema`).

use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

use crate::record::{InterleavedMeasurement, InterleavedSnapshot};
use crate::{Change, InterleavedPlan, LoadPlan, Measurement, SliceTimes, Snapshot};

/// All types by name, with their documentation.
#[must_use]
pub fn schema() -> Value {
    let mut types = SchemaSettings::draft2020_12().into_generator();
    types.subschema_for::<LoadPlan>();
    types.subschema_for::<Measurement>();
    types.subschema_for::<Snapshot>();
    types.subschema_for::<InterleavedPlan>();
    types.subschema_for::<Change>();
    types.subschema_for::<SliceTimes>();
    types.subschema_for::<InterleavedMeasurement>();
    types.subschema_for::<InterleavedSnapshot>();
    json!({"$defs": types.take_definitions(true)})
}

/// What tells this schema from others: a checksum of all but its words.
#[must_use]
pub fn digest() -> String {
    let mut shape = schema();
    forget_words(&mut shape);
    let mut sum = flate2::Crc::new();
    sum.update(shape.to_string().as_bytes());
    format!("{:08x}", sum.sum())
}

fn forget_words(schema: &mut Value) {
    match schema {
        Value::Object(entries) => {
            entries.retain(|key, value| key != "description" || !value.is_string());
            entries.values_mut().for_each(forget_words);
        }
        Value::Array(items) => items.iter_mut().for_each(forget_words),
        _ => {}
    }
}
