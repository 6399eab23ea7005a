//! The standard streams (`basic/transports/stdio`).
//!
//! One thread reads, one writes. The streams are private copies: descriptor 0 is pointed at the null device and 1 at
//! standard error while serving, so that a stray print or a child process can neither corrupt nor steal the stream.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::unistd::{dup2_stdin, dup2_stdout};

use crate::engine::{Engine, Session, Transport};
use crate::listen::Outbox;

use super::framer::Framer;
use super::memory::take;

/// A pipe that polls writable takes so much without blocking (POSIX `PIPE_BUF`).
const SURE_WRITE: usize = 4096;
/// Bytes read, and written, at once.
const CHUNK: usize = 1 << 16;

static TAKEN: AtomicBool = AtomicBool::new(false);

/// The standard streams, taken from the rest of the process until dropped.
pub(crate) struct Stdio {
    input: OwnedFd,
    output: OwnedFd,
}

impl Stdio {
    /// Takes descriptors 0 and 1.
    pub fn take() -> io::Result<Stdio> {
        if TAKEN.swap(true, Ordering::AcqRel) {
            return Err(io::Error::new(io::ErrorKind::AddrInUse, "this process serves its standard streams already"));
        }
        let taken = Stdio::divert();
        if taken.is_err() {
            TAKEN.store(false, Ordering::Release);
        }
        taken
    }

    fn divert() -> io::Result<Stdio> {
        // Both copies close on exec, so a child process cannot reach the client.
        let input = io::stdin().as_fd().try_clone_to_owned()?;
        let output = io::stdout().as_fd().try_clone_to_owned()?;
        io::stdout().flush()?;
        let null = File::options().read(true).write(true).open("/dev/null")?;
        dup2_stdin(&null)?;
        // Without a standard error, prints go nowhere.
        let aside = io::stderr().as_fd().try_clone_to_owned().unwrap_or_else(|_| null.into());
        if let Err(error) = dup2_stdout(&aside) {
            let _ = dup2_stdin(&input);
            return Err(error.into());
        }
        Ok(Stdio { input, output })
    }
}

impl Drop for Stdio {
    fn drop(&mut self) {
        // What was printed while serving belongs to standard error.
        let _ = io::stdout().flush();
        let _ = dup2_stdin(&self.input);
        let _ = dup2_stdout(&self.output);
        TAKEN.store(false, Ordering::Release);
    }
}

thread_local! {
    /// Set while this thread handles a batch of input, after which it looks at the outbox itself.
    static IN_BATCH: Cell<bool> = const { Cell::new(false) };
}

#[derive(Default)]
struct WriterState {
    /// The writer thread has something to look at.
    wanted: bool,
    done: bool,
    idle: bool,
}

/// The one way out.
struct Writer {
    output: File,
    /// Taken from the outbox and not written yet.
    pending: Mutex<Vec<u8>>,
    state: Mutex<WriterState>,
    changed: Condvar,
}

impl Writer {
    fn request(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.wanted = true;
        drop(state);
        self.changed.notify_all();
    }

    fn fill(outbox: &Outbox, pending: &mut Vec<u8>, limit: usize) -> bool {
        outbox.take(limit, |item| {
            pending.extend_from_slice(item.text.as_bytes());
            pending.push(b'\n');
        })
    }

    /// Writes a little right here, if that cannot block; otherwise leaves it to the writer thread.
    fn write_now(&self, outbox: &Outbox) {
        let Ok(mut pending) = self.pending.try_lock() else { return self.request() };
        let more = Self::fill(outbox, &mut pending, SURE_WRITE);
        if pending.is_empty() {
            return;
        }
        if !more && pending.len() <= SURE_WRITE && writable(self.output.as_fd()) {
            match (&self.output).write(&pending) {
                Ok(written) => drop(pending.drain(..written)),
                Err(error) if again(&error) => {}
                Err(_) => outbox.close(),
            }
            if pending.is_empty() {
                return;
            }
        }
        drop(pending);
        self.request();
    }

