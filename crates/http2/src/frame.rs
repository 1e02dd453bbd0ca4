//! The framing of RFC 9113, section 4: nine bytes, then a payload.

/// What a connection begins with, from the client's side (RFC 9113, 3.4).
pub const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// The bytes before each payload.
pub const HEAD_BYTES: usize = 9;
/// The longest payload that needs no leave, and the longest that we give leave for.
pub const DEFAULT_PAYLOAD_BYTES: usize = 16_384;
/// The largest window there is, and the last stream (RFC 9113, 6.9.1 and 5.1.1).
pub const MOST: u32 = 0x7fff_ffff;
/// A connection's and a stream's window until somebody changes it (RFC 9113, 6.9.2).
pub const DEFAULT_WINDOW: u32 = 65_535;

/// The types of frames, RFC 9113, section 6; others are passed over.
pub mod kind {
    #![allow(missing_docs, reason = "the RFC's own names")]
    pub const DATA: u8 = 0x0;
    pub const HEADERS: u8 = 0x1;
    pub const PRIORITY: u8 = 0x2;
    pub const RST_STREAM: u8 = 0x3;
    pub const SETTINGS: u8 = 0x4;
    pub const PUSH_PROMISE: u8 = 0x5;
    pub const PING: u8 = 0x6;
    pub const GOAWAY: u8 = 0x7;
    pub const WINDOW_UPDATE: u8 = 0x8;
    pub const CONTINUATION: u8 = 0x9;
}

/// The flags of frames.
pub mod flag {
    #![allow(missing_docs, reason = "the RFC's own names")]
    pub const ACK: u8 = 0x1;
    pub const END_STREAM: u8 = 0x1;
    pub const END_HEADERS: u8 = 0x4;
    pub const PADDED: u8 = 0x8;
    pub const PRIORITY: u8 = 0x20;
}

/// What SETTINGS say, RFC 9113, 6.5.2.
pub mod setting {
    #![allow(missing_docs, reason = "the RFC's own names")]
    pub const HEADER_TABLE_SIZE: u16 = 0x1;
    pub const ENABLE_PUSH: u16 = 0x2;
    pub const MAX_CONCURRENT_STREAMS: u16 = 0x3;
    pub const INITIAL_WINDOW_SIZE: u16 = 0x4;
    pub const MAX_FRAME_SIZE: u16 = 0x5;
}

/// Why a stream or a connection was ended, RFC 9113, section 7.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Code(pub u32);

#[allow(missing_docs, reason = "the RFC's own names")]
impl Code {
    pub const NO_ERROR: Self = Self(0x0);
    pub const PROTOCOL_ERROR: Self = Self(0x1);
    pub const INTERNAL_ERROR: Self = Self(0x2);
    pub const FLOW_CONTROL_ERROR: Self = Self(0x3);
    pub const SETTINGS_TIMEOUT: Self = Self(0x4);
    pub const STREAM_CLOSED: Self = Self(0x5);
    pub const FRAME_SIZE_ERROR: Self = Self(0x6);
    pub const REFUSED_STREAM: Self = Self(0x7);
    pub const CANCEL: Self = Self(0x8);
    pub const COMPRESSION_ERROR: Self = Self(0x9);
    pub const CONNECT_ERROR: Self = Self(0xa);
    pub const ENHANCE_YOUR_CALM: Self = Self(0xb);
    pub const INADEQUATE_SECURITY: Self = Self(0xc);
    pub const HTTP_1_1_REQUIRED: Self = Self(0xd);

    /// The RFC's name of it, or "unknown".
    #[must_use]
    pub fn name(self) -> &'static str {
        const NAMES: [&str; 14] = [
            "NO_ERROR",
            "PROTOCOL_ERROR",
            "INTERNAL_ERROR",
            "FLOW_CONTROL_ERROR",
            "SETTINGS_TIMEOUT",
            "STREAM_CLOSED",
            "FRAME_SIZE_ERROR",
            "REFUSED_STREAM",
            "CANCEL",
            "COMPRESSION_ERROR",
            "CONNECT_ERROR",
            "ENHANCE_YOUR_CALM",
            "INADEQUATE_SECURITY",
            "HTTP_1_1_REQUIRED",
        ];
        NAMES.get(self.0 as usize).copied().unwrap_or("unknown")
    }
}

/// The nine bytes before a payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameHeader {
    /// Bytes of the payload, up to 2^24 - 1.
    pub length: usize,
    /// One of [`kind`], or anything else.
    pub kind: u8,
    /// Several of [`flag`].
    pub flags: u8,
    /// 0: the connection itself.
    pub stream: u32,
}

