"""Whether every run comes somewhere, when the driver is fair and the environment is not.

A run that never comes to `to` stays, from some step on, in one strongly connected component of
what avoids `to`. It counts if the driver takes a step in that component, or has none to take in
one of its shapes. If it could take one everywhere and takes none, it is not fair.
"""

from collections import deque
from collections.abc import Callable, Iterator
from heapq import heappop, heappush
from itertools import count

from attrs import define, field

from statemachine.commands import OUTSIDE_INPUTS, Input
from statemachine.properties import Edge
from statemachine.shape import Shape

from .graph import Exploration
from .story import Counterexample, told

__all__ = ["leads_to"]


def leads_to(  # noqa: PLR0913  # the parts of one question
    exploration: Exploration,
    from_: Callable[[Shape], bool],
    to: Callable[[Shape], bool],
    *,
    claim: str = "leads to",
    excludes: frozenset[Input] = frozenset(),
    is_fair: bool = True,
) -> Counterexample | None:
    """Return a run from `from_` that never comes to `to`, or None when there is none.

    Args:
        exploration: the graph.
        from_: where a run is asked about.
        to: where it must come.
        claim: what a counterexample is called.
        excludes: inputs that the premise says no longer happen.
        is_fair: whether the driver, while it can change something, at some time does.
    """
    steps = {
        shape: [edge for edge in leaving if edge.input not in excludes and edge.after != shape]
        for shape, leaving in exploration.leaving.items()
    }
    parents = _avoiding(exploration, steps, from_, to)
    graph = {shape: [edge for edge in steps[shape] if edge.after in parents] for shape in parents}
    component_of = _Components(graph).find()
    forever = _endless(steps, graph, component_of) if is_fair else set(component_of.values())
    for shape in parents:  # nearest first
        if component_of[shape] in forever:
            run = _run(exploration, shape, parents)
            if not is_fair:
                return _story(claim, run, ())
            idle = {each for each in parents if not any(map(_is_drivers, steps[each]))}
            way, is_circle = _forever(shape, graph, component_of, idle)
            return _story(claim, run, way) if is_circle else _story(claim, (*run, *way), ())
    return None


def _is_drivers(edge: Edge) -> bool:
    return edge.input not in OUTSIDE_INPUTS


def _avoiding(
    exploration: Exploration,
    steps: dict[Shape, list[Edge]],
    from_: Callable[[Shape], bool],
    to: Callable[[Shape], bool],
) -> dict[Shape, Edge | None]:
    """Return the shapes of all runs from `from_` that avoid `to`, nearest first, with their way."""
    order = {shape: number for number, shape in enumerate(exploration.shapes)}
    waiting: list[tuple[int, int, int, Shape, Edge | None]] = []
    serial = count()
    for shape in exploration.shapes:
        if from_(shape) and not to(shape):
            depth = len(exploration.path_to(shape))
            heappush(waiting, (depth, order[shape], next(serial), shape, None))
    ways: dict[Shape, Edge | None] = {}
    while waiting:
        depth, _, _, shape, way = heappop(waiting)
        if shape in ways:
            continue
        ways[shape] = way
        for edge in steps[shape]:
            if edge.after not in ways and not to(edge.after):
                entry = (depth + 1, order[edge.after], next(serial), edge.after, edge)
                heappush(waiting, entry)
    return ways


@define
class _Components:
    """The strongly connected components of a graph (Tarjan, without recursion)."""

    graph: dict[Shape, list[Edge]]
    component_of: dict[Shape, int] = field(factory=dict)
    numbers: dict[Shape, int] = field(factory=dict)
    lowest: dict[Shape, int] = field(factory=dict)
    stack: list[Shape] = field(factory=list)
    work: list[tuple[Shape, Iterator[Edge]]] = field(factory=list)

    def find(self) -> dict[Shape, int]:
        """Return the number of the component of every shape."""
        for root in self.graph:
            if root not in self.numbers:
                self.open(root)
                while self.work:
                    self.go_on()
        return self.component_of

    def open(self, shape: Shape) -> None:
        """Begin with a shape."""
        self.numbers[shape] = self.lowest[shape] = len(self.numbers)
        self.stack.append(shape)
        self.work.append((shape, iter(self.graph[shape])))

    def go_on(self) -> None:
        """Follow one more edge of the shape that was begun last, or finish it."""
        shape, edges = self.work[-1]
        edge = next(edges, None)
        if edge is None:
            self.close(shape)
        elif edge.after not in self.numbers:
            self.open(edge.after)
        elif edge.after not in self.component_of:
            self.lowest[shape] = min(self.lowest[shape], self.numbers[edge.after])

    def close(self, shape: Shape) -> None:
        """Finish a shape; it may be the root of a component."""
        self.work.pop()
        if self.work:
            above = self.work[-1][0]
            self.lowest[above] = min(self.lowest[above], self.lowest[shape])
        if self.lowest[shape] == self.numbers[shape]:
            cut = self.stack.index(shape)
            self.component_of.update(dict.fromkeys(self.stack[cut:], self.numbers[shape]))
            del self.stack[cut:]


def _endless(
    steps: dict[Shape, list[Edge]],
    graph: dict[Shape, list[Edge]],
    component_of: dict[Shape, int],
) -> set[int]:
    """Return the components in which a run can stay forever although the driver is fair."""
    endless: set[int] = set()
    for shape, number in component_of.items():
        is_idle = not any(_is_drivers(edge) for edge in steps[shape])
        is_busy = any(
            _is_drivers(edge) and component_of[edge.after] == number for edge in graph[shape]
        )
        if is_idle or is_busy:
            endless.add(number)
    return endless


def _run(
    exploration: Exploration, shape: Shape, parents: dict[Shape, Edge | None]
) -> tuple[Edge, ...]:
    """Return the way to a shape that the search came by."""
    way: list[Edge] = []
    edge = parents[shape]
    while edge is not None:
        way.append(edge)
        shape = edge.before
        edge = parents[shape]
    return (*exploration.path_to(shape), *reversed(way))


def _story(claim: str, run: tuple[Edge, ...], loop: tuple[Edge, ...]) -> Counterexample:
    """Tell a run and how it goes on."""
    return Counterexample(
        claim=claim,
        steps=tuple(map(told, (*run, *loop))),
        ends="and this never ends." if loop else "and here it may stay forever.",
        loop_from=len(run) + 1 if loop else None,
    )


def _forever(
    shape: Shape,
    graph: dict[Shape, list[Edge]],
    component_of: dict[Shape, int],
    idle: set[Shape],
) -> tuple[tuple[Edge, ...], bool]:
    """Return a shortest way to stay in the component of a shape, and whether it is a circle.

    Either the driver takes a step on a circle, or the way ends where it has none to take.
    """
    ways: dict[tuple[Shape, bool], tuple[Edge, ...]] = {(shape, False): ()}
    waiting = deque([(shape, False)])
    while waiting:
        here, is_driven = waiting.popleft()
        if here in idle or (here == shape and is_driven):
            return ways[here, is_driven], here not in idle
        for edge in graph[here]:
            there = (edge.after, is_driven or _is_drivers(edge))
            if component_of[edge.after] == component_of[shape] and there not in ways:
                ways[there] = (*ways[here, is_driven], edge)
                waiting.append(there)
    raise AssertionError(f"a run cannot stay forever with {shape}")
