"""Faults in the plugin context and around it: a careless host of plugins."""
# ruff: noqa: SLF001  # faults are planted inside

from typing import TYPE_CHECKING, Any

import pytest

from runtime import roster
from runtime.context import Subscription
from runtime.session.log import SessionLog
from runtime.session.records import Record
from tests.conformance import context_faults as suite
from tests.unit.context import faults as context

from .planting import fault

if TYPE_CHECKING:
    from runtime.core import Core

__all__: list[str] = []

for _each in (
    context.dead_fibers_register,
    context.failed_for_good,
    context.late_effects_forgotten,
    context.one_listener_starves_the_others,
    context.refused_and_unloaded,
    suite.a_failing_disposer_breaks_the_chain,
    suite.a_restart_keeps_the_old_configuration,
):
    fault(_each)


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
def end_not_announced(patch: pytest.MonkeyPatch) -> None:
    """Nobody is told that an agent is gone."""
    patch.setattr(roster, "_announce_disposed", lambda _: None)
