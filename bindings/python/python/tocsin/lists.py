"""A server's tools, prompts, resources and templates: edits that every subscriber hears of."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ._native import NativeRegistryError
from .content import encode
from .errors import RegistryError
from .handlers import CompletionHandler, Function, Handler, PromptHandler, ResourceHandler, ToolHandler

if TYPE_CHECKING:
    from .server import Server


class _List:
    """What all lists share. Edits may be made from any thread, also from handlers."""

    _name: str

    def __init__(self, server: Server) -> None:
        self._server = server

    def _put(
        self, definition: Mapping[str, Any], handler: Handler, completer: Function | None, replace: bool
    ) -> None:
        dispatcher = self._server._dispatcher
        extra = None if completer is None else dispatcher.add(CompletionHandler(completer))
        text = encode({key: value for key, value in definition.items() if value is not None})
        self._edit(self._server._native.put, self._name, text, dispatcher.add(handler), extra, replace)

    def _edit(self, function: Function, *arguments: Any) -> None:
        try:
            function(*arguments)
        except NativeRegistryError as error:
            raise RegistryError(str(error)) from None

    def remove(self, key: str) -> None:
        """Takes an entry out. Raises :class:`RegistryError` if there is none."""
        self._edit(self._server._native.edit, self._name, key, "remove")

    def enable(self, key: str) -> None:
        """Shows an entry that was disabled, in its old place."""
        self._edit(self._server._native.edit, self._name, key, "enable")

    def disable(self, key: str) -> None:
        """Hides an entry: it is neither listed nor served."""
        self._edit(self._server._native.edit, self._name, key, "disable")

    def names(self) -> list[str]:
        """All names, or URIs, in order, enabled or not."""
        return self._server._native.keys(self._name)

    def __contains__(self, key: object) -> bool:
        return key in self.names()

    def __len__(self) -> int:
        return len(self.names())


class Tools(_List):
    """A server's tools."""

    _name = "tools"

    def add(
        self,
        function: Function,
        name: str | None = None,
        *,
        title: str | None = None,
        description: str | None = None,
        input_schema: Mapping[str, Any] | None = None,
        output_schema: Mapping[str, Any] | None = None,
        annotations: Mapping[str, Any] | None = None,
        icons: list[dict[str, Any]] | None = None,
        meta: Mapping[str, Any] | None = None,
        replace: bool = False,
    ) -> None:
        """Adds a tool, or with ``replace`` puts it in the place of the one of that name.

        Name, description and schemas come from the function, unless given. Raises :class:`RegistryError`.
        """
        handler = ToolHandler(function, output_schema is not None)
        if output_schema is None and handler.output is not None:
            output_schema = handler.output.schema()
        definition = {
            "name": _name(function, name),
            "title": title,
            "description": _description(function, description),
            "inputSchema": handler.signature.input_schema() if input_schema is None else input_schema,
            "outputSchema": output_schema,
            "annotations": annotations,
            "icons": icons,
            "_meta": meta,
        }
        self._put(definition, handler, None, replace)

    def replace(self, function: Function, name: str | None = None, **options: Any) -> None:
        """Puts a tool in the place of the one of that name; options as for :meth:`add`."""
        self.add(function, name, **options, replace=True)


class Prompts(_List):
    """A server's prompts."""

    _name = "prompts"

    def add(
        self,
        function: Function,
        name: str | None = None,
        *,
        title: str | None = None,
        description: str | None = None,
        arguments: list[dict[str, Any]] | None = None,
        completer: Function | None = None,
        icons: list[dict[str, Any]] | None = None,
        meta: Mapping[str, Any] | None = None,
        replace: bool = False,
    ) -> None:
        """Adds a prompt, or with ``replace`` puts it in the place of the one of that name.

        ``completer(name, value, others)`` completes its arguments. Raises :class:`RegistryError`.
        """
        handler = PromptHandler(function)
        if arguments is None:
            schema = handler.signature.input_schema()
            arguments = [
                {"name": key, "description": value.get("description"), "required": key in schema.get("required", [])}
                for key, value in schema.get("properties", {}).items()
            ]
        definition = {
            "name": _name(function, name),
            "title": title,
            "description": _description(function, description),
            "arguments": [
                {key: value for key, value in argument.items() if value is not None} for argument in arguments
            ]
            or None,
            "icons": icons,
            "_meta": meta,
        }
        self._put(definition, handler, completer, replace)

    def replace(self, function: Function, name: str | None = None, **options: Any) -> None:
        """Puts a prompt in the place of the one of that name; options as for :meth:`add`."""
        self.add(function, name, **options, replace=True)


class _Resources(_List):
    _key: str

    def add(
        self,
        uri: str,
        function: Function,
        *,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        mime_type: str | None = None,
        annotations: Mapping[str, Any] | None = None,
        icons: list[dict[str, Any]] | None = None,
        meta: Mapping[str, Any] | None = None,
        completer: Function | None = None,
        replace: bool = False,
    ) -> None:
        """Adds an entry, or with ``replace`` puts it in the place of the same one. Raises :class:`RegistryError`."""
        definition = {
            self._key: uri,
            "name": _name(function, name),
            "title": title,
            "description": _description(function, description),
            "mimeType": mime_type,
            "annotations": annotations,
            "icons": icons,
            "_meta": meta,
        }
        self._put(definition, ResourceHandler(function), completer, replace)

    def replace(self, uri: str, function: Function, **options: Any) -> None:
        """Puts an entry in the place of the same one; options as for :meth:`add`."""
        self.add(uri, function, **options, replace=True)


class Resources(_Resources):
    """A server's resources."""

    _name = "resources"
    _key = "uri"

    def updated(self, uri: str) -> None:
        """Says that what ``uri`` stands for was updated, be it listed or not: its subscribers are told."""
        self._server._native.updated(uri)


class Templates(_Resources):
    """A server's resource templates; ``completer(name, value, others)`` completes their variables."""

    _name = "templates"
    _key = "uriTemplate"


def _name(function: Function, name: str | None) -> str:
    if name is not None:
        return name
    own = getattr(function, "__name__", None)
    if own is None or own == "<lambda>":
        raise TypeError("a function without a name of its own needs name=…")
    return str(own)


def _description(function: Function, description: str | None) -> str | None:
    if description is not None:
        return description
    own = inspect.getdoc(function) if inspect.isroutine(function) else None
    return own or None
