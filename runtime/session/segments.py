"""Any text as one segment of a path, and as part of a message.

A session id may be anything: a path that climbs out of its directory, a dot, nothing, ten thousand
characters, two ids that differ in case only on a disk that does not tell them apart. The encoding
is injective and stays inside the directory, whatever the text, and leaves the usual ids as they
are.
"""

from hashlib import sha256
from reprlib import Repr
from typing import Final

from runtime.errors import InvalidContentError

__all__ = ["check_storable", "segment_of", "shown"]

# File systems allow 255 bytes; suffixes need some of them.
_BYTES_MAX: Final = 200
_PREFIX_BYTES: Final = 100
# No upper case: some disks do not tell it from lower case. The dot is plain but for the first one.
_PLAIN: Final = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-_.")


def segment_of(text: str) -> str:
    """Return the one path segment that stands for a text, different for different texts.

    Everything but lower case letters, digits, `-`, `_` and inner dots becomes `%` and two digits
    for each byte; a long text ends in a digest.

    Raises:
        InvalidContentError: the text holds half a surrogate pair, so no file can store it.

    Clauses: E-26
    """
    check_storable(text)
    encoded = "".join(
        each if each in _PLAIN and (index or each != ".") else _escaped(each)
        for index, each in enumerate(text)
    )
    if len(encoded) > _BYTES_MAX:
        # No escape has a `~`, so this is no other text's segment.
        return f"{encoded[:_PREFIX_BYTES]}%~{sha256(text.encode()).hexdigest()}"
    return encoded or _EMPTY


def check_storable(text: str) -> None:
    """Check that a text can be stored at all.

    Raises:
        InvalidContentError: it holds half a surrogate pair, so no file can store it.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InvalidContentError(
            f"{shown(text)} holds half a surrogate pair, which no file can store"
        ) from None


_EMPTY: Final = "%"


def _escaped(character: str) -> str:
    return "".join(f"%{byte:02x}" for byte in character.encode())


_shortening: Final = Repr()
_shortening.maxstring = 120


def shown(value: object) -> str:
    """Return a value for a message, a text in quotes, and shortened if it is long."""
    return _shortening.repr(value)
