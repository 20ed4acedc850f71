"""Random programs of jobs, owners and reloads, as in the suite on the stage, but with real shells.

Fewer of them, one act after the other, and each act waits for what the system makes of it. A job
reads what it is to do from a pipe: it writes a word, exits, kills itself. The oracles are those of
the suite: who may, what is read, who is told, and that nothing is left.
"""

import asyncio
import os
import re
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Final

import pytest
from attrs import define, field
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from runtime import (
    BASH,
    Agent,
    BashExecRequest,
    BashExecutor,
    BashFinished,
    Fiber,
    JobStatus,
    Limits,
    Runtime,
    Status,
    bash_plugin,
    open_runtime,
)
from runtime.abort import AbortAuthority
from runtime.bash import ForeignJobError
from runtime.bash import tools as tools_module
from runtime.bash.output import Output
from runtime.bash.tools import _Bodies
from runtime.containment import attempt_awaited
from runtime.errors import UnknownIdError
from runtime.tools import TOOLS, ToolRegistry, ToolUse
from tests.conformance.job_ledger import told_of, witnessed

from .commands import MARK, descendants_of_mark, descriptors, needs_proc, zombies
from .talking import WITHIN_S

pytestmark = [pytest.mark.real, needs_proc]

LIMITS: Final = Limits(kill_grace_s=0.05)
SCRIPT: Final = """
while read -r line; do
  case "$line" in
    exit*) exit ${line#exit };;
    die) kill -9 $$;;
    *) echo "$line";;
  esac
done <> "$PIPE"
"""
DEAF: Final = "trap '' TERM; sleep 600 > /dev/null & "

_WHICH: Final = st.integers(0, 3)
_OPS: Final = st.one_of(
    st.tuples(st.just("start"), _WHICH, st.integers(0, 1)),
    st.tuples(st.sampled_from(("write", "write", "exit", "die")), _WHICH, st.just(0)),
    st.tuples(st.sampled_from(("read", "read", "kill")), _WHICH, _WHICH),
    st.tuples(st.sampled_from(("leave", "open", "end")), _WHICH, st.just(0)),
    st.tuples(st.just("reload"), st.just(0), st.integers(0, 1)),
)


@define(eq=False)
class Job:
    """One job and the pipe through which it is told what to do."""

    id: str
    owner: str
    pipe: int
    unread: list[str] = field(factory=list)
    is_told_to_end: bool = False


