"""Real output: much of it, binary, in pieces, and none of it lost or said twice."""

import asyncio
import hashlib
import os
import tracemalloc
from pathlib import Path

import pytest

from runtime.bash import BashTask, StreamOutput
from runtime.limits import Limits

from .commands import Bash, needs_proc, play

pytestmark = [pytest.mark.real, needs_proc]

LARGE = Limits(kill_grace_s=0.05, output_bytes_max=64 * 1024 * 1024)
"""A memory in which everything has room."""


@pytest.fixture
def mark(request: pytest.FixtureRequest) -> str:
    """Give a mark that no other process has."""
    return f"{os.getpid()}-{request.node.name}"


async def read_all(bash: Bash, job: BashTask) -> list[str]:
    """Read a job again and again until it is over; return every piece."""
    pieces = []
    ended = asyncio.ensure_future(bash.ended(job))
    while not ended.done():
        pieces.append(bash.executor.read(job.id).stdout.text)
        await asyncio.sleep(0)
    pieces.append(bash.executor.read(job.id).stdout.text)
    return pieces


@pytest.mark.clause("H-16")
def test_a_hundred_thousand_lines_come_once_and_in_order(mark: str) -> None:
    """However the pieces are cut, and whoever reads meanwhile."""

    async def body(bash: Bash) -> None:
        pieces = await read_all(bash, bash.start("seq 100000"))
        assert "".join(pieces) == "".join(f"{n}\n" for n in range(1, 100_001))
        result = await bash.run("seq 100000")
        assert result.stdout.text == "".join(pieces)

    play(mark, body, LARGE)


@pytest.mark.clause("H-26", "H-16")
@pytest.mark.case("CASE-115", "CASE-113")
def test_characters_of_four_bytes_in_pieces_of_three(mark: str) -> None:
    """No piece holds a replaced character, and the last line has no end."""

    async def body(bash: Bash) -> None:
        command = "exec 2>/dev/null; yes 😀 | head -500 | tr -d '\\n' | dd bs=3; printf yes"
        pieces = await read_all(bash, bash.start(command))
        assert "".join(pieces) == "😀" * 500 + "yes"
        assert not any("\ufffd" in piece for piece in pieces)

    play(mark, body)


def bytes_of(output: StreamOutput) -> bytes:
    """Return what is in the file of a stream."""
    assert output.spill_path is not None
    return Path(output.spill_path).read_bytes()


@pytest.mark.clause("H-20", "H-21", "H-18")
def test_everything_is_in_the_file_and_the_end_in_memory(mark: str) -> None:
    """Binary output, byte for byte."""
    limits = Limits(kill_grace_s=0.05, output_bytes_max=1000)

    async def body(bash: Bash) -> None:
        result = await bash.run("head -c 3000000 /dev/urandom | tee >(sha256sum >&2)")
        data = bytes_of(result.stdout)
        assert len(data) == result.stdout.total_bytes == 3_000_000
        assert hashlib.sha256(data).hexdigest() == result.stderr.text.split()[0]
        assert result.stdout.is_lossy

    play(mark, body, limits)


@pytest.mark.clause("H-18", "H-23")
@pytest.mark.case("CASE-114")
def test_an_endless_writer_that_nobody_reads_takes_no_memory(mark: str) -> None:
    """Its pipe is drained all the time, the end is kept, and the loss is said in a field."""
    limits = Limits(kill_grace_s=0.05, output_bytes_max=10_000, spill_file_bytes_max=1_000_000)

    async def body(bash: Bash) -> None:
        job = bash.start("yes 0123456789")
        seen = bash.executor.read(job.id).stdout
        tracemalloc.start()
        while seen.total_bytes < 20_000_000:
            await asyncio.sleep(0)
            if bash.executor.get(job.id) is not None:
                seen = bash.executor.read(job.id).stdout
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 2_000_000
        assert seen.spill_path is None
        bash.executor.kill(job.id)
        await bash.ended(job)
        # Whatever came after the last read is the tail of the stream, whole or marked.
        last = bash.executor.read(job.id).stdout
        assert len(last.text) <= 10_000
        assert last.total_bytes >= seen.total_bytes

    play(mark, body, limits)


@pytest.mark.clause("H-19")
@pytest.mark.parametrize("more", [0, 1])
def test_exactly_at_the_bound(mark: str, more: int) -> None:
    """One byte decides about the file and the mark."""
    limits = Limits(kill_grace_s=0.05, output_bytes_max=5000)

    async def body(bash: Bash) -> None:
        result = await bash.run(f"head -c {5000 + more} /dev/zero | tr '\\0' x")
        assert result.stdout.text == "x" * 5000
        assert (result.stdout.is_lossy, result.stdout.spill_path is not None) == (more, more)

    play(mark, body, limits)
