"""The stored sessions at the command line: what there is, what was said, whether it is whole.

    python -m runtime sessions list                  every session, and how far it has come
    python -m runtime sessions show ID               what was said, turn by turn
    python -m runtime sessions verify [PATH]         read everything and name what is damaged
    python -m runtime sessions repair ID             close what a crash left open
    python -m runtime sessions export ID             the header and the records, as JSON lines

Only `repair` writes, and only what a resume would write.
"""

import argparse
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, TextIO

from attrs import frozen

from .errors import DamagedSessionError, LifecycleError, LimitError, StorageError
from .session.backend import StoredHeader, StoredSession
from .session.codec import Glance, encode_header, encode_record
from .session.places import DiskBackend, backend_at
from .session.repair import repair
from .transcript import said, time_of, transcript

__all__ = ["DEFAULT_STORE", "describe_sessions", "sessions"]

DEFAULT_STORE: Final = "sessions.db"
"""Where the sessions are if nobody says it, in the working directory."""

_DONE, _DAMAGED, _REFUSED = 0, 1, 2


@frozen
class _Desk:
    """What a command works with."""

    store: DiskBackend
    path: str
    chosen: argparse.Namespace
    out: TextIO
    notes: TextIO

    def say(self, *lines: str) -> None:
        for line in lines:
            self.out.write(f"{line}\n")

    def note(self, text: str) -> None:
        self.notes.write(f"{text}\n")

    def answer(self, value: object) -> None:
        """Say one JSON value."""
        self.say(json.dumps(value, indent=2))


def describe_sessions(parser: argparse.ArgumentParser) -> None:
    """Tell a parser the commands and their options."""
    commands = parser.add_subparsers(dest="act", required=True, metavar="COMMAND")
    for name, (_, takes, summary) in _COMMANDS.items():
        sentence = f"{summary[0].upper()}{summary[1:]}."
        command = commands.add_parser(name, help=summary, description=sentence)
        if takes == "ID":
            command.add_argument("id", metavar="ID", help="the id of the session")
        if takes == "PATH":
            command.add_argument(
                "store", nargs="?", default=DEFAULT_STORE, metavar="PATH", help=_STORE_HELP
            )
        else:
            command.add_argument("--store", default=DEFAULT_STORE, metavar="PATH", help=_STORE_HELP)
        command.add_argument("--json", action="store_true", help="answer in JSON")


def sessions(chosen: argparse.Namespace, out: TextIO, notes: TextIO) -> int:
    """Run one command and return its exit status: 0, 1 for damage, 2 if it cannot be done.

    Args:
        chosen: what a parser made of the arguments.
        out: for the answer.
        notes: for everything else.

    Raises:
        OSError: the answer cannot be written.
    """
    act, _, _ = _COMMANDS[chosen.act]
    try:
        desk = _Desk(backend_at(chosen.store), chosen.store, chosen, out, notes)
        try:
            return act(desk)
        finally:
            desk.store.close()
    except LifecycleError as error:
        notes.write(f"python -m runtime sessions {chosen.act}: {said(str(error))}\n")
        return _REFUSED


# ----------------------------------------------------------------------------------- the commands


def _list(desk: _Desk) -> int:
    desk.store.open()
    found = desk.store.survey()
    if desk.chosen.json:
        desk.answer([_summary(stored, glance) for stored, glance in found])
    elif found:
        desk.say(*_table([_HEADINGS, *(_row(stored, glance) for stored, glance in found)]))
    elif Path(desk.path).exists():
        desk.note(f"no sessions in {desk.path}")
    else:
        desk.note(f"no sessions: {desk.path} does not exist; name another place with --store PATH")
    return _DONE


def _show(desk: _Desk) -> int:
    desk.store.open()
    stored = desk.store.read(desk.chosen.id)
    if desk.chosen.json:
        desk.answer(
            {
                "header": json.loads(encode_header(stored.header)),
                "records": [json.loads(encode_record(each)) for each in stored.records],
                "torn": stored.torn,
            }
        )
    else:
        desk.say(*transcript(stored))
    return _DONE


