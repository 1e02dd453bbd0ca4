//! Fields → blocks.

use super::primitive;
use super::table::{DEFAULT_TABLE_BYTES, Table};

/// Writes the blocks of one connection, in the order they are sent.
#[derive(Debug)]
pub struct Encoder {
    table: Table,
    /// The least size that the table had to shrink to since the last block, if it had to.
    least_bytes: Option<usize>,
    /// Goes up with every change of the table.
    changes: u64,
}

impl Default for Encoder {
    fn default() -> Self {
        Self {
            table: Table::new(DEFAULT_TABLE_BYTES),
            least_bytes: None,
            changes: 0,
        }
    }
}

impl Encoder {
    /// The reader's SETTINGS_HEADER_TABLE_SIZE. Of a larger table than the default no use is made.
    pub fn limit_table(&mut self, bytes: usize) {
        let bytes = bytes.min(DEFAULT_TABLE_BYTES);
        if bytes != self.table.most_bytes() {
            self.least_bytes = Some(self.least_bytes.map_or(bytes, |least| least.min(bytes)));
            self.table.resize(bytes);
            self.changes += 1;
        }
    }

    /// A number that stays the same as long as the table does: a block whose writing did not
    /// change it may be sent again as it is.
    #[must_use]
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// Appends a block of these fields. Names are in lower case; those that are the same from one
    /// block to the next are worth an entry of the table, others (`is_kept` false) are not.
    pub fn encode<'a>(
        &mut self,
        fields: impl IntoIterator<Item = (&'a [u8], &'a [u8], bool)>,
        out: &mut Vec<u8>,
    ) {
        if let Some(least) = self.least_bytes.take() {
            // RFC 7541, 4.2: the least size in between is told, then the last one.
            primitive::write(least, 5, 0x20, out);
            if self.table.most_bytes() != least {
                primitive::write(self.table.most_bytes(), 5, 0x20, out);
            }
        }
        for (name, value, is_kept) in fields {
            let index = match self.table.find(name, value) {
                Some((index, true)) => {
                    primitive::write(index, 7, 0x80, out);
                    continue;
                }
                Some((index, false)) => index,
                None => 0,
            };
            match is_kept {
                true => primitive::write(index, 6, 0x40, out),
                false => primitive::write(index, 4, 0, out),
            }
            if index == 0 {
                primitive::write_text(name, 7, 0, out);
            }
            primitive::write_text(value, 7, 0, out);
            if is_kept {
                self.table.add(name, value);
                self.changes += 1;
            }
        }
    }
}
