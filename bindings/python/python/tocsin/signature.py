"""What a handler's function takes and returns, learned once from its annotations."""

from __future__ import annotations

import functools
import inspect
import types
import typing
from collections.abc import Callable
from typing import Any

from ._json import decode
from .context import BaseContext, SyncContext
from .errors import ToolError
from .schema import Arguments, plain_schema

Function = Callable[..., Any]


class Signature:
    """What a function takes and returns.

    Pydantic is imported only for functions that need it: arguments that are texts, numbers and truth values already,
    as their annotations say, are passed on as they are.
    """

    def __init__(self, function: Function) -> None:
        target = plain_function(function)
        self.what = f"'{getattr(target, '__qualname__', repr(function))}'"
        self.is_async = inspect.iscoroutinefunction(target)
        self.context: str | None = None
        self.fields: dict[str, tuple[Any, Any]] = {}
        hints = typing.get_type_hints(target, include_extras=True)
        self.returns: Any = hints.get("return", Any)
        for parameter in inspect.signature(function).parameters.values():
            annotation = hints.get(parameter.name, Any)
            if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
                raise TypeError(f"{self.what} takes {parameter}; a handler's arguments have names")
            if self._is_context(annotation, parameter.name):
                self.context = parameter.name
            else:
                self.fields[parameter.name] = (annotation, parameter.default)
        self.required = {name for name, (_, default) in self.fields.items() if default is inspect.Parameter.empty}
        self._exact: dict[str, Any] | None = None
        if all(annotation in EXACT for annotation, _ in self.fields.values()):
            self._exact = {name: annotation for name, (annotation, _) in self.fields.items()}

    def _is_context(self, annotation: Any, name: str) -> bool:
        kind = bare(annotation)
        if not (isinstance(kind, type) and issubclass(kind, BaseContext)):
            return False
        if kind is not BaseContext and issubclass(kind, SyncContext) == self.is_async:
            function, need = ("an async", "Context") if self.is_async else ("a plain", "SyncContext")
            raise TypeError(f"{self.what} is {function} function: annotate its parameter '{name}' with {need}")
        return True

    @functools.cached_property
    def _checked(self) -> Arguments:
        return Arguments(self.fields)

    def input_schema(self) -> dict[str, Any]:
        """The JSON Schema of the arguments."""
        return plain_schema(self.fields) if self._exact is not None else self._checked.schema()

    def arguments(self, text: str) -> dict[str, Any]:
        """Keyword arguments from JSON text. Raises :class:`ToolError` if they do not fit."""
        if not self.fields:
            return {}
        exact = self._exact
        if exact is not None:
            try:
                values: dict[str, Any] = decode(text)
            except ValueError as error:
                # An integer of more digits than Python is willing to read.
                raise ToolError(f"Invalid arguments: {error}") from None
            for name, value in values.items():
                annotation = exact.get(name)
                if type(value) is not annotation and annotation is not Any:
                    break
            else:
                if self.required <= values.keys():
                    return values
        return self._checked.read(text)


EXACT = (str, int, float, bool, Any)
"""Annotations whose values need no conversion."""


def plain_function(function: Any) -> Any:
    """The function behind partials, bound methods, callable objects and wrappers."""
    while isinstance(function, functools.partial):
        function = function.func
    function = inspect.unwrap(function)
    if not inspect.isroutine(function) and not inspect.isclass(function):
        return plain_function(type(function).__call__)
    return function


def bare(annotation: Any) -> Any:
    """The type inside ``Annotated`` and ``Optional``."""
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Annotated:
        return bare(arguments[0])
    if origin in (typing.Union, types.UnionType):
        others = [argument for argument in arguments if argument is not type(None)]
        if len(others) == 1:
            return bare(others[0])
    return annotation
