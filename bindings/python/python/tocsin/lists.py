"""A server's tools, prompts, resources and templates: edits that every subscriber hears of."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, overload

from ._json import encode
from .handlers import CompletionHandler, Handler, PromptHandler, ResourceHandler, ToolHandler
from .options import (
    Completer,
    Object,
    PromptOptions,
    ResourceOptions,
    TemplateOptions,
    ToolOptions,
    definition,
)
from .signature import Function

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._native import Server as NativeServer
    from .dispatch import Dispatcher


class Entries:
    """What all lists share. Edits may be made from any thread and any handler."""

    _list: str

    def __init__(self, native: NativeServer, dispatcher: Dispatcher) -> None:
        self._native = native
        self._dispatcher = dispatcher

    def _put(self, replace: bool, entry: Mapping[str, Any], handler: Handler, completer: Completer | None) -> None:
        target = self._dispatcher.target
        complete = None if completer is None else target(CompletionHandler(completer))
        self._native.put(self._list, encode(entry), target(handler), complete, replace)

    def remove(self, name: str) -> None:
        """Takes an entry out. Raises :class:`RegistryError` if there is none."""
        self._native.remove(self._list, name)

    def enable(self, name: str) -> None:
        """Shows an entry that was disabled, in its old place."""
        self._native.enable(self._list, name)

    def disable(self, name: str) -> None:
        """Hides an entry: it is neither listed nor served."""
        self._native.disable(self._list, name)

    def names(self) -> list[str]:
        """All names, or URIs, in order, enabled or not."""
        return self._native.keys(self._list)

    def __contains__(self, name: str) -> bool:
        """Whether an entry of that name, or URI, is there, enabled or not."""
        return self._native.contains(self._list, name)


class Tools(Entries):
    """A server's tools."""

    _list = "tools"

    @overload
    def add(self, function: Function, name: str | None = None, /, **options: Unpack[ToolOptions]) -> None: ...
    @overload
    def add(self, definition: Object, function: Function, /) -> None: ...
    def add(self, first: Any, second: Any = None, /, **options: Any) -> None:
        """Adds a tool at the end: a function, or the protocol's Tool object with its function.

        Raises :class:`RegistryError` if the name is taken or the definition cannot be served.
        """
        self._tool(False, first, second, options)

    @overload
    def replace(self, function: Function, name: str | None = None, /, **options: Unpack[ToolOptions]) -> None: ...
    @overload
    def replace(self, definition: Object, function: Function, /) -> None: ...
    def replace(self, first: Any, second: Any = None, /, **options: Any) -> None:
        """Puts a tool in the place of the one of that name; see :meth:`add`."""
        self._tool(True, first, second, options)

    def _tool(self, replace: bool, first: Any, second: Any, options: Mapping[str, Any]) -> None:
        if isinstance(first, Mapping):
            _no_options(options)
            self._put(replace, first, ToolHandler(second, "outputSchema" in first), None)
            return
        handler = ToolHandler(first, options.get("output_schema") is not None)
        own = {"name": _name(first) if second is None else second, "description": _description(first)}
        if options.get("input_schema") is None:
            own["input_schema"] = handler.signature.input_schema()
        if options.get("output_schema") is None and handler.output is not None:
            own["output_schema"] = handler.output.schema()
        self._put(replace, definition(ToolOptions, options, **own), handler, None)


class Prompts(Entries):
    """A server's prompts."""

    _list = "prompts"

    @overload
    def add(self, function: Function, name: str | None = None, /, **options: Unpack[PromptOptions]) -> None: ...
    @overload
    def add(self, definition: Object, function: Function, /) -> None: ...
    def add(self, first: Any, second: Any = None, /, **options: Any) -> None:
        """Adds a prompt at the end: a function, or the protocol's Prompt object with its function.

        Raises :class:`RegistryError` if the name is taken or the definition cannot be served.
        """
        self._prompt(False, first, second, options)

    @overload
    def replace(self, function: Function, name: str | None = None, /, **options: Unpack[PromptOptions]) -> None: ...
    @overload
    def replace(self, definition: Object, function: Function, /) -> None: ...
    def replace(self, first: Any, second: Any = None, /, **options: Any) -> None:
        """Puts a prompt in the place of the one of that name; see :meth:`add`."""
        self._prompt(True, first, second, options)

    def _prompt(self, replace: bool, first: Any, second: Any, options: Mapping[str, Any]) -> None:
        if isinstance(first, Mapping):
            _no_options(options)
            self._put(replace, first, PromptHandler(second), None)
            return
        handler = PromptHandler(first)
        own = {"name": _name(first) if second is None else second, "description": _description(first)}
        if options.get("arguments") is None:
            own["arguments"] = _prompt_arguments(handler)
        self._put(replace, definition(PromptOptions, options, **own), handler, options.get("completer"))


