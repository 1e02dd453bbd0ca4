//! What can be wrong with a connection, and with a stream of it.

use crate::frame::Code;
use crate::hpack;

/// How a peer broke the connection. It cannot be used any further, and is told by GOAWAY.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// The peer speaks HTTP/1.x.
    #[error("the server answers in HTTP/1.x")]
    Http1,
    /// The first frame is not SETTINGS.
    #[error("the first frame is not SETTINGS")]
    NoPreface,
    /// A frame of more than 16,384 bytes.
    #[error("a frame of {0} bytes; 16384 are allowed")]
    FrameTooLong(usize),
    /// A frame whose length its type does not have.
    #[error("a frame of type {0} with a length that it cannot have")]
    BadLength(u8),
    /// A frame of a stream on the connection, or the other way round.
    #[error("a frame of type {0} on stream {1}")]
    WrongStream(u8, u32),
    /// A setting with a value that it cannot have.
    #[error("SETTINGS: {0} cannot be {1}")]
    BadSetting(u16, u32),
    /// A window of more than 2^31 - 1, or an update of 0.
    #[error("WINDOW_UPDATE: {0}")]
    BadWindow(&'static str),
    /// More data than the window had room for.
    #[error("more data than the window allows")]
    WindowOverrun,
    /// More padding than payload.
    #[error("more padding than payload")]
    BadPadding,
    /// A block of fields that RFC 7541 does not know.
    #[error("HPACK: {0}")]
    BadBlock(#[from] hpack::HpackError),
    /// Something else between the pieces of a block, or a piece without a block.
    #[error("a block of fields in pieces that do not follow each other")]
    BlockInterrupted,
    /// A push, which we did not allow.
    #[error("PUSH_PROMISE although push is off")]
    Push,
    /// A frame on a stream that was ended.
    #[error("a frame of type {0} on a stream that has ended")]
    ClosedStream(u8),
    /// A stream whose priority is to depend on itself (RFC 7540, 5.3.1).
    #[error("a stream that depends on itself")]
    OwnDependency,
    /// Frames that cost us work and mean nothing, by the thousand.
    #[error("more than {0} frames in a row that carry no answer")]
    Flood(u32),
    /// Acknowledgements that were asked for and are not read.
    #[error("acknowledgements of more than {0} bytes that it does not read")]
    Unread(usize),
}

impl Fault {
    /// What the peer is told.
    #[must_use]
    pub fn code(self) -> Code {
        match self {
            Self::FrameTooLong(_) | Self::BadLength(_) => Code::FRAME_SIZE_ERROR,
            Self::BadSetting(crate::frame::setting::INITIAL_WINDOW_SIZE, _)
            | Self::WindowOverrun => Code::FLOW_CONTROL_ERROR,
            Self::BadWindow(why) if why != ZERO_UPDATE => Code::FLOW_CONTROL_ERROR,
            Self::BadBlock(hpack::HpackError::TooLong(_)) | Self::Flood(_) | Self::Unread(_) => {
                Code::ENHANCE_YOUR_CALM
            }
            Self::BadBlock(_) => Code::COMPRESSION_ERROR,
            Self::ClosedStream(_) => Code::STREAM_CLOSED,
            _ => Code::PROTOCOL_ERROR,
        }
    }
}

pub(crate) const ZERO_UPDATE: &str = "an update of 0";
pub(crate) const ABOVE_MOST: &str = "above 2^31 - 1";

/// Why one stream came to nothing; the others go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum StreamFault {
    /// The peer ended it.
    #[error("reset by the server: {}", .0.name())]
    Reset(Code),
    /// The peer says that it did nothing for it: REFUSED_STREAM, or a GOAWAY with a lower number.
    #[error("not processed, as the server says")]
    Unprocessed,
    /// The answer is none by RFC 9113, 8.1.1.
    #[error("malformed answer: {0}")]
    Malformed(&'static str),
    /// The stream's window was raised above 2^31 - 1, or by 0.
    #[error("WINDOW_UPDATE: {0}")]
    BadWindow(&'static str),
    /// More data than the stream's window had room for.
    #[error("more data than the stream's window allows")]
    WindowOverrun,
    /// Interim answers without an end.
    #[error("interim answers (1xx) of more than {0} bytes")]
    TooManyInterim(usize),
}

impl StreamFault {
    /// What the peer is told, where it does not know.
    #[must_use]
    pub fn code(self) -> Option<Code> {
        match self {
            Self::Reset(_) | Self::Unprocessed => None,
            Self::Malformed(_) => Some(Code::PROTOCOL_ERROR),
            Self::BadWindow(ZERO_UPDATE) => Some(Code::PROTOCOL_ERROR),
            Self::BadWindow(_) | Self::WindowOverrun => Some(Code::FLOW_CONTROL_ERROR),
            Self::TooManyInterim(_) => Some(Code::ENHANCE_YOUR_CALM),
        }
    }
}
