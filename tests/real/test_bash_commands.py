"""Real shells: how commands end, what they read and write, and that nothing of them is left.

The groups that are ended here ignore the request, leave their shell, hold the pipes, redirect their
output or stop themselves. Nothing is asserted about time; what is, is who is left and in what order
things happened.
"""

import asyncio
import ctypes
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from runtime.abort import AbortAuthority
from runtime.bash import BashConfig, JobStatus, SpawnError
from runtime.limits import Limits

from .commands import Bash, needs_proc, play, zombies

pytestmark = [pytest.mark.real, needs_proc]

SLOW = Limits(kill_grace_s=10.0)
"""A grace that no test lives to see; what ends before it needed no kill."""


@pytest.fixture
def mark(request: pytest.FixtureRequest) -> str:
    """Give a mark that no other process has."""
    return f"{os.getpid()}-{request.node.name}"


NASTY = {
    "a shell": "sleep 600",
    "a shell that waits": "sleep 600; echo never",
    "a child": "sleep 600 & sleep 600; wait",
    "a pipeline": "sleep 600 | cat | cat",
    "grandchildren": "(sleep 600 & (sleep 600 & wait) & wait) & wait",
    "deaf": "trap '' TERM; sleep 600; sleep 600",
    "a deaf child": "(trap '' TERM; sleep 600; sleep 600) & wait",
    "a deaf child, redirected": "(trap '' TERM; exec >/dev/null 2>&1; sleep 600; sleep 600) & wait",
    "the shell exits on TERM, the child is deaf": (
        "(trap '' TERM; exec >/dev/null 2>&1 </dev/null; sleep 600; sleep 600) &"
        " trap 'exit 0' TERM; echo up; while :; do sleep 0.01; done"
    ),
    "stopped": "kill -STOP $$; echo never",
    "a fork twice": "( ( sleep 600 & ) & ) ; sleep 600",
    "busy": "while :; do :; done",
    "noisy": "yes",
}


@pytest.mark.clause("H-28", "H-30", "H-32")
@pytest.mark.case("CASE-098", "CASE-101")
@pytest.mark.parametrize("command", NASTY.values(), ids=NASTY)
def test_nothing_of_a_killed_group_is_left(command: str, mark: str) -> None:
    """When the job is over, and not only when the executor is."""

    async def body(bash: Bash) -> None:
        job = bash.start(f"echo ready; {command}")
        await bash.until(lambda: bash.executor.read(job.id).stdout.total_bytes > 0)
        assert bash.executor.kill(job.id)
        ended = await bash.ended(job)
        assert ended.status is not JobStatus.RUNNING
        assert bash.left() == []

    play(mark, body)


@pytest.mark.clause("H-28", "H-30", "H-43", "H-41")
@pytest.mark.case("CASE-098")
@pytest.mark.parametrize("path", ["timeout", "abort", "dispose", "session", "cancel"])
@pytest.mark.parametrize("command", ["a deaf child, redirected", "a fork twice"])
def test_nothing_is_left_on_any_path(path: str, command: str, mark: str, tmp_path: Path) -> None:
    """Timeout, abort, end of the executor, end of the session, a caller that is cancelled."""
    ready = tmp_path / "ready"
    text = f"echo > {ready}; {NASTY[command]}"

    async def body(bash: Bash) -> None:
        authority = AbortAuthority()
        if path == "session":
            bash.start(text, owner="s")
            await bash.until(ready.exists)
            await bash.executor.end_session("s")
            assert bash.left() == []
        elif path == "dispose":
            bash.start(text)
            foreground = asyncio.ensure_future(bash.run(text))
            await bash.until(ready.exists)
            # The block is left with both of them running.
            foreground.add_done_callback(lambda done: results.append(done.result()))
        else:
            timeout_s = 0.2 if path == "timeout" else 60
            run = asyncio.ensure_future(
                bash.run(text, timeout_s=timeout_s, signal=authority.signal)
            )
            # On a busy machine the time may be over before it was ready; that is as good.
            await bash.until(lambda: ready.exists() or run.done())
            if path == "abort":
                authority.fire("enough")
            elif path == "cancel":
                run.cancel()
                await asyncio.wait([run])
                return
            result = await run
            assert (result.is_timed_out, result.is_aborted) == (path == "timeout", path == "abort")
            assert bash.left() == []

    results: list[object] = []
    play(mark, body)
    assert len(results) == (path == "dispose")


@pytest.mark.clause("H-28")
@pytest.mark.case("CASE-101")
def test_the_kill_is_needed_for_the_deaf_and_for_nobody_else(mark: str) -> None:
    """Whoever obeys is gone long before its grace is over, by the signal that asked."""

    async def obeys(bash: Bash) -> str | None:
        job = bash.start("echo ready; sleep 600")
        await bash.hear(job, "ready\n")
        bash.executor.kill(job.id)
        return (await bash.ended(job)).signal

    async def deaf(bash: Bash) -> str | None:
        job = bash.start("trap '' TERM; echo ready; while :; do sleep 600; done")
        await bash.hear(job, "ready\n")
        bash.executor.kill(job.id)
        return (await bash.ended(job)).signal

    assert play(mark, obeys, SLOW) == "SIGTERM"
    assert play(mark, deaf) == "SIGKILL"


