"""Jobs, their owners and a tool plugin that is reloaded; and what has to hold at every moment.

Theory. Each job is followed here from the moment it starts: whose it is, what it wrote, what of
that was handed out, and whether anybody had a right to have it ended. That is enough to judge every
answer of a tool and every signal that reaches a process, without looking into the executor. Who is
to be told of an end is asked at the moment at which it is announced: is the plugin there, and is
there a live agent on the session of the owner?
"""

import re
from typing import TYPE_CHECKING, Any, Final

from runtime import (
    BASH_FINISHED,
    Agent,
    BashExecRequest,
    BashFinished,
    FiberState,
    JobStatus,
    Status,
)
from runtime.abort import AbortAuthority
from runtime.bash import ExecutorClosedError, ForeignJobError
from runtime.containment import attempt, attempt_awaited
from runtime.errors import UnknownIdError
from runtime.session.content import freeze_json
from runtime.tools import Tool, ToolUse
from statemachine.conformance.stage.stage import Stage
from tests.conformance.job_ledger import (
    BrokenError,
    Count,
    Foreground,
    Job,
    contained,
    never_started,
    told_of,
    witnessed,
)
from tests.unit.bash.fake import FakeProcess
from tests.unit.bash.shop import Shop

if TYPE_CHECKING:
    import asyncio

__all__ = ["JobWorld"]

_WORD: Final = re.compile(r"w\d+;")


