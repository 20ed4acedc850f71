"""JSON Lines: what stands in the files, what a crash or a full disk leaves, and what is refused."""

import errno
import json
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from runtime.errors import (
    DamagedSessionError,
    DuplicateIdError,
    InvalidRecordError,
    LimitError,
    StorageError,
    UnknownIdError,
)
from runtime.limits import Limits
from runtime.session.disk import Disk
from runtime.session.folder import HEADER_BYTES_MAX
from runtime.session.jsonl import JsonLinesBackend
from runtime.session.log import SessionHeader

from .recorded import StillClock, contents, descriptors, recorded, store

FILE = "no-cwd/s.jsonl"
HEADER, RECORDS = recorded(turns=3)


def backend_in(root: Path, disk: Disk | None = None) -> JsonLinesBackend:
    """Return an open backend."""
    backend = JsonLinesBackend(root, disk=disk)
    backend.open()
    return backend


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    """Give a directory with a session of six records, two turns."""
    store(backend_in(tmp_path), HEADER, RECORDS[:6])
    return tmp_path


def lines_of(root: Path, name: str = FILE) -> list[bytes]:
    """Return the lines of a file, with their ends."""
    return (root / name).read_bytes().splitlines(keepends=True)


# ------------------------------------------------------------------------------- what is in a file


@pytest.mark.clause("E-11", "E-63")
def test_a_session_is_a_file_of_lines(stored: Path) -> None:
    """The header first, then one record a line, for any reader of JSON."""
    assert set(contents(stored)) == {"no-cwd", FILE}
    header, *records = map(json.loads, lines_of(stored))
    assert (header["type"], header["id"], header["format_version"]) == ("session", "s", 0)
    assert [each["seq"] for each in records] == [0, 1, 2, 3, 4, 5]
    assert records[1]["data"]["content"] == [{"type": "text", "text": "hello 1"}]


@pytest.mark.clause("E-02", "E-06")
def test_nothing_is_made_before_there_is_something_to_store(tmp_path: Path) -> None:
    """Neither by opening, nor by asking, nor by an empty batch."""
    root = tmp_path / "new"
    backend = backend_in(root)
    assert backend.headers() == ()
    assert backend.problems() == ()
    backend.append("s", ())
    with pytest.raises(UnknownIdError, match=r"'s' is not in .*sessions list"):
        backend.read("s")
    assert contents(tmp_path) == {}


@pytest.mark.clause("E-27")
def test_files_are_grouped_by_working_directory_and_for_the_owner_only(tmp_path: Path) -> None:
    """Whatever the mask of the process says."""
    root = tmp_path / "deep" / "root"
    before = os.umask(0)
    try:
        backend = backend_in(root)
        for session_id, cwd in (("a", "/tmp/x"), ("b", "/"), ("c", None), ("d", "/no-cwd")):  # noqa: S108 - a name
            store(backend, *recorded(session_id, cwd=cwd))
    finally:
        os.umask(before)
    files = ["%2f/b", "%2fno-cwd/d", "%2ftmp%2fx/a", "no-cwd/c"]
    assert [name for name, text in contents(root).items() if text] == [f"{x}.jsonl" for x in files]
    for path in (root.parent, root, *root.rglob("*")):
        expected = 0o700 if path.is_dir() else 0o600
        assert path.stat().st_mode & 0o777 == expected, path


@pytest.mark.clause("E-27")
def test_a_directory_that_exists_keeps_its_mode(tmp_path: Path) -> None:
    """Somebody chose it."""
    root = tmp_path / "root"
    root.mkdir(0o755)
    store(backend_in(root), HEADER, RECORDS)
    assert root.stat().st_mode & 0o777 == 0o755


