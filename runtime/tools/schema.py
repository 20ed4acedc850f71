"""JSON Schema, as far as tools use it: whether a schema is one, and what is wrong with a value.

There is a library for this, and the tests compare with it. It is not used here because it recurses
without a bound: nested arguments, which are a model's own choice, bring it to an error of its
native part that is no `Exception` and that nothing contains. Here a check has a bound of depth and
a bound of work, and never raises.

A keyword of the standard that is not in `KEYWORDS` is refused, because ignoring it would accept
what it forbids; a word that the standard does not know is only a remark. A reference leads into the
schema itself: nothing is ever fetched.
"""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, Final
from urllib.parse import unquote

from runtime.containment import attempt, render_error
from runtime.errors import InvalidContentError
from runtime.session.content import FrozenObject

from .keywords import (
    KEYWORDS,
    NAMED_SCHEMAS,
    PATTERN_SCHEMAS,
    REFERENCE,
    SCHEMA,
    SCHEMAS,
    Place,
    kind_of,
    step_to,
)

__all__ = ["SchemaChecker"]

_VIOLATIONS_MAX: Final = 20
_VIOLATION_CHARACTERS_MAX: Final = 300
# A level costs up to four frames of Python's own thousand; no tool needs half as many.
_DEPTH_MAX: Final = 100
_VISITS_MAX: Final = 100_000

_UNSUPPORTED: Final = frozenset(
    {
        "$anchor",
        "$dynamicAnchor",
        "$dynamicRef",
        "$recursiveAnchor",
        "$recursiveRef",
        "additionalItems",
        "contains",
        "dependencies",
        "dependentRequired",
        "dependentSchemas",
        "maxContains",
        "minContains",
        "unevaluatedItems",
        "unevaluatedProperties",
    }
)


class SchemaChecker:
    """A JSON Schema that was found to be one, ready to check values.

    Clauses: K-09 K-20
    """

    __slots__ = ("_schema", "_targets")

    def __init__(self, schema: FrozenObject) -> None:
        """Check a schema of arguments.

        Raises:
            InvalidContentError: it is no JSON Schema of an object, or uses a keyword that is not
                supported; the message says where.
        """
        if schema.get("type", "object") != "object":
            raise InvalidContentError("parameters.type must be object, because arguments are one")
        self._schema = schema
        self._targets: dict[str, Any] = {}
        pending: list[tuple[Any, str]] = [(schema, "parameters")]
        seen: set[int] = set()
        while pending:
            inner, path = pending.pop()
            if isinstance(inner, dict) and id(inner) not in seen:
                seen.add(id(inner))
                pending.extend(self._check_keywords(inner, path))

    def _check_keywords(self, schema: dict[str, Any], path: str) -> Iterator[tuple[Any, str]]:
        """Check the keywords of one schema, and yield the schemas inside it."""
        for name, value in schema.items():
            here = path + step_to(name)
            if name in _UNSUPPORTED:
                raise InvalidContentError(
                    f"{here} is not supported; say it with other keywords, or make the tool a raw "
                    "one, whose body checks its arguments"
                )
            keyword = KEYWORDS.get(name)
            if keyword is None:
                continue
            if not keyword.form.holds(value):
                raise InvalidContentError(f"{here} must be {keyword.form.says}")
            if keyword.form is REFERENCE:
                self._targets[value] = self._target(value, here)
                yield self._targets[value], here
            elif keyword.form is SCHEMA:
                yield value, here
            elif keyword.form in (SCHEMAS, NAMED_SCHEMAS, PATTERN_SCHEMAS):
                entries = value.items() if isinstance(value, dict) else enumerate(value)
                yield from ((each, here + step_to(key)) for key, each in entries)

    def _target(self, reference: str, path: str) -> object:
        start, _, pointer = unquote(reference).partition("#")
        first, *names = pointer.split("/")
        target: object = None if start or first else self._schema
        for name in names:
            target = _member(target, name.replace("~1", "/").replace("~0", "~"))
        if not SCHEMA.holds(target):
            raise InvalidContentError(f"{path} must lead to a schema in here, not to {reference!r}")
        return target

    def violations(self, arguments: object) -> tuple[str, ...]:
        """Say what is wrong with some arguments, the first things if there are many."""
        found: list[str] = []
        run = _Run(self._targets)
        violations = run.check(self._schema, arguments, "arguments", 0)
        error = attempt(_collect, violations, found)
        if error is not None:
            why = str(error) if isinstance(error, _GivenUpError) else render_error(error)
            found.append(f"arguments could not be checked: {why}")
        return tuple(found)


def _member(container: object, name: str) -> object:
    if isinstance(container, dict):
        return container.get(name)
    if isinstance(container, tuple):
        return {str(index): each for index, each in enumerate(container)}.get(name)
    return None


def _collect(violations: Iterable[str], found: list[str]) -> None:
    for each in islice(violations, _VIOLATIONS_MAX):
        cut = each[:_VIOLATION_CHARACTERS_MAX]
        found.append(each if cut == each else f"{cut}...")


class _GivenUpError(Exception):
    """A check reached a bound."""


class _Run:
    """One check, which ends."""

    __slots__ = ("_targets", "_visits")

    def __init__(self, targets: dict[str, Any]) -> None:
        self._targets = targets
        self._visits = 0

    def check(self, schema: Any, value: Any, path: str, depth: int) -> Iterator[str]:  # noqa: ANN401  # any JSON
        """Yield what is wrong with a value at one place."""
        self._visits += 1
        if self._visits > _VISITS_MAX:
            raise _GivenUpError("it would take too long")
        if depth > _DEPTH_MAX:
            raise _GivenUpError("too many levels are inside one another")
        if schema is False:
            yield f"{path}: must not be there"
        if isinstance(schema, bool):
            return
        kind = kind_of(value)
        here = Place(self.check, self._targets, schema, value, path, depth)
        for name, setting in schema.items():
            keyword = KEYWORDS.get(name)
            if keyword is not None and keyword.rule and keyword.kind in (None, kind):
                yield from keyword.rule(setting, here)
