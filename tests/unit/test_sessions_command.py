"""`python -m runtime sessions`: what a person sees, and what a program sees."""

import json
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from runtime.__main__ import main
from runtime.session.log import SessionHeader, SessionLog
from runtime.session.places import backend_at
from runtime.session.records import Record
from runtime.session.repair import repair

from .recorded import StillClock, contents, recorded, store, turn

STORES = ["s.db", "s.jsonl"]


@pytest.fixture(params=STORES)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Give the path of a store with one session that is closed, one that is open, one hostile."""
    path: Path = tmp_path / request.param
    backend = backend_at(path)
    store(backend, *recorded("closed", cwd="/tmp/x"))  # noqa: S108 - a name
    store(backend, *conversation("open"))
    store(backend, *recorded("\x1b[31m red"))
    backend.close()
    return path


def conversation(session_id: str) -> tuple[SessionHeader, tuple[Record, ...]]:
    """Return a session with one of everything that is said, killed in its second turn."""
    header = SessionHeader(id=session_id, created_ms=1_700_000_000_000, parent="closed")
    log = SessionLog(header, clock=StillClock())
    source, step = {"kind": "user"}, {"turn": 1, "step": 1}

    def text(words: str) -> list[dict[str, str]]:
        return [{"type": "text", "text": words}]

    def say(type_name: str, fields: dict[str, Any]) -> None:
        log.append(type_name, {"turn": 1, **fields}, placement="append")

    call = {"call_id": "k", "name": "look", "arguments": '{"at": "\\u001b"}'}
    log.append("turn/start", {"turn": 1, "trigger": {"kind": "message", "source": source}})
    say("user/message", {"message_id": "m1", "content": text("one\ntwo"), "source": source})
    blocked = {"turn": 1, "message_id": "m2", "content": text("bad"), "source": source}
    log.append("prompt/blocked", {**blocked, "reason": "rude"})
    say("context/message", {"content": text("a file changed"), "source": {"kind": "watch"}})
    log.append("vendor/note", {"turn": 1, "x": "\x07"})
    log.append("step/start", step)
    for words in ("I ", "look"):
        log.append("assistant/chunk", {**step, "chunk": {"type": "text", "text": words}})
    blocks = [{"type": "reasoning", "text": "hm"}, *text("I look"), {"type": "tool-call", **call}]
    say("assistant/message", {"step": 1, "content": blocks})
    log.append("tool/call", {**step, **call})
    say("steering/message", {"message_id": "m3", "content": text("faster"), "source": source})
    say("tool/result", {"step": 1, "call_id": "k", "content": text("no \x1b[2J"), "is_error": True})
    log.append("step/end", step)
    log.append("step/start", {"turn": 1, "step": 2})
    chunk = {"turn": 1, "step": 2, "chunk": {"type": "text", "text": "so far"}}
    log.append("assistant/chunk", chunk)
    log.append("step/end", {"turn": 1, "step": 2})
    log.append("turn/end", {"turn": 1, "ending": "aborted", "reason": "enough"})
    turn(log, 2)
    return header, tuple(log.events)[:-1]


class Said:
    """What one command said."""

    def __init__(self, status: int, out: str, notes: str) -> None:
        self.status = status
        self.out = out
        self.notes = notes

    @property
    def value(self) -> Any:  # noqa: ANN401 - any JSON
        """The answer as JSON."""
        return json.loads(self.out)


Run = Callable[..., Said]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Give a function that runs a command and returns what it said."""

    def run_one(*arguments: object) -> Said:
        status = main(["sessions", *map(str, arguments)])
        return Said(status, *capsys.readouterr())

    return run_one


def tear(place: Path) -> None:
    """Leave half a line behind the open session."""
    with (place / "no-cwd" / "open.jsonl").open("ab") as file:
        file.write(b'{"seq":99,"x":"\x1b')


def spoil(place: Path) -> None:
    """Damage the closed session."""
    if place.is_dir():
        path = place / "%2ftmp%2fx" / "closed.jsonl"
        path.write_bytes(path.read_bytes().replace(b"hello 1", b'hello"1'))
    else:
        whole = place.read_bytes()
        place.write_bytes(whole.replace(b"hello 1", b'hello"1', 1))


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
    assert (found["closed"]["is_open"], found["closed"]["cwd"]) == (False, "/tmp/x")  # noqa: S108
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
    header = SessionHeader(id="s", created_ms=-(10**18), cwd="/tmp", parent="p", seed_length=2)  # noqa: S108
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
def test_an_exported_session_is_read_by_another_store(
    place: Path, run: Run, tmp_path: Path
) -> None:
    """The lines are those of a file of JSON Lines."""
    target = tmp_path / "copy" / "no-cwd" / "open.jsonl"
    target.parent.mkdir(parents=True)
    target.write_text(run("export", "open", "--store", place).out, encoding="utf-8")
    assert read(tmp_path / "copy", "open") == read(place, "open")


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
