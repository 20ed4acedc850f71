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

**Flat values.** Nearly all that is accepted is an object of short strings, or a list of such
objects. These are frozen without the walk; whatever is not of that kind, or not right, is left to
the walk, which alone refuses.
"""

from collections.abc import Callable, Iterator
from math import isfinite
from typing import Any, Final, NoReturn, TypeAlias

from runtime.errors import InvalidContentError, LimitError
from runtime.limits import DEFAULT_LIMITS, Limits

__all__ = [
    "INTEGER_MAX",
    "MEASURES",
    "FrozenList",
    "FrozenObject",
    "Json",
    "UnfitError",
    "freeze_json",
    "refused",
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


def thaw(value: Any) -> Any:  # noqa: ANN401  # any JSON
    """Return a copy made of plain dicts and lists, which the caller may change."""
    # Recursion is safe here: what is frozen is never deeper than the limit of nesting.
    if isinstance(value, FrozenObject):
        return {key: thaw(item) for key, item in value.items()}
    if isinstance(value, FrozenList):
        return [thaw(item) for item in value]
    return value


def freeze_json(value: object, *, what: str, limits: Limits = DEFAULT_LIMITS) -> Any:  # noqa: ANN401  # any JSON
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
        value, size = _freeze_flat(value, limits) or _freeze_container(value, what, limits)
    elif kind in MEASURES:
        try:
            size = MEASURES[kind](value)
        except UnfitError as unfit:
            raise InvalidContentError(f"{what} {unfit}") from None
    else:
        raise refused(what, _NOT_JSON, value)
    if size > limits.record_bytes_max:
        raise too_large(what, limits)
    return value


def _freeze_flat(value: Any, limits: Limits) -> tuple[Any, int] | None:  # noqa: ANN401  # any JSON
    if type(value) is dict:
        built = _freeze_strings(value)
        return None if built is None else (built, built.weight)
    if limits.nesting_levels_max < 2:
        return None
    blocks, size = [], 2
    for child in value:
        block = _freeze_strings(child) if type(child) is dict else None
        if block is None:
            return None
        blocks.append(block)
        size += block.weight
    return FrozenList(blocks), size


def _freeze_strings(source: dict[Any, Any]) -> FrozenObject | None:
    """Freeze an object of ASCII strings; None if there is anything else in it."""
    parts = [*source, *source.values()]
    if set(map(type, parts)) != _ONLY_STRINGS:
        return None
    text = "".join(parts)
    if not text.isascii():
        return None
    built = FrozenObject(source)
    built.weight = len(text) + _ENTRY_BYTES * len(source) + 2
    return built


_ONLY_STRINGS: Final = {str}

# One frame is an open container that waits for a child: the entries still to visit, its copy so
# far, its place in its own parent, the size of everything before it, and its source.
_Frame: TypeAlias = tuple[Iterator[tuple[Any, Any]], Any, Any, int, object]


def _freeze_container(source: Any, what: str, limits: Limits) -> tuple[Any, int]:  # noqa: ANN401  # any JSON
    frames: list[_Frame] = []
    key: Any = None
    place: Any = None
    size = began = 0
    try:
        entries, built, size = _open(source, size)
        while True:
            for key, child in entries:  # noqa: B007  # where it is, for an error
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


def _open(source: Any, size: int) -> tuple[Iterator[tuple[Any, Any]], Any, int]:  # noqa: ANN401  # any JSON
    """Return a container's entries, its copy to be completed, and the size with its names."""
    if type(source) is list:
        return iter(enumerate(source)), list(source), size + 2
    for name in source:
        if type(name) is not str:
            raise UnfitError(f"has a name that is not a string but {_named(name)}")
        size += len(name) if name.isascii() else _measure_text(name)
    return iter(source.items()), FrozenObject(source), size + 2


def _put(built: Any, place: Any, finished: Any) -> None:  # noqa: ANN401  # any JSON
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
    weight = 2
    for item in value:
        if type(item) is not FrozenObject:
            return _measure_mixed(value)
        weight += item.weight + _ENTRY_BYTES
    return weight


def _measure_mixed(value: FrozenList) -> int:
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


def refused(path: str, expected: str, value: object) -> InvalidContentError:
    """Return the error that says what should have stood at a path."""
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


def _refreeze(value: Any) -> Any:  # noqa: ANN401  # any JSON
    return freeze_json(value, what="copy")
