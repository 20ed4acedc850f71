"""The three tools with which a model runs commands, and who may touch whose job.

The policy is here and nothing else is: a job is its session's, the token is the id in the session's
header, and it is compared, not interpreted. Nothing is remembered here, so this plugin can be
reloaded at any time. A job that ends while it is away is not told of; nothing else is lost.
"""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import PurePath
from typing import Any, ClassVar, Final

from attrs import frozen

from runtime.application import AGENTS
from runtime.containment import attempt
from runtime.context import Context, Plugin
from runtime.errors import AgentDisposedError, CallerError
from runtime.registry import AgentRegistry
from runtime.session.content import FrozenObject
from runtime.tools import TOOLS, Tool, ToolErrorInfo, ToolResult, ToolUse

from .errors import InvalidCommandError
from .rendering import render_finished, render_killed, render_read, render_result
from .seam import (
    BASH,
    BASH_FINISHED,
    BashExecRequest,
    BashExecutor,
    BashFinished,
    JobStatus,
)

__all__ = ["ForeignJobError", "bash_tools_plugin"]

_NAME: Final = "bash-tools"


class ForeignJobError(CallerError):
    """The job belongs to another session; nothing of it was read or changed.

    Clauses: I-08
    """

    code: ClassVar[str] = "foreign-job"


def bash_tools_plugin() -> Plugin[None]:
    """Return the plugin that offers `bash`, `bash_output` and `bash_kill` and tells of jobs.

    Clauses: I-01 I-14
    """
    return Plugin(name=_NAME, apply=_apply, inject=(BASH, TOOLS))


def _apply(context: Context, _: None) -> None:
    bash = context.need(BASH)
    tools = context.need(TOOLS)
    bodies = _Bodies(bash)
    tools.register(context, _tool("bash", _RUN, bodies.run, _present_run))
    tools.register(context, _tool("bash_output", _READ, bodies.read, _present_job))
    tools.register(context, _tool("bash_kill", _KILL, bodies.kill, _present_job))
    context.on(BASH_FINISHED, partial(_tell_owner, context, bash))


# -- Bodies ----------------------------------------------------------------------------------------


@frozen
class _Bodies:
    bash: BashExecutor

    async def run(self, arguments: Mapping[str, Any], use: ToolUse) -> ToolResult:
        """Run a command, or start it as a job of the caller's session.

        Clauses: I-02 I-03 I-04 I-06 I-07 I-24 I-28
        """
        for name in ("command", "description"):
            if not arguments[name].strip():
                raise InvalidCommandError(f"{name} refused: it is blank; say something")
        is_job = arguments.get("run_in_background", False)
        spec = self.bash.resolve(
            BashExecRequest(
                command=arguments["command"],
                workdir=_workdir(arguments.get("workdir"), use),
                timeout_s=arguments.get("timeout_s"),
                # A job outlives the turn in which it was started, and whatever ends that turn.
                signal=None if is_job else use.signal,
                owner=_token(use),
            )
        )
        if is_job:
            task = self.bash.start(spec)
            return ToolResult(content=task.id, meta={"job_id": task.id})
        result = await self.bash.run(spec)
        aborted = ToolErrorInfo(name="CommandAborted", code="aborted")
        return ToolResult(
            content=render_result(result),
            is_error=result.is_aborted,
            error=aborted if result.is_aborted else None,
            meta={
                "exit_code": result.exit_code,
                "signal": result.signal,
                "is_timed_out": result.is_timed_out,
            },
        )

    def read(self, arguments: Mapping[str, Any], use: ToolUse) -> str:
        """Read what a job wrote since the last read.

        Clauses: I-08 I-09 I-10 I-11 I-12 I-25
        """
        self._check_access(arguments["job_id"], use)
        return render_read(self.bash.read(arguments["job_id"]))

    async def kill(self, arguments: Mapping[str, Any], use: ToolUse) -> str:
        """End a job and wait until nothing of it is left.

        Clauses: I-08 I-09 I-10 I-11 I-12 I-27
        """
        job_id = arguments["job_id"]
        self._check_access(job_id, use)
        before = self.bash.get(job_id)
        self.bash.kill(job_id)
        # Not what `kill` says: the job still runs when somebody has asked for its end already.
        was_running = before is not None and before.status is JobStatus.RUNNING
        return render_killed(await self.bash.finished(job_id), was_running=was_running)

    def _check_access(self, job_id: str, use: ToolUse) -> None:
        owner = self.bash.owner_of(job_id)
        # An empty token is an owner, too; only nobody's job is everybody's.
        if owner is not None and owner != _token(use):
            raise ForeignJobError(
                f"job {job_id} refused: it belongs to another session, which alone may read or "
                "kill it"
            )


