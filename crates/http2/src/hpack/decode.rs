//! Blocks → fields.

use super::table::{DEFAULT_TABLE_BYTES, ENTRY_BYTES, Table};
use super::{HpackError, primitive};

/// The fields of one block: names and values one after the other in one text.
#[derive(Debug, Default, Clone)]
pub struct Fields {
    text: Vec<u8>,
    /// Where each name and each value ends.
    ends: Vec<(u32, u32)>,
}

impl Fields {
    /// Each field as (name, value), in the order they were sent.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let starts = std::iter::once(0).chain(self.ends.iter().map(|&(_, end)| end));
        starts.zip(&self.ends).map(|(start, &(name, value))| {
            (
                &self.text[start as usize..name as usize],
                &self.text[name as usize..value as usize],
            )
        })
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Forgets all, and keeps the room.
    pub fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
    }

    /// Adds a field; its name and its value are what `write` appends, one after the other.
    ///
    /// # Errors
    /// Those of `write`.
    pub fn push<E>(
        &mut self,
        write: impl FnOnce(&mut Vec<u8>) -> Result<usize, E>,
    ) -> Result<(), E> {
        let name_end = write(&mut self.text)?;
        self.ends.push((name_end as u32, self.text.len() as u32));
        Ok(())
    }

    /// What RFC 9113, 6.5.2 counts: names, values, and 32 bytes for each field.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.text.len() + ENTRY_BYTES * self.ends.len()
    }
}

/// Reads the blocks of one connection, in the order they were sent.
#[derive(Debug)]
pub struct Decoder {
    table: Table,
    /// What our SETTINGS allow the table to hold.
    allowed_bytes: usize,
    most_field_bytes: usize,
    /// Goes up with every change of the table: as long as it stands, the same block says the same.
    changes: u64,
}

impl Decoder {
    /// Reads with a table of `DEFAULT_TABLE_BYTES`, and fields up to so many bytes in a block.
    #[must_use]
    pub fn new(most_field_bytes: usize) -> Self {
        Self {
            table: Table::new(DEFAULT_TABLE_BYTES),
            allowed_bytes: DEFAULT_TABLE_BYTES,
            most_field_bytes,
            changes: 0,
        }
    }

    /// What our SETTINGS, once acknowledged, allow the table to hold.
    pub fn allow_table(&mut self, bytes: usize) {
        self.allowed_bytes = bytes;
    }

    /// A number that stays the same as long as the table does, so that a block read before has
    /// the fields it had then.
    #[must_use]
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// Puts the fields of a whole block into `fields`, in place of what it had.
    ///
    /// # Errors
    /// How the block breaks RFC 7541. The connection cannot be read any further.
    pub fn decode(&mut self, mut block: &[u8], fields: &mut Fields) -> Result<(), HpackError> {
        fields.clear();
        while let Some(&first) = block.first() {
            match first {
                0x80.. => {
                    let index = primitive::read(&mut block, 7)?;
                    let (name, value) = self.table.get(index).ok_or(HpackError::NoEntry)?;
                    fields.text.extend_from_slice(name);
                    let name_end = fields.text.len() as u32;
                    fields.text.extend_from_slice(value);
                    fields.ends.push((name_end, fields.text.len() as u32));
                }
                0x40.. => self.literal(&mut block, 6, true, fields)?,
                0x20.. if !fields.is_empty() => return Err(HpackError::MisplacedSize),
                0x20.. => self.table_size(&mut block)?,
                // Not to be indexed (0x0), or never, on no hop (0x1): the same to the last reader.
                _ => self.literal(&mut block, 4, false, fields)?,
            }
            if fields.bytes() > self.most_field_bytes {
                return Err(HpackError::TooLong(self.most_field_bytes));
            }
        }
        Ok(())
    }

    fn table_size(&mut self, block: &mut &[u8]) -> Result<(), HpackError> {
        let bytes = primitive::read(block, 5)?;
        if bytes > self.allowed_bytes {
            return Err(HpackError::TableTooLarge);
        }
        self.table.resize(bytes);
        self.changes += 1;
        Ok(())
    }

    fn literal(
        &mut self,
        block: &mut &[u8],
        bits: u32,
        is_kept: bool,
        fields: &mut Fields,
    ) -> Result<(), HpackError> {
        let start = fields.text.len();
        match primitive::read(block, bits)? {
            0 => primitive::read_text(block, 7, &mut fields.text)?,
            index => {
                let (name, _) = self.table.get(index).ok_or(HpackError::NoEntry)?;
                fields.text.extend_from_slice(name);
            }
        }
        let name_end = fields.text.len();
        primitive::read_text(block, 7, &mut fields.text)?;
        fields
            .ends
            .push((name_end as u32, fields.text.len() as u32));
        if is_kept {
            let (name, value) = fields.text[start..].split_at(name_end - start);
            self.table.add(name, value);
            self.changes += 1;
        }
        Ok(())
    }
}
