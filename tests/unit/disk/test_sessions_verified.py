"""`python -m runtime sessions verify`, `repair`, `export`, and what none of them can do."""

import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest
from attrs import evolve

from runtime.__main__ import main
from runtime.session.places import backend_at
from runtime.session.records import Record
from runtime.session.repair import repair

from .conversing import Run, conversation, spoil, tear
from .recorded import contents, recorded, store

# ------------------------------------------------------------------------------------------- verify


@pytest.mark.clause("E-73", "E-67")
def test_a_whole_store_is_verified(place: Path, run: Run) -> None:
    """Each session by name; nothing is changed."""
    before = contents(place.parent)
    said = run("verify", place)
    assert said.status == 0
    assert "ok       open: 19 records" in said.out
    assert said.out.endswith("3 sessions, 0 problems\n")
    assert contents(place.parent) == before


@pytest.mark.clause("E-73", "E-19")
def test_damage_is_named_with_its_place(place: Path, run: Run) -> None:
    """The status says so; the others are verified all the same."""
    spoil(place)
    said = run("verify", place)
    assert said.status == 1
    assert "damaged  closed: session 'closed' (" in said.out
    assert "is damaged at " in said.out
    assert "ok       open: 19 records" in said.out
    assert said.out.endswith("3 sessions, 1 problems\n")
    found = run("verify", "--json", place)
    assert found.status == 1
    states = {each["id"]: each["state"] for each in found.value["sessions"]}
    assert states == {"closed": "damaged", "open": "ok", "\x1b[31m red": "ok"}


@pytest.mark.clause("E-73", "E-18")
def test_a_torn_tail_is_no_damage(tmp_path: Path, run: Run) -> None:
    """It is named; a resume cuts it."""
    store(backend_at(tmp_path), *conversation("open"))
    tear(tmp_path)
    said = run("verify", tmp_path)
    assert said.status == 0
    assert said.out.startswith("torn     open: torn tail at byte ")


@pytest.mark.clause("E-73", "E-78")
def test_what_is_no_session_is_named(tmp_path: Path, run: Run) -> None:
    """A foreign file between the sessions."""
    store(backend_at(tmp_path), *recorded())
    (tmp_path / "no-cwd" / "x.jsonl").write_text("hello", encoding="utf-8")
    said = run("verify", tmp_path)
    assert said.status == 1
    assert "x.jsonl: its first line is not JSON" in said.out
    assert len(run("verify", "--json", tmp_path).value["problems"]) == 1


@pytest.mark.clause("E-73", "E-19")
def test_a_database_of_which_nothing_can_be_read_is_damaged(tmp_path: Path, run: Run) -> None:
    """That is the answer, and no failure of the command."""
    backend = backend_at(tmp_path / "s.db")
    store(backend, *recorded(turns=50))
    backend.close()
    whole = (tmp_path / "s.db").read_bytes()
    (tmp_path / "s.db").write_bytes(whole[:8192])
    said = run("verify", tmp_path / "s.db")
    assert said.status == 1
    assert "malformed" in said.out


@pytest.mark.clause("E-73")
def test_records_of_no_session_are_named(tmp_path: Path, run: Run) -> None:
    """A row that somebody took away leaves them behind."""
    backend = backend_at(tmp_path / "s.db")
    store(backend, *recorded())
    backend.close()
    with closing(sqlite3.connect(tmp_path / "s.db", isolation_level=None)) as database:
        database.execute("DELETE FROM session")
    said = run("verify", tmp_path / "s.db")
    assert said.status == 1
    assert "records of no session, key 1" in said.out


# ------------------------------------------------------------------------------------------- repair


def read(place: Path, session_id: str) -> Sequence[Record]:
    """Return what is stored now."""
    backend = backend_at(place)
    records = backend.read(session_id).records
    backend.close()
    return records


@pytest.mark.clause("E-74")
def test_a_repair_closes_what_a_crash_left_open_once(place: Path, run: Run) -> None:
    """With the records that a resume would write; the second time there is nothing to do."""
    before = read(place, "open")
    said = run("repair", "open", "--store", place)
    assert said.out == "closed the open turn as interrupted: turn/end\n"
    assert tuple(read(place, "open")) == (*before, *repair(before))
    assert repair(read(place, "open")) == ()
    after = contents(place.parent)
    assert run("repair", "open", "--store", place).out == "nothing to repair\n"
    assert run("repair", "open", "--json", "--store", place).value == {
        "id": "open", "cut": None, "appended": [],
    }  # fmt: skip
    assert contents(place.parent) == after


@pytest.mark.clause("E-74", "E-18")
def test_a_repair_cuts_a_torn_tail_and_says_so(tmp_path: Path, run: Run) -> None:
    """In words, and in JSON."""
    for options in ((), ("--json",)):
        root = tmp_path / f"root{len(options)}"
        store(backend_at(root / "x.jsonl"), *conversation("open"))
        tear(root / "x.jsonl")
        said = run("repair", "open", "--store", root / "x.jsonl", *options)
        assert "torn tail at byte" in said.out
        assert "turn/end" in said.out
        assert run("verify", root / "x.jsonl").out.startswith("ok       open: 20 records")


