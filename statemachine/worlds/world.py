"""A world: its first state, what can happen in it, and the one function that makes it happen."""

from collections.abc import Callable, Hashable, Iterator
from typing import Generic, NamedTuple, TypeVar

from attrs import define, field

from .rows import Event, Label, Row

__all__ = ["Step", "World"]

S = TypeVar("S", bound=Hashable)


class Step(NamedTuple, Generic[S]):
    """One event, and what it did."""

    before: S
    label: Label
    place: int
    row: Row[S]
    after: S

    @property
    def is_refused(self) -> bool:
        """Whether it is a call that was refused, and so changed nothing."""
        return self.row.refuses is not None


@define(kw_only=True, eq=False)
class World(Generic[S]):
    """Some of what surrounds an agent, as a table of rows over a state.

    Args:
        name: what it is called in reports.
        initial: where it begins.
        rows: what can happen. Tests plant faults by giving other rows.
        labels: every event at every place.
        ask: prepares a place: returns the state in which the rows are looked at, and the number
            of the place; None where there is nothing to ask about, or where the bounds of the
            world leave no room for another call.
        stands: says whether a stretch stands, so that no task runs.
    """

    name: str
    initial: S
    rows: tuple[Row[S], ...]
    labels: tuple[Label, ...]
    ask: Callable[[S, Hashable], tuple[S, int] | None] = field(repr=False)
    stands: Callable[[S], bool] = field(repr=False)
    _plans: dict[Hashable, dict[Label, tuple[Row[S], ...]]] = field(init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        """Find the rows of every label once, in their order."""
        by_event: dict[Event, list[Row[S]]] = {label.event: [] for label in self.labels}
        for row in self.rows:
            by_event[row.on].append(row)
        self._plans = {}
        for label in self.labels:
            self._plans.setdefault(label.place, {})[label] = tuple(by_event[label.event])

    def step(self, state: S, label: Label) -> Step[S] | None:
        """Return what the event does there, or None when it cannot happen now."""
        asked = self.ask(state, label.place)
        if asked is None or (label.event.needs_loop and self.stands(state)):
            return None
        return _fire(state, label, self._plans[label.place][label], *asked)

    def steps(self, state: S) -> Iterator[Step[S]]:
        """Return everything that can happen now."""
        stands = self.stands(state)
        for place, plan in self._plans.items():
            asked = self.ask(state, place)
            if asked is None:
                continue
            for label, rows in plan.items():
                if stands and label.event.needs_loop:
                    continue
                fired = _fire(state, label, rows, *asked)
                if fired is not None:
                    yield fired

    def waiting(self, state: S) -> Iterator[Label]:
        """Return what could happen as soon as no stretch stands, and cannot while one does."""
        if not self.stands(state):
            return
        for place, plan in self._plans.items():
            asked = self.ask(state, place)
            for label, rows in plan.items():
                is_late = asked is not None and label.event.needs_loop
                if is_late and asked and _fire(state, label, rows, *asked) is not None:
                    yield label


def _fire(
    before: S, label: Label, rows: tuple[Row[S], ...], state: S, place: int
) -> Step[S] | None:
    for row in rows:
        for guard in row.when:
            if not guard.holds(state, place):
                break
        else:
            break
    else:
        return None
    if row.refuses is not None:
        return Step(before, label, place, row, before)
    for move in row.does:
        state = move.make(state, place)
    return Step(before, label, place, row, state)
