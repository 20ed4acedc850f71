"""Acceptance of JSON values: one walk that checks, measures and freezes.

What enters the log must come out of a file unchanged, years later, in any language. So only the
values that JSON has are accepted, by exact class: a subclass could carry what JSON cannot.

**The frozen form.** An object becomes a `FrozenObject`, a list becomes a `FrozenList`. The first
is a `dict` and the second a `tuple`, so `json.dumps`, comparison and indexing work as usual, but
nobody can change them: a value is copied once, when it is accepted, and from then on shared by the
inbox, the log, every listener and every request. A frozen value that comes in again is recognised
by its class and not walked again. `thaw` gives a mutable copy.

**Depth.** The walk keeps its own stack, so no input can exhaust Python's. Nesting is limited all
the same, because what comes after the log - encoders of JSON - does recurse. The limit also finds
cycles: a walk that follows one arrives at the limit, and only there the open containers are
compared. So a value without a cycle pays nothing for the check.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import isfinite
from typing import Any, Final, NoReturn, TypeAlias

from runtime.errors import InvalidContentError, LimitError
from runtime.limits import DEFAULT_LIMITS, Limits

__all__ = [
    "MEASURES",
    "USER_SOURCE",
    "Block",
    "FrozenList",
    "FrozenObject",
    "Json",
    "UnfitError",
    "accept_content",
    "accept_source",
    "check_blocks",
    "freeze_json",
    "text_of",
    "thaw",
    "too_large",
]

INTEGER_MAX: Final = 2**53 - 1
"""The largest whole number that every reader of JSON keeps exact."""

# What one entry of a list or an object costs beside its value: a comma, and for an object a colon
# and the quotes of the name. An approximation is enough for a limit.
_ENTRY_BYTES: Final = 4


class FrozenObject(dict[str, Any]):
    """A JSON object that nobody can change; made by `freeze_json` only."""

    __slots__ = ("weight",)

    weight: int
    """Approximate size as JSON, in bytes."""

    def _refuse(self, *_args: object, **_kwargs: object) -> NoReturn:
        raise TypeError("a frozen JSON object cannot be changed; change a copy made by thaw()")

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __copy__(self) -> "FrozenObject":
        return self

    def __deepcopy__(self, _memo: object) -> "FrozenObject":
        return self

    def __reduce__(self) -> tuple[Callable[[Any], Any], tuple[Any]]:
        return _refreeze, (thaw(self),)


class FrozenList(tuple[Any, ...]):
    """A JSON list that nobody can change; made by `freeze_json` only.

    Equal to the list it was made from.
    """

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        if type(other) is list:
            return tuple.__eq__(self, tuple(other))
        return tuple.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = tuple.__hash__

    def __copy__(self) -> "FrozenList":
        return self

    def __deepcopy__(self, _memo: object) -> "FrozenList":
        return self

    def __reduce__(self) -> tuple[Callable[[Any], Any], tuple[Any]]:
        return _refreeze, (thaw(self),)


Json: TypeAlias = "bool | int | float | str | FrozenList | FrozenObject | None"
"""A JSON value in its frozen form."""

Block: TypeAlias = FrozenObject
"""One block of content: an object whose `type` is a string."""


def accept_content(value: object, *, limits: Limits = DEFAULT_LIMITS) -> tuple[Block, ...]:
    """Check, copy and freeze the content of a message.

    A string becomes one text block. Otherwise content is a list of blocks: objects with a `type`,
    where a `text` or a `reasoning` block has a `text`, too.

    Raises:
        InvalidContentError: it is empty, is no content, or would not survive the log; the message
            names the path to the first offending value.
        LimitError: it is larger or deeper than `limits` allow.

    Clauses: A-07 A-08 D-05 D-07 D-08 D-09
    """
    if type(value) is str:
        value = [{"type": "text", "text": value}]
    frozen = freeze_json(value, what="content", limits=limits)
    if type(frozen) is not FrozenList:
        raise _refused("content", "must be a string or a list of blocks", frozen)
    check_blocks(frozen, "content")
    if all(block["type"] == "text" and not block["text"] for block in frozen):
        raise InvalidContentError("content is empty: it needs a block that is not an empty text")
    return frozen


def check_blocks(content: Sequence[Any], path: str) -> None:
    """Check that every item of a frozen list is a block, and that our own blocks are whole.

    Raises:
        InvalidContentError: an item is not; the message names the path to it.
    """
    for index, block in enumerate(content):
        if type(block) is not FrozenObject:
            raise _refused(f"{path}[{index}]", "must be a block, an object with a type", block)
        kind = block.get("type")
        if type(kind) is not str:
            expected = "must be a string that says what the block is"
            raise _refused(f"{path}[{index}].type", expected, kind)
        for name in _BLOCK_STRINGS.get(kind, ()):
            if type(block.get(name)) is not str:
                raise _refused(f"{path}[{index}].{name}", "must be a string", block.get(name))


# What a block of ours holds; a block of another type belongs to the plugin that named it.
_BLOCK_STRINGS: Final = {
    "text": ("text",),
    "reasoning": ("text",),
    "tool-call": ("call_id", "name", "arguments"),
}


def accept_source(value: object, *, limits: Limits = DEFAULT_LIMITS) -> FrozenObject:
    """Check, copy and freeze where a message comes from; None means the user.

    Raises:
        InvalidContentError: it is no object with a string `kind`, or would not survive the log.

    Clauses: A-04 A-08
    """
    if value is None:
        return USER_SOURCE
    frozen = freeze_json(value, what="source", limits=limits)
    if type(frozen) is not FrozenObject:
        raise _refused("source", "must be an object with a kind", frozen)
    if type(frozen.get("kind")) is not str:
        raise _refused("source.kind", "must be a string", frozen.get("kind"))
    return frozen


def text_of(content: Sequence[Mapping[str, Any]]) -> str:
    """Return the texts of the text blocks, one after the other."""
    return "".join(block["text"] for block in content if block["type"] == "text")


def thaw(value: Any) -> Any:  # noqa: ANN401 - any JSON
    """Return a copy made of plain dicts and lists, which the caller may change."""
    # Recursion is safe here: what is frozen is never deeper than the limit of nesting.
    if isinstance(value, FrozenObject):
        return {key: thaw(item) for key, item in value.items()}
    if isinstance(value, FrozenList):
        return [thaw(item) for item in value]
    return value


def freeze_json(value: object, *, what: str, limits: Limits = DEFAULT_LIMITS) -> Any:  # noqa: ANN401 - any JSON
    """Check, measure and freeze a JSON value in one walk.

    Args:
        value: Anything; only what JSON can carry unchanged is accepted.
        what: What the value is, as the first part of the path in an error.
        limits: The bounds of size and nesting.

    Returns:
        The value in its frozen form (`Json`); no later change of the argument reaches it.

    Raises:
        InvalidContentError: a value in it would not survive; the message names the path.
        LimitError: it is larger or deeper than `limits` allow.

    Clauses: D-03 D-04 D-05 D-06 D-07 D-08 D-09 D-10
    """
    kind = type(value)
    if kind is dict or kind is list:
        value, size = _freeze_container(value, what, limits)
    elif kind in MEASURES:
        try:
            size = MEASURES[kind](value)
        except UnfitError as unfit:
            raise InvalidContentError(f"{what} {unfit}") from None
    else:
        raise _refused(what, _NOT_JSON, value)
    if size > limits.record_bytes_max:
        raise too_large(what, limits)
    return value


# One frame is an open container that waits for a child: the entries still to visit, its copy so
# far, its place in its own parent, the size of everything before it, and its source.
_Frame: TypeAlias = tuple[Iterator[tuple[Any, Any]], Any, Any, int, object]


def _freeze_container(source: Any, what: str, limits: Limits) -> tuple[Any, int]:  # noqa: ANN401 - any JSON
    frames: list[_Frame] = []
    key: Any = None
    place: Any = None
    size = began = 0
    try:
        entries, built, size = _open(source, size)
        while True:
            for key, child in entries:  # noqa: B007 - where it is, for an error
                kind = type(child)
                if kind is str and child.isascii():
                    size += len(child) + _ENTRY_BYTES
                elif kind in MEASURES:
                    size += MEASURES[kind](child) + _ENTRY_BYTES
                else:
                    break
            else:
                if type(built) is list:
                    built = FrozenList(built)
                else:
                    built.weight = size - began
                if not frames:
                    return built, size
                frozen, key = built, place
                entries, built, place, began, source = frames.pop()
                _put(built, key, frozen)
                continue
            frames.append((entries, built, place, began, source))
            place, key = key, None
            _check_descent(child, size, frames, what, limits)
            began, source = size, child
            entries, built, size = _open(child, size)
    except UnfitError as unfit:
        raise InvalidContentError(f"{_path(what, frames, place, key)} {unfit}") from None


def _check_descent(
    child: object, size: int, frames: list[_Frame], what: str, limits: Limits
) -> None:
    """Refuse what is no container, a value that is too large already, and a cycle."""
    if type(child) is not dict and type(child) is not list:
        raise UnfitError(f"{_NOT_JSON}, not {_named(child)}")
    if size > limits.record_bytes_max:
        raise too_large(what, limits)
    if len(frames) < limits.nesting_levels_max:
        return
    if len({id(frame[4]) for frame in frames}) < len(frames):
        raise InvalidContentError(f"{what} contains itself")
    raise LimitError(
        f"{what} is nested deeper than the limit nesting_levels_max "
        f"({limits.nesting_levels_max}); make it flatter"
    )


def _path(what: str, frames: list[_Frame], place: object, key: object) -> str:
    steps = [*(frame[2] for frame in frames), place, key]
    return what + "".join(_step(step) for step in steps if step is not None)


def _open(source: Any, size: int) -> tuple[Iterator[tuple[Any, Any]], Any, int]:  # noqa: ANN401 - any JSON
    """Return a container's entries, its copy to be completed, and the size with its names."""
    if type(source) is list:
        return iter(enumerate(source)), list(source), size + 2
    for name in source:
        if type(name) is not str:
            raise UnfitError(f"has a name that is not a string but {_named(name)}")
        size += len(name) if name.isascii() else _measure_text(name)
    return iter(source.items()), FrozenObject(source), size + 2


