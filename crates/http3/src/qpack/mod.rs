//! QPACK, RFC 9204, without a dynamic table: what it writes and reads stands for itself.

mod table;

use crate::Fault;
use assay_http2::hpack::{Fields, HpackError, primitive};

/// Appends a block of these fields; names are in lower case.
pub fn encode<'a>(fields: impl IntoIterator<Item = (&'a [u8], &'a [u8])>, out: &mut Vec<u8>) {
    // RFC 9204, 4.5.1: an insert count of 0 and a base of 0.
    out.extend_from_slice(&[0, 0]);
    for (name, value) in fields {
        match table::find(name, value) {
            Some((index, true)) => primitive::write(index, 6, 0xc0, out),
            Some((index, false)) => {
                primitive::write(index, 4, 0x50, out);
                primitive::write_text(value, 7, 0, out);
            }
            None => {
                primitive::write_text(name, 3, 0x20, out);
                primitive::write_text(value, 7, 0, out);
            }
        }
    }
}

/// Puts the fields of a whole block, of at most so many bytes, into `fields`, in place of what it had.
///
/// # Errors
/// The block breaks RFC 9204, or needs the table that it has not.
pub fn decode(mut block: &[u8], most_field_bytes: usize, fields: &mut Fields) -> Result<(), Fault> {
    fields.clear();
    let insert_count = primitive::read(&mut block, 8)?;
    if insert_count != 0 {
        return Err(Fault::DynamicTable);
    }
    // The base says nothing without a table, but for its sign: it would be below 0.
    let is_negative = block.first().is_some_and(|first| first & 0x80 != 0);
    primitive::read(&mut block, 7)?;
    if is_negative {
        return Err(Fault::DynamicTable);
    }
    while let Some(&first) = block.first() {
        match first {
            0xc0.. => {
                let (name, value) = table::get(primitive::read(&mut block, 6)?)?;
                fields.push(|text| {
                    text.extend_from_slice(name);
                    let name_end = text.len();
                    text.extend_from_slice(value);
                    Ok::<_, Fault>(name_end)
                })?;
            }
            0x50..=0x5f | 0x70..=0x7f => {
                let (name, _) = table::get(primitive::read(&mut block, 4)?)?;
                literal(&mut block, fields, |_, text| {
                    text.extend_from_slice(name);
                    Ok(())
                })?;
            }
            0x20..=0x3f => literal(&mut block, fields, |block, text| {
                primitive::read_text(block, 3, text)
            })?,
            // Entries of the dynamic table, and what is relative to its base.
            _ => return Err(Fault::DynamicTable),
        }
        if fields.bytes() > most_field_bytes {
            return Err(HpackError::TooLong(most_field_bytes).into());
        }
    }
    Ok(())
}

/// A field whose value stands in the block, behind its name.
fn literal(
    block: &mut &[u8],
    fields: &mut Fields,
    name: impl FnOnce(&mut &[u8], &mut Vec<u8>) -> Result<(), HpackError>,
) -> Result<(), HpackError> {
    fields.push(|text| {
        name(block, text)?;
        let name_end = text.len();
        primitive::read_text(block, 7, text)?;
        Ok(name_end)
    })
}
