//! The framing of RFC 9114, section 7: a type, a length, a payload.

use crate::varint;

/// The types of frames, RFC 9114, 7.2; those of HTTP/2 that have no meaning here may not come, others are passed over.
pub mod kind {
    #![allow(missing_docs, reason = "the RFC's own names")]
    pub const DATA: u64 = 0x0;
    pub const HEADERS: u64 = 0x1;
    pub const CANCEL_PUSH: u64 = 0x3;
    pub const SETTINGS: u64 = 0x4;
    pub const PUSH_PROMISE: u64 = 0x5;
    pub const GOAWAY: u64 = 0x7;
    pub const MAX_PUSH_ID: u64 = 0xd;
    /// PRIORITY, PING, WINDOW_UPDATE and CONTINUATION of HTTP/2 (RFC 9114, 7.2.8).
    pub const OF_HTTP2: [u64; 4] = [0x2, 0x6, 0x8, 0x9];
}

/// The types of unidirectional streams, RFC 9114, 6.2 and RFC 9204, 4.2.
pub mod stream {
    #![allow(missing_docs, reason = "the RFCs' own names")]
    pub const CONTROL: u64 = 0x0;
    pub const PUSH: u64 = 0x1;
    pub const QPACK_ENCODER: u64 = 0x2;
    pub const QPACK_DECODER: u64 = 0x3;
}

/// What SETTINGS say, RFC 9114, 7.2.4.1 and RFC 9204, section 5.
pub mod setting {
    #![allow(missing_docs, reason = "the RFCs' own names")]
    pub const QPACK_MAX_TABLE_CAPACITY: u64 = 0x1;
    pub const MAX_FIELD_SECTION_SIZE: u64 = 0x6;
    pub const QPACK_BLOCKED_STREAMS: u64 = 0x7;
    /// Settings of HTTP/2 that have none of HTTP/3.
    pub const OF_HTTP2: [u64; 4] = [0x2, 0x3, 0x4, 0x5];
}

/// Appends the beginning of our control stream: its type, and SETTINGS that allow fields of so many bytes and, by
/// saying nothing of them, neither a dynamic table nor streams that wait for one.
pub fn write_control(most_field_bytes: u64, out: &mut Vec<u8>) {
    varint::write(stream::CONTROL, out);
    let mut payload = Vec::with_capacity(8);
    varint::write(setting::MAX_FIELD_SECTION_SIZE, &mut payload);
    varint::write(most_field_bytes, &mut payload);
    write(kind::SETTINGS, &payload, out);
}

/// Appends GOAWAY: no stream from this one on was processed, or will be.
pub fn write_goaway(id: u64, out: &mut Vec<u8>) {
    let mut payload = Vec::with_capacity(8);
    varint::write(id, &mut payload);
    write(kind::GOAWAY, &payload, out);
}

/// Appends a whole frame.
pub fn write(kind: u64, payload: &[u8], out: &mut Vec<u8>) {
    write_head(kind, payload.len() as u64, out);
    out.extend_from_slice(payload);
}

/// Appends what stands before a payload of so many bytes.
pub fn write_head(kind: u64, length: u64, out: &mut Vec<u8>) {
    varint::write(kind, out);
    varint::write(length, out);
}

/// Takes what stands before a payload off the front of `input`: type and length. None, and nothing taken, where it is
/// not whole.
#[inline]
pub(crate) fn read_head(input: &mut &[u8]) -> Option<(u64, u64)> {
    let mut rest = *input;
    let kind = varint::read(&mut rest)?;
    let length = varint::read(&mut rest)?;
    *input = rest;
    Some((kind, length))
}
