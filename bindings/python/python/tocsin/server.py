"""The server, as its author holds it."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

from . import _native
from ._json import encode
from .dispatch import Dispatcher
from .handlers import ListenHandler
from .lists import Prompts, Resources, Templates, Tools
from .process import prints_to_stderr, signals_stop

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .client import Client
    from .options import PromptOptions, ServerOptions, TemplateOptions, ToolOptions

F = TypeVar("F", bound=Callable[..., Any])


class Server:
    """An MCP server: what it offers, and serving it.

    Options are those of :class:`tocsin.options.ServerOptions`. Handlers that are plain functions run on
    ``handler_threads`` threads, async ones on the event loop that serves. Raises :class:`BuildError` if an option
    cannot be used.
    """

    def __init__(
        self, name: str, version: str = "0.1.0", *, handler_threads: int = 8, **options: Unpack[ServerOptions]
    ) -> None:
        given = [(key, encode(value)) for key, value in options.items() if value is not None]
        self._native = _native.Server(name, version, given)
        self._dispatcher = Dispatcher(self._native, handler_threads)
        self.tools = Tools(self._native, self._dispatcher)
        self.prompts = Prompts(self._native, self._dispatcher)
        self.resources = Resources(self._native, self._dispatcher)
        self.templates = Templates(self._native, self._dispatcher)

    # Decorators. Each gives the function back as it was.

    @overload
    def tool(self, function: F, /) -> F: ...
    @overload
    def tool(self, name: str | None = None, /, **options: Unpack[ToolOptions]) -> Callable[[F], F]: ...
    def tool(self, first: Any = None, /, **options: Any) -> Any:
        """Makes a tool of a function: ``@server.tool``, or ``@server.tool("name", title=…)``.

        Name, description and schemas come from the function's name, documentation and annotations, unless given.
        """
        return _decorate(first, lambda function, name: self.tools.add(function, name, **options))

    @overload
    def prompt(self, function: F, /) -> F: ...
    @overload
    def prompt(self, name: str | None = None, /, **options: Unpack[PromptOptions]) -> Callable[[F], F]: ...
    def prompt(self, first: Any = None, /, **options: Any) -> Any:
        """Makes a prompt of a function, whose parameters are the prompt's arguments."""
        return _decorate(first, lambda function, name: self.prompts.add(function, name, **options))

    def resource(self, uri: str, /, **options: Unpack[TemplateOptions]) -> Callable[[F], F]:
        """Makes a resource of a function, or a template if the URI has ``{variables}``, which are its parameters."""

        def decorate(function: F) -> F:
            entries: Any = self.templates if "{" in uri else self.resources
            entries.add(uri, function, **options)
            return function

        return decorate

    def on_listen(self, function: F) -> F:
        """Lets ``function(filter)`` decide on listen requests: returning accepts, raising :class:`McpError` refuses."""
        self._native.on_listen(self._dispatcher.target(ListenHandler(function)))
        return function

    def on_watch(self, function: F) -> F:
        """Calls ``function(uri, True)`` on the loop when the first subscriber of a URI comes, and with ``False`` when
        the last one goes."""
        self._dispatcher.on_watch = function
        self._native.on_watch(self._dispatcher.async_box)
        return function

    # Changes.

    @contextlib.contextmanager
    def changes(self) -> Iterator[None]:
        """A batch: what changes within is announced once per list, at its end. Batches nest."""
        self._native.hold()
        try:
            yield
        finally:
            self._native.release()

    def list_changed(self, name: Literal["tools", "prompts", "resources"]) -> None:
        """Announces that a list changed in a way that the server does not see."""
        self._native.list_changed(name)

    @property
    def subscriptions(self) -> int:
        """How many listen requests are open."""
        return self._native.subscriptions

    # Serving.

    def serve(self) -> None:
        """Serves standard input and output until the input ends, or SIGINT or SIGTERM comes.

        Calls in flight get their grace then; another signal ends the process at once. While it serves, what the
        process prints goes to standard error, and its standard input is empty.
        """

        def stop() -> bool:
            first = not self._native.stopping
            self._native.stop()
            return first

        with signals_stop(stop):
            asyncio.run(self.serve_async())

    async def serve_async(self) -> None:
        """Serves standard input and output on the running loop, which async handlers share. Signals are the caller's;
        cancelling it stops the server gracefully."""
        with prints_to_stderr():
            await self._serve(self._native.start_stdio())

    def serve_in_background(self) -> threading.Thread:
        """Serves standard input and output on a loop in a thread of its own, which ends after :meth:`close`."""
        service = self._native.start_stdio()

        def run() -> None:
            with prints_to_stderr():
                asyncio.run(self._serve(service))

        thread = threading.Thread(target=run, name="tocsin-serve", daemon=True)
        self._dispatcher.background = thread
        thread.start()
        return thread

    async def _serve(self, service: _native.Service) -> None:
        loop = asyncio.get_running_loop()
        ended = asyncio.Event()
        loop.add_reader(service.fileno(), ended.set)
        try:
            self._dispatcher.attach(loop)
            try:
                await ended.wait()
            except asyncio.CancelledError:
                self._native.stop()
                await ended.wait()
                raise
        finally:
            loop.remove_reader(service.fileno())
            self._dispatcher.detach()
        service.wait(0)

    @contextlib.asynccontextmanager
    async def connect(self, **how: Any) -> AsyncIterator[Client]:
        """A client in this process, for tests: ``async with server.connect() as client``. See :class:`Client`."""
        from .client import Client

        self._dispatcher.attach(asyncio.get_running_loop())
        client = Client(self._native.connect(), **how)
        try:
            yield client
        finally:
            await client.close()

    def close(self) -> None:
        """Stops serving, gracefully and for good; returns at once. May be called from any thread."""
        self._native.stop()


def _decorate(first: Any, add: Callable[[Any, str | None], None]) -> Any:
    if callable(first):
        add(first, None)
        return first

    def decorate(function: F) -> F:
        add(function, first)
        return function

    return decorate
