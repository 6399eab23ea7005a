"""JSON that keeps the digits of its numbers, and messages that keep their bytes."""

import json
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class Number:
    """A number as it is spelt: `1`, `1.0` and `1e0` are three different ones."""

    text: str


def _refuse(word):
    raise ValueError(f"{word} is not JSON")


def decode(raw):
    """Plain Python values. NaN and Infinity, which `json` would let through, are refused."""
    return json.loads(raw, parse_constant=_refuse)


def decode_exact(raw):
    """The same, but numbers become `Number`, so that nothing is lost."""
    return json.loads(raw, parse_int=Number, parse_float=Number, parse_constant=_refuse)


def encode(value):
    """Compact JSON; knows `Number`, leaves non-ASCII as it is."""
    if isinstance(value, Number):
        return value.text
    if isinstance(value, dict):
        return "{" + ",".join(f"{encode(name)}:{encode(item)}" for name, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(encode(item) for item in value) + "]"
    return json.dumps(value, ensure_ascii=False)


class Message:
    """One line from the server."""

    def __init__(self, raw, index=0):
        self.raw = raw
        self.index = index
        self.value = decode(raw)

    def __repr__(self):
        text = self.raw.decode("utf-8", "replace")
        return f"#{self.index} {text if len(text) < 2000 else text[:2000] + '…'}"

    def __getitem__(self, name):
        return self.value[name]

    def __contains__(self, name):
        return isinstance(self.value, dict) and name in self.value

    def get(self, name, default=None):
        return self.value.get(name, default) if isinstance(self.value, dict) else default

    @cached_property
    def exact(self):
        return decode_exact(self.raw)

    @property
    def method(self):
        return self.get("method")

    @property
    def params(self):
        return self.get("params") or {}

    @property
    def key(self):
        """The id as JSON text: its type and its digits. None where there is none."""
        return encode(self.exact["id"]) if "id" in self else None

    @property
    def is_response(self):
        return "result" in self or "error" in self

    @property
    def is_request(self):
        return "method" in self and "id" in self

    @property
    def subscription(self):
        """The subscription id as JSON text, or None."""
        holder = self.exact.get("params", self.exact.get("result")) if isinstance(self.value, dict) else None
        meta = holder.get("_meta") if isinstance(holder, dict) else None
        return encode(meta[SID]) if isinstance(meta, dict) and SID in meta else None


SID = "io.modelcontextprotocol/subscriptionId"
