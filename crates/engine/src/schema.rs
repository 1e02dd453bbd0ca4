//! The JSON Schema of what crosses to Python and into records: the Rust structs are its source, and Python's types are
//! written from it (`make schema`). It is written by a test, so that the engine carries none of what makes it.

/// Written by `make schema`: all types by name with their documentation, behind a checksum of all but their words.
const WRITTEN: &[u8] = include_bytes!("schema.json");

/// The checksum alone, so that the engine does not carry the rest. A test holds where it stands.
const CHECKSUM: [u8; 8] = {
    let mut sum = [0; 8];
    let mut at = 0;
    while at < sum.len() {
        sum[at] = WRITTEN[b"{\n  \"digest\": \"".len() + at];
        at += 1;
    }
    sum
};

/// What tells this schema from others.
///
/// # Panics
/// Where the written schema does not begin with a checksum, which a test holds.
#[must_use]
pub fn digest() -> &'static str {
    std::str::from_utf8(&CHECKSUM).expect("written as hexadecimal digits")
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use schemars::generate::SchemaSettings;
    use serde_json::{Value, json};

    use super::{WRITTEN, digest};
    use crate::record::{InterleavedMeasurement, InterleavedSnapshot};
    use crate::{Change, InterleavedPlan, LoadPlan, Measurement, SliceTimes, Snapshot};

    fn schema() -> Value {
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

    fn checksum(schema: &Value) -> String {
        let mut shape = schema.clone();
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

    /// `ASSAY_GOLDEN=write` writes it anew, as with the goldens of the Python tests.
    #[test]
    fn it_is_what_the_structs_say() {
        let schema = schema();
        let whole = json!({"digest": checksum(&schema), "$defs": schema["$defs"]});
        let text = serde_json::to_string_pretty(&whole).unwrap() + "\n";
        if std::env::var("ASSAY_GOLDEN").is_ok_and(|what| what == "write") {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/schema.json");
            fs::write(path, text).unwrap();
            return;
        }
        assert!(text.as_bytes() == WRITTEN, "make schema");
        assert_eq!(digest(), checksum(&schema));
    }

    #[test]
    fn words_are_no_part_of_its_checksum() {
        let schema = schema();
        let mut others = schema.clone();
        others["$defs"]["LoadPlan"]["description"] = json!("another");
        assert_eq!(checksum(&others), checksum(&schema));
        others["$defs"]["LoadPlan"]["title"] = json!("another");
        assert_ne!(checksum(&others), checksum(&schema));
    }
}