class Program:
    """A runtime with real shells, and what is known of its jobs."""

    def __init__(self, mark: str, folder: Path) -> None:
        self.mark = mark
        self.folder = folder
        self.registry: ToolRegistry
        self.jobs: list[Job] = []
        self.handles: dict[str, Any] = {}
        self.expected: dict[Agent, list[str]] = {}
        self.words = 0
        self.rt: Runtime
        self.tools: Fiber

    async def run(self, ops: list[tuple[str, int, int]]) -> None:
        """Do one act after the other, and judge the end."""
        async with AsyncExitStack() as stack:
            stack.callback(self._close)
            self.rt = await stack.enter_async_context(open_runtime(limits=LIMITS))
            root = self.rt.context
            registry = root.get(TOOLS)
            assert registry is not None
            self.registry = registry
            await root.plugin(bash_plugin(limits=LIMITS))
            self.tools = root.plugin(witnessed(lambda: None, self._told))
            await self.tools
            self._open(0)
            self._open(1)
            for name, which, other in [("start", 0, 0), *ops]:
                act: Callable[[int, int], Any] = getattr(self, f"do_{name}")
                await act(which, other)
            for agent, expected in self.expected.items():
                assert sorted(told_of(_notices(agent))) == sorted(expected)

    def _close(self) -> None:
        for job in self.jobs:
            os.close(job.pipe)

    @property
    def bash(self) -> BashExecutor:
        """The executor."""
        bash = self.rt.context.get(BASH)
        assert bash is not None
        return bash

    def _told(self, notice: BashFinished) -> None:
        owner = self.bash.owner_of(notice.task.id)
        for agent in self._live():
            if agent.session.header.id == owner:
                self.expected[agent].append(notice.task.id)

    def _live(self) -> list[Agent]:
        return [each for each in self.expected if each.status is not Status.DISPOSED]

    def _open(self, which: int) -> None:
        session = f"s{which % 2}"
        if session not in self.handles:
            handle = self.rt.agents.create(agent_id=f"a{len(self.expected)}", session_id=session)
            self.handles[session] = handle
            self.expected[handle.agent] = []

    async def do_open(self, which: int, _: int) -> None:  # as the others
        """Open a session, if it is not."""
        self._open(which)

    async def do_leave(self, which: int, _: int) -> None:
        """Dispose the agent on a session; its jobs go on."""
        handle = self.handles.pop(f"s{which % 2}", None)
        if handle is not None:
            await handle.dispose()

    async def do_end(self, which: int, _: int) -> None:
        """End a session that nobody has open, and with it its jobs."""
        session = f"s{which % 2}"
        if session not in self.handles:
            await self.bash.end_session(session)
            for job in [job for job in self.jobs if job.owner == session]:
                self.jobs.remove(job)
                os.close(job.pipe)

    async def do_start(self, which: int, is_deaf: int) -> None:  # as the others
        """Start a job for the session of an agent."""
        live = self._live()
        if live and len(self.jobs) < 4:
            owner = live[which % len(live)].session.header.id
            path = self.folder / f"pipe-{len(list(self.folder.iterdir()))}"
            os.mkfifo(path)
            environment = {MARK: self.mark, "PIPE": str(path)}
            command = f"{DEAF if is_deaf else ''}{SCRIPT}"
            request = BashExecRequest(command=command, environment=environment, owner=owner)
            task = self.bash.start(self.bash.resolve(request))
            self.jobs.append(Job(task.id, owner, os.open(path, os.O_RDWR)))

    async def do_write(self, which: int, _: int) -> None:  # as the others
        """Let a job write a word."""
        if self.jobs and not (job := self.jobs[which % len(self.jobs)]).is_told_to_end:
            self.words += 1
            job.unread.append(f"w{self.words};")
            os.write(job.pipe, f"w{self.words};\n".encode())

    async def do_exit(self, which: int, _: int) -> None:
        """Let a job exit with 3, and wait until it has."""
        await self._end(which, "exit 3", (JobStatus.COMPLETED, 3, None))

    async def do_die(self, which: int, _: int) -> None:
        """Let a job kill itself, and wait until it is gone."""
        await self._end(which, "die", (JobStatus.KILLED, None, "SIGKILL"))

    async def _end(self, which: int, line: str, expected: object) -> None:
        if not self.jobs or (job := self.jobs[which % len(self.jobs)]).is_told_to_end:
            return
        job.is_told_to_end = True
        os.write(job.pipe, f"{line}\n".encode())
        ended = await self.bash.finished(job.id)
        assert (ended.status, ended.exit_code, ended.signal) == expected

    async def do_read(self, which: int, other: int) -> None:
        """Let anybody read a job, until all that it wrote has come."""
        if not self.jobs:
            return
        job, caller = self.jobs[which % len(self.jobs)], self._caller(other)
        heard: list[str] = []
        while True:
            error = await attempt_awaited(self._use("bash_output", caller, job, heard))
            if not self._judge(caller, job, error):
                return
            words = re.findall(r"w\d+;", "".join(heard))
            assert words == job.unread[: len(words)]
            if words == job.unread:
                job.unread.clear()
                return
            await asyncio.wait((asyncio.get_running_loop().create_future(),), timeout=0.002)

    async def do_kill(self, which: int, other: int) -> None:
        """Let anybody kill a job; what the job wrote before may be read or not."""
        if not self.jobs:
            return
        job, caller = self.jobs[which % len(self.jobs)], self._caller(other)
        error = await attempt_awaited(self._use("bash_kill", caller, job, []))
        if self._judge(caller, job, error):
            job.is_told_to_end = True
            read = self.bash.read(job.id)
            assert (
                re.findall(r"w\d+;", read.stdout.text) == job.unread[: read.stdout.text.count(";")]
            )
            job.unread.clear()
            assert read.task.status is not JobStatus.RUNNING

    async def do_reload(self, _: int, other: int) -> None:
        """Reload the tools; maybe a job ends meanwhile."""
        restart = self.tools.restart()
        if other:
            await self.do_exit(0, 0)
        await restart

    def _caller(self, which: int) -> Agent | None:
        live = self._live()
        return live[which % len(live)] if which < 3 and live else None

    async def _use(self, name: str, caller: Agent | None, job: Job, answer: list[str]) -> None:
        tool = self.registry.get(name)
        assert tool is not None
        session = (caller or next(iter(self.expected))).session
        use = ToolUse(
            agent=caller,
            session=session,
            turn=1,
            step=1,
            call_id="k",
            name=name,
            arguments=None,
            raw_arguments="",
            signal=AbortAuthority().signal,
        )
        result: Any = tool.execute({"job_id": job.id}, use)
        answer.append(result if isinstance(result, str) else await result)

    def _judge(self, caller: Agent | None, job: Job, error: Exception | None) -> bool:
        may = caller is not None and caller.session.header.id == job.owner
        assert not isinstance(error, UnknownIdError)
        assert isinstance(error, ForeignJobError) is not may, error
        return error is None


def _notices(agent: Agent) -> list[str]:
    return [
        record.data["content"][0]["text"]
        for record in agent.session.events
        if record.type == "context/message"
    ]


def play_programs(folders: Callable[[], Path], *phases: Phase) -> None:
    """Play random programs; after each, nothing of it is left anywhere."""
    mark = f"programs-{os.getpid()}"

    @settings(
        max_examples=20,
        phases=phases,
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=[HealthCheck.too_slow],
    )
    @given(ops=st.lists(_OPS, max_size=12))
    def play(ops: list[tuple[str, int, int]]) -> None:
        before = descriptors()
        program = Program(mark, folders())
        asyncio.run(asyncio.wait_for(program.run(ops), WITHIN_S))
        assert descendants_of_mark(mark) == []
        assert zombies() == []
        assert descriptors() == before

    play()


@pytest.mark.clause("H-16", "H-41", "H-54", "H-60", "I-08", "I-13", "I-15", "I-16", "I-19", "I-31")
def test_programs_hold_with_real_shells(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Whoever starts, writes, reads, kills, leaves and is reloaded."""
    play_programs(lambda: tmp_path_factory.mktemp("pipes"), Phase.generate, Phase.shrink)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("owner", "name", "fault"),
    [
        (_Bodies, "_check_access", lambda *_: None),
        (Output, "read", Output.tail),
        (tools_module, "_tell_owner", lambda *_: None),
    ],
    ids=["nobody is refused", "reads begin anew", "nobody is told"],
)
def test_a_planted_fault_is_found(
    owner: object,
    name: str,
    fault: object,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """The programs are long enough to meet it."""
    monkeypatch.setattr(owner, name, fault)
    with pytest.raises((AssertionError, ExceptionGroup)):
        play_programs(lambda: tmp_path_factory.mktemp("pipes"), Phase.generate)
