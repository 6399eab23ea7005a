"""The stdio transport: a server as a child process."""

import os
import re
import select
import signal
import subprocess
import threading
from pathlib import Path

from connection import TIMEOUT, Connection

ROOT = Path(__file__).resolve().parents[2]
# Texts that only an unhandled failure of a language leaves behind.
TRACE = re.compile(
    r"Traceback \(most recent|panicked at|^\s+at .+:\d+:\d+\)?$|Segmentation|AddressSanitizer", re.MULTILINE
)


def launcher(server):
    return ROOT / "build" / f"everything-{server}"


class Stdio(Connection):
    def __init__(self, server, *options, env=None, drain_stderr=True):
        super().__init__()
        self.server = server
        self.stderr = b""
        self.check_status = True  # a test that expects another end than status 0 clears it
        self._write_lock = threading.Lock()
        self._read_lock = threading.Lock()
        self._reading = threading.Event()
        self._reading.set()
        self._wake = os.pipe()
        self._stop = False
        self.process = subprocess.Popen(
            [launcher(server), *options],
            cwd=ROOT,
            env=os.environ | env if env else None,
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        os.set_blocking(self.process.stdin.fileno(), False)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self._stderr_reader = threading.Thread(target=self._read_stderr, daemon=True)
        if drain_stderr:
            self._stderr_reader.start()

    # --- bytes ------------------------------------------------------------------------------------------------------

    def _write(self, data):
        """Writes with a limit, so that a server that stops reading fails the test and does not hang it."""
        fd = self.process.stdin.fileno()
        view = memoryview(data)
        with self._write_lock:
            while view:
                _, writable, _ = select.select([], [fd], [], TIMEOUT)
                if not writable:
                    raise AssertionError(f"the server does not read its input; {len(view)} bytes are left")
                view = view[os.write(fd, view) :]

    def _read(self):
        fd = self.process.stdout.fileno()
        rest = []
        while True:
            select.select([fd, self._wake[0]], [], [])
            self._reading.wait()
            with self._read_lock:
                if self._stop:
                    break
                if not self._reading.is_set():
                    continue
                chunk = os.read(fd, 1 << 16)
            if not chunk:
                break
            # Only LF ends a line; bytes.splitlines() would also take a CR.
            *lines, tail = chunk.split(b"\n")
            for line in lines:
                self._arrived(b"".join([*rest, line]))
                rest = []
            rest.append(tail)
        if b"".join(rest):
            self.ledger.faults.append(f"stdout ends within a line: {b''.join(rest)[:200]!r}")
        self._end()

    def _read_stderr(self):
        while chunk := os.read(self.process.stderr.fileno(), 1 << 16):
            self.stderr += chunk

    def pause(self):
        """From now on not a byte is read."""
        self._reading.clear()
        with self._read_lock:
            pass

    def resume(self):
        self._reading.set()

    def hang_up(self):
        """Closes the reading end of the server's stdout."""
        with self._read_lock:
            self._stop = True
        os.write(self._wake[1], b"x")
        self._reading.set()
        self._reader.join(TIMEOUT)
        self.process.stdout.close()

    # --- process ----------------------------------------------------------------------------------------------------

    def signal(self, number=signal.SIGTERM):
        self.process.send_signal(number)

    def end_input(self):
        if not self.process.stdin.closed:
            self.process.stdin.close()

    def wait(self, timeout=TIMEOUT):
        """The exit status, once everything that was written is read."""
        status = self.process.wait(timeout)
        self._reader.join(TIMEOUT)
        if self._stderr_reader.ident is not None:
            self._stderr_reader.join(TIMEOUT)
        return status

    def rss(self):
        """Resident kilobytes, now."""
        return int(re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{self.process.pid}/status").read_text())[1])

    def no_trace(self):
        text = self.stderr.decode("utf-8", "replace")
        assert not TRACE.search(text), text[-2000:]

    def finish(self):
        """Ends the server as a client would, and holds it to what every test may expect."""
        try:
            self.resume()
            self.end_input()
            status = self.wait()
            if self.check_status:
                assert status == 0, f"exit status {status}; stderr: {self.stderr.decode('utf-8', 'replace')[-2000:]}"
            assert not self.ledger.faults, "\n".join(self.ledger.faults[:10])
        finally:
            self._release()

    def _release(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self._reader.join(TIMEOUT)
        if self._stderr_reader.ident is not None:
            self._stderr_reader.join(TIMEOUT)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            stream.close()
        for fd in self._wake:
            os.close(fd)


def run(server, *options, input=b"", timeout=TIMEOUT):
    """A launcher run to its end: (status, stdout, stderr)."""
    command = [launcher(server), *options]
    done = subprocess.run(command, cwd=ROOT, input=input, capture_output=True, timeout=timeout, check=False)
    return done.returncode, done.stdout, done.stderr.decode()
