"""What a client does, whatever the transport: ask, listen, wait for events, prove silence."""

import itertools
import threading
import time
from collections import deque

from ledger import KEY, MODERN, Ledger
from wirejson import Message, encode

TIMEOUT = 10
CLIENT = {"name": "wire", "version": "1.0"}
_UNSET = object()


def META(capabilities=None, version=MODERN, client=CLIENT, **others):
    """A modern request's `_meta`. `others` are further members: `progressToken=1`, `logLevel="info"`."""
    meta = {f"{KEY}protocolVersion": version}
    if client is not None:
        meta[f"{KEY}clientInfo"] = client
    meta[f"{KEY}clientCapabilities"] = {} if capabilities is None else capabilities
    for name, value in others.items():
        meta[f"{KEY}logLevel" if name == "logLevel" else name] = value
    return meta


class Connection:
    """A transport implements `_write(line bytes)` and hands every message it gets to `_arrived`."""

    def __init__(self):
        self.ledger = Ledger()
        self.modern = True  # what `request` sends by default; `initialize` turns it
        self.answers = {}  # method of a server's request -> function(params) -> result, or an Exception to refuse with
        self.messages = []  # everything that ever came
        self.unseen = deque()  # what no test took yet
        self.ended = False
        self._changed = threading.Condition()
        self._ids = itertools.count(1)

    # --- transport side ---------------------------------------------------------------------------------------------

    def _write(self, data):
        raise NotImplementedError

    def _arrived(self, raw):
        with self._changed:
            try:
                message = Message(raw, len(self.messages))
            except ValueError as error:
                self.ledger.faults.append(f"not JSON ({error}): {raw[:500]!r}")
                return
            self.messages.append(message)
            self.ledger.received(message)
            answer = self.answers.get(message.method) if message.is_request else None
            if answer is None:
                self.unseen.append(message)
            self._changed.notify_all()
        if answer is not None:
            self.reply(message, answer)

    def _end(self):
        with self._changed:
            self.ended = True
            self._changed.notify_all()

    # --- sending ----------------------------------------------------------------------------------------------------

    def send_raw(self, data):
        self.ledger.sent(data)
        self._write(data)

    def send(self, message):
        self.send_raw(encode(message).encode() + b"\n")

    def line(self, method, params=None, id=_UNSET, modern=None, meta=None):
        """The message of a request as a value; `id=None` sends null, no id at all makes one up."""
        modern = self.modern if modern is None else modern
        params = dict(params or {})
        if meta is None and modern:
            meta = META()
        if meta is not None:
            params["_meta"] = meta
        message = {"jsonrpc": "2.0", "id": next(self._ids) if id is _UNSET else id, "method": method}
        if params:
            message["params"] = params
        return message

    def request(self, method, params=None, id=_UNSET, modern=None, meta=None):
        message = self.line(method, params, id, modern, meta)
        self.send(message)
        return message["id"]

    def notify(self, method, params=None):
        self.send({"jsonrpc": "2.0", "method": method} | ({} if params is None else {"params": params}))

    def start(self, tool, arguments=None, **how):
        """Sends a tool call and returns its id."""
        params = {"name": tool} | ({} if arguments is None else {"arguments": arguments})
        return self.request("tools/call", params, **how)

    def reply(self, request, answer):
        answer = answer(request.params) if callable(answer) else answer
        if isinstance(answer, Exception):
            outcome = {"error": {"code": -32000, "message": str(answer)}}
        else:
            outcome = {"result": answer}
        self.send({"jsonrpc": "2.0", "id": request.exact["id"]} | outcome)

    # --- waiting ----------------------------------------------------------------------------------------------------

    def expect(self, predicate, timeout=TIMEOUT):
        """Takes the first message that fits out of `unseen`, waiting for it if need be."""
        deadline = time.monotonic() + timeout
        with self._changed:
            while True:
                for message in self.unseen:
                    if predicate(message):
                        self.unseen.remove(message)
                        return message
                left = deadline - time.monotonic()
                if self.ended or left <= 0:
                    why = "the server ended" if self.ended else f"nothing within {timeout} s"
                    raise AssertionError(f"{why}; unseen: {list(self.unseen)[:20]}; faults: {self.ledger.faults}")
                self._changed.wait(left)

    def response(self, id, timeout=TIMEOUT):
        key = encode(id)
        return self.expect(lambda message: message.is_response and message.key == key, timeout)

    def result(self, id, timeout=TIMEOUT):
        message = self.response(id, timeout)
        assert "result" in message, message
        return message["result"]

    def error(self, id, code, *names):
        return check_error(self.response(id), code, *names)

    def stray_error(self, code, *names):
        """An error for something whose id could not be read."""
        message = self.expect(lambda message: "error" in message and message.key in (None, "null"))
        return check_error(message, code, *names)

    def notification(self, method, timeout=TIMEOUT):
        name = f"notifications/{method}"
        return self.expect(lambda message: message.method == name and "id" not in message, timeout)

    def asked(self, method):
        """A request of the server that no callback answers."""
        return self.expect(lambda message: message.is_request and message.method == method)

    # --- both -------------------------------------------------------------------------------------------------------

    def ask(self, method, params=None, **how):
        return self.result(self.request(method, params, **how))

    def refuse(self, code, *names, method, params=None, **how):
        return self.error(self.request(method, params, **how), code, *names)

    def call(self, tool, arguments=None, **how):
        return self.result(self.start(tool, arguments, **how))

    def text(self, tool, arguments=None, **how):
        """A call that must succeed; its text."""
        result = self.call(tool, arguments, **how)
        assert not result.get("isError"), result
        return text_of(result)

    def listen(self, id=_UNSET, **filter):
        """Opens a subscription and waits for its acknowledgement; returns its id."""
        id = self.request("subscriptions/listen", {"notifications": filter}, id=id, meta=META())
        self.ack(id)
        return id

    def ack(self, id):
        key = encode(id)
        return self.expect(lambda m: m.method == "notifications/subscriptions/acknowledged" and m.subscription == key)

    def change(self, kind, id=None):
        """`tools/list_changed` and the like, tagged with that id or untagged."""
        key = None if id is None else encode(id)
        return self.expect(lambda m: m.method == f"notifications/{kind}" and m.subscription == key)

    def cancel(self, id):
        self.notify("notifications/cancelled", {"requestId": id})

    def initialize(self, version="2025-11-25", capabilities=None, initialized=True):
        params = {"protocolVersion": version, "capabilities": capabilities or {}, "clientInfo": CLIENT}
        result = self.ask("initialize", params, modern=False)
        self.modern = False
        if initialized:
            self.notify("notifications/initialized")
        return result

    def names(self, kind="tools", key="name", **how):
        return [entry[key] for entry in self.ask(f"{kind}/list", **how)[kind]]

    # --- silence ----------------------------------------------------------------------------------------------------

    def fence(self):
        """A request that every state answers, if only with an error; what came before its answer is all there is."""
        id = f"fence {next(self._ids)}"
        self.request("server/discover", id=id, meta=META())
        return self.response(id).index

    def quiet(self):
        """Nothing was written that no test took."""
        end = self.fence()
        left = [message for message in self.unseen if message.index < end]
        assert not left, left

    def drain(self):
        end = self.fence()
        with self._changed:
            taken = [message for message in self.unseen if message.index < end]
            for message in taken:
                self.unseen.remove(message)
        return taken


def text_of(result):
    assert [block["type"] for block in result["content"]] == ["text"], result
    return result["content"][0]["text"]


def check_error(message, code, *names):
    """The right code, and each of `names` somewhere in message or data."""
    assert "error" in message, message
    assert message["error"]["code"] == code, message
    told = message["error"]["message"] + encode(message["error"].get("data"))
    for name in names:
        assert name in told, f"{name!r} is not named in {message!r}"
    return message
