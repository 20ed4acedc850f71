"""Every reachable pair of shape and contents, up to a number of messages.

A state is a shape, the contents beside it and the number of waiters that wait. Three things keep
the search small without leaving anything out. Messages are labelled by acceptance, so two runs
that differ only in who sent first are one. Two waiters are told apart by nothing, so they are a
number. And a further cancel or dispose of a disposed agent is not counted, because nothing is
accepted any more that it could be told from.

What an edge of the graph of shapes does to contents is worked out once for each pair of the two
and is looked up from then on; the search itself moves whole numbers.
"""

from array import array
from collections.abc import Iterator
from typing import Final, NamedTuple

from attrs import define, field, frozen

from statemachine.commands import OUTSIDE_INPUTS, Command, Input
from statemachine.explorer import Counterexample, Exploration, Progress, Verdict, told
from statemachine.properties import MODEL_STOPS, Edge, Property
from statemachine.shape import Inbox
from statemachine.windows import REST_WINDOWS, WINDOWS, Window

from .contents import CLAIMS, COMES_TO_REST, NOTHING_OWED, Act, BrokenClaimError, Contents, obey

__all__ = ["LABELLED_CLAIMS", "WAITERS_MAX", "Labelled", "explore_labelled"]

WAITERS_MAX: Final = 2
LABELLED_CLAIMS: Final[tuple[Property, ...]] = (*CLAIMS.values(), COMES_TO_REST, NOTHING_OWED)
"""Every claim that this search checks."""

_BELIEF: Final = "the_shape_knows_what_the_inbox_holds"
_AT_REST: Final = (Window.PARKED, Window.ANNOUNCE_IDLE, Window.EXITED)
_SHAPE_BITS: Final = 12
_WAITER_BITS: Final = 2
_NO_PARENT: Final = 0xFFFFFFFF
_A_WAITER: Final = -1


@frozen(kw_only=True)
class Labelled:
    """What the search found."""

    bound: int
    """How many messages were accepted at most."""
    states: int
    steps: int
    """How many moves between states were made."""
    verdicts: tuple[Verdict, ...]

    @property
    def is_holding(self) -> bool:
        """Whether no claim is broken."""
        return all(verdict.holds for verdict in self.verdicts)


def explore_labelled(
    exploration: Exploration, bound: int = 3, *, progress: Progress | None = None
) -> Labelled:
    """Visit every state with at most `bound` messages, two cancels, two waiters and a dispose.

    Clauses: A-54 B-106
    """
    search = _Search(exploration=exploration, bound=bound)
    search.run(progress)
    verdicts = tuple(
        Verdict(
            claim=claim,
            holds=claim.name not in search.broken,
            explored=search.looked_at(claim),
            why=search.broken.get(claim.name),
        )
        for claim in LABELLED_CLAIMS
    )
    return Labelled(bound=bound, states=len(search.keys), steps=search.steps, verdicts=verdicts)


class _Move(NamedTuple):
    """An edge of the graph of shapes, as the search needs it."""

    act: int
    after: int
    is_progress: bool
    """Whether the driver takes it, also when the model and the senders are still."""
    releases: bool
    edge: int
    """Its number in the exploration, for the story."""


