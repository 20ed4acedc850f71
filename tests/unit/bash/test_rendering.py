"""What a model and people are shown."""

from typing import Any

import pytest
from attrs import evolve

from runtime import BashRead, BashResult, BashTask, JobStatus, StreamOutput
from runtime.bash.rendering import render_finished, render_killed, render_read, render_result
from runtime.session.content import freeze_json

from .shop import Shop


def stream(text: str = "", **fields: Any) -> StreamOutput:  # noqa: ANN401  # of the value
    """Make the output of one stream."""
    plain: dict[str, Any] = {"text": text, "total_bytes": len(text), "is_lossy": False}
    return StreamOutput(**{**plain, **fields})


def result(stdout: str = "", stderr: str = "", **fields: Any) -> BashResult:  # noqa: ANN401  # of the value
    """Make the result of a command that exited 0."""
    plain: dict[str, Any] = {
        "exit_code": 0,
        "signal": None,
        "is_timed_out": False,
        "is_aborted": False,
        "timeout_s": 5.0,
        "stdout": stream(stdout),
        "stderr": stream(stderr),
    }
    return BashResult(**{**plain, **fields})


def task(status: JobStatus, exit_code: int | None = None, signal: str | None = None) -> BashTask:
    """Make a job."""
    return BashTask(id="j", command="c", status=status, exit_code=exit_code, signal=signal)


@pytest.mark.clause("I-21", "I-22")
@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (result(), "(no output)"),
        (result("out\n"), "out\n"),
        (result("out"), "out"),
        (result("", "err\n"), "[stderr]\nerr\n"),
        (result("out", "err"), "out\n[stderr]\nerr"),
        (result("out\n", "err"), "out\n[stderr]\nerr"),
        (result("out", exit_code=3), "out\n[exit code 3]"),
        (result(exit_code=3), "(no output)\n[exit code 3]"),
        (result(exit_code=None, signal="SIGKILL"), "(no output)\n[killed by SIGKILL]"),
    ],
)
def test_streams_and_markers(given: BashResult, expected: str) -> None:
    """Standard output comes first, markers stand alone at the end, exit code 0 has none."""
    assert render_result(given) == expected


@pytest.mark.clause("I-22", "I-26")
def test_the_order_of_markers() -> None:
    """The timeout, the abort, and then how the shell ended; unknown is not 0."""
    assert render_result(result(is_timed_out=True)) == "(no output)\n[timed out after 5 s]"
    everything = result(
        "x", is_timed_out=True, is_aborted=True, exit_code=None, is_group_gone=False
    )
    assert render_result(everything).splitlines() == [
        "x",
        "[timed out after 5 s]",
        "[aborted]",
        "[exit code unknown]",
        "[some of its processes could not be ended]",
    ]


@pytest.mark.clause("I-23")
def test_what_did_not_fit_is_said_for_each_stream() -> None:
    """With its size, and where all of it is, if anywhere."""
    given = evolve(
        result(),
        stdout=stream("tail", total_bytes=100, is_lossy=True, spill_path="/spill/out"),
        stderr=stream("end", total_bytes=200, is_lossy=True),
    )
    assert render_result(given).splitlines() == [
        "tail",
        "[stderr]",
        "end",
        "[stdout: 100 bytes, only the end is shown; full output: /spill/out]",
        "[stderr: 200 bytes, only the end is shown; full output: unavailable]",
    ]


@pytest.mark.clause("I-25", "I-26", "H-25")
@pytest.mark.parametrize(
    ("given", "stdout", "expected"),
    [
        (task(JobStatus.RUNNING), stream(), "(no new output)\n[running]"),
        (task(JobStatus.RUNNING), stream("a\n"), "a\n[running]"),
        (task(JobStatus.COMPLETED, 0), stream("a"), "a\n[completed with exit code 0]"),
        (task(JobStatus.KILLED, None, "SIGTERM"), stream("a"), "a\n[killed by SIGTERM]"),
        (task(JobStatus.KILLED), stream(), "(no new output)\n[killed]"),
        (
            task(JobStatus.RUNNING),
            stream("a", total_bytes=9, spill_path="/s"),
            "a\n[stdout: 9 bytes, in full; full output: /s]\n[running]",
        ),
    ],
)
def test_reads(given: BashTask, stdout: StreamOutput, expected: str) -> None:
    """What is new, what did not fit, and how far the job is."""
    assert render_read(BashRead(task=given, stdout=stdout, stderr=stream())) == expected


@pytest.mark.clause("I-27", "I-15", "I-26")
def test_ends() -> None:
    """A kill and a notice say how the job ended, and never 0 for a death by signal."""
    killed = task(JobStatus.KILLED, None, "SIGKILL")
    assert render_killed(killed, was_running=True) == "Job j was ended: killed by SIGKILL."
    assert "had already finished" in render_killed(killed, was_running=False)
    assert "exit code 0" not in render_finished(killed)
    assert "j" in render_finished(killed)


@pytest.mark.clause("I-28", "I-24", "I-30")
def test_results_of_calls(shop: Shop) -> None:
    """A start answers with the id and nothing else; an exit code is data, and no error."""
    a = shop.agent("a")
    start = shop.use(a, "bash", command="c", description="d", run_in_background=True)
    (job,) = shop.bash.list()
    assert start.text == job.id
    call = shop.use(a, "bash", command="c", description="d", timeout_s=2)
    shop.processes.last().write(b"out")
    shop.processes.last().end(3)
    result_of_call = call.result()
    assert call.text == "out\n[exit code 3]"
    assert not result_of_call.is_error
    assert result_of_call.meta == {"exit_code": 3, "signal": None, "is_timed_out": False}


@pytest.mark.clause("I-24", "I-22")
def test_a_timeout_is_a_result(shop: Shop) -> None:
    """It is said first, and is no error."""
    call = shop.use(shop.agent("a"), "bash", command="c", description="d", timeout_s=2)
    assert not call.is_done
    assert call.text == "(no output)\n[timed out after 2 s]\n[killed by SIGTERM]"
    assert not call.result().is_error


@pytest.mark.clause("I-29", "I-05")
@pytest.mark.parametrize(
    ("name", "arguments", "meta", "expected"),
    [
        (
            "bash",
            {"command": "ls", "description": "look"},
            {"exit_code": 3, "signal": None, "is_timed_out": False},
            {"kind": "terminal", "title": "ls", "exit_code": 3, "signal": None},
        ),
        (
            "bash",
            {"command": "ls", "description": "look"},
            None,
            {"kind": "terminal", "title": "ls"},
        ),
        (
            "bash",
            {"command": "ls", "description": "look"},
            {},
            {"kind": "terminal", "title": "ls", "exit_code": None, "signal": None},
        ),
        (
            "bash",
            {"command": "ls", "description": "look", "run_in_background": True},
            None,
            {"kind": "card", "title": "look", "text": "ls"},
        ),
        ("bash_output", {"job_id": "j"}, None, {"kind": "card", "title": "j"}),
        ("bash_kill", {"job_id": "j"}, None, {"kind": "card", "title": "j"}),
        ("bash", {"cmd": "ls"}, None, None),
        ("bash_output", [], None, None),
        ("bash_kill", None, None, None),
    ],
)
def test_presentations(
    shop: Shop, name: str, arguments: object, meta: object, expected: object
) -> None:
    """A terminal for what runs in front, a card for the rest, nothing for what does not fit."""
    given = freeze_json(arguments, what="arguments")
    kept = None if meta is None else freeze_json(meta, what="meta")
    assert shop.registry.presentation(name, given, kept) == expected
