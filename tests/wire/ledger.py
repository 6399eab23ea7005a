"""Invariants that hold whatever a test does, checked on every message of every connection.

- Answers answer something that was asked, once, and fit the schema of the method and the version.
- Nothing tagged comes before its acknowledgement; nothing untagged reaches a client that did not complete `initialize`.
- Progress carries a token that was given; logs go to those who asked; a modern client gets no requests.
"""

from collections import defaultdict
from functools import cache
from pathlib import Path

import jsonschema

from wirejson import Message, Number, decode, decode_exact, encode

SPEC = Path(__file__).resolve().parent.parent / "spec"
MODERN = "2026-07-28"
HANDSHAKE = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]
VERSIONS = [MODERN, *HANDSHAKE]
DEFAULT = "2025-03-26"
KEY = "io.modelcontextprotocol/"

RESULTS = {
    "initialize": "InitializeResult",
    "server/discover": "DiscoverResult",
    "subscriptions/listen": "SubscriptionsListenResult",
    "ping": "EmptyResult",
    "logging/setLevel": "EmptyResult",
    "resources/subscribe": "EmptyResult",
    "resources/unsubscribe": "EmptyResult",
    "tools/list": "ListToolsResult",
    "tools/call": "CallToolResult",
    "prompts/list": "ListPromptsResult",
    "prompts/get": "GetPromptResult",
    "resources/list": "ListResourcesResult",
    "resources/templates/list": "ListResourceTemplatesResult",
    "resources/read": "ReadResourceResult",
    "completion/complete": "CompleteResult",
}
MESSAGES = {
    "notifications/subscriptions/acknowledged": "SubscriptionsAcknowledgedNotification",
    "notifications/tools/list_changed": "ToolListChangedNotification",
    "notifications/prompts/list_changed": "PromptListChangedNotification",
    "notifications/resources/list_changed": "ResourceListChangedNotification",
    "notifications/resources/updated": "ResourceUpdatedNotification",
    "notifications/progress": "ProgressNotification",
    "notifications/message": "LoggingMessageNotification",
    "elicitation/create": "ElicitRequest",
    "sampling/createMessage": "CreateMessageRequest",
    "roots/list": "ListRootsRequest",
}
ERRORS = {-32021: "MissingRequiredClientCapabilityError", -32022: "UnsupportedProtocolVersionError"}
CHANGES = {
    f"notifications/{kind}"
    for kind in ("tools/list_changed", "prompts/list_changed", "resources/list_changed", "resources/updated")
}


@cache
def _validator(version, name):
    schema = decode((SPEC / version / "schema.json").read_bytes())
    section = "$defs" if "$defs" in schema else "definitions"
    root = {"$schema": schema["$schema"], "$ref": f"#/{section}/{name}", section: schema[section]}
    return jsonschema.validators.validator_for(root)(root)


def breaches(version, name, value):
    """What is wrong with a value by that revision's schema, or None."""
    error = next(_validator(version, name).iter_errors(value), None)
    return error and f"not a {name} of {version}: {error.json_path}: {error.message[:300]}"


def _text(value):
    return encode(value) if isinstance(value, str | Number) else None


