"""Schemas from types, and values to JSON and back by them: all that needs pydantic, which is imported on first use."""

from __future__ import annotations

import functools
import inspect
import typing
from collections.abc import Mapping
from typing import Any

from ._json import encode
from .errors import ToolError

EMPTY = inspect.Parameter.empty
Fields = Mapping[str, tuple[Any, Any]]

PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean"}


def plain_schema(fields: Fields) -> dict[str, Any]:
    """The schema that pydantic would make, of fields that it is not needed for."""
    properties = {}
    for name, (annotation, default) in fields.items():
        properties[name] = {} if annotation is Any else {"type": PLAIN[annotation]}
        if default is not EMPTY:
            properties[name]["default"] = default
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    required = [name for name, (_, default) in fields.items() if default is EMPTY]
    return {**schema, "required": required} if required else schema


class Arguments:
    """A model of a function's arguments."""

    def __init__(self, fields: Fields) -> None:
        from pydantic import Field, create_model

        # Fields get numbers for names, since a model has names of its own.
        self._names = {f"p{index}": name for index, name in enumerate(fields)}
        model_fields: dict[str, Any] = {
            field: (
                typing.Annotated[fields[name][0], Field(alias=name)],
                ... if fields[name][1] is EMPTY else fields[name][1],
            )
            for field, name in self._names.items()
        }
        self._model: Any = create_model("Arguments", **model_fields)
        self._read = self._model.__pydantic_validator__.validate_json

    def schema(self) -> dict[str, Any]:
        """Their JSON Schema."""
        schema: dict[str, Any] = {"type": "object", "properties": {}, **self._model.model_json_schema(by_alias=True)}
        return without_titles(schema)

    def read(self, text: str) -> dict[str, Any]:
        """Keyword arguments from JSON text, read and checked in one go."""
        try:
            values = self._read(text).__dict__
        except ValueError as error:
            raise ToolError(f"Invalid arguments: {_faults(error)}") from None
        return {name: values[field] for field, name in self._names.items()}


def _faults(error: Any) -> str:
    return "; ".join(f"/{'/'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in error.errors())


class Output:
    """How a tool's structured content is written, by the annotation of its function."""

    def __init__(self, annotation: Any) -> None:
        self._annotation = annotation

    @functools.cached_property
    def _adapter(self) -> Any:
        from pydantic import TypeAdapter

        return TypeAdapter(self._annotation)

    def schema(self) -> dict[str, Any]:
        """Its JSON Schema."""
        return without_titles(self._adapter.json_schema(mode="serialization", by_alias=True))

    def dump(self, value: Any) -> str:
        """The value as JSON text."""
        text: str = self._adapter.dump_json(value, by_alias=True).decode()
        if "null" in text or "NaN" in text or "Infinity" in text:
            # Pydantic may have written null for a number that JSON cannot say, which this refuses to.
            encode(self._adapter.dump_python(value, mode="json", by_alias=True))
        return text


def has_schema(kind: Any) -> bool:
    """Whether it is a model, a dataclass or a typed dictionary."""
    if not isinstance(kind, type):
        return False
    return hasattr(kind, "__pydantic_core_schema__") or hasattr(kind, "__dataclass_fields__") or _is_typeddict(kind)


def without_titles(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema without the titles that pydantic makes up from names."""
    cleaned: dict[str, Any] = _clean(schema)
    return cleaned


def _clean(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_clean(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    cleaned = {}
    for key, value in schema.items():
        if key in ("properties", "$defs") and isinstance(value, dict):
            # Their keys are names, and "title" is as good a name as any.
            cleaned[key] = {name: _clean(item) for name, item in value.items()}
        elif key in ("const", "enum", "default", "examples"):
            cleaned[key] = value
        elif key != "title":
            cleaned[key] = _clean(value)
    return cleaned


def _is_typeddict(kind: type) -> bool:
    # By its marks, since `typing` does not know those of `typing_extensions`, which pydantic wants before Python 3.12.
    return issubclass(kind, dict) and hasattr(kind, "__total__") and hasattr(kind, "__required_keys__")
