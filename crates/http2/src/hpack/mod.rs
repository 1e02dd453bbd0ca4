//! HPACK, RFC 7541: blocks of header fields, shortened by what was sent before.

mod decode;
mod encode;
pub mod huffman;
pub mod primitive;
mod table;

pub use decode::{Decoder, Fields};
pub use encode::Encoder;
pub use table::DEFAULT_TABLE_BYTES;

/// How a block breaks RFC 7541. Any of them ends the connection: the tables of the two sides are
/// no longer alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum HpackError {
    /// The block ends inside a field.
    #[error("the block ends inside a field")]
    CutShort,
    /// A number is larger than 2^32 or has more bytes than it needs for that.
    #[error("a number of more than 32 bits")]
    Overflow,
    /// An index of 0, or beyond both tables.
    #[error("no entry of that index")]
    NoEntry,
    /// A string is no Huffman code.
    #[error("bad Huffman code")]
    BadHuffman,
    /// The table is to be larger than was allowed.
    #[error("a table larger than allowed")]
    TableTooLarge,
    /// The table's size changes in the middle of a block.
    #[error("a table size inside a block")]
    MisplacedSize,
    /// The fields are longer than the reader takes.
    #[error("fields of more than {0} bytes")]
    TooLong(usize),
}
