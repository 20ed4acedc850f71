"""The declaration as a model for Spin, a model checker that others have written.

The model says what the table says, in another language: the shape is seven variables, a row is one
guarded atomic step, and the first row of an input that holds is taken. So whatever Spin finds in it
that the explorer does not find in the machine is a fault of one of the two engines. It cannot say
that the table is right; for that there is a model which was written from the clauses alone.

Guards and claims are Python functions. Each is spelled out from its truth table over every value
that the seven variables can have, reachable or not.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import StrEnum
from functools import cache
from itertools import product
from typing import Final

from attrs import fields

from statemachine.commands import OUTSIDE_INPUTS, Input
from statemachine.lifecycle import REGIONS, Guard, Move, Row
from statemachine.properties import EVENTUALITIES, FALSE_VARIANTS
from statemachine.shape import Ending, Inbox, Marker, Shape, Status
from statemachine.windows import Window

__all__ = ["CLAIMS", "numbered", "promela", "spelled"]

CLAIMS: Final = (*EVENTUALITIES, *FALSE_VARIANTS)
"""What Spin is asked, in the order of its formulas `claim_0`, `claim_1` and so on."""

_VALUES: Final[dict[str, tuple[StrEnum | bool, ...]]] = {
    "window": tuple(Window),
    "status": tuple(Status),
    "inbox": tuple(Inbox),
    "marker": tuple(Marker),
    "ending": tuple(Ending),
    "failed": (False, True),
    "wants_step": (False, True),
}
assert tuple(_VALUES) == tuple(each.name for each in fields(Shape) if each.init)


def promela(table: Sequence[Row]) -> str:
    """Return the model of a table."""
    return "\n".join(
        (
            *_head(),
            *_guards(table),
            *_moves(),
            *_rows(table),
            *_processes(table),
            *_formulas(),
            "",
        )
    )


def numbered(shape: Shape) -> int:
    """Return the number under which a model with -DEDGES prints a shape."""
    number = 0
    for name, values in _VALUES.items():
        number = number * len(values) + values.index(getattr(shape, name))
    return number


# -- Parts -----------------------------------------------------------------------------------------


def _head() -> Iterator[str]:
    yield "/* Generated from the declaration by `python -m statemachine render`. Do not edit."
    yield ""
    yield "   With -DEDGES every step is printed as: the shape before, the input, the shape after."
    yield "   Otherwise the driver and its surroundings are two processes, so that Spin's weak"
    yield "   fairness is that of the driver, and `last` remembers the input for the premises. */"
    for name, values in _VALUES.items():
        if name not in {"failed", "wants_step"}:
            yield ""
            yield from (f"#define {_constant(each)} {at}" for at, each in enumerate(values))
    yield ""
    yield from (f"#define {_constant(each)} {at}" for at, each in enumerate(Input))
    yield f"#define PAUSE {len(Input)}"
    yield ""
    for name, values in _VALUES.items():
        kind = "bit" if len(values) == 2 else "byte"  # what a bit can hold
        yield f"{kind} {name} = {_constant(getattr(Shape(), name))};"
    shape = "now.window"
    for name, values in tuple(_VALUES.items())[1:]:
        shape = f"({shape} * {len(values)} + now.{name})"
    yield f"""
#ifdef EDGES
c_decl {{ static int before; }}
#define SHAPE {shape}
#define STILL true
#define begin() c_code {{ before = SHAPE; }}
#define finish(posted) c_code {{ printf("edge %d %d %d\\n", before, posted, SHAPE); }}
#else
byte last = PAUSE;
#define STILL false  /* a step of the driver that changes nothing is no step */
#define begin() skip
#define finish(posted) last = posted
#endif"""


def _guards(table: Sequence[Row]) -> Iterator[str]:
    yield ""
    seen: dict[str, Guard] = {row.when.name: row.when for row in table}
    for name, guard in seen.items():
        yield f"#define when_{name} ({spelled(guard)})"


def _moves() -> Iterator[str]:
    for region, moves in REGIONS.items():
        for move in moves:
            yield ""
            yield f"inline {_move(move)}() {{"
            yield "  if"
            for before, after in move.changes:
                yield f"  :: {region} == {_constant(before)} -> {region} = {_constant(after)}"
            yield "  :: else -> assert(false)  /* an illegal move */"
            yield "  fi"
            yield "}"


