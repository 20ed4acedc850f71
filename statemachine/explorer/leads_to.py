"""Whether every run comes somewhere, when the driver is fair and the environment is not.

A run that never comes to `to` stays, from some step on, in one strongly connected component of
what avoids `to`. It counts if the driver takes a step in that component, or has none to take in
one of its shapes. If it could take one everywhere and takes none, it is not fair.
"""

from collections import deque
from collections.abc import Callable
from heapq import heappop, heappush
from itertools import count

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
    graph = {
        shape: [edge for edge in steps[shape] if edge.after in parents] for shape in parents
    }
    component_of: dict[Shape, int] = {}
    for number, component in enumerate(_components(graph)):
        component_of.update(dict.fromkeys(component, number))
    forever = _endless(steps, graph, component_of) if is_fair else set(component_of.values())
    for shape in parents:  # nearest first
        if component_of[shape] in forever:
            return _story(exploration, claim, shape, parents, graph, component_of, is_fair=is_fair)
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


def _components(graph: dict[Shape, list[Edge]]) -> list[list[Shape]]:
    """Return the strongly connected components (Tarjan, without recursion)."""
    numbers: dict[Shape, int] = {}
    lowest: dict[Shape, int] = {}
    stack: list[Shape] = []
    on_stack: set[Shape] = set()
    components: list[list[Shape]] = []
    for root in graph:
        if root in numbers:
            continue
        work = [(root, iter(graph[root]))]
        _open(root, numbers, lowest, stack, on_stack)
        while work:
            shape, edges = work[-1]
            edge = next(edges, None)
            if edge is not None and edge.after not in numbers:
                _open(edge.after, numbers, lowest, stack, on_stack)
                work.append((edge.after, iter(graph[edge.after])))
            elif edge is not None:
                if edge.after in on_stack:
                    lowest[shape] = min(lowest[shape], numbers[edge.after])
            else:
                work.pop()
                if work:
                    above = work[-1][0]
                    lowest[above] = min(lowest[above], lowest[shape])
                if lowest[shape] == numbers[shape]:
                    cut = stack.index(shape)
                    components.append(stack[cut:])
                    on_stack.difference_update(stack[cut:])
                    del stack[cut:]
    return components


def _open(
    shape: Shape,
    numbers: dict[Shape, int],
    lowest: dict[Shape, int],
    stack: list[Shape],
    on_stack: set[Shape],
) -> None:
    numbers[shape] = lowest[shape] = len(numbers)
    stack.append(shape)
    on_stack.add(shape)


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


def _story(  # noqa: PLR0913  # everything that the search found
    exploration: Exploration,
    claim: str,
    shape: Shape,
    parents: dict[Shape, Edge | None],
    graph: dict[Shape, list[Edge]],
    component_of: dict[Shape, int],
    *,
    is_fair: bool,
) -> Counterexample:
    """Tell the way to `shape` and how a run stays with it."""
    way: list[Edge] = []
    edge = parents[shape]
    first = shape
    while edge is not None:
        way.append(edge)
        first = edge.before
        edge = parents[first]
    run = [*exploration.path_to(first), *reversed(way)]
    loop = _loop(shape, graph, component_of) if is_fair else ()
    ends = "and this never ends." if loop else f"and there it may stay forever: {shape}"
    return Counterexample(
        claim=claim,
        steps=tuple(map(told, (*run, *loop))),
        ends=ends,
        loop_from=len(run) + 1 if loop else None,
    )


def _loop(
    shape: Shape, graph: dict[Shape, list[Edge]], component_of: dict[Shape, int]
) -> tuple[Edge, ...]:
    """Return a shortest way from `shape` back to itself in its component, with a driver's step."""
    ways: dict[tuple[Shape, bool], tuple[Edge, ...]] = {(shape, False): ()}
    waiting = deque([(shape, False)])
    while waiting:
        here, is_driven = waiting.popleft()
        for edge in graph[here]:
            if component_of[edge.after] != component_of[shape]:
                continue
            there = (edge.after, is_driven or _is_drivers(edge))
            if there not in ways:
                ways[there] = (*ways[here, is_driven], edge)
                waiting.append(there)
            if there == (shape, True):
                return ways[there]
    return ()