@define(kw_only=True)
class _Search:
    """The search, in whole numbers."""

    exploration: Exploration
    bound: int
    broken: dict[str, Counterexample] = field(factory=dict)
    steps: int = 0
    # By shape.
    moves: list[list[_Move]] = field(factory=list)
    beliefs: list[Inbox] = field(factory=list)
    may_wait: list[bool] = field(factory=list)
    rests: list[bool] = field(factory=list)
    dead: list[bool] = field(factory=list)
    """Where a row makes an illegal move: the machine is broken there, and that is told already."""
    # By act: what it does to contents, as far as that was worked out.
    acts: list[Act] = field(factory=list)
    results: list[dict[int, tuple[int, ...]]] = field(factory=list)
    cut: set[tuple[int, int]] = field(factory=set)
    """Pairs of act and contents that broke a claim; nothing is judged behind them."""
    # By contents.
    contents: list[Contents] = field(factory=list)
    contents_ids: dict[Contents, int] = field(factory=dict)
    holdings: list[Inbox] = field(factory=list)
    unsettled: list[bool] = field(factory=list)
    # By state.
    numbers: dict[int, int] = field(factory=dict)
    keys: "array[int]" = field(factory=lambda: array("Q"))
    parents: "array[int]" = field(factory=lambda: array("I"))
    ways: "array[int]" = field(factory=lambda: array("i"))
    onward: "array[int]" = field(factory=lambda: array("I"))
    """The progress of the driver from each state, in a row."""
    onward_ends: "array[int]" = field(factory=lambda: array("I"))

    def __attrs_post_init__(self) -> None:
        """Number the shapes and their moves."""
        numbers = {shape: number for number, shape in enumerate(self.exploration.shapes)}
        illegal = {attempt.before for attempt in self.exploration.illegal}
        act_ids: dict[Act, int] = {}
        edges = iter(enumerate(self.exploration.edges))
        for shape in self.exploration.shapes:
            moves = []
            for _ in self.exploration.leaving[shape]:
                serial, edge = next(edges)
                if edge.after == shape and not edge.commands and edge.input is not Input.CANCEL:
                    continue
                act = _act(edge)
                if act not in act_ids:
                    act_ids[act] = len(self.acts)
                    self.acts.append(act)
                    self.results.append({})
                moves.append(
                    _Move(
                        act=act_ids[act],
                        after=numbers[edge.after],
                        is_progress=_is_progress(edge),
                        releases=Command.RELEASE in edge.commands,
                        edge=serial,
                    )
                )
            self.moves.append(moves)
            self.beliefs.append(shape.inbox)
            self.may_wait.append(not shape.is_quiescent)
            self.rests.append(shape.window in REST_WINDOWS)
            self.dead.append(shape in illegal)

    # Searching.

    def run(self, progress: Progress | None) -> None:
        """Visit every state, then look whether the driver can go on forever."""
        self.number(Contents())
        self.reach(0, _NO_PARENT, _A_WAITER)
        state = 0
        while state < len(self.keys):
            self.visit(state)
            self.onward_ends.append(len(self.onward))
            state += 1
            if progress is not None and not state % 4096:
                progress(state, len(self.keys))
        self.refute_rest()

    def visit(self, state: int) -> None:
        """Post every input to one state."""
        key = self.keys[state]
        shape = key & (1 << _SHAPE_BITS) - 1
        waiters = key >> _SHAPE_BITS & (1 << _WAITER_BITS) - 1
        held = key >> _SHAPE_BITS + _WAITER_BITS
        results = self.results
        is_going_on = False
        for act, after, is_progress, releases, edge in self.moves[shape]:
            done = results[act].get(held)
            if done is None:
                done = self.work_out(state, act, held, edge)
            still = 0 if releases else waiters
            for then in done:
                there = (then << _WAITER_BITS | still) << _SHAPE_BITS | after
                number = self.reach(there, state, edge)
                if is_progress and number != state:
                    is_going_on = True
                    self.onward.append(number)
        if waiters < WAITERS_MAX and self.may_wait[shape]:
            self.reach(key + (1 << _SHAPE_BITS), state, _A_WAITER)
        if not is_going_on:
            self.check_rest(state, shape, waiters, held)

    def reach(self, key: int, state: int, way: int) -> int:
        """Return the number of the state with this key, a new one if it is new."""
        self.steps += 1
        number = self.numbers.get(key)
        if number is None:
            number = self.numbers[key] = len(self.keys)
            self.keys.append(key)
            self.parents.append(state)
            self.ways.append(way)
            holding = self.holdings[key >> _SHAPE_BITS + _WAITER_BITS]
            if holding is not self.beliefs[key & (1 << _SHAPE_BITS) - 1]:
                self.refute(_BELIEF, number, (), f"in fact the inbox holds: {holding.value}")
        return number

    def work_out(self, state: int, act: int, held: int, edge: int) -> tuple[int, ...]:
        """Obey an act on contents for the first time, and remember the result."""
        found: list[int] = []
        for read in _reads(self.acts[act], self.contents[held]):
            if self.is_beyond(self.acts[act], self.contents[held]):
                continue
            try:
                after = obey(self.contents[held], self.acts[act], read)
            except BrokenClaimError as broken:
                last = (told(self.exploration.edges[edge]),)
                self.refute(broken.claim, state, last, f"but {broken}")
                self.cut.add((act, held))
                continue
            if after is not None:
                found.append(self.number(after))
        result = self.results[act][held] = tuple(found)
        return result

    def is_beyond(self, act: Act, contents: Contents) -> bool:
        """Say whether an act would accept one message too many."""
        is_accepting = act.input in (Input.SEND, Input.STEER) and Command.REFUSE not in act.commands
        return is_accepting and contents.accepted == self.bound

    def number(self, contents: Contents) -> int:
        """Return the number of contents, a new one if they are new."""
        number = self.contents_ids.get(contents)
        if number is None:
            number = self.contents_ids[contents] = len(self.contents)
            self.contents.append(contents)
            self.holdings.append(_holding(contents))
            self.unsettled.append(contents.settled.bit_count() < contents.accepted)
        return number

    # Judging.

    def check_rest(self, state: int, shape: int, waiters: int, held: int) -> None:
        """Look at a state in which the driver, left alone, does nothing more."""
        is_cut = any(m.is_progress and (m.act, held) in self.cut for m in self.moves[shape])
        if is_cut or self.dead[shape]:
            return
        if not self.rests[shape]:
            self.refute(COMES_TO_REST.name, state, (), "and the driver is stuck here.")
        elif waiters or self.unsettled[held] or self.contents[held].is_open:
            owed = f"{waiters} waiters wait, and of the messages: {_fates(self.contents[held])}"
            self.refute(NOTHING_OWED.name, state, (), owed)

    def refute_rest(self) -> None:
        """Look for a circle of the driver: peel off, again and again, what nothing leads to."""
        entered = array("I", bytes(4 * len(self.keys)))
        for number in self.onward:
            entered[number] += 1
        free = [state for state, count in enumerate(entered) if not count]
        peeled = 0
        while free:
            state = free.pop()
            peeled += 1
            for number in self.onward_of(state):
                entered[number] -= 1
                if not entered[number]:
                    free.append(number)
        if peeled < len(self.keys):
            first = next(state for state, count in enumerate(entered) if count)
            self.refute(COMES_TO_REST.name, first, (), "and the driver can come here forever.")

    def onward_of(self, state: int) -> "array[int]":
        """Return where the driver can go from a state, left alone."""
        start = self.onward_ends[state - 1] if state else 0
        return self.onward[start : self.onward_ends[state]]

    def looked_at(self, claim: Property) -> int:
        """Return how many things a claim was checked on."""
        return self.steps if claim.name in CLAIMS else len(self.keys)

    def refute(self, claim: str, state: int, last: tuple[str, ...], ends: str) -> None:
        """Keep the first counterexample of a claim, which is a shortest one."""
        if claim not in self.broken:
            steps = (*self.story(state), *last)
            self.broken[claim] = Counterexample(claim=claim, steps=steps, ends=ends)

    def story(self, state: int) -> tuple[str, ...]:
        """Tell the way to a state."""
        lines: list[str] = []
        while self.parents[state] != _NO_PARENT:
            way = self.ways[state]
            if way == _A_WAITER:
                lines.append("when_idle is called and waits")
            else:
                held = self.contents[self.keys[state] >> _SHAPE_BITS + _WAITER_BITS]
                lines.append(f"{told(self.exploration.edges[way])}; {_fates(held)}")
            state = self.parents[state]
        return tuple(reversed(lines))