@pytest.mark.clause("H-33", "H-49")
@pytest.mark.case("CASE-100")
@pytest.mark.parametrize(
    "held",
    ["sleep 600 & echo done", "(while :; do echo noise; sleep 0.01; done) & echo done"],
    ids=["silent", "noisy"],
)
def test_a_pipe_that_is_held_open_holds_nobody(held: str, mark: str) -> None:
    """The shell has exited, so the command has; the output is complete and nothing is left."""

    async def body(bash: Bash) -> None:
        result = await bash.run(held)
        assert (result.exit_code, result.signal, result.is_timed_out) == (0, None, False)
        assert "done\n" in result.stdout.text
        assert bash.left() == []

    play(mark, body)


@pytest.mark.clause("H-33")
def test_output_that_comes_after_the_shell_is_waited_for(mark: str) -> None:
    """A process substitution, and a child that has one more line, within the grace."""

    async def body(bash: Bash) -> None:
        result = await bash.run("(read -t 0.1 <> <(:); echo late) & exec > >(cat); echo done")
        assert sorted(result.stdout.text.split()) == ["done", "late"]
        assert result.exit_code == 0

    play(mark, body, SLOW)


@pytest.mark.clause("H-33", "H-31")
def test_a_process_that_left_the_group_keeps_the_pipes_and_nobody(mark: str) -> None:
    """It is none of ours any more: it is not signalled, and not waited for."""

    async def body(bash: Bash) -> list[int]:
        result = await bash.run("setsid sleep 600 & echo done")
        assert (result.exit_code, result.stdout.text) == (0, "done\n")
        (escaped,) = bash.left()
        os.kill(escaped, signal.SIGKILL)
        await bash.until(lambda: not bash.left())
        return [escaped]

    assert play(mark, body)


@pytest.mark.clause("H-60", "H-15", "H-09")
@pytest.mark.case("CASE-109")
@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("exit 0", (JobStatus.COMPLETED, 0, None)),
        ("exit 3", (JobStatus.COMPLETED, 3, None)),
        ("kill -9 $$", (JobStatus.KILLED, None, "SIGKILL")),
        ("kill -SEGV $$", (JobStatus.KILLED, None, "SIGSEGV")),
        ("(kill -9 $BASHPID)", (JobStatus.COMPLETED, 137, None)),
        ("no-such-command-here", (JobStatus.COMPLETED, 127, None)),
    ],
)
def test_the_verdict_is_the_systems(command: str, expected: object, mark: str) -> None:
    """In the background and in the foreground alike."""

    async def body(bash: Bash) -> None:
        ended = await bash.ended(bash.start(command))
        assert (ended.status, ended.exit_code, ended.signal) == expected
        result = await bash.run(command)
        assert (result.exit_code, result.signal) == (ended.exit_code, ended.signal)

    play(mark, body)


@pytest.mark.clause("H-08")
def test_a_trap_decides_the_exit_code_and_not_the_rest(mark: str, tmp_path: Path) -> None:
    """It was aborted, and exited 0 by its own choice."""
    ready = tmp_path / "ready"
    authority = AbortAuthority()

    async def body(bash: Bash) -> None:
        text = f"trap 'echo bye; exit 0' TERM; echo > {ready}; sleep 600 & wait"
        run = asyncio.ensure_future(bash.run(text, signal=authority.signal))
        await bash.until(ready.exists)
        authority.fire("enough")
        result = await run
        assert (result.is_aborted, result.exit_code, result.signal) == (True, 0, None)
        assert result.stdout.text == "bye\n"

    play(mark, body, SLOW)


@pytest.mark.clause("H-46", "H-47")
def test_standard_input(mark: str) -> None:
    """The null device, or a pipe that is written and closed; nobody has to read it."""
    much = b"x" * 1_000_000

    async def body(bash: Bash) -> None:
        assert (await bash.run("test -c /dev/stdin")).exit_code == 0
        piped = await bash.run("test -p /dev/stdin && wc -c", stdin=much)
        assert piped.stdout.text.strip() == str(len(much))
        assert (await bash.run("cat", stdin=b"")).stdout.text == ""
        ignored = await bash.run("echo ok", stdin=much)
        assert (ignored.exit_code, ignored.stdout.text) == (0, "ok\n")
        closed = await bash.run("exec <&-; echo ok", stdin=much)
        assert (closed.exit_code, closed.stdout.text) == (0, "ok\n")

    play(mark, body)


@pytest.mark.clause("H-48")
def test_every_command_is_a_fresh_shell_with_a_group_of_its_own(mark: str) -> None:
    """Nothing that one sets is there in the next, and each leads its own session."""

    async def body(bash: Bash) -> None:
        await bash.run("cd /; export X=1; f() { :; }; umask 0")
        result = await bash.run('echo "${X-unset}"; pwd; type f; shopt -q login_shell || echo no')
        assert result.stdout.text.split() == ["unset", str(Path.cwd()), "no"]
        ids = (await bash.run("ps -o pid=,pgid=,sid= -p $$")).stdout.text.split()
        assert len(set(ids)) == 1
        assert ids[0] != str(os.getpgrp())

    play(mark, body)


