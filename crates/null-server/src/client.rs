//! A connection, by what its client speaks.

use crate::connection::Connection;
use crate::http2;
use assay_http2::frame::PREFACE;
use mio::net::TcpStream;
use std::io::ErrorKind;

/// A connection, told apart by the first bytes that arrive on it.
pub enum Client {
    /// It has not said enough to tell.
    New(TcpStream),
    /// It speaks HTTP/1.
    Http1(Connection),
    /// It speaks HTTP/2.
    Http2(Box<http2::Guest>),
    /// It is gone.
    Ended,
}

impl Client {
    /// One that speaks HTTP/2, or is told so.
    pub fn of_http2(stream: TcpStream) -> Self {
        Self::Http2(Box::new(http2::Guest::new(stream)))
    }

    /// Looks at the first bytes, which stay to be read: HTTP/2 begins with its preface, and no request of HTTP/1
    /// begins alike.
    pub fn recognise(&mut self) {
        if let Self::New(_) = self {
            *self = std::mem::replace(self, Self::Ended).recognised();
        }
    }

    fn recognised(self) -> Self {
        let Self::New(stream) = self else { return self };
        let mut first = [0; PREFACE.len()];
        match stream.peek(&mut first) {
            Ok(read) if first[..read] == *PREFACE => Self::of_http2(stream),
            // The rest of it is under way, and an event will tell.
            Ok(read) if read > 0 && PREFACE.starts_with(&first[..read]) => Self::New(stream),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Self::New(stream),
            Ok(_) => Self::Http1(Connection::new(stream)),
            Err(_) => Self::Ended,
        }
    }

    /// Answers whose last byte the system has taken.
    pub fn answered(&self) -> u64 {
        match self {
            Self::Http1(connection) => connection.answered(),
            Self::Http2(guest) => guest.answered(),
            Self::New(_) | Self::Ended => 0,
        }
    }

    /// Requests whose answers are held back.
    pub fn delayed(&self) -> u64 {
        match self {
            Self::Http1(connection) => connection.delayed(),
            Self::Http2(guest) => guest.delayed(),
            Self::New(_) | Self::Ended => 0,
        }
    }
}
