//! What can be wrong with a connection, and with a stream of it.

use crate::frame::kind;
use assay_http2::hpack;

/// Why a stream or a connection was ended: RFC 9114, 8.1 and RFC 9204, section 6.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Code(pub u64);

#[allow(missing_docs, reason = "the RFCs' own names")]
impl Code {
    pub const NO_ERROR: Self = Self(0x100);
    pub const GENERAL_PROTOCOL_ERROR: Self = Self(0x101);
    pub const INTERNAL_ERROR: Self = Self(0x102);
    pub const STREAM_CREATION_ERROR: Self = Self(0x103);
    pub const CLOSED_CRITICAL_STREAM: Self = Self(0x104);
    pub const FRAME_UNEXPECTED: Self = Self(0x105);
    pub const FRAME_ERROR: Self = Self(0x106);
    pub const EXCESSIVE_LOAD: Self = Self(0x107);
    pub const ID_ERROR: Self = Self(0x108);
    pub const SETTINGS_ERROR: Self = Self(0x109);
    pub const MISSING_SETTINGS: Self = Self(0x10a);
    pub const REQUEST_REJECTED: Self = Self(0x10b);
    pub const REQUEST_CANCELLED: Self = Self(0x10c);
    pub const REQUEST_INCOMPLETE: Self = Self(0x10d);
    pub const MESSAGE_ERROR: Self = Self(0x10e);
    pub const CONNECT_ERROR: Self = Self(0x10f);
    pub const VERSION_FALLBACK: Self = Self(0x110);
    pub const QPACK_DECOMPRESSION_FAILED: Self = Self(0x200);
    pub const QPACK_ENCODER_STREAM_ERROR: Self = Self(0x201);
    pub const QPACK_DECODER_STREAM_ERROR: Self = Self(0x202);

    /// The RFCs' name of it, or "unknown".
    #[must_use]
    pub fn name(self) -> &'static str {
        const NAMES: [&str; 17] = [
            "H3_NO_ERROR",
            "H3_GENERAL_PROTOCOL_ERROR",
            "H3_INTERNAL_ERROR",
            "H3_STREAM_CREATION_ERROR",
            "H3_CLOSED_CRITICAL_STREAM",
            "H3_FRAME_UNEXPECTED",
            "H3_FRAME_ERROR",
            "H3_EXCESSIVE_LOAD",
            "H3_ID_ERROR",
            "H3_SETTINGS_ERROR",
            "H3_MISSING_SETTINGS",
            "H3_REQUEST_REJECTED",
            "H3_REQUEST_CANCELLED",
            "H3_REQUEST_INCOMPLETE",
            "H3_MESSAGE_ERROR",
            "H3_CONNECT_ERROR",
            "H3_VERSION_FALLBACK",
        ];
        const QPACK: [&str; 3] = [
            "QPACK_DECOMPRESSION_FAILED",
            "QPACK_ENCODER_STREAM_ERROR",
            "QPACK_DECODER_STREAM_ERROR",
        ];
        let of = |names: &[&'static str], first| {
            let place = usize::try_from(self.0.checked_sub(first)?).ok()?;
            names.get(place).copied()
        };
        of(&NAMES, 0x100).or(of(&QPACK, 0x200)).unwrap_or("unknown")
    }
}

/// How a peer broke the connection. It cannot be used any further, and is closed with [`Fault::code`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// A frame where it must not be.
    #[error("a frame of type {0:#x} {1}")]
    Unexpected(u64, &'static str),
    /// A frame whose fields do not fill its length.
    #[error("a frame of type {0:#x} with a length that it cannot have")]
    BadLength(u64),
    /// A stream that ends inside a frame.
    #[error("a stream that ends inside a frame")]
    CutShort,
    /// The control stream begins with something else.
    #[error("a control stream that does not begin with SETTINGS")]
    NoSettings,
    /// A setting twice, or one of HTTP/2's.
    #[error("SETTINGS: {0:#x} {1}")]
    BadSetting(u64, &'static str),
    /// A second control, encoder or decoder stream.
    #[error("a second stream of type {0:#x}")]
    SecondStream(u64),
    /// A push that nobody allowed.
    #[error("a push, which was not allowed")]
    Push,
    /// A control, encoder or decoder stream that ended.
    #[error("a stream of type {0:#x} that ended")]
    Closed(u64),
    /// A GOAWAY that takes back what one before said, or names no request; a push that there is not.
    #[error("an identifier that cannot be: {0}")]
    BadId(u64),
    /// A block of fields that RFC 9204 does not know.
    #[error("QPACK: {0}")]
    BadBlock(#[from] hpack::HpackError),
    /// A block, or an instruction, that needs the table that we do not allow.
    #[error("QPACK: a dynamic table, which was not allowed")]
    DynamicTable,
    /// Something else than an insertion on the encoder stream, or an acknowledgement of nothing on the other.
    #[error("QPACK: {0}")]
    BadInstruction(&'static str),
    /// Frames that mean nothing, without an end.
    #[error("more than {0} bytes that mean nothing")]
    Flood(u64),
}

impl Fault {
    /// What the peer is told.
    #[must_use]
    pub fn code(self) -> Code {
        match self {
            Self::Unexpected(..) => Code::FRAME_UNEXPECTED,
            Self::BadLength(_) | Self::CutShort => Code::FRAME_ERROR,
            Self::NoSettings => Code::MISSING_SETTINGS,
            Self::BadSetting(..) => Code::SETTINGS_ERROR,
            Self::SecondStream(_) => Code::STREAM_CREATION_ERROR,
            Self::Push | Self::BadId(_) => Code::ID_ERROR,
            Self::Closed(_) => Code::CLOSED_CRITICAL_STREAM,
            Self::BadBlock(hpack::HpackError::TooLong(_)) | Self::Flood(_) => Code::EXCESSIVE_LOAD,
            Self::BadBlock(_) | Self::DynamicTable => Code::QPACK_DECOMPRESSION_FAILED,
            Self::BadInstruction(ACKNOWLEDGED) => Code::QPACK_DECODER_STREAM_ERROR,
            Self::BadInstruction(_) => Code::QPACK_ENCODER_STREAM_ERROR,
        }
    }
}

pub(crate) const ACKNOWLEDGED: &str = "an acknowledgement of what was never sent";
pub(crate) const INSERTED: &str = "an insertion into a table without room";
pub(crate) const PUSHED: Fault = Fault::Unexpected(kind::PUSH_PROMISE, "from a client");

/// Why one message came to nothing; the other streams go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum StreamFault {
    /// It is none by RFC 9114, 4.1.2.
    #[error("malformed message: {0}")]
    Malformed(&'static str),
    /// The stream ended before the message.
    #[error("a stream that ended before its message")]
    Incomplete,
    /// Interim answers without an end.
    #[error("interim answers (1xx) of more than {0} bytes")]
    TooManyInterim(usize),
}

impl StreamFault {
    /// What the peer is told.
    #[must_use]
    pub fn code(self) -> Code {
        match self {
            Self::Malformed(_) => Code::MESSAGE_ERROR,
            Self::Incomplete => Code::REQUEST_INCOMPLETE,
            Self::TooManyInterim(_) => Code::EXCESSIVE_LOAD,
        }
    }
}