def _put(built: Any, place: Any, finished: Any) -> None:  # noqa: ANN401 - any JSON
    if type(built) is list:
        built[place] = finished
    else:
        dict.__setitem__(built, place, finished)


def _measure_text(value: str) -> int:
    try:
        return len(value.encode())
    except UnicodeEncodeError:
        raise UnfitError("holds half a surrogate pair, which no file can store") from None


def _measure_integer(value: int) -> int:
    if not -INTEGER_MAX <= value <= INTEGER_MAX:
        raise UnfitError("is a whole number beyond 2**53 - 1; pass it as a string")
    return 8


def _measure_number(value: float) -> int:
    if not isfinite(value):
        raise UnfitError("is a number that JSON does not have (NaN or an infinity)")
    return 16


def _measure_constant(_value: object) -> int:
    return 4


def _measure_object(value: FrozenObject) -> int:
    return value.weight


def _measure_list(value: FrozenList) -> int:
    weight, pending = 2, [value]
    while pending:
        for item in pending.pop():
            if type(item) is FrozenList:
                pending.append(item)
            else:
                weight += MEASURES[type(item)](item) + _ENTRY_BYTES
    return weight


MEASURES: Final[dict[type, Callable[[Any], int]]] = {
    str: _measure_text,
    int: _measure_integer,
    float: _measure_number,
    bool: _measure_constant,
    type(None): _measure_constant,
    FrozenObject: _measure_object,
    FrozenList: _measure_list,
}
"""Checks a leaf of the walk and returns its size, by exact class.

What is frozen already is a leaf, too. Each raises `UnfitError` for what JSON cannot carry.
"""

_NOT_JSON: Final = "must be a string, a number, a boolean, None, a list or an object"


class UnfitError(Exception):
    """Why one value is refused; the walk adds where it stands."""


def _refused(path: str, expected: str, value: object) -> InvalidContentError:
    return InvalidContentError(f"{path} {expected}, not {_named(value)}")


def _named(value: object) -> str:
    return "None" if value is None else type(value).__name__


def too_large(what: str, limits: Limits) -> LimitError:
    """Return the error that says that something exceeds the size of a record."""
    return LimitError(
        f"{what} is larger than the limit record_bytes_max ({limits.record_bytes_max} bytes); "
        "store it elsewhere and refer to it"
    )


def _step(step: object) -> str:
    if type(step) is int:
        return f"[{step}]"
    return f".{step}" if str(step).isidentifier() else f"[{step!a}]"


def _refreeze(value: Any) -> Any:  # noqa: ANN401 - any JSON
    return freeze_json(value, what="copy")


USER_SOURCE: Final[FrozenObject] = _refreeze({"kind": "user"})
"""Where a message comes from when nobody says anything else."""
