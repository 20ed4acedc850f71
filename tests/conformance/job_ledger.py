"""What is known of the jobs of a program, and how much of it came up."""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from attrs import define, field, frozen

from runtime import (
    BASH_FINISHED,
    Agent,
    BashFinished,
    CallerError,
    Context,
    Plugin,
    bash_tools_plugin,
)
from runtime.abort import AbortAuthority
from runtime.containment import attempt_awaited
from runtime.processes import ProcessSpec
from tests.unit.bash.fake import FakeProcess

if TYPE_CHECKING:
    import asyncio

__all__ = [
    "BrokenError",
    "Count",
    "Foreground",
    "Job",
    "contained",
    "never_started",
    "told_of",
    "witnessed",
]

_NOTICE: Final = re.compile(r"Background job (\S+) ")


class BrokenError(AssertionError):
    """A clause does not hold; the message tells what was done."""


@define
class Count:
    """How much was done in all the programs of a suite, and what came up."""

    programs: int = 0
    judged: int = 0
    """Instants between two callbacks that were judged."""
    allowed: int = 0
    """Reads and kills by somebody who may."""
    refused: int = 0
    """Reads and kills by somebody who may not."""
    refused_after_reload: int = 0
    without_tools: int = 0
    """Reads and kills while the tools were away."""
    told: int = 0
    """Ends of which a live owner was to be told."""
    told_to_another_agent: int = 0
    """Of those, the ones whose agent is not the one that started the job."""
    lost_in_the_gap: int = 0


@define(eq=False)
class Job:
    """One job, as it looks from outside."""

    id: str
    owner: str | None
    process: FakeProcess
    started_by: Agent | None
    life: int
    """Of the tools, when it started."""
    written: list[str] = field(factory=list)
    read: list[str] = field(factory=list)
    announced: int = 0
    may_be_signalled: bool = False
    is_forgotten: bool = False


@frozen(eq=False)
class Foreground:
    """One command that somebody waits for."""

    task: "asyncio.Task[object]"
    authority: AbortAuthority
    process: FakeProcess


def never_started() -> FakeProcess:
    """Return what stands for the process of a job that the system did not start."""
    spec = ProcessSpec(arguments=("never started",), workdir="/", environment={})
    unheard: Any = None
    process = FakeProcess(spec, unheard)
    process.has_exited = process.is_closed = process.is_gone = process.is_given_up = True
    return process


def told_of(texts: list[str]) -> list[str]:
    """Return the jobs that some notices are about."""
    return [found[1] for text in texts if (found := _NOTICE.match(text))]


def witnessed(loaded: Callable[[], None], told: Callable[[BashFinished], None]) -> Plugin[None]:
    """Return the plugin of the tools, with a witness in the same fiber behind it."""
    original = bash_tools_plugin()

    def apply(context: Context, config: None) -> None:
        original.apply(context, config)
        context.on(BASH_FINISHED, told)
        loaded()

    return Plugin(name=original.name, apply=apply, inject=original.inject)


async def contained(body: Any) -> object:  # noqa: ANN401  # a coroutine
    """Await a call and return what refused it, if anything did."""
    error = await attempt_awaited(body)
    if error is not None and not isinstance(error, CallerError):
        raise error
    return error
