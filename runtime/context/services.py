"""Services: who provides what, who depends on it, and the moment between.

A service is there for others while its provider is active. When it goes, it is gone for `get` at
once, but its value stays with whoever was loaded with it until they have unloaded; only then is the
name free. So a plugin can say good-bye to what it depends on, and nobody can take the place of a
service that is still in use.
"""

from typing import TYPE_CHECKING, Any, TypeVar

from runtime.teardown import TeardownReport

from .endings import Ending
from .errors import DuplicateServiceError
from .tokens import Token

if TYPE_CHECKING:
    import asyncio

    from .fibers import Fiber
    from .lives import Life

__all__ = ["Provision", "Services"]

T = TypeVar("T")


class Provision:
    """One service, as provided by one life of a fiber."""

    __slots__ = ("_services", "_vacated", "dependents", "is_departing", "life", "name", "value")

    def __init__(self, services: "Services", name: str, value: object, life: "Life") -> None:
        self._services = services
        self.name = name
        self.value = value
        self.life = life
        self.dependents: dict[Fiber, None] = {}
        """The fibers that were loaded with it and have not unloaded yet."""
        self.is_departing = False
        self._vacated: Ending | None = None

    @property
    def is_available(self) -> bool:
        """Whether others may be loaded with it."""
        return not self.is_departing and self.life.is_active

    def depart(self) -> None:
        """Be gone for everybody but those who were loaded with it, who begin to unload.

        Clauses: G-12 G-13
        """
        if not self.is_departing:
            self.is_departing = True
            self._services.changed(self.name)

    def withdraw(self) -> Ending:
        """Depart, and free the name once nobody uses the value any more; return that end."""
        if self._vacated is None:
            kernel = self.life.kernel
            name = f"service {self.name}"
            self._vacated = Ending(name, kernel.loop, self._dependents_tasks, kernel.waits)
        self.depart()
        self._vacate()
        return self._vacated

    def leave(self, fiber: "Fiber") -> None:
        """Note that a fiber does not use it any more."""
        self.dependents.pop(fiber, None)
        self._vacate()

    def _vacate(self) -> None:
        if self._vacated is not None and not self.dependents:
            self._services.remove(self)
            self._vacated.finish(TeardownReport())

    def _dependents_tasks(self) -> "set[asyncio.Task[Any] | None]":
        tasks: set[asyncio.Task[Any] | None] = set()
        seen: set[int] = set()
        for fiber in self.dependents:
            fiber.gather_tasks(tasks, seen)
        return tasks


class Services:
    """The services of one application.

    Clauses: G-11 G-12 G-16 G-18
    """

    def __init__(self) -> None:
        self._provisions: dict[str, Provision] = {}
        self._injecting: dict[str, dict[Fiber, None]] = {}

    def enter(self, token: Token[T], value: T, life: "Life") -> Provision:
        """Give a service its value.

        Raises:
            DuplicateServiceError: it has one; the message names the provider.
        """
        taken = self._provisions.get(token.name)
        if taken is not None:
            verb = "still provides" if taken.is_departing else "provides"
            raise DuplicateServiceError(
                f"service {token.name!r} refused: plugin {taken.life.fiber.name} {verb} it; "
                "dispose that fiber first and await its end"
            )
        provision = Provision(self, token.name, value, life)
        self._provisions[token.name] = provision
        if provision.is_available:
            self.changed(token.name)
        return provision

    def remove(self, provision: Provision) -> None:
        """Free the name of a service."""
        if self._provisions.get(provision.name) is provision:
            del self._provisions[provision.name]

    def available(self, name: str) -> Provision | None:
        """Return the provision that others may be loaded with, or None."""
        provision = self._provisions.get(name)
        return provision if provision is not None and provision.is_available else None

    def get(self, name: str) -> Any:  # noqa: ANN401  # the token says of which type
        """Return the value of a service that is available, or None."""
        provision = self.available(name)
        return None if provision is None else provision.value

    def inject(self, fiber: "Fiber", names: tuple[str, ...]) -> None:
        """Tell a fiber whenever one of these services comes or goes."""
        for name in names:
            self._injecting.setdefault(name, {})[fiber] = None

    def forget(self, fiber: "Fiber", names: tuple[str, ...]) -> None:
        """Tell a fiber nothing any more."""
        for name in names:
            fibers = self._injecting.get(name, {})
            fibers.pop(fiber, None)
            if not fibers:
                self._injecting.pop(name, None)

    def changed(self, name: str) -> None:
        """Let every fiber that injects a service decide what that means for it."""
        for fiber in tuple(self._injecting.get(name, ())):
            fiber.advance()
