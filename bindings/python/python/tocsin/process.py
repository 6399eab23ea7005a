"""What is one for the whole process: the standard streams, signals, the log, forks, and the end."""

from __future__ import annotations

import atexit
import contextlib
import io
import logging
import os
import select
import signal
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from . import _native

if TYPE_CHECKING:
    from .dispatch import Dispatcher

PATIENCE = 2.0
"""Seconds that the end of the process waits for handlers that do not return."""

log = logging.getLogger("tocsin")

_dispatchers: weakref.WeakSet[Dispatcher] = weakref.WeakSet()
_logger: threading.Thread | None = None


def adopt(dispatcher: Dispatcher) -> None:
    """Sees to it that ``dispatcher`` ends with the process, and that the engine's log is heard."""
    global _logger
    _dispatchers.add(dispatcher)
    _native.start_logs(log.getEffectiveLevel())
    if _logger is None:
        _logger = threading.Thread(target=_pass_logs, name="tocsin-log", daemon=True)
        _logger.start()


def _pass_logs() -> None:
    while (records := _native.take_logs()) is not None:
        for level, text in records:
            if log.hasHandlers():
                log.log(level, "%s", text)
            elif log.isEnabledFor(level):
                _last_resort(text)


def _last_resort(text: str) -> None:
    """As `logging` has it for programs that do not set it up, but without waiting for a client that never reads."""
    data = f"{text}\n".encode(errors="backslashreplace")
    with contextlib.suppress(OSError):
        for at in range(0, len(data), select.PIPE_BUF):
            # What polls writable takes so much without blocking.
            if not select.select([], [2], [], 0.1)[1]:
                return
            os.write(2, data[at : at + select.PIPE_BUF])


def _end() -> None:
    # While there is an interpreter that threads of ours can come back to.
    threads = [thread for dispatcher in list(_dispatchers) for thread in dispatcher.close()]
    _native.stop_logs()
    if _logger is not None:
        threads.append(_logger)
    end = time.monotonic() + PATIENCE
    for thread in threads:
        thread.join(max(0.0, end - time.monotonic()))


def _forked() -> None:
    # The child has none of the threads; what needs them refuses to work.
    global _logger
    _logger = None
    _dispatchers.clear()
    atexit.unregister(_end)


atexit.register(_end)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


@contextlib.contextmanager
def prints_to_stderr() -> Iterator[None]:
    """Sends what Python prints where the engine sends what everybody else prints."""
    stdout = sys.stdout
    if not isinstance(stdout, io.TextIOWrapper):
        with contextlib.redirect_stdout(sys.stderr):
            yield
        return
    stdout.flush()
    buffered = stdout.line_buffering
    # For those who hold on to the old stream: what stayed in its buffer would reach the client in the end.
    stdout.reconfigure(line_buffering=True)
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
    finally:
        stdout.reconfigure(line_buffering=buffered)


@contextlib.contextmanager
def signals_stop(stop: Callable[[], bool]) -> Iterator[None]:
    """The first SIGINT or SIGTERM calls ``stop``; so does the second, and if that returns false the process ends."""

    def stop_or_end(number: int, frame: object) -> None:
        if not stop():
            os._exit(0)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, stop_or_end) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            # Clients end the input and send SIGTERM at once: to a process that winds up, that is no failure. So what
            # would kill it ends it from now on, with its threads and buffers as they are.
            winding_up = number == signal.SIGTERM and handler == signal.SIG_DFL
            signal.signal(number, _end_now if winding_up else handler if handler is not None else signal.SIG_DFL)


def _end_now(number: int, frame: object) -> None:
    os._exit(0)
