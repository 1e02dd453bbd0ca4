//! How bytes travel: chosen once per run, as the type parameter of the loop.

mod plain;

pub(crate) use plain::{Plain, PlainConnector};

use std::io;
use std::os::fd::RawFd;

/// An open way to the server.
pub(crate) trait Transport: Sized {
    /// Opens connections; one per worker.
    type Connector: Send;

    /// Begins to connect; does not block.
    fn open(connector: &mut Self::Connector, slot: usize) -> io::Result<Self>;

    /// The descriptor to wait for.
    fn descriptor(&self) -> RawFd;

    /// Goes on connecting (and shaking hands) as far as possible without blocking, called when
    /// the descriptor is first writable and whenever it is ready after that; true once requests
    /// can be sent.
    fn establish(&mut self) -> io::Result<bool>;

    /// Reads what is there. `WouldBlock` when that is nothing, 0 at the end of the stream.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize>;

    /// Writes as much as fits.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize>;
}
