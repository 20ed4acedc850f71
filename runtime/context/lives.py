"""One life of a fiber: from the beginning of a load to the end of the unload.

A fiber that is reloaded lives again, with a new life and a new context. What belonged to the old
one stays dead: a task or a callback that outlived its reload and still holds the old context can
register nothing and reads no service through it.
"""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from attrs import define, field

from runtime.containment import log_failure
from runtime.errors import CallerError
from runtime.limits import Limits
from runtime.ports import thread_id
from runtime.teardown import TeardownReport

from .endings import Findings, Waits
from .errors import InactiveError, NotInjectedError
from .guests import Stragglers
from .interceptors import Channels
from .parts import Part
from .services import Provision, Services

if TYPE_CHECKING:
    from .effects import Effect
    from .fibers import Fiber

__all__ = ["Kernel", "Life"]


@define(eq=False)
class Kernel:
    """What all fibers of one application share."""

    loop: asyncio.AbstractEventLoop
    limits: Limits
    make_context: Callable[["Life", str], Any]
    channels: Channels = field(init=False)
    services: Services = field(factory=Services, init=False)
    waits: Waits = field(factory=Waits, init=False)
    stragglers: Stragglers = field(factory=Stragglers, init=False)
    thread: int = field(factory=thread_id, init=False)

    def __attrs_post_init__(self) -> None:
        self.channels = Channels(self.limits)

    def check_thread(self, what: str) -> None:
        """Refuse a call from another thread than the loop's.

        Raises:
            CallerError: it is one.

        Clauses: G-42
        """
        if thread_id() != self.thread:
            raise CallerError(
                f"{what} refused: it was called from another thread; use loop.call_soon_threadsafe"
            )


class Life:
    """What one load of a fiber was given and has set up."""

    __slots__ = (
        "_failures",
        "_findings",
        "body",
        "effects",
        "fiber",
        "is_hurried",
        "is_open",
        "kernel",
        "parent",
        "provided",
        "resolved",
        "setting_up",
    )

    def __init__(
        self,
        kernel: Kernel,
        fiber: "Fiber",
        parent: "Life | None",
        resolved: dict[str, Provision],
    ) -> None:
        self.kernel = kernel
        self.fiber = fiber
        self.parent = parent
        self.resolved = resolved
        """The services it was loaded with."""
        self.provided: dict[str, Provision] = {}
        self.body: Effect | None = None
        """What the plugin itself sets up and gives back."""
        self.effects: dict[Part, None] = {}
        self.setting_up: dict[Effect, None] = {}
        self.is_open = True
        """Whether anything may still be registered, and whether its listeners are called."""
        self.is_hurried = False
        """Whether its load has to be undone, and so gets a grace and no more."""
        self._failures: list[Exception] = []
        self._findings = Findings()

    @property
    def is_active(self) -> bool:
        """Whether it is loaded and has not begun to unload."""
        return self.is_open and self.fiber.is_active

    @property
    def is_intact(self) -> bool:
        """Whether every service that it was loaded with is still there."""
        return all(provision.is_available for provision in self.resolved.values())

    def check_open(self, what: str) -> None:
        """Refuse a registration that nobody would ever undo.

        Raises:
            InactiveError: the life is over, or is ending.
            CallerError: called from another thread than the loop's.

        Clauses: G-10 G-42
        """
        self.kernel.check_thread(what)
        if not self.is_open:
            is_anew = self.fiber.current_life() not in (self, None)
            state = "not what it was: it has been loaded anew" if is_anew else self.fiber.state
            raise InactiveError(
                f"{what} refused: plugin {self.fiber.name} is {state}; "
                "register it from the context of an active plugin"
            )

    def need(self, name: str) -> Any:  # noqa: ANN401  # the token says of which type
        """Return the value of a service that this life, or one above it, was loaded with.

        Raises:
            InactiveError: the life is over.
            NotInjectedError: nobody on the way up injects it.

        Clauses: G-13 G-14 G-15 G-17
        """
        if not self.fiber.is_current(self):
            raise InactiveError(
                f"service {name!r} refused: it is a required service in an inactive context of "
                f"plugin {self.fiber.name}; look it up with get"
            )
        if self.parent is None:
            return self.kernel.services.get(name)
        life: Life | None = self
        while life is not None:
            provision = life.resolved.get(name)
            if provision is not None:
                return provision.value
            life = life.parent
        raise NotInjectedError(
            f"service {name!r} refused: plugin {self.fiber.name} reads it without inject; "
            "name its token in inject, or look it up with get"
        )

    # -- Holding -----------------------------------------------------------------------------------

    def add(self, part: Part) -> None:
        """Hold a part until it ends."""
        self.effects[part] = None

    def drop(self, part: Part) -> None:
        """Forget a part that has ended, or that an effect has adopted."""
        self.effects.pop(part, None)

    def blame(self, what: str, error: Exception) -> None:
        """Note a set-up that failed and that nobody awaits: it fails the load, if there is one."""
        if self.fiber.is_loading:
            self._failures.append(error)
        else:
            log_failure(error, f"plugin {self.fiber.name}, set-up of {what}")

    async def settle(self) -> None:
        """Wait until every set-up has ended.

        Raises:
            Exception: one of them failed and nobody else was told.
        """
        while self.setting_up:
            await next(iter(self.setting_up)).set_up_ended()
        if self._failures:
            raise self._failures[0]

    def log_failures_but(self, error: Exception) -> None:
        """Log the failures of set-ups that nobody will hear of: the load raised another one."""
        for failure in self._failures:
            if failure is not error:
                log_failure(failure, f"plugin {self.fiber.name}, set-up")

    def rolled_back(self, findings: Findings) -> None:
        """Keep what could not be undone of a load that failed, for the report of its end."""
        if self.fiber.is_loading:
            self._findings.take(findings.report())

    # -- The end -----------------------------------------------------------------------------------

    def hurry(self) -> None:
        """Let the grace begin of everything that is still set up: the load is not wanted any more.

        Clauses: G-51
        """
        self.is_hurried = True
        for part in tuple(self.effects):
            part.hurry()

    def close(self) -> None:
        """Accept nothing any more, silence the listeners, and let what is provided depart."""
        self.is_open = False
        for provision in self.provided.values():
            provision.depart()

    async def unwind(self) -> TeardownReport:
        """Undo everything: begin with the last part, then wait for all of them.

        Clauses: G-03 G-08
        """
        findings = self._findings
        endings = [(part.name, part.dispose()) for part in reversed(tuple(self.effects))]
        for name, ending in endings:
            await findings.outlast(f"{self.fiber.name}, {name}", ending)
        return findings.report()