@pytest.mark.clause("H-45")
def test_the_environment(mark: str) -> None:
    """Secrets stay here, what was asked for is there."""
    ambient = {"PATH": os.environ["PATH"], "MY_API_KEY": "1", "my_token": "2", "KEYBOARD": "3"}
    config = BashConfig(environment=ambient)

    async def body(bash: Bash) -> None:
        command = "env | grep -iE '^(my_|keyboard|x_token|term|no_color)' | sort"
        result = await bash.run(command, environment={"X_TOKEN": "t"})
        assert result.stdout.text.split() == ["NO_COLOR=1", "TERM=dumb", "X_TOKEN=t"]

    play(mark, body, config=config)


@pytest.mark.clause("H-07", "H-13")
@pytest.mark.case("CASE-112")
def test_what_the_system_refuses_to_start(mark: str, tmp_path: Path) -> None:
    """The message says what is wrong; a job ends with it, a run raises it."""
    file = tmp_path / "file"
    file.touch()

    async def body(bash: Bash) -> None:
        for fields, said in (
            ({"workdir": str(tmp_path / "none")}, "No such file or directory"),
            ({"workdir": str(file)}, "Not a directory"),
            ({"command": "x" * 3_000_000}, "a command of 3000000 bytes"),
        ):
            command = str(fields.pop("command", "true"))
            with pytest.raises(SpawnError, match=said):
                await bash.run(command, **fields)
            ended = await bash.ended(job := bash.start(command, **fields))
            assert (ended.status, ended.exit_code) == (JobStatus.KILLED, None)
            assert said in bash.executor.read(job.id).stderr.text

    async def no_shell(bash: Bash) -> None:
        with pytest.raises(SpawnError, match="shell 'no-such-shell': No such file or directory"):
            await bash.run("true")

    play(mark, body)
    play(mark, no_shell, config=BashConfig(program="no-such-shell"))


@pytest.mark.clause("H-07")
@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_a_forbidden_directory_is_refused(mark: str, tmp_path: Path) -> None:
    """The message names it."""
    closed = tmp_path / "closed"
    closed.mkdir(0o000)

    async def body(bash: Bash) -> None:
        with pytest.raises(SpawnError, match="Permission denied"):
            await bash.run("true", workdir=str(closed))

    play(mark, body)


@pytest.mark.clause("H-07")
def test_no_descriptor_left_is_an_error_and_no_process(
    mark: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The system ran out of something after the process was there: it is killed and reaped."""

    def refuse(_: int) -> int:
        raise OSError(24, "Too many open files")

    async def body(bash: Bash) -> None:
        with monkeypatch.context() as patch:
            patch.setattr(os, "pidfd_open", refuse)
            with pytest.raises(SpawnError, match="Too many open files"):
                await bash.run("sleep 600", stdin=b"x")
        assert (await bash.run("echo ok")).stdout.text == "ok\n"

    play(mark, body)


@pytest.mark.clause("H-28", "H-60")
def test_without_descriptors_for_processes_a_thread_waits(
    mark: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the system has none, everything is as it is elsewhere."""
    monkeypatch.delattr(os, "pidfd_open")

    async def body(bash: Bash) -> None:
        assert (await bash.run("echo ok; exit 3")).exit_code == 3
        job = bash.start("trap '' TERM; echo ready; sleep 600 & wait; sleep 600")
        await bash.hear(job, "ready\n")
        bash.executor.kill(job.id)
        assert (await bash.ended(job)).signal == "SIGKILL"
        assert bash.left() == []

    play(mark, body)


@pytest.fixture
def orphanage() -> Iterator[None]:
    """Let this process adopt orphans, as the first one of a container does, and neglect them."""
    become_subreaper = 36
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(become_subreaper, 1, 0, 0, 0) != 0:
        pytest.skip("this system has no other process adopt orphans")
    yield
    libc.prctl(become_subreaper, 0, 0, 0, 0)


def bury() -> int:
    """Reap every zombie and count them."""
    count = 0
    while zombies():
        os.waitpid(-1, 0)
        count += 1
    return count


@pytest.mark.clause("H-28", "H-49")
@pytest.mark.usefixtures("orphanage")
def test_the_dead_whom_nobody_buries_are_dead(mark: str) -> None:
    """They answer to a signal for ever, and are no reason to wait or to complain."""

    async def body(bash: Bash) -> None:
        job = bash.start("trap '' TERM; echo ready; sleep 600 & sleep 600; sleep 600")
        await bash.hear(job, "ready\n")
        bash.executor.kill(job.id)
        assert (await bash.ended(job)).signal == "SIGKILL"
        result = await bash.run("sleep 600 & echo done")
        assert result.is_group_gone
        assert bury()

    play(mark, body)
