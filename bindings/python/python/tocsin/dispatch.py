"""From the engine's queues to Python's handlers: async ones on the caller's loop, plain ones on a few threads."""

from __future__ import annotations

import asyncio
import atexit
import contextvars
import itertools
import logging
import threading
import traceback
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from . import _native
from ._native import Call, Mailbox
from .context import Context, SyncContext, current_context
from .errors import McpError, Suspended, ToolError

if TYPE_CHECKING:
    from .handlers import Handler

log = logging.getLogger("tocsin")

BATCH = 256
"""Events taken at once, so that the loop stays fair."""


class Dispatcher:
    """Runs one server's handlers."""

    def __init__(self, threads: int) -> None:
        self.loop_box = Mailbox()
        self.thread_box = Mailbox()
        self.watch: Callable[[str, bool], Any] | None = None
        self._handlers: dict[int, Handler] = {}
        self._ids = itertools.count(1)
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._questions: dict[int, asyncio.Future[tuple[str, str]]] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._context = contextvars.copy_context()
        self._threads: list[threading.Thread] = []
        self._size = threads
        self._starting = threading.Lock()
        _live.add(self)
        _start_logs()

    def add(self, handler: Handler) -> tuple[Mailbox, int]:
        """Takes a handler in; its calls come to the mailbox under the number."""
        number = next(self._ids)
        self._handlers[number] = handler
        if not handler.is_async:
            self._start_threads()
        return (self.loop_box if handler.is_async else self.thread_box), number

    # On the loop.

    def attach(self, loop: asyncio.AbstractEventLoop) -> None:
        """Runs async handlers on `loop`, in copies of the caller's context."""
        if self._loop is loop:
            return
        if self._loop is not None and not self._loop.is_closed():
            raise RuntimeError("this server's handlers run on another event loop; one server serves on one loop")
        self._loop = loop
        self._context = contextvars.copy_context()
        loop.add_reader(self.loop_box.fileno(), self._drain)
        # What came before there was a loop.
        loop.call_soon(self._drain)

    def detach(self) -> None:
        """Leaves the loop; what still runs there is cancelled."""
        loop, self._loop = self._loop, None
        if loop is not None and not loop.is_closed():
            loop.remove_reader(self.loop_box.fileno())
        for task in self._tasks.values():
            task.cancel()

    def _drain(self) -> None:
        loop = self._loop
        if loop is None:
            return
        for kind, key, value in self.loop_box.drain(BATCH):
            if kind == "call":
                handler = self._handlers[key]
                context = self._context.copy()
                task = context.run(loop.create_task, self._run(handler, value))
                self._tasks[value.key] = task
            elif kind == "cancelled":
                running = self._tasks.get(key)
                if running is not None:
                    running.cancel()
            elif kind == "asked":
                question = self._questions.pop(key, None)
                if question is not None and not question.done():
                    question.set_result(value)
            else:
                self._other(kind, key, value)

    async def _run(self, handler: Handler, call: Call) -> None:
        try:
            context = Context(call, self)
            current_context.set(context)
            handler.answer(call, await handler.function(**handler.arguments(call, context)))
        except asyncio.CancelledError:
            # Cancelled by the client, or the loop is being closed.
            call.discard()
            raise
        except BaseException as error:
            _fail(call, error)
        finally:
            self._tasks.pop(call.key, None)

    async def ask(self, call: Call, requests: list[tuple[str, str, str]]) -> tuple[str, str]:
        """Asks the client; see ``Context.ask``."""
        token = next(self._ids)
        question = asyncio.get_running_loop().create_future()
        self._questions[token] = question
        try:
            call.ask(requests, self.loop_box, token)
            outcome: tuple[str, str] = await question
            return outcome
        finally:
            self._questions.pop(token, None)

    # On threads.

    def _start_threads(self) -> None:
        with self._starting:
            while len(self._threads) < self._size:
                # Daemons, since others would be joined before `atexit` could tell them to end.
                name = f"tocsin-handler-{len(self._threads)}"
                thread = threading.Thread(target=_work, args=(self.thread_box, weakref.ref(self)), name=name, daemon=True)
                self._threads.append(thread)
                thread.start()

    def handle(self, kind: str, key: int, value: Any) -> None:
        """One event on a handler thread."""
        if kind == "call":
            self._context.copy().run(self._call, self._handlers[key], value)
        elif kind != "cancelled":
            self._other(kind, key, value)

    def _call(self, handler: Handler, call: Call) -> None:
        try:
            context = SyncContext(call, self)
            current_context.set(context)
            handler.answer(call, handler.function(**handler.arguments(call, context)))
        except BaseException as error:
            _fail(call, error)

    def _other(self, kind: str, key: Any, value: Any) -> None:
        if kind == "dropped":
            self._handlers.pop(key, None)
        elif kind == "watch" and self.watch is not None:
            try:
                self.watch(key, value)
            except Exception:
                log.exception("a watch callback failed")

    def close(self) -> None:
        """Ends the queues and joins the threads; calls that wait get an error."""
        self.detach()
        self.loop_box.close()
        self.thread_box.close()
        for thread in self._threads:
            if thread is not threading.current_thread():
                thread.join()
        self._handlers.clear()


def _work(box: Mailbox, dispatcher: weakref.ref[Dispatcher]) -> None:
    while (event := box.take()) is not None:
        alive = dispatcher()
        if alive is None:
            return
        alive.handle(*event)
        del alive, event


def _fail(call: Call, error: BaseException) -> None:
    """Answers for a handler that raised."""
    from .content import NotJson, encode

    try:
        if isinstance(error, Suspended):
            call.discard()
        elif isinstance(error, (ToolError, NotJson)):
            call.fail(str(error))
        elif isinstance(error, McpError):
            call.fail_with(error.code, error.message, None if error.data is None else encode(error.data))
        else:
            call.crash("".join(traceback.format_exception(error)))
    except Exception as fault:
        # Text that is no Unicode, or data that is no JSON: still an answer.
        call.crash(f"{type(error).__name__}, which cannot be told: {fault!r}")


# The end of the process.

_live: weakref.WeakSet[Dispatcher] = weakref.WeakSet()
_log_thread: threading.Thread | None = None


def _start_logs() -> None:
    """Passes the engine's log on to `logging`, from a thread of ours."""
    global _log_thread
    if _log_thread is None:
        _native.start_logs(log.getEffectiveLevel())
        _log_thread = threading.Thread(target=_pass_logs, name="tocsin-log", daemon=True)
        _log_thread.start()


def _pass_logs() -> None:
    while (records := _native.take_logs()) is not None:
        for level, text in records:
            log.log(level, "%s", text)


@atexit.register
def _end() -> None:
    for dispatcher in list(_live):
        dispatcher.close()
    _native.stop_logs()
    if _log_thread is not None:
        _log_thread.join()