@pytest.mark.clause("E-29")
def test_a_relative_path_is_resolved_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A later change of the working directory does not move the sessions."""
    monkeypatch.chdir(tmp_path)
    backend = JsonLinesBackend("root")
    (tmp_path / "else").mkdir()
    monkeypatch.chdir("else")
    backend.open()
    store(backend, HEADER, RECORDS)
    assert f"root/{FILE}" in contents(tmp_path)
    assert backend.name == "json lines root"


@pytest.mark.clause("E-26")
def test_hostile_ids_stay_below_the_root(tmp_path: Path) -> None:
    """And are found again."""
    root = tmp_path / "root"
    backend = backend_in(root)
    ids = ("", ".", "..", "../../x", "/etc/passwd", "x" * 10_000, "\x00", "a\nb", "A", "a")
    for session_id in ids:
        store(backend, *recorded(session_id))
    assert set(contents(tmp_path)) - {f"root/{name}" for name in contents(root)} == {"root"}
    assert {each.header.id for each in backend.headers()} == set(ids)
    assert all(backend.read(each).header.id == each for each in ids)
    assert backend.problems() == ()


# ------------------------------------------------------------------------------------------ reading


@pytest.mark.clause("E-67")
def test_looking_changes_no_byte_and_leaves_no_file(stored: Path) -> None:
    """Also with a torn tail, and while somebody writes."""
    with (stored / FILE).open("ab") as file:
        file.write(b'{"seq":6,')
    before = contents(stored)
    backend = backend_in(stored)
    assert backend.read("s").torn == f"torn tail at byte {len(before[FILE] or b'') - 9}: " + (
        "it is not a line of JSON"
    )
    assert len(backend.headers()) == 1
    assert backend.glance("s") is not None
    assert backend.problems() == ()
    backend.close()
    assert contents(stored) == before


@pytest.mark.clause("E-18")
@pytest.mark.parametrize("cut", range(1, 60))
def test_whatever_of_the_last_write_is_missing_is_cut_and_nothing_else(
    tmp_path: Path, cut: int
) -> None:
    """Bytes of the end are taken away, one after the other."""
    store(backend_in(tmp_path), HEADER, RECORDS[:8])
    whole = (tmp_path / FILE).read_bytes()
    (tmp_path / FILE).write_bytes(whole[:-cut])
    backend = backend_in(tmp_path)
    backend.acquire("s")
    found = backend.read("s")
    backend.cut("s")
    # Without its end alone, the line is whole.
    assert found.records == RECORDS[: 8 if cut == 1 else 7]
    assert (found.torn is None) == (cut == 1)
    assert whole.startswith((tmp_path / FILE).read_bytes())
    backend.append("s", RECORDS[len(found.records) :])
    assert backend.read("s").records == RECORDS
    backend.close()
    assert (tmp_path / FILE).read_bytes().startswith(whole)


@pytest.mark.clause("E-69")
def test_a_whole_line_without_its_end_is_kept_and_the_next_begins_a_line(stored: Path) -> None:
    """It is not welded to what comes next, and there is no torn tail to report."""
    whole = (stored / FILE).read_bytes()
    (stored / FILE).write_bytes(whole[:-1])
    backend = backend_in(stored)
    backend.acquire("s")
    backend.append("s", RECORDS[6:])
    assert backend.read("s").records == RECORDS
    assert (stored / FILE).read_bytes().startswith(whole)


@pytest.mark.clause("E-18")
def test_an_append_behind_a_torn_tail_is_refused(stored: Path) -> None:
    """It would be welded to it; the owner cuts first."""
    with (stored / FILE).open("ab") as file:
        file.write(b'{"seq":6,')
    before = contents(stored)
    backend = backend_in(stored)
    backend.acquire("s")
    with pytest.raises(StorageError, match=r"s\.jsonl has a torn tail at byte \d+; cut it first"):
        backend.append("s", RECORDS[6:])
    assert (stored / FILE).read_bytes() == before[FILE]
    backend.cut("s")
    backend.append("s", RECORDS[6:])
    assert backend.read("s").records == RECORDS


@pytest.mark.clause("E-19")
@pytest.mark.parametrize("at", range(1, 7))
def test_a_bad_line_in_the_middle_is_refused_with_its_byte(stored: Path, at: int) -> None:
    """The file stays as it is, and so does a file that somebody wants to append to."""
    lines = lines_of(stored)
    place = len(b"".join(lines[:at]))
    lines[at] = lines[at].replace(b'"data"', b'"date"') if at == 6 else b"?\n"
    (stored / FILE).write_bytes(b"".join(lines))
    before = contents(stored)
    backend = backend_in(stored)
    backend.acquire("s")
    for act in (lambda: backend.read("s"), lambda: backend.append("s", RECORDS[6:])):
        with pytest.raises(DamagedSessionError, match=rf"s\.jsonl\) is damaged at byte {place}"):
            act()
    backend.close()
    assert contents(stored) == before


@pytest.mark.clause("E-21", "E-24", "D-32")
@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"", "it is empty"),
        (b"\n", "not JSON"),
        (b"# a note\n", "not JSON"),
        (b"{}\n", "not the header of a session"),
        (b'{"type":"session","format_version":3}\n', "format version 3"),
    ],
)
def test_a_file_that_is_no_session_is_refused_and_not_listed(
    stored: Path, text: bytes, said: str
) -> None:
    """It does not keep the others from being listed, and it stays as it is."""
    (stored / "no-cwd" / "t.jsonl").write_bytes(text)
    (stored / "no-cwd" / "notes.txt").write_text("mine", encoding="utf-8")
    (stored / "notes.txt").write_text("mine", encoding="utf-8")
    before = contents(stored)
    backend = backend_in(stored)
    with pytest.raises(DamagedSessionError, match=rf"t\.jsonl\) cannot be read: .*{said}"):
        backend.read("t")
    assert [each.header.id for each in backend.headers()] == ["s"]
    (problem,) = backend.problems()
    assert said in problem
    assert "t.jsonl" in problem
    assert contents(stored) == before


@pytest.mark.clause("E-78")
def test_two_files_with_swapped_names_are_refused(stored: Path) -> None:
    """A log for one must never go on in the file of the other."""
    store(backend_in(stored), *recorded("t"))
    one, other = stored / FILE, stored / "no-cwd" / "t.jsonl"
    first, second = one.read_bytes(), other.read_bytes()
    one.write_bytes(second)
    other.write_bytes(first)
    before = contents(stored)
    backend = backend_in(stored)
    backend.acquire("s")
    for act in (
        lambda: backend.read("s"),
        lambda: backend.cut("s"),
        lambda: backend.append("s", RECORDS[6:]),
    ):
        with pytest.raises(DamagedSessionError, match="it holds session 't', which is not what"):
            act()
    assert backend.headers() == ()
    assert len(backend.problems()) == 2
    backend.close()
    assert contents(stored) == before


@pytest.mark.clause("E-78", "E-09")
def test_a_session_that_is_kept_twice_is_refused(stored: Path) -> None:
    """With both places; nobody guesses which is the right one."""
    (stored / "%2ftmp").mkdir()
    (stored / "%2ftmp" / "s.jsonl").write_bytes((stored / FILE).read_bytes())
    backend = backend_in(stored)
    with pytest.raises(DamagedSessionError, match=r"kept twice, in .*%2ftmp.* and .*no-cwd"):
        backend.read("s")
    assert len(backend.problems()) == 1


@pytest.mark.clause("E-65")
@pytest.mark.parametrize("is_ended", [True, False])
def test_a_line_beyond_the_limit_is_refused_with_its_byte(stored: Path, *, is_ended: bool) -> None:
    """By the name of the limit, wherever it stands, and without reading it whole."""
    place = (stored / FILE).stat().st_size
    with (stored / FILE).open("ab") as file:
        file.truncate(place + 100_000_000)
        file.seek(0, os.SEEK_END)
        file.write(b"\n" if is_ended else b"")
    backend = JsonLinesBackend(stored, limits=Limits(record_bytes_max=1024 * 1024))
    with pytest.raises(LimitError, match=f"at byte {place}: .*longer than .*record_bytes_max"):
        backend.read("s")
    assert len(backend.headers()) == 1


@pytest.mark.clause("E-24")
def test_a_long_header_is_listed(tmp_path: Path) -> None:
    """Longer than anything that is read at once; one that nobody could read back is refused."""
    backend = backend_in(tmp_path)
    long = "/" + "d" * 200_000
    header = SessionHeader(id="s", created_ms=1, parent=long)
    store(backend, header, RECORDS)
    assert [each.header for each in backend.headers()] == [header]
    backend.acquire("t")
    with pytest.raises(LimitError, match=r"its header has .* at most"):
        backend.begin(SessionHeader(id="t", created_ms=1, parent="p" * HEADER_BYTES_MAX), ())
    assert len(backend.headers()) == 1


@pytest.mark.clause("E-25")
def test_a_root_that_cannot_be_looked_into_is_an_error(tmp_path: Path) -> None:
    """It is not the same as no sessions."""
    (tmp_path / "file").write_text("mine", encoding="utf-8")
    for root in (tmp_path / "file", tmp_path / "file" / "below"):
        backend = JsonLinesBackend(root)
        acts = (backend.open, backend.headers, backend.problems, partial(backend.read, "s"))
        for act in acts:
            with pytest.raises(StorageError, match="Not a directory; choose a place"):
                act()


# ------------------------------------------------------------------------------------------ writing


@pytest.mark.clause("E-09", "E-28")
def test_a_stored_session_is_not_begun_again_for_another_directory(stored: Path) -> None:
    """The id counts, wherever the session is kept."""
    before = (stored / FILE).read_bytes()
    backend = backend_in(stored)
    backend.acquire("s")
    for cwd in (None, "/else"):
        with pytest.raises(DuplicateIdError, match="'s' refused: it is stored already; resume it"):
            backend.begin(*recorded(cwd=cwd))
    assert (stored / FILE).read_bytes() == before


class Racing(Disk):
    """A disk on which somebody takes the name at the last moment."""

    def publish(self, source: Path, target: Path) -> None:
        """Find the name taken."""
        target.write_bytes(b"theirs")
        super().publish(source, target)


@pytest.mark.clause("E-28")
def test_a_name_that_is_taken_at_the_last_moment_stays_as_it_is(tmp_path: Path) -> None:
    """And the draft goes."""
    backend = backend_in(tmp_path, Racing())
    backend.acquire("s")
    with pytest.raises(DuplicateIdError, match="stored already"):
        backend.begin(HEADER, RECORDS)
    backend.close()
    assert contents(tmp_path) == {"no-cwd": None, FILE: b"theirs"}


@pytest.mark.clause("E-03")
def test_a_draft_that_a_dead_process_left_is_no_session(tmp_path: Path) -> None:
    """It is not listed, and the next beginning takes its place."""
    (tmp_path / "no-cwd").mkdir()
    (tmp_path / "no-cwd" / ".s.jsonl.new").write_bytes(b'{"type":"session"' * 1000)
    backend = backend_in(tmp_path)
    assert backend.headers() == ()
    assert backend.problems() == ()
    store(backend, HEADER, RECORDS)
    assert set(contents(tmp_path)) == {"no-cwd", FILE}
    assert backend.read("s").records == RECORDS


@pytest.mark.clause("E-05")
def test_a_batch_with_a_gap_writes_nothing(stored: Path) -> None:
    """Expected and actual seq are said."""
    backend = backend_in(stored)
    backend.acquire("s")
    before = (stored / FILE).read_bytes()
    with pytest.raises(InvalidRecordError, match="record 7 refused where 6 is next"):
        backend.append("s", RECORDS[7:])
    assert (stored / FILE).read_bytes() == before


@pytest.mark.clause("E-70")
def test_an_append_to_a_file_that_somebody_changed_is_refused(stored: Path) -> None:
    """Whether it has grown or shrunk, or is gone."""
    backend = backend_in(stored)
    backend.acquire("s")
    backend.append("s", RECORDS[6:7])
    whole = (stored / FILE).read_bytes()
    for text in (whole + b"x", whole[:-5]):
        (stored / FILE).write_bytes(text)
        with pytest.raises(StorageError, match=r"somebody else changed .*s\.jsonl"):
            backend.append("s", RECORDS[7:])
        assert (stored / FILE).read_bytes() == text
    (stored / FILE).unlink()
    with pytest.raises(StorageError, match="No such file"):
        backend.append("s", RECORDS[7:])
    assert not (stored / FILE).exists()


def test_writing_takes_the_lease(tmp_path: Path) -> None:
    """Whoever writes without it has a defect."""
    backend = backend_in(tmp_path)
    acts: tuple[Callable[[], None], ...] = (
        lambda: backend.begin(HEADER, RECORDS),
        lambda: backend.append("s", RECORDS),
        lambda: backend.cut("s"),
    )
    for act in acts:
        with pytest.raises(AssertionError, match="lease"):
            act()


# ------------------------------------------------------------------------------------------- faults


class Failing(Disk):
    """A disk whose calls fail when they are told to."""

    def __init__(self) -> None:
        self.fails: set[str] = set()
        self.written_max: int | None = None
        """How many bytes get through before a write fails; None for all."""
        self.bytes_per_call = 1_000_000
        self.lengths: list[int] = []

    def _look(self, call: str) -> None:
        if call in self.fails:
            raise OSError(errno.EIO, f"{call} failed")

    def write(self, descriptor: int, data: memoryview, offset: int) -> int:
        """Write as much as is allowed."""
        if self.written_max is not None:
            if not self.written_max:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            data = data[: self.written_max]
        written = super().write(descriptor, data[: self.bytes_per_call], offset)
        self.lengths.append(written)
        if self.written_max is not None:
            self.written_max -= written
        return written

    def sync(self, descriptor: int) -> None:
        """Sync, or fail."""
        self._look("sync")
        super().sync(descriptor)

    def truncate(self, descriptor: int, length: int) -> None:
        """Truncate, or fail."""
        self._look("truncate")
        super().truncate(descriptor, length)


def full(disk: Failing) -> None:
    """Let a few bytes through."""
    disk.written_max = 30


def unsynced(disk: Failing) -> None:
    """Let everything through, and then fail."""
    disk.fails.add("sync")


def stuck(disk: Failing) -> None:
    """Let a few bytes through, and let nobody take them back."""
    disk.written_max = 30
    disk.fails.add("truncate")


def unsynced_and_stuck(disk: Failing) -> None:
    """Let everything through, then fail, and let nobody take it back."""
    disk.fails |= {"sync", "truncate"}


def heal(disk: Failing) -> None:
    """Let everything through again."""
    disk.written_max = None
    disk.fails.clear()


FAULTS = [full, unsynced, stuck, unsynced_and_stuck]


@pytest.mark.clause("E-68")
@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_fires_on_a_plain_write(
    tmp_path: Path, fault: Callable[[Failing], None]
) -> None:
    """Otherwise the tests below would show nothing."""
    disk = Failing()
    fault(disk)
    descriptor = os.open(tmp_path / "plain", os.O_WRONLY | os.O_CREAT)
    try:
        with pytest.raises(OSError, match=r"No space left|sync failed"):
            _write(disk, descriptor)
        if "truncate" in disk.fails:
            with pytest.raises(OSError, match="truncate failed"):
                disk.truncate(descriptor, 0)
    finally:
        os.close(descriptor)
    assert (tmp_path / "plain").stat().st_size == (30 if disk.written_max == 0 else 100)


def _write(disk: Disk, descriptor: int) -> None:
    disk.write_all(descriptor, b"x" * 100, 0)
    disk.sync(descriptor)


@pytest.mark.clause("E-15", "E-68")
@pytest.mark.parametrize("fault", FAULTS)
def test_an_append_that_fails_stores_nothing_and_can_be_tried_again(
    tmp_path: Path, fault: Callable[[Failing], None]
) -> None:
    """What is left on the disk is not read by its writer, and gone with the next append."""
    disk = Failing()
    backend = backend_in(tmp_path, disk)
    backend.acquire("s")
    backend.begin(HEADER, RECORDS[:3])
    before = (tmp_path / FILE).read_bytes()
    for _ in range(2):
        fault(disk)
        with pytest.raises(StorageError, match=r"'s' cannot be written: .*s\.jsonl: .*") as it:
            backend.append("s", RECORDS[3:6])
        assert isinstance(it.value.__cause__, OSError)
        assert backend.read("s").records == RECORDS[:3]
        if "truncate" not in disk.fails:
            assert (tmp_path / FILE).read_bytes() == before
    heal(disk)
    backend.append("s", RECORDS[3:5])
    backend.append("s", RECORDS[5:])
    assert backend.read("s").records == RECORDS
    backend.close()
    assert backend_in(tmp_path).read("s").records == RECORDS


@pytest.mark.clause("E-15")
@pytest.mark.parametrize("fault", [stuck, unsynced_and_stuck])
def test_what_a_failed_append_left_is_a_torn_tail_to_others_or_whole(
    tmp_path: Path, fault: Callable[[Failing], None]
) -> None:
    """If its process dies before it can undo it, the next one finds what a crash leaves."""
    disk = Failing()
    backend = backend_in(tmp_path, disk)
    backend.acquire("s")
    backend.begin(HEADER, RECORDS[:3])
    fault(disk)
    with pytest.raises(StorageError):
        backend.append("s", RECORDS[3:6])
    found = backend_in(tmp_path).read("s")
    assert found.records == (RECORDS[:3] if fault is stuck else RECORDS[:6])
    assert (found.torn is not None) == (fault is stuck)


@pytest.mark.clause("E-03", "E-68")
@pytest.mark.parametrize("fault", FAULTS)
def test_a_beginning_that_fails_leaves_no_session(
    tmp_path: Path, fault: Callable[[Failing], None]
) -> None:
    """No header alone, no draft, no open file; and it can be tried again."""
    disk = Failing()
    backend = backend_in(tmp_path, disk)
    backend.acquire("s")
    backend.acquire("t")
    backend.begin(*recorded("t"))
    before = descriptors()
    fault(disk)
    with pytest.raises(StorageError, match="'s' cannot be written"):
        backend.begin(HEADER, RECORDS)
    assert descriptors() == before
    assert [each.header.id for each in backend.headers()] == ["t"]
    assert ".s.jsonl.new" not in {each.name for each in (tmp_path / "no-cwd").iterdir()}
    heal(disk)
    backend.begin(HEADER, RECORDS)
    assert backend.read("s").records == RECORDS


@pytest.mark.clause("E-68")
def test_a_short_write_is_continued(tmp_path: Path) -> None:
    """A write may take less than it was given, and says so."""
    disk = Failing()
    disk.bytes_per_call = 7
    backend = backend_in(tmp_path, disk)
    backend.acquire("s")
    backend.begin(HEADER, RECORDS[:3])
    backend.append("s", RECORDS[3:])
    assert max(disk.lengths) == 7
    assert backend.read("s").records == RECORDS


@pytest.mark.clause("E-68")
def test_a_write_that_takes_nothing_is_an_error(tmp_path: Path) -> None:
    """It would be tried for ever."""
    disk = Failing()
    disk.bytes_per_call = 0
    backend = backend_in(tmp_path, disk)
    backend.acquire("s")
    with pytest.raises(StorageError, match="nothing was written"):
        backend.begin(HEADER, RECORDS)


def test_a_lease_and_a_clock_are_handed_on(tmp_path: Path) -> None:
    """The backend's clock is the one in the message."""
    clock = StillClock(0)
    backend = JsonLinesBackend(tmp_path, clock=clock)
    backend.acquire("s")
    assert b"1970-01-01" in (tmp_path / ".locks" / "s.lock").read_bytes()
