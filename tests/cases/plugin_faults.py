"""Faults in the plugin context and around it: a careless host of plugins."""
# ruff: noqa: SLF001  # faults are planted inside

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

import pytest

from runtime import roster
from runtime.context import (
    KEEP_CONFIG,
    Effect,
    Fiber,
    FiberState,
    InvalidConfigError,
    Subscription,
    interceptors,
    lives,
)
from runtime.context.endings import Findings
from runtime.context.parts import Part
from runtime.session.log import SessionLog
from runtime.session.records import Record
from runtime.teardown import Teardown

from .planting import fault

if TYPE_CHECKING:
    from runtime.core import Core

__all__: list[str] = []


@fault
def dead_fibers_register(patch: pytest.MonkeyPatch) -> None:
    """Whoever is late registers all the same."""
    patch.setattr(lives.Life, "check_open", lambda *_: None)


@fault
def late_effects_forgotten(patch: pytest.MonkeyPatch) -> None:
    """Only what a plugin sets up while it loads is undone."""
    add = lives.Life.add

    def add_early(life: lives.Life, part: Part) -> None:
        if life.fiber.is_loading or life.parent is None:
            add(life, part)

    patch.setattr(lives.Life, "add", add_early)


@fault
def old_configuration_kept(patch: pytest.MonkeyPatch) -> None:
    """A restart applies what was applied before."""
    restart = Fiber.restart
    patch.setattr(Fiber, "restart", lambda fiber, _=None: restart(fiber, fiber._raw))


@fault
def failed_for_good(patch: pytest.MonkeyPatch) -> None:
    """A plugin that has failed once is never loaded again."""
    advance = Fiber.advance

    def rest(fiber: Fiber) -> None:
        if fiber.state is FiberState.FAILED and fiber._ending is None:
            fiber._come_to_rest(FiberState.FAILED)
        else:
            advance(fiber)

    patch.setattr(Fiber, "advance", rest)


@fault
def refused_and_unloaded(patch: pytest.MonkeyPatch) -> None:
    """A configuration that is refused costs the instance that worked."""
    restart = Fiber.restart

    def hasty(fiber: Fiber, config: object = KEEP_CONFIG) -> Teardown:
        try:
            return restart(fiber, config)
        except InvalidConfigError:
            restart(fiber)
            raise

    patch.setattr(Fiber, "restart", hasty)


@fault
def one_listener_starves_the_others(patch: pytest.MonkeyPatch) -> None:
    """The first listener that raises is the last one that is told."""

    def call(listener: Callable[..., object], *args: object, what: str, who: str) -> None:
        del what, who
        listener(*args)

    patch.setattr(interceptors, "contain", call)


@fault
def announced_early(patch: pytest.MonkeyPatch) -> None:
    """A record is announced before it is in the log."""

    def commit(log: SessionLog, *draft: Any) -> Record:  # noqa: ANN401  # whatever it is given
        record = log._checked(*draft)
        if log.on_append is not None:
            log.on_append(record)
            core: Core = log.on_append.__self__  # type: ignore[attr-defined]  # a method of it
            core.outbox.deliver()
        log._enclosure.advance(record.type, record.data)
        log._records.append(record)
        return record

    patch.setattr(SessionLog, "_commit", commit)


@fault
def old_listeners_live(patch: pytest.MonkeyPatch) -> None:
    """A listener that was registered once is called for ever."""
    patch.setattr(Subscription, "is_live", property(lambda _: True))


@fault
def a_failing_disposer_ends_the_chain(patch: pytest.MonkeyPatch) -> None:
    """The disposers behind one that failed are left out."""
    run = Effect._run_disposers

    def breakable(effect: Effect, findings: Findings) -> Awaitable[object] | None:
        if findings.failed:
            effect._parts.clear()
        return run(effect, findings)

    patch.setattr(Effect, "_run_disposers", breakable)


@fault
def end_not_announced(patch: pytest.MonkeyPatch) -> None:
    """Nobody is told that an agent is gone."""
    patch.setattr(roster, "_announce_disposed", lambda _: None)