def _token(use: ToolUse) -> str | None:
    return None if use.agent is None else use.session.header.id


def _workdir(wanted: str | None, use: ToolUse) -> str | None:
    home = use.session.header.cwd
    if wanted is None or home is None:
        return wanted or home
    return str(PurePath(home, wanted))


# -- Notices ---------------------------------------------------------------------------------------


def _tell_owner(context: Context, bash: BashExecutor, notice: BashFinished) -> None:
    """Put a line into the log of the live agent whose session owns the job, if there is one.

    Clauses: I-15 I-16 I-17 I-18 I-20
    """
    task = notice.task
    owner = bash.owner_of(task.id)
    # Called from the executor's fiber, for agents that this plugin does not depend on: a look-up.
    roster = context.get(AGENTS)
    if owner is None or roster is None:
        return
    source = {"kind": "plugin", "plugin": _NAME, "job_id": task.id}
    for agent in AgentRegistry(roster, context).list():
        if agent.session.header.id == owner:
            error = attempt(partial(agent.inject, render_finished(task), source=source))
            # It may be on its way out and still be listed; nobody is there to be told, then.
            if error is not None and not isinstance(error, AgentDisposedError):
                raise error


# -- Presentation ----------------------------------------------------------------------------------


def _present_run(arguments: Mapping[str, Any], meta: FrozenObject | None) -> dict[str, object]:
    """Show a foreground command as what a terminal shows, a job as a card.

    Clauses: I-05 I-29 I-30
    """
    if arguments.get("run_in_background", False):
        return {"kind": "card", "title": arguments["description"], "text": arguments["command"]}
    ended = {} if meta is None else {name: meta.get(name) for name in ("exit_code", "signal")}
    return {"kind": "terminal", "title": arguments["command"], **ended}


def _present_job(arguments: Mapping[str, Any], _: FrozenObject | None) -> dict[str, object]:
    return {"kind": "card", "title": arguments["job_id"]}


# -- What a model is told --------------------------------------------------------------------------

_RUN: Final = (
    "Run a command in a fresh bash shell and return what it writes and how it ends. Nothing "
    "carries over from one command to the next, and what a command leaves running in the "
    "background ends with it. With run_in_background it becomes a job: the answer is its id, it "
    "has no timeout and goes on when the turn ends; you are told when it has finished.",
    {
        "command": {"type": "string", "description": "What to run."},
        "description": {"type": "string", "description": "What it is for, in a few words."},
        "workdir": {
            "type": "string",
            "description": "Where to run it; relative to the directory of the session.",
        },
        "timeout_s": {
            "type": "number",
            "exclusiveMinimum": 0,
            "description": "Seconds until it is ended; not for a job.",
        },
        "run_in_background": {"type": "boolean", "description": "Start it as a job."},
    },
    ("command", "description"),
)
_JOB_ID: Final = {"job_id": {"type": "string", "minLength": 1, "description": "The id of the job."}}
_READ: Final = (
    "Return what a job has written since it was last read, and whether it still runs.",
    _JOB_ID,
    ("job_id",),
)
_KILL: Final = ("End a job, with everything that it started.", _JOB_ID, ("job_id",))


def _tool(
    name: str,
    words: tuple[str, Mapping[str, object], tuple[str, ...]],
    execute: Callable[[Any, ToolUse], object],
    present: Callable[[Any, FrozenObject | None], object],
) -> Tool:
    description, properties, required = words
    parameters = {"type": "object", "properties": properties, "required": list(required)}
    return Tool(
        name=name,
        description=description,
        parameters=parameters,
        execute=execute,
        present=present,
    )