def _act(edge: Edge) -> Act:
    """Return what an edge does to contents."""
    record = WINDOWS[edge.after.window].record if Command.RECORD in edge.commands else None
    is_reading = edge.before.window is Window.PROMPTS and edge.input not in OUTSIDE_INPUTS
    is_released = Command.RELEASE in edge.commands
    return Act(
        input=edge.input if edge.input in OUTSIDE_INPUTS or is_reading else Input.DONE,
        commands=edge.commands,
        is_reading=is_reading,
        record=record,
        ending=edge.after.ending if record == "turn/end" else None,
        is_rest=is_released and edge.after.window in _AT_REST,
        is_exit=is_released and edge.after.window is Window.EXITED,
    )


def _is_progress(edge: Edge) -> bool:
    return edge.input not in OUTSIDE_INPUTS and edge.input not in MODEL_STOPS.excludes


def _reads(act: Act, contents: Contents) -> Iterator[int | None]:
    """Return how many prompts may be read: all of them, or some when one breaks off the rest."""
    if act.input is Input.BROKE_OFF:
        yield from range(1, len(contents.batch))
    else:
        yield None


def _holding(contents: Contents) -> Inbox:
    if contents.queued:
        return Inbox.BOTH if contents.steering else Inbox.QUEUED
    return Inbox.STEERING if contents.steering else Inbox.EMPTY


def _fates(contents: Contents) -> str:
    """Say where the messages are."""
    places = {
        "queued": contents.queued,
        "steering": contents.steering,
        "batch": contents.batch,
        "prompts of this turn": contents.prompts,
        "steering of this turn": contents.steered,
    }
    parts = [
        f"{name} {' '.join(f'm{label}' for label in held)}" for name, held in places.items() if held
    ]
    return ", ".join(parts) or "no message here"
