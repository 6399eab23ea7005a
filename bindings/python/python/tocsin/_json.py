"""JSON as the wire has it. The standard library reads and writes it; pydantic only what that does not know."""

from __future__ import annotations

import json
from typing import Any

from .errors import ToolError


class Unsayable(ToolError):
    """A value has no JSON form; its text says why."""


def _foreign(value: Any) -> Any:
    """What the standard library has no form for: models, dataclasses, dates, numbers and so on, by pydantic's rules."""
    from pydantic_core import to_jsonable_python

    return to_jsonable_python(value, by_alias=True)


_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_foreign).encode
_scan = json.JSONDecoder().scan_once  # type: ignore[attr-defined]


def decode(text: str) -> Any:
    """A value from JSON text of the engine's, which has no space around it; whole numbers are exact."""
    return _scan(text, 0)[0]


def encode(value: Any) -> str:
    """Compact JSON text, every character as itself."""
    try:
        return _encode(value)
    except ValueError as error:
        if "Out of range float" in str(error):
            raise Unsayable("the result has NaN or Infinity, which JSON cannot say") from None
        raise


def decode_object(text: str) -> dict[str, Any]:
    """An object from JSON text that is known to be one."""
    value: dict[str, Any] = decode(text)
    return value


def sayable(text: str) -> str:
    """Text with each half of a surrogate pair that stands alone replaced, since UTF-8 cannot say it."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