    /// The writer thread: until told that all is done, or the peer is gone.
    fn run(&self, outbox: &Outbox, gone: &File) {
        loop {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            while !state.wanted {
                if state.done {
                    return;
                }
                state.idle = true;
                self.changed.notify_all();
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            state.wanted = false;
            state.idle = false;
            drop(state);
            let mut pending = self.pending.lock().unwrap_or_else(PoisonError::into_inner);
            loop {
                let more = Self::fill(outbox, &mut pending, CHUNK);
                if let Err(error) = write_all(&self.output, &pending) {
                    log::debug!("standard output is closed: {error}");
                    outbox.close();
                    pending.clear();
                    let mut gone = gone;
                    let _ = gone.write(&[0]);
                    break;
                }
                pending.clear();
                if pending.capacity() > 4 * CHUNK {
                    *pending = Vec::new();
                }
                if !more {
                    break;
                }
            }
        }
    }

    /// Waits until all is written, or until `end`.
    fn flush(&self, outbox: &Outbox, end: Instant) {
        self.request();
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        while (state.wanted || !state.idle || !outbox.is_empty()) && !outbox.is_closed() {
            let Some(left) = end.checked_duration_since(Instant::now()) else { return };
            state = self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn finish(&self) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).done = true;
        self.changed.notify_all();
    }
}

fn again(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

fn writable(fd: BorrowedFd<'_>) -> bool {
    let mut fds = [PollFd::new(fd, PollFlags::POLLOUT)];
    poll(&mut fds, PollTimeout::ZERO).is_ok_and(|count| count > 0)
}

/// Writes everything; the descriptor may be non-blocking, since it is shared with whoever made it so.
fn write_all(mut output: &File, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match output.write(bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => bytes = &bytes[written..],
            Err(error) if again(&error) => {
                let mut fds = [PollFd::new(output.as_fd(), PollFlags::POLLOUT)];
                let _ = poll(&mut fds, PollTimeout::NONE);
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Serves until the input ends, the peer is gone, or the server is told to stop; then winds up within the grace.
pub(crate) fn serve(engine: &Arc<Engine>, stdio: Stdio) -> io::Result<()> {
    crate::runtime::mask_sigpipe();
    let input = File::from(stdio.input.try_clone()?);
    let (gone_reader, gone_writer) = io::pipe()?;
    let gone_writer = File::from(OwnedFd::from(gone_writer));
    let writer = Arc::new(Writer {
        output: File::from(stdio.output.try_clone()?),
        pending: Mutex::default(),
        state: Mutex::default(),
        changed: Condvar::new(),
    });
    let wake: Arc<Writer> = Arc::clone(&writer);
    let outbox = Outbox::new(engine.options.max_output_bytes, move || {
        if !IN_BATCH.get() {
            wake.request();
        }
    });
    let session = Session::new(engine, Transport::Stdio, Arc::clone(&outbox));
    let thread = {
        let (writer, outbox) = (Arc::clone(&writer), Arc::clone(&outbox));
        std::thread::Builder::new().name("tocsin-write".into()).spawn(move || {
            crate::runtime::mask_sigpipe();
            writer.run(&outbox, &gone_writer);
        })?
    };
    let read = read_all(&session, &input, &writer, &outbox, gone_reader.as_fd());
    let options = &engine.options;
    let grace = if engine.is_stopping() { options.shutdown_grace } else { options.input_end_grace };
    let end = Instant::now() + grace;
    engine.drain(&session, grace);
    // At least a moment, so that a reader that is there gets what was answered last.
    writer.flush(&outbox, end.max(Instant::now() + Duration::from_millis(500)));
    session.close();
    writer.finish();
    if outbox.is_empty() && writer.state.lock().unwrap_or_else(PoisonError::into_inner).idle {
        let _ = thread.join();
    }
    // Otherwise it hangs in a write that nobody reads; it ends with the process or the peer.
    read
}

/// Holds back the reader while many calls are in flight and are being answered, so that a burst is served whole. When
/// answers stand still, it reads on: a cancellation may come.
#[derive(Default)]
struct Pause {
    since: Option<(u64, Instant)>,
}

impl Pause {
    /// How long answers may stand still.
    const PATIENCE: Duration = Duration::from_millis(500);

    fn wanted(&mut self, session: &Session) -> bool {
        let Some(answered) = session.crowded() else {
            self.since = None;
            return false;
        };
        match self.since {
            Some((then, at)) if then == answered => at.elapsed() < Self::PATIENCE,
            _ => {
                self.since = Some((answered, Instant::now()));
                true
            }
        }
    }
}

fn read_all(
    session: &Arc<Session>,
    mut input: &File,
    writer: &Writer,
    outbox: &Outbox,
    gone: BorrowedFd<'_>,
) -> io::Result<()> {
    let engine = &session.engine;
    let stop = engine.stop_signal()?;
    let mut framer = Framer::new(engine.options.max_message_bytes);
    let mut buffer = vec![0; CHUNK];
    let mut pause = Pause::default();
    loop {
        // A peer that does not read is not read from, either; one that asks faster than it is answered waits a little.
        let full = outbox.is_full() || pause.wanted(session);
        let mut fds = vec![PollFd::new(stop.as_fd(), PollFlags::POLLIN), PollFd::new(gone, PollFlags::POLLIN)];
        if !full {
            fds.push(PollFd::new(input.as_fd(), PollFlags::POLLIN));
        }
        let timeout = if full { PollTimeout::from(2u8) } else { PollTimeout::NONE };
        match poll(&mut fds, timeout) {
            Ok(_) | Err(Errno::EINTR) => {}
            Err(error) => return Err(error.into()),
        }
        let ready = |index: usize| fds.get(index).and_then(PollFd::revents).is_some_and(|flags| !flags.is_empty());
        if ready(0) || ready(1) {
            return Ok(());
        }
        if !ready(2) {
            continue;
        }
        let count = match input.read(&mut buffer) {
            Ok(count) => count,
            Err(error) if again(&error) => continue,
            Err(error) => return Err(error),
        };
        IN_BATCH.set(true);
        if count == 0 {
            framer.finish(|line| take(session, line));
        } else {
            framer.feed(&buffer[..count], |line| take(session, line));
        }
        IN_BATCH.set(false);
        writer.write_now(outbox);
        if count == 0 {
            return Ok(());
        }
    }
}