impl FrameHeader {
    /// Reads the nine bytes; None where there are fewer.
    #[inline]
    #[must_use]
    pub fn read(input: &[u8]) -> Option<Self> {
        // By words: compilers make single bytes of what is taken apart.
        let (head, _) = input.split_first_chunk::<HEAD_BYTES>()?;
        let (first, rest) = head.split_first_chunk::<4>()?;
        let (flags, stream) = rest.split_first()?;
        let first = u32::from_be_bytes(*first);
        Some(Self {
            length: (first >> 8) as usize,
            kind: first as u8,
            flags: *flags,
            // The first bit is reserved and means nothing (RFC 9113, 4.1).
            stream: u32::from_be_bytes(*stream.first_chunk()?) & MOST,
        })
    }

    /// Appends the nine bytes.
    #[inline]
    pub fn write(self, out: &mut Vec<u8>) {
        let length = (self.length as u32).to_be_bytes();
        let stream = self.stream.to_be_bytes();
        out.extend_from_slice(&[length[1], length[2], length[3], self.kind, self.flags]);
        out.extend_from_slice(&stream);
    }

    /// Whether all of these flags are set.
    #[inline]
    #[must_use]
    pub fn has(self, flags: u8) -> bool {
        self.flags & flags == flags
    }
}

/// Gives a frame that is written another stream's number.
#[inline]
pub fn renumber(frame: &mut [u8], stream: u32) {
    if let Some(number) = frame.get_mut(5..HEAD_BYTES) {
        number.copy_from_slice(&stream.to_be_bytes());
    }
}

/// Appends a whole frame.
pub fn write(kind: u8, flags: u8, stream: u32, payload: &[u8], out: &mut Vec<u8>) {
    FrameHeader {
        length: payload.len(),
        kind,
        flags,
        stream,
    }
    .write(out);
    out.extend_from_slice(payload);
}

/// Appends SETTINGS with these.
pub fn write_settings(settings: &[(u16, u32)], out: &mut Vec<u8>) {
    FrameHeader {
        length: 6 * settings.len(),
        kind: kind::SETTINGS,
        flags: 0,
        stream: 0,
    }
    .write(out);
    for (name, value) in settings {
        out.extend_from_slice(&name.to_be_bytes());
        out.extend_from_slice(&value.to_be_bytes());
    }
}

/// Appends WINDOW_UPDATE.
pub fn write_window(stream: u32, bytes: u32, out: &mut Vec<u8>) {
    write(kind::WINDOW_UPDATE, 0, stream, &bytes.to_be_bytes(), out);
}

/// Appends RST_STREAM.
pub fn write_reset(stream: u32, code: Code, out: &mut Vec<u8>) {
    write(kind::RST_STREAM, 0, stream, &code.0.to_be_bytes(), out);
}

/// Appends GOAWAY.
pub fn write_goaway(last_stream: u32, code: Code, why: &str, out: &mut Vec<u8>) {
    let payload = [
        &last_stream.to_be_bytes(),
        &code.0.to_be_bytes(),
        why.as_bytes(),
    ]
    .concat();
    write(kind::GOAWAY, 0, 0, &payload, out);
}

/// Appends a block of fields as HEADERS and as many CONTINUATIONs as it takes.
pub fn write_block(stream: u32, end: bool, block: &[u8], most_payload: usize, out: &mut Vec<u8>) {
    let mut pieces = block.chunks(most_payload).peekable();
    let end_stream = if end { flag::END_STREAM } else { 0 };
    let mut kind_and_flags = (kind::HEADERS, end_stream);
    loop {
        let piece = pieces.next().unwrap_or_default();
        let last = if pieces.peek().is_none() {
            flag::END_HEADERS
        } else {
            0
        };
        write(
            kind_and_flags.0,
            kind_and_flags.1 | last,
            stream,
            piece,
            out,
        );
        if last != 0 {
            return;
        }
        kind_and_flags = (kind::CONTINUATION, 0);
    }
}

/// Appends the block of fields that `encode` appends, as [`write_block`] does: in place, where one frame has room.
pub fn write_fields(
    stream: u32,
    end: bool,
    most_payload: usize,
    out: &mut Vec<u8>,
    encode: impl FnOnce(&mut Vec<u8>),
) {
    let start = out.len();
    let end_stream = if end { flag::END_STREAM } else { 0 };
    write(
        kind::HEADERS,
        flag::END_HEADERS | end_stream,
        stream,
        &[],
        out,
    );
    let payload = out.len();
    encode(out);
    let length = out.len() - payload;
    if length <= most_payload {
        out[start..start + 3].copy_from_slice(&(length as u32).to_be_bytes()[1..]);
        return;
    }
    let block = out.split_off(payload);
    out.truncate(start);
    write_block(stream, end, &block, most_payload, out);
}

/// A payload without its padding (RFC 9113, 6.1); None where there is more padding than payload.
#[inline]
#[must_use]
pub fn unpadded(head: FrameHeader, payload: &[u8]) -> Option<&[u8]> {
    if !head.has(flag::PADDED) {
        return Some(payload);
    }
    let (&padding, rest) = payload.split_first()?;
    rest.get(..rest.len().checked_sub(usize::from(padding))?)
}
