"""What a handler knows of its call, and can do with it."""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Literal

from ._json import decode_object, encode
from .errors import Suspended, ToolError

if TYPE_CHECKING:
    from ._native import Call
    from .dispatch import Dispatcher

Level = Literal["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]
"""How severe a log message is."""

Question = tuple[str, Mapping[str, Any]]
"""Method and params of a request to the client."""

current_context: ContextVar[BaseContext] = ContextVar("tocsin_context")
"""The context of the call that is being handled."""


def elicit(message: str, schema: Mapping[str, Any], **params: Any) -> Question:
    """A question to the user, for ``ask``; ``schema`` is that of the form."""
    return "elicitation/create", {"message": message, "requestedSchema": schema, **params}


def sample(messages: list[dict[str, Any]], max_tokens: int, **params: Any) -> Question:
    """A question to the client's model, for ``ask``."""
    return "sampling/createMessage", {"messages": messages, "maxTokens": max_tokens, **params}


def list_roots() -> Question:
    """A question for the client's root directories, for ``ask``."""
    return "roots/list", {}


class BaseContext:
    """What all handlers know and may do, from any thread."""

    __slots__ = ("_call", "_dispatcher")

    def __init__(self, call: Call, dispatcher: Dispatcher) -> None:
        self._call = call
        self._dispatcher = dispatcher

    @property
    def name(self) -> str:
        """Tool name, prompt name or URI."""
        return self._call.name

    @property
    def arguments_json(self) -> str:
        """The arguments to the letter, as JSON text."""
        return self._call.arguments

    @property
    def meta(self) -> dict[str, Any]:
        """The request's ``_meta``."""
        return decode_object(self._call.meta)

    @property
    def era(self) -> Literal["modern", "handshake"]:
        """By which rules the request is served."""
        return "modern" if self._call.modern else "handshake"

    @property
    def protocol_version(self) -> str:
        """The protocol version that it is served by."""
        return self._call.protocol_version

    @property
    def transport(self) -> str:
        """``stdio`` or ``http``."""
        return self._call.transport

    @property
    def client_info(self) -> dict[str, Any] | None:
        """Who the client says it is; unverified."""
        info = self._call.client_info
        return None if info is None else decode_object(info)

    @property
    def client_capabilities(self) -> dict[str, Any]:
        """What the client says it can do."""
        return decode_object(self._call.client_capabilities)

    @property
    def cancelled(self) -> bool:
        """Whether nobody waits for the answer any more."""
        return self._call.cancelled

    @property
    def wants_progress(self) -> bool:
        """Whether the client asked to hear of progress."""
        return self._call.wants_progress

    def can_ask(self, method: Literal["elicitation/create", "sampling/createMessage", "roots/list"]) -> bool:
        """Whether the client says that it can answer such a question."""
        return self._call.can_ask(method)

    def progress(self, done: float, total: float | None = None, message: str | None = None) -> None:
        """Reports progress, if the client asked for it; values that do not increase are left out."""
        self._call.progress(done, total, message)

    def log(self, level: Level, data: Any, logger: str | None = None) -> None:
        """Sends a log message to the client, if it wants messages of this level. ``data`` is anything JSON can say."""
        self._call.log(level, encode(data), logger)

    def debug(self, data: Any, logger: str | None = None) -> None:
        """:meth:`log` at this level."""
        self.log("debug", data, logger)

    def info(self, data: Any, logger: str | None = None) -> None:
        """:meth:`log` at this level."""
        self.log("info", data, logger)

    def warning(self, data: Any, logger: str | None = None) -> None:
        """:meth:`log` at this level."""
        self.log("warning", data, logger)

    def error(self, data: Any, logger: str | None = None) -> None:
        """:meth:`log` at this level."""
        self.log("error", data, logger)


class Context(BaseContext):
    """The context of an async handler."""

    __slots__ = ()

    async def ask(self, questions: Mapping[str, Question]) -> dict[str, dict[str, Any]]:
        """Asks the client several things at once, each under a key of its own; the answers come under the same keys.

        A modern client answers by calling again: the handler then runs anew from its beginning, and what it asks has
        an answer. So what must not happen twice comes after the last question. Raises :class:`ToolError` if the client
        cannot or will not answer.
        """
        return _answers(*await self._dispatcher.ask(self._call, _requests(questions)))

    async def elicit(self, key: str, message: str, schema: Mapping[str, Any], **params: Any) -> dict[str, Any]:
        """Asks the user with a form; the answer has ``action`` and, if accepted, ``content``. See :meth:`ask`."""
        return (await self.ask({key: elicit(message, schema, **params)}))[key]

    async def sample(self, key: str, messages: list[dict[str, Any]], max_tokens: int, **params: Any) -> dict[str, Any]:
        """Asks the client's model; the answer is a ``CreateMessageResult``. See :meth:`ask`."""
        return (await self.ask({key: sample(messages, max_tokens, **params)}))[key]

    async def list_roots(self, key: str = "roots") -> list[dict[str, Any]]:
        """Asks for the client's root directories. See :meth:`ask`."""
        roots: list[dict[str, Any]] = (await self.ask({key: list_roots()}))[key]["roots"]
        return roots


class SyncContext(BaseContext):
    """The context of a handler that is a plain function; its questions block the handler's thread."""

    __slots__ = ()

    def ask(self, questions: Mapping[str, Question]) -> dict[str, dict[str, Any]]:
        """As :meth:`Context.ask`, but blocking."""
        return _answers(*self._call.ask_and_wait(_requests(questions)))

    def elicit(self, key: str, message: str, schema: Mapping[str, Any], **params: Any) -> dict[str, Any]:
        """As :meth:`Context.elicit`, but blocking."""
        return self.ask({key: elicit(message, schema, **params)})[key]

    def sample(self, key: str, messages: list[dict[str, Any]], max_tokens: int, **params: Any) -> dict[str, Any]:
        """As :meth:`Context.sample`, but blocking."""
        return self.ask({key: sample(messages, max_tokens, **params)})[key]

    def list_roots(self, key: str = "roots") -> list[dict[str, Any]]:
        """As :meth:`Context.list_roots`, but blocking."""
        roots: list[dict[str, Any]] = self.ask({key: list_roots()})[key]["roots"]
        return roots


def _requests(questions: Mapping[str, Question]) -> list[tuple[str, str, str]]:
    return [(key, method, encode(params)) for key, (method, params) in questions.items()]


def _answers(outcome: str, text: str) -> dict[str, dict[str, Any]]:
    if outcome == "answered":
        return decode_object(text)
    if outcome == "suspended":
        raise Suspended
    raise ToolError(text)
