"""The executor on this machine: real processes, each command in a group of its own.

It owns every command from its start until the last process of its group is gone, and every job
from its start until its session, the executor or the bound on finished jobs ends it. Whose a job is
stands here and nowhere else, so it does not matter who is reloaded meanwhile.
"""

import asyncio
import errno
import hashlib
import os
import shutil
import signal
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from attrs import define, field

from runtime.errors import CallerError, LimitError, UnknownIdError
from runtime.limits import Limits
from runtime.ports import Identifiers, thread_id
from runtime.processes import Processes, ProcessSpec, Stream
from runtime.teardown import TeardownReport

from .command import Command, Stop
from .environment import command_environment
from .errors import CommandAbortedError, ExecutorClosedError, SpawnError
from .output import Output
from .resolving import BashConfig, resolve
from .seam import (
    BashExecRequest,
    BashExecSpec,
    BashFinished,
    BashRead,
    BashResult,
    BashTask,
    JobStatus,
)
from .spill import SpillFolder

__all__ = ["LocalBash"]

_INCARNATION_DIGITS: Final = 4


@define(eq=False, kw_only=True)
class _Job:
    id: str
    text: str
    owner: str | None
    command: Command

    def task(self) -> BashTask:
        command = self.command
        status = JobStatus.RUNNING
        if command.is_over:
            is_killed = command.exit_code is None
            status = JobStatus.KILLED if is_killed else JobStatus.COMPLETED
        return BashTask(
            id=self.id,
            command=self.text,
            status=status,
            exit_code=command.exit_code if command.is_over else None,
            signal=_signal_name(command.killed_by) if command.is_over else None,
        )


