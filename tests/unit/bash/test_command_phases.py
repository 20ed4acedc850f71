"""The end of a command under every order of what may happen to it."""

import signal
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.bash.command import Command, Stop
from runtime.bash.output import Output
from runtime.bash.spill import SpillFolder
from runtime.limits import Limits
from runtime.processes import ProcessSpec
from statemachine.conformance.stage.stage import Stage

from .fake import FakeProcess, FakeProcesses

LIMITS: Final = Limits(kill_grace_s=1.0, kill_verify_s=2.0)
SPEC: Final = ProcessSpec(arguments=("c",), workdir="/", environment={})
EVERYTHING: Final = frozenset({signal.SIGTERM, signal.SIGKILL})

HAPPENINGS: Final = st.lists(
    st.sampled_from(("close", "exit", "vanish", "kill", "timeout", "abort", "time")), max_size=9
)


class Life:
    """One command, and what was seen of it."""

    def __init__(self, stage: Stage, kind: type[Command] = Command) -> None:
        self.stage = stage
        self.overs = 0
        self.began_s: float | None = None
        """When its end began: the exit of the shell, or the first request."""
        processes = FakeProcesses(deaf_to=EVERYTHING)
        stdout, stderr = (
            Output(bytes_max=10, spills=SpillFolder(1, 1), name=name) for name in ("o", "e")
        )
        self.command = kind(
            name="c",
            limits=LIMITS,
            stdout=stdout,
            stderr=stderr,
            on_over=self._count,
            over=stage.loop.create_future(),
        )
        self.command.start(processes, SPEC)
        self.process: FakeProcess = processes.last()

    def _count(self, _: Command) -> None:
        self.overs += 1
        self.over_s = self.stage.now

    def happen(self, what: str) -> None:
        """Let one thing happen, and judge it."""
        was_gone, before = self.process.is_gone, len(self.process.signals)
        was_over = self.command.is_over
        if what == "time":
            self.stage.loop.fire_next_timer()
            self.stage.run_until_quiet()
        elif what == "close":
            self.process.close_output()
        elif what == "exit":
            self._begin(is_news=not self.process.has_exited)
            self.process.exit(0)
        elif what == "vanish":
            if self.process.has_exited:
                self.process.vanish()
        else:
            self._begin(is_news=True)
            assert self.command.stop(Stop(what)) is False or not was_over
        sent = self.process.signals[before:]
        assert not (was_gone and sent), "nothing is signalled that is gone"
        assert not (was_over and sent), "nothing is signalled when it is over"

    def _begin(self, *, is_news: bool) -> None:
        if is_news and self.began_s is None and not self.command.is_over:
            self.began_s = self.stage.now

    def finish(self) -> None:
        """Let time go by until nothing is left to happen, and judge the end."""
        if self.began_s is None:
            assert not self.command.is_over
            assert self.process.signals == []
            self.happen("kill")
        while self.stage.loop.next_timer() is not None:
            self.happen("time")
        assert self.command.is_over
        assert self.command.over.done()
        assert self.process.is_given_up
        assert self.command.is_group_gone is self.process.is_gone
        kinds = self.process.signals
        assert kinds in ([], [15], [9], [15, 9])
        assert kinds[-1:] == [9] or self.process.is_gone, "what is left was killed"
        assert self.began_s is not None
        verdict = self.command.exit_code, self.command.killed_by
        was_over_s = self.over_s
        self.process.end(3)
        assert (self.command.exit_code, self.command.killed_by) == verdict
        assert (self.overs, self.over_s) == (1, was_over_s)
        assert self.over_s <= self.began_s + LIMITS.kill_grace_s + LIMITS.kill_verify_s


@pytest.mark.clause("H-28", "H-29", "H-31", "H-32", "H-33", "H-49", "H-59")
@given(happenings=HAPPENINGS)
def test_every_order_ends_within_its_bounds(happenings: list[str]) -> None:
    """It is over once, in time; what is left was asked first, and nothing gone is signalled."""
    with Stage() as stage:
        life = Life(stage)
        for each in happenings:
            life.happen(each)
        life.finish()


class _NeverKills(Command):
    """What forgets the second rung."""

    def _kill(self) -> None:
        self._settle()


class _SignalsTheGone(Command):
    """What does not look before it signals."""

    def _end_group(self) -> None:
        assert self._process is not None
        self._process.signals.append(signal.SIGTERM)  # type: ignore[attr-defined]  # a fake one
        super()._end_group()


class _IsOverTwice(Command):
    """What ends again when the group vanishes late."""

    def gone(self) -> None:
        self.is_group_gone = True
        self._settle()


@pytest.mark.parametrize("broken", [_NeverKills, _SignalsTheGone, _IsOverTwice])
def test_a_broken_command_is_found(broken: type[Command]) -> None:
    """Some order shows each of them."""

    @given(happenings=HAPPENINGS)
    def play(happenings: list[str]) -> None:
        with Stage() as stage:
            life = Life(stage, broken)
            for each in happenings:
                life.happen(each)
            life.finish()

    with pytest.raises((AssertionError, ExceptionGroup)):
        play()
