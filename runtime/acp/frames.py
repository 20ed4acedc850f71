"""Lines into messages and back, tolerant of every line that a client may send.

A line is a message, or it is answered with an error of the protocol, or it says nothing. What
passes here cannot break what stands above: names of methods are strings, parameters are objects,
ids are strings or whole numbers, the error of a response has a code and a text. Metadata is left
out, because the SDK would spread it over the arguments of the handler.
"""

import json
from collections.abc import Iterator
from typing import Any, Final, NoReturn, TypeAlias

from attrs import define, field, frozen

__all__ = ["Answer", "Frame", "Lines", "Message", "encode", "failure", "parse"]

Frame: TypeAlias = dict[str, Any]

UNROUTED: Final = {"session/delete": "_session/delete"}
"""Methods of the protocol that the SDK does not route, and the extensions it is given instead."""

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603

_METADATA: Final = frozenset({"_meta", "field_meta"})
_TELLING: Final = frozenset({"type", "loc", "msg"})
"""What an error of the SDK may say about a field; the rest repeats what the client sent."""


@frozen
class Message:
    """A message for the SDK."""

    frame: Frame


@frozen
class Answer:
    """What is answered to a line that is no message; None says nothing."""

    frame: Frame | None


@define(eq=False)
class Lines:
    """Cuts what is read into lines; one that is too long is left out and told of."""

    _bytes_max: int
    _unread: bytearray = field(init=False, factory=bytearray)
    _scanned: int = field(init=False, default=0)
    _is_skipping: bool = field(init=False, default=False)

    def feed(self, data: bytes) -> Iterator[bytes | None]:
        """Take what was read and give the lines that are complete, None for one too long."""
        self._unread += data
        while (end := self._unread.find(b"\n", self._scanned)) >= 0:
            line = bytes(self._unread[:end])
            del self._unread[: end + 1]
            self._scanned = 0
            if self._is_skipping:
                self._is_skipping = False
            else:
                yield line if len(line) <= self._bytes_max else None
        self._scanned = len(self._unread)
        if self._scanned > self._bytes_max:
            self._unread.clear()
            self._scanned = 0
            if not self._is_skipping:
                self._is_skipping = True
                yield None


def parse(line: bytes) -> Message | Answer:
    """Read one line.

    Clauses: J-50 J-51 J-52
    """
    if not line.strip():
        return Answer(None)
    try:
        value = json.loads(line.decode("utf-8"), parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return Answer(failure(None, PARSE_ERROR, "Parse error"))
    if type(value) is not dict:
        return Answer(failure(None, INVALID_REQUEST, "Invalid request: a message is an object"))
    if "method" in value:
        return _call(value)
    return _response(value)


def failure(request_id: str | int | None, code: int, text: str) -> Frame:
    """Return the response that refuses a request."""
    return {"jsonrpc": "2.0", "id": request_id, "error": {"code": code, "message": text}}


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)


def _is_id(value: object) -> bool:
    # True is 1 to Python, and would settle the request with that number.
    return value is None or type(value) in (str, int)


def _call(frame: Frame) -> Message | Answer:
    method, params = frame["method"], frame.get("params")
    is_request = "id" in frame
    request_id = frame.get("id")
    if not _is_id(request_id):
        why = "Invalid request: an id is a string, a whole number or null"
        return Answer(failure(None, INVALID_REQUEST, why))
    if not is_request and not _is_cancel(method, params):
        # The protocol wants notifications that mean nothing here to be ignored.
        return Answer(None)
    if type(method) is not str:
        why = "Invalid request: a method is a string"
        return Answer(failure(request_id, INVALID_REQUEST, why))
    if method.startswith("_"):
        why = "Method not found: there are no extensions"
        return Answer(failure(request_id, METHOD_NOT_FOUND, why))
    if params is not None and type(params) is not dict:
        why = "Invalid params: parameters are an object"
        return Answer(failure(request_id, INVALID_PARAMS, why))
    given = params or {}
    kept = {name: value for name, value in given.items() if name not in _METADATA}
    routed = UNROUTED.get(method, method)
    call: Frame = {"jsonrpc": "2.0", "method": routed, "params": kept}
    return Message(call | {"id": request_id} if is_request else call)


def _is_cancel(method: object, params: object) -> bool:
    is_named = isinstance(params, dict) and type(params.get("sessionId")) is str
    return method == "session/cancel" and is_named


def _response(frame: Frame) -> Message | Answer:
    if "result" not in frame and "error" not in frame:
        why = "Invalid request: neither a method nor a result"
        return Answer(failure(None, INVALID_REQUEST, why))
    if type(frame.get("id")) is not int:
        # Ours are numbers, so this answers nothing that was asked.
        return Answer(None)
    response: Frame = {"jsonrpc": "2.0", "id": frame["id"]}
    if "error" not in frame:
        return Message(response | {"result": frame["result"]})
    error = frame["error"]
    is_told = type(error) is dict and type(error.get("code")) is int
    code = error["code"] if is_told else INTERNAL_ERROR
    text = error.get("message") if is_told else None
    said = text if type(text) is str else "the client failed, and did not say why"
    return Message(response | {"error": {"code": code, "message": said}})


def encode(frame: Frame) -> bytes:
    """Return a message as one line; always JSON, whatever is in it.

    Clauses: J-53
    """
    if "error" in frame:
        frame = frame | {"error": _tidy(frame["error"])}
    try:
        text = _dump(frame)
    except (TypeError, ValueError, RecursionError):
        # An answer that is lost is waited for for ever.
        text = _dump(failure(frame.get("id"), INTERNAL_ERROR, "Internal error"))
    try:
        return text.encode() + b"\n"
    except UnicodeEncodeError:
        # Half of a surrogate pair, which a client sent and is told of; escaped, it is text.
        return json.dumps(frame, allow_nan=False).encode() + b"\n"


def _dump(frame: Frame) -> str:
    return json.dumps(frame, allow_nan=False, ensure_ascii=False, separators=(",", ":"))


def _tidy(error: Frame) -> Frame:
    """Leave out what repeats the client's own, perhaps large, words."""
    data = error.get("data")
    if data is None:
        return {name: value for name, value in error.items() if name != "data"}
    if type(data) is not dict or type(data.get("errors")) is not list:
        return error
    told = [
        {name: value for name, value in each.items() if name in _TELLING} for each in data["errors"]
    ]
    return error | {"data": {"errors": told[:20]}}