def _verify(desk: _Desk) -> int:
    if not Path(desk.path).exists():
        raise StorageError(f"{desk.path} does not exist, so there is nothing to verify")
    try:
        desk.store.open()
        problems = desk.store.problems()
        ids = dict.fromkeys(each.header.id for each in desk.store.headers())
    except DamagedSessionError as error:
        # So much is damaged that it cannot even be said which sessions there are.
        problems, ids = (str(error),), {}
    verdicts = [_verdict(desk.store, each) for each in ids]
    if desk.chosen.json:
        desk.answer({"sessions": verdicts, "problems": list(problems)})
    else:
        for each in verdicts:
            detail = each["detail"] or f"{each['records']} records"
            desk.say(f"{each['state']:<8} {said(each['id'])}: {said(detail)}")
        desk.say(*(f"problem  {said(each)}" for each in problems))
        desk.say(f"{len(verdicts)} sessions, {_count_damaged(verdicts) + len(problems)} problems")
    return _DAMAGED if problems or _count_damaged(verdicts) else _DONE


def _repair(desk: _Desk) -> int:
    session_id = desk.chosen.id
    desk.store.open()
    # A session that is not there gets no lease, and so leaves no trace of the attempt.
    desk.store.read(session_id)
    desk.store.acquire(session_id)
    # Only now nobody else writes.
    stored = desk.store.read(session_id)
    desk.store.cut(session_id)
    closing = repair(stored.records)
    desk.store.append(session_id, closing)
    if desk.chosen.json:
        lines = [json.loads(encode_record(each)) for each in closing]
        desk.answer({"id": session_id, "cut": stored.torn, "appended": lines})
    else:
        desk.say(*_deeds(stored, [each.type for each in closing]))
    return _DONE


def _export(desk: _Desk) -> int:
    desk.store.open()
    stored = desk.store.read(desk.chosen.id)
    desk.say(encode_header(stored.header), *map(encode_record, stored.records))
    if stored.torn is not None:
        desk.note(f"left out: {stored.torn}")
    return _DONE


_COMMANDS: Final[dict[str, tuple[Callable[[_Desk], int], str, str]]] = {
    "list": (_list, "", "list the sessions and how far each has come"),
    "show": (_show, "ID", "show what was said in a session, turn by turn"),
    "verify": (_verify, "PATH", "read every session and name what is damaged; changes nothing"),
    "repair": (_repair, "ID", "cut a torn tail and close an open turn, as a resume would"),
    "export": (_export, "ID", "write the header and the records of a session as JSON lines"),
}

_STORE_HELP: Final = (
    f"an SQLite database, or a directory of JSON Lines files (default: {DEFAULT_STORE})"
)


# ------------------------------------------------------------------------------------ the answers

_HEADINGS: Final = ("ID", "CREATED", "LAST RECORD", "RECORDS", "STATE", "CWD")


def _row(stored: StoredHeader, glance: Glance | None) -> tuple[str, ...]:
    header = stored.header
    cwd = "-" if header.cwd is None else header.cwd
    if glance is None:
        last, records, state = "-", "?", "unclear"
    else:
        last, records = time_of(glance.last_ms), str(glance.records)
        state = "open" if glance.is_open else "closed"
    return (header.id, time_of(header.created_ms), last, records, state, cwd)


def _summary(stored: StoredHeader, glance: Glance | None) -> dict[str, Any]:
    header = stored.header
    return {
        "id": header.id,
        "created_ms": header.created_ms,
        "cwd": header.cwd,
        "parent": header.parent,
        "seed_length": header.seed_length,
        "place": stored.place,
        "records": None if glance is None else glance.records,
        "last_ms": None if glance is None else glance.last_ms,
        "is_open": None if glance is None else glance.is_open,
    }


def _table(rows: Sequence[tuple[str, ...]]) -> list[str]:
    shown = [tuple(map(said, row)) for row in rows]
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in shown
    ]


def _verdict(store: DiskBackend, session_id: str) -> dict[str, Any]:
    try:
        stored = store.read(session_id)
    except (DamagedSessionError, LimitError) as error:
        return {"id": session_id, "state": "damaged", "records": None, "detail": str(error)}
    state = "ok" if stored.torn is None else "torn"
    records = len(stored.records)
    return {"id": session_id, "state": state, "records": records, "detail": stored.torn}


def _count_damaged(verdicts: Sequence[dict[str, Any]]) -> int:
    return sum(each["state"] == "damaged" for each in verdicts)


def _deeds(stored: StoredSession, appended: Sequence[str]) -> list[str]:
    deeds = []
    if stored.torn is not None:
        deeds.append(f"cut: {said(stored.torn)}")
    if appended:
        deeds.append(f"closed the open turn as interrupted: {', '.join(appended)}")
    return deeds or ["nothing to repair"]
