"""`python -m runtime sessions list` and `show`: what a person sees, and what a program sees."""

from pathlib import Path

import pytest

from runtime.session.log import SessionHeader, SessionLog
from runtime.session.places import backend_at

from .conversing import STORES, Run, conversation, tear
from .recorded import StillClock, contents, recorded, store, turn

# --------------------------------------------------------------------------------------------- list


@pytest.mark.clause("E-71", "E-67", "E-72")
def test_the_list_shows_every_session_and_how_far_it_has_come(place: Path, run: Run) -> None:
    """The interrupted one, too; nothing in an id acts on the terminal, nothing is changed."""
    before = contents(place.parent)
    said = run("list", "--store", place)
    heading, *rows = said.out.splitlines()
    assert (said.status, said.notes) == (0, "")
    assert heading.split() == ["ID", "CREATED", "LAST", "RECORD", "RECORDS", "STATE", "CWD"]
    assert sorted(rows)[1:] == [
        "closed        2023-11-14 22:13:20 UTC  2023-11-14 22:13:20 UTC  6        closed  /tmp/x",
        "open          2023-11-14 22:13:20 UTC  2023-11-14 22:13:20 UTC  19       open    -",
    ]
    assert sorted(rows)[0].startswith("\\x1b[31m red  2023")
    assert contents(place.parent) == before


@pytest.mark.clause("E-71", "E-76")
def test_the_list_in_json(place: Path, run: Run) -> None:
    """Every field, by its name; ids as they are."""
    found = {each["id"]: each for each in run("list", "--json", "--store", place).value}
    assert set(found) == {"closed", "open", "\x1b[31m red"}
    assert found["open"].items() >= {
        "created_ms": 1_700_000_000_000, "cwd": None, "parent": "closed", "seed_length": 0,
        "records": 19, "is_open": True, "last_ms": 1_700_000_000_000,
    }.items()  # fmt: skip
    assert (found["closed"]["is_open"], found["closed"]["cwd"]) == (False, "/tmp/x")  # noqa: S108  # the name of a directory
    assert place.name in found["open"]["place"]


@pytest.mark.clause("E-71", "E-18")
def test_a_torn_tail_does_not_hide_a_session_from_the_list(tmp_path: Path, run: Run) -> None:
    """It is listed by its last whole line."""
    store(backend_at(tmp_path), *conversation("open"))
    tear(tmp_path)
    (row,) = run("list", "--json", "--store", tmp_path).value
    assert (row["records"], row["is_open"]) == (19, True)


@pytest.mark.clause("E-71", "E-25")
@pytest.mark.parametrize("name", STORES)
def test_an_empty_place_has_an_empty_list(tmp_path: Path, run: Run, name: str) -> None:
    """That is no error, and it is said why it may be empty."""
    said = run("list", "--store", tmp_path / name)
    assert (said.status, said.out) == (0, "")
    assert f"{name} does not exist; name another place with --store" in said.notes
    assert run("list", "--json", "--store", tmp_path / name).value == []
    assert contents(tmp_path) == {}


def test_a_session_without_a_record_is_unclear(tmp_path: Path, run: Run) -> None:
    """Nothing is known of it but its header."""
    store(backend_at(tmp_path), recorded()[0], ())
    assert run("list", "--store", tmp_path).out.splitlines()[1].split()[-4:] == [
        "-", "?", "unclear", "-",
    ]  # fmt: skip


# --------------------------------------------------------------------------------------------- show

TRANSCRIPT = """\
session open, created 2023-11-14 22:13:20 UTC
forked from closed, with 0 records of it

--- turn 1, 2023-11-14 22:13:20 UTC
user       one
           two
blocked    bad
because    rude
context    a file changed
vendor/note {"turn": 1, "x": "\\u0007"}
assistant  I look
assistant  [reasoning] hm
call       look {"at": "\\u001b"}
steering   faster
failed     no \\x1b[2J
assistant  so far [cut]
--- aborted: enough

--- turn 2, 2023-11-14 22:13:20 UTC
user       hello 2
--- the turn is open: its runtime still works on it, or died
"""


