"""The random suite of background jobs: whose they are, who is told, and what a reload changes.

Theory. As in the other suites: callbacks and acts are rules alike, so the order in which Hypothesis
draws them is the interleaving, and it shrinks. The processes are fake and do what the program
draws; the executor, the tools, the agents and the plugin context are the real ones. The oracles are
those of the world of jobs, after every callback and at rest.
"""

from typing import ClassVar, Final

from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)

from runtime import Agent
from tests.conformance.job_ledger import Count
from tests.conformance.job_world import JobWorld
from tests.conformance.programs import program_settings

__all__ = ["JobProgram", "bash_suite"]

_WHICH: Final = st.integers(0, 5)
_NAMES: Final = st.sampled_from(("a", "b", "c"))
_SESSIONS: Final = st.sampled_from(("s", "t"))
_CODES: Final = st.sampled_from((0, 3, -9))
_EVENTS: Final = st.sampled_from(("end", "end", "exit", "close", "vanish"))


class JobProgram(RuleBasedStateMachine):
    """What a program may do; a suite sets the class attributes."""

    count: ClassVar[Count] = Count()

    def __init__(self) -> None:
        super().__init__()
        self.world = JobWorld(self.count)

    def caller(self, which: int) -> Agent | None:
        """Return one of the live agents, or somebody who is none."""
        live = self.world.live()
        return live[which % (len(live) + 1)] if which % (len(live) + 1) < len(live) else None

    @initialize()
    def begin(self) -> None:
        """Begin with two sessions, and with a job of one of them."""
        self.world.open("a", "s")
        self.world.open("b", "t")
        self.world.start(self.world.agents[0], is_deaf=False)

    @rule(name=_NAMES, session=_SESSIONS)
    def open(self, name: str, session: str) -> None:
        """Make an agent on a session, if that is possible now."""
        self.world.open(name, session)

    @precondition(lambda self: self.world.live())
    @rule(which=_WHICH)
    def leave(self, which: int) -> None:
        """Dispose an agent."""
        live = self.world.live()
        self.world.leave(live[which % len(live)])

    @precondition(lambda self: self.world.live())
    @rule(which=_WHICH, cancels=st.booleans())
    def turn(self, which: int, cancels: bool) -> None:  # noqa: FBT001  # drawn
        """Send an agent something, or cancel what it does."""
        live = self.world.live()
        agent = live[which % len(live)]
        if cancels:
            self.world.cancel(agent)
        else:
            self.world.tell(f"{agent.id} is sent something")
            agent.send("hello")

    @precondition(lambda self: self.world.live())
    @rule(which=_WHICH, name=_NAMES)
    def hand_over(self, which: int, name: str) -> None:
        """Open the session of an agent with another one, maybe of the same name."""
        live = self.world.live()
        self.world.hand_over(live[which % len(live)], name)

    @rule(session=_SESSIONS)
    def end_session(self, session: str) -> None:
        """End a session that nobody has open."""
        self.world.end_session(session)

    @precondition(lambda self: len(self.world.jobs) < 8)
    @rule(which=_WHICH, is_deaf=st.booleans())
    def start(self, which: int, is_deaf: bool) -> None:  # noqa: FBT001  # drawn
        """Start a job with the tool."""
        self.world.start(self.caller(which), is_deaf=is_deaf)

    @precondition(lambda self: len(self.world.jobs) < 8)
    @rule(which=_WHICH)
    def start_what_the_system_refuses(self, which: int) -> None:
        """Start a job that is over before it began."""
        processes = self.world.shop.processes
        processes.refusal = lambda spec: FileNotFoundError(2, "none", spec.workdir)
        self.world.start(self.caller(which), is_deaf=False)
        processes.refusal = None

    @precondition(lambda self: len(self.world.jobs) < 8)
    @rule(token=st.sampled_from(("", "x")))
    def start_by_another_consumer(self, token: str) -> None:
        """Start a job with a token that no session has; the empty one is one."""
        self.world.start(None, is_deaf=False, token=token)

    @precondition(lambda self: self.world.live() and len(self.world.foreground) < 4)
    @rule(which=_WHICH)
    def run(self, which: int) -> None:
        """Run a command in the foreground."""
        live = self.world.live()
        self.world.run(live[which % len(live)])

    @precondition(lambda self: self.world.foreground)
    @rule(which=_WHICH, how=st.sampled_from(("abort", "cancel", "end")))
    def end_foreground(self, which: int, how: str) -> None:
        """End a foreground command: by its turn, by a stranger, by itself."""
        one = self.world.foreground[which % len(self.world.foreground)]
        self.world.tell(f"{how} a foreground command")
        if how == "abort":
            one.authority.fire("stop")
        elif how == "cancel":
            one.task.cancel()
        else:
            one.process.end(0)

    @precondition(lambda self: self.world.jobs)
    @rule(which=_WHICH)
    def write(self, which: int) -> None:
        """Let a job write something."""
        self.world.write(self.world.jobs[which % len(self.world.jobs)])

    @precondition(lambda self: self.world.jobs)
    @rule(which=_WHICH, what=_EVENTS, code=_CODES)
    def happen(self, which: int, what: str, code: int) -> None:
        """Let something become of a job."""
        self.world.happen(self.world.jobs[which % len(self.world.jobs)].process, what, code)

    @precondition(lambda self: self.world.jobs)
    @rule(who=_WHICH, which=_WHICH)
    def read(self, who: int, which: int) -> None:
        """Let anybody read any job."""
        self.world.read(self.caller(who), self.world.jobs[which % len(self.world.jobs)])

    @precondition(lambda self: self.world.jobs)
    @rule(who=_WHICH, which=_WHICH)
    def kill(self, who: int, which: int) -> None:
        """Let anybody kill any job."""
        self.world.kill(self.caller(who), self.world.jobs[which % len(self.world.jobs)])

    @precondition(lambda self: self.world.live() and self.world.jobs)
    @rule(which=_WHICH)
    def kill_own(self, which: int) -> None:
        """Let the owner of a job kill it, if there is one."""
        job = self.world.jobs[which % len(self.world.jobs)]
        for owner in self.world.owners_of(job):
            self.world.kill(owner, job)

    @precondition(lambda self: self.world.live() and self.world.jobs)
    @rule(which=_WHICH, other=_WHICH)
    def write_and_read(self, which: int, other: int) -> None:
        """Let a job write, and anybody and its owner read it."""
        job = self.world.jobs[which % len(self.world.jobs)]
        self.world.write(job)
        self.world.read(self.caller(other), job)
        for owner in self.world.owners_of(job):
            self.world.read(owner, job)

    @precondition(lambda self: self.world.life < 6)
    @rule()
    def reload_tools(self) -> None:
        """Reload the tools, whatever is going on."""
        self.world.reload_tools()

    @precondition(lambda self: self.world.life < 6 and self.world.jobs)
    @rule(which=_WHICH, n=st.integers(0, 4), code=_CODES)
    def reload_tools_meanwhile(self, which: int, n: int, code: int) -> None:
        """Reload the tools, and let a job end before, in or behind the gap."""
        self.world.reload_tools()
        self.world.stage.tick(n)
        self.world.happen(self.world.jobs[which % len(self.world.jobs)].process, "end", code)

    # It costs much and ends much, so there is one at most.
    @precondition(lambda self: self.world.executors < 1)
    @rule()
    def reload_executor(self) -> None:
        """Reload the executor, whatever is going on."""
        self.world.reload_executor()

    @rule(n=st.integers(1, 6))
    def tick(self, n: int) -> None:
        """Run a few callbacks."""
        self.world.tell(f"tick {self.world.stage.tick(n)}")

    @rule()
    def run_until_quiet(self) -> None:
        """Run every callback there is."""
        self.world.tell("run until quiet")
        self.world.stage.run_until_quiet()

    @precondition(lambda self: self.world.stage.loop.next_timer() is not None)
    @rule()
    def let_time_go_by(self) -> None:
        """Let the next timer run out."""
        self.world.tell("let time go by")
        self.world.stage.loop.fire_next_timer()

    def teardown(self) -> None:
        """Bring everything to rest and judge it, unless something is broken already."""
        world = self.world
        try:
            if world.broken is None:
                world.tell("the end")
                world.finish()
        finally:
            world.close()
            type(self).count.programs += 1


def bash_suite(
    *, examples: int | None = None, is_canary: bool = False, count: Count | None = None
) -> Count:
    """Run random programs, as many as the Hypothesis profile says, and return their count.

    Args:
        examples: how many programs, instead.
        is_canary: the programs are to find a planted fault: always the same ones, none shortened.
        count: where to count, for a caller that wants to know although a clause does not hold.

    Raises:
        BrokenError: a clause does not hold; the message tells the shortest program that was found.
    """
    count = Count() if count is None else count
    program = type("JobProgram", (JobProgram,), {"count": count})
    chosen = program_settings(examples=examples, steps=30, is_canary=is_canary)
    run_state_machine_as_test(program, settings=chosen)
    return count