@define(eq=False, kw_only=True)
class LocalBash:
    """Runs commands on this machine; made by the plugin that provides `BASH`.

    Clauses: H-01 H-10 H-34 H-36 H-43 H-44
    """

    config: BashConfig
    limits: Limits
    processes: Processes
    announce: Callable[[BashFinished], object]
    """Tells the others that a job is over."""
    incarnation: str
    """Four hexadecimal digits that no other executor is likely to have."""
    _spills: SpillFolder = field(init=False)
    _jobs: dict[str, _Job] = field(factory=dict, init=False)
    _commands: set[Command] = field(factory=set, init=False)
    """Everything that is not over, foreground and background."""
    _finished: dict[_Job, None] = field(factory=dict, init=False)
    """Those of the jobs that are over, in the order in which that came."""
    _started: int = field(default=0, init=False)
    _is_closed: bool = field(default=False, init=False)
    _thread: int = field(factory=thread_id, init=False)

    def __attrs_post_init__(self) -> None:
        self._spills = SpillFolder(self.limits.spill_file_bytes_max, self.limits.spill_bytes_max)

    @staticmethod
    def new_incarnation(identifiers: Identifiers) -> str:
        """Return digits for an executor that begins now, so that no old id names a new job."""
        digest = hashlib.sha256(identifiers.new_id().encode()).hexdigest()
        return digest[:_INCARNATION_DIGITS]

    # -- Running -----------------------------------------------------------------------------------

    def resolve(self, request: BashExecRequest) -> BashExecSpec:
        """Apply defaults and bounds, once and for all.

        Raises:
            InvalidCommandError: something in it makes no sense.
        """
        return resolve(request, self.config, self.limits)

    async def run(self, spec: BashExecSpec) -> BashResult:
        """Run in the foreground: until the end, the timeout or the signal.

        Whoever is cancelled here has the command ended, but does not wait for its end.

        Raises:
            CommandAbortedError: the signal had fired already.
            SpawnError: the system did not start it.
            LimitError: too many commands run.
            ExecutorClosedError: the executor is gone.

        Clauses: H-07 H-08 H-09 H-37 H-43
        """
        self._admit(spec)
        self._started += 1
        command = self._command(f"run-{self._started}", self._commands.discard)
        try:
            command.start(self.processes, self._process(spec))
        except OSError as error:
            raise _spawn_error(error, spec) from error
        self._commands.add(command)
        timer = command.over.get_loop().call_later(spec.timeout_s, command.stop, Stop.TIMEOUT)
        forget = self._obey_signal(command, spec)
        try:
            await asyncio.shield(command.over)
        finally:
            timer.cancel()
            forget()
            if command.stop(Stop.ABORT):
                command.over.add_done_callback(lambda _: command.drop_output())
        return BashResult(
            exit_code=command.exit_code,
            signal=_signal_name(command.killed_by),
            is_timed_out=Stop.TIMEOUT in command.stops,
            is_aborted=bool(command.stops - {Stop.TIMEOUT}),
            timeout_s=spec.timeout_s,
            stdout=command.stdout.tail(),
            stderr=command.stderr.tail(),
            is_group_gone=command.is_group_gone,
        )

    def start(self, spec: BashExecSpec) -> BashTask:
        """Start a job and return it running; its timeout does not apply.

        What the system refuses to start is a job, too: it is over in the next pass of the loop.

        Raises:
            CommandAbortedError: the signal had fired already.
            LimitError: too many commands run.
            ExecutorClosedError: the executor is gone.

        Clauses: H-10 H-11 H-12 H-13 H-14
        """
        self._admit(spec)
        self._started += 1
        job_id = f"bash-{self.incarnation}-{self._started}"
        command = self._command(job_id, lambda _: self._job_over(job))
        job = _Job(id=job_id, text=spec.command, owner=spec.owner, command=command)
        try:
            command.start(self.processes, self._process(spec))
        except OSError as error:
            note = str(_spawn_error(error, spec))
            command.over.get_loop().call_soon(command.fail, note)
        self._jobs[job_id] = job
        self._commands.add(command)
        forget = self._obey_signal(command, spec)
        command.over.add_done_callback(lambda _: forget())
        return job.task()

    # -- Jobs --------------------------------------------------------------------------------------

    def get(self, job_id: str) -> BashTask | None:
        """Return a job, None if there is none of this id."""
        job = self._jobs.get(job_id)
        return None if job is None else job.task()

    def list(self) -> tuple[BashTask, ...]:
        """Return every job that is known, oldest first."""
        return tuple(job.task() for job in self._jobs.values())

    def read(self, job_id: str) -> BashRead:
        """Return what was written since the last read, whoever read it.

        Raises:
            UnknownIdError: there is no such job.
            ExecutorClosedError: the executor is gone.

        Clauses: H-16 H-17 H-24 H-25
        """
        job = self._job(job_id)
        stdout, stderr = job.command.stdout.read(), job.command.stderr.read()
        return BashRead(task=job.task(), stdout=stdout, stderr=stderr)

    def kill(self, job_id: str) -> bool:
        """Ask for a job's end; return whether this call did, which is false ever after.

        Raises:
            UnknownIdError: there is no such job.
            ExecutorClosedError: the executor is gone.

        Clauses: H-27 H-28 H-29
        """
        return self._job(job_id).command.stop(Stop.KILL)

    async def finished(self, job_id: str) -> BashTask:
        """Wait until a job is over and return it.

        Raises:
            UnknownIdError: there is no such job.
            ExecutorClosedError: the executor is gone.
        """
        job = self._job(job_id)
        await asyncio.shield(job.command.over)
        return job.task()

    def owner_of(self, job_id: str) -> str | None:
        """Return the token exactly as it was given; None for nobody, and for an unknown job.

        Clauses: H-34 H-36
        """
        job = self._jobs.get(job_id)
        return None if job is None else job.owner

    def jobs_of(self, owner: str) -> tuple[BashTask, ...]:
        """Return the jobs with exactly this token, oldest first."""
        return tuple(job.task() for job in self._jobs_with(owner))

    # -- The end -----------------------------------------------------------------------------------

    async def end_session(self, owner: str) -> tuple[BashTask, ...]:
        """Kill the jobs with exactly this token, wait for their end and forget them.

        Returns:
            The jobs as they ended; those that had finished before are forgotten, too.
        """
        ended: dict[str, BashTask] = {}
        while jobs := self._jobs_with(owner):
            for job in jobs:
                job.command.stop(Stop.KILL)
            await asyncio.wait([job.command.over for job in jobs])
            for job in jobs:
                ended[job.id] = job.task()
                self._forget(job)
        return tuple(ended.values())

    async def close(self) -> TeardownReport:
        """Kill every command, wait until its group is gone, and forget everything.

        Nobody is told of jobs that end this way. May be repeated; there is one end.

        Returns:
            A report that names the groups that the system did not remove in time.

        Clauses: H-41 H-42 H-43
        """
        self._is_closed = True
        commands = tuple(self._commands)
        for command in commands:
            command.stop(Stop.KILL)
        if commands:
            await asyncio.wait([command.over for command in commands])
        self._jobs.clear()
        self._finished.clear()
        self._spills.close()
        left = [command.name for command in commands if not command.is_group_gone]
        return TeardownReport(stragglers=tuple(f"process group of {name}" for name in left))

    # -- Parts -------------------------------------------------------------------------------------

    def _admit(self, spec: BashExecSpec) -> None:
        self._check_open()
        if spec.signal is not None and spec.signal.is_aborted:
            raise CommandAbortedError(
                f"command refused: it was aborted before it began: {spec.signal.reason}"
            )
        if len(self._commands) >= self.limits.commands_running_max:
            raise LimitError(
                f"command refused: as many run as commands_running_max={len(self._commands)} "
                "allows; kill some or wait"
            )

    def _check_open(self) -> None:
        if thread_id() != self._thread:
            raise CallerError(
                "command refused: the call came from another thread than the loop's; "
                "use loop.call_soon_threadsafe"
            )
        if self._is_closed:
            raise ExecutorClosedError("the executor was disposed; look the service up again")

    def _command(self, name: str, on_over: Callable[[Command], object]) -> Command:
        stdout, stderr = (
            Output(
                bytes_max=self.limits.output_bytes_max,
                spills=self._spills,
                name=f"{name}.{stream}",
            )
            for stream in Stream
        )
        over = asyncio.get_running_loop().create_future()
        return Command(
            name=name, limits=self.limits, stdout=stdout, stderr=stderr, on_over=on_over, over=over
        )

    def _process(self, spec: BashExecSpec) -> ProcessSpec:
        # What cannot be found is refused by the system, whose message says so.
        shell = shutil.which(self.config.program) or self.config.program
        ambient = os.environ if self.config.environment is None else self.config.environment
        return ProcessSpec(
            arguments=(shell, "-c", spec.command),
            workdir=spec.workdir,
            environment=command_environment(ambient, spec.environment),
            stdin=spec.stdin,
        )

    def _obey_signal(self, command: Command, spec: BashExecSpec) -> Callable[[], object]:
        """End the command when the signal fires; return how to stop listening."""

        def stop() -> None:
            command.stop(Stop.ABORT)

        forget = None if spec.signal is None else spec.signal.on_abort(stop)
        return forget if callable(forget) else lambda: None

    def _job_over(self, job: _Job) -> None:
        self._commands.discard(job.command)
        if self._is_closed:
            return
        self._finished[job] = None
        mine = [each for each in self._finished if each.owner == job.owner]
        for oldest in mine[: -self.limits.finished_jobs_max]:
            self._forget(oldest)
        self.announce(BashFinished(task=job.task()))

    def _jobs_with(self, owner: str | None) -> tuple[_Job, ...]:
        return tuple(job for job in self._jobs.values() if job.owner == owner)

    def _job(self, job_id: str) -> _Job:
        self._check_open()
        job = self._jobs.get(job_id)
        if job is None:
            raise UnknownIdError(
                f"job {job_id!r} is unknown: it was never started here, belongs to an earlier "
                "process, or finished so long ago that it was forgotten"
            )
        return job

    def _forget(self, job: _Job) -> None:
        self._jobs.pop(job.id, None)
        self._finished.pop(job, None)
        job.command.drop_output()


def _signal_name(number: int | None) -> str | None:
    if number is None:
        return None
    with suppress(ValueError):
        return signal.Signals(number).name
    return f"signal {number}"


def _spawn_error(error: OSError, spec: BashExecSpec) -> SpawnError:
    if error.filename == spec.workdir:
        what = f"working directory {spec.workdir!r}: {error.strerror}; give one that can be entered"
    elif error.errno == errno.E2BIG:
        what = (
            f"a command of {len(spec.command.encode(errors='surrogateescape'))} bytes, with its "
            "environment, is more than this system takes; put it into a file and run that"
        )
    elif error.filename is not None:
        what = f"shell {error.filename!r}: {error.strerror}; configure one that exists"
    else:
        what = error.strerror or str(error)
    return SpawnError(f"the command was not started: {what}")