def _rows(table: Sequence[Row]) -> Iterator[str]:
    """Spell out when each row holds, and, behind it, when it is the first that does."""
    yield ""
    for at, row in enumerate(table):
        where = "true" if set(row.where) == set(Window) else _among("window", row.where)
        yield f"/* {row.label}: {' '.join(row.clauses)} */"
        yield f"#define holds_{at} ({where} && when_{row.when.name})"
        earlier = [
            f"!holds_{before}"
            for before, other in enumerate(table[:at])
            if other.on is row.on and set(other.where) & set(row.where)
        ]
        yield f"#define fires_{at} ({' && '.join((f'holds_{at}', *earlier))})"


def _processes(table: Sequence[Row]) -> Iterator[str]:
    for name, is_outside in (("SURROUNDINGS", True), ("DRIVER", False)):
        steps = [
            _step(at, row)
            for at, row in enumerate(table)
            if (row.on in OUTSIDE_INPUTS) is is_outside
        ]
        yield ""
        yield " \\\n".join((f"#define {name}", *steps))
    yield """
#ifdef EDGES
active proctype agent() { do SURROUNDINGS DRIVER od }
#else
active proctype surroundings() { do SURROUNDINGS :: last = PAUSE od }
active proctype driver() { do DRIVER od }
#endif"""


def _step(at: int, row: Row) -> str:
    changes = [
        *([f"window = {_constant(row.to)}"] if row.to else []),
        *(f"{name} = {_constant(value)}" for name, value in row.sets),
        *(f"{_move(move)}()" for move in row.moves),
    ]
    is_still = not changes and row.on not in OUTSIDE_INPUTS
    fires = f"STILL && fires_{at}" if is_still else f"fires_{at}"
    body = "; ".join(("begin()", *changes, f"finish({_constant(row.on)})"))
    return f"  :: atomic {{ {fires} -> {body} }}"


def _formulas() -> Iterator[str]:
    yield ""
    yield "#ifndef EDGES"
    for at, claim in enumerate(CLAIMS):
        excluded = sorted(set().union(*(part.excludes for part in claim.premise)))
        come = f"[] (({spelled(claim.from_)}) -> <> ({spelled(claim.to)}))"
        happens = " || ".join(f"last == {_constant(each)}" for each in excluded)
        yield f"/* {claim.name} */"
        yield f"ltl claim_{at} {{ {f'(<> [] !({happens})) -> {come}' if excluded else come} }}"
    yield "#endif"


# -- Words -----------------------------------------------------------------------------------------


def _constant(value: object) -> str:
    if isinstance(value, StrEnum):
        return f"{type(value).__name__}_{value.name}"
    return str(int(bool(value)))


def _move(move: Move) -> str:
    return f"{move.region}_{move.name}"


def _among(name: str, values: Iterable[object]) -> str:
    return f"({' || '.join(f'{name} == {_constant(each)}' for each in values)})"


@cache
def spelled(claim: Callable[[Shape], bool]) -> str:
    """Return a claim about a shape as an expression over the variables that it depends on."""
    return _spelled(bytes(map(claim, _shapes())), tuple(_VALUES))


@cache
def _shapes() -> tuple[Shape, ...]:
    """Return every combination of values, reachable or not; the last variable varies fastest."""
    return tuple(
        Shape(**dict(zip(_VALUES, values, strict=True)))  # type: ignore[arg-type]  # by name
        for values in product(*_VALUES.values())
    )


def _spelled(truth: bytes, names: tuple[str, ...]) -> str:
    """Spell out a truth table, which has an equal part for each value of the first variable."""
    if len(set(truth)) == 1:
        return "true" if truth[0] else "false"
    name, *rest = names
    size = len(truth) // len(_VALUES[name])
    alike: dict[bytes, list[object]] = {}
    for at, value in enumerate(_VALUES[name]):
        alike.setdefault(truth[at * size : (at + 1) * size], []).append(value)
    if len(alike) == 1:
        return _spelled(truth[:size], tuple(rest))
    cases = []
    for part, values in alike.items():
        inner = _spelled(part, tuple(rest))
        if inner != "false":
            here = _among(name, values)
            cases.append(here if inner == "true" else f"({here} && {inner})")
    return cases[0] if len(cases) == 1 else f"({' || '.join(cases)})"