class Resources(Entries):
    """A server's resources."""

    _list = "resources"

    @overload
    def add(self, uri: str, function: Function, /, **options: Unpack[ResourceOptions]) -> None: ...
    @overload
    def add(self, definition: Object, function: Function, /) -> None: ...
    def add(self, first: Any, function: Function, /, **options: Any) -> None:
        """Adds a resource at the end: a URI, or the protocol's Resource object, with the function that reads it.

        Raises :class:`RegistryError` if the URI is taken or not absolute, or the definition cannot be served.
        """
        self._resource(False, first, function, options)

    @overload
    def replace(self, uri: str, function: Function, /, **options: Unpack[ResourceOptions]) -> None: ...
    @overload
    def replace(self, definition: Object, function: Function, /) -> None: ...
    def replace(self, first: Any, function: Function, /, **options: Any) -> None:
        """Puts a resource in the place of the one of that URI; see :meth:`add`."""
        self._resource(True, first, function, options)

    def _resource(self, replace: bool, first: Any, function: Function, options: Mapping[str, Any]) -> None:
        entry = _located(first, "uri", function, ResourceOptions, options)
        self._put(replace, entry, ResourceHandler(function, ""), None)

    def updated(self, uri: str) -> None:
        """Says that what ``uri`` stands for was updated, be it listed or not: its subscribers are told."""
        self._native.updated(uri)


class Templates(Entries):
    """A server's resource templates."""

    _list = "templates"

    @overload
    def add(self, template: str, function: Function, /, **options: Unpack[TemplateOptions]) -> None: ...
    @overload
    def add(self, definition: Object, function: Function, /) -> None: ...
    def add(self, first: Any, function: Function, /, **options: Any) -> None:
        """Adds a URI template (RFC 6570) at the end, or the protocol's ResourceTemplate object, with the function that
        reads what matches it.

        Raises :class:`RegistryError` if the template is taken or cannot be parsed, or the definition cannot be served.
        """
        self._template(False, first, function, options)

    @overload
    def replace(self, template: str, function: Function, /, **options: Unpack[TemplateOptions]) -> None: ...
    @overload
    def replace(self, definition: Object, function: Function, /) -> None: ...
    def replace(self, first: Any, function: Function, /, **options: Any) -> None:
        """Puts a template in the place of the same one; see :meth:`add`."""
        self._template(True, first, function, options)

    def _template(self, replace: bool, first: Any, function: Function, options: Mapping[str, Any]) -> None:
        entry = _located(first, "uriTemplate", function, TemplateOptions, options)
        handler = ResourceHandler(function, str(entry.get("uriTemplate")))
        self._put(replace, entry, handler, options.get("completer"))


def _located(first: Any, key: str, function: Function, kind: Any, options: Mapping[str, Any]) -> Mapping[str, Any]:
    if isinstance(first, Mapping):
        _no_options(options)
        return first
    own = {key: first, "description": _description(function)}
    if options.get("name") is None:
        own["name"] = _name(function)
    return definition(kind, options, **own)


def _no_options(options: Mapping[str, Any]) -> None:
    if options:
        raise TypeError(f"a definition says all; there is no place for {', '.join(options)}")


def _name(function: Function) -> str:
    name = getattr(function, "__name__", None)
    if name is None or name == "<lambda>":
        raise TypeError(f"{function!r} has no name of its own; give it one")
    return str(name)


def _description(function: Function) -> str | None:
    # Of an object, the documentation would be its class's.
    return inspect.getdoc(function) if inspect.isroutine(function) else None


def _prompt_arguments(handler: Handler) -> list[dict[str, Any]] | None:
    schema = handler.signature.input_schema()
    required = schema.get("required", [])
    arguments = []
    for name, member in schema["properties"].items():
        described = {"description": member["description"]} if "description" in member else {}
        arguments.append({"name": name, **described, "required": name in required})
    return arguments or None
