"""From a function's signature to schemas, and from JSON to its arguments and back."""

from __future__ import annotations

import inspect
import json
import typing
from collections.abc import Callable
from typing import Any

from .content import NotJson
from .context import BaseContext, SyncContext
from .errors import ToolError


class Signature:
    """What a handler takes, learned once from its annotations."""

    def __init__(self, function: Callable[..., Any]) -> None:
        target = _plain(function)
        self.is_async = _is_async(function)
        self.context: str | None = None
        self.sync_context = False
        hints = typing.get_type_hints(target, include_extras=True)
        self.returns: Any = hints.get("return", Any)
        self.fields: dict[str, tuple[Any, Any]] = {}
        for parameter in inspect.signature(function).parameters.values():
            annotation = hints.get(parameter.name, Any)
            kind = _context_kind(annotation)
            if kind is not None:
                self.context, self.sync_context = parameter.name, issubclass(kind, SyncContext)
            elif parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                raise TypeError(f"'{target.__name__}' takes *{parameter.name}; a handler needs named parameters")
            elif parameter.kind is parameter.POSITIONAL_ONLY:
                raise TypeError(f"'{target.__name__}' takes {parameter.name} by position only; a handler needs names")
            else:
                default = ... if parameter.default is parameter.empty else parameter.default
                self.fields[parameter.name] = (annotation, default)
        self._model: Any = None

    @property
    def model(self) -> Any:
        """The pydantic model of the arguments, made when it is first needed."""
        if self._model is None:
            from pydantic import ConfigDict, create_model

            # Positional names keep a parameter called `schema` or `_x` from clashing with pydantic's own.
            fields: dict[str, Any] = {}
            from pydantic import Field

            for index, (name, (annotation, default)) in enumerate(self.fields.items()):
                fields[f"p{index}"] = (typing.Annotated[annotation, Field(alias=name)], default)
            config = ConfigDict(arbitrary_types_allowed=False)
            self._model = create_model("Arguments", __config__=config, **fields)
        return self._model

    def input_schema(self) -> dict[str, Any]:
        """The JSON Schema of the arguments."""
        if not self.fields:
            return {"type": "object", "properties": {}}
        schema: dict[str, Any] = self.model.model_json_schema(by_alias=True)
        return strip_titles(schema)

    def arguments(self, text: str) -> dict[str, Any]:
        """Keyword arguments from JSON text, parsed and checked in one pass."""
        if not self.fields:
            return {}
        from pydantic import ValidationError

        try:
            model = self.model.model_validate_json(text)
        except ValidationError as error:
            faults = (f"/{'/'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in error.errors())
            raise ToolError(f"Invalid arguments: {'; '.join(faults)}") from None
        values = model.__dict__
        return {name: values[f"p{index}"] for index, name in enumerate(self.fields)}


class Output:
    """How a tool's structured content is written."""

    def __init__(self, annotation: Any) -> None:
        from pydantic import TypeAdapter

        self.adapter: Any = TypeAdapter(annotation)

    def schema(self) -> dict[str, Any]:
        """Its JSON Schema."""
        schema: dict[str, Any] = self.adapter.json_schema(mode="serialization", by_alias=True)
        return strip_titles(schema)

    def dump(self, value: Any) -> str:
        """The value as JSON text."""
        return checked(self.adapter.dump_json(value, by_alias=True))


def is_structured(annotation: Any) -> bool:
    """Whether results of this type have a schema of their own: models, dataclasses and typed dictionaries."""
    annotation = _unwrap(annotation)
    if not isinstance(annotation, type):
        return False
    if annotation.__module__.startswith("tocsin."):
        return False
    is_model = hasattr(annotation, "model_json_schema") or hasattr(annotation, "__dataclass_fields__")
    return is_model or typing.is_typeddict(annotation)


def dump(value: Any) -> str:
    """Any value as JSON text, by pydantic's rules."""
    from pydantic_core import to_json

    return checked(to_json(value, inf_nan_mode="constants", by_alias=True))


def checked(data: bytes) -> str:
    """Text of JSON bytes; NaN and Infinity are an error that says so."""
    text = data.decode()
    if "NaN" in text or "Infinity" in text:
        json.loads(text, parse_constant=_refuse)
    return text


def _refuse(name: str) -> Any:
    raise NotJson(f"the result has {name}, which JSON cannot say")


def strip_titles(schema: Any) -> Any:
    """A schema without the titles that pydantic makes up from names."""
    if isinstance(schema, list):
        return [strip_titles(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    result = {}
    for key, value in schema.items():
        if key == "title" and isinstance(value, str):
            continue
        if key in ("properties", "$defs", "patternProperties") and isinstance(value, dict):
            result[key] = {name: strip_titles(item) for name, item in value.items()}
        elif key in ("const", "enum", "default", "examples"):
            result[key] = value
        else:
            result[key] = strip_titles(value)
    return result


def _plain(function: Callable[..., Any]) -> Any:
    """The function behind partials, bound methods, callable objects and wrappers."""
    while hasattr(function, "func"):
        function = function.func
    function = inspect.unwrap(function)
    if not inspect.isroutine(function) and not inspect.isclass(function):
        function = type(function).__call__
    return function


def _is_async(function: Callable[..., Any]) -> bool:
    return inspect.iscoroutinefunction(_plain(function))


def _unwrap(annotation: Any) -> Any:
    """The type inside ``Annotated`` and ``Optional``."""
    if typing.get_origin(annotation) is typing.Annotated:
        return _unwrap(typing.get_args(annotation)[0])
    arguments = [item for item in typing.get_args(annotation) if item is not type(None)]
    if len(arguments) == 1 and type(None) in typing.get_args(annotation):
        return _unwrap(arguments[0])
    return annotation


def _context_kind(annotation: Any) -> type[BaseContext] | None:
    annotation = _unwrap(annotation)
    if isinstance(annotation, type) and issubclass(annotation, BaseContext):
        return annotation
    return None
