"""What a model is told of commands: text, with markers on lines of their own at the end."""

from collections.abc import Iterable, Iterator

from .seam import BashRead, BashResult, BashTask, JobStatus, StreamOutput

__all__ = ["render_finished", "render_killed", "render_read", "render_result", "render_status"]


def render_result(result: BashResult) -> str:
    """Tell how a foreground command went.

    Clauses: I-21 I-22 I-23 I-26
    """
    body = _streams(result.stdout, result.stderr) or "(no output)"
    return _with_lines(body, (*_losses(result.stdout, result.stderr), *_markers(result)))


def render_read(read: BashRead) -> str:
    """Tell what a job wrote since the last read, and how far it is.

    Clauses: I-25 I-26
    """
    body = _streams(read.stdout, read.stderr) or "(no new output)"
    losses = _losses(read.stdout, read.stderr)
    return _with_lines(body, (*losses, f"[{render_status(read.task)}]"))


def render_killed(task: BashTask, *, was_running: bool) -> str:
    """Tell what became of a job that was to be killed.

    Clauses: I-27
    """
    if was_running:
        return f"Job {task.id} was ended: {render_status(task)}."
    return f"Job {task.id} had already finished: {render_status(task)}."


def render_finished(task: BashTask) -> str:
    """Tell the owner of a job that it is over.

    Clauses: I-15
    """
    return (
        f"Background job {task.id} has finished: {render_status(task)}. "
        "What it wrote can be read with bash_output."
    )


def render_status(task: BashTask) -> str:
    """Say how far a job is, or how it ended.

    Clauses: I-25 I-26
    """
    match task.status:
        case JobStatus.RUNNING:
            return "running"
        case JobStatus.COMPLETED:
            return f"completed with exit code {task.exit_code}"
        case JobStatus.KILLED:
            return "killed" if task.signal is None else f"killed by {task.signal}"


def _streams(stdout: StreamOutput, stderr: StreamOutput) -> str:
    if not stderr.text:
        return stdout.text
    return f"{_ended(stdout.text)}[stderr]\n{stderr.text}"


def _losses(stdout: StreamOutput, stderr: StreamOutput) -> Iterator[str]:
    for name, stream in (("stdout", stdout), ("stderr", stderr)):
        if stream.is_lossy or stream.spill_path is not None:
            shown = "only the end is shown" if stream.is_lossy else "in full"
            where = stream.spill_path or "unavailable"
            yield f"[{name}: {stream.total_bytes} bytes, {shown}; full output: {where}]"


def _markers(result: BashResult) -> Iterator[str]:
    if result.is_timed_out:
        yield f"[timed out after {result.timeout_s:g} s]"
    if result.is_aborted:
        yield "[aborted]"
    if result.signal is not None:
        yield f"[killed by {result.signal}]"
    elif result.exit_code is None:
        yield "[exit code unknown]"
    elif result.exit_code != 0:
        yield f"[exit code {result.exit_code}]"
    if not result.is_group_gone:
        yield "[some of its processes could not be ended]"


def _with_lines(body: str, lines: Iterable[str]) -> str:
    added = "\n".join(lines)
    return f"{_ended(body)}{added}" if added else body


def _ended(text: str) -> str:
    """Return the text with an end to its last line, if it has one that lacks it."""
    return f"{text}\n" if text and not text.endswith("\n") else text