class Ledger:
    def __init__(self):
        self.faults = []
        self.version = None  # negotiated by `initialize`
        self.told = False  # `notifications/initialized` was sent
        self._asked = defaultdict(list)  # id text -> [(method, modern)]
        self._acked = set()
        self._tokens = set()
        self._questions = set()  # ids of the server's own requests
        self._logs = False
        self._partial = b""

    def fault(self, text, message):
        self.faults.append(f"{text}: {message!r}")

    def sent(self, data):
        """Learns from what the test sends, however mangled."""
        *lines, self._partial = (self._partial + data).split(b"\n")
        for line in lines:
            try:
                value = decode_exact(line)
            except (ValueError, RecursionError):
                continue
            for message in value if isinstance(value, list) else [value]:
                if isinstance(message, dict):
                    self._sent(message)

    def _sent(self, message):
        method = message.get("method")
        params = message.get("params")
        meta = params.get("_meta") if isinstance(params, dict) else None
        meta = meta if isinstance(meta, dict) else {}
        if _text(meta.get("progressToken")):
            self._tokens.add(_text(meta["progressToken"]))
        self._logs |= f"{KEY}logLevel" in meta
        if method == "notifications/initialized":
            self.told = True
        key = _text(message.get("id"))
        if key and not ("method" not in message and ("result" in message or "error" in message)):
            modern = any(name.startswith(KEY) for name in meta)
            self._asked[key].append((method, modern))

    def received(self, message):
        if isinstance(message.value, list):
            if self.version not in (None, "2025-03-26"):
                self.fault("an array outside 2025-03-26", message)
            for item in message.exact:
                self._received(Message(encode(item).encode(), message.index))
        else:
            self._received(message)

    def _received(self, message):
        if not isinstance(message.value, dict) or message.get("jsonrpc") != "2.0":
            self.fault("not JSON-RPC 2.0", message)
        elif sum(name in message for name in ("result", "error", "method")) != 1:
            self.fault("neither a response nor a request nor a notification", message)
        elif message.is_response:
            self._response(message)
        elif message.is_request:
            self._server_request(message)
        else:
            self._notification(message)

    def _response(self, message):
        key = message.key
        if key in (None, "null"):
            if "error" not in message:
                self.fault("a result without an id", message)
            old = self.version and self.version < "2025-11-25"
            if (key == "null") != bool(old):
                self.fault(f"the error's id must be {'null' if old else 'absent'}", message)
            return
        asked = self._asked[key]
        if not asked:
            self.fault("answers nothing that was asked", message)
            return
        if "error" in message:
            # A refused duplicate is the later one.
            method, modern = asked.pop(-1 if message["error"].get("code") == -32600 else 0)
            self._error(message, modern)
            return
        found = [self._result(message, method, modern) for method, modern in asked]
        fitting = next((i for i, breach in enumerate(found) if breach is None), 0)
        if found[fitting]:
            self.fault(found[fitting], message)
        method, _ = asked.pop(fitting)
        if method == "initialize":
            self.version = message["result"].get("protocolVersion")
        if method == "subscriptions/listen":
            self._acked.discard(key)
            if message.subscription != key:
                self.fault("the result of a listen lacks its own id as tag", message)

    def _error(self, message, modern):
        error = message["error"]
        if (
            not isinstance(error, dict)
            or type(error.get("code")) is not int
            or not isinstance(error.get("message"), str)
        ):
            self.fault("not an error object", message)
        elif not error["message"].strip():
            self.fault("an error without a text", message)
        elif modern and error["code"] in ERRORS:
            breach = breaches(MODERN, ERRORS[error["code"]], message.value)
            if breach:
                self.fault(breach, message)

    def _result(self, message, method, modern):
        result = message["result"]
        name = RESULTS.get(method)
        if name is None:
            return f"a result for {method}"
        if modern:
            if isinstance(result, dict) and result.get("resultType") == "input_required":
                if method not in ("tools/call", "prompts/get", "resources/read"):
                    return f"{method} must not ask for input"
                name = "InputRequiredResult"
            return breaches(MODERN, name, result)
        version = result.get("protocolVersion") if method == "initialize" else self.version or DEFAULT
        if version not in HANDSHAKE:
            return f"no handshake version: {version}"
        extra = {"resultType", "ttlMs", "cacheScope"} & set(result)
        if extra:
            return f"{sorted(extra)} are not for handshake clients"
        return breaches(version, name, result)

    def _server_request(self, message):
        self._questions.add(message.key)
        if not self.version:
            self.fault("a request to a client that did not initialize", message)
        elif message.method not in MESSAGES:
            self.fault("an unknown request", message)
        else:
            # Elicitation is younger than some revisions; there its own table says nothing.
            breach = breaches(max(self.version, "2025-06-18"), MESSAGES[message.method], message.value)
            if breach:
                self.fault(breach, message)

    def _notification(self, message):
        method, tag = message.method, message.subscription
        if method == "notifications/cancelled" and self.version:
            if encode(message.exact["params"]["requestId"]) not in self._questions:
                self.fault("cancels what it did not ask", message)
            return
        if method not in MESSAGES:
            self.fault("an unknown notification", message)
            return
        modern = tag is not None or not self.version
        breach = breaches(MODERN if modern else self.version, MESSAGES[method], message.value)
        if breach:
            self.fault(breach, message)
        if method == "notifications/subscriptions/acknowledged":
            if not any(name == "subscriptions/listen" for name, _ in self._asked[tag]):
                self.fault("acknowledges no listen", message)
            self._acked.add(tag)
        elif tag is not None:
            if tag not in self._acked:
                self.fault("tagged before its acknowledgement or after its end", message)
        elif method in CHANGES:
            if not (self.version and self.told):
                self.fault("untagged, and `initialize` was not completed", message)
        elif method == "notifications/progress":
            if encode(message.exact["params"]["progressToken"]) not in self._tokens:
                self.fault("progress with a token that nobody gave", message)
        elif method == "notifications/message" and not (self._logs or self.version):
            self.fault("a log message that nobody asked for", message)