@pytest.mark.clause("E-74", "E-60")
def test_a_session_that_somebody_writes_is_not_repaired(place: Path, run: Run) -> None:
    """It would be closed under the feet of its runtime."""
    writer = backend_at(place)
    writer.acquire("open")
    said = run("repair", "open", "--store", place)
    assert (said.status, said.out) == (2, "")
    assert "sessions repair: session 'open' refused: process " in said.notes
    writer.close()
    assert len(read(place, "open")) == 19


@pytest.mark.clause("E-74", "E-19", "E-76")
@pytest.mark.parametrize("act", ["show", "repair", "export"])
def test_a_damaged_session_is_refused_and_stays_as_it_is(place: Path, run: Run, act: str) -> None:
    """With the place of the damage."""
    spoil(place)
    before = contents(place.parent)
    said = run(act, "closed", "--store", place)
    assert (said.status, said.out) == (2, "")
    assert said.notes.startswith(f"python -m runtime sessions {act}: session 'closed' (")
    assert "left as it is" in said.notes
    assert contents(place.parent) == before


# ------------------------------------------------------------------------------------------- export


@pytest.mark.clause("E-75")
@pytest.mark.parametrize("session_id", ["open", "fork"])
def test_an_exported_session_is_read_by_another_store(
    place: Path, run: Run, tmp_path: Path, session_id: str
) -> None:
    """The lines are those of a file of JSON Lines, and the header says all that it said."""
    header, records = recorded("fork", cwd="/w")
    backend = backend_at(place)
    store(backend, evolve(header, parent="open", seed_length=3), records)
    backend.close()
    target = tmp_path / "copy" / "any" / f"{session_id}.jsonl"
    target.parent.mkdir(parents=True)
    target.write_text(run("export", session_id, "--store", place).out, encoding="utf-8")
    stored = backend_at(place).read(session_id)
    assert backend_at(tmp_path / "copy").read(session_id) == stored


@pytest.mark.clause("E-75", "E-18")
def test_an_export_leaves_a_torn_tail_out_and_says_so(tmp_path: Path, run: Run) -> None:
    """Beside the lines, not among them."""
    store(backend_at(tmp_path), *conversation("open"))
    tear(tmp_path)
    said = run("export", "open", "--store", tmp_path)
    assert said.notes.startswith("left out: torn tail at byte ")
    assert all(json.loads(each) for each in said.out.splitlines())


# ---------------------------------------------------------------------------------------- bad input


@pytest.mark.clause("E-76")
@pytest.mark.parametrize("act", ["show", "repair", "export"])
def test_a_session_that_is_not_there_is_an_error(place: Path, run: Run, act: str) -> None:
    """On one line, with what to do; nothing is made for it."""
    before = contents(place.parent)
    said = run(act, "no\x1bbody", "--store", place)
    assert (said.status, said.out) == (2, "")
    assert f"sessions {act}: session 'no\\x1bbody' is not in " in said.notes
    assert len(said.notes.splitlines()) == 1
    assert contents(place.parent) == before


@pytest.mark.clause("E-76", "E-25")
@pytest.mark.parametrize("act", [("list", "--store"), ("show", "s", "--store"), ("verify",)])
def test_a_store_that_cannot_be_used_is_an_error(
    tmp_path: Path, run: Run, act: tuple[str, ...]
) -> None:
    """A foreign file, and a path below a file."""
    (tmp_path / "file").write_text("hello\n" * 100, encoding="utf-8")
    for path in (tmp_path / "file", tmp_path / "file" / "below"):
        said = run(*act, path)
        assert (said.status, said.out) == (2, "")
        assert said.notes.startswith(f"python -m runtime sessions {act[0]}: ")
    assert contents(tmp_path) == {"file": b"hello\n" * 100}


@pytest.mark.clause("E-76", "E-73")
def test_there_is_nothing_to_verify_where_nothing_is(tmp_path: Path, run: Run) -> None:
    """A typing error must not look like a clean bill."""
    said = run("verify", tmp_path / "nothing")
    assert (said.status, said.out) == (2, "")
    assert "nothing does not exist, so there is nothing to verify" in said.notes


@pytest.mark.clause("E-76")
@pytest.mark.parametrize(
    "arguments", [(), ("listen",), ("show",), ("show", "a", "b"), ("list", "a")]
)
def test_a_command_that_is_none_is_refused(arguments: tuple[str, ...]) -> None:
    """With the usage."""
    with pytest.raises(SystemExit) as it:
        main(["sessions", *arguments])
    assert it.value.code == 2


@pytest.mark.clause("E-76")
def test_the_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    """With one line each."""
    with pytest.raises(SystemExit) as it:
        main(["sessions", "--help"])
    assert it.value.code == 0
    said = capsys.readouterr().out
    for name in ("list", "show", "verify", "repair", "export"):
        assert f"\n    {name} " in said
