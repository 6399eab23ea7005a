"""What a handler raises, and what the library does."""

from __future__ import annotations

from typing import Any


class ToolError(Exception):
    """A failure for the model to read: its text becomes a tool error."""


class RegistryError(ToolError):
    """An edit of a list was refused: the name is taken, is not there, or cannot be served."""


class McpError(Exception):
    """A failure for the client: a JSON-RPC error.

    :param code: its code; an application's own lie outside -32768 to -32000.
    :param data: anything that JSON can say.
    """

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(code, message, data)
        self.code = code
        self.message = message
        self.data = data

    def __str__(self) -> str:
        return f"{self.message} ({self.code})"


class BuildError(ValueError):
    """An option of a server cannot be used."""


class Suspended(BaseException):
    """The client was asked and will call again, so the handler unwinds. Not for handlers to catch."""
