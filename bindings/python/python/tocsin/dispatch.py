"""From the engine's queues to handlers: async ones on the caller's event loop, plain ones on a few threads."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import itertools
import logging
import threading
import weakref
from collections.abc import Callable
from traceback import format_exception
from typing import TYPE_CHECKING, Any

from . import _native
from ._json import encode, sayable
from ._native import ASKED, CALL, CANCELLED, Call, Mailbox, Waiter
from .context import Context, SyncContext, current_context
from .errors import McpError, Suspended, ToolError
from .process import adopt

if TYPE_CHECKING:
    from .handlers import Handler

log = logging.getLogger("tocsin")

BATCH = 256
"""Most events in one go, so that the loop's other guests get their turn."""


class Dispatcher:
    """Runs one server's handlers."""

    def __init__(self, native: _native.Server, threads: int) -> None:
        self._native = native
        self.background: threading.Thread | None = None
        self.on_watch: Callable[[str, bool], Any] | None = None
        self.async_box = Mailbox()
        self._sync_box = Mailbox()
        self._loop: asyncio.AbstractEventLoop | None = None
        # Also keeps the tasks alive, which a loop does not.
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._ending: set[asyncio.Task[None]] = set()
        self._questions: dict[int, asyncio.Future[tuple[str, str]]] = {}
        self._tokens = itertools.count(1)
        self._context = contextvars.copy_context()
        self._threads: list[threading.Thread] = []
        self._thread_count = threads
        self._needs_threads = False

    def target(self, handler: Handler) -> tuple[Mailbox, Handler]:
        """Where the handler's calls go."""
        if handler.is_async:
            return self.async_box, handler
        self._needs_threads = True
        if self._loop is not None:
            self._start_threads()
        return self._sync_box, handler

    # On the event loop.

    def attach(self, loop: asyncio.AbstractEventLoop) -> None:
        """Begins to run handlers: async ones on ``loop``, all in copies of the caller's context."""
        if self._loop is loop:
            return
        if self._loop is not None and not self._loop.is_closed():
            raise RuntimeError("this server's handlers run on another event loop; a server is on one at a time")
        adopt(self)
        self._context = contextvars.copy_context()
        if self._needs_threads:
            self._start_threads()
        # Handles keep a copy of this context, of which tasks that they start get copies of their own.
        loop.add_reader(self.async_box.fileno(), self._drain)
        loop.call_soon(self._drain)
        self._loop = loop

    def detach(self) -> None:
        """Leaves the loop; what still runs there is cancelled."""
        loop, self._loop = self._loop, None
        if loop is not None and not loop.is_closed():
            loop.remove_reader(self.async_box.fileno())
        self.async_box.flush()
        for task in self._tasks.values():
            task.cancel()

    def _drain(self) -> None:
        loop = self._loop
        if loop is None:
            return
        tasks = self._tasks
        events = self.async_box.drain(BATCH)
        for kind, value, detail in events:
            if kind == CALL:
                tasks[detail.key] = loop.create_task(self._run(value, detail))
            elif kind == CANCELLED:
                task = tasks.pop(value, None)
                if task is not None:
                    self._ending.add(task)
                    task.add_done_callback(self._ending.discard)
                    task.cancel()
            elif kind == ASKED:
                question = self._questions.pop(value, None)
                if question is not None and not question.done():
                    question.set_result(detail)
            else:
                self._watch(value, detail)
        if len(events) > 1:
            # After the first steps of all these tasks.
            loop.call_soon(self.async_box.flush)

    async def _run(self, handler: Handler, call: Call) -> None:
        try:
            context = Context(call, self)
            current_context.set(context)
            handler.answer(call, await handler.run(call, context))
        except (asyncio.CancelledError, GeneratorExit):
            # By the client, or by the end of the loop.
            call.discard()
            raise
        except BaseException as error:
            fail(call, error)
            if isinstance(error, KeyboardInterrupt):
                raise
        finally:
            self._tasks.pop(call.key, None)

    async def ask(self, call: Call, requests: list[tuple[str, str, str]]) -> tuple[str, str]:
        """Asks the client; see ``Context.ask``."""
        token = next(self._tokens)
        question: asyncio.Future[tuple[str, str]] = asyncio.get_running_loop().create_future()
        self._questions[token] = question
        try:
            call.ask(requests, self.async_box, token)
            return await question
        finally:
            self._questions.pop(token, None)

    def _watch(self, uri: str, active: bool) -> None:
        if self.on_watch is None or self._loop is None:
            return
        try:
            result = self.on_watch(uri, active)
            if inspect.isawaitable(result):
                task = self._loop.create_task(_finish(result))
                self._ending.add(task)
                task.add_done_callback(self._ending.discard)
        except Exception:
            log.exception("the watch callback failed")

    # On threads.

    def _start_threads(self) -> None:
        while len(self._threads) < self._thread_count:
            # They hold nothing that holds the server. Daemons: others would be joined before they are told to end.
            thread = threading.Thread(
                target=_work,
                args=(self._sync_box.waiter(), weakref.ref(self)),
                name=f"tocsin-handler-{len(self._threads) + 1}",
                daemon=True,
            )
            self._threads.append(thread)
            thread.start()

    def work(self) -> None:
        """Runs what waits for handler threads."""
        pop = self._sync_box.pop
        while (event := pop()) is not None:
            kind, handler, call = event
            if kind == CALL:
                self._context.copy().run(self._call, handler, call)

    def _call(self, handler: Handler, call: Call) -> None:
        try:
            context = SyncContext(call, self)
            current_context.set(context)
            result = handler.run(call, context)
            if inspect.iscoroutine(result):
                result.close()
                raise TypeError(f"{handler.signature.what} returned a coroutine; make it an async function")
            handler.answer(call, result)
        except BaseException as error:
            fail(call, error)

    # The end.

    def close(self) -> list[threading.Thread]:
        """Cancels what runs, and lets go of all handlers. Returns threads, which end once their handlers return."""
        self._native.dispose()
        self._sync_box.waiter().close()
        self.async_box.waiter().close()
        threads = self._threads if self.background is None else [*self._threads, self.background]
        return [thread for thread in threads if thread is not threading.current_thread()]


def _work(waiter: Waiter, dispatcher: weakref.ref[Dispatcher]) -> None:
    while waiter.wait():
        alive = dispatcher()
        if alive is None:
            return
        alive.work()
        del alive


async def _finish(result: Any) -> None:
    try:
        await result
    except Exception:
        log.exception("the watch callback failed")


def fail(call: Call, error: BaseException) -> None:
    """Answers for a handler that raised."""
    try:
        # A task group wraps it up.
        if isinstance(error, Suspended) or (hasattr(error, "subgroup") and error.subgroup(Suspended)):
            call.discard()
        elif isinstance(error, UnicodeEncodeError) and error.reason == "surrogates not allowed":
            call.fail("the result has half a surrogate pair, which UTF-8 cannot say")
        elif isinstance(error, ToolError):
            call.fail(sayable(str(error)))
        elif isinstance(error, McpError):
            data = None if error.data is None else sayable(encode(error.data))
            call.fail_with(error.code, sayable(error.message), data)
        else:
            call.crash(sayable("".join(format_exception(error))))
    except Exception as fault:
        # Whatever an exception of the author's does when it is told: the call gets an answer.
        call.crash(f"{type(error).__name__}, which cannot be told: {type(fault).__name__}")
