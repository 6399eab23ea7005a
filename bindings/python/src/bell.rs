//! How an event loop learns that something waits: a descriptor that polls readable.

use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;

/// A pair of sockets, which the standard library can make non-blocking on every Unix.
#[derive(Clone)]
pub struct Bell {
    reader: Arc<UnixStream>,
    writer: Arc<UnixStream>,
}

impl Bell {
    pub fn new() -> io::Result<Bell> {
        let (reader, writer) = UnixStream::pair()?;
        reader.set_nonblocking(true)?;
        writer.set_nonblocking(true)?;
        Ok(Bell { reader: Arc::new(reader), writer: Arc::new(writer) })
    }

    /// What a loop watches.
    pub fn fileno(&self) -> i32 {
        self.reader.as_raw_fd()
    }

    /// Makes it readable. A full socket is readable already.
    pub fn ring(&self) {
        let _ = (&*self.writer).write(&[0]);
    }

    /// Makes it silent.
    pub fn hush(&self) {
        let _ = (&*self.reader).read(&mut [0; 64]);
    }
}