@pytest.mark.clause("E-72", "E-67")
def test_a_transcript_is_what_was_said(place: Path, run: Run) -> None:
    """Turn by turn; what a model said before it was cut is there, and marked."""
    before = contents(place.parent)
    said = run("show", "open", "--store", place)
    assert (said.status, said.notes) == (0, "")
    assert said.out == TRANSCRIPT
    assert contents(place.parent) == before


@pytest.mark.clause("E-72", "E-76")
def test_a_session_in_json(place: Path, run: Run) -> None:
    """Header and records, as they are stored."""
    found = run("show", "open", "--json", "--store", place).value
    assert (found["header"]["id"], found["torn"], len(found["records"])) == ("open", None, 19)
    assert found["records"][1]["data"]["content"][0]["text"] == "one\ntwo"


@pytest.mark.clause("E-72", "E-18")
def test_a_transcript_ends_with_the_torn_tail(tmp_path: Path, run: Run) -> None:
    """With its place."""
    store(backend_at(tmp_path), *conversation("open"))
    tear(tmp_path)
    last = run("show", "open", "--store", tmp_path).out.splitlines()[-1]
    assert last.startswith("--- torn tail at byte ")


@pytest.mark.clause("E-72")
def test_a_fork_a_directory_and_an_error_are_shown(tmp_path: Path, run: Run) -> None:
    """Where it ran, where it came from, and why a turn failed."""
    header = SessionHeader(id="s", created_ms=-(10**18), cwd="/tmp", parent="p", seed_length=2)  # noqa: S108  # the name of a directory
    log = SessionLog(header, clock=StillClock())
    log.append("turn/start", {"turn": 1, "trigger": {"kind": "injection"}})
    error = {"step": 1, "message": "out of order"}
    log.append("turn/end", {"turn": 1, "ending": "error", "error": error})
    store(backend_at(tmp_path), header, log.events)
    shown = run("show", "s", "--store", tmp_path).out.splitlines()
    assert shown[:3] == [
        "session s, created -1000000000000000000 ms",
        "in /tmp",
        "forked from p, with 2 records of it",
    ]
    assert shown[-1] == "--- error: out of order"


@pytest.mark.clause("E-71", "E-72")
def test_nothing_that_was_said_breaks_a_line_or_turns_it(tmp_path: Path, run: Run) -> None:
    """An id has one line whatever stands in it; a text keeps its lines and nothing else."""
    header = SessionHeader(id="a\n\tb\u202e", created_ms=1, cwd="/\n")
    log = SessionLog(header, clock=StillClock())
    turn(log, 1, text="one\n\ttwo \u202e \u2066\r\x9b\x7f")
    store(backend_at(tmp_path), header, log.events)
    _, row = run("list", "--store", tmp_path).out.splitlines()
    assert row.startswith(
        "a\\x0a\\x09b\\u202e  1970-01-01 00:00:00 UTC  2023-11-14 22:13:20 UTC  3"
    )
    assert row.endswith("  /\\x0a")
    shown = run("show", header.id, "--store", tmp_path).out.splitlines()
    assert shown[4:6] == [
        "user       one",
        "           \ttwo \\u202e \\u2066\\x0d\\x9b\\x7f 1",
    ]


@pytest.mark.clause("E-72")
def test_what_a_model_had_said_when_its_process_died_is_shown(tmp_path: Path, run: Run) -> None:
    """No message holds it, and the pieces are in the log."""
    header, records = conversation("open")
    (last,) = (each.seq for each in records if "so far" in str(each.data))
    store(backend_at(tmp_path), header, records[: last + 1])
    assert "assistant  so far [cut]" in run("show", "open", "--store", tmp_path).out.splitlines()