class JobWorld:
    """A runtime on a stage with jobs in it."""

    def __init__(self, count: Count, stage: Stage | None = None) -> None:
        """Open a runtime, on a stage of its own if none is given."""
        self.count = count
        self.life = 0
        """Of the tools."""
        self.executors = 0
        """How often the executor was reloaded."""
        self._owns_stage = stage is None
        self.stage = Stage() if stage is None else stage
        if self._owns_stage:
            self.stage.__enter__()
        self.shop = Shop(self.stage, plugin=witnessed(self.tools_loaded, self.tools_were_told))
        self.shop.__enter__()
        self.shop.rt.context.on(BASH_FINISHED, self._announced, prepend=True)
        self.bash = self.shop.bash
        self.jobs: list[Job] = []
        self.foreground: list[Foreground] = []
        self.calls: list[asyncio.Task[None]] = []
        self.agents: list[Agent] = []
        self.authorities: dict[Agent, list[AbortAuthority]] = {}
        self.expected: dict[Agent, list[str]] = {}
        self.story: list[str] = []
        self.broken: BrokenError | None = None
        self._words = 0
        self.stage.loop.monitor = self.judge

    def close(self) -> None:
        """Give everything back."""
        self.stage.loop.monitor = None
        if self._owns_stage:
            self.stage.__exit__(None, None, None)

    def tell(self, line: str) -> None:
        """Add to the story."""
        self.story.append(line)

    def hold(self, clause: str, holds: bool, what: str) -> None:  # noqa: FBT001  # what holds
        """Break off if a clause does not hold."""
        if not holds and self.broken is None:
            told = "\n  ".join(self.story)
            self.broken = BrokenError(f"{clause}: {what}\n  {told}")
        if self.broken is not None:
            raise self.broken

    # -- Agents and sessions -----------------------------------------------------------------------

    def open(self, name: str, session: str) -> None:
        """Make an agent, if neither name nor session is taken."""
        if attempt(lambda: self.agents.append(self.shop.agent(name, session))) is None:
            self.expected[self.agents[-1]] = []
            self.tell(f"{name} opens {session}")

    def hand_over(self, agent: Agent, name: str) -> None:
        """Dispose an agent, wait until it is gone, and open its session with another one."""
        self.leave(agent)
        self.stage.run_until_quiet()
        self.open(name, agent.session.header.id)

    def cancel(self, agent: Agent) -> None:
        """Cancel an agent, and with it the turns in which it started its jobs."""
        self.tell(f"{agent.id} is cancelled")
        agent.cancel()
        for authority in self.authorities.pop(agent, ()):
            authority.fire("cancelled")

    def leave(self, agent: Agent) -> None:
        """Dispose an agent, and do not wait."""
        self.tell(f"{agent.id} leaves")
        self.shop.handles[agent.id].dispose()

    def live(self) -> list[Agent]:
        """Return the agents that were not disposed."""
        return [agent for agent in self.agents if agent.status is not Status.DISPOSED]

    def owners_of(self, job: Job) -> list[Agent]:
        """Return the live agents that own a job: one at most."""
        return [agent for agent in self.live() if self._token(agent) == job.owner]

    def end_session(self, session: str) -> None:
        """End a session, if no agent is there any more: what the session store does."""
        if any(each.session.header.id == session for each in self.shop.rt.agents.list()):
            return
        self.tell(f"{session} ends")
        self._allow(session)
        self.spawn(self._end_session(session), f"end of {session}")

    async def _end_session(self, session: str) -> None:
        await self.bash.end_session(session)
        for job in self.jobs:
            if job.owner == session:
                job.is_forgotten = True
                self.hold("H-54", job.process.is_gone, f"{job.id} is gone with {session}")
        self.hold("H-54", self.bash.jobs_of(session) == (), f"no job of {session} is left")

    def _allow(self, session: str | None) -> None:
        for job in self.jobs:
            if job.owner == session:
                job.may_be_signalled = True

    # -- Commands ----------------------------------------------------------------------------------

    def start(self, caller: Agent | None, *, is_deaf: bool, token: str | None = None) -> None:
        """Start a job: with the tool, or by somebody else with a token of its own."""
        self.shop.processes.deaf_to = frozenset({15}) if is_deaf else frozenset()
        before, started = self.bash.list(), len(self.shop.processes.started)
        if token is None:
            arguments = {"command": "c", "description": "d", "run_in_background": True}
            authority = AbortAuthority()
            self._call("bash", caller, arguments, authority)
            if caller is not None:
                self.authorities.setdefault(caller, []).append(authority)
        else:
            request = BashExecRequest(command="c", owner=token)
            self.bash.start(self.bash.resolve(request))
        for task in self.bash.list()[len(before) :]:
            owner = token if token is not None else self._token(caller)
            is_there = len(self.shop.processes.started) > started
            process = self.shop.processes.last() if is_there else never_started()
            job = Job(task.id, owner, process, caller, self.life)
            self.jobs.append(job)
            self.hold("I-06", self.bash.owner_of(job.id) == owner, f"{job.id} is {owner}'s")
            self.tell(f"{_name(caller)} starts {job.id}{' (deaf)' if is_deaf else ''} for {owner}")

    def run(self, caller: Agent) -> None:
        """Run something in the foreground."""
        authority = AbortAuthority()
        before = len(self.shop.processes.started)
        task = self._call("bash", caller, {"command": "f", "description": "d"}, authority)
        self.stage.tick(1)
        if task is not None and len(self.shop.processes.started) > before:
            process = self.shop.processes.last()
            self.foreground.append(Foreground(task, authority, process))
            self.tell(f"{caller.id} runs in the foreground")

    def write(self, job: Job) -> None:
        """Let a job write a word that was never written before."""
        if job.process.is_given_up or job.process.is_closed:
            return
        self._words += 1
        job.written.append(f"w{self._words};")
        self.tell(f"{job.id} writes {job.written[-1]}")
        job.process.write(job.written[-1].encode())

    def happen(self, process: FakeProcess, what: str, code: int) -> None:
        """Let something become of a process."""
        self.tell(f"{process.text} {what} {code}")
        if what == "close":
            process.close_output()
        elif what == "exit":
            process.exit(code)
        elif what == "vanish" and process.has_exited:
            process.vanish()
        elif what == "end":
            process.end(code)

    # -- Reading and killing -----------------------------------------------------------------------

    def read(self, caller: Agent | None, job: Job) -> None:
        """Read a job with the tool."""
        tool = self._tool("bash_output", caller)
        if tool is None:
            return
        self.tell(f"{_name(caller)} reads {job.id}")
        answers: list[Any] = []
        use = self._use(caller)
        error = attempt(lambda: answers.append(tool.execute({"job_id": job.id}, use)))
        if self._judge_answer(caller, job, error):
            words = _WORD.findall(answers[0])
            unread = job.written[len(job.read) :]
            self.hold("H-16", words == unread, f"{words} was read of {job.id}, not {unread}")
            job.read.extend(words)

    def kill(self, caller: Agent | None, job: Job) -> None:
        """Kill a job with the tool."""
        if self._tool("bash_kill", caller) is None:
            return
        self.tell(f"{_name(caller)} kills {job.id}")
        job.may_be_signalled |= self._may(caller, job)
        self.spawn(self._kill(caller, job), f"kill of {job.id}")

    async def _kill(self, caller: Agent | None, job: Job) -> None:
        tool = self.shop.registry.get("bash_kill")
        if tool is None:
            return
        answer: Any = tool.execute({"job_id": job.id}, self._use(caller))
        error = await attempt_awaited(answer)
        if self._judge_answer(caller, job, error):
            self.hold("I-27", job.process.is_gone, f"{job.id} is gone when its kill answers")

    def _judge_answer(self, caller: Agent | None, job: Job, error: Exception | None) -> bool:
        """Judge who was refused what; return whether there is an answer."""
        gone = isinstance(error, UnknownIdError | ExecutorClosedError)
        may = self._may(caller, job)
        if gone:
            self.hold("H-53", job.is_forgotten or job.may_be_signalled, f"{job.id} is known")
            return False
        self.count.allowed += may
        self.count.refused += not may
        self.count.refused_after_reload += not may and self.life > job.life
        refused = isinstance(error, ForeignJobError)
        self.hold("I-08", refused is not may, f"{_name(caller)} and {job.id}: {error!r}")
        self.hold("I-08", error is None or refused, f"{job.id}: {error!r}")
        return error is None

    def _may(self, caller: Agent | None, job: Job) -> bool:
        return job.owner is None or (caller is not None and self._token(caller) == job.owner)

    def _token(self, caller: Agent | None) -> str | None:
        return None if caller is None else caller.session.header.id

    def _tool(self, name: str, caller: Agent | None) -> Tool | None:
        tool = self.shop.registry.get(name)
        self.count.without_tools += tool is None
        return tool if caller is not None or self.agents else None

    def _use(self, caller: Agent | None, authority: AbortAuthority | None = None) -> ToolUse:
        session = (caller or self.agents[0]).session
        return ToolUse(
            agent=caller,
            session=session,
            turn=1,
            step=1,
            call_id="k",
            name="bash",
            arguments=None,
            raw_arguments="",
            signal=(authority or AbortAuthority()).signal,
        )

    def _call(
        self,
        name: str,
        caller: Agent | None,
        arguments: dict[str, object],
        authority: AbortAuthority | None = None,
    ) -> "asyncio.Task[object] | None":
        tool = self._tool(name, caller)
        if tool is None:
            return None
        frozen_arguments = freeze_json(arguments, what="arguments")
        body: Any = tool.execute(frozen_arguments, self._use(caller, authority))
        if arguments.get("run_in_background"):
            # It waits for nothing, so it is done within the call, as if its turn had come.
            attempt(lambda: body.send(None))
            return None
        return self.stage.loop.create_task(contained(body), name=f"{name} of {_name(caller)}")

    def spawn(self, body: Any, name: str) -> None:  # noqa: ANN401  # a coroutine
        """Do something in a task that is judged at the end."""
        self.calls.append(self.stage.loop.create_task(body, name=name))

    # -- Plugins -----------------------------------------------------------------------------------

    def reload_tools(self) -> None:
        """Restart the plugin of the tools."""
        if self.shop.tools.state is not FiberState.DISPOSED:
            self.tell("reload the tools")
            attempt(self.shop.tools.restart)

    def reload_executor(self) -> None:
        """Restart the plugin of the executor; everything that runs goes with it."""
        self.tell("reload the executor")
        self.executors += 1
        for job in self.jobs:
            job.may_be_signalled = job.is_forgotten = True
        attempt(self.shop.executor.restart)
        self.stage.run_until_quiet()
        while self.shop.executor.state is not FiberState.ACTIVE:
            self.stage.loop.fire_next_timer()
            self.stage.run_until_quiet()
        self.bash = self.shop.bash
        for job in self.jobs:
            self.hold("H-41", job.process.is_gone, f"{job.id} is gone with the executor")
            self.hold("H-42", self.bash.owner_of(job.id) is None, f"{job.id} has no owner")

    # -- Judging -----------------------------------------------------------------------------------

    def tools_loaded(self) -> None:
        """Note that the tools begin a life."""
        self.life += 1

    def tools_were_told(self, notice: BashFinished) -> None:
        """Note what is owed: the plugin of the tools is there and was told of an end."""
        (job,) = (each for each in self.jobs if each.id == notice.task.id)
        for agent in self.owners_of(job):
            self.expected[agent].append(job.id)
            self.count.told += 1
            self.count.told_to_another_agent += agent is not job.started_by

    def _announced(self, notice: BashFinished) -> None:
        (job,) = (each for each in self.jobs if each.id == notice.task.id)
        job.announced += 1
        self.count.lost_in_the_gap += self.shop.registry.get("bash") is None
        self.hold("H-38", job.announced == 1, f"{job.id} is announced once")
        known = self.bash.get(job.id)
        self.hold("H-38", known == notice.task, f"{notice.task} is what is known, not {known}")

    def judge(self) -> None:
        """Judge everything that can be judged at any moment."""
        self.count.judged += 1
        for job in self.jobs:
            process = job.process
            signalled = bool(process.signals) and not process.has_exited
            self.hold("I-08", job.may_be_signalled or not signalled, f"{job.id} is left alone")
            task = self.bash.get(job.id)
            if task is not None and task.status is not JobStatus.RUNNING:
                self.hold("H-28", process.is_gone, f"{job.id} is over, so its group is gone")
        for agent, expected in self.expected.items():
            noticed = told_of(self.shop.notices(agent))
            extra = [each for each in noticed if noticed.count(each) > expected.count(each)]
            self.hold("I-15", not extra, f"{agent.id} was told of {extra} too often")

    def finish(self) -> None:
        """Bring everything to rest, judge it, and end the runtime."""
        self._rest()
        for agent, expected in self.expected.items():
            noticed = told_of(self.shop.notices(agent))
            self.hold("I-15", sorted(noticed) == sorted(expected), f"{agent.id}: {expected}")
        for job in self.jobs:
            task = self.bash.get(job.id)
            is_over = task is not None and task.status is not JobStatus.RUNNING
            self.hold(
                "H-38", job.announced == is_over or job.is_forgotten, f"{job.id} is announced"
            )
            job.may_be_signalled = True
        self.shop.__exit__(None, None, None)
        self._rest()
        for process in self.shop.processes.started:
            self.hold("H-41", process.is_gone, f"{process.text} is gone with the runtime")
        waiting = [task.get_name() for task in self.stage.loop.pending_tasks()]
        self.hold("H-43", not waiting, f"nobody waits: {waiting}")
        for call in self.calls:
            if not call.cancelled() and (error := call.exception()) is not None:
                raise error
        self.stage.loop.report_unretrieved()
        self.hold("H-39", not self.stage.loop.failures, f"{self.stage.loop.failures}")

    def _rest(self) -> None:
        self.stage.run_until_quiet()
        while self.stage.loop.fire_next_timer():
            self.stage.run_until_quiet()


def _name(caller: Agent | None) -> str:
    return "somebody" if caller is None else caller.id
