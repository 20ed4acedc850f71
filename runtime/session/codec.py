"""Sessions as lines of JSON, and back.

One line says the header, one line each record, whatever the place that keeps them. What is read is
checked as strictly as what is appended: the form of each record, where it stands in turns and
steps, what it replaces. So an edited file, or one of another program, is found where it is wrong,
not where it does harm.

**Damage and torn tails.** A write that a crash cuts short leaves half a line, or a hole where a
page did not reach the disk, behind everything that was written before. That is a torn tail, and
cutting it loses nothing that was acknowledged. It can only be behind the last end of a turn:
whatever stands before one was on the disk when that turn ended. Everything else - a line that is
wrong but whole, a record twice, anything wrong before an end of a turn - is damage. No crash
explains it, so it is refused with its place, and nobody guesses.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any, Final

from attrs import frozen

from runtime.errors import DamagedSessionError, InvalidContentError, InvalidRecordError, LimitError
from runtime.limits import RECORD_OWN_BYTES, Limits

from .derive import Surface, check_placement, check_sources
from .log import FORMAT_VERSION, SessionHeader
from .records import Enclosure, Placement, Record, freeze_data
from .segments import check_storable, shown

__all__ = [
    "HEADER_FIELDS",
    "HEADER_TYPE",
    "Glance",
    "Scan",
    "UnreadableError",
    "decode_header",
    "encode_header",
    "encode_record",
    "glance",
    "line_bytes_max",
    "scan",
]

_encode: Final = json.JSONEncoder(
    ensure_ascii=False, check_circular=False, allow_nan=False, separators=(",", ":")
).encode

# Legal inside a string of JSON, and to many who read lines the end of one, or a control character.
_LINE_ENDS: Final = {code: f"\\u{code:04x}" for code in (*range(0x7F, 0xA0), 0x2028, 0x2029)}

HEADER_TYPE: Final = "session"
"""What the line of a header has as its type; no record has it."""
HEADER_FIELDS: Final[dict[str, tuple[type, ...]]] = {
    "type": (str,),
    "format_version": (int,),
    "id": (str,),
    "created_ms": (int,),
    "cwd": (str, type(None)),
    "parent": (str, type(None)),
    "seed_length": (int,),
}
"""The fields of the line of a header, each with the types that its value may have."""

_RECORD_REQUIRED: Final = frozenset({"seq", "time_ms", "type", "data"})
_RECORD_FIELDS: Final = _RECORD_REQUIRED | {"placement", "sources"}


class UnreadableError(Exception):
    """What is said about a line that cannot be read; whoever reads adds where it stands."""

    def __init__(self, reason: str, *, is_torn: bool = False) -> None:
        super().__init__(reason)
        self.is_torn = is_torn
        """A write that was cut short could have left it."""


def encode_header(header: SessionHeader) -> str:
    """Return a header as one line, without its end.

    Raises:
        InvalidContentError: a name in it holds half a surrogate pair.

    Clauses: D-30 E-63
    """
    for each in (header.id, header.cwd, header.parent):
        check_storable(each or "")
    return _line(
        {
            "type": HEADER_TYPE,
            "format_version": header.format_version,
            "id": header.id,
            "created_ms": header.created_ms,
            "cwd": header.cwd,
            "parent": header.parent,
            "seed_length": header.seed_length,
        }
    )


def encode_record(record: Record) -> str:
    """Return a record as one line, without its end.

    Clauses: E-11 E-63
    """
    fields: dict[str, Any] = {
        "seq": record.seq,
        "time_ms": record.time_ms,
        "type": record.type,
        "data": record.data,
    }
    if record.placement is not None:
        fields["placement"] = record.placement
    if record.sources is not None:
        fields["sources"] = record.sources
    return _line(fields)


def _line(fields: dict[str, Any]) -> str:
    line = _encode(fields)
    return line if line.isascii() and "\x7f" not in line else line.translate(_LINE_ENDS)


def line_bytes_max(limits: Limits) -> int:
    """Return how long a line can be that a log with these limits wrote.

    A control character is measured as one byte and written as six, and the end of a turn has a
    reason and an error, each as large as a record may be.
    """
    return 2 * 6 * limits.record_bytes_max + RECORD_OWN_BYTES


def decode_header(line: bytes | None) -> SessionHeader:
    """Return the header that a line says.

    Raises:
        UnreadableError: it says none, or one of another version of the format.

    Clauses: E-21
    """
    if not line:
        raise UnreadableError("it is empty: a session begins with its header")
    try:
        fields = json.loads(line.decode())
    except (ValueError, RecursionError):
        raise UnreadableError("its first line is not JSON: no session begins like that") from None
    if type(fields) is not dict or fields.get("type") != HEADER_TYPE:
        raise UnreadableError("its first line is not the header of a session")
    version = fields.get("format_version")
    if type(version) is int and version != FORMAT_VERSION:
        raise UnreadableError(
            f"it has format version {version}, and this program reads {FORMAT_VERSION}; "
            "read it with the version of the program that wrote it"
        )
    for name, kinds in HEADER_FIELDS.items():
        if type(fields.get(name)) not in kinds:
            raise UnreadableError(f"its header has no {name}, or one that cannot be")
    if fields.keys() != HEADER_FIELDS.keys():
        raise UnreadableError("its header has a field that no header has")
    del fields["type"]
    return SessionHeader(**fields)


@frozen(kw_only=True)
class Scan:
    """What the lines behind a header say."""

    records: tuple[Record, ...]
    torn_at: int | None = None
    """The position of the first line of a torn tail; None if there is none."""
    torn: str | None = None
    """The torn tail in words, with its place."""


def scan(
    lines: Iterable[tuple[int, bytes]],
    *,
    what: str,
    place: Callable[[int], str],
    limits: Limits,
    can_tear: bool,
) -> Scan:
    """Read the records of a session, each behind its position.

    Args:
        lines: the lines in order, each with its position.
        what: the session and where it is, for messages.
        place: says a position in words.
        limits: bounds every record.
        can_tear: a crash can cut a write short here; if not, nothing counts as a torn tail.

    Raises:
        DamagedSessionError: a line is wrong, and no crash explains it.
        LimitError: a record is larger or deeper than `limits` allow.

    Clauses: E-18 E-19 E-20 E-64
    """
    unread = iter(lines)
    reader = _Reader(limits)
    for position, line in unread:
        try:
            reader.take(line)
        except LimitError as error:
            raise LimitError(f"{what} cannot be read at {place(position)}: {error}") from None
        except UnreadableError as error:
            if not (can_tear and error.is_torn) or _ends_a_turn(chain((line,), _texts(unread))):
                raise DamagedSessionError(
                    f"{what} is damaged at {place(position)}: {error}; it was left as it is",
                    place=place(position),
                ) from None
            return Scan(
                records=tuple(reader.records),
                torn_at=position,
                torn=f"torn tail at {place(position)}: {error}",
            )
    return Scan(records=tuple(reader.records))


@frozen(kw_only=True)
class Glance:
    """How far a session has come, by its last record."""

    records: int
    last_ms: int
    """Milliseconds since the Unix epoch, UTC."""
    is_open: bool
    """Its last turn has not ended: somebody works on it, or its process died."""


def glance(line: bytes) -> Glance | None:
    """Return what the last line of a session says of the whole; None if it cannot be read."""
    try:
        fields = json.loads(line.decode())
        return Glance(
            records=int(fields["seq"]) + 1,
            last_ms=int(fields["time_ms"]),
            is_open=fields["type"] != "turn/end",
        )
    except (ValueError, RecursionError, TypeError, KeyError):
        return None


def _texts(lines: Iterator[tuple[int, bytes]]) -> Iterator[bytes]:
    return (line for _, line in lines)


def _ends_a_turn(lines: Iterable[bytes]) -> bool:
    return any(b"turn/end" in line and _type_of(line) == "turn/end" for line in lines)


def _type_of(line: bytes) -> object:
    try:
        fields = json.loads(line.decode())
    except (ValueError, RecursionError):
        return None
    return fields.get("type") if type(fields) is dict else None


class _Reader:
    """Takes the lines of one session in order and keeps what they say."""

    def __init__(self, limits: Limits) -> None:
        self.records: list[Record] = []
        self._limits = limits
        self._enclosure = Enclosure()
        self._surface = Surface()

    def take(self, line: bytes) -> None:
        fields = _fields_of(line)
        self._check_form(fields)
        try:
            record = self._record(fields)
            self._enclosure.advance(record.type, record.data, is_seed=True)
        except (InvalidContentError, InvalidRecordError) as error:
            raise UnreadableError(str(error)) from None
        self.records.append(record)

    def _check_form(self, fields: dict[str, Any]) -> None:
        seq, expected = fields.get("seq"), len(self.records)
        if type(seq) is not int or seq != expected:
            is_gap = type(seq) is int and seq > expected
            raise UnreadableError(
                f"record {shown(seq)} stands where {expected} is next", is_torn=is_gap
            )
        if not _RECORD_REQUIRED <= fields.keys() <= _RECORD_FIELDS:
            raise UnreadableError(f"record {seq} has a field that no record has, or lacks one")
        if type(fields["type"]) is not str or type(fields["time_ms"]) is not int:
            raise UnreadableError(f"record {seq} has a type or a time that cannot be")
        for name in ("placement", "sources"):
            if name in fields and fields[name] is None:
                raise UnreadableError(f"record {seq} has an empty field {name}")

    def _record(self, fields: dict[str, Any]) -> Record:
        type_name, seq = fields["type"], fields["seq"]
        data = freeze_data(type_name, fields["data"], limits=self._limits)
        placement = check_placement(type_name, fields.get("placement"))
        sources = fields.get("sources")
        if sources is not None:
            if type(sources) is not list:
                raise UnreadableError(f"record {seq} has sources that are no list")
            sources = check_sources(type_name, sources, placement, seq)
        if placement is not None and placement != "append":
            self._check_replaced(type_name, placement, sources)
        return Record(seq, fields["time_ms"], type_name, data, placement, sources)

    def _check_replaced(
        self, type_name: str, placement: Placement, sources: tuple[int, ...] | None
    ) -> None:
        assert not isinstance(placement, str)
        self._surface.follow(self.records)
        shadowed = self._surface.shadowed_by(type_name, placement["replace"])
        if not set(shadowed) <= set(sources or ()):
            raise UnreadableError(f"{type_name} replaces a record that is not among its sources")


def _fields_of(line: bytes) -> dict[str, Any]:
    try:
        fields = json.loads(line.decode())
    except RecursionError:
        raise UnreadableError("it is nested deeper than anything that was ever written") from None
    except ValueError:
        raise UnreadableError("it is not a line of JSON", is_torn=True) from None
    if type(fields) is not dict:
        raise UnreadableError("it is JSON, but no record")
    return fields
