"""JSON Lines: what stands in the files, what a crash or a full disk leaves, and what is refused."""

import json
import os
from functools import partial
from pathlib import Path

import pytest

from runtime.errors import (
    DamagedSessionError,
    LimitError,
    StorageError,
    UnknownIdError,
)
from runtime.limits import Limits
from runtime.session.disk import Disk
from runtime.session.folder import HEADER_BYTES_MAX
from runtime.session.jsonl import JsonLinesBackend
from runtime.session.log import SessionHeader

from .recorded import contents, recorded, store

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
        for session_id, cwd in (("a", "/tmp/x"), ("b", "/"), ("c", None), ("d", "/no-cwd")):  # noqa: S108  # the name of a directory
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
    assert len(backend.survey()) == 1
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


@pytest.mark.clause("E-21", "E-24")
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


@pytest.mark.clause("E-24", "E-65")
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
