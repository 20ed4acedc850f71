"""What a runtime has to offer to be examined: a few verbs and one look from outside.

A subject stands between the suites and a runtime. It knows how that runtime spells `send` and
`cancel`, and tells what an outsider could see: a status, a log, what was discarded, who is
registered. What it cannot do it does not offer, and what was not offered is printed as unchecked.

Everything the runtime waits for on the outside has to go through the stage it is given: the model
through `stage.model(prompt)`, and, with `HOLD`, durability through a gate named `flush`.

The outside may fall silent: from some step on no gate is opened any more. What was stopped has to
come to rest all the same, by timers on the stage's loop.
"""

from collections.abc import Awaitable, Callable, Coroutine
from enum import StrEnum
from typing import Any, Final, Protocol, runtime_checkable

from attrs import frozen

from statemachine.conformance.stage.stage import Stage

__all__ = [
    "SEAMS",
    "SEAM_OUTCOMES",
    "Dropped",
    "Injects",
    "Intercepts",
    "Listens",
    "MakeSubject",
    "Observation",
    "Offer",
    "Probed",
    "Seen",
    "Steers",
    "Subject",
]


SEAM_OUTCOMES: Final[dict[str, tuple[str, ...]]] = {
    "prompt/submit": ("ok", "error", "block"),
    "system/assemble": ("ok", "error"),
    "step/prepare": ("ok", "error"),
    "model/request": ("ok", "error"),
    "step/result": ("ok", "error"),
    "tool/before": ("ok", "error", "deny", "ask"),
    "tool/body": ("ok", "error"),
    "tool/after": ("ok", "error", "reject"),
    "turn/continue": ("ok", "error", "stop", "continue"),
}
"""What may come of each seam; `ok` changes nothing."""

SEAMS: Final = tuple(SEAM_OUTCOMES)
"""Where a turn waits for others than the model and the disk."""


class Offer(StrEnum):
    """Something a subject can do beyond the least."""

    STEER = "steer"
    """`steer(agent, text)`: a message for the running turn."""
    INJECT = "inject"
    """`inject(agent, text)`: context that runs no model."""
    HOLD = "hold"
    """Every flush waits at a gate named `flush`."""
    LISTEN = "listen"
    """`on(point, call)`: act from inside a synchronous listener."""
    INTERCEPT = "intercept"
    """`intercept(seam)`: whoever is asked next at that seam of a turn waits at a gate."""
    PERSIST = "persist"
    """`stored(session)`: what has been made durable."""
    CRASH = "crash"
    """`crash()`: the process dies."""
    RELOAD = "reload"
    """`reload(plugin)`: a plugin is unloaded and loaded again."""


@frozen
class Seen:
    """One record of the log, as far as an outsider compares it."""

    type: str
    """`turn/start`, `user/message`, `steering/message`, `context/message`, `step/start`,
    `assistant/message`, `tool/call`, `tool/result`, `step/end`, `turn/end`; others are ignored.
    What the runtime itself says to the model has a type of its own, whatever the log calls it."""
    turn: int
    text: str
    """The text of a message; of a `turn/end`, the ending, and a colon, a blank and the reason
    if it has one, as in `aborted: user pressed stop`; of a `tool/call` and a `tool/result`, the id
    of the call."""
    calls: tuple[str, ...] = ()
    """Of an `assistant/message`, the ids of the calls in it."""


@frozen
class Dropped:
    """One message that was discarded."""

    text: str
    cause: str
    reason: str


@frozen(kw_only=True)
class Observation:
    """What an outsider sees of one agent, also after its end."""

    status: str | None
    """None if the runtime has never heard of it."""
    log: tuple[Seen, ...] = ()
    discards: tuple[Dropped, ...] = ()
    statuses: tuple[str, ...] = ()
    """Every status that was announced, in order."""
    registered: bool = False
    in_store: bool = False


class Subject(Protocol):
    """A runtime under test. One instance is used for one run, on one stage."""

    @property
    def offers(self) -> frozenset[Offer]:
        """What it can do beyond the least."""
        ...

    async def open(self, stage: Stage) -> None:
        """Start the runtime on the loop of `stage`."""
        ...

    def create(self, agent: str, session: str) -> None:
        """Make an agent; raise whatever the runtime raises."""
        ...

    def send(self, agent: str, text: str) -> None:
        """Queue a message."""
        ...

    def cancel(self, agent: str, reason: str | None) -> None:
        """Stop the running turn and drop what waits."""
        ...

    def dispose(self, agent: str) -> Awaitable[object]:
        """End the agent now; what is returned is done when it is gone."""
        ...

    def when_idle(self, agent: str) -> Coroutine[Any, Any, None]:
        """Wait until nothing runs and nothing is queued."""
        ...

    def observe(self, agent: str) -> Observation:
        """Look from outside; never waits, never changes anything."""
        ...

    async def close(self) -> None:
        """Stop the runtime."""
        ...


@runtime_checkable
class Steers(Protocol):
    """What `STEER` adds."""

    def steer(self, agent: str, text: str) -> None:
        """Give a message to the running turn."""
        ...


@runtime_checkable
class Injects(Protocol):
    """What `INJECT` adds."""

    def inject(self, agent: str, text: str) -> None:
        """Record context."""
        ...


@runtime_checkable
class Listens(Protocol):
    """What `LISTEN` adds.

    Points: `status running`, `status cancelled`, `status idle`, `status disposed`, `queued`,
    `discarded`, `error`, `abort`, `disposed` (the agent is gone), and every record type, as in
    `turn/start`; of a subject that offers `INTERCEPT`, also every seam, when somebody is asked.
    """

    def on(self, point: str, call: Callable[[str], None]) -> Callable[[], None]:
        """Call with the agent's id at that point; return what stops it."""
        ...


@runtime_checkable
class Intercepts(Protocol):
    """What `INTERCEPT` adds.

    The gates have the names and the outcomes of `SEAM_OUTCOMES`.
    """

    def intercept(self, seam: str, call: Callable[[str], None] | None = None) -> None:
        """Let the next one who is asked there wait at a gate.

        If `call` is given, it is called with the agent's id before that, from inside.
        """
        ...


@runtime_checkable
class Probed(Protocol):
    """What level `inside` needs: the runtime is driven by our machine and tells its decisions."""

    def probe(self, observe: Callable[..., None]) -> None:
        """Call `observe(cell, before, input, decision)` after every decision of every agent."""
        ...


MakeSubject = Callable[[], Subject]
"""Makes a fresh subject for one run."""
