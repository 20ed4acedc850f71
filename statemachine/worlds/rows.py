"""How a world says what can happen: events, and rows of named guards and named moves.

A world is the agent and some of what surrounds it, as a value. Something happens to a *place* of
it - a slot for one request and the agent that comes of it, or the whole - and the first row of that
event whose guards all hold answers. A row makes its moves in their order, or refuses and says why.
An event of which no row holds cannot happen now.

Rows are data, so that they can be printed, counted, and broken on purpose.
"""

from collections.abc import Callable, Hashable
from enum import StrEnum
from typing import Generic, NamedTuple, TypeVar

from attrs import field, frozen

__all__ = ["Actor", "Event", "Guard", "Label", "Move", "Row"]

S = TypeVar("S", bound=Hashable)


class Actor(StrEnum):
    """Who makes something happen. Nobody promises that the outside ever does; all others do."""

    OUTSIDE = "outside"
    STRETCH = "stretch"
    """Code that was called and has not returned: a listener in it may call again."""
    STORE = "store"
    """Whatever a load waits for: it answers, in one way or the other."""
    REQUEST = "request"
    """The task that serves one request."""
    DRIVER = "driver"
    MODEL = "model"
    """Whatever a turn waits for before it is over by itself."""
    TEARDOWN = "teardown"


class Event(NamedTuple):
    """Something that can happen."""

    name: str
    actor: Actor
    needs_loop: bool = False
    """Whether it is a turn of a task, which has to wait until no stretch stands."""

    def __str__(self) -> str:
        """Return its name."""
        return self.name


class Label(NamedTuple):
    """An event and the place that it happens to; for a call, what is asked for."""

    event: Event
    place: Hashable = 0

    def __str__(self) -> str:
        """Return what a story calls it."""
        return f"{self.event.name}({self.place})"


@frozen(eq=False)
class Guard(Generic[S]):
    """A named claim about a place of a world."""

    name: str
    holds: Callable[[S, int], bool] = field(repr=False)


@frozen(eq=False)
class Move(Generic[S]):
    """A named change of a world, at a place."""

    name: str
    make: Callable[[S, int], S] = field(repr=False)


@frozen(eq=False)
class Row(Generic[S]):
    """Everything that one event does in one circumstance."""

    on: Event
    when: tuple[Guard[S], ...]
    """All of them hold; none means always."""
    does: tuple[Move[S], ...] = ()
    refuses: str | None = None
    """Why the call is refused; it changes nothing then."""
    clauses: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Return a name for stories and coverage, unique in a table."""
        circumstance = " and ".join(guard.name for guard in self.when)
        return f"{self.on.name} when {circumstance}" if circumstance else self.on.name
