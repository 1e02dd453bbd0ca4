//! The fields of heads. A peer repeats itself, and without a table a block always means the same: so one that came just
//! before is read by one comparison.

use crate::{Fault, Fields, qpack};
use assay_http2::meaning::{Meaning, meaning};

/// The fields of the latest block of a connection, and what they mean.
#[derive(Debug, Default)]
pub struct Heads {
    block: Vec<u8>,
    fields: Fields,
    meaning: Option<Result<Meaning, &'static str>>,
    changes: u64,
}

impl Heads {
    /// The fields of the block that was read last.
    #[must_use]
    pub fn fields(&self) -> &Fields {
        &self.fields
    }

    /// How often they were other ones than before.
    #[must_use]
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// Reads a whole block.
    #[inline]
    pub(crate) fn read(&mut self, block: &[u8], most_field_bytes: usize) -> Result<(), Fault> {
        if block == &self.block[..] && !block.is_empty() {
            return Ok(());
        }
        self.block.clear();
        self.meaning = None;
        self.changes += 1;
        qpack::decode(block, most_field_bytes, &mut self.fields)?;
        // Long ones are not worth keeping twice: they seldom come again.
        if block.len() <= MOST_KEPT_BYTES {
            self.block.extend_from_slice(block);
        }
        Ok(())
    }

    /// What they mean as those of an answer.
    #[inline]
    pub(crate) fn meaning(&mut self) -> Result<Meaning, &'static str> {
        let fields = &self.fields;
        *self.meaning.get_or_insert_with(|| meaning(fields))
    }
}

const MOST_KEPT_BYTES: usize = 4096;
