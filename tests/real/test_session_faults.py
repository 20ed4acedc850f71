"""Real faults of a disk. Each is first shown to strike a plain write, and then a store."""

import errno
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from runtime.session.log import SessionLog
from runtime.session.places import backend_at
from runtime.session.records import Record

from .storing import NOBODY, Worker, fill_up, header_of, records_of

pytestmark = pytest.mark.real

STORES = ["s.db", "s.jsonl"]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Give a file system of half a megabyte, where one can be mounted."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", str(place)],
        capture_output=True,
        text=True,
        check=False,
    )
    if mounted.returncode:
        pytest.skip(f"NOT CHECKED: no small disk can be mounted here: {mounted.stderr.strip()}")
    try:
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=True)


@pytest.mark.clause("E-68", "E-15", "E-04")
@pytest.mark.parametrize("name", STORES)
def test_a_full_disk_loses_nothing_and_the_same_is_accepted_when_there_is_space(
    small_disk: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """What was acknowledged can be read while the disk is full."""
    plain = small_disk / "plain"
    with pytest.raises(OSError, match="No space left"):
        plain.write_bytes(b"x" * 1024 * 1024)
    plain.write_bytes(b"x" * 200 * 1024)
    backend = backend_at(small_disk / name)
    records = records_of("s", 200, size=2000)
    backend.acquire("s")
    backend.begin(header_of("s"), records[:3])
    stored = fill_up(backend, records)
    assert 3 < stored < len(records)
    assert "s' cannot be written" in (said := capsys.readouterr().out)
    assert "free some space" in said
    plain.unlink()
    backend.append("s", records[stored : stored + 3])
    assert backend.read("s").records == records[: stored + 3]
    backend.close()
    assert backend_at(small_disk / name).read("s").records == records[: stored + 3]


@pytest.mark.clause("E-68", "E-15")
@pytest.mark.parametrize("name", STORES)
def test_a_limit_of_file_size_stops_a_write_half_way_and_loses_nothing(
    tmp_path: Path, name: str
) -> None:
    """The kernel takes what fits: a short write, and then an error."""
    with Worker("limited", tmp_path / name, "s", 60_000) as worker:
        said = worker.end()
    assert said[0] == f"plain {os.strerror(errno.EFBIG)}"
    assert said[1].startswith("failed session 's' cannot be written: ")
    stored = int(said[2].removeprefix("stored "))
    records = records_of("s", 200, size=2000)
    assert backend_at(tmp_path / name).read("s").records == records[:stored]


@pytest.fixture
def shared() -> Iterator[Path]:
    """Give a directory that nobody can reach, even if this is root."""
    with TemporaryDirectory() as directory:
        Path(directory).chmod(0o755)
        yield Path(directory)


def give_away(root: Path, *, directories: int, files: int) -> None:
    """Make everything below somebody else's, if this is root, and set the modes."""
    for path in (*root.rglob("*"), root):
        if os.geteuid() == 0:
            os.chown(path, NOBODY, NOBODY)
        path.chmod(directories if path.is_dir() else files)


def stored_in(directory: Path, name: str) -> tuple[Record, ...]:
    """Store a session and return its records."""
    backend = backend_at(directory / name)
    backend.acquire("s")
    backend.begin(header_of("s"), records_of("s", 2))
    backend.close()
    return records_of("s", 2)


@pytest.mark.clause("E-67", "E-68")
@pytest.mark.parametrize("name", STORES)
def test_in_a_read_only_directory_sessions_can_be_read_and_not_written(
    shared: Path, name: str
) -> None:
    """Each refusal names the file and the reason, and nothing is left behind."""
    records = stored_in(shared, name)
    give_away(shared, directories=0o555, files=0o444)
    before = sorted(shared.rglob("*"))
    with Worker("unprivileged", shared / name, "s", shared) as worker:
        said = worker.end()
    denied = os.strerror(errno.EACCES)
    assert said[0] == f"plain {denied}"
    assert said[1] == "done None"
    assert said[2].startswith("done (StoredHeader(")
    assert said[3] == f"done {len(records)}"
    for line in said[4:]:
        assert line.startswith("failed session 's' cannot be locked: ")
        assert f"{denied}; give its owner the permission" in line
    assert sorted(shared.rglob("*")) == before
    give_away(shared, directories=0o755, files=0o644)


@pytest.mark.clause("E-25", "E-68")
@pytest.mark.parametrize("name", STORES)
def test_what_may_not_be_looked_into_is_not_an_empty_place(shared: Path, name: str) -> None:
    """Every question is an error, and names the place."""
    stored_in(shared, name)
    give_away(shared / name, directories=0o000, files=0o000)
    if name == "s.db":
        (shared / name).chmod(0o000)
    with Worker("unprivileged", shared / name, "s", shared) as worker:
        said = worker.end()
    assert said[0] == f"plain {os.strerror(errno.EACCES)}"
    for line in said[1:4]:
        assert line.startswith("failed session")
        assert name in line
        assert "permission" in line.lower()
    give_away(shared / name, directories=0o755, files=0o644)


class Backwards:
    """A clock that somebody sets back, again and again."""

    def __init__(self) -> None:
        self.time_ms = 10_000_000

    def now_ms(self) -> int:
        """Return an ever earlier time."""
        self.time_ms -= 1_000_000
        return self.time_ms


@pytest.mark.clause("E-60", "E-63", "D-01")
@pytest.mark.parametrize("name", STORES)
def test_a_clock_that_goes_backwards_changes_nothing_in_a_log(tmp_path: Path, name: str) -> None:
    """No record is older than the one before it, also over a resume; leases do not look at it."""
    clock = Backwards()
    assert clock.now_ms() > clock.now_ms()
    log = SessionLog(header_of("s"), clock=clock)
    log.append("turn/start", {"turn": 1, "trigger": {"kind": "message"}})
    log.append("turn/end", {"turn": 1, "ending": "completed"})
    backend = backend_at(tmp_path / name, clock=clock)
    backend.acquire("s")
    backend.begin(header_of("s"), log.events)
    stored = backend.read("s")
    again = SessionLog(stored.header, clock=clock, seed=stored.records)
    again.append("turn/start", {"turn": 2, "trigger": {"kind": "message"}})
    backend.append("s", again.events[2:])
    times = [each.time_ms for each in backend.read("s").records]
    assert times == sorted(times)
    backend.close()
