"""The server, as its author holds it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import threading
from collections.abc import Callable, Iterator
from typing import Any, TypeVar, overload

from . import _native
from ._native import NativeBuildError
from .content import encode
from .dispatch import Dispatcher
from .errors import BuildError
from .handlers import Function, ListenHandler
from .lists import Prompts, Resources, Templates, Tools

F = TypeVar("F", bound=Callable[..., Any])


class Server:
    """An MCP server.

    Options are the core's, by name: ``title``, ``description``, ``website_url``, ``icons``, ``instructions``,
    ``protocol_versions``, ``modern_only``, ``extension_versions``, ``withhold``, ``page_size``, ``max_subscriptions``,
    ``max_message_bytes``, ``max_depth``, ``max_in_flight``, ``max_output_bytes``, ``max_uris_per_subscription``,
    ``ttl_ms``, ``cache_scope``, ``shutdown_grace_ms``, ``handler_timeout_ms``, ``state_ttl_ms``, ``state_key``,
    ``extensions``, ``experimental``. Options that are ``None`` keep their defaults.

    Handlers that are plain functions run on ``handler_threads`` threads; async ones on the loop that serves.
    Raises :class:`BuildError` if an option cannot be used.
    """

    def __init__(self, name: str, version: str = "0.1.0", *, handler_threads: int = 8, **options: Any) -> None:
        given = [(key, encode(value)) for key, value in options.items() if value is not None]
        try:
            self._native = _native.Server(name, version, given)
        except NativeBuildError as error:
            raise BuildError(str(error)) from None
        self._dispatcher = Dispatcher(handler_threads)
        self._served: asyncio.Event | None = None
        self.tools = Tools(self)
        self.prompts = Prompts(self)
        self.resources = Resources(self)
        self.templates = Templates(self)

    # Decorators. Each returns the function as it was.

    @overload
    def tool(self, function: F, /) -> F: ...
    @overload
    def tool(self, name: str | None = None, /, **options: Any) -> Callable[[F], F]: ...
    def tool(self, function: Any = None, /, **options: Any) -> Any:
        """Makes a tool of a function: ``@server.tool``, or ``@server.tool("name", description=…)``.

        Options are those of :meth:`tocsin.lists.Tools.add`.
        """
        return _decorate(function, lambda target, name: self.tools.add(target, name, **options))

    @overload
    def prompt(self, function: F, /) -> F: ...
    @overload
    def prompt(self, name: str | None = None, /, **options: Any) -> Callable[[F], F]: ...
    def prompt(self, function: Any = None, /, **options: Any) -> Any:
        """Makes a prompt of a function; options are those of :meth:`tocsin.lists.Prompts.add`."""
        return _decorate(function, lambda target, name: self.prompts.add(target, name, **options))

    def resource(self, uri: str, /, **options: Any) -> Callable[[F], F]:
        """Makes a resource of a function, or a template if the URI has ``{variables}``, which are its arguments.

        Options are those of :meth:`tocsin.lists.Resources.add`.
        """

        def decorate(function: F) -> F:
            (self.templates if "{" in uri else self.resources).add(uri, function, **options)
            return function

        return decorate

    def on_listen(self, function: F) -> F:
        """Lets ``function(filter)`` decide on listen requests: raising :class:`McpError` refuses."""
        self._native.on_listen(self._dispatcher.add(ListenHandler(function)))
        return function

    def on_watch(self, function: Callable[[str, bool], Any]) -> Callable[[str, bool], Any]:
        """Calls ``function(uri, True)`` when the first subscriber of a URI comes, and with ``False`` when the last goes.

        On a server with a running loop it is called there.
        """
        self._dispatcher.watch = function
        self._native.on_watch(self._dispatcher.loop_box)
        return function

    @contextlib.contextmanager
    def changes(self) -> Iterator[None]:
        """A batch: changes within are announced once per kind, at its end. Batches nest."""
        self._native.hold()
        try:
            yield
        finally:
            self._native.release()

    def list_changed(self, kind: str) -> None:
        """Announces that ``tools``, ``prompts`` or ``resources`` changed in a way that the lists do not see."""
        self._native.list_changed(kind)

    @property
    def subscriptions(self) -> int:
        """How many listen requests are open."""
        return self._native.subscriptions

    # Serving.

    def serve(self) -> None:
        """Serves standard input and output until the input ends, or SIGINT or SIGTERM comes; a second signal ends at once.

        While it serves, ``print`` goes to standard error.
        """
        asyncio.run(self._serve_with_signals())

    async def _serve_with_signals(self) -> None:
        loop = asyncio.get_running_loop()

        def stop() -> None:
            if self._native.stopping:
                os._exit(0)
            self._native.stop()

        in_main = threading.current_thread() is threading.main_thread()
        signals = (signal.SIGINT, signal.SIGTERM) if in_main else ()
        for number in signals:
            loop.add_signal_handler(number, stop)
        try:
            await self.serve_async()
        finally:
            for number in signals:
                loop.remove_signal_handler(number)

    async def serve_async(self) -> None:
        """Serves standard input and output on the running loop, which async handlers share. Signals are the caller's.

        Cancelling it stops the server.
        """
        loop = asyncio.get_running_loop()
        self._dispatcher.attach(loop)
        service = self._native.start_stdio()
        ended = asyncio.Event()

        def end() -> None:
            loop.remove_reader(service.fileno())
            ended.set()

        loop.add_reader(service.fileno(), end)
        try:
            await ended.wait()
        except asyncio.CancelledError:
            self._native.stop()
            await ended.wait()
            raise
        finally:
            self._dispatcher.detach()
        service.wait(0)

    def serve_in_background(self) -> threading.Thread:
        """Serves standard input and output on a loop in a thread of its own, which it returns."""
        thread = threading.Thread(target=self.serve, name="tocsin-serve", daemon=True)
        thread.start()
        return thread

    @contextlib.asynccontextmanager
    async def connect(self) -> Any:
        """A client in this process, for tests: ``async with server.connect() as client``."""
        from .testing import Client

        self._dispatcher.attach(asyncio.get_running_loop())
        client = Client(self._native.connect())
        try:
            yield client
        finally:
            await client.close()

    def close(self) -> None:
        """Stops serving gracefully; returns at once. ``serve`` returns when all is done."""
        self._native.stop()

    def dispose(self) -> None:
        """Lets go of all handlers and threads at once; nothing is served any more."""
        self._native.dispose()
        self._dispatcher.close()


def _decorate(function: Any, add: Callable[[Function, str | None], None]) -> Any:
    if callable(function):
        add(function, None)
        return function

    def decorate(target: F) -> F:
        add(target, function)
        return target

    return decorate
